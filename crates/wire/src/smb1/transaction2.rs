//! Subcommands of transaction 2 on paths and open files, and their parameters.
//!
//! Source: [MS-CIFS] 2.2.6. Listings are in [`find`](super::find), file attributes in
//! [`file_information`](super::file_information), file systems in
//! [`file_system_information`](super::file_system_information).

use super::strings::Text;
use crate::fields::fields;

pub const FIND_FIRST2: u16 = 0x0001;
pub const FIND_NEXT2: u16 = 0x0002;
pub const QUERY_FS_INFORMATION: u16 = 0x0003;
pub const QUERY_PATH_INFORMATION: u16 = 0x0005;
pub const SET_PATH_INFORMATION: u16 = 0x0006;
pub const QUERY_FILE_INFORMATION: u16 = 0x0007;
pub const SET_FILE_INFORMATION: u16 = 0x0008;
pub const CREATE_DIRECTORY: u16 = 0x000d;

const FORMAT: &str = "smb1 transaction 2";

pub(super) fn put_text(text: Text<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(text.octets());
    out.extend_from_slice(if text.is_unicode() { &[0, 0] } else { &[0] });
}

/// Parameters that consist of numbers, `reserved` octets of zero, and a name. In all of them, strings
/// begin at even offsets.
macro_rules! named {
    ($name:ident: reserved($reserved:literal) {
        $($(#[$doc:meta])* $field:ident: $type:ty,)*
    }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name<'a> {
            $($(#[$doc])* pub $field: $type,)*
            pub name: $crate::smb1::strings::Text<'a>,
        }

        impl<'a> $name<'a> {
            pub fn parse(parameters: &'a [u8], unicode: bool) -> Result<Self, $crate::Error> {
                let mut reader = $crate::smb1::reader::Reader::whole(FORMAT, parameters);
                $(let $field = reader.field()?;)*
                reader.skip($reserved)?;
                Ok(Self { $($field,)* name: reader.unaligned_text(unicode) })
            }

            pub fn emit(&self, out: &mut Vec<u8>) {
                use $crate::fields::{Field, Order};
                $(self.$field.write(Order::Little, out);)*
                [0_u8; $reserved].write(Order::Little, out);
                $crate::smb1::transaction2::put_text(self.name, out);
            }
        }
    };
}

pub(super) use named;

fields! {
    FileSystemQuery, Little, FORMAT => {
        level: u16,
    }
}

named! {
    Path: reserved(4) {
        level: u16,
    }
}

fields! {
    File, Little, FORMAT => {
        fid: u16,
        level: u16,
    }
}

named! {
    CreateDirectory: reserved(4) {}
}

/// Response parameters of queries, changes and creates: no extended attribute was invalid.
pub const NO_EA_ERROR: [u8; 2] = [0; 2];
