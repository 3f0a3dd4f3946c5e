//! Defines blocks of fixed words and strings by one list of fields.

/// A block of `words(count)`, or of `andx_words(count)` if its first four octets point to the next
/// block. Words after the fields are written as zeros and ignored when read.
///
/// The octets after the words consist of `path` (a string with its format octet), `text` (a string)
/// or `octets` (the rest).
macro_rules! block {
    ($(#[$about:meta])* $name:ident: $words:ident($count:literal) {
        $($(#[$doc:meta])* $field:ident: $type:ty,)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $name {
            pub fn parse(block: &$crate::smb1::andx::Block<'_>) -> Result<Self, $crate::Error> {
                let mut words = block.$words($count)?;
                Ok(Self { $($field: words.field()?,)* })
            }

            pub fn emit(&self, writer: &mut $crate::smb1::writer::Writer<'_>) {
                writer.$words($count);
                $(writer.field(self.$field);)*
                writer.no_bytes();
            }
        }
    };
    ($(#[$about:meta])* $name:ident<'a>: $words:ident($count:literal) {
        $($(#[$doc:meta])* $field:ident: $type:ty,)*
    } bytes {
        $($(#[$part_doc:meta])* $part:ident: $kind:ident,)*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name<'a> {
            $($(#[$doc])* pub $field: $type,)*
            $($(#[$part_doc])* pub $part: $crate::smb1::blocks::part!($kind),)*
        }

        impl<'a> $name<'a> {
            pub fn parse(block: &$crate::smb1::andx::Block<'a>) -> Result<Self, $crate::Error> {
                let mut words = block.$words($count)?;
                $(let $field = words.field()?;)*
                words.rest();
                let mut bytes = block.bytes()?;
                Ok(Self {
                    $($field,)*
                    $($part: $crate::smb1::blocks::part!($kind of bytes, block),)*
                })
            }

            pub fn emit(&self, writer: &mut $crate::smb1::writer::Writer<'_>) {
                writer.$words($count);
                $(writer.field(self.$field);)*
                writer.begin_bytes();
                $(writer.$kind(self.$part);)*
                writer.end();
            }
        }
    };
}

/// Type and reader of one part of a block's octets.
macro_rules! part {
    (octets) => { &'a [u8] };
    ($string:ident) => { $crate::smb1::strings::Text<'a> };
    (octets of $bytes:ident, $block:ident) => { $bytes.rest() };
    (text of $bytes:ident, $block:ident) => { $bytes.text($block.is_unicode()) };
    (path of $bytes:ident, $block:ident) => { $bytes.path($block.is_unicode())? };
}

pub(super) use {block, part};
