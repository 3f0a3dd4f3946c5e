//! Sequenced packets: connections with numbered packets, some of which end a message.
//!
//! Source: XSIS 028112, section 6; dissector `spp` of Wireshark.

use crate::Error;
use crate::fields::fields;

const FORMAT: &str = "spp";
pub const HEADER_LEN: usize = 12;
/// Maximum data length of packets that stations send.
pub const LONGEST_DATA: usize = super::idp::LONGEST_DATA - HEADER_LEN;
/// Value for the other end's connection while it is unknown.
pub const NO_CONNECTION: u16 = 0;
pub const NO_CONNECTION_OF_SPX: u16 = 0xffff;

pub mod control {
    pub const SYSTEM: u8 = 0x80;
    pub const ACKNOWLEDGE: u8 = 0x40;
    pub const ATTENTION: u8 = 0x20;
    pub const END_OF_MESSAGE: u8 = 0x10;
}

pub mod stream {
    pub const DATA: u8 = 0;
    pub const END: u8 = 254;
    pub const END_REPLY: u8 = 255;
}

fields! {
    Header, Big, FORMAT => {
        control: u8,
        /// One of [`stream`], or a type that its program defines.
        stream: u8,
        source: u16,
        /// Connection of the other end, or [`NO_CONNECTION`].
        destination: u16,
        /// Number of this packet; an unnumbered packet has the number of the next one.
        sequence: u16,
        expected: u16,
        allocation: u16,
    }
}

impl Header {
    pub fn split(packet: &[u8]) -> Result<(Self, &[u8]), Error> {
        Ok((Self::parse(packet)?, &packet[HEADER_LEN..]))
    }

    pub const fn is_numbered(&self) -> bool {
        self.control & control::SYSTEM == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::strategy::any_value;
    use proptest::prelude::*;

    #[test]
    fn a_packet_of_576_bytes_carries_534() {
        assert_eq!(LONGEST_DATA, 534);
        let said = Header::split(&[0; 11]).unwrap_err().to_string();
        assert_eq!(said, "spp: need 12 octets, got 11");
    }

    proptest! {
        #[test]
        fn packets_round_trip(header in any_value::<Header>(), data: Vec<u8>) {
            let mut octets = Vec::new();
            header.emit(&mut octets);
            prop_assert_eq!(octets.len(), HEADER_LEN);
            octets.extend_from_slice(&data);
            prop_assert_eq!(Header::split(&octets), Ok((header, &data[..])));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets in prop::collection::vec(any::<u8>(), 0..20)) {
            let _ = Header::split(&octets);
        }
    }
}
