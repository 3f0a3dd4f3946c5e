//! Close of an open file, and flush of its data to disk. Responses are empty blocks.
//!
//! Source: [MS-CIFS] 2.2.4.5 (close), 2.2.4.6 (flush).

use super::blocks::block;

/// Time value of a close that does not change the file's time.
pub const KEEP_TIME: u32 = 0xffff_ffff;
/// Identifier for flushing all files of the process.
pub const ALL_FILES: u16 = 0xffff;

block! {
    Request: words(3) {
        fid: u16,
        /// Time of the last write, s since 1970 in the server's time. Zero and [`KEEP_TIME`] do not
        /// change it.
        last_write_time: u32,
    }
}

block! {
    Flush: words(1) {
        /// Open file, or [`ALL_FILES`].
        fid: u16,
    }
}
