//! Raw read: the response is a transport packet that contains only data.
//!
//! Source: [MS-CIFS] 2.2.4.22. A response without data means an error or the end of the file; the
//! client uses another read to find out which.

use super::andx::Block;
use super::writer::Writer;
use crate::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    pub fid: u16,
    pub offset: u64,
    pub max_count: u16,
    pub min_count: u16,
    /// Time to wait at a pipe or device, ms.
    pub timeout_ms: u32,
    /// Whether the offset has 64 bits; the request then has 10 words instead of 8.
    pub wide: bool,
}

impl Request {
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(8)?;
        let (fid, low, max_count, min_count, timeout_ms) = words.field()?;
        words.skip(2)?;
        let (offset, wide) = block.offset(&mut words, low, 8)?;
        Ok(Self { fid, offset, max_count, min_count, timeout_ms, wide })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(if self.wide { 10 } else { 8 });
        writer.field((self.fid, self.offset as u32, self.max_count, self.min_count));
        writer.field((self.timeout_ms, 0_u16));
        if self.wide {
            writer.u32((self.offset >> 32) as u32);
        }
        writer.no_bytes();
    }
}
