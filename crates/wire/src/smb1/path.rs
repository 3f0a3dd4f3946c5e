//! Requests with one path: create directory, delete directory, check directory, query information
//! and delete. Their responses are empty blocks, except for query information.
//!
//! Source: [MS-CIFS] 2.2.4.1, 2.2.4.2, 2.2.4.17, 2.2.4.9 and 2.2.4.7.

use super::blocks::block;

block! {
    /// Request of a command that needs only a path.
    Request<'a>: words(0) {
    } bytes {
        name: path,
    }
}

block! {
    Delete<'a>: words(1) {
        search_attributes: u16,
    } bytes {
        name: path,
    }
}
