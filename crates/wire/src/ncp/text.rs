//! Names preceded by their length, names in fixed fields, and messages that contain names.

use crate::Error;
use crate::fields::{Field, Order};

pub const MOST: usize = u8::MAX as usize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Name<'a>(pub &'a [u8]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tail<'a>(pub &'a [u8]);

#[derive(Debug, Clone, Copy)]
pub(super) struct Rest<'a> {
    format: &'static str,
    all: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    pub(super) const fn new(format: &'static str, all: &'a [u8]) -> Self {
        Self { format, all, at: 0 }
    }

    pub(super) fn octets(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (need, got) = (self.at + length, self.all.len());
        let truncated = Error::Truncated { format: self.format, need, got };
        let found = self.all.get(self.at..need).ok_or(truncated)?;
        self.at = need;
        Ok(found)
    }
}

pub(super) trait Part<'a>: Sized {
    fn read(rest: &mut Rest<'a>) -> Result<Self, Error>;
    fn write(&self, out: &mut Vec<u8>);
}

impl<T: Field> Part<'_> for T {
    fn read(rest: &mut Rest<'_>) -> Result<Self, Error> {
        rest.octets(T::LEN).map(|octets| T::read(octets, Order::Big))
    }

    fn write(&self, out: &mut Vec<u8>) {
        Field::write(*self, Order::Big, out);
    }
}

impl<'a> Part<'a> for Name<'a> {
    fn read(rest: &mut Rest<'a>) -> Result<Self, Error> {
        let length: u8 = Part::read(rest)?;
        rest.octets(usize::from(length)).map(Self)
    }

    /// Cut to [`MOST`] octets.
    fn write(&self, out: &mut Vec<u8>) {
        let text = &self.0[..self.0.len().min(MOST)];
        out.push(text.len() as u8);
        out.extend_from_slice(text);
    }
}

impl<'a> Part<'a> for Tail<'a> {
    fn read(rest: &mut Rest<'a>) -> Result<Self, Error> {
        rest.octets(rest.all.len() - rest.at).map(Self)
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.0);
    }
}

macro_rules! messages {
    ($(
        $(#[$about:meta])* $name:ident $(<$life:lifetime>)?, $format:literal => {
            $($(#[$doc:meta])* $field:ident: $type:ty,)*
        }
    )+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name $(<$life>)? {
            $($(#[$doc])* pub $field: $type,)*
        }

        $crate::ncp::text::messages!(@read $name $(<$life>)?, $format, $($field)*);
    )+};
    (@read $name:ident <$life:lifetime>, $format:literal, $($field:ident)*) => {
        impl<$life> $name<$life> {
            pub fn parse(octets: &$life [u8]) -> Result<Self, $crate::Error> {
                let mut rest = $crate::ncp::text::Rest::new($format, octets);
                Ok(Self { $($field: $crate::ncp::text::Part::read(&mut rest)?,)* })
            }
        }

        impl $name<'_> {
            pub fn emit(&self, out: &mut Vec<u8>) {
                $($crate::ncp::text::Part::write(&self.$field, out);)*
            }
        }
    };
    (@read $name:ident, $format:literal, $($field:ident)*) => {
        impl $name {
            pub fn parse(octets: &[u8]) -> Result<Self, $crate::Error> {
                let mut rest = $crate::ncp::text::Rest::new($format, octets);
                Ok(Self { $($field: $crate::ncp::text::Part::read(&mut rest)?,)* })
            }

            pub fn emit(&self, out: &mut Vec<u8>) {
                $($crate::ncp::text::Part::write(&self.$field, out);)*
            }
        }
    };
}

pub(super) use messages;

/// A name in a field of `N` octets: cut to `N` - 1, followed by zeros.
pub fn padded<const N: usize>(text: &[u8]) -> [u8; N] {
    let mut field = [0; N];
    let length = text.len().min(N - 1);
    field[..length].copy_from_slice(&text[..length]);
    field
}

pub fn unpadded(field: &[u8]) -> &[u8] {
    let end = field.iter().position(|octet| *octet == 0).unwrap_or(field.len());
    &field[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    messages! {
        Both<'a>, "both" => {
            number: u16,
            one: Name<'a>,
            other: Name<'a>,
            rest: Tail<'a>,
        }
    }

    #[test]
    fn name_lengths_must_match() {
        let octets = b"\x01\x02\x04SYS:\x00xy";
        let both = Both::parse(octets).unwrap();
        assert_eq!((both.number, both.one.0, both.other.0), (0x0102, &b"SYS:"[..], &b""[..]));
        assert_eq!(both.rest.0, b"xy");
        let error = Both::parse(&octets[..5]).unwrap_err().to_string();
        assert_eq!(error, "both: need 7 octets, got 5");
        let mut long = Vec::new();
        Part::write(&Name(&[b'A'; 300]), &mut long);
        assert_eq!((long.len(), long[0]), (256, 255));
        assert_eq!(unpadded(&padded::<4>(b"ABCDE")), b"ABC");
        assert_eq!(unpadded(b"ABCD"), b"ABCD");
    }

    proptest! {
        #[test]
        fn messages_round_trip(
            number: u16,
            one in prop::collection::vec(any::<u8>(), 0..=MOST),
            other in prop::collection::vec(any::<u8>(), 0..=MOST),
            rest: Vec<u8>,
        ) {
            let both = Both { number, one: Name(&one), other: Name(&other), rest: Tail(&rest) };
            let mut octets = Vec::new();
            both.emit(&mut octets);
            prop_assert_eq!(Both::parse(&octets), Ok(both));
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(octets: Vec<u8>) {
            let _ = Both::parse(&octets);
        }
    }
}
