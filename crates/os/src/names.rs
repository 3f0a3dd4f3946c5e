//! Renaming of directory entries.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

/// Rename a directory entry, in the same or into another directory. The new name must be free: the kernel
/// checks and renames in one step (renameat2(2)).
///
/// Each name is a single path component, because links in longer paths would be followed.
///
/// # Errors
/// `AlreadyExists` if the new name is taken. `Unsupported` if the file system cannot do it, or a directory
/// would be moved into itself: the kernel reports both alike. Or a system error.
pub fn rename_to_free_name_at<D: AsFd>(
    (from_directory, from): (&D, &Path),
    (to_directory, to): (&D, &Path),
) -> io::Result<()> {
    let renamed = renameat_with(from_directory, from, to_directory, to, RenameFlags::NOREPLACE);
    renamed.map_err(|errno| match errno {
        Errno::NOSYS | Errno::INVAL => io::ErrorKind::Unsupported.into(),
        errno => errno.into(),
    })
}
