//! Open and create of the core protocol.
//!
//! Source: [MS-CIFS] 2.2.4.3 (open), 2.2.4.4 (create), 2.2.4.15 (create temporary), 2.2.4.16
//! (create new, which has the form of create and fails if the file exists).

use super::ASCII;
use super::andx::Block;
use super::blocks::block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

/// Access modes ([MS-CIFS] 2.2.4.3.1): an access and a sharing mode.
pub mod access {
    pub const READ: u16 = 0;
    pub const WRITE: u16 = 1;
    pub const READ_WRITE: u16 = 2;
    pub const EXECUTE: u16 = 3;
    pub const SHARE_MASK: u16 = 0x0070;
    pub const COMPATIBILITY: u16 = 0x00;
    pub const DENY_ALL: u16 = 0x10;
    pub const DENY_WRITE: u16 = 0x20;
    pub const DENY_READ: u16 = 0x30;
    pub const DENY_NONE: u16 = 0x40;
    /// FCB open, which all opens of the process share.
    pub const FILE_CONTROL_BLOCK: u16 = 0x00ff;
    /// Writes reach the disk before they are answered.
    pub const WRITE_THROUGH: u16 = 0x4000;
}

block! {
    Request<'a>: words(2) {
        access: u16,
        search_attributes: u16,
    } bytes {
        name: path,
    }
}

block! {
    Response: words(7) {
        fid: u16,
        attributes: u16,
        /// Time of the last write, s since 1970 in the server's time.
        last_write_time: u32,
        size: u32,
        granted_access: u16,
    }
}

block! {
    /// Request of create, create new, or create temporary (in the last, the name is a directory).
    Create<'a>: words(3) {
        attributes: u16,
        /// Time of creation, s since 1970 in the server's time. Zero: the server's current time.
        creation_time: u32,
    } bytes {
        name: path,
    }
}

block! {
    Created: words(1) {
        fid: u16,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CreatedTemporary<'a> {
    pub fid: u16,
    pub name: Text<'a>,
}

impl<'a> CreatedTemporary<'a> {
    /// Read the response. The name is never UTF-16LE. Samba omits the octet before it.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let fid = block.words(1)?.u16()?;
        let mut bytes = block.bytes()?;
        let mut ahead = bytes;
        if ahead.format(ASCII).is_ok() {
            bytes = ahead;
        }
        Ok(Self { fid, name: bytes.text(false) })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(1);
        writer.u16(self.fid);
        writer.begin_bytes();
        writer.path(self.name);
        writer.end();
    }
}
