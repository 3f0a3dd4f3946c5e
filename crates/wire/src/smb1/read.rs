//! Read of the core protocol, and of byte ranges to lock and unlock.
//!
//! Source: [MS-CIFS] 2.2.4.11 (read), 2.2.4.13 (lock byte range), 2.2.4.14 (unlock byte range).

use super::DATA;
use super::andx::Block;
use super::writer::Writer;
use crate::Error;

/// Request of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    /// Open file.
    pub fid: u16,
    /// Octets to read.
    pub count: u16,
    /// Where to read, octets from the start.
    pub offset: u32,
    /// Octets that the client will still read. A hint.
    pub remaining: u16,
}

impl Request {
    /// Read the request.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(5)?;
        Ok(Self {
            fid: words.u16()?,
            count: words.u16()?,
            offset: words.u32()?,
            remaining: words.u16()?,
        })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(5);
        writer.u16(self.fid);
        writer.u16(self.count);
        writer.u32(self.offset);
        writer.u16(self.remaining);
        writer.begin_bytes();
        writer.end();
    }
}

/// Response of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response<'a> {
    /// What was read.
    pub data: &'a [u8],
}

impl<'a> Response<'a> {
    /// Read the response. Both counts must agree.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(5)?;
        let count = words.u16()?;
        let mut bytes = block.bytes()?;
        bytes.format(DATA)?;
        let at = bytes.offset();
        let len = bytes.u16()?;
        if len != count {
            return Err(bytes.forbidden("CountOfBytesRead", at, u64::from(len)));
        }
        Ok(Self { data: bytes.take(usize::from(len))? })
    }

    /// Write the response, of at most 65,532 octets.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        Self::emit_before_data(self.data.len() as u16, writer);
        writer.octets(self.data);
    }

    /// Write the response up to its data, of which the caller appends `len` octets.
    pub fn emit_before_data(len: u16, writer: &mut Writer<'_>) {
        writer.begin_words(5);
        writer.u16(len);
        writer.zeros(8);
        writer.begin_bytes();
        writer.u8(DATA);
        writer.u16(len);
        writer.end_before(usize::from(len));
    }
}

/// Request to lock or to unlock a range. The response is an empty block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// Open file.
    pub fid: u16,
    /// Octets of the range.
    pub count: u32,
    /// Where the range begins, octets from the start.
    pub offset: u32,
}

impl Range {
    /// Read the request.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(5)?;
        Ok(Self { fid: words.u16()?, count: words.u32()?, offset: words.u32()? })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(5);
        writer.u16(self.fid);
        writer.u32(self.count);
        writer.u32(self.offset);
        writer.begin_bytes();
        writer.end();
    }
}
