//! Test of a session: octets that come back.
//!
//! Source: [MS-CIFS] 2.2.4.39.

use super::andx::Block;
use super::writer::Writer;
use crate::Error;

/// Request, whose number is that of the wanted responses; or response, whose number says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo<'a> {
    /// Wanted responses, or number of this one, from 1.
    pub number: u16,
    /// Octets that come back.
    pub data: &'a [u8],
}

impl<'a> Echo<'a> {
    /// Read a request or a response.
    pub fn parse(block: &Block<'a>) -> Result<Self, Error> {
        Ok(Self { number: block.words(1)?.u16()?, data: block.bytes()?.rest() })
    }

    /// Write a request or a response.
    pub fn emit(&self, writer: &mut Writer<'_>) {
        writer.begin_words(1);
        writer.u16(self.number);
        writer.begin_bytes();
        writer.octets(self.data);
        writer.end();
    }
}
