//! Blocks of a message: a command with its words and octets, and chains of blocks.
//!
//! Source: [MS-CIFS] 2.2.3.2 to 2.2.3.4.

use super::command;
use super::header::{self, Header};
use super::reader::Reader;
use crate::Error;

/// Maximum number of blocks that are read in a chain. Real chains have two or three.
pub const MAX_BLOCKS: usize = 16;

#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    message: &'a [u8],
    header: Header,
    command: u8,
    words_at: usize,
    bytes_at: usize,
    end: usize,
}

impl<'a> Block<'a> {
    pub fn first(header: &Header, message: &'a [u8]) -> Result<Self, Error> {
        Self::at(*header, message, header.command, header::LEN)
    }

    fn at(header: Header, message: &'a [u8], command: u8, at: usize) -> Result<Self, Error> {
        let need = |need| Error::need(command::name(command), message, need);
        let words_at = at + 1;
        need(words_at)?;
        let bytes_at = words_at + 2 * usize::from(message[at]) + 2;
        need(bytes_at)?;
        let byte_count = u16::from_le_bytes([message[bytes_at - 2], message[bytes_at - 1]]);
        let end = bytes_at + usize::from(byte_count);
        need(end)?;
        Ok(Self { message, header, command, words_at, bytes_at, end })
    }

    pub const fn command(&self) -> u8 {
        self.command
    }

    pub const fn header(&self) -> &Header {
        &self.header
    }

    pub const fn is_unicode(&self) -> bool {
        self.header.is_unicode()
    }

    pub const fn format(&self) -> &'static str {
        command::name(self.command)
    }

    pub const fn word_count(&self) -> usize {
        (self.bytes_at - 2 - self.words_at) / 2
    }

    pub const fn byte_count(&self) -> usize {
        self.end - self.bytes_at
    }

    pub const fn is_empty(&self) -> bool {
        self.end - self.words_at == 2
    }

    /// Read the words, of which there must be at least `count`.
    pub fn words(&self, count: usize) -> Result<Reader<'a>, Error> {
        if self.word_count() < count {
            return Err(self.bad_word_count());
        }
        Reader::new(self.format(), self.message, self.words_at, self.bytes_at - 2)
    }

    /// As [`words`](Self::words), after the four octets that point to the next block.
    pub fn andx_words(&self, count: usize) -> Result<Reader<'a>, Error> {
        let mut words = self.words(count)?;
        words.skip(4)?;
        Ok(words)
    }

    /// An offset with the low half `low`. If the block has two more words than `narrow`, they are
    /// the high half. Also returns whether the offset has 64 bits.
    pub fn offset(
        &self,
        words: &mut Reader<'a>,
        low: u32,
        narrow: usize,
    ) -> Result<(u64, bool), Error> {
        let is_wide = self.word_count() == narrow + 2;
        if !is_wide && self.word_count() != narrow {
            return Err(self.bad_word_count());
        }
        let high = if is_wide { words.u32()? } else { 0 };
        Ok((u64::from(high) << 32 | u64::from(low), is_wide))
    }

    pub const fn bad_word_count(&self) -> Error {
        Error::Forbidden {
            format: self.format(),
            field: "WordCount",
            offset: self.words_at - 1,
            value: self.word_count() as u64,
        }
    }

    pub fn bytes(&self) -> Result<Reader<'a>, Error> {
        Reader::new(self.format(), self.message, self.bytes_at, self.end)
    }

    /// `len` octets at `offset` from the start of the message, but not before this block's octets.
    /// They may exceed its `ByteCount`, which has only 16 bits, in large reads and writes.
    pub fn data(&self, field: &'static str, offset: usize, len: usize) -> Result<&'a [u8], Error> {
        if len == 0 {
            return Ok(&[]);
        }
        if offset < self.bytes_at {
            return Err(Error::forbidden(self.format(), field, self.words_at, offset as u64));
        }
        let mut reader = Reader::new(self.format(), self.message, offset, self.message.len())?;
        reader.take(len)
    }

    /// Offset of `part` in the message. An empty part may begin anywhere.
    pub fn offset_of(&self, part: &[u8]) -> usize {
        (part.as_ptr() as usize)
            .saturating_sub(self.message.as_ptr() as usize)
            .min(self.message.len())
    }

    /// Command and offset of the next block, if there is one and its offset is allowed.
    fn next(&self) -> Result<Option<Self>, Error> {
        if !command::is_andx(self.command) || self.word_count() < 2 {
            return Ok(None);
        }
        let mut words = self.words(2)?;
        let command = words.u8()?;
        words.skip(1)?;
        let offset = usize::from(words.u16()?);
        if command == command::NONE {
            return Ok(None);
        }
        // A block that begins before the end of this one overlaps it or points back.
        if offset < self.end {
            let value = offset as u64;
            return Err(words.forbidden("AndXOffset", self.words_at + 2, value));
        }
        Self::at(self.header, self.message, command, offset).map(Some)
    }
}

