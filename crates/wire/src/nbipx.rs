//! NetBIOS over Novell's IPX: name packets and session packets.
//!
//! Source: dissector `nbipx` of Wireshark; T. Evans, "NetBIOS, NetBEUI, NBF, NBT, NBIPX, SMB, CIFS
//! Networking" (2003); article Q128335 of Microsoft's Knowledge Base, which shows one packet.
//! Carried in IPX packets to and from socket 0455. All fields of sessions little-endian.

use crate::Error;
use crate::fields::{Field, Order, codes, fields};
use crate::ipx::ROUTER_LIST_LEN;
use crate::netbios_name::{NAME_LEN, Name};

const FORMAT: &str = "nbipx";
const COMMAND: usize = ROUTER_LIST_LEN + 1;
pub const NAME_PACKET_LEN: usize = NameFields::LEN;
pub const SESSION_HEADER_LEN: usize = 18;
/// Value for the other end's connection while it is unknown.
pub const NO_CONNECTION: u16 = 0xffff;

pub mod name_flag {
    pub const GROUP: u8 = 0x80;
    pub const IN_USE: u8 = 0x40;
    pub const REGISTERED: u8 = 0x04;
}

pub mod control {
    pub const SYSTEM: u8 = 0x80;
    pub const ACKNOWLEDGE: u8 = 0x40;
    pub const END_OF_MESSAGE: u8 = 0x10;
    /// The other end must resend everything that is not acknowledged.
    pub const RESEND: u8 = 0x08;
    pub const CONNECT: u8 = 0x01;
}

pub mod stream {
    pub const DATA: u8 = 0x06;
    pub const END: u8 = 0x07;
    pub const END_ACKNOWLEDGED: u8 = 0x08;
}

codes! {
    NameCommand {
        Find = 0x01,
        Recognized = 0x02,
        /// Claim of a name: the station uses it unless another one objects.
        Claim = 0x03,
        InUse = 0x04,
        Deregister = 0x05,
    }
}

/// Networks noted by routers, flags, command, name.
type NameFields = ([u8; ROUTER_LIST_LEN], u8, u8, Name);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamePacket {
    pub flags: u8,
    pub command: NameCommand,
    pub name: Name,
}

impl NamePacket {
    /// Read the data of an IPX packet. The networks noted by routers are skipped, and so is Windows
    /// 98's additional data in an answer.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        let (_, flags, code, name): NameFields = Field::first(FORMAT, data, Order::Little)?;
        let command = NameCommand::from_wire(code)
            .ok_or_else(|| Error::forbidden(FORMAT, "command", COMMAND, code))?;
        Ok(Self { flags, command, name })
    }

    /// Append the data of an IPX packet, with room for the networks noted by routers.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let fields: NameFields =
            ([0; ROUTER_LIST_LEN], self.flags, self.command.to_wire(), self.name);
        fields.write(Order::Little, out);
    }
}

fields! {
    SessionHeader, Little, FORMAT => {
        control: u8,
        stream: u8,
        source: u16,
        /// Connection of the other end, or [`NO_CONNECTION`].
        destination: u16,
        /// Number of this packet; an unnumbered packet has the number of the next one.
        sequence: u16,
        total_bytes: u16,
        offset: u16,
        data_bytes: u16,
        expected: u16,
        window_end: u16,
    }
}

impl SessionHeader {
    pub fn split(packet: &[u8]) -> Result<(Self, &[u8]), Error> {
        let header = Self::parse(packet)?;
        if !(stream::DATA..=stream::END_ACKNOWLEDGED).contains(&header.stream) {
            return Err(Error::forbidden(FORMAT, "stream", 1, header.stream));
        }
        let end = SESSION_HEADER_LEN + usize::from(header.data_bytes);
        Error::need(FORMAT, packet, end)?;
        Ok((header, &packet[SESSION_HEADER_LEN..end]))
    }

    pub const fn is_numbered(&self) -> bool {
        self.control & control::SYSTEM == 0
    }
}

/// Whether the data of a unicast IPX packet belongs to a session rather than a name.
pub fn is_session(data: &[u8]) -> bool {
    matches!(data.get(1), Some(&(stream::DATA..=stream::END_ACKNOWLEDGED)))
}

fields! {
    Opening, Little, FORMAT => {
        source: [u8; NAME_LEN],
        destination: [u8; NAME_LEN],
        longest_data: u16,
        times: [u16; 2],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn invalid_packets_are_refused() {
        let said = |result: Result<NamePacket, Error>| result.unwrap_err().to_string();
        assert_eq!(said(NamePacket::parse(&[0; 49])), "nbipx: need 50 octets, got 49");
        let error = said(NamePacket::parse(&[0; 50]));
        assert_eq!(error, "nbipx: field `command` at octet 33 has forbidden value 0x0");
        let said = |octets: &[u8]| SessionHeader::split(octets).unwrap_err().to_string();
        assert_eq!(said(&[6; 17]), "nbipx: need 18 octets, got 17");
        let mut octets = [0; 20];
        assert_eq!(said(&octets), "nbipx: field `stream` at octet 1 has forbidden value 0x0");
        (octets[1], octets[12]) = (6, 3);
        assert_eq!(said(&octets), "nbipx: need 21 octets, got 20");
        octets[12] = 1;
        assert_eq!(SessionHeader::split(&octets).unwrap().1, [0]);
    }

    #[test]
    fn session_packets_are_recognised_by_their_second_byte() {
        let mut about_name = Vec::new();
        let name = Name(*b"SERVER          ");
        NamePacket { flags: 0, command: NameCommand::Find, name }.emit(&mut about_name);
        assert!(!is_session(&about_name) && !is_session(&[6]));
        assert!([6, 7, 8].iter().all(|stream| is_session(&[0x40, *stream])));
        assert!(!is_session(&[0x10, 2]), "an answer of Windows 98");
    }

    proptest! {
        #[test]
        fn packets_round_trip(
            which in 0..NameCommand::ALL.len(), flags: u8, name: [u8; 16], numbers: [u16; 6],
            kind in stream::DATA..=stream::END_ACKNOWLEDGED, bits: u8, data: Vec<u8>, rest: Vec<u8>,
        ) {
            let command = NameCommand::ALL[which];
            let packet = NamePacket { flags, command, name: Name(name) };
            let mut octets = Vec::new();
            packet.emit(&mut octets);
            prop_assert_eq!(octets.len(), NAME_PACKET_LEN);
            prop_assert_eq!(NamePacket::parse(&octets), Ok(packet));
            let [source, destination, sequence, total_bytes, expected, window_end] = numbers;
            let header = SessionHeader {
                control: bits, stream: kind, source, destination, sequence, total_bytes, expected, window_end,
                offset: 0,
                data_bytes: data.len() as u16,
            };
            octets.clear();
            header.emit(&mut octets);
            prop_assert_eq!(octets.len(), SESSION_HEADER_LEN);
            octets.extend_from_slice(&data);
            octets.extend_from_slice(&rest);
            prop_assert_eq!(SessionHeader::split(&octets), Ok((header, &data[..])));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (NamePacket::parse(&octets), SessionHeader::split(&octets), Opening::parse(&octets));
        }
    }
}
