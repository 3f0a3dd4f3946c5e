//! Messages of the SSH file transfer protocol, version 3 (draft-ietf-secsh-filexfer-02).
//!
//! The messages are our own, because russh-sftp stores file handles as text, which corrupts binary
//! handles (the draft, section 6.3, makes them opaque), waits in whole seconds, and copies written
//! data three times.

mod fields;
mod frames;
mod message;

pub use fields::{Attributes, Fields};
pub use frames::Frames;
pub use message::Message;

pub const VERSION: u32 = 3;

/// Longest message, octets, without its length: the limit of OpenSSH (`SFTP_MAX_MSG_LENGTH`).
pub const MAX_MESSAGE_OCTETS: usize = 256 * 1024;

/// Longest data in a message: OpenSSH's limit, which leaves 1 KiB for the rest.
pub const MAX_PIECE_OCTETS: u32 = 255 * 1024;

/// Types of messages (section 3).
pub mod kind {
    pub const INIT: u8 = 1;
    pub const VERSION: u8 = 2;
    pub const OPEN: u8 = 3;
    pub const CLOSE: u8 = 4;
    pub const READ: u8 = 5;
    pub const WRITE: u8 = 6;
    pub const LSTAT: u8 = 7;
    pub const FSTAT: u8 = 8;
    pub const SETSTAT: u8 = 9;
    pub const FSETSTAT: u8 = 10;
    pub const OPENDIR: u8 = 11;
    pub const READDIR: u8 = 12;
    pub const REMOVE: u8 = 13;
    pub const MKDIR: u8 = 14;
    pub const RMDIR: u8 = 15;
    pub const REALPATH: u8 = 16;
    pub const STAT: u8 = 17;
    pub const RENAME: u8 = 18;
    pub const STATUS: u8 = 101;
    pub const HANDLE: u8 = 102;
    pub const DATA: u8 = 103;
    pub const NAME: u8 = 104;
    pub const ATTRS: u8 = 105;
    pub const EXTENDED: u8 = 200;
    pub const EXTENDED_REPLY: u8 = 201;
}

/// Status codes (section 7).
pub mod status {
    pub const OK: u32 = 0;
    pub const EOF: u32 = 1;
    pub const NO_SUCH_FILE: u32 = 2;
    pub const PERMISSION_DENIED: u32 = 3;
    pub const FAILURE: u32 = 4;
    pub const BAD_MESSAGE: u32 = 5;
    pub const NO_CONNECTION: u32 = 6;
    pub const CONNECTION_LOST: u32 = 7;
    pub const OP_UNSUPPORTED: u32 = 8;
    // Defined in later versions; some servers also send it in this one (draft 13, section 9.1).
    pub const FILE_ALREADY_EXISTS: u32 = 11;
    pub const WRITE_PROTECT: u32 = 12;
    pub const NO_SPACE: u32 = 14;
    pub const QUOTA_EXCEEDED: u32 = 15;
    pub const DIR_NOT_EMPTY: u32 = 18;
    pub const INVALID_FILENAME: u32 = 20;
}

/// Open flags (section 6.3).
pub mod flag {
    pub const READ: u32 = 0x01;
    pub const WRITE: u32 = 0x02;
    pub const APPEND: u32 = 0x04;
    pub const CREAT: u32 = 0x08;
    pub const TRUNC: u32 = 0x10;
    pub const EXCL: u32 = 0x20;
}

/// Extensions of OpenSSH (its file PROTOCOL, section 4).
pub mod extension {
    pub const FSYNC: &str = "fsync@openssh.com";
    pub const LIMITS: &str = "limits@openssh.com";
    pub const STATVFS: &str = "statvfs@openssh.com";
}
