//! What is reported of a directory that is watched.

use std::ffi::OsString;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryChange {
    /// Something of this name has come, gone, or taken the place of something else.
    Name {
        watch: i32,
        name: OsString,
    },
    Gone {
        watch: i32,
    },
    Lost,
}
