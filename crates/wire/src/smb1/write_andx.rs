//! Write, from LAN Manager on.
//!
//! Source: [MS-CIFS] 2.2.4.43; writes above 64 KiB [MS-SMB] 2.2.4.3.

use super::andx::Block;
use super::writer::Writer;
use crate::Error;

/// Bit of a write mode: data are on disk when the write is answered.
pub const WRITE_THROUGH: u16 = 0x0001;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    pub fid: u16,
    pub offset: u64,
    /// Time to wait at a pipe or device, ms.
    pub timeout_ms: u32,
    /// [`WRITE_THROUGH`].
    pub mode: u16,
    pub remaining: u16,
    /// Whether the offset has 64 bits; the request then has 14 words instead of 12.
    pub wide: bool,
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.andx_words(12)?;
        let (fid, low, timeout_ms, mode, remaining) = words.field()?;
        let (len_high, len_low, data_offset): (u16, u16, u16) = words.field()?;
        let len = usize::from(len_high) << 16 | usize::from(len_low);
        let (offset, wide) = block.offset(&mut words, low, 12)?;
        let data = block.data("DataOffset", usize::from(data_offset), len)?;
        Ok(Self { fid, offset, timeout_ms, mode, remaining, wide, data })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        self.emit_before_data(self.data.len(), writer);
        writer.octets(self.data);
    }

    /// Write the request without its data; the caller appends `len` octets. `data` of the request
    /// is ignored.
    pub fn emit_before_data(&self, len: usize, writer: &mut Writer<'_>) {
        writer.andx_words(if self.wide { 14 } else { 12 });
        let offset = self.offset as u32;
        writer.field((self.fid, offset, self.timeout_ms, self.mode, self.remaining));
        writer.field(((len >> 16) as u16, len as u16));
        let data_offset_at = writer.offset();
        writer.u16(0);
        if self.wide {
            writer.u32((self.offset >> 32) as u32);
        }
        writer.begin_bytes();
        writer.begin_data(data_offset_at);
        writer.end_before(len);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response {
    pub count: u32,
    /// Octets left in a pipe or device. All ones for a file.
    pub available: u16,
}

impl Response {
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.andx_words(6)?;
        let (low, available, high): (u16, u16, u16) = words.field()?;
        Ok(Self { count: u32::from(high) << 16 | u32::from(low), available })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.andx_words(6);
        writer.field((self.count as u16, self.available, (self.count >> 16) as u16, 0_u16));
        writer.no_bytes();
    }
}
