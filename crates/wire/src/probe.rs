//! The message of a `stream` or an `echo` over UDP.
//!
//! Source: ours. All fields big-endian. A message is exactly as long as the condition requires. Its
//! header has as much of session, sequence number and send time as fits.
//!
//! | message | header |
//! |---|---|
//! | 24 octets and more | kind, zero, flow (2), session (4), sequence (8), send time (8) |
//! | 12 to 23 | kind, zero, flow (2), session (4), sequence (4) |
//! | 4 to 11 | sequence (4) |
//! | 2 and 3 | sequence (2) |
//! | 1 | sequence (1) |
//!
//! The rest of a message is padding. A short sequence number is the low bits of the full one;
//! [`Layout::extend`] restores it from the highest received.

use crate::{Error, take};

const FORMAT: &str = "probe";

mod field {
    use core::ops::Range;

    pub(super) const KIND: usize = 0;
    pub(super) const ZERO: usize = 1;
    pub(super) const FLOW: Range<usize> = 2..4;
    pub(super) const SESSION: Range<usize> = 4..8;
    pub(super) const SHORT_SEQUENCE: Range<usize> = 8..12;
    pub(super) const SEQUENCE: Range<usize> = 8..16;
    pub(super) const SEND_TIME: Range<usize> = 16..24;
}

/// First octet of a message with a session number. A [`crate::session`] message begins differently.
const KIND_PROBE: u8 = 0x01;

/// Length of the longest header, octets.
pub const FULL_HEADER_LEN: usize = field::SEND_TIME.end;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Session, 64-bit sequence number, send time.
    Full,
    /// Session and 32-bit sequence number.
    Short,
    Tiny(usize),
}

impl Layout {
    /// The layout of messages of `message_size_bytes`, which is at least 1.
    pub const fn of(message_size_bytes: usize) -> Self {
        match message_size_bytes {
            0..=1 => Self::Tiny(1),
            2..=3 => Self::Tiny(2),
            4..=11 => Self::Tiny(4),
            12..=23 => Self::Short,
            _ => Self::Full,
        }
    }

    pub const fn sequence_bits(self) -> u32 {
        match self {
            Self::Full => 64,
            Self::Short => 32,
            Self::Tiny(octets) => 8 * octets as u32,
        }
    }

    /// The sequence number with the low bits `received` that is nearest to `expected`, the number
    /// after the highest received. Correct if it is less than half the short range away.
    pub const fn extend(self, received: u64, expected: u64) -> u64 {
        let bits = self.sequence_bits();
        if bits == 64 {
            return received;
        }
        let span = 1_u64 << bits;
        let ahead = received.wrapping_sub(expected) & (span - 1);
        if ahead < span / 2 || expected < span - ahead {
            expected + ahead
        } else {
            expected + ahead - span
        }
    }

    /// Write the header at the start of `message`, whose length has this layout.
    pub fn emit(self, header: &Header, message: &mut [u8]) {
        match self {
            Self::Tiny(octets) => {
                message[..octets].copy_from_slice(&header.sequence.to_be_bytes()[8 - octets..]);
            }
            Self::Short | Self::Full => {
                message[field::KIND] = KIND_PROBE;
                message[field::ZERO] = 0;
                message[field::FLOW].copy_from_slice(&header.flow.to_be_bytes());
                message[field::SESSION].copy_from_slice(&header.session.to_be_bytes());
                if self == Self::Short {
                    message[field::SHORT_SEQUENCE]
                        .copy_from_slice(&(header.sequence as u32).to_be_bytes());
                } else {
                    message[field::SEQUENCE].copy_from_slice(&header.sequence.to_be_bytes());
                    message[field::SEND_TIME].copy_from_slice(&header.send_time_ns.to_be_bytes());
                }
            }
        }
    }

