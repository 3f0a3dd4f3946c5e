//! Renaming of directory entries.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{RenameFlags, renameat_with};
use rustix::io::Errno;

/// Give what has a name in one directory another name in the same or another directory. That name must
/// be free: the kernel looks and renames in one step (renameat2(2)).
///
/// Each name is the last of its path. A path of more names would be followed through links.
///
/// # Errors
/// `AlreadyExists` if the new name is taken. `Unsupported` if the file system cannot do it, or a
/// directory would get into itself: the kernel answers both alike. Or what the system says.
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
