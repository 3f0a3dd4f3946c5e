//! What a file server asks of a file system, and what it is answered.
//!
//! A server touches no file itself. Real files lie behind a confined directory; simulated ones behind
//! costs, a cache and a disk. The same server code runs over both. The file system finds a name in any
//! case, and by its short name.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle(pub u64);

/// A path: names from the served directory on, none of them special; none: the directory itself.
pub type Names = Vec<String>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must be there.
    Old,
    /// It must not be there.
    New,
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileCall {
    Look {
        path: Names,
    },
    List {
        path: Names,
        after: String,
        most: u32,
    },
    Open {
        path: Names,
        read: bool,
        write: bool,
        presence: Presence,
        truncate: bool,
    },
    Read {
        handle: Handle,
        /// From where, octets.
        offset: u64,
        count: u32,
    },
    Write {
        handle: Handle,
        /// From where, octets.
        offset: u64,
        data: Range<usize>,
    },
    SetSize {
        handle: Handle,
        size_bytes: u64,
    },
    Flush {
        handle: Handle,
    },
    Close {
        handle: Handle,
    },
    Change {
        path: Names,
        /// Seconds since 1970 when it was written last.
        modified_s: Option<u64>,
        is_read_only: Option<bool>,
    },
    Remove {
        path: Names,
    },
    /// Give a file or directory another path, which must be free.
    Rename {
        from: Names,
        to: Names,
    },
    MakeDirectory {
        path: Names,
    },
    RemoveDirectory {
        path: Names,
    },
    Space,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub name: String,
    /// The same as 8 characters, a dot and 3 characters. Empty if there is none.
    pub short_name: String,
    pub number: u64,
    pub is_directory: bool,
    pub is_read_only: bool,
    pub size_bytes: u64,
    /// Seconds since 1970 when it was written last.
    pub modified_s: u64,
    /// Seconds since 1970 when it was read last.
    pub accessed_s: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRefusal {
    Missing,
    NoPath,
    Exists,
    NotEmpty,
    IsDirectory,
    Denied,
    NoSpace,
    Name,
    TooMany,
    TooLong,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAnswer {
    Done,
    Found(Found),
    Listed(Vec<Found>),
    Opened { handle: Handle, found: Found, is_new: bool },
    Read,
    Written(u32),
    Space { total_bytes: u64, free_bytes: u64 },
    Refused(FileRefusal),
}

/// A file system: a served directory, memory, or a simulated disk.
pub trait FileStore {
    /// Carry out a call. What is read goes into `data`; what is written is in it.
    fn carry_out(&mut self, call: FileCall, data: &mut Vec<u8>) -> FileAnswer;
}
