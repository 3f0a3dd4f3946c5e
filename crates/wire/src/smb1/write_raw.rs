//! Raw write: after an interim response, a packet of the transport with nothing but data follows.
//!
//! Source: [MS-CIFS] 2.2.4.25.

use super::andx::Block;
use super::one_word::one_word;
use super::writer::Writer;
use crate::Error;

/// Bit of a write mode: a final response follows once the data are on the disk.
pub const WRITE_THROUGH: u16 = 0x0001;

/// Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    /// Open file.
    pub fid: u16,
    /// Octets of the write: those of this request and those of the raw packet.
    pub total_count: u16,
    /// Where to write, octets from the start.
    pub offset: u64,
    /// Time to wait at a pipe or a device, ms.
    pub timeout_ms: u32,
    /// [`WRITE_THROUGH`].
    pub mode: u16,
    /// Whether the offset has 64 bits, so that the request has 14 words instead of 12.
    pub wide: bool,
    /// The first octets to write. May be empty.
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(12)?;
        let (fid, total_count) = (words.u16()?, words.u16()?);
        words.skip(2)?;
        let offset = words.u32()?;
        let (timeout_ms, mode) = (words.u32()?, words.u16()?);
        words.skip(4)?;
        let at = words.offset();
        let len = words.u16()?;
        let data_offset = usize::from(words.u16()?);
        if len > total_count {
            return Err(words.forbidden("DataLength", at, u64::from(len)));
        }
        let (wide, high) = match block.word_count() {
            12 => (false, 0),
            14 => (true, words.u32()?),
            _ => return Err(block.bad_word_count()),
        };
        let offset = u64::from(high) << 32 | u64::from(offset);
        let data = block.data("DataOffset", data_offset, usize::from(len))?;
        Ok(Self { fid, total_count, offset, timeout_ms, mode, wide, data })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(if self.wide { 14 } else { 12 });
        writer.u16(self.fid);
        writer.u16(self.total_count);
        writer.u16(0);
        writer.u32(self.offset as u32);
        writer.u32(self.timeout_ms);
        writer.u16(self.mode);
        writer.u32(0);
        writer.u16(self.data.len() as u16);
        let data_offset_at = writer.offset();
        writer.u16(0);
        if self.wide {
            writer.u32((self.offset >> 32) as u32);
        }
        writer.begin_bytes();
        if !self.data.is_empty() {
            writer.align(2);
            let data_offset = writer.offset() as u16;
            writer.patch_u16(data_offset_at, data_offset);
            writer.octets(self.data);
        }
        writer.end();
    }
}

one_word! {
    /// Interim response of command `WRITE_RAW`, and final response of command `WRITE_COMPLETE`.
    Response,
    /// Interim: octets left in a pipe or a device, all ones for a file. Final: octets written.
    count
}
