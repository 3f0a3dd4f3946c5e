//! Core protocol: reads, and locks of byte ranges.
//!
//! Source: [MS-CIFS] 2.2.4.11 (read), 2.2.4.13 (lock byte range), 2.2.4.14 (unlock byte range).

use super::DATA;
use super::andx::Block;
use super::blocks::block;
use super::writer::Writer;
use crate::Error;

block! {
    Request: words(5) {
        fid: u16,
        count: u16,
        offset: u32,
        remaining: u16,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response<'a> {
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

    /// Write the response without its data; the caller appends `len` octets.
    pub fn emit_before_data(len: u16, writer: &mut Writer<'_>) {
        writer.words(5);
        writer.u16(len);
        writer.begin_bytes();
        writer.u8(DATA);
        writer.u16(len);
        writer.end_before(usize::from(len));
    }
}

block! {
    /// Request to lock or unlock a range. The response is an empty block.
    Range: words(5) {
        fid: u16,
        count: u32,
        /// Start of the range in the file, octets.
        offset: u32,
    }
}
