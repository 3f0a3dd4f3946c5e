//! Writes the blocks of a message.

use super::command;
use super::header::{self, Header};
use super::strings::Text;
use crate::fields::{Field, Order};

macro_rules! numbers {
    ($($number:ident)*) => {$(
        pub(super) fn $number(&mut self, value: $number) {
            self.field(value);
        }
    )*};
}

#[derive(Debug, Clone, Copy)]
pub struct Place {
    base: usize,
    unicode: bool,
    block_at: usize,
    bytes_at: usize,
    command: u8,
}

/// Appends a message to a caller's memory: the header, then each block.
///
/// The `emit` of a command writes its block. In a chain, [`chain`](Self::chain) comes before every
/// block except the first.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    place: Place,
}

impl<'a> Writer<'a> {
    /// Begin a message after the content of `out`, such as the header of its packet.
    pub fn begin(out: &'a mut Vec<u8>, header: &Header) -> Self {
        let base = out.len();
        out.extend_from_slice(&header.emit());
        let block_at = out.len();
        let (unicode, command) = (header.is_unicode(), header.command);
        Self { out, place: Place { base, unicode, block_at, bytes_at: block_at, command } }
    }

    pub const fn pause(&self) -> Place {
        self.place
    }

    /// Continue the message in `out`, to which more octets may have been appended.
    pub const fn resume(out: &'a mut Vec<u8>, place: Place) -> Self {
        Self { out, place }
    }

    /// Start another block: `command` and its offset are written into the previous block. The new
    /// block is aligned to four octets, as Windows does.
    pub fn chain(&mut self, command: u8) {
        debug_assert!(command::is_andx(self.place.command), "the block before has no AndX fields");
        while !self.offset().is_multiple_of(4) {
            self.out.push(0);
        }
        let offset = self.offset() as u16;
        let andx = self.place.block_at + 1;
        self.out[andx] = command;
        self.out[andx + 2..andx + 4].copy_from_slice(&offset.to_le_bytes());
        self.place.command = command;
    }

    /// A block without words and octets: the response to an error, and to many commands.
    pub fn empty(&mut self) {
        self.words(0);
        self.no_bytes();
    }

    pub const fn is_unicode(&self) -> bool {
        self.place.unicode
    }

    pub fn offset(&self) -> usize {
        self.out.len() - self.place.base
    }

    pub fn message(&self) -> &[u8] {
        &self.out[self.place.base..]
    }

    pub(super) fn words(&mut self, count: u8) {
        self.place.block_at = self.out.len();
        self.out.push(count);
    }

    /// Begin the words of a block whose first four octets point to the next one.
    pub(super) fn andx_words(&mut self, count: u8) {
        self.words(count);
        self.out.extend_from_slice(&[command::NONE, 0, 0, 0]);
    }

    /// End the words, padded with zeros, and begin the octets.
    pub(super) fn begin_bytes(&mut self) {
        let words_end = self.place.block_at + 1 + 2 * usize::from(self.out[self.place.block_at]);
        debug_assert!(
            self.out.len() <= words_end,
            "words of {}",
            command::name(self.place.command)
        );
        self.out.resize(words_end, 0);
        self.place.bytes_at = self.out.len() + 2;
        self.out.extend_from_slice(&[0, 0]);
    }

    pub(super) fn no_bytes(&mut self) {
        self.begin_bytes();
        self.end();
    }

    pub(super) fn end(&mut self) {
        self.end_before(0);
    }

    /// End a block that `more` octets will follow. A count above 16 bits loses its high bits,
    /// because large reads and writes have their length in the words.
    pub(super) fn end_before(&mut self, more: usize) {
        let count = (self.out.len() - self.place.bytes_at + more) as u16;
        self.out[self.place.bytes_at - 2..self.place.bytes_at]
            .copy_from_slice(&count.to_le_bytes());
    }

    pub(super) fn field(&mut self, value: impl Field) {
        value.write(Order::Little, self.out);
    }

    numbers!(u8 u16 u32);

    pub(super) fn octets(&mut self, octets: &[u8]) {
        self.out.extend_from_slice(octets);
    }

    pub(super) fn zeros(&mut self, count: usize) {
        self.out.resize(self.out.len() + count, 0);
    }

    pub(super) fn align(&mut self, to: usize) {
        while !self.offset().is_multiple_of(to) {
            self.out.push(0);
        }
    }

    /// A string with its terminator, aligned if it is UTF-16LE.
    pub(super) fn text(&mut self, text: Text<'_>) {
        if text.is_unicode() {
            self.align(2);
        }
        self.unaligned_text(text);
    }

    pub(super) fn unaligned_text(&mut self, text: Text<'_>) {
        self.octets(text.octets());
        self.zeros(if text.is_unicode() { 2 } else { 1 });
    }

    /// A string with its format octet ([MS-CIFS] 2.2.3.3, `BufferFormat` 4).
    pub(super) fn path(&mut self, text: Text<'_>) {
        self.u8(super::ASCII);
        self.text(text);
    }

    pub(super) fn begin_data(&mut self, offset: usize) {
        self.align(2);
        self.patch_u16(offset, self.offset() as u16);
    }

    pub(super) fn patch_u16(&mut self, offset: usize, value: u16) {
        let at = self.place.base + offset;
        self.out[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    pub fn sign(&mut self, signature: [u8; 8]) {
        self.out[self.place.base..][header::SIGNATURE].copy_from_slice(&signature);
    }
}
