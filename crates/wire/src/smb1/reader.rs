//! Fields of a message in their order.

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

/// Reads little-endian fields of a message from one place to another. Offsets are from the start of
/// the message, as strings are aligned to it.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    format: &'static str,
    message: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Read `message` from offset `at` up to `end`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if that is not inside the message.
    pub fn new(
        format: &'static str,
        message: &'a [u8],
        at: usize,
        end: usize,
    ) -> Result<Self, Error> {
        let Some(message) = message.get(..end.max(at)) else {
            return Err(Error::Truncated { format, need: end.max(at), got: message.len() });
        };
        Ok(Self { format, message, at })
    }

    /// Read `octets` that are no part of a message, from their start.
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

    /// The next `len` octets.
    ///
    /// # Errors
    /// [`Error::Truncated`] if fewer are left.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        if len > self.left() {
            let need = self.at.saturating_add(len);
            return Err(Error::Truncated { format: self.format, need, got: self.message.len() });
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

    /// Pass over the octet before a UTF-16LE string that begins at an odd offset, if there is one.
    pub fn align(&mut self) {
        if !self.at.is_multiple_of(2) && self.left() > 0 {
            self.at += 1;
        }
    }

    pub(crate) fn field<T: Field>(&mut self) -> Result<T, Error> {
        self.take(T::LEN).map(|octets| T::read(octets, Order::Little))
    }

    numbers!(u8 u16 u32 u64);

    /// A field of 64 bits whose high half stands first, as sizes in LAN Manager's locks.
    pub fn u64_high_first(&mut self) -> Result<u64, Error> {
        let [high, low]: [u32; 2] = self.field()?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// The octet that says what kind of field follows ([MS-CIFS] 2.2.3.3, `BufferFormat`).
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Forbidden`] if the field is not of the kind.
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

    /// A string up to its terminator, aligned if it is UTF-16LE. What has no terminator ends with
    /// the block: servers of LAN Manager leave it out of the last string.
    pub fn text(&mut self, unicode: bool) -> Text<'a> {
        if unicode {
            self.align();
        }
        self.unaligned_text(unicode)
    }

    /// As [`text`](Self::text) without the alignment.
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

    /// A string of UTF-16LE behind its length of 32 bits, not aligned.
    pub fn counted_text(&mut self) -> Result<Text<'a>, Error> {
        let len = self.u32()? as usize;
        self.text_of(len, true)
    }

    /// A string of `len` octets, not aligned. It needs no terminator; where servers count one, as
    /// Windows 9x, Windows NT and Samba do where strings are not UTF-16LE, it is left out.
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
