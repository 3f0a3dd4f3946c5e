//! The messages by which two engines agree on a session, next to the test traffic.
//!
//! Source: ours; the exchange follows RFC 9000, section 8.1: before an address has proved that it
//! receives, it gets no other traffic and less than it sent. All fields big-endian. Questions have
//! 64 octets, answers 48, so a sender that forges an address causes less traffic to it than it
//! sends. Over TCP the same messages open a connection.
//!
//! ```text
//! sender                           receiver
//!   Hello   token, nonce      →                     only the driver's token is answered
//!                             ←   Challenge  cookie
//!   Prove   cookie            →                     the sender receives at its address
//!                             ←   Accept     nonce  so does the receiver
//!   … probes …
//!   Mark    first measured    →                     warm-up ends at this sequence number
//!                             ←   Marked
//!                             ←   Alive             periodically; without it the sender stops
//!   Finish  messages, bytes   →
//!                             ←   Finished
//! ```

use crate::{Error, take};

const FORMAT: &str = "session";

mod field {
    use core::ops::Range;

    pub(super) const MAGIC: Range<usize> = 0..6;
    pub(super) const VERSION: usize = 6;
    pub(super) const KIND: usize = 7;
    pub(super) const TOKEN: Range<usize> = 8..24;
    pub(super) const FLOW: Range<usize> = 24..26;
    pub(super) const ZERO: Range<usize> = 26..32;
    pub(super) const FIRST: Range<usize> = 32..40;
    pub(super) const SECOND: Range<usize> = 40..48;
    pub(super) const PADDING: Range<usize> = 48..64;
}

/// Length of a message that needs an answer, octets; no message is longer.
pub const QUESTION_LEN: usize = field::PADDING.end;
/// Length of answers and of messages without an answer, octets; no message is shorter.
pub const ANSWER_LEN: usize = field::SECOND.end;
/// Size of a receive buffer: one octet more than the longest message, so that longer messages are
/// noticed.
pub const RECEIVE_LEN: usize = QUESTION_LEN + 1;

const MAGIC: [u8; 6] = *b"lanlab";
/// In version 1, answers were as long as questions.
const VERSION: u8 = 2;

/// Secret that the driver gave only to the two engines: an end that knows it belongs to the
/// session.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token(pub [u8; 16]);

impl Token {
    /// The low 32 bits, which each probe contains.
    pub fn short(&self) -> u32 {
        u32::from_be_bytes(take(&self.0, 12..16))
    }

    /// Equality in constant time.
    pub fn matches(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).fold(0, |differing, (a, b)| differing | (a ^ b)) == 0
    }
}

impl core::fmt::Debug for Token {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Token(…)")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Hello {
        /// The sender's random number, which `Accept` must return.
        nonce: u64,
    },
    Challenge {
        cookie: u64,
    },
    Prove {
        cookie: u64,
        nonce: u64,
    },
    Accept {
        nonce: u64,
    },
    Mark {
        first_measured: u64,
    },
    Marked {
        first_measured: u64,
    },
    Alive {
        received_messages: u64,
    },
    Finish {
        first_measured: u64,
        sent_messages: u64,
    },
    Finished {
        received_messages: u64,
    },
}

impl Kind {
    /// Length of its message, octets: [`QUESTION_LEN`] or [`ANSWER_LEN`].
    pub const fn message_len(self) -> usize {
        match self {
            Self::Hello { .. } | Self::Prove { .. } | Self::Mark { .. } | Self::Finish { .. } => {
                QUESTION_LEN
            }
            Self::Challenge { .. }
            | Self::Accept { .. }
            | Self::Marked { .. }
            | Self::Alive { .. }
            | Self::Finished { .. } => ANSWER_LEN,
        }
    }

    fn to_wire(self) -> (u8, u64, u64) {
        match self {
            Self::Hello { nonce } => (1, nonce, 0),
            Self::Challenge { cookie } => (2, cookie, 0),
            Self::Prove { cookie, nonce } => (3, cookie, nonce),
            Self::Accept { nonce } => (4, nonce, 0),
            Self::Mark { first_measured } => (5, first_measured, 0),
            Self::Marked { first_measured } => (6, first_measured, 0),
            Self::Alive { received_messages } => (7, received_messages, 0),
            Self::Finish { first_measured, sent_messages } => (8, first_measured, sent_messages),
            Self::Finished { received_messages } => (9, received_messages, 0),
        }
    }

