//! Read from LAN Manager on.
//!
//! Source: [MS-CIFS] 2.2.4.42; reads above 64 KiB [MS-SMB] 2.2.4.2.

use super::andx::Block;
use super::writer::Writer;
use crate::Error;

/// Timeout of a read that waits as long as it takes. It leaves no room for a long count.
const FOREVER: u32 = u32::MAX;

/// Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request {
    /// Open file.
    pub fid: u16,
    /// Where to read, octets from the start.
    pub offset: u64,
    /// Most octets to read, low 16 bits.
    pub max_count_low: u16,
    /// Fewest octets to wait for at a pipe or a device.
    pub min_count: u16,
    /// Time to wait at a pipe or a device, ms. For a file, the low half holds the high 16 bits of
    /// the count where large reads were negotiated.
    pub timeout_or_count_high: u32,
    /// Octets that the client will still read. A hint.
    pub remaining: u16,
    /// Whether the offset has 64 bits, so that the request has 12 words instead of 10.
    pub wide: bool,
}

impl Request {
    /// A read of `count` octets of a file. `wide` only if the server has large files.
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

    /// Most octets to read. `large` if large reads were negotiated.
    pub const fn max_count(&self, large: bool) -> u32 {
        let low = self.max_count_low as u32;
        if large && self.timeout_or_count_high != FOREVER {
            (self.timeout_or_count_high & 0xffff) << 16 | low
        } else {
            low
        }
    }

    /// Read the request.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(10)?;
        words.skip(4)?;
        let fid = words.u16()?;
        let offset = words.u32()?;
        let (max_count_low, min_count) = (words.u16()?, words.u16()?);
        let (timeout_or_count_high, remaining) = (words.u32()?, words.u16()?);
        let (wide, high) = match block.word_count() {
            10 => (false, 0),
            12 => (true, words.u32()?),
            _ => return Err(block.bad_word_count()),
        };
        let offset = u64::from(high) << 32 | u64::from(offset);
        Ok(Self { fid, offset, max_count_low, min_count, timeout_or_count_high, remaining, wide })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_andx_words(if self.wide { 12 } else { 10 });
        writer.u16(self.fid);
        writer.u32(self.offset as u32);
        writer.u16(self.max_count_low);
        writer.u16(self.min_count);
        writer.u32(self.timeout_or_count_high);
        writer.u16(self.remaining);
        if self.wide {
            writer.u32((self.offset >> 32) as u32);
        }
        writer.begin_bytes();
        writer.end();
    }
}

/// Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response<'a> {
    /// Octets left in a pipe or a device. All ones for a file.
    pub available: u16,
    /// Compaction mode. Zero.
    pub data_compaction_mode: u16,
    /// What was read.
    pub data: &'a [u8],
}

/// `available` of a file.
pub const NOT_A_PIPE: u16 = 0xffff;

impl<'a> Response<'a> {
    /// Read the response.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(12)?;
        words.skip(4)?;
        let available = words.u16()?;
        let data_compaction_mode = words.u16()?;
        words.skip(2)?;
        let low = u32::from(words.u16()?);
        let data_offset = usize::from(words.u16()?);
        let high = u32::from(words.u16()?);
        let len = (high << 16 | low) as usize;
        let data = block.data("DataOffset", data_offset, len)?;
        Ok(Self { available, data_compaction_mode, data })
    }

    /// Write the response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        self.emit_before_data(self.data.len(), writer);
        writer.octets(self.data);
    }

    /// Write the response up to its data, of which the caller appends `len` octets. `data` of the
    /// response is not looked at.
    pub fn emit_before_data(&self, len: usize, writer: &mut Writer<'_>) {
        writer.begin_andx_words(12);
        writer.u16(self.available);
        writer.u16(self.data_compaction_mode);
        writer.u16(0);
        writer.u16(len as u16);
        let data_offset_at = writer.offset();
        writer.u16(0);
        writer.u16((len >> 16) as u16);
        writer.zeros(8);
        writer.begin_bytes();
        writer.align(2);
        let data_offset = writer.offset() as u16;
        writer.patch_u16(data_offset_at, data_offset);
        writer.end_before(len);
    }
}
