//! Packets of Novell's IPX.
//!
//! Source: the Xerox internetwork datagram (XSIS 028112) with Novell's changes; dissector `ipx` of
//! Wireshark. All fields big-endian.

pub mod framing;

use core::fmt;

use crate::{Error, take};

const FORMAT: &str = "ipx";
pub const HEADER_LEN: usize = 30;
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    pub network: u32,
    pub node: [u8; 6],
    pub socket: u16,
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

impl Address {
    fn parse(octets: [u8; 12]) -> Self {
        let network = u32::from_be_bytes(take(&octets, 0..4));
        let socket = u16::from_be_bytes(take(&octets, 10..12));
        Self { network, node: take(&octets, 4..10), socket }
    }

    pub(crate) fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.network.to_be_bytes());
        out.extend_from_slice(&self.node);
        out.extend_from_slice(&self.socket.to_be_bytes());
    }
}

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
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is shorter than its header or its length field,
    /// [`Error::Forbidden`] if the length is below that of the header.
    pub fn parse(packet: &[u8]) -> Result<(Self, &[u8]), Error> {
        Self::parse_as(FORMAT, packet)
    }

    pub(crate) fn parse_as<'a>(
        format: &'static str,
        packet: &'a [u8],
    ) -> Result<(Self, &'a [u8]), Error> {
        let truncated = |need| Error::Truncated { format, need, got: packet.len() };
        let header = Self::parse_start(packet).ok_or_else(|| truncated(HEADER_LEN))?;
        let length = usize::from(u16::from_be_bytes(take(packet, 2..4)));
        if length < HEADER_LEN {
            let value = length as u64;
            return Err(Error::Forbidden { format, field: "length", offset: 2, value });
        }
        let data = packet.get(HEADER_LEN..length).ok_or_else(|| truncated(length))?;
        Ok((header, data))
    }

    /// The header of a packet whose data may be missing. `None` if the header is incomplete.
    pub(crate) fn parse_start(packet: &[u8]) -> Option<Self> {
        let header: [u8; HEADER_LEN] = *packet.first_chunk()?;
        Some(Self {
            checksum: u16::from_be_bytes(take(&header, 0..2)),
            hops: header[4],
            kind: header[5],
            destination: Address::parse(take(&header, 6..18)),
            source: Address::parse(take(&header, 18..30)),
        })
    }

    /// Append a packet with this header.
    ///
    /// # Errors
    /// [`Error::Forbidden`] if the packet would have more than 65,535 octets.
    pub fn emit(&self, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        let length = HEADER_LEN + data.len();
        let Ok(length) = u16::try_from(length) else {
            let value = length as u64;
            return Err(Error::Forbidden { format: FORMAT, field: "length", offset: 2, value });
        };
        out.extend_from_slice(&self.checksum.to_be_bytes());
        out.extend_from_slice(&length.to_be_bytes());
        out.extend_from_slice(&[self.hops, self.kind]);
        self.destination.emit(out);
        self.source.emit(out);
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