    fn from_wire(kind: u8, first: u64, second: u64) -> Option<Self> {
        Some(match kind {
            1 => Self::Hello { nonce: first },
            2 => Self::Challenge { cookie: first },
            3 => Self::Prove { cookie: first, nonce: second },
            4 => Self::Accept { nonce: first },
            5 => Self::Mark { first_measured: first },
            6 => Self::Marked { first_measured: first },
            7 => Self::Alive { received_messages: first },
            8 => Self::Finish { first_measured: first, sent_messages: second },
            9 => Self::Finished { received_messages: first },
            _ => return None,
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    pub token: Token,
    pub flow: u16,
    pub kind: Kind,
}

impl Message {
    /// Read a message. Padding and unused values are ignored, so that a later version can use them.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let truncated = |need| Error::Truncated { format: FORMAT, need, got: bytes.len() };
        if bytes.len() < ANSWER_LEN {
            return Err(truncated(ANSWER_LEN));
        }
        let forbidden =
            |field, offset, value| Error::Forbidden { format: FORMAT, field, offset, value };
        if bytes[field::MAGIC] != MAGIC {
            return Err(forbidden("magic", field::MAGIC.start, u64::from(bytes[0])));
        }
        if bytes[field::VERSION] != VERSION {
            return Err(forbidden("version", field::VERSION, u64::from(bytes[field::VERSION])));
        }
        let first = u64::from_be_bytes(take(bytes, field::FIRST));
        let second = u64::from_be_bytes(take(bytes, field::SECOND));
        let kind = Kind::from_wire(bytes[field::KIND], first, second)
            .ok_or_else(|| forbidden("kind", field::KIND, u64::from(bytes[field::KIND])))?;
        let length = kind.message_len();
        if bytes.len() < length {
            return Err(truncated(length));
        }
        if bytes.len() > length {
            return Err(forbidden("length", length, bytes.len() as u64));
        }
        Ok(Self {
            token: Token(take(bytes, field::TOKEN)),
            flow: u16::from_be_bytes(take(bytes, field::FLOW)),
            kind,
        })
    }

    pub fn emit(&self) -> Octets {
        let (kind, first, second) = self.kind.to_wire();
        let mut bytes = [0; QUESTION_LEN];
        bytes[field::MAGIC].copy_from_slice(&MAGIC);
        bytes[field::VERSION] = VERSION;
        bytes[field::KIND] = kind;
        bytes[field::TOKEN].copy_from_slice(&self.token.0);
        bytes[field::FLOW].copy_from_slice(&self.flow.to_be_bytes());
        bytes[field::ZERO].fill(0);
        bytes[field::FIRST].copy_from_slice(&first.to_be_bytes());
        bytes[field::SECOND].copy_from_slice(&second.to_be_bytes());
        Octets { bytes, length: self.kind.message_len() }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Octets {
    bytes: [u8; QUESTION_LEN],
    length: usize,
}

impl core::ops::Deref for Octets {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Written by hand from the field table: Finish of flow 2, 7 warm-up and 1000 messages.
    fn golden() -> Vec<u8> {
        let mut bytes = b"lanlab\x02\x08".to_vec();
        bytes.extend([0x11; 16]);
        bytes.extend([0, 2, 0, 0, 0, 0, 0, 0]);
        bytes.extend([0, 0, 0, 0, 0, 0, 0, 7]);
        bytes.extend([0, 0, 0, 0, 0, 0, 0x03, 0xe8]);
        bytes.extend([0; 16]);
        bytes
    }

    #[test]
    fn the_golden_message_round_trips() {
        let message = Message {
            token: Token([0x11; 16]),
            flow: 2,
            kind: Kind::Finish { first_measured: 7, sent_messages: 1000 },
        };
        assert_eq!(message.emit().to_vec(), golden());
        assert_eq!(Message::parse(&golden()), Ok(message));
    }

    #[test]
    fn errors_name_the_value_found() {
        let say = |bytes: &[u8]| Message::parse(bytes).unwrap_err().to_string();
        assert_eq!(say(&golden()[..47]), "session: need 48 octets, got 47");
        assert_eq!(say(&golden()[..63]), "session: need 64 octets, got 63");
        let mut bytes = golden();
        bytes.push(0);
        assert_eq!(bytes.len(), RECEIVE_LEN);
        assert_eq!(say(&bytes), "session: field `length` at octet 64 has forbidden value 0x41");
        bytes[7] = 9;
        assert_eq!(say(&bytes), "session: field `length` at octet 48 has forbidden value 0x41");
        bytes[7] = 99;
        assert_eq!(say(&bytes), "session: field `kind` at octet 7 has forbidden value 0x63");
        bytes[6] = 1;
        assert_eq!(say(&bytes), "session: field `version` at octet 6 has forbidden value 0x1");
    }

    #[test]
    fn an_answer_is_shorter_than_its_question() {
        for (question, answer) in [
            (Kind::Hello { nonce: 1 }, Kind::Challenge { cookie: 2 }),
            (Kind::Prove { cookie: 2, nonce: 1 }, Kind::Accept { nonce: 1 }),
            (Kind::Mark { first_measured: 0 }, Kind::Marked { first_measured: 0 }),
            (
                Kind::Finish { first_measured: 0, sent_messages: 9 },
                Kind::Finished { received_messages: 9 },
            ),
        ] {
            let octets = |kind| Message { token: Token([0; 16]), flow: 0, kind }.emit().len();
            assert_eq!((octets(question), octets(answer)), (64, 48), "{question:?}");
        }
    }

    #[test]
    fn a_token_is_not_printed() {
        assert_eq!(format!("{:?}", Token([7; 16])), "Token(…)");
    }

    proptest! {
        #[test]
        fn parse_never_panics(bytes: Vec<u8>) {
            let _ = Message::parse(&bytes);
        }

        #[test]
        fn emit_then_parse_is_identity(token: [u8; 16], flow: u16, kind in 1_u8..10, first: u64, second: u64) {
            let kind = Kind::from_wire(kind, first, second).unwrap();
            let message = Message { token: Token(token), flow, kind };
            prop_assert_eq!(Message::parse(&message.emit()), Ok(message));
        }

        #[test]
        fn tokens_match_only_themselves(token: [u8; 16], position in 0_usize..16, flip in 1_u8..) {
            let mut other = token;
            prop_assert!(Token(token).matches(&Token(other)));
            other[position] ^= flip;
            prop_assert!(!Token(token).matches(&Token(other)));
        }
    }
}
