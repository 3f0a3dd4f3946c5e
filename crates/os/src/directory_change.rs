//! What is reported of a directory that is watched.

use std::ffi::OsString;

/// One report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DirectoryChange {
    /// Something of this name has come, gone, or taken the place of something else.
    Name {
        /// Number of the watch.
        watch: i32,
        name: OsString,
    },
    /// The directory is gone, and with it the watch.
    Gone {
        /// Number of the watch.
        watch: i32,
    },
    /// There were more changes than were reported: any directory may be another.
    Lost,
}
