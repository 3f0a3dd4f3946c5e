//! A file's entry in replies.

use crate::fields::fields;
use crate::smb1::time::DateTime;

/// Length of the name field: 8 characters, a dot, 3 characters, and one or two zeros.
pub const NAME_LEN: usize = 14;

pub mod attribute {
    pub const READ_ONLY: u8 = 0x01;
    pub const HIDDEN: u8 = 0x02;
    pub const SYSTEM: u8 = 0x04;
    pub const DIRECTORY: u8 = 0x10;
    pub const ARCHIVE: u8 = 0x20;
}

fields! {
    FileEntry, Big, "ncp file" => {
        name: [u8; NAME_LEN],
        /// Bits of [`attribute`].
        attributes: u8,
        execute_type: u8,
        size: u32,
        created: u16,
        accessed: u16,
        written_date: u16,
        written_time: u16,
    }
}

fields! {
    DirectoryEntry, Big, "ncp directory" => {
        name: [u8; NAME_LEN],
        /// Bits of [`attribute`].
        attributes: u8,
        rights: u8,
        created: u16,
        created_time: u16,
        owner: u32,
        reserved: u16,
        magic: u16,
    }
}

pub const DIRECTORY_MAGIC: u16 = 0xd1d1;
pub const LEN: usize = 28;

impl FileEntry {
    pub const fn written(&self) -> DateTime {
        DateTime { date: self.written_date, time: self.written_time }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::{padded, unpadded};
    use super::*;

    #[test]
    fn entry_numbers_follow_the_name() {
        let entry = FileEntry {
            name: padded(b"README.TXT"),
            attributes: attribute::ARCHIVE,
            size: 0x0001_0203,
            written_date: 0x2341,
            written_time: 0x5678,
            ..FileEntry::default()
        };
        let mut octets = Vec::new();
        entry.emit(&mut octets);
        assert_eq!((octets.len(), octets[14]), (LEN, 0x20));
        assert_eq!(octets[16..20], [0, 1, 2, 3]);
        assert_eq!(octets[24..28], [0x23, 0x41, 0x56, 0x78]);
        assert_eq!(unpadded(&FileEntry::parse(&octets).unwrap().name), b"README.TXT");
        octets.clear();
        DirectoryEntry { magic: DIRECTORY_MAGIC, ..DirectoryEntry::default() }.emit(&mut octets);
        assert_eq!(octets.len(), LEN);
    }
}
