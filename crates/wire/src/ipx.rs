//! Packets of Novell's IPX.
//!
//! Source: the Xerox internetwork datagram (XSIS 028112) with Novell's changes; dissector `ipx` of
//! Wireshark. All fields big-endian.

pub mod framing;

use core::fmt;

use crate::Error;
use crate::fields::{Field, Order, fields};

const FORMAT: &str = "ipx";
pub const HEADER_LEN: usize = Fields::LEN;
/// Value of the checksum field without a checksum, the usual case.
pub const NO_CHECKSUM: u16 = 0xffff;
/// A packet that has passed this many routers is discarded.
pub const MOST_HOPS: u8 = 16;
pub const BROADCAST: [u8; 6] = [0xff; 6];
/// Length of the list before a propagated packet's data, in which routers record the networks that
/// the packet has passed.
pub const ROUTER_LIST_LEN: usize = 32;

pub mod packet_type {
    pub const RIP: u8 = 0x01;
    /// Packet exchange: service advertising, names, SMB, unicast NetBIOS.
    pub const EXCHANGE: u8 = 0x04;
    pub const NCP: u8 = 0x11;
    pub const PROPAGATED: u8 = 0x14;
}

pub mod socket {
    pub const NCP: u16 = 0x0451;
    pub const SAP: u16 = 0x0452;
    pub const RIP: u16 = 0x0453;
    pub const NETBIOS: u16 = 0x0455;
    pub const SMB_SERVER: u16 = 0x0550;
    pub const SMB_NAMES: u16 = 0x0551;
    pub const SMB_CLIENT: u16 = 0x0552;
    pub const MAILSLOT: u16 = 0x0553;
    /// First of the sockets that programs use dynamically.
    pub const FIRST_DYNAMIC: u16 = 0x4000;
    pub const LAST_DYNAMIC: u16 = 0x7fff;
}

fields! {
    #[derive(PartialOrd, Ord)]
    Address, Big => {
        network: u32,
        node: [u8; 6],
        socket: u16,
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08X}:", self.network)?;
        for octet in self.node {
            write!(f, "{octet:02X}")?;
        }
        write!(f, ":{:04X}", self.socket)
    }
}

/// Checksum, length, hops, type, destination, source.
type Fields = (u16, u16, u8, u8, Address, Address);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub checksum: u16,
    pub hops: u8,
    pub kind: u8,
    pub destination: Address,
    pub source: Address,
}

impl Header {
    /// Read a packet; returns the header and the data, without padding.
    pub fn parse(packet: &[u8]) -> Result<(Self, &[u8]), Error> {
        Self::parse_as(FORMAT, packet)
    }

    pub(crate) fn parse_as<'a>(
        format: &'static str,
        packet: &'a [u8],
    ) -> Result<(Self, &'a [u8]), Error> {
        let (header, length) = Self::parse_start(format, packet)?;
        if length < HEADER_LEN {
            return Err(Error::forbidden(format, "length", 2, length as u64));
        }
        Error::need(format, packet, length)?;
        Ok((header, &packet[HEADER_LEN..length]))
    }

    /// The header, and the length that it states, of a packet whose data may be missing.
    pub(crate) fn parse_start(format: &'static str, packet: &[u8]) -> Result<(Self, usize), Error> {
        let (checksum, length, hops, kind, destination, source): Fields =
            Field::first(format, packet, Order::Big)?;
        Ok((Self { checksum, hops, kind, destination, source }, length.into()))
    }

    /// Append a packet with this header.
    ///
    /// # Errors
    /// [`Error::Forbidden`] if the packet would have more than 65,535 octets.
    pub fn emit(&self, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let length = HEADER_LEN + data.len();
        let length = u16::try_from(length)
            .map_err(|_| Error::forbidden(FORMAT, "length", 2, length as u64))?;
        let Self { checksum, hops, kind, destination, source } = *self;
        (checksum, length, hops, kind, destination, source).write(Order::Big, out);
        out.extend_from_slice(data);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn address() -> impl Strategy<Value = Address> {
        (any::<u32>(), any::<[u8; 6]>(), any::<u16>()).prop_map(|(network, node, socket)| Address {
            network,
            node,
            socket,
        })
    }

    #[test]
    fn a_packet_is_cut_to_its_length() {
        let address = Address { network: 0x17, node: [2, 0, 0, 0, 0, 7], socket: socket::SAP };
        let (destination, source) = (address, address);
        let header = Header { checksum: 0xffff, hops: 0, kind: 4, destination, source };
        let mut octets = Vec::new();
        header.emit(b"ab", &mut octets).unwrap();
        octets.resize(60, 0);
        assert_eq!(Header::parse(&octets), Ok((header, &b"ab"[..])));
        assert_eq!(address.to_string(), "00000017:020000000007:0452");
        octets[3] = 29;
        assert!(Header::parse(&octets).is_err());
        octets[3] = 61;
        assert_eq!(Header::parse(&octets).unwrap_err().to_string(), "ipx: need 61 octets, got 60");
    }

    proptest! {
        #[test]
        fn packets_round_trip(
            checksum: u16, hops: u8, kind: u8, destination in address(), source in address(),
            data: Vec<u8>
        ) {
            let header = Header { checksum, hops, kind, destination, source };
            let mut octets = Vec::new();
            header.emit(&data, &mut octets).unwrap();
            prop_assert_eq!(Header::parse(&octets), Ok((header, &data[..])));
        }
    }
}
