//! Echo requests and replies of ICMP.
//!
//! Source: RFC 792, "Echo or Echo Reply Message", and RFC 4443, sections 4.1 and 4.2. All fields
//! big-endian. The system has already checked the checksum of a reply.

use crate::{Error, take};

const FORMAT: &str = "icmp";

mod field {
    use core::ops::Range;

    pub(super) const TYPE: usize = 0;
    pub(super) const CODE: usize = 1;
    pub(super) const CHECKSUM: Range<usize> = 2..4;
    pub(super) const IDENTIFIER: Range<usize> = 4..6;
    pub(super) const SEQUENCE: Range<usize> = 6..8;
}

pub const HEADER_LEN: usize = field::SEQUENCE.end;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    V4,
    V6,
}

impl Version {
    const fn request(self) -> u8 {
        match self {
            Self::V4 => 8,
            Self::V6 => 128,
        }
    }

    const fn reply(self) -> u8 {
        match self {
            Self::V4 => 0,
            Self::V6 => 129,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    pub identifier: u16,
    pub sequence: u16,
}

impl Echo {
    /// Write the header of a request at the start of `message`, which already contains its data.
    /// The IPv6 checksum stays zero, because it covers the addresses: the system computes it (RFC
    /// 3542, section 3.1).
    pub fn emit_request(self, version: Version, message: &mut [u8]) {
        message[field::TYPE] = version.request();
        message[field::CODE] = 0;
        message[field::CHECKSUM].fill(0);
        message[field::IDENTIFIER].copy_from_slice(&self.identifier.to_be_bytes());
        message[field::SEQUENCE].copy_from_slice(&self.sequence.to_be_bytes());
        if version == Version::V4 {
            let sum = checksum(message);
            message[field::CHECKSUM].copy_from_slice(&sum.to_be_bytes());
        }
    }

    pub fn parse_reply(version: Version, message: &[u8]) -> Result<(Self, &[u8]), Error> {
        Error::need(FORMAT, message, HEADER_LEN)?;
        for (name, offset, allowed) in
            [("Type", field::TYPE, version.reply()), ("Code", field::CODE, 0)]
        {
            if message[offset] != allowed {
                return Err(Error::forbidden(FORMAT, name, offset, message[offset]));
            }
        }
        let echo = Self {
            identifier: u16::from_be_bytes(take(message, field::IDENTIFIER)),
            sequence: u16::from_be_bytes(take(message, field::SEQUENCE)),
        };
        Ok((echo, &message[HEADER_LEN..]))
    }
}

/// The complement of the sum of all 16-bit words (RFC 1071), with zero in the checksum field.
fn checksum(message: &[u8]) -> u16 {
    let sum: u64 = message
        .chunks(2)
        .map(|pair| u64::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])))
        .sum();
    let mut folded = sum;
    while folded > 0xffff {
        folded = (folded & 0xffff) + (folded >> 16);
    }
    !(folded as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computed by hand: 0x0800 + 0x1234 + 0x0001 + 0x6869 + 0x2100 = 0xa39e, and its complement.
    const REQUEST: [u8; 11] = [8, 0, 0x5c, 0x61, 0x12, 0x34, 0, 1, b'h', b'i', b'!'];

    #[test]
    fn a_request_has_its_checksum_over_an_odd_number_of_bytes() {
        let mut message = *b"        hi!";
        Echo { identifier: 0x1234, sequence: 1 }.emit_request(Version::V4, &mut message);
        assert_eq!(message, REQUEST);
        Echo { identifier: 0x1234, sequence: 1 }.emit_request(Version::V6, &mut message);
        assert_eq!(message[..8], [128, 0, 0, 0, 0x12, 0x34, 0, 1]);
    }

    #[test]
    fn replies_are_parsed_and_requests_rejected() {
        let mut reply = REQUEST;
        reply[0] = 0;
        let read = Echo::parse_reply(Version::V4, &reply).unwrap();
        assert_eq!(read, (Echo { identifier: 0x1234, sequence: 1 }, &b"hi!"[..]));
        let error = Echo::parse_reply(Version::V4, &REQUEST).unwrap_err();
        assert_eq!(error.to_string(), "icmp: field `Type` at octet 0 has forbidden value 0x8");
        let error = Echo::parse_reply(Version::V6, &reply).unwrap_err();
        assert_eq!(error.to_string(), "icmp: field `Type` at octet 0 has forbidden value 0x0");
        let error = Echo::parse_reply(Version::V4, &reply[..7]).unwrap_err();
        assert_eq!(error.to_string(), "icmp: need 8 octets, got 7");
    }

    proptest! {
        #[test]
        fn the_sum_over_a_whole_request_is_zero(identifier: u16, sequence: u16, data: Vec<u8>) {
            let mut message = [&[0; HEADER_LEN][..], &data].concat();
            Echo { identifier, sequence }.emit_request(Version::V4, &mut message);
            prop_assert_eq!(checksum(&message), 0);
        }

        #[test]
        fn parse_never_panics(message: Vec<u8>) {
            let _ = Echo::parse_reply(Version::V4, &message);
            let _ = Echo::parse_reply(Version::V6, &message);
        }
    }
}
