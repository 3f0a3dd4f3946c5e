//! Reported changes of a watched directory.

use std::ffi::OsString;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryChange {
    /// An entry of this name appeared, disappeared or was replaced.
    Name {
        watch: i32,
        name: OsString,
    },
    Gone {
        watch: i32,
    },
    Lost,
}
