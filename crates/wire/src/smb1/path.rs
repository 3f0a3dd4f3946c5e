//! Requests of one path: create directory, delete directory, check directory, query information
//! and delete. But for query information, their responses are empty blocks.
//!
//! Source: [MS-CIFS] 2.2.4.1, 2.2.4.2, 2.2.4.17, 2.2.4.9 and 2.2.4.7.

use super::blocks::block;

block! {
    /// Request of a command that needs only a path.
    Request<'a>: words(0) {
    } bytes {
        /// File or directory.
        name: path,
    }
}

block! {
    /// Request of a delete.
    Delete<'a>: words(1) {
        /// Attributes that the files may have.
        search_attributes: u16,
    } bytes {
        /// Files. The last part may have wildcards.
        name: path,
    }
}
