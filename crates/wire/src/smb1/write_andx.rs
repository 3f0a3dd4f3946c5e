//! Write from LAN Manager on.
//!
//! Source: [MS-CIFS] 2.2.4.43; writes above 64 KiB [MS-SMB] 2.2.4.3.

use super::andx::Block;
use super::writer::Writer;
use crate::Error;

/// Bit of a write mode: data are on the disk when the write is answered.
pub const WRITE_THROUGH: u16 = 0x0001;

/// Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    /// Open file.
    pub fid: u16,
    /// Where to write, octets from the start.
    pub offset: u64,
    /// Time to wait at a pipe or a device, ms.
    pub timeout_ms: u32,
    /// [`WRITE_THROUGH`].
    pub mode: u16,
    /// Octets that the client will still write. A hint.
    pub remaining: u16,
    /// Whether the offset has 64 bits, so that the request has 14 words instead of 12.
    pub wide: bool,
    /// What to write.
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(12)?;
        words.skip(4)?;
        let fid = words.u16()?;
        let offset = words.u32()?;
        let timeout_ms = words.u32()?;
        let (mode, remaining) = (words.u16()?, words.u16()?);
        let len_high = u32::from(words.u16()?);
        let len = (len_high << 16 | u32::from(words.u16()?)) as usize;
        let data_offset = usize::from(words.u16()?);
        let (wide, high) = match block.word_count() {
            12 => (false, 0),
            14 => (true, words.u32()?),
            _ => return Err(block.bad_word_count()),
        };
        let offset = u64::from(high) << 32 | u64::from(offset);
        let data = block.data("DataOffset", data_offset, len)?;
        Ok(Self { fid, offset, timeout_ms, mode, remaining, wide, data })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        self.emit_before_data(self.data.len(), writer);
        writer.octets(self.data);
    }

    /// Write the request up to its data, of which the caller appends `len` octets. `data` of the
    /// request is not looked at.
    pub fn emit_before_data(&self, len: usize, writer: &mut Writer<'_>) {
        writer.begin_andx_words(if self.wide { 14 } else { 12 });
        writer.u16(self.fid);
        writer.u32(self.offset as u32);
        writer.u32(self.timeout_ms);
        writer.u16(self.mode);
        writer.u16(self.remaining);
        writer.u16((len >> 16) as u16);
        writer.u16(len as u16);
        let data_offset_at = writer.offset();
        writer.u16(0);
        if self.wide {
            writer.u32((self.offset >> 32) as u32);
        }
        writer.begin_bytes();
        writer.align(2);
        let data_offset = writer.offset() as u16;
        writer.patch_u16(data_offset_at, data_offset);
        writer.end_before(len);
    }
}

/// Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response {
    /// Octets that were written.
    pub count: u32,
    /// Octets left in a pipe or a device. All ones for a file.
    pub available: u16,
}

impl Response {
    /// Read the response.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(6)?;
        words.skip(4)?;
        let (low, available) = (words.u16()?, words.u16()?);
        let high = words.u16()?;
        Ok(Self { count: u32::from(high) << 16 | u32::from(low), available })
    }

    /// Write the response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_andx_words(6);
        writer.u16(self.count as u16);
        writer.u16(self.available);
        writer.u16((self.count >> 16) as u16);
        writer.u16(0);
        writer.begin_bytes();
        writer.end();
    }
}
