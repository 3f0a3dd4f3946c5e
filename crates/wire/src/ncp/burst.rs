//! Packet burst: reads and writes of more than one packet each way. Only lost packets are resent.
//!
//! Source: dissector `ncp` of Wireshark (`packet-ncp.c`); for the results, a server compatible with
//! NetWare 3. Both ends number bursts. A client's request contains its number twice. The answer
//! contains that number, and acknowledges the next one. Each packet carries part of a burst's
//! octets.

use crate::fields::{Field, Order, fields};
use crate::{Error, take};

use super::envelope::kind;
use super::files::FileHandle;

const FORMAT: &str = "ncp burst";
pub const STREAM: u8 = 2;
pub const HEADER_LEN: usize = Header::LEN;
/// Length of a read request, and of a write request before its data.
pub const OPERATION_LEN: usize = Operation::LEN;
pub const READ_REPLY_LEN: usize = ReadReply::LEN;
pub const FRAGMENT_LEN: usize = Fragment::LEN;
/// Length of a server's agreement to bursts, before [`Limits`].
pub const ACCEPTED_LEN: usize = Accepted::LEN;

pub mod flag {
    pub const ABORT: u8 = 0x04;
    pub const BUSY: u8 = 0x08;
    /// Last packet of the burst or of its resent parts.
    pub const END: u8 = 0x10;
    pub const MISSING: u8 = 0x40;
    pub const SYSTEM: u8 = 0x80;
}

pub mod operation {
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 2;
}

pub mod result {
    pub const OK: u32 = 0;
    pub const NOT_BEGUN: u32 = 1;
    pub const IO_ERROR: u32 = 2;
    pub const NO_DATA: u32 = 3;
    pub const WRITE_ERROR: u32 = 4;
}

fields! {
    Header, Big => {
        kind: u16,
        /// Bits of [`flag`].
        flags: u8,
        stream: u8,
        source: u32,
        destination: u32,
        packet: u32,
        /// Interval between two packets of a burst, 100 µs.
        delay: u32,
        burst: u16,
        ack: u16,
        total: u32,
        offset: u32,
        length: u16,
        missing: u16,
    }
}

fields! {
    Fragment, Big => {
        offset: u32,
        length: u16,
    }
}

fields! {
    Low, Little => {
        number: u32,
    }
}

fields! {
    /// Header of a read request, which has no data, or of a write request, followed by its data.
    Operation, Big, "ncp burst operation" => {
        operation: Low,
        file: [u8; 4],
        reserved: [u8; 8],
        offset: u32,
        count: u32,
    }
}

fields! {
    WriteReply, Big, "ncp burst reply" => {
        result: Low,
    }
}

fields! {
    ReadReply, Big, "ncp burst reply" => {
        result: Low,
        count: u32,
    }
}

fields! {
    Offer, Big, "ncp burst offer" => {
        connection: u32,
        packet: u32,
        socket: u16,
        most_sent: u32,
        most_taken: u32,
    }
}

fields! {
    Accepted, Big, "ncp burst offer" => {
        connection: u32,
        packet: u32,
    }
}

fields! {
    Limits, Big, "ncp burst limits" => {
        most_sent: u32,
        most_taken: u32,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    pub header: Header,
    fragments: &'a [u8],
    pub data: &'a [u8],
}

impl<'a> Packet<'a> {
    pub fn parse(packet: &'a [u8]) -> Result<Self, Error> {
        let header = Header::first(FORMAT, packet, Order::Big)?;
        let forbidden =
            |field, offset, value: u32| Err(Error::forbidden(FORMAT, field, offset, value));
        if header.kind != kind::BURST {
            return forbidden("kind", 0, header.kind.into());
        }
        if header.stream != STREAM {
            return forbidden("stream type", 3, header.stream.into());
        }
        let end = u64::from(header.offset) + u64::from(header.length);
        if header.flags & flag::SYSTEM == 0 && end > u64::from(header.total) {
            return forbidden("offset", 28, header.offset);
        }
        let data_at = HEADER_LEN + usize::from(header.missing) * FRAGMENT_LEN;
        let end = data_at + usize::from(header.length);
        // Short frames are padded.
        Error::need(FORMAT, packet, end)?;
        let fragments = &packet[HEADER_LEN..data_at];
        Ok(Self { header, fragments, data: &packet[data_at..end] })
    }

    pub fn missing(&self) -> impl Iterator<Item = Fragment> + use<'a> {
        let (fragments, _) = self.fragments.as_chunks::<FRAGMENT_LEN>();
        fragments.iter().map(|octets| Fragment::read(octets, Order::Big))
    }
}

