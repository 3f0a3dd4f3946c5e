//! Open files: open, create, read, write, close, erase and rename.

use crate::Error;
use crate::fields::{Field, Order, fields};

use super::file_entry::FileEntry;
use super::text::{Name, Tail, messages};

pub type FileHandle = [u8; 6];

pub mod access {
    pub const READ: u8 = 0x01;
    pub const WRITE: u8 = 0x02;
    pub const DENY_READ: u8 = 0x04;
    pub const DENY_WRITE: u8 = 0x08;
}

fields! {
    Opened, Big, "ncp opened" => {
        file: FileHandle,
        reserved: u16,
        entry: FileEntry,
    }
}

fields! {
    OfFile, Big, "ncp file" => {
        reserved: u8,
        file: FileHandle,
    }
}

fields! {
    Size, Big, "ncp size" => {
        size: u32,
    }
}

fields! {
    Read, Big, "ncp read" => {
        reserved: u8,
        file: FileHandle,
        offset: u32,
        count: u16,
    }
}

messages! {
    Open<'a>, "ncp open" => {
        handle: u8,
        attributes: u8,
        /// Bits of [`access`].
        access: u8,
        path: Name<'a>,
    }

    OfPath<'a>, "ncp file path" => {
        handle: u8,
        attributes: u8,
        path: Name<'a>,
    }




    Rename<'a>, "ncp rename" => {
        handle: u8,
        attributes: u8,
        path: Name<'a>,
        new_handle: u8,
        new_path: Name<'a>,
    }


    Write<'a>, "ncp write" => {
        reserved: u8,
        file: FileHandle,
        offset: u32,
        count: u16,
        data: Tail<'a>,
    }
}

pub const WRITE_LEN: usize = 1 + 6 + 4 + 2;

impl<'a> Write<'a> {
    pub fn octets(&self) -> Result<&'a [u8], Error> {
        let count = usize::from(self.count);
        Error::need("ncp write data", self.data.0, count)?;
        Ok(&self.data.0[..count])
    }
}

/// Length of a read reply before its data. At an odd offset it has one more octet, so that data
/// have the same alignment in memory as in the file.
pub const fn before_data(offset: u32) -> usize {
    2 + (offset & 1) as usize
}

/// Append a read reply up to its data.
pub fn emit_before_data(offset: u32, count: u16, out: &mut Vec<u8>) {
    out.extend_from_slice(&count.to_be_bytes());
    out.resize(out.len() + before_data(offset) - 2, 0);
}

/// The data of a read reply from `offset`.
pub fn parse_data(offset: u32, reply: &[u8]) -> Result<&[u8], Error> {
    let format = "ncp read data";
    let count = usize::from(u16::first(format, reply, Order::Big)?);
    // Without data there is no padding octet.
    if count == 0 {
        return Ok(&[]);
    }
    let at = before_data(offset);
    Error::need(format, reply, at + count)?;
    Ok(&reply[at..at + count])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn odd_offset_data_is_preceded_by_a_pad_byte() {
        let mut octets = Vec::new();
        emit_before_data(7, 2, &mut octets);
        octets.extend_from_slice(b"ab");
        assert_eq!(octets, b"\x00\x02\x00ab");
        assert_eq!(parse_data(7, &octets), Ok(&b"ab"[..]));
        assert_eq!(parse_data(8, b"\x00\x02abc"), Ok(&b"ab"[..]));
        assert_eq!(parse_data(7, &[0, 0]), Ok(&[][..]));
        let error = parse_data(7, b"\x00\x02\x00a").unwrap_err().to_string();
        assert_eq!(error, "ncp read data: need 5 octets, got 4");
        assert!(parse_data(0, &[0]).is_err());
    }

    #[test]
    fn write_lengths_must_match_the_data() {
        let mut octets = Vec::new();
        let write = Write { file: [1; 6], offset: 9, count: 2, data: Tail(b"abc"), reserved: 0 };
        write.emit(&mut octets);
        assert_eq!(octets.len(), WRITE_LEN + 3);
        assert_eq!(Write::parse(&octets).unwrap().octets(), Ok(&b"ab"[..]));
        assert!(Write { count: 4, ..write }.octets().is_err());
    }

    proptest! {
        #[test]
        fn reads_round_trip(offset: u32, data in prop::collection::vec(any::<u8>(), 1..600)) {
            let mut octets = Vec::new();
            emit_before_data(offset, data.len() as u16, &mut octets);
            octets.extend_from_slice(&data);
            prop_assert_eq!(parse_data(offset, &octets), Ok(&data[..]));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(offset: u32, octets: Vec<u8>) {
            let _ = (parse_data(offset, &octets), Write::parse(&octets).map(|one| one.octets().is_ok()));
        }
    }
}
