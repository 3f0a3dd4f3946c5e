//! Requests of a file server to a file system, and the replies.
//!
//! The same server code runs over a confined real directory and over a simulated cache and disk.
//! The file system matches names case-insensitively, and by short name.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle(pub u64);

/// A path: names below the served directory, none of them special; empty for the directory itself.
pub type Names = Vec<String>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Old,
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
        offset: u64,
        count: u32,
    },
    Write {
        handle: Handle,
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
        /// Last modification, seconds since 1970.
        modified_s: Option<u64>,
        is_read_only: Option<bool>,
    },
    Remove {
        path: Names,
    },
    /// Move a file or directory to another path, which must be free.
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
    /// 8.3 name; empty if there is none.
    pub short_name: String,
    pub number: u64,
    pub is_directory: bool,
    pub is_read_only: bool,
    pub size_bytes: u64,
    /// Last modification, seconds since 1970.
    pub modified_s: u64,
    /// Last access, seconds since 1970.
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
    /// Execute a call. `data` receives what is read and provides what is written.
    fn carry_out(&mut self, call: FileCall, data: &mut Vec<u8>) -> FileAnswer;
}
