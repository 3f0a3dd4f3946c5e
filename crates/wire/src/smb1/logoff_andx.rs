//! Logoff of a user; request and response have the same form.
//!
//! Source: [MS-CIFS] 2.2.4.54.

use super::andx::Block;
use super::writer::Writer;
use crate::Error;

pub fn parse(block: &Block<'_>) -> Result<(), Error> {
    block.words(2).map(|_| ())
}

pub fn emit(writer: &mut Writer<'_>) {
    writer.andx_words(2);
    writer.no_bytes();
}
