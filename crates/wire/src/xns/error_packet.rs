//! Error packets: an error, and the first octets of the packet that caused it.
//!
//! Source: XSIS 028112, section 4.

use crate::Error;
use crate::fields::fields;
use crate::ipx::{HEADER_LEN, Header};

const FORMAT: &str = "xns error";
/// Maximum octets of the packet that an error quotes: its header and an SPP header.
pub const QUOTED_LEN: usize = HEADER_LEN + super::spp::HEADER_LEN;

/// Errors at the destination station; from 512 on, errors on the path to it.
pub mod number {
    pub const BAD_CHECKSUM: u16 = 1;
    pub const NO_SOCKET: u16 = 2;
    pub const NO_RESOURCES: u16 = 3;
}

fields! {
    Start, Big, FORMAT => {
        number: u16,
        parameter: u16,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorPacket<'a> {
    pub start: Start,
    pub header: Header,
    pub data: &'a [u8],
}

impl<'a> ErrorPacket<'a> {
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let start = Start::parse(data)?;
        Error::need(FORMAT, data, START_LEN + HEADER_LEN)?;
        let (header, _) = Header::parse_start(FORMAT, &data[START_LEN..])?;
        Ok(Self { start, header, data: &data[START_LEN + HEADER_LEN..] })
    }
}

const START_LEN: usize = 4;

pub fn emit(number: u16, parameter: u16, packet: &[u8], out: &mut Vec<u8>) {
    Start { number, parameter }.emit(out);
    out.extend_from_slice(&packet[..packet.len().min(QUOTED_LEN)]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipx::Address;
    use crate::xns::idp;
    use proptest::prelude::*;

    #[test]
    fn error_packets_quote_the_offending_header() {
        let source = Address { network: 0, node: [2, 0, 0, 0, 0, 7], socket: 0x4001 };
        let destination = Address { socket: 9, ..source };
        let header = Header { checksum: 0, hops: 0, kind: 5, destination, source };
        let (mut packet, mut octets) = (Vec::new(), Vec::new());
        idp::emit(&header, &[7; 100], &mut packet).unwrap();
        emit(number::NO_SOCKET, 0, &packet, &mut octets);
        assert_eq!(octets.len(), 4 + 42);
        let error = ErrorPacket::parse(&octets).unwrap();
        assert_eq!(error.start, Start { number: 2, parameter: 0 });
        assert_eq!((error.header.source, error.header.destination), (source, destination));
        assert_eq!(error.data, [7; 12]);
        let said = |octets: &[u8]| ErrorPacket::parse(octets).unwrap_err().to_string();
        assert_eq!(said(&octets[..33]), "xns error: need 34 octets, got 33");
        assert_eq!(said(&octets[..3]), "xns error: need 4 octets, got 3");
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(octets in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Ok(error) = ErrorPacket::parse(&octets) {
                let (mut again, number) = (Vec::new(), error.start.number);
                emit(number, error.start.parameter, &octets[START_LEN..], &mut again);
                prop_assert!(octets.starts_with(&again));
            }
        }
    }
}
