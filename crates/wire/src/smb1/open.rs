//! Opens and creates of the core protocol.
//!
//! Source: [MS-CIFS] 2.2.4.3 (open), 2.2.4.4 (create), 2.2.4.15 (create temporary), 2.2.4.16
//! (create new, which has the form of create and fails if the file exists).

use super::ASCII;
use super::andx::Block;
use super::one_word::one_word;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

/// Access modes ([MS-CIFS] 2.2.4.3.1): an access and a sharing mode.
pub mod access {
    /// Bits of the access.
    pub const MASK: u16 = 0x0007;
    /// Read.
    pub const READ: u16 = 0;
    /// Write.
    pub const WRITE: u16 = 1;
    /// Read and write.
    pub const READ_WRITE: u16 = 2;
    /// Read to execute.
    pub const EXECUTE: u16 = 3;
    /// Bits of the sharing mode.
    pub const SHARE_MASK: u16 = 0x0070;
    /// As DOS did before sharing: opens of one process at a time to write.
    pub const COMPATIBILITY: u16 = 0x00;
    /// Others can do nothing.
    pub const DENY_ALL: u16 = 0x10;
    /// Others cannot write.
    pub const DENY_WRITE: u16 = 0x20;
    /// Others cannot read.
    pub const DENY_READ: u16 = 0x30;
    /// Others can do everything.
    pub const DENY_NONE: u16 = 0x40;
    /// Open by file control block, which every open of the process shares.
    pub const FILE_CONTROL_BLOCK: u16 = 0x00ff;
    /// Writes go to the disk before they are answered.
    pub const WRITE_THROUGH: u16 = 0x4000;
}

/// Request of an open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    /// Access mode of [`access`].
    pub access: u16,
    /// Attributes that the file may have.
    pub search_attributes: u16,
    /// File.
    pub name: Text<'a>,
}

impl<'a> Request<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(2)?;
        let mut bytes = block.bytes()?;
        bytes.format(ASCII)?;
        Ok(Self {
            access: words.u16()?,
            search_attributes: words.u16()?,
            name: bytes.text(block.is_unicode()),
        })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(2);
        writer.u16(self.access);
        writer.u16(self.search_attributes);
        writer.begin_bytes();
        writer.path(self.name);
        writer.end();
    }
}

/// Response of an open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response {
    /// Identifier of the open file.
    pub fid: u16,
    /// Attributes of the file.
    pub attributes: u16,
    /// Time of the last write, s since 1970 in the server's time.
    pub last_write_time: u32,
    /// Octets in the file.
    pub size: u32,
    /// Access mode that was granted.
    pub granted_access: u16,
}

impl Response {
    /// Read the response.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(7)?;
        Ok(Self {
            fid: words.u16()?,
            attributes: words.u16()?,
            last_write_time: words.u32()?,
            size: words.u32()?,
            granted_access: words.u16()?,
        })
    }

    /// Write the response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(7);
        writer.u16(self.fid);
        writer.u16(self.attributes);
        writer.u32(self.last_write_time);
        writer.u32(self.size);
        writer.u16(self.granted_access);
        writer.begin_bytes();
        writer.end();
    }
}

/// Request of a create, of a create new, or of a create temporary, whose name is a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Create<'a> {
    /// Attributes of the new file.
    pub attributes: u16,
    /// Time of creation, s since 1970 in the server's time. Zero is the time of the server.
    pub creation_time: u32,
    /// File, or directory of a temporary file.
    pub name: Text<'a>,
}

impl<'a> Create<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(3)?;
        let mut bytes = block.bytes()?;
        bytes.format(ASCII)?;
        Ok(Self {
            attributes: words.u16()?,
            creation_time: words.u32()?,
            name: bytes.text(block.is_unicode()),
        })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(3);
        writer.u16(self.attributes);
        writer.u32(self.creation_time);
        writer.begin_bytes();
        writer.path(self.name);
        writer.end();
    }
}

one_word! {
    /// Response of a create or a create new.
    Created,
    /// Identifier of the open file.
    fid
}

/// Response of a create temporary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CreatedTemporary<'a> {
    /// Identifier of the open file.
    pub fid: u16,
    /// Name that the server chose, without the directory.
    pub name: Text<'a>,
}

impl<'a> CreatedTemporary<'a> {
    /// Read the response. The name is never UTF-16LE; Samba leaves out the octet before it.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let fid = block.words(1)?.u16()?;
        let mut bytes = block.bytes()?;
        let mut ahead = bytes;
        if ahead.format(ASCII).is_ok() {
            bytes = ahead;
        }
        Ok(Self { fid, name: bytes.text(false) })
    }

    /// Write the response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(1);
        writer.u16(self.fid);
        writer.begin_bytes();
        writer.path(self.name);
        writer.end();
    }
}
