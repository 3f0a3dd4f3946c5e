//! Another name for files. The response is an empty block.
//!
//! Source: [MS-CIFS] 2.2.4.8.

use super::blocks::block;

block! {
    Request<'a>: words(1) {
        /// Attributes that the files may have.
        search_attributes: u16,
    } bytes {
        /// Files. The last part may have wildcards.
        old_name: path,
        /// Their new name.
        new_name: path,
    }
}
