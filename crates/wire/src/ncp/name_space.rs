//! Name space calls (57h): entries identified by a directory number and names below it. All numbers
//! little-endian.
//!
//! Source: `ncp2222.py` of Wireshark; `fs/ncpfs/ncplib_kernel.c` of Linux 4.16 as a client. Only
//! the DOS name space is supported.

use super::text::Rest;
use crate::Error;
use crate::fields::{Field, Order, fields};

pub const DOS: u8 = 0;

pub mod begin {
    /// A directory handle instead of the volume.
    pub const HANDLE: u8 = 0x00;
    pub const NUMBER: u8 = 0x01;
    /// No directory: the first name is a volume.
    pub const NOTHING: u8 = 0xff;
}

/// Bits of a request for how to open an entry, and of a reply for what was done.
pub mod open {
    pub const OPEN: u8 = 0x01;
    pub const REPLACE: u8 = 0x02;
    pub const CREATE: u8 = 0x08;
    pub const CREATED: u8 = 0x02;
    pub const REPLACED: u8 = 0x04;
}

/// Bits for the fields of an entry that a reply returns or a request changes.
pub mod mask {
    pub const NAME: u32 = 0x0001;
    /// Return only the requested fields (servers of version 4).
    pub const COMPRESSED: u32 = 0x8000_0000;
    pub const ATTRIBUTES: u32 = 0x0002;
    pub const WRITTEN_DATE: u32 = 0x0100;
    pub const WRITTEN_TIME: u32 = 0x0200;
}

/// Search attribute: directories in addition to files.
pub const ALSO_DIRECTORIES: u16 = 0x8000;

pub const FIRST: u32 = u32::MAX;

fields! {
    Entry, Little, "ncp name space entry" => {
        allocated: u32,
        attributes: u32,
        flags: u16,
        size: u32,
        total_size: u32,
        streams: u16,
        created_time: u16,
        created_date: u16,
        creator: u32,
        written_time: u16,
        written_date: u16,
        writer: u32,
        accessed_date: u16,
        archived_time: u16,
        archived_date: u16,
        archiver: u32,
        rights: u16,
        number: u32,
        dos_number: u32,
        volume: u32,
        extended_bytes: u32,
        extended_count: u32,
        extended_key_bytes: u32,
        name_space: u32,
    }
}

fields! {
    Changes, Little, "ncp changes" => {
        attributes: u32,
        created_date: u16,
        created_time: u16,
        creator: u32,
        written_date: u16,
        written_time: u16,
        writer: u32,
        archived_date: u16,
        archived_time: u16,
        archiver: u32,
        accessed_date: u16,
        granted: u16,
        revoked: u16,
        most_bytes: u32,
    }
}

fields! {
    Progress, Little, "ncp search" => {
        volume: u8,
        directory: u32,
        after: u32,
    }
}

fields! {
    Opened, Little, "ncp opened entry" => {
        file: [u8; 4],
        action: u8,
        reserved: u8,
    }
}

fields! {
    Numbered, Little, "ncp directory base" => {
        number: u32,
        dos_number: u32,
        volume: u8,
    }
}

