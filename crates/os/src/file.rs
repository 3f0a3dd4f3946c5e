//! Files.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::IntoRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Advice, fadvise, statfs, statvfs};
use rustix::io::{pwritev, retry_on_intr};

use super::check;

/// Close a file and return the system's error, which dropping a file ignores: a network file system may
/// report only now that it could not store written data (close(2)).
///
/// # Errors
/// A system error. The file is closed anyway.
pub fn close(file: File) -> io::Result<()> {
    let descriptor = file.into_raw_fd();
    // SAFETY: the descriptor was the file's, and has no owner now.
    check(unsafe { libc::close(descriptor) }).map(drop)
}

/// Write two consecutive parts at `offset` in one call (pwritev(2)).
///
/// # Returns
/// Number of bytes written, possibly fewer than given.
pub fn write_parts_at(file: &File, parts: [&[u8]; 2], offset: u64) -> io::Result<usize> {
    let parts = parts.map(io::IoSlice::new);
    Ok(retry_on_intr(|| pwritev(file, &parts, offset))?)
}

/// Advise the system to read ahead for sequential reading (`posix_fadvise`). Ignoring the advice is not an error.
pub fn will_read_in_order(file: &File) {
    let _ = fadvise(file, 0, None, Advice::Sequential);
}

/// Flush a file to its disk, and drop it from the system's cache. Files of `tmpfs` exist only in memory and
/// stay there.
pub fn forget_cached(file: &File) -> io::Result<()> {
    file.sync_data()?;
    Ok(fadvise(file, 0, None, Advice::DontNeed)?)
}

/// Flush everything to the disks, and drop all cached files of all users (`vm.drop_caches`).
///
/// # Errors
/// `PermissionDenied` unless this is root outside a container.
pub fn drop_all_caches() -> io::Result<()> {
    let mut switch = std::fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches")?;
    rustix::fs::sync();
    io::Write::write_all(&mut switch, b"3\n")
}

/// Bytes that this user may still write to a path's file system (statvfs(3)).
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    disk_space(path).map(|(_, free_bytes)| free_bytes)
}

/// Total bytes of a path's file system, and bytes that this user may still write.
pub fn disk_space(path: &Path) -> io::Result<(u64, u64)> {
    let facts = statvfs(path)?;
    let bytes = |blocks: u64| blocks.saturating_mul(facts.f_frsize);
    Ok((bytes(facts.f_blocks), bytes(facts.f_bavail)))
}

/// A new file without a name in a directory on an in-memory file system (`tmpfs`, tmpfs(5)). Closing removes
/// it.
///
/// # Errors
/// `Unsupported` if the directory is not in memory; or a system error.
pub fn file_in_memory(directory: &Path) -> io::Result<File> {
    if statfs(directory)?.f_type != libc::TMPFS_MAGIC {
        return Err(io::ErrorKind::Unsupported.into());
    }
    OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(directory)
}

pub fn is_own(facts: &Metadata) -> bool {
    facts.uid() == super::process::user_and_group().0
}

/// Open this user's regular file with a single link; `None` if something else is there. Never blocks, and follows
/// no link.
pub fn open_own_file(path: &Path) -> io::Result<Option<File>> {
    let is_plain = |facts: &Metadata| facts.is_file() && facts.nlink() == 1 && is_own(facts);
    if !is_plain(&path.symlink_metadata()?) {
        return Ok(None);
    }
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
    Ok(is_plain(&file.metadata()?).then_some(file))
}
