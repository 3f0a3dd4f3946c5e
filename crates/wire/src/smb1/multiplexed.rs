//! Multiplexed read and write: the data of one command in several packets, each with its offset.
//!
//! Source: [MS-CIFS] 2.2.4.23 (read) and 2.2.4.26 (write). For connectionless transports. The read
//! request has the form of a raw read without a 64-bit offset.

use super::andx::Block;
use super::blocks::block;
use super::writer::Writer;
use crate::Error;

/// Maximum parts of a write, one per bit of its mask.
pub const MOST_PARTS: usize = 32;

/// Bit of a write mode: connectionless transport.
pub const CONNECTIONLESS: u16 = 0x0080;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response<'a> {
    /// Offset in the file of this response's data.
    pub offset: u32,
    pub count: u16,
    /// Octets left in a pipe or device. All ones for a file.
    pub remaining: u16,
    pub data: &'a [u8],
}

impl<'a> Response<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(8)?;
        let (offset, count, remaining, _): (_, _, _, u32) = words.field()?;
        let (len, data_offset): (u16, u16) = words.field()?;
        let data = block.data("DataOffset", usize::from(data_offset), usize::from(len))?;
        Ok(Self { offset, count, remaining, data })
    }

    /// Write the response, of at most 65,000 octets.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        self.emit_before_data(self.data.len() as u16, writer);
        writer.octets(self.data);
    }

    /// Write the response without its data; the caller appends `len` octets. `data` of the response
    /// is ignored.
    pub fn emit_before_data(&self, len: u16, writer: &mut Writer<'_>) {
        writer.words(8);
        writer.field((self.offset, self.count, self.remaining, 0_u32));
        writer.u16(len);
        let data_offset_at = writer.offset();
        writer.u16(0);
        writer.begin_bytes();
        writer.begin_data(data_offset_at);
        writer.end_before(usize::from(len));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Write<'a> {
    pub fid: u16,
    pub total_count: u16,
    /// Offset in the file for this request's data.
    pub offset: u32,
    /// Time to wait at a pipe or device, ms.
    pub timeout_ms: u32,
    /// [`WRITE_THROUGH`](super::write_raw::WRITE_THROUGH), [`CONNECTIONLESS`].
    pub mode: u16,
    pub mask: u32,
    pub data: &'a [u8],
}

impl<'a> Write<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(12)?;
        let (fid, total_count, _, offset): (_, _, u16, _) = words.field()?;
        let (timeout_ms, mode, mask) = words.field()?;
        let (len, data_offset): (u16, u16) = words.field()?;
        let data = block.data("DataOffset", usize::from(data_offset), usize::from(len))?;
        Ok(Self { fid, total_count, offset, timeout_ms, mode, mask, data })
    }

    /// Write the request, of at most 65,000 octets.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(12);
        writer.field((self.fid, self.total_count, 0_u16, self.offset));
        writer.field((self.timeout_ms, self.mode, self.mask));
        writer.u16(self.data.len() as u16);
        let data_offset_at = writer.offset();
        writer.u16(0);
        writer.begin_bytes();
        writer.begin_data(data_offset_at);
        writer.octets(self.data);
        writer.end();
    }
}

block! {
    Written: words(2) {
        mask: u32,
    }
}
