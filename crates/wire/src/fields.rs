//! Structures of consecutive fields: one list of fields defines the structure, its length, and its
//! parser and writer. Parts that depend on another field's value are written by hand.

use core::net::Ipv4Addr;

use crate::Error;
use crate::ethernet::Mac;
use crate::netbios_name::{NAME_LEN, Name};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Order {
    Little,
    Big,
}

/// A field of fixed length, in which any value is valid.
pub(crate) trait Field: Copy {
    const LEN: usize;

    /// Read it from exactly [`LEN`](Self::LEN) octets.
    fn read(octets: &[u8], order: Order) -> Self;

    fn write(self, order: Order, out: &mut Vec<u8>);

    fn first(format: &'static str, octets: &[u8], order: Order) -> Result<Self, Error> {
        let truncated = Error::Truncated { format, need: Self::LEN, got: octets.len() };
        octets.get(..Self::LEN).map(|octets| Self::read(octets, order)).ok_or(truncated)
    }

    fn next(octets: &mut &[u8], order: Order) -> Self {
        let (field, rest) = octets.split_at(Self::LEN);
        *octets = rest;
        Self::read(field, order)
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Field for $number {
            const LEN: usize = size_of::<Self>();

            fn read(octets: &[u8], order: Order) -> Self {
                let octets = crate::take(octets, 0..Self::LEN);
                match order {
                    Order::Little => Self::from_le_bytes(octets),
                    Order::Big => Self::from_be_bytes(octets),
                }
            }

            fn write(self, order: Order, out: &mut Vec<u8>) {
                out.extend_from_slice(&match order {
                    Order::Little => self.to_le_bytes(),
                    Order::Big => self.to_be_bytes(),
                });
            }
        }
    )*};
}

numbers!(u8 u16 u32 u64 i16 i32);

/// A field that wraps another one.
macro_rules! wrapped {
    ($($name:ty, $inner:ty, $wrap:expr, $unwrap:expr;)*) => {$(
        impl Field for $name {
            const LEN: usize = <$inner>::LEN;

            fn read(octets: &[u8], order: Order) -> Self {
                $wrap(<$inner>::read(octets, order))
            }

            fn write(self, order: Order, out: &mut Vec<u8>) {
                $unwrap(self).write(order, out);
            }
        }
    )*};
}

wrapped! {
    Name, [u8; NAME_LEN], Name, |name: Self| name.0;
    Mac, [u8; 6], Mac, |mac: Self| mac.0;
    Ipv4Addr, [u8; 4], Self::from, |address: Self| address.octets();
}

/// An octet: zero is false, anything else is true. True is written as one.
impl Field for bool {
    const LEN: usize = 1;

    fn read(octets: &[u8], order: Order) -> Self {
        u8::read(octets, order) != 0
    }

    fn write(self, order: Order, out: &mut Vec<u8>) {
        u8::from(self).write(order, out);
    }
}

impl<T: Field, const N: usize> Field for [T; N] {
    const LEN: usize = N * T::LEN;

    fn read(mut octets: &[u8], order: Order) -> Self {
        core::array::from_fn(|_| T::next(&mut octets, order))
    }

    fn write(self, order: Order, out: &mut Vec<u8>) {
        for one in self {
            one.write(order, out);
        }
    }
}

macro_rules! tuples {
    ($($($field:ident)*;)*) => {$(
        impl<$($field: Field),*> Field for ($($field,)*) {
            const LEN: usize = 0 $(+ $field::LEN)*;

            fn read(mut octets: &[u8], order: Order) -> Self {
                ($($field::next(&mut octets, order),)*)
            }

            fn write(self, order: Order, out: &mut Vec<u8>) {
                #[expect(non_snake_case, reason = "each field bears the name of its type")]
                let ($($field,)*) = self;
                $($field.write(order, out);)*
            }
        }
    )*};
}

tuples! {
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

/// Defines a structure with its byte order, and with `parse` and `emit` if the name of its format
/// is given. The structure is itself a [`Field`], so it can be a field of another.
macro_rules! fields {
    ($(#[$about:meta])* $name:ident, $order:ident, $format:expr => {
        $($(#[$doc:meta])* $field:ident: $type:ty,)*
    }) => {
        $crate::fields::fields! {
            $(#[$about])* $name, $order => { $($(#[$doc])* $field: $type,)* }
        }

        impl $name {
            pub fn parse(octets: &[u8]) -> Result<Self, $crate::Error> {
                <Self as $crate::fields::Field>::first(
                    $format, octets, $crate::fields::Order::$order,
                )
            }

            pub fn emit(&self, out: &mut Vec<u8>) {
                $crate::fields::Field::write(*self, $crate::fields::Order::$order, out);
            }
        }
    };
    ($(#[$about:meta])* $name:ident, $order:ident => {
        $($(#[$doc:meta])* $field:ident: $type:ty,)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $crate::fields::Field for $name {
            const LEN: usize = 0 $(+ <$type as $crate::fields::Field>::LEN)*;

            fn read(mut octets: &[u8], _: $crate::fields::Order) -> Self {
                Self {
                    $($field: $crate::fields::Field::next(
                        &mut octets, $crate::fields::Order::$order,
                    ),)*
                }
            }

            fn write(self, _: $crate::fields::Order, out: &mut Vec<u8>) {
                $($crate::fields::Field::write(
                    self.$field, $crate::fields::Order::$order, out,
                );)*
            }
        }
    };
}

macro_rules! codes {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $code:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* $variant = $code,)*
        }

        impl $name {
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$variant),*];

            pub const fn to_wire(self) -> u8 {
                self as u8
            }

            pub const fn from_wire(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {codes, fields};

#[cfg(test)]
pub(crate) mod strategy {
    use super::{Field, Order};
    use proptest::prelude::*;

    pub(crate) fn any_value<T: Field + core::fmt::Debug>() -> impl Strategy<Value = T> {
        let octets = proptest::collection::vec(any::<u8>(), T::LEN);
        octets.prop_map(|octets| T::read(&octets, Order::Big))
    }
}

#[cfg(test)]
mod tests {
    use super::strategy::any_value;
    use super::*;
    use proptest::prelude::*;

    fields! {
        Outer, Big, "outer" => {
            number: u16,
            inner: Inner,
            flag: bool,
            numbers: [i16; 2],
        }
    }

    fields! {
        Inner, Little => {
            number: u32,
            octets: [u8; 3],
        }
    }

    #[test]
    fn structures_have_their_named_byte_order() {
        let octets = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 0xff, 0xfe, 0, 3];
        let inner = Inner { number: 0x0605_0403, octets: [7, 8, 9] };
        let outer = Outer { number: 0x0102, inner, flag: true, numbers: [-2, 3] };
        assert_eq!(Outer::parse(&octets), Ok(outer));
        let mut out = Vec::new();
        outer.emit(&mut out);
        assert_eq!(out, octets);
        let error = Outer::parse(&octets[1..]).unwrap_err().to_string();
        assert_eq!(error, "outer: need 14 octets, got 13");
    }

    proptest! {
        #[test]
        fn structures_round_trip(outer in any_value::<Outer>()) {
            let mut out = Vec::new();
            outer.emit(&mut out);
            prop_assert_eq!(out.len(), Outer::LEN);
            prop_assert_eq!(Outer::parse(&out), Ok(outer));
        }
    }
}
