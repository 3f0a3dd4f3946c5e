//! The common interface of all file services.

use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;

use crate::TcpProfile;
use crate::fault::{Class, Fault, Result};
use crate::path::ServicePath;

/// One connection of one user to a file service.
///
/// A session belongs to one thread; its futures need not be `Send`. If a call's future is dropped
/// before it ends, the session is unusable. Every call can fail with any [`crate::Class`]; error
/// texts name the file and the operation.
pub trait Session: Sized {
    type File;

    /// How this service transfers a file fastest.
    fn capabilities(&self) -> TransferCapabilities;

    /// As [`Session::capabilities`], with the blocks of a program that only reads or only writes.
    fn one_way_capabilities(&self, _reads: bool) -> TransferCapabilities {
        self.capabilities()
    }

    /// The settings that both ends negotiated.
    fn facts(&self) -> Facts;

    /// Number of late calls so far that the client continued to wait for; see
    /// [`crate::Smb1Options::waits_on`].
    fn late_calls(&self) -> u32 {
        0
    }

    /// Whether the service has directories. Without directories, names contain slashes.
    fn has_directories(&self) -> bool {
        true
    }

    /// Largest file that can be written here, bytes, if the service announces a limit.
    fn largest_file_bytes(&self) -> u64 {
        u64::MAX
    }

    /// Open a file. Some services report only at a write or close that a file is not writable.
    fn open(&self, path: &ServicePath, access: Access) -> impl Future<Output = Result<Self::File>>;

    /// Read into `buffer` from `offset` and return the length: at least one byte unless the file
    /// ends there. With [`TransferCapabilities::in_order`], `offset` is the end of the last read.
    fn read_at(
        &self,
        file: &Self::File,
        offset: u64,
        buffer: &mut [u8],
    ) -> impl Future<Output = Result<usize>>;

    /// Write all of `data` at `offset`. With [`TransferCapabilities::in_order`], `offset` is the
    /// end of the last write.
    fn write_at(
        &self,
        file: &Self::File,
        offset: u64,
        data: &[u8],
    ) -> impl Future<Output = Result<()>>;

    /// Write two consecutive parts completely. With [`TransferCapabilities::blocking`] this is one
    /// operation that copies nothing, otherwise two.
    fn write_parts_at(
        &self,
        file: &Self::File,
        offset: u64,
        parts: [&[u8]; 2],
    ) -> impl Future<Output = Result<()>> {
        async move {
            self.write_at(file, offset, parts[0]).await?;
            self.write_at(file, offset + parts[0].len() as u64, parts[1]).await
        }
    }

    /// Flush written data to the server's disk. [`crate::Class::Unsupported`] if the protocol has
    /// no such operation.
    fn sync(&self, file: &Self::File) -> impl Future<Output = Result<()>>;

    /// Close a file. On success, the server has confirmed all written data.
    fn close(&self, file: Self::File) -> impl Future<Output = Result<()>>;

    fn remove(&self, path: &ServicePath) -> impl Future<Output = Result<()>>;

    /// The entries of a directory (`None`: the session's directory), in any order.
    fn list(&self, path: Option<&ServicePath>) -> impl Future<Output = Result<Vec<Entry>>>;

    /// Make a directory in an existing one. [`crate::Class::Exists`] if it exists already. A
    /// service without directories (S3) does nothing.
    fn make_directory(&self, path: &ServicePath) -> impl Future<Output = Result<()>>;

    /// Remove an empty directory.
    fn remove_directory(&self, path: &ServicePath) -> impl Future<Output = Result<()>>;

    /// The attributes of a file. [`crate::Class::Unsupported`] if the protocol has no such
    /// operation.
    fn stat(&self, _path: &ServicePath) -> impl Future<Output = Result<Entry>> {
        async move { Err(lacks(self, "stat")) }
    }

    /// Rename a file. The protocol determines whether an existing file is replaced.
    /// [`crate::Class::Unsupported`] if the protocol has no such operation.
    fn rename(&self, _from: &ServicePath, _to: &ServicePath) -> impl Future<Output = Result<()>> {
        async move { Err(lacks(self, "rename")) }
    }

    /// Log off and disconnect.
    fn end(self) -> impl Future<Output = Result<()>>;
}

fn lacks(session: &impl Session, what: &str) -> Fault {
    let protocol = session.facts().protocol;
    Fault::new(Class::Unsupported, format!("{protocol} has no operation to {what} a file"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    /// Write a new file of known size from its beginning. An existing file is not overwritten
    /// ([`crate::Class::Exists`]) if the protocol can detect it.
    Create {
        size_bytes: u64,
    },
    Replace {
        size_bytes: u64,
    },
    /// Read and write anywhere in an existing file; see [`TransferCapabilities::can_update`].
    Update,
}

#[expect(clippy::struct_excessive_bools, reason = "four answers to as many questions, in any mix")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Manner")]
pub struct TransferCapabilities {
    pub in_order: bool,
    pub block_bytes: u32,
    /// Calls in flight; 1 with [`TransferCapabilities::in_order`].
    pub depth: u16,
    /// Whether a call blocks the thread until it is done, like a system call.
    pub blocking: bool,
    /// Whether [`Access::Update`] is possible.
    pub can_update: bool,
    /// Whether the protocol can request that a file be new. Otherwise [`Access::Create`] first
    /// checks for an existing one.
    pub can_create: bool,
}

impl TransferCapabilities {
    pub const fn stream(block_bytes: u32, can_create: bool) -> Self {
        let (in_order, depth, blocking, can_update) = (true, 1, false, false);
        Self { in_order, block_bytes, depth, blocking, can_update, can_create }
    }

    /// Calls at any offset, `depth` of them in flight.
    pub const fn calls(block_bytes: u32, depth: u16) -> Self {
        let (in_order, blocking, can_update, can_create) = (false, false, true, true);
        Self { in_order, block_bytes, depth, blocking, can_update, can_create }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Facts {
    /// Protocol with its version, such as `SMB 3.1.1` or `FTP`.
    pub protocol: String,
    /// Protection of the transferred data, such as `TLS 1.3, AES-256-GCM`, `signed, AES-128-GMAC`
    /// or `none`.
    pub protection: String,
    pub server: Option<String>,
    /// Whether `TCP_NODELAY` is known to be set at this end; `None` without a socket of our own.
    pub no_delay: Option<bool>,
    /// The result of a [`crate::TcpProfile`], if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpAgreed>,
}

impl Facts {
    /// Facts of a server that does not name its program.
    pub fn new(protocol: &str, protection: &str, no_delay: Option<bool>) -> Self {
        let (protocol, protection) = (protocol.to_owned(), protection.to_owned());
        Self { protocol, protection, server: None, no_delay, tcp: None }
    }
}

/// TCP values of a connection according to the kernel. The profile determines the segment and the
/// window; the system determines the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TcpAgreed {
    pub profile: TcpProfile,
    /// Payload of the largest segment that this end sends, without TCP options.
    pub maximum_segment_bytes: u64,
    pub window_bytes: u64,
    pub server_window_bytes: u64,
    pub has_selective_acknowledgement: bool,
    pub has_timestamps: bool,
    pub has_window_scaling: bool,
}

/// Whether a directory entry from a server is a single name, not a path to another place.
pub fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains('/')
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub name: String,
    pub size_bytes: u64,
    pub is_directory: bool,
}
