//! File operations that may block, with errors as dav-server names them.

use std::io;

use dav_server::fs::{FsError, FsResult};

pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> FsResult<T> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|_| FsError::GeneralFailure)?;
    done.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => FsError::NotFound,
        io::ErrorKind::AlreadyExists => FsError::Exists,
        io::ErrorKind::PermissionDenied
        | io::ErrorKind::InvalidFilename
        | io::ErrorKind::IsADirectory => FsError::Forbidden,
        _ => error.into(),
    })
}
