//! Blocks of one word, as many requests and responses are.

/// A block whose only word is `$field`.
macro_rules! one_word {
    ($(#[$about:meta])* $name:ident, $(#[$word:meta])* $field:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name {
            $(#[$word])*
            pub $field: u16,
        }

        impl $name {
            /// Read the block.
            pub fn parse(block: &$crate::smb1::andx::Block<'_>) -> Result<Self, $crate::Error> {
                Ok(Self { $field: block.words(1)?.u16()? })
            }

            /// Write the block.
            pub fn emit(&self, writer: &mut $crate::smb1::writer::Writer<'_>) {
                writer.begin_words(1);
                writer.u16(self.$field);
                writer.begin_bytes();
                writer.end();
            }
        }
    };
}

pub(super) use one_word;