fields! {
    WholePath, Little, "ncp full path" => {
        is_file: u16,
        cookies: [u32; 2],
        bytes: u16,
        names: u16,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path<'a> {
    pub volume: u8,
    pub number: u32,
    pub begin: u8,
    pub names: Vec<&'a [u8]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request<'a> {
    Open { mode: u8, mask: u32, attributes: u32, access: u16, path: Path<'a> },
    BeginSearch { path: Path<'a> },
    Search { is_set: bool, search: u16, mask: u32, most: u16, from: Progress, pattern: &'a [u8] },
    Rename { search: u16, from: Path<'a>, to: Path<'a> },
    Look { mask: u32, path: Path<'a> },
    Change { mask: u32, changes: Changes, path: Path<'a> },
    Remove { search: u16, path: Path<'a> },
    SetHandle { handle: u8, path: Path<'a> },
    Allocate { is_temporary: bool, path: Path<'a> },
    PathOfHandle { handle: u8 },
    Number { path: Path<'a> },
    Spaces { volume: u8 },
    WholePath { path: Path<'a> },
    Rights { mask: u32, path: Path<'a> },
    OtherSpace,
    Unknown,
}

struct Reader<'a>(Rest<'a>);

impl<'a> Reader<'a> {
    fn get<T: Field>(&mut self) -> Result<T, Error> {
        self.0.octets(T::LEN).map(|octets| T::read(octets, Order::Little))
    }

    fn name(&mut self) -> Result<&'a [u8], Error> {
        let length: u8 = self.get()?;
        self.0.octets(usize::from(length))
    }

    fn start(&mut self) -> Result<(Path<'a>, u8), Error> {
        let (volume, number, begin, count) = self.get()?;
        Ok((Path { volume, number, begin, names: vec![] }, count))
    }

    fn names(&mut self, (path, count): (Path<'a>, u8)) -> Result<Path<'a>, Error> {
        let names = (0..count).map(|_| self.name()).collect::<Result<_, _>>()?;
        Ok(Path { names, ..path })
    }

    fn path(&mut self) -> Result<Path<'a>, Error> {
        let start = self.start()?;
        self.names(start)
    }
}

impl<'a> Request<'a> {
    pub fn parse(part: u8, octets: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader(Rest::new("ncp name space request", octets));
        if part == 0x18 {
            let (_, volume): (u16, u8) = reader.get()?;
            return Ok(Self::Spaces { volume });
        }
        let (space, second): (u8, u8) = reader.get()?;
        // In these functions, the second octet is another name space.
        let spaces = if matches!(part, 0x06 | 0x1c | 0x1d) { [space, second] } else { [space; 2] };
        if spaces != [DOS; 2] {
            return Ok(Self::OtherSpace);
        }
        Ok(match part {
            0x01 => {
                let (_, mask, attributes, access): (u16, u32, u32, u16) = reader.get()?;
                Self::Open { mode: second, mask, attributes, access, path: reader.path()? }
            }
            0x02 => Self::BeginSearch { path: reader.path()? },
            0x03 | 0x14 => {
                let is_set = part == 0x14;
                let (search, mask): (u16, u32) = reader.get()?;
                let most = if is_set { reader.get()? } else { 1 };
                let from = reader.get()?;
                Self::Search { is_set, search, mask, most, from, pattern: reader.name()? }
            }
            0x04 => {
                let search = reader.get()?;
                let (from, to) = (reader.start()?, reader.start()?);
                Self::Rename { search, from: reader.names(from)?, to: reader.names(to)? }
            }
            0x06 => {
                let (_, mask): (u16, u32) = reader.get()?;
                Self::Look { mask, path: reader.path()? }
            }
            0x07 => {
                let (_, mask, changes): (u16, u32, Changes) = reader.get()?;
                Self::Change { mask, changes, path: reader.path()? }
            }
            0x08 => Self::Remove { search: reader.get()?, path: reader.path()? },
            0x09 => {
                let (handle, _): (u8, u8) = reader.get()?;
                Self::SetHandle { handle, path: reader.path()? }
            }
            0x0c => {
                let mode: u16 = reader.get()?;
                Self::Allocate { is_temporary: mode != 0, path: reader.path()? }
            }
            0x15 => Self::PathOfHandle { handle: second },
            0x16 => {
                let _: u16 = reader.get()?;
                Self::Number { path: reader.path()? }
            }
            0x1c => {
                let _: (u16, u32, u32) = reader.get()?;
                Self::WholePath { path: reader.path()? }
            }
            0x1d => {
                let (_, mask): (u16, u32) = reader.get()?;
                Self::Rights { mask, path: reader.path()? }
            }
            _ => Self::Unknown,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn entries_are_76_bytes_with_numbers_at_48() {
        let mut octets = Vec::new();
        Entry { number: 7, dos_number: 8, ..Entry::default() }.emit(&mut octets);
        assert_eq!((octets.len(), &octets[48..56]), (76, &[7, 0, 0, 0, 8, 0, 0, 0][..]));
        assert_eq!(Changes::LEN, 38);
    }

    #[test]
    fn rename_names_follow_both_locations() {
        let octets = b"\0\x01\x06\0\0\x07\0\0\0\x01\x01\0\x08\0\0\0\x01\x01\x01A\x02BC";
        let path = |number, name| Path { volume: 0, number, begin: 1, names: vec![name] };
        let from = path(7, &b"A"[..]);
        let expected = Request::Rename { search: 6, from, to: path(8, b"BC") };
        assert_eq!(Request::parse(4, octets), Ok(expected));
        assert!(Request::parse(4, &octets[..octets.len() - 1]).is_err());
        assert_eq!(Request::parse(6, &[0, 4]), Ok(Request::OtherSpace));
        assert_eq!(Request::parse(0x5f, &[0, 4]), Ok(Request::Unknown));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_panic(part: u8, octets: Vec<u8>) {
            let _ = Request::parse(part, &octets);
        }
    }
}
