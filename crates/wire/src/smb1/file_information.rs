//! Queries and changes of file attributes by transaction 2.
//!
//! Source: [MS-CIFS] 2.2.8.3 (query levels), 2.2.8.4 (set levels). Levels from 1000 on are passed
//! through to Windows NT ([MS-FSCC] 2.4).

use super::reader::Reader;
use super::strings::Text;
use super::time::DateTime;
use crate::Error;
use crate::fields::{Field, Order, fields};

const FORMAT: &str = "smb1 file information";

pub mod query {
    /// [`Standard`](super::Standard) of LAN Manager.
    pub const INFO_STANDARD: u16 = 0x0001;
    /// [`Basic`](super::Basic).
    pub const BASIC: u16 = 0x0101;
    /// [`Sizes`](super::Sizes).
    pub const STANDARD: u16 = 0x0102;
    /// Size of extended attributes: 32 bits.
    pub const EA: u16 = 0x0103;
    /// [`All`](super::All).
    pub const ALL: u16 = 0x0107;
    pub const PASS_BASIC: u16 = 1004;
    pub const PASS_STANDARD: u16 = 1005;
    pub const PASS_EA: u16 = 1007;
}

pub mod set {
    /// Times of [`Standard`](super::Standard) of LAN Manager.
    pub const INFO_STANDARD: u16 = 0x0001;
    /// [`Basic`](super::Basic). Zero does not change a time or attributes.
    pub const BASIC: u16 = 0x0101;
    /// [`Disposition`](super::Disposition).
    pub const DISPOSITION: u16 = 0x0102;
    /// Allocated [`Length`](super::Length).
    pub const ALLOCATION: u16 = 0x0103;
    /// [`Length`](super::Length) of the file.
    pub const END_OF_FILE: u16 = 0x0104;
    pub const PASS_BASIC: u16 = 1004;
    pub const PASS_DISPOSITION: u16 = 1013;
    pub const PASS_ALLOCATION: u16 = 1019;
    pub const PASS_END_OF_FILE: u16 = 1020;
}

fields! {
    Standard, Little, FORMAT => {
        creation: DateTime,
        last_access: DateTime,
        last_write: DateTime,
        size: u32,
        allocation_size: u32,
        attributes: u16,
    }
}

fields! {
    Basic, Little => {
        /// Time of creation, 100 ns since 1601.
        creation_time: u64,
        /// Time of the last access, 100 ns since 1601.
        last_access_time: u64,
        /// Time of the last write, 100 ns since 1601.
        last_write_time: u64,
        /// Time of the last change, 100 ns since 1601.
        change_time: u64,
        attributes: u32,
    }
}

impl Basic {
    /// Read the level. The four reserved octets at its end may be missing.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Self::first(FORMAT, data, Order::Little)
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        (*self, 0_u32).write(Order::Little, out);
    }
}

fields! {
    Sizes, Little => {
        allocation_size: u64,
        end_of_file: u64,
        links: u32,
        delete_pending: bool,
        is_directory: bool,
    }
}

impl Sizes {
    /// Read the level. The two reserved octets at its end may be missing.
    pub fn parse(data: &[u8]) -> Result<Self, Error> {
        Self::first(FORMAT, data, Order::Little)
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        (*self, 0_u16).write(Order::Little, out);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct All<'a> {
    pub basic: Basic,
    pub sizes: Sizes,
    pub ea_size: u32,
    pub name: Text<'a>,
}

impl<'a> All<'a> {
    /// Read the level. Its name is always UTF-16LE, even if other strings use a code page, as
    /// Windows NT and Samba write it.
    pub fn parse(data: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, data);
        let (basic, _, sizes, _, ea_size): (_, u32, _, u16, _) = reader.field()?;
        Ok(Self { basic, sizes, ea_size, name: reader.counted_text()? })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let name = self.name.octets();
        (self.basic, 0_u32, self.sizes, 0_u16, self.ea_size, name.len() as u32)
            .write(Order::Little, out);
        out.extend_from_slice(name);
    }
}

fields! {
    Disposition, Little, FORMAT => {
        delete_pending: bool,
    }
}

fields! {
    Length, Little, FORMAT => {
        octets: u64,
    }
}
