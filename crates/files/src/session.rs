//! The one interface of every file service.

use std::future::Future;

use schemars::JsonSchema;
use serde::Serialize;

use crate::fault::{Class, Fault, Result};
use crate::path::ServicePath;
use crate::target::TcpProfile;

/// One connection of one user to a file service.
///
/// A session belongs to one thread; its futures need not be `Send`. A call that was dropped before
/// it ended leaves the session of no use. Every call may fail with any [`crate::Class`]; the text
/// says which file and operation it was.
pub trait Session: Sized {
    /// An open file.
    type File;

    /// How this service moves a file best.
    fn capabilities(&self) -> TransferCapabilities;

    /// What the two ends agreed on.
    fn facts(&self) -> Facts;

    /// How many calls were late until now and waited for further; see [`crate::Target::waits_on`].
    fn late_calls(&self) -> u32 {
        0
    }

    /// Whether the service has directories; in one without, names contain slashes.
    fn has_directories(&self) -> bool {
        true
    }

    /// Bytes of the largest file that can be written here, as far as the service says before.
    fn largest_file_bytes(&self) -> u64 {
        u64::MAX
    }

    /// Open a file. That one cannot be written may be said only when it is written to or closed.
    fn open(&self, path: &ServicePath, access: Access) -> impl Future<Output = Result<Self::File>>;

    /// Read into `buffer` what lies from `offset` on, and give how much that was: at least one byte
    /// unless the file ends there. Where [`TransferCapabilities::in_order`], `offset` is where the last read ended.
    fn read_at(
        &self,
        file: &Self::File,
        offset: u64,
        buffer: &mut [u8],
    ) -> impl Future<Output = Result<usize>>;

    /// Write all of `data` from `offset` on. Where [`TransferCapabilities::in_order`], `offset` is where the last
    /// write ended.
    fn write_at(
        &self,
        file: &Self::File,
        offset: u64,
        data: &[u8],
    ) -> impl Future<Output = Result<()>>;

    /// Write all of two parts, one behind the other: as one operation where [`TransferCapabilities::blocking`],
    /// without putting them together first; else as two.
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

    /// Have the server bring what was written to its disk. [`crate::Class::Unsupported`] where the
    /// protocol has no such operation.
    fn sync(&self, file: &Self::File) -> impl Future<Output = Result<()>>;

    /// End with a file. After a write the server has confirmed by then that it has all of it.
    fn close(&self, file: Self::File) -> impl Future<Output = Result<()>>;

    /// Remove a file.
    fn remove(&self, path: &ServicePath) -> impl Future<Output = Result<()>>;

    /// What is in a directory (`None`: the one that the session works in), in no order.
    fn list(&self, path: Option<&ServicePath>) -> impl Future<Output = Result<Vec<Entry>>>;

    /// Make a directory in one that is there. [`crate::Class::Exists`] if it is there already. A
    /// service without directories (S3) does nothing.
    fn make_directory(&self, path: &ServicePath) -> impl Future<Output = Result<()>>;

    /// Remove a directory that is empty.
    fn remove_directory(&self, path: &ServicePath) -> impl Future<Output = Result<()>>;

    /// What a file is. [`crate::Class::Unsupported`] where the protocol has no such operation.
    fn stat(&self, _path: &ServicePath) -> impl Future<Output = Result<Entry>> {
        async move { Err(lacks(self, "stat")) }
    }

    /// Give a file another name. Whether a file of that name is replaced depends on the protocol.
    /// [`crate::Class::Unsupported`] where the protocol has no such operation.
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
    /// Write a new file of known size from its beginning. A file of that name is not overwritten
    /// ([`crate::Class::Exists`]) where the protocol can tell.
    Create {
        size_bytes: u64,
    },
    Replace {
        size_bytes: u64,
    },
    /// Read and write anywhere in what is there; see [`TransferCapabilities::can_update`].
    Update,
}

#[expect(clippy::struct_excessive_bools, reason = "four answers to as many questions, in any mix")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Manner")]
pub struct TransferCapabilities {
    pub in_order: bool,
    pub block_bytes: u32,
    /// Calls under way at once then; 1 where [`TransferCapabilities::in_order`].
    pub depth: u16,
    /// Whether a call keeps the thread until it is done, as one of the operating system does.
    pub blocking: bool,
    /// Whether [`Access::Update`] is possible.
    pub can_update: bool,
    /// Whether the protocol has a word for a file that must be new; else [`Access::Create`] asks first
    /// whether there is one.
    pub can_create: bool,
}

impl TransferCapabilities {
    pub const fn stream(block_bytes: u32, can_create: bool) -> Self {
        let (in_order, depth, blocking, can_update) = (true, 1, false, false);
        Self { in_order, block_bytes, depth, blocking, can_update, can_create }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Facts {
    /// Protocol with its version, as `SMB 3.1.1` or `FTP`.
    pub protocol: String,
    /// How what is sent is protected, as `TLS 1.3, AES-256-GCM` or `signed, AES-128-GMAC`; `none`.
    pub protection: String,
    pub server: Option<String>,
    /// Whether `TCP_NODELAY` is known to be set at this end; `None` without a socket of our own.
    pub no_delay: Option<bool>,
    /// What came of a [`crate::TcpProfile`], where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpAgreed>,
}

/// What a connection has of a profile, as the kernel says: a socket chooses segment and window, the
/// system the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TcpAgreed {
    pub profile: TcpProfile,
    /// Data of the largest segment that this end sends, without TCP options.
    pub maximum_segment_bytes: u64,
    pub window_bytes: u64,
    pub server_window_bytes: u64,
    pub has_selective_acknowledgement: bool,
    pub has_timestamps: bool,
    pub has_window_scaling: bool,
}

/// Whether what a server calls an entry of a directory is one name, not a way to somewhere else.
pub fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains('/')
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub name: String,
    pub size_bytes: u64,
    pub is_directory: bool,
}