impl Header {
    pub fn emit(&self, missing: &[Fragment], data: &[u8], out: &mut Vec<u8>) {
        let (length, count) = (data.len() as u16, missing.len() as u16);
        let header = Self { kind: kind::BURST, stream: STREAM, length, missing: count, ..*self };
        header.write(Order::Big, out);
        for fragment in missing {
            fragment.write(Order::Big, out);
        }
        out.extend_from_slice(data);
    }
}

pub fn parse_result(reply: &[u8]) -> Result<u32, Error> {
    WriteReply::parse(reply).map(|reply| reply.result.number)
}

pub fn parse_data(reply: &[u8]) -> Result<&[u8], Error> {
    let count = ReadReply::parse(reply)?.count as usize;
    let data = &reply[READ_REPLY_LEN..];
    Error::need("ncp burst data", data, count)?;
    Ok(&data[..count])
}

pub fn file_of(handle: FileHandle) -> [u8; 4] {
    take(&handle, 2..6)
}

/// Complete the handle of a burst, which has only the last four of six octets.
pub const fn handle_of([a, b, high, low]: [u8; 4]) -> FileHandle {
    [high, low, a, b, high, low]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::strategy::any_value;
    use proptest::prelude::*;

    #[test]
    fn short_packets_and_offsets_beyond_the_burst_are_refused() {
        let header = Header { total: 10, offset: 7, ..Header::default() };
        let mut octets = Vec::new();
        header.emit(&[], &[1, 2, 3], &mut octets);
        assert_eq!(Packet::parse(&octets).unwrap().data, [1, 2, 3]);
        let error = Packet::parse(&octets[..38]).unwrap_err().to_string();
        assert_eq!(error, "ncp burst: need 39 octets, got 38");
        octets[31] = 8;
        assert!(Packet::parse(&octets).is_err(), "behind the end");
        octets[31] = 7;
        octets[0] = 0x22;
        assert!(Packet::parse(&octets).is_err(), "no burst");
        let reply = [0, 0, 0, 0, 0, 0, 0, 2, 7];
        assert_eq!(
            parse_data(&reply).unwrap_err().to_string(),
            "ncp burst data: need 2 octets, got 1"
        );
        assert_eq!(parse_data(&[&reply[..], &[8]].concat()), Ok(&[7, 8][..]));
        assert_eq!(parse_result(&[4, 0, 0, 0]), Ok(result::WRITE_ERROR));
    }

    proptest! {
        #[test]
        fn packets_round_trip(
            header in any_value::<Header>(), data: Vec<u8>,
            missing in prop::collection::vec(any_value::<Fragment>(), 0..9),
        ) {
            let (length, count) = (data.len() as u16, missing.len() as u16);
            let total = header.total.max(header.offset.saturating_add(length.into()));
            let offset = header.offset.min(total - u32::from(length));
            let (kind, stream) = (kind::BURST, STREAM);
            let header = Header { kind, stream, total, offset, length, missing: count, ..header };
            let mut octets = Vec::new();
            header.emit(&missing, &data, &mut octets);
            let packet = Packet::parse(&octets).unwrap();
            prop_assert_eq!((packet.header, packet.data), (header, &data[..]));
            prop_assert_eq!(packet.missing().collect::<Vec<_>>(), missing);
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(mut octets: Vec<u8>) {
            for _ in 0..2 {
                let packet = Packet::parse(&octets);
                let _ = packet.map(|packet| packet.missing().count());
                let _ = (Operation::parse(&octets), parse_data(&octets), parse_result(&octets));
                if let [first, second, _, stream, ..] = &mut octets[..] {
                    (*first, *second, *stream) = (0x77, 0x77, STREAM);
                }
            }
        }
    }
}
