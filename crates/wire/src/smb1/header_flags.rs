//! Bits of a header's two flags fields.
//!
//! Source: [MS-CIFS] 2.2.3.1.

pub mod flags {
    pub const CASE_INSENSITIVE: u8 = 0x08;
    pub const CANONICALIZED_PATHS: u8 = 0x10;
    pub const OPLOCK: u8 = 0x20;
    /// The client wants to be notified of every change while it holds the lock.
    pub const OPLOCK_NOTIFY: u8 = 0x40;
    pub const REPLY: u8 = 0x80;
}

/// Bits of `flags2`.
pub mod flags2 {
    /// Names may be longer than 8.3.
    pub const LONG_NAMES: u16 = 0x0001;
    pub const SIGNED: u16 = 0x0004;
    /// Signatures are required ([MS-SMB] 2.2.3.1).
    pub const SIGNATURE_REQUIRED: u16 = 0x0010;
    /// A path of the message is a long name.
    pub const IS_LONG_NAME: u16 = 0x0040;
    /// Extended security is in use ([MS-SMB] 2.2.3.1).
    pub const EXTENDED_SECURITY: u16 = 0x0800;
    /// A read is allowed if the file may be executed.
    pub const PAGING_IO: u16 = 0x2000;
    pub const NT_STATUS: u16 = 0x4000;
    /// Strings are UTF-16LE.
    pub const UNICODE: u16 = 0x8000;
}
