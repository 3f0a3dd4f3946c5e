//! Attributes, times and size of an open file. The response to a change is an empty block.
//!
//! Source: [MS-CIFS] 2.2.4.31 (query), 2.2.4.30 (set).

use super::blocks::block;

pub use super::time::DateTime;

block! {
    /// Request of a query.
    Request: words(1) {
        /// Open file.
        fid: u16,
    }
}

block! {
    /// Response of a query.
    Response: words(11) {
        /// Creation.
        creation: DateTime,
        /// Last access.
        last_access: DateTime,
        /// Last write.
        last_write: DateTime,
        /// Octets in the file.
        size: u32,
        /// Octets set aside for the file.
        allocation_size: u32,
        /// Attributes of the file.
        attributes: u16,
    }
}

block! {
    /// Request of a change.
    SetRequest: words(7) {
        /// Open file.
        fid: u16,
        /// Creation.
        creation: DateTime,
        /// Last access.
        last_access: DateTime,
        /// Last write.
        last_write: DateTime,
    }
}
