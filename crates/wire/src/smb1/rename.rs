//! Renames files. The response is an empty block.
//!
//! Source: [MS-CIFS] 2.2.4.8.

use super::blocks::block;

block! {
    Request<'a>: words(1) {
        search_attributes: u16,
    } bytes {
        old_name: path,
        new_name: path,
    }
}
