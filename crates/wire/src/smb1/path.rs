//! Requests of one path: create directory, delete directory, check directory, query information
//! and delete. But for query information, their responses are empty blocks.
//!
//! Source: [MS-CIFS] 2.2.4.1, 2.2.4.2, 2.2.4.17, 2.2.4.9 and 2.2.4.7.

use super::ASCII;
use super::andx::Block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

/// Request of a command that needs only a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    /// File or directory.
    pub name: Text<'a>,
}

impl<'a> Request<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut bytes = block.bytes()?;
        bytes.format(ASCII)?;
        Ok(Self { name: bytes.text(block.is_unicode()) })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(0);
        writer.begin_bytes();
        writer.path(self.name);
        writer.end();
    }
}

/// Request of a delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delete<'a> {
    /// Attributes that the files may have.
    pub search_attributes: u16,
    /// Files. The last part may have wildcards.
    pub name: Text<'a>,
}

impl<'a> Delete<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let search_attributes = block.words(1)?.u16()?;
        let mut bytes = block.bytes()?;
        bytes.format(ASCII)?;
        Ok(Self { search_attributes, name: bytes.text(block.is_unicode()) })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(1);
        writer.u16(self.search_attributes);
        writer.begin_bytes();
        writer.path(self.name);
        writer.end();
    }
}
