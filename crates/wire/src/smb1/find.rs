//! Listings of directories by transaction 2: parameters and entries.
//!
//! Source: [MS-CIFS] 2.2.6.2 and 2.2.6.3 (find first, find next), 2.2.8.1 (entries), 2.2.4.48
//! (find close 2).

use super::blocks::block;
use super::reader::Reader;
use super::transaction2::named;
use crate::Error;
use crate::fields::{Field, Order};

const FORMAT: &str = "smb1 find";

pub mod flags {
    pub const CLOSE_AFTER_REQUEST: u16 = 0x0001;
    pub const CLOSE_AT_END: u16 = 0x0002;
    pub const RETURN_RESUME_KEYS: u16 = 0x0004;
    /// Continue after the last entry, not after the name in the request.
    pub const CONTINUE_FROM_LAST: u16 = 0x0008;
}

pub mod level {
    /// [`Standard`](super::Standard): the form of LAN Manager.
    pub const STANDARD: u16 = 0x0001;
    /// [`BothDirectory`](super::BothDirectory) without extended attributes and short names.
    pub const DIRECTORY: u16 = 0x0101;
    /// [`BothDirectory`](super::BothDirectory) without short names.
    pub const FULL_DIRECTORY: u16 = 0x0102;
    /// [`BothDirectory`](super::BothDirectory): the form of Windows NT, with long and short names.
    pub const BOTH_DIRECTORY: u16 = 0x0104;
}

named! {
    First: reserved(0) {
        search_attributes: u16,
        search_count: u16,
        /// Bits of [`flags`].
        flags: u16,
        level: u16,
        /// Only directories or only files. Servers ignore it.
        storage_type: u32,
    }
}

named! {
    Next: reserved(0) {
        sid: u16,
        search_count: u16,
        level: u16,
        resume_key: u32,
        /// Bits of [`flags`].
        flags: u16,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Found {
    pub sid: Option<u16>,
    pub count: u16,
    pub end_of_search: bool,
    pub ea_error_offset: u16,
    pub last_name_offset: u16,
}

impl Found {
    pub fn parse(parameters: &[u8], first: bool) -> Result<Self, Error> {
        let mut reader = Reader::whole(FORMAT, parameters);
        Ok(Self {
            sid: if first { Some(reader.u16()?) } else { None },
            count: reader.u16()?,
            end_of_search: reader.u16()? != 0,
            ea_error_offset: reader.u16()?,
            last_name_offset: reader.u16()?,
        })
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        if let Some(sid) = self.sid {
            sid.write(Order::Little, out);
        }
        let end = u16::from(self.end_of_search);
        [self.count, end, self.ea_error_offset, self.last_name_offset].write(Order::Little, out);
    }
}

block! {
    Close2: words(1) {
        sid: u16,
    }
}

pub use super::find_entries::{BothDirectories, BothDirectory, Standard, Standards};
