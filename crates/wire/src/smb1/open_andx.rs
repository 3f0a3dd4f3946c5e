//! Opens a file, from LAN Manager on.
//!
//! Source: [MS-CIFS] 2.2.4.41.

use super::blocks::block;

/// Open functions: what to do if the file exists, and if it does not.
pub mod function {
    pub const FAIL_IF_EXISTS: u16 = 0x00;
    pub const OPEN: u16 = 0x01;
    /// Truncate the file to zero if it exists.
    pub const TRUNCATE: u16 = 0x02;
    pub const CREATE: u16 = 0x10;
}

pub mod result {
    pub const OPENED: u16 = 1;
    pub const CREATED: u16 = 2;
    pub const TRUNCATED: u16 = 3;
    pub const OPLOCK: u16 = 0x8000;
}

block! {
    Request<'a>: andx_words(15) {
        /// Bit 0 requests attributes, time and size; others opportunistic locks.
        flags: u16,
        access: u16,
        search_attributes: u16,
        attributes: u16,
        /// Time of a new file, s since 1970 in the server's time.
        creation_time: u32,
        function: u16,
        allocation_size: u32,
        timeout_ms: u32,
    } bytes {
        name: text,
    }
}

block! {
    Response: andx_words(15) {
        fid: u16,
        attributes: u16,
        /// Time of the last write, s since 1970 in the server's time.
        last_write_time: u32,
        /// Octets in the file, the low 32 bits.
        size: u32,
        granted_access: u16,
        /// Kind of resource: 0 is a file or a directory.
        resource_type: u16,
        pipe_status: u16,
        result: u16,
    }
}
