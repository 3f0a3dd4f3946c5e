//! Reads the fields of a message in order.

use super::strings::Text;
use crate::Error;
use crate::fields::{Field, Order};

macro_rules! numbers {
    ($($number:ident)*) => {$(
        #[doc = concat!("A number, of type `", stringify!($number), "`.")]
        pub fn $number(&mut self) -> Result<$number, Error> {
            self.field()
        }
    )*};
}

/// Reads little-endian fields between two positions of a message. Offsets count from the start of
/// the message, because strings are aligned to it.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    format: &'static str,
    message: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Read `message` from offset `at` up to `end`.
    pub fn new(
        format: &'static str,
        message: &'a [u8],
        at: usize,
        end: usize,
    ) -> Result<Self, Error> {
        Error::need(format, message, end.max(at))?;
        Ok(Self { format, message: &message[..end.max(at)], at })
    }

    pub const fn whole(format: &'static str, octets: &'a [u8]) -> Self {
        Self { format, message: octets, at: 0 }
    }

    pub const fn offset(&self) -> usize {
        self.at
    }

    pub const fn left(&self) -> usize {
        self.message.len() - self.at
    }

    pub const fn forbidden(&self, field: &'static str, offset: usize, value: u64) -> Error {
        Error::Forbidden { format: self.format, field, offset, value }
    }

    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        if len > self.left() {
            let need = self.at.saturating_add(len);
            return Err(Error::truncated(self.format, self.message, need));
        }
        let octets = &self.message[self.at..self.at + len];
        self.at += len;
        Ok(octets)
    }

    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.message[self.at..];
        self.at = self.message.len();
        rest
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.take(N).map(|octets| crate::take(octets, 0..N))
    }

    pub fn skip(&mut self, len: usize) -> Result<(), Error> {
        self.take(len).map(|_| ())
    }

    /// Skip the padding octet before a UTF-16LE string, if it would begin at an odd offset.
    pub fn align(&mut self) {
        if !self.at.is_multiple_of(2) && self.left() > 0 {
            self.at += 1;
        }
    }

    pub(crate) fn field<T: Field>(&mut self) -> Result<T, Error> {
        self.take(T::LEN).map(|octets| T::read(octets, Order::Little))
    }

    numbers!(u8 u16 u32 u64);

    /// A 64-bit field with its high half first, as in LAN Manager's locks.
    pub fn u64_high_first(&mut self) -> Result<u64, Error> {
        let [high, low]: [u32; 2] = self.field()?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// The octet with the kind of the next field ([MS-CIFS] 2.2.3.3, `BufferFormat`).
    pub fn format(&mut self, format: u8) -> Result<(), Error> {
        let offset = self.at;
        let found: u8 = self.field()?;
        if found == format {
            Ok(())
        } else {
            Err(self.forbidden("BufferFormat", offset, u64::from(found)))
        }
    }

    pub fn path(&mut self, unicode: bool) -> Result<Text<'a>, Error> {
        self.format(super::ASCII)?;
        Ok(self.text(unicode))
    }

    /// A string up to its terminator, aligned if it is UTF-16LE. Without a terminator it ends with
    /// the block: LAN Manager servers omit the last one.
    pub fn text(&mut self, unicode: bool) -> Text<'a> {
        if unicode {
            self.align();
        }
        self.unaligned_text(unicode)
    }

    pub fn unaligned_text(&mut self, unicode: bool) -> Text<'a> {
        if !unicode {
            let rest = &self.message[self.at..];
            let len = rest.iter().position(|octet| *octet == 0);
            self.at += len.map_or(rest.len(), |len| len + 1);
            return Text::Oem(&rest[..len.unwrap_or(rest.len())]);
        }
        let rest = &self.message[self.at..];
        let units = rest.chunks_exact(2).position(|unit| unit == [0, 0]);
        self.at += units.map_or(rest.len(), |units| 2 * units + 2);
        Text::Utf16(&rest[..2 * units.unwrap_or(rest.len() / 2)])
    }

    /// A UTF-16LE string after its 32-bit length, not aligned.
    pub fn counted_text(&mut self) -> Result<Text<'a>, Error> {
        let len = self.u32()? as usize;
        self.text_of(len, true)
    }

    /// A string of `len` octets, not aligned. It needs no terminator; one that the server counts,
    /// as Windows 9x, Windows NT and Samba do in a code page, is removed.
    pub fn text_of(&mut self, len: usize, unicode: bool) -> Result<Text<'a>, Error> {
        let mut octets = self.take(len)?;
        if !unicode {
            while let [name @ .., 0] = octets {
                octets = name;
            }
            return Ok(Text::Oem(octets));
        }
        octets = &octets[..len & !1];
        while let [name @ .., 0, 0] = octets {
            octets = name;
        }
        Ok(Text::Utf16(octets))
    }
}
