//! Errors of files for dav-server.

use std::io;

use dav_server::fs::{FsError, FsResult};

/// The result of a file operation, with errors as dav-server names them.
pub fn named<T>(done: io::Result<T>) -> FsResult<T> {
    done.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FsError::NotFound,
        io::ErrorKind::AlreadyExists => FsError::Exists,
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::IsADirectory => FsError::Forbidden,
        _ => error.into(),
    })
}
