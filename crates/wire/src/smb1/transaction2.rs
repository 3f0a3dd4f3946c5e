//! Subcommands of transaction 2 on paths and open files, and their parameters.
//!
//! Source: [MS-CIFS] 2.2.6. Listings are in [`find`](super::find), file attributes in
//! [`file_information`](super::file_information), file systems in
//! [`file_system_information`](super::file_system_information).

use super::reader::Reader;
use super::strings::Text;
use crate::Error;
use crate::fields::{Field, Order, fields};

pub const FIND_FIRST2: u16 = 0x0001;
pub const FIND_NEXT2: u16 = 0x0002;
pub const QUERY_FS_INFORMATION: u16 = 0x0003;
pub const QUERY_PATH_INFORMATION: u16 = 0x0005;
pub const SET_PATH_INFORMATION: u16 = 0x0006;
pub const QUERY_FILE_INFORMATION: u16 = 0x0007;
pub const SET_FILE_INFORMATION: u16 = 0x0008;
pub const CREATE_DIRECTORY: u16 = 0x000d;

const FORMAT: &str = "smb1 transaction 2";

pub(super) fn put_text(text: Text<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(text.octets());
    out.extend_from_slice(if text.is_unicode() { &[0, 0] } else { &[0] });
}

fields! {
    FileSystemQuery, Little, FORMAT => {
        level: u16,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path<'a> {
    pub level: u16,
    pub name: Text<'a>,
}

impl<'a> Path<'a> {
    /// Read the parameters. In all of them, strings begin at even offsets.
    pub fn parse(parameters: &'a [u8], unicode: bool) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, parameters);
        let (level, _): (_, u32) = reader.field()?;
        Ok(Self { level, name: reader.unaligned_text(unicode) })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        (self.level, 0_u32).write(Order::Little, out);
        put_text(self.name, out);
    }
}

fields! {
    File, Little, FORMAT => {
        fid: u16,
        level: u16,
    }
}

impl File {
    /// Append the parameters of a change, with two reserved octets, which are optional.
    pub fn emit_set(&self, out: &mut Vec<u8>) {
        (*self, 0_u16).write(Order::Little, out);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreateDirectory<'a> {
    pub name: Text<'a>,
}

impl<'a> CreateDirectory<'a> {
    pub fn parse(parameters: &'a [u8], unicode: bool) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, parameters);
        reader.skip(4)?;
        Ok(Self { name: reader.unaligned_text(unicode) })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0; 4]);
        put_text(self.name, out);
    }
}

/// Response parameters of queries, changes and creates: no extended attribute was invalid.
pub const NO_EA_ERROR: [u8; 2] = [0; 2];
