//! What a file server asks of a file system, and what it is answered.
//!
//! A server touches no file itself. Real files lie behind a confined directory; simulated ones behind
//! costs, a cache and a disk. The same server code runs over both. The file system finds a name in any
//! case, and by its short name.

use std::ops::Range;

/// An open file of the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle(pub u64);

/// A path: names from the served directory on, none of them special; none: the directory itself.
pub type Names = Vec<String>;

/// How a file that is opened is to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must be there.
    Old,
    /// It must not be there.
    New,
    /// Either.
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileCall {
    /// What is at a path.
    Look {
        path: Names,
    },
    /// What is in a directory, in the order of the names.
    List {
        path: Names,
        /// Only what comes after this name.
        after: String,
        most: u32,
    },
    Open {
        path: Names,
        /// Whether it is to be read.
        read: bool,
        /// Whether it is to be written.
        write: bool,
        /// Whether it has to be there.
        presence: Presence,
        /// Whether it is emptied.
        truncate: bool,
    },
    /// Read.
    Read {
        handle: Handle,
        /// From where, octets.
        offset: u64,
        /// Most octets.
        count: u32,
    },
    /// Write these octets of the data that comes with the request.
    Write {
        handle: Handle,
        /// From where, octets.
        offset: u64,
        /// Which octets of the data.
        data: Range<usize>,
    },
    /// Cut or lengthen a file.
    SetSize {
        handle: Handle,
        /// Octets that it has then.
        size_bytes: u64,
    },
    /// Bring what was written to the disk.
    Flush {
        handle: Handle,
    },
    /// End with a file.
    Close {
        handle: Handle,
    },
    /// Change what is known of a file or directory.
    Change {
        path: Names,
        /// Seconds since 1970 when it was written last.
        modified_s: Option<u64>,
        /// Whether it may not be written.
        is_read_only: Option<bool>,
    },
    Remove {
        path: Names,
    },
    /// Give a file or directory another path, which must be free.
    Rename {
        /// Path that it has.
        from: Names,
        /// Path that it gets.
        to: Names,
    },
    MakeDirectory {
        path: Names,
    },
    RemoveDirectory {
        path: Names,
    },
    /// The space of the disk.
    Space,
}

/// A file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Last name, as it is written there.
    pub name: String,
    /// The same as 8 characters, a dot and 3 characters. Empty if there is none.
    pub short_name: String,
    /// Number of the file, which no other one has meanwhile.
    pub number: u64,
    pub is_directory: bool,
    /// Whether it may not be written.
    pub is_read_only: bool,
    /// Octets of a file; zero of a directory.
    pub size_bytes: u64,
    /// Seconds since 1970 when it was written last.
    pub modified_s: u64,
    /// Seconds since 1970 when it was read last.
    pub accessed_s: u64,
}

/// Why something cannot be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRefusal {
    /// There is nothing of that name.
    Missing,
    /// There is no directory of that name on the way.
    NoPath,
    /// There is something of that name.
    Exists,
    /// A directory has something in it.
    NotEmpty,
    IsDirectory,
    /// It may not be done.
    Denied,
    /// No space is left.
    NoSpace,
    /// No file can have that name.
    Name,
    /// Too many files are open.
    TooMany,
    /// The directory has more names than a server keeps.
    TooLong,
    Failed,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileAnswer {
    Done,
    /// What is at a path.
    Found(Found),
    Listed(Vec<Found>),
    Opened {
        /// By this number.
        handle: Handle,
        /// What it is, without its short name.
        found: Found,
        /// Whether it was made.
        is_new: bool,
    },
    /// What was read is the data that comes with the answer.
    Read,
    Written(u32),
    /// Octets of the disk in all, and free ones.
    Space {
        total_bytes: u64,
        free_bytes: u64,
    },
    /// It cannot be done.
    Refused(FileRefusal),
}

/// A file system: a served directory, memory, or a simulated disk.
pub trait FileStore {
    /// Carry out a call. What is read goes into `data`; what is written is in it.
    fn carry_out(&mut self, call: FileCall, data: &mut Vec<u8>) -> FileAnswer;
}