/// Blocks of a message in order. Each begins after the end of the previous one, so the iteration
/// ends. After an error it stops.
#[derive(Debug, Clone)]
pub struct Chain<'a> {
    next: Option<Result<Block<'a>, Error>>,
    blocks: usize,
}

impl<'a> Chain<'a> {
    pub fn new(header: &Header, message: &'a [u8]) -> Self {
        Self { next: Some(Block::first(header, message)), blocks: 0 }
    }
}

impl<'a> Iterator for Chain<'a> {
    type Item = Result<Block<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.next.take()?;
        self.blocks += 1;
        if let Ok(block) = &found
            && self.blocks < MAX_BLOCKS
        {
            self.next = block.next().transpose();
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::Header;
    use super::*;

    /// A message of `LOGOFF_ANDX` blocks, each pointing to the given offset.
    fn chained(offsets: &[u16]) -> Vec<u8> {
        let mut message = Header::request(command::LOGOFF_ANDX, 0, 0).emit().to_vec();
        for offset in offsets {
            message.extend_from_slice(&[2, command::LOGOFF_ANDX, 0]);
            message.extend_from_slice(&offset.to_le_bytes());
            message.extend_from_slice(&[0, 0]);
        }
        message
    }

    fn walk(message: &[u8]) -> Vec<Result<Block<'_>, Error>> {
        Chain::new(&Header::parse(message).unwrap(), message).collect()
    }

    #[test]
    fn andx_blocks_are_read_at_their_offsets() {
        let mut message = chained(&[39, 46, 0]);
        message[47] = command::NONE;
        let blocks = walk(&message);
        assert_eq!(blocks.len(), 3);
        assert!(blocks.iter().all(Result::is_ok));
    }

    #[test]
    fn backward_chains_are_errors() {
        for offset in [0, 32, 38] {
            let message = chained(&[offset]);
            let blocks = walk(&message);
            assert_eq!(blocks.len(), 2);
            let error = blocks[1].as_ref().unwrap_err().to_string();
            let expected = format!(
                "smb1 logoff andx: field `AndXOffset` at octet 35 has forbidden value {offset:#x}"
            );
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn chains_beyond_the_message_are_errors() {
        let message = chained(&[39]);
        let blocks = walk(&message);
        let error = blocks[1].as_ref().unwrap_err().to_string();
        assert_eq!(error, "smb1 logoff andx: need 40 octets, got 39");
    }

    #[test]
    fn longest_chain_is_parsed() {
        let offsets: Vec<u16> = (1..100).map(|index| 32 + 7 * index).collect();
        assert_eq!(walk(&chained(&offsets)).len(), MAX_BLOCKS);
    }

    #[test]
    fn every_truncated_message_is_an_error() {
        let mut message = chained(&[39, 0]);
        message[40] = command::NONE;
        for len in header::LEN..message.len() {
            assert!(walk(&message[..len]).last().unwrap().is_err(), "{len}");
        }
    }
}
