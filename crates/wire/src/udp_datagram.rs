//! UDP datagrams in IPv4 packets, for passive listening: checksums are ignored, and only the first
//! fragment of a packet is read.
//!
//! Source: RFC 791, section 3.1, and RFC 768. All fields big-endian.

use core::net::Ipv4Addr;

use crate::{Error, take};

const FORMAT: &str = "ipv4";
const LEAST_HEADER_LEN: usize = 20;
const UDP: u8 = 17;
const UDP_HEADER_LEN: usize = 8;
const FRAGMENT_OFFSET: u16 = 0x1fff;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    pub protocol: u8,
    /// Ports and data of a UDP datagram, if it is a first fragment.
    pub datagram: Option<Datagram<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram<'a> {
    pub source_port: u16,
    pub destination_port: u16,
    pub data: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Read a packet. Data after it is padding.
    pub fn parse(packet: &'a [u8]) -> Result<Self, Error> {
        let forbidden =
            |field, offset, value: u64| Err(Error::forbidden(FORMAT, field, offset, value));
        Error::need(FORMAT, packet, LEAST_HEADER_LEN)?;
        if packet[0] >> 4 != 4 {
            return forbidden("version", 0, u64::from(packet[0] >> 4));
        }
        let header_len = usize::from(packet[0] & 15) * 4;
        let length = usize::from(u16::from_be_bytes(take(packet, 2..4)));
        if header_len < LEAST_HEADER_LEN || length < header_len {
            return forbidden("length", 2, length as u64);
        }
        Error::need(FORMAT, packet, length)?;
        let payload = &packet[header_len..length];
        let is_first = u16::from_be_bytes(take(packet, 6..8)) & FRAGMENT_OFFSET == 0;
        let is_datagram = packet[9] == UDP && is_first && payload.len() >= UDP_HEADER_LEN;
        Ok(Self {
            source: Ipv4Addr::from(take::<4>(packet, 12..16)),
            destination: Ipv4Addr::from(take::<4>(packet, 16..20)),
            protocol: packet[9],
            datagram: is_datagram.then(|| Datagram {
                source_port: u16::from_be_bytes(take(payload, 0..2)),
                destination_port: u16::from_be_bytes(take(payload, 2..4)),
                data: &payload[UDP_HEADER_LEN..],
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn datagram_padding_is_ignored() {
        let mut octets = vec![0x45, 0, 0, 30, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        octets.extend_from_slice(&[0, 137, 0, 138, 0, 10, 0, 0, b'h', b'i', 0, 0, 0]);
        let packet = Packet::parse(&octets).unwrap();
        let datagram = packet.datagram.unwrap();
        assert_eq!((datagram.source_port, datagram.destination_port), (137, 138));
        assert_eq!((datagram.data, packet.protocol), (&b"hi"[..], 17));
        octets[7] = 1;
        assert_eq!(Packet::parse(&octets).unwrap().datagram, None, "a later fragment");
        octets[0] = 0x44;
        assert!(Packet::parse(&octets).is_err());
        octets[0] = 0x65;
        assert!(Packet::parse(&octets).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(mut octets: Vec<u8>) {
            let _ = Packet::parse(&octets);
            if let Some(first) = octets.first_mut() {
                *first = 0x45;
            }
            let _ = Packet::parse(&octets);
        }
    }
}
