//! External data representation (RFC 4506): words of four octets, big-endian.

use crate::fields::{Field, Order};

/// Invalid data: too few octets, or a length above its bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Garbled;

#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(octets: &'a [u8]) -> Self {
        Self { rest: octets }
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// `length` octets (section 4.9), with padding to a multiple of four.
    pub fn fixed(&mut self, length: usize) -> Result<&'a [u8], Garbled> {
        let padded = length.checked_next_multiple_of(4).ok_or(Garbled)?;
        let (taken, rest) = self.rest.split_at_checked(padded).ok_or(Garbled)?;
        self.rest = rest;
        Ok(&taken[..length])
    }

    pub(crate) fn field<T: Field>(&mut self) -> Result<T, Garbled> {
        let (taken, rest) = self.rest.split_at_checked(T::LEN).ok_or(Garbled)?;
        self.rest = rest;
        Ok(T::read(taken, Order::Big))
    }

    /// Unsigned integer (section 4.2).
    pub fn u32(&mut self) -> Result<u32, Garbled> {
        self.field()
    }

    /// Unsigned hyper integer (section 4.5).
    pub fn u64(&mut self) -> Result<u64, Garbled> {
        self.field()
    }

    /// Boolean (section 4.4).
    pub fn boolean(&mut self) -> Result<bool, Garbled> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Garbled),
        }
    }

    /// Opaque data or a string of at most `most` octets (sections 4.10 and 4.11).
    pub fn opaque(&mut self, most: usize) -> Result<&'a [u8], Garbled> {
        let length = self.u32()? as usize;
        if length > most { Err(Garbled) } else { self.fixed(length) }
    }
}

#[derive(Debug, Default)]
pub struct Writer {
    octets: Vec<u8>,
}

impl Writer {
    pub fn after(octets: Vec<u8>) -> Self {
        Self { octets }
    }

    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    pub fn into_octets(self) -> Vec<u8> {
        self.octets
    }

    pub fn u32(&mut self, value: u32) {
        self.field(value);
    }

    pub fn u64(&mut self, value: u64) {
        self.field(value);
    }

    pub(crate) fn field(&mut self, value: impl Field) {
        value.write(Order::Big, &mut self.octets);
    }

    pub fn boolean(&mut self, value: bool) {
        self.u32(u32::from(value));
    }

    pub fn fixed(&mut self, octets: &[u8]) {
        self.octets.extend_from_slice(octets);
        self.octets.resize(self.octets.len() + padding(octets.len()), 0);
    }

    pub fn opaque(&mut self, octets: &[u8]) {
        self.u32(octets.len() as u32);
        self.fixed(octets);
    }

    pub fn room(&mut self, length: usize) -> &mut [u8] {
        let begin = self.octets.len();
        self.octets.resize(begin + length, 0);
        &mut self.octets[begin..]
    }

    /// Overwrite a word, `at` octets from the beginning.
    pub fn set_u32(&mut self, at: usize, value: u32) {
        self.octets[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }

    pub fn truncate(&mut self, length: usize) {
        self.octets.truncate(length);
    }
}

pub fn padding(length: usize) -> usize {
    length.wrapping_neg() % 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn strings_are_padded_to_whole_words() {
        let mut writer = Writer::default();
        writer.opaque(b"sillyprog"); // RFC 4506, section 7, has this string and these octets.
        let golden = b"\0\0\0\x09sillyprog\0\0\0";
        assert_eq!(writer.octets(), golden);
        assert_eq!(Reader::new(golden).opaque(9), Ok(&b"sillyprog"[..]));
        assert_eq!(Reader::new(golden).opaque(8), Err(Garbled));
        assert_eq!(Reader::new(&golden[..15]).opaque(9), Err(Garbled));
    }

    #[test]
    fn excessive_lengths_are_refused() {
        assert_eq!(Reader::new(&[0xff; 8]).opaque(usize::MAX), Err(Garbled));
        assert_eq!(Reader::new(&[0; 8]).fixed(usize::MAX), Err(Garbled));
        assert_eq!(Reader::new(&[0, 0, 0, 2]).boolean(), Err(Garbled));
    }

    proptest! {
        #[test]
        fn written_data_is_read_back(one: u32, two: u64, three: bool, four: Vec<u8>) {
            let mut writer = Writer::default();
            writer.u32(one);
            writer.u64(two);
            writer.boolean(three);
            writer.opaque(&four);
            prop_assert_eq!(writer.octets().len() % 4, 0);
            let mut reader = Reader::new(writer.octets());
            prop_assert_eq!(reader.u32(), Ok(one));
            prop_assert_eq!(reader.u64(), Ok(two));
            prop_assert_eq!(reader.boolean(), Ok(three));
            prop_assert_eq!(reader.opaque(four.len()), Ok(&four[..]));
            prop_assert!(reader.rest().is_empty());
        }
    }
}
