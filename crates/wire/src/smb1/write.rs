//! Write of the core protocol, and write with close of LAN Manager.
//!
//! Source: [MS-CIFS] 2.2.4.12 (write), 2.2.4.40 (write and close).

use super::DATA;
use super::andx::Block;
use super::blocks::block;
use super::writer::Writer;
use crate::Error;

/// Request of a write. Without data it truncates or extends the file to `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    pub fid: u16,
    pub offset: u32,
    pub remaining: u16,
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Read the request. Both counts must agree.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(5)?;
        let (fid, count, offset, remaining) = words.field()?;
        let mut bytes = block.bytes()?;
        bytes.format(DATA)?;
        let at = bytes.offset();
        let len = bytes.u16()?;
        if len != count {
            return Err(bytes.forbidden("DataLength", at, u64::from(len)));
        }
        Ok(Self { fid, offset, remaining, data: bytes.take(usize::from(len))? })
    }

    /// Write the request, of at most 65,532 octets.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        self.emit_before_data(self.data.len() as u16, writer);
        writer.octets(self.data);
    }

    /// Write the request without its data; the caller appends `len` octets. `data` of the request
    /// is ignored.
    pub fn emit_before_data(&self, len: u16, writer: &mut Writer<'_>) {
        writer.words(5);
        writer.field((self.fid, len, self.offset, self.remaining));
        writer.begin_bytes();
        writer.u8(DATA);
        writer.u16(len);
        writer.end_before(usize::from(len));
    }
}

block! {
    Response: words(1) {
        count: u16,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteAndClose<'a> {
    pub fid: u16,
    pub offset: u32,
    /// Time of the last write, s since 1970 in the server's time. Zero does not change it.
    pub last_write_time: u32,
    /// Whether the request has 12 words instead of 6; the additional six are reserved.
    pub long: bool,
    pub data: &'a [u8],
}

impl<'a> WriteAndClose<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(6)?;
        let (fid, count, offset, last_write_time): (_, u16, _, _) = words.field()?;
        let long = match block.word_count() {
            6 => false,
            12 => true,
            _ => return Err(block.bad_word_count()),
        };
        let mut bytes = block.bytes()?;
        bytes.skip(1)?;
        let data = bytes.take(usize::from(count))?;
        Ok(Self { fid, offset, last_write_time, long, data })
    }

    /// Write the request, of at most 65,534 octets.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.words(if self.long { 12 } else { 6 });
        writer.field((self.fid, self.data.len() as u16, self.offset, self.last_write_time));
        writer.begin_bytes();
        writer.u8(0);
        writer.octets(self.data);
        writer.end();
    }
}
