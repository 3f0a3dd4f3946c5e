//! Attributes, times and size of an open file. The response to a change is an empty block.
//!
//! Source: [MS-CIFS] 2.2.4.31 (query), 2.2.4.30 (set).

use super::andx::Block;
use super::one_word::one_word;
use super::writer::Writer;
use crate::Error;

pub use super::time::DateTime;

one_word! {
    /// Request of a query.
    Request,
    /// Open file.
    fid
}

/// Response of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Response {
    /// Creation.
    pub creation: DateTime,
    /// Last access.
    pub last_access: DateTime,
    /// Last write.
    pub last_write: DateTime,
    /// Octets in the file.
    pub size: u32,
    /// Octets set aside for the file.
    pub allocation_size: u32,
    /// Attributes of the file.
    pub attributes: u16,
}

impl Response {
    /// Read the response.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(11)?;
        Ok(Self {
            creation: DateTime::read(&mut words)?,
            last_access: DateTime::read(&mut words)?,
            last_write: DateTime::read(&mut words)?,
            size: words.u32()?,
            allocation_size: words.u32()?,
            attributes: words.u16()?,
        })
    }

    /// Write the response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(11);
        for moment in [self.creation, self.last_access, self.last_write] {
            writer.moment(moment);
        }
        writer.u32(self.size);
        writer.u32(self.allocation_size);
        writer.u16(self.attributes);
        writer.begin_bytes();
        writer.end();
    }
}

/// Request of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetRequest {
    /// Open file.
    pub fid: u16,
    /// Creation.
    pub creation: DateTime,
    /// Last access.
    pub last_access: DateTime,
    /// Last write.
    pub last_write: DateTime,
}

impl SetRequest {
    /// Read the request.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(7)?;
        Ok(Self {
            fid: words.u16()?,
            creation: DateTime::read(&mut words)?,
            last_access: DateTime::read(&mut words)?,
            last_write: DateTime::read(&mut words)?,
        })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(7);
        writer.u16(self.fid);
        for moment in [self.creation, self.last_access, self.last_write] {
            writer.moment(moment);
        }
        writer.begin_bytes();
        writer.end();
    }
}
