//! File information in replies.

use lanlab_wire::ncp::file_entry::{
    DIRECTORY_MAGIC, DirectoryEntry, FileEntry, NAME_LEN, attribute,
};
use lanlab_wire::ncp::text::padded;
use lanlab_wire::smb1::time::DateTime;

use crate::files::Found;

fn name_of(found: &Found) -> [u8; NAME_LEN] {
    padded(found.short_name.as_bytes())
}

pub fn attributes_of(found: &Found) -> u8 {
    let read_only = if found.is_read_only { attribute::READ_ONLY } else { 0 };
    read_only | if found.is_directory { attribute::DIRECTORY } else { attribute::ARCHIVE }
}

pub fn file_entry(found: &Found) -> FileEntry {
    let moment = |since_1970_s: u64| DateTime::from_unix(since_1970_s.cast_signed());
    let (written, accessed) = (moment(found.modified_s), moment(found.accessed_s));
    FileEntry {
        name: name_of(found),
        attributes: attributes_of(found),
        execute_type: 0,
        size: u32::try_from(found.size_bytes).unwrap_or(u32::MAX),
        created: written.date,
        accessed: accessed.date,
        written_date: written.date,
        written_time: written.time,
    }
}

pub fn directory_entry(found: &Found, rights: u8) -> DirectoryEntry {
    let made = DateTime::from_unix(found.modified_s.cast_signed());
    DirectoryEntry {
        name: name_of(found),
        attributes: attributes_of(found),
        rights,
        created: made.date,
        created_time: made.time,
        owner: 0,
        reserved: 0,
        magic: DIRECTORY_MAGIC,
    }
}
