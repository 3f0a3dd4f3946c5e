//! Raw read: the response is a packet of the transport with nothing but data.
//!
//! Source: [MS-CIFS] 2.2.4.22. A response without data is an error or the end of the file; the
//! client asks with another read which of the two it was.

use super::andx::Block;
use super::writer::Writer;
use crate::Error;

/// Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    /// Open file.
    pub fid: u16,
    /// Where to read, octets from the start.
    pub offset: u64,
    /// Most octets to read.
    pub max_count: u16,
    /// Fewest octets to wait for at a pipe or a device.
    pub min_count: u16,
    /// Time to wait at a pipe or a device, ms.
    pub timeout_ms: u32,
    /// Whether the offset has 64 bits, so that the request has 10 words instead of 8.
    pub wide: bool,
}

impl Request {
    /// Read the request.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(8)?;
        let fid = words.u16()?;
        let offset = words.u32()?;
        let (max_count, min_count) = (words.u16()?, words.u16()?);
        let timeout_ms = words.u32()?;
        words.skip(2)?;
        let (wide, high) = match block.word_count() {
            8 => (false, 0),
            10 => (true, words.u32()?),
            _ => return Err(block.bad_word_count()),
        };
        let offset = u64::from(high) << 32 | u64::from(offset);
        Ok(Self { fid, offset, max_count, min_count, timeout_ms, wide })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(if self.wide { 10 } else { 8 });
        writer.u16(self.fid);
        writer.u32(self.offset as u32);
        writer.u16(self.max_count);
        writer.u16(self.min_count);
        writer.u32(self.timeout_ms);
        writer.u16(0);
        if self.wide {
            writer.u32((self.offset >> 32) as u32);
        }
        writer.begin_bytes();
        writer.end();
    }
}
