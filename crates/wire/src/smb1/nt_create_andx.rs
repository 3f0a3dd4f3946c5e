//! Opens a file or directory, from Windows NT on.
//!
//! Source: [MS-CIFS] 2.2.4.64.

use super::andx::Block;
use super::blocks::block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

/// Bits of an access mask that a file service needs ([MS-CIFS] 2.2.1.4.1).
pub mod access {
    /// Read the data of a file, or list a directory.
    pub const READ_DATA: u32 = 0x0000_0001;
    /// Write the data of a file, or add a file to a directory.
    pub const WRITE_DATA: u32 = 0x0000_0002;
    /// Append to a file, or add a directory to a directory.
    pub const APPEND_DATA: u32 = 0x0000_0004;
    pub const READ_ATTRIBUTES: u32 = 0x0000_0080;
    pub const WRITE_ATTRIBUTES: u32 = 0x0000_0100;
    pub const DELETE: u32 = 0x0001_0000;
    pub const READ_CONTROL: u32 = 0x0002_0000;
    pub const SYNCHRONIZE: u32 = 0x0010_0000;
    /// The maximum access that the user has.
    pub const MAXIMUM_ALLOWED: u32 = 0x0200_0000;
    pub const GENERIC_ALL: u32 = 0x1000_0000;
    pub const EXECUTE: u32 = 0x0000_0020;
    pub const GENERIC_EXECUTE: u32 = 0x2000_0000;
    pub const GENERIC_WRITE: u32 = 0x4000_0000;
    pub const GENERIC_READ: u32 = 0x8000_0000;
}

pub mod share {
    pub const READ: u32 = 1;
    pub const WRITE: u32 = 2;
    pub const DELETE: u32 = 4;
}

/// What to do if the file exists, and if it does not.
pub mod disposition {
    pub const SUPERSEDE: u32 = 0;
    pub const OPEN: u32 = 1;
    pub const CREATE: u32 = 2;
    pub const OPEN_IF: u32 = 3;
    /// Truncate an existing file to zero, else fail.
    pub const OVERWRITE: u32 = 4;
    /// Truncate an existing file to zero, else create it.
    pub const OVERWRITE_IF: u32 = 5;
}

pub mod options {
    /// The target must be a directory.
    pub const DIRECTORY: u32 = 0x0000_0001;
    /// Data are on disk when a write is answered.
    pub const WRITE_THROUGH: u32 = 0x0000_0002;
    /// The target must not be a directory.
    pub const NON_DIRECTORY: u32 = 0x0000_0040;
    pub const DELETE_ON_CLOSE: u32 = 0x0000_1000;
}

pub mod flags {
    pub const OPLOCK: u32 = 0x02;
}

pub mod result {
    pub const SUPERSEDED: u32 = 0;
    pub const OPENED: u32 = 1;
    pub const CREATED: u32 = 2;
    pub const OVERWRITTEN: u32 = 3;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    /// Bits of [`flags`].
    pub flags: u32,
    /// Open directory that the name is relative to. Zero: the root of the share.
    pub root_fid: u32,
    /// Bits of [`access`].
    pub access: u32,
    pub allocation_size: u64,
    pub attributes: u32,
    /// Bits of [`share`].
    pub share: u32,
    pub disposition: u32,
    /// Bits of [`options`].
    pub options: u32,
    /// Impersonation level. Windows clients send 2.
    pub impersonation: u32,
    pub security_flags: u8,
    pub name: Text<'a>,
}

impl<'a> Request<'a> {
    /// Read the request. The name ends at its terminator or at the end of the block. `NameLength`
    /// is ignored, because some old clients count the terminator and others do not.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.andx_words(24)?;
        words.skip(3)?;
        Ok(Self {
            flags: words.u32()?,
            root_fid: words.u32()?,
            access: words.u32()?,
            allocation_size: words.u64()?,
            attributes: words.u32()?,
            share: words.u32()?,
            disposition: words.u32()?,
            options: words.u32()?,
            impersonation: words.u32()?,
            security_flags: words.u8()?,
            name: block.bytes()?.text(block.is_unicode()),
        })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.andx_words(24);
        writer.field((0_u8, self.name.octets().len() as u16, self.flags, self.root_fid));
        writer.field((self.access, self.allocation_size, self.attributes, self.share));
        writer.field([self.disposition, self.options, self.impersonation]);
        writer.u8(self.security_flags);
        writer.begin_bytes();
        writer.text(self.name);
        writer.end();
    }
}

block! {
    Response: andx_words(34) {
        oplock: u8,
        fid: u16,
        result: u32,
        /// Time of creation, 100 ns since 1601.
        creation_time: u64,
        /// Time of the last access, 100 ns since 1601.
        last_access_time: u64,
        /// Time of the last write, 100 ns since 1601.
        last_write_time: u64,
        /// Time of the last change, 100 ns since 1601.
        change_time: u64,
        attributes: u32,
        allocation_size: u64,
        end_of_file: u64,
        /// Kind of resource: 0 is a file or a directory.
        resource_type: u16,
        pipe_status: u16,
        is_directory: bool,
    }
}
