//! Files.

use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;

use super::check;

/// Close a file and give what the system says of it, which dropping a file does not: a network file
/// system may tell only now that it could not keep what was written (close(2)).
///
/// # Errors
/// What the system says. The file is closed all the same.
pub fn close(file: File) -> io::Result<()> {
    let descriptor = file.into_raw_fd();
    // SAFETY: the descriptor was the file's, and is nobody's now.
    check(unsafe { libc::close(descriptor) }).map(drop)
}
