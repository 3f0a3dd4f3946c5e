//! Position of an open file.
//!
//! Source: [MS-CIFS] 2.2.4.19. Reads and writes have their own offsets; clients ask for the end.

use super::andx::Block;
use super::writer::Writer;
use crate::Error;

/// What an offset is counted from.
pub mod mode {
    /// The start of the file.
    pub const START: u16 = 0;
    /// The position.
    pub const CURRENT: u16 = 1;
    /// The end of the file.
    pub const END: u16 = 2;
}

/// Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    /// Open file.
    pub fid: u16,
    /// One of [`mode`].
    pub mode: u16,
    /// Octets from there.
    pub offset: i32,
}

impl Request {
    /// Read the request.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(4)?;
        let (fid, mode) = (words.u16()?, words.u16()?);
        Ok(Self { fid, mode, offset: words.u32()?.cast_signed() })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(4);
        writer.u16(self.fid);
        writer.u16(self.mode);
        writer.u32(self.offset.cast_unsigned());
        writer.begin_bytes();
        writer.end();
    }
}

/// Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response {
    /// The position, octets from the start.
    pub offset: u32,
}

impl Response {
    /// Read the response.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        Ok(Self { offset: block.words(2)?.u32()? })
    }

    /// Write the response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(2);
        writer.u32(self.offset);
        writer.begin_bytes();
        writer.end();
    }
}
