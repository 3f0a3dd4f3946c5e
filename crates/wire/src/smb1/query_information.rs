//! Attributes, time and size of a file by name. The query is in [`path`](super::path); the response
//! to a change is an empty block.
//!
//! Source: [MS-CIFS] 2.2.4.9 (query), 2.2.4.10 (set).

use super::andx::Block;
use super::blocks::block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

block! {
    Response: words(10) {
        attributes: u16,
        /// Time of the last write, s since 1970 in the server's time.
        last_write_time: u32,
        size: u32,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetRequest<'a> {
    pub attributes: u16,
    /// New time of the last write, s since 1970 in the server's time. Zero does not change it.
    pub last_write_time: u32,
    pub name: Text<'a>,
}

impl<'a> SetRequest<'a> {
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let (attributes, last_write_time) = block.words(8)?.field()?;
        Ok(Self { attributes, last_write_time, name: block.bytes()?.path(block.is_unicode())? })
    }

    /// Write the request. An empty string follows the name, as clients send it.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        let empty = if self.name.is_unicode() { Text::Utf16(&[]) } else { Text::Oem(&[]) };
        writer.words(8);
        writer.field((self.attributes, self.last_write_time));
        writer.begin_bytes();
        writer.path(self.name);
        writer.path(empty);
        writer.end();
    }
}
