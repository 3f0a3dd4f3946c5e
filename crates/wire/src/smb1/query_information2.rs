//! Attributes, times and size of an open file. The response to a change is an empty block.
//!
//! Source: [MS-CIFS] 2.2.4.31 (query), 2.2.4.30 (set).

use super::blocks::block;

pub use super::time::DateTime;

block! {
    Request: words(1) {
        fid: u16,
    }
}

block! {
    Response: words(11) {
        creation: DateTime,
        last_access: DateTime,
        last_write: DateTime,
        size: u32,
        allocation_size: u32,
        attributes: u16,
    }
}

block! {
    SetRequest: words(7) {
        fid: u16,
        creation: DateTime,
        last_access: DateTime,
        last_write: DateTime,
    }
}
