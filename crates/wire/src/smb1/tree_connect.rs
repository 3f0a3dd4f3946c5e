//! Connection to a share in the core protocol.
//!
//! Source: [MS-CIFS] 2.2.4.50. The request to end it, [MS-CIFS] 2.2.4.51, is an empty block.

use super::ASCII;
use super::andx::Block;
use super::strings::Text;
use super::writer::Writer;
use crate::Error;

/// Request. Strings are of the code page in every dialect that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Share, as `\\SERVER\SHARE`.
    pub path: Text<'a>,
    /// Password of the share.
    pub password: Text<'a>,
    /// What the client expects: `A:`, `LPT1:`, `COMM`, `IPC` or `?????`.
    pub service: Text<'a>,
}

impl<'a> Request<'a> {
    /// Read the request.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        let mut bytes = block.bytes()?;
        let unicode = block.is_unicode();
        bytes.format(ASCII)?;
        let path = bytes.text(unicode);
        bytes.format(ASCII)?;
        let password = bytes.text(unicode);
        bytes.format(ASCII)?;
        Ok(Self { path, password, service: bytes.text(unicode) })
    }

    /// Write the request.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(0);
        writer.begin_bytes();
        writer.path(self.path);
        writer.path(self.password);
        writer.path(self.service);
        writer.end();
    }
}

/// Response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// Longest message that the server takes, octets.
    pub max_buffer: u16,
    /// Identifier of the connection.
    pub tid: u16,
}

impl Response {
    /// Read the response.
    pub fn parse(block: &Block<'_>) -> Result<Self, Error> {
        let mut words = block.words(2)?;
        Ok(Self { max_buffer: words.u16()?, tid: words.u16()? })
    }

    /// Write the response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(2);
        writer.u16(self.max_buffer);
        writer.u16(self.tid);
        writer.begin_bytes();
        writer.end();
    }
}
