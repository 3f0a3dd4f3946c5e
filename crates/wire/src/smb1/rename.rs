//! Another name for files. The response is an empty block.
//!
//! Source: [MS-CIFS] 2.2.4.8.

use super::ASCII;
use super::andx::Block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

/// Request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Request<'a> {
    /// Attributes that the files may have.
    pub search_attributes: u16,
    /// Files. The last part may have wildcards.
    pub old_name: Text<'a>,
    /// Their new name.
    pub new_name: Text<'a>,
}

impl<'a> Request<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let search_attributes = block.words(1)?.u16()?;
        let mut bytes = block.bytes()?;
        bytes.format(ASCII)?;
        let old_name = bytes.text(block.is_unicode());
        bytes.format(ASCII)?;
        Ok(Self { search_attributes, old_name, new_name: bytes.text(block.is_unicode()) })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(1);
        writer.u16(self.search_attributes);
        writer.begin_bytes();
        writer.path(self.old_name);
        writer.path(self.new_name);
        writer.end();
    }
}
