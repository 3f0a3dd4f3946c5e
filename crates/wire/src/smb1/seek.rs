//! Position of an open file.
//!
//! Source: [MS-CIFS] 2.2.4.19. Reads and writes have their own offsets; clients ask for the end.

use super::blocks::block;

/// What an offset is counted from.
pub mod mode {
    /// The start of the file.
    pub const START: u16 = 0;
    /// The position.
    pub const CURRENT: u16 = 1;
    /// The end of the file.
    pub const END: u16 = 2;
}

block! {
    Request: words(4) {
        fid: u16,
        /// One of [`mode`].
        mode: u16,
        /// Octets from there.
        offset: i32,
    }
}

block! {
    Response: words(2) {
        /// The position, octets from the start.
        offset: u32,
    }
}