    /// Read the header of `message`. A [`Layout::Tiny`] has only the sequence number; `session` and
    /// `flow` are then zero. `sequence` has only [`Self::sequence_bits`] bits.
    pub fn parse(self, message: &[u8]) -> Result<Header, Error> {
        let need = match self {
            Self::Tiny(octets) => octets,
            Self::Short => field::SHORT_SEQUENCE.end,
            Self::Full => FULL_HEADER_LEN,
        };
        Error::need(FORMAT, message, need)?;
        if let Self::Tiny(octets) = self {
            let sequence =
                message[..octets].iter().fold(0, |high, low| high << 8 | u64::from(*low));
            return Ok(Header { flow: 0, session: 0, sequence, send_time_ns: 0 });
        }
        for (name, offset, allowed) in [("kind", field::KIND, KIND_PROBE), ("zero", field::ZERO, 0)]
        {
            if message[offset] != allowed {
                return Err(Error::forbidden(FORMAT, name, offset, message[offset]));
            }
        }
        let (sequence, send_time_ns) = if self == Self::Short {
            (u64::from(u32::from_be_bytes(take(message, field::SHORT_SEQUENCE))), 0)
        } else {
            (
                u64::from_be_bytes(take(message, field::SEQUENCE)),
                u64::from_be_bytes(take(message, field::SEND_TIME)),
            )
        };
        Ok(Header {
            flow: u16::from_be_bytes(take(message, field::FLOW)),
            session: u32::from_be_bytes(take(message, field::SESSION)),
            sequence,
            send_time_ns,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub flow: u16,
    /// Low 32 bits of the session's token.
    pub session: u32,
    pub sequence: u64,
    /// Sender's monotonic clock when the message was handed to the system, nanoseconds.
    pub send_time_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: Header =
        Header { flow: 3, session: 0xdead_beef, sequence: 0x0102_0304_0506_0708, send_time_ns: 9 };

    #[test]
    fn each_size_has_its_header() {
        let cases: [(usize, &[u8]); 5] = [
            (1, &[0x08]),
            (2, &[0x07, 0x08]),
            (5, &[0x05, 0x06, 0x07, 0x08, 0]),
            (12, &[1, 0, 0, 3, 0xde, 0xad, 0xbe, 0xef, 5, 6, 7, 8]),
            (
                24,
                &[
                    1, 0, 0, 3, 0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0,
                    0, 9,
                ],
            ),
        ];
        for (size, golden) in cases {
            let mut message = vec![0; size];
            Layout::of(size).emit(&HEADER, &mut message);
            assert_eq!(message, golden, "{size} octets");
        }
    }

    #[test]
    fn errors_name_the_value_found() {
        let short = Layout::Full.parse(&[1; 23]).unwrap_err();
        assert_eq!(short.to_string(), "probe: need 24 octets, got 23");
        let foreign = Layout::Short.parse(&[0x4c; 12]).unwrap_err();
        assert_eq!(foreign.to_string(), "probe: field `kind` at octet 0 has forbidden value 0x4c");
    }

    #[test]
    fn a_wrapped_number_is_extended_forward_and_backward() {
        let layout = Layout::of(2);
        assert_eq!(layout.extend(2, 65_535), 65_538);
        assert_eq!(layout.extend(65_534, 65_540), 65_534);
        // No number precedes the start, so an apparently old number is a jump ahead.
        assert_eq!(layout.extend(65_535, 3), 65_535);
    }

    proptest! {
        #[test]
        fn parse_never_panics(size in 1_usize..70, message: Vec<u8>) {
            let _ = Layout::of(size).parse(&message);
        }

        #[test]
        fn emit_then_parse_is_identity(
            size in 1_usize..70, flow: u16, session: u32, sequence: u64, send_time_ns: u64,
        ) {
            let layout = Layout::of(size);
            let mut message = vec![0xaa; size];
            layout.emit(&Header { flow, session, sequence, send_time_ns }, &mut message);
            let parsed = layout.parse(&message).unwrap();
            let bits = layout.sequence_bits();
            prop_assert_eq!(parsed.sequence, if bits == 64 { sequence } else { sequence % (1 << bits) });
            if matches!(layout, Layout::Full) {
                prop_assert_eq!(parsed, Header { flow, session, sequence, send_time_ns });
            }
        }

        #[test]
        fn extend_restores_any_near_number(size in 1_usize..24, expected in 0_u64..1 << 40, offset: i64) {
            let layout = Layout::of(size);
            let half = 1_i64 << (layout.sequence_bits() - 1);
            let offset = offset.rem_euclid(2 * half) - half;
            let Some(sequence) = expected.checked_add_signed(offset) else { return Ok(()) };
            let received = sequence & ((1 << layout.sequence_bits()) - 1);
            prop_assert_eq!(layout.extend(received, expected), sequence);
        }
    }
}
