//! Read, from LAN Manager on.
//!
//! Source: [MS-CIFS] 2.2.4.42; reads above 64 KiB [MS-SMB] 2.2.4.2.

use super::andx::Block;
use super::writer::Writer;
use crate::Error;

/// Timeout of a read without a limit; the field then cannot hold a long count.
const FOREVER: u32 = u32::MAX;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    pub fid: u16,
    pub offset: u64,
    /// Maximum number of octets to read, low 16 bits.
    pub max_count_low: u16,
    pub min_count: u16,
    /// Time to wait at a pipe or device, ms. For a file with large reads, the low half has the high
    /// 16 bits of the count.
    pub timeout_or_count_high: u32,
    pub remaining: u16,
    /// Whether the offset has 64 bits; the request then has 12 words instead of 10.
    pub wide: bool,
}

impl Request {
    /// A read of `count` octets of a file. `wide` only if the server supports large files.
    pub const fn new(fid: u16, offset: u64, count: u32, wide: bool) -> Self {
        Self {
            fid,
            offset,
            max_count_low: count as u16,
            min_count: count as u16,
            timeout_or_count_high: count >> 16,
            remaining: 0,
            wide,
        }
    }

    pub const fn max_count(&self, large: bool) -> u32 {
        let low = self.max_count_low as u32;
        if large && self.timeout_or_count_high != FOREVER {
            (self.timeout_or_count_high & 0xffff) << 16 | low
        } else {
            low
        }
    }

    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.andx_words(10)?;
        let (fid, low, max_count_low, min_count) = words.field()?;
        let (timeout_or_count_high, remaining) = words.field()?;
        let (offset, wide) = block.offset(&mut words, low, 10)?;
        Ok(Self { fid, offset, max_count_low, min_count, timeout_or_count_high, remaining, wide })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.andx_words(if self.wide { 12 } else { 10 });
        writer.field((self.fid, self.offset as u32, self.max_count_low, self.min_count));
        writer.field((self.timeout_or_count_high, self.remaining));
        if self.wide {
            writer.u32((self.offset >> 32) as u32);
        }
        writer.no_bytes();
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response<'a> {
    /// Octets left in a pipe or device. All ones for a file.
    pub available: u16,
    pub data_compaction_mode: u16,
    pub data: &'a [u8],
}

pub const NOT_A_PIPE: u16 = 0xffff;

impl<'a> Response<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.andx_words(12)?;
        let (available, data_compaction_mode) = words.field()?;
        let (_, low, data_offset, high): (u16, u16, u16, u16) = words.field()?;
        let len = usize::from(high) << 16 | usize::from(low);
        let data = block.data("DataOffset", usize::from(data_offset), len)?;
        Ok(Self { available, data_compaction_mode, data })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        self.emit_before_data(self.data.len(), writer);
        writer.octets(self.data);
    }

    /// Write the response without its data; the caller appends `len` octets. `data` of the response
    /// is ignored.
    pub fn emit_before_data(&self, len: usize, writer: &mut Writer<'_>) {
        writer.andx_words(12);
        writer.field((self.available, self.data_compaction_mode, 0_u16, len as u16));
        let data_offset_at = writer.offset();
        writer.field((0_u16, (len >> 16) as u16));
        writer.begin_bytes();
        writer.begin_data(data_offset_at);
        writer.end_before(len);
    }
}
