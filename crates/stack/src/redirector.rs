//! Translates file calls of a program into messages to a file server, and replies into results.
//!
//! A redirector has neither a clock nor a socket. Its driver moves whole messages:
//!
//! 1. make any number of calls by [`call`](Redirector::call);
//! 2. while [`poll_message`](Redirector::poll_message) returns a message, send it;
//! 3. pass each message of the server to [`handle_message`](Redirector::handle_message);
//! 4. while [`poll_done`](Redirector::poll_done) returns an answer, pass it to its caller; then continue with
//!    2.

mod calls;

use std::fmt;
use std::ops::Range;

pub(crate) use calls::Calls;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallId(pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Create,
    Replace,
    Update,
}

/// A call to the server. Paths are names joined by `/`, empty for the root of the share.
#[derive(Debug, Clone, Copy)]
pub enum Call<'a> {
    Open {
        path: &'a str,
        access: Access,
    },
    /// Read once; the result may be shorter than requested, and is empty at the end of the file.
    Read {
        file: FileId,
        offset: u64,
        count: u32,
    },
    /// Write two consecutive parts once; the result may report fewer bytes written.
    Write {
        file: FileId,
        offset: u64,
        parts: [&'a [u8]; 2],
    },
    Flush {
        file: FileId,
    },
    Close {
        file: FileId,
    },
    Remove {
        path: &'a str,
    },
    List {
        path: &'a str,
    },
    MakeDirectory {
        path: &'a str,
    },
    RemoveDirectory {
        path: &'a str,
    },
    CheckDirectory {
        path: &'a str,
    },
    Rename {
        from: &'a str,
        to: &'a str,
    },
    Stat {
        path: &'a str,
    },
    Echo,
    End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    Nothing,
    Opened {
        file: FileId,
        size_bytes: u64,
    },
    /// The range of [`Redirector::poll_done`]'s `data` that was read.
    Read(Range<usize>),
    Written(u32),
    Listed(Vec<Listed>),
    Found {
        size_bytes: u64,
        is_directory: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub size_bytes: u64,
    pub is_directory: bool,
}

/// More entries than any study creates, and the bytes of their names together.
const MAX_ENTRIES: usize = 1 << 20;
const MAX_NAME_BYTES: usize = 128 * MAX_ENTRIES;

/// Limits of a listing that a server sends in parts.
#[derive(Debug, Default)]
pub struct ListingLimits {
    entries: usize,
    name_bytes: usize,
}

impl ListingLimits {
    /// Count the entries of a part, omitted ones too, and the bytes of their names.
    ///
    /// # Errors
    /// The part is empty, or the listing too long: a message.
    pub fn take(&mut self, entries: usize, name_bytes: usize) -> Result<(), String> {
        self.entries += entries;
        self.name_bytes += name_bytes;
        let is_within = self.entries <= MAX_ENTRIES && self.name_bytes <= MAX_NAME_BYTES;
        if entries > 0 && is_within {
            return Ok(());
        }
        Err(format!("a listing without end after {} entries", self.entries))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Missing,
    /// The target already exists, or is not empty.
    Exists,
    Denied,
    Login,
    NoSpace,
    Name,
    Unsupported,
    Protocol,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub reason: Reason,
    pub message: String,
    pub hint: Option<String>,
}

impl Refusal {
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

pub(crate) fn protocol(message: impl Into<String>) -> Refusal {
    Refusal::new(Reason::Protocol, message)
}

pub(crate) fn malformed(error: lanlab_wire::Error) -> Refusal {
    protocol(error.to_string())
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectorFacts {
    /// Protocol with its dialect and how the user logged in, as `SMB 1, NT LM 0.12, NTLM login`.
    pub protocol: String,
    /// How messages are protected, as `signed, MD5`; or `none`.
    pub protection: String,
    pub server: Option<String>,
    pub read_bytes: u32,
    pub write_bytes: u32,
    pub largest_file_bytes: u64,
    pub depth: u16,
    /// Whether names are limited to 8.3.
    pub short_names: bool,
}

/// See the module. A protocol error makes every later call fail with it.
pub trait Redirector {
    /// Name of the protocol in connection errors: `SMB 1`.
    fn protocol(&self) -> &'static str;

    /// Begin a call. [`poll_done`](Self::poll_done) returns its number.
    fn call(&mut self, call: Call<'_>) -> CallId;

    /// Handle a whole message of the server. Its buffer may be exchanged.
    fn handle_message(&mut self, message: &mut Vec<u8>);

    /// The next message to the server. The buffer may be exchanged.
    fn poll_message(&mut self, into: &mut Vec<u8>) -> bool;

    /// A finished call. `data` receives what was read, possibly by exchanging buffers.
    fn poll_done(&mut self, data: &mut Vec<u8>) -> Option<(CallId, Result<Done, Refusal>)>;

    /// The negotiated facts, once the session is established.
    fn facts(&self) -> Option<&RedirectorFacts>;
}
