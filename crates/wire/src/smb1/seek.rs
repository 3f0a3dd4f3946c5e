//! Position of an open file.
//!
//! Source: [MS-CIFS] 2.2.4.19. Reads and writes have their own offsets; clients seek only to find
//! the end of a file.

use super::blocks::block;

pub mod mode {
    pub const START: u16 = 0;
    pub const CURRENT: u16 = 1;
    pub const END: u16 = 2;
}

block! {
    Request: words(4) {
        fid: u16,
        mode: u16,
        offset: i32,
    }
}

block! {
    Response: words(2) {
        offset: u32,
    }
}
