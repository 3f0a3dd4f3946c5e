//! Attributes, time and size of a file by its name. The request to query is that of
//! [`path`](super::path); the response to a change is an empty block.
//!
//! Source: [MS-CIFS] 2.2.4.9 (query), 2.2.4.10 (set).

use super::ASCII;
use super::andx::Block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

/// Response of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response {
    /// Attributes of the file.
    pub attributes: u16,
    /// Time of the last write, s since 1970 in the server's time.
    pub last_write_time: u32,
    /// Octets in the file.
    pub size: u32,
}

impl Response {
    /// Read the response.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(10)?;
        Ok(Self { attributes: words.u16()?, last_write_time: words.u32()?, size: words.u32()? })
    }

    /// Write the response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(10);
        writer.u16(self.attributes);
        writer.u32(self.last_write_time);
        writer.u32(self.size);
        writer.zeros(10);
        writer.begin_bytes();
        writer.end();
    }
}

/// Request of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SetRequest<'a> {
    /// New attributes.
    pub attributes: u16,
    /// New time of the last write, s since 1970 in the server's time. Zero leaves it.
    pub last_write_time: u32,
    /// File.
    pub name: Text<'a>,
}

impl<'a> SetRequest<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut words = block.words(8)?;
        let mut bytes = block.bytes()?;
        bytes.format(ASCII)?;
        Ok(Self {
            attributes: words.u16()?,
            last_write_time: words.u32()?,
            name: bytes.text(block.is_unicode()),
        })
    }

    /// Write the request. An empty string follows the name, as clients send it.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        let empty = if self.name.is_unicode() { Text::Utf16(&[]) } else { Text::Oem(&[]) };
        writer.begin_words(8);
        writer.u16(self.attributes);
        writer.u32(self.last_write_time);
        writer.zeros(10);
        writer.begin_bytes();
        writer.path(self.name);
        writer.path(empty);
        writer.end();
    }
}
