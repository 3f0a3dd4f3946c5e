//! End of an open file, and data of it to the disk. Responses are empty blocks.
//!
//! Source: [MS-CIFS] 2.2.4.5 (close), 2.2.4.6 (flush).

use super::andx::Block;
use super::one_word::one_word;
use super::writer::Writer;
use crate::Error;

/// Time of a close that leaves the file's time alone.
pub const KEEP_TIME: u32 = 0xffff_ffff;
/// Identifier of a flush of all files of the process.
pub const ALL_FILES: u16 = 0xffff;

/// Request of a close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Open file.
    pub fid: u16,
    /// Time of the last write, s since 1970 in the server's time. Zero and [`KEEP_TIME`] leave it.
    pub last_write_time: u32,
}

impl Request {
    /// Read the request.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(3)?;
        Ok(Self { fid: words.u16()?, last_write_time: words.u32()? })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(3);
        writer.u16(self.fid);
        writer.u32(self.last_write_time);
        writer.begin_bytes();
        writer.end();
    }
}

one_word! {
    /// Request of a flush.
    Flush,
    /// Open file, or [`ALL_FILES`].
    fid
}
