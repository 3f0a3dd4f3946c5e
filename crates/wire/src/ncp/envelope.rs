//! The headers of requests and replies.

use crate::fields::{Field, Order, fields};
use crate::{Error, take};

pub mod kind {
    pub const CREATE: u16 = 0x1111;
    pub const REQUEST: u16 = 0x2222;
    pub const REPLY: u16 = 0x3333;
    pub const DESTROY: u16 = 0x5555;
    /// A part of a burst, which has another header: [`burst`](super::super::burst).
    pub const BURST: u16 = 0x7777;
    pub const BUSY: u16 = 0x9999;
}

const FORMAT: &str = "ncp";
/// Connection number before a connection exists.
pub const NO_CONNECTION: u16 = 0xffff;
pub const REPLY_LEN: usize = Envelope::LEN + 2;

pub mod status {
    pub const BAD_CONNECTION: u8 = 0x01;
    pub const GOING_DOWN: u8 = 0x10;
}

fields! {
    Packed, Big => {
        kind: u16,
        sequence: u8,
        connection_low: u8,
        task: u8,
        connection_high: u8,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope {
    pub kind: u16,
    pub sequence: u8,
    pub connection: u16,
    pub task: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    pub envelope: Envelope,
    /// The result, one of [`completion`](super::completion).
    pub completion: u8,
    /// Bits of [`status`].
    pub status: u8,
}

impl Envelope {
    pub const LEN: usize = Packed::LEN;

    pub fn parse(packet: &[u8]) -> Result<(Self, &[u8]), Error> {
        let fields = Packed::first(FORMAT, packet, Order::Big)?;
        let envelope = Self {
            kind: fields.kind,
            sequence: fields.sequence,
            connection: u16::from_be_bytes([fields.connection_high, fields.connection_low]),
            task: fields.task,
        };
        Ok((envelope, &packet[Self::LEN..]))
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let [connection_high, connection_low] = self.connection.to_be_bytes();
        let Self { kind, sequence, task, .. } = *self;
        let fields = Packed { kind, sequence, connection_low, task, connection_high };
        fields.write(Order::Big, out);
    }
}

impl Reply {
    pub fn parse(packet: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (envelope, rest) = Envelope::parse(packet)?;
        if !matches!(envelope.kind, kind::REPLY | kind::BUSY) {
            return Err(Error::forbidden(FORMAT, "kind", 0, envelope.kind));
        }
        Error::need(FORMAT, packet, REPLY_LEN)?;
        let [completion, status] = take(rest, 0..2);
        Ok((Self { envelope, completion, status }, &rest[2..]))
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        self.envelope.emit(out);
        out.extend_from_slice(&[self.completion, self.status]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn connection_number_bytes_are_separate() {
        // Field offsets as in Wireshark's packet-ncp.c.
        let octets = [0x33, 0x33, 7, 0x34, 5, 0x12, 0x9c, 0x10, 1, 2];
        let (reply, data) = Reply::parse(&octets).unwrap();
        assert_eq!((reply.envelope.connection, reply.envelope.task), (0x1234, 5));
        assert_eq!((reply.completion, reply.status, data), (0x9c, 0x10, &[1, 2][..]));
        let error = Reply::parse(&octets[..7]).unwrap_err().to_string();
        assert_eq!(error, "ncp: need 8 octets, got 7");
        assert!(Reply::parse(&[0x22, 0x22, 0, 0, 0, 0, 0, 0]).is_err());
    }

    proptest! {
        #[test]
        fn envelopes_round_trip(
            kind: u16, sequence: u8, connection: u16, task: u8, completion: u8, status: u8,
            data: Vec<u8>,
        ) {
            let envelope = Envelope { kind, sequence, connection, task };
            let mut octets = Vec::new();
            envelope.emit(&mut octets);
            octets.extend_from_slice(&data);
            prop_assert_eq!(Envelope::parse(&octets), Ok((envelope, &data[..])));
            let reply = Reply { envelope: Envelope { kind: kind::REPLY, ..envelope }, completion, status };
            octets.clear();
            reply.emit(&mut octets);
            octets.extend_from_slice(&data);
            prop_assert_eq!(Reply::parse(&octets), Ok((reply, &data[..])));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets: Vec<u8>) {
            let _ = (Envelope::parse(&octets), Reply::parse(&octets));
        }
    }
}
