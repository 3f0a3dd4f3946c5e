//! Internet datagrams: the header of IPX, with the checksum in use.
//!
//! Source: XSIS 028112, section 3.

use core::mem::size_of;

use crate::Error;
use crate::ipx::{HEADER_LEN, Header, NO_CHECKSUM};

const FORMAT: &str = "idp";
pub const LONGEST_PACKET: usize = 576;
pub const LONGEST_DATA: usize = LONGEST_PACKET - HEADER_LEN;
const CHECKSUM_LEN: usize = size_of::<u16>();

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    pub header: Header,
    pub data: &'a [u8],
    pub is_intact: bool,
}

/// The checksum of a packet without its first two octets: each word is added in one's complement,
/// and the sum rotated left by one bit (section 3.1, "Checksum").
pub fn checksum(packet: &[u8]) -> u16 {
    let words = packet.get(CHECKSUM_LEN..).unwrap_or_default().chunks(2);
    let sum = words.fold(0_u16, |sum, word| {
        let word = u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]);
        let (sum, has_carry) = sum.overflowing_add(word);
        (sum + u16::from(has_carry)).rotate_left(1)
    });
    // All ones: no checksum.
    if sum == NO_CHECKSUM { 0 } else { sum }
}

/// Read a packet, possibly with padding.
pub fn parse(octets: &[u8]) -> Result<Packet<'_>, Error> {
    let (header, data) = Header::parse_as(FORMAT, octets)?;
    // An odd packet has a padding octet, which the checksum covers but the length does not.
    let length = (HEADER_LEN + data.len()).next_multiple_of(2).min(octets.len());
    let is_intact =
        header.checksum == NO_CHECKSUM || header.checksum == checksum(&octets[..length]);
    Ok(Packet { header, data, is_intact })
}

/// Append a packet with its checksum (the header's is ignored) and the padding octet.
pub fn emit(header: &Header, data: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let start = out.len();
    header.emit(data, out)?;
    if !data.len().is_multiple_of(2) {
        out.push(0);
    }
    let sum = checksum(&out[start..]);
    out[start..start + CHECKSUM_LEN].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipx::Address;
    use proptest::prelude::*;

    fn header() -> Header {
        let address = Address { network: 0x17, node: [2, 0, 0, 0, 0, 7], socket: 2 };
        Header { checksum: 0, hops: 0, kind: 2, destination: address, source: address }
    }

    /// Computed in reverse: rotate each word by the number of words after it, and add in one's
    /// complement as integers.
    fn checksum_by_definition(packet: &[u8]) -> u16 {
        let words: Vec<u16> = packet[2..]
            .chunks(2)
            .map(|word| u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]))
            .collect();
        let count = words.len() as u32;
        let rotated = (0..count).zip(words).map(|(at, word)| word.rotate_left((count - at) % 16));
        let sum: u64 = rotated.map(u64::from).sum();
        (sum % 0xffff) as u16
    }

    /// Sums computed by a separate program (Python 3.11), which subtracts 65,535 from larger sums and rotates
    /// the digits of `format(sum, "016b")`.
    #[test]
    fn checksums_match_another_program() {
        let vectors: [(&str, u16); 5] = [
            ("0000", 0x0000),
            ("00000001", 0x0002),
            ("00008000", 0x0001),
            ("0000ffff0001", 0x0002),
            ("00000123456789abcdef", 0xfff7),
        ];
        for (octets, sum) in vectors {
            assert_eq!(checksum(&hex::decode(octets).unwrap()), sum, "{octets}");
        }
        assert_eq!(checksum(&[0, 0, 0xff, 0xff]), 0, "all ones stand for none");
    }

    #[test]
    fn bit_errors_are_detected_and_missing_checksums_accepted() {
        let mut octets = Vec::new();
        emit(&header(), b"abc", &mut octets).unwrap();
        assert_eq!(octets.len(), 34, "made even");
        assert!(parse(&octets).unwrap().is_intact);
        assert_eq!(parse(&octets).unwrap().data, b"abc");
        for bit in 0..8 * octets.len() {
            let mut wrong = octets.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(!parse(&wrong).is_ok_and(|packet| packet.is_intact), "bit {bit}");
        }
        octets[..2].fill(0xff);
        octets[33] = 9;
        assert!(parse(&octets).unwrap().is_intact);
        assert_eq!(parse(&octets[..9]).unwrap_err().to_string(), "idp: need 30 octets, got 9");
        assert_eq!(parse(&octets[..32]).unwrap_err().to_string(), "idp: need 33 octets, got 32");
    }

    proptest! {
        #[test]
        fn packets_round_trip(kind: u8, hops: u8, data: Vec<u8>, rest: Vec<u8>) {
            let header = Header { hops, kind, ..header() };
            let mut octets = Vec::new();
            emit(&header, &data, &mut octets).unwrap();
            let sum = checksum(&octets);
            prop_assert_eq!(sum, checksum_by_definition(&octets));
            octets.extend_from_slice(&rest);
            let packet = parse(&octets).unwrap();
            prop_assert_eq!(packet.header, Header { checksum: sum, ..header });
            prop_assert!(packet.data == &data[..] && packet.is_intact);
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = (parse(&octets), checksum(&octets));
        }
    }
}
