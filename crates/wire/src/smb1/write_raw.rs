//! Raw write: after an interim response, the client sends a transport packet that contains only
//! data.
//!
//! Source: [MS-CIFS] 2.2.4.25.

use super::andx::Block;
use super::blocks::block;
use super::writer::Writer;
use crate::Error;

/// Bit of a write mode: a final response follows once the data are on disk.
pub const WRITE_THROUGH: u16 = 0x0001;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    pub fid: u16,
    /// Length of the write: octets of this request and of the raw packet.
    pub total_count: u16,
    pub offset: u64,
    /// Time to wait at a pipe or device, ms.
    pub timeout_ms: u32,
    /// [`WRITE_THROUGH`].
    pub mode: u16,
    /// Whether the offset has 64 bits; the request then has 14 words instead of 12.
    pub wide: bool,
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(12)?;
        let (fid, total_count, _, low): (_, _, u16, _) = words.field()?;
        let (timeout_ms, mode, _): (_, _, u32) = words.field()?;
        let at = words.offset();
        let len = words.u16()?;
        let data_offset = usize::from(words.u16()?);
        if len > total_count {
            return Err(words.forbidden("DataLength", at, u64::from(len)));
        }
        let (offset, wide) = block.offset(&mut words, low, 12)?;
        let data = block.data("DataOffset", data_offset, usize::from(len))?;
        Ok(Self { fid, total_count, offset, timeout_ms, mode, wide, data })
    }

    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(if self.wide { 14 } else { 12 });
        writer.field((self.fid, self.total_count, 0_u16, self.offset as u32));
        writer.field((self.timeout_ms, self.mode, 0_u32, self.data.len() as u16));
        let data_offset_at = writer.offset();
        writer.u16(0);
        if self.wide {
            writer.u32((self.offset >> 32) as u32);
        }
        writer.begin_bytes();
        if !self.data.is_empty() {
            writer.begin_data(data_offset_at);
            writer.octets(self.data);
        }
        writer.end();
    }
}

block! {
    Response: words(1) {
        /// Interim: octets left in a pipe or device, all ones for a file. Final: octets written.
        count: u16,
    }
}
