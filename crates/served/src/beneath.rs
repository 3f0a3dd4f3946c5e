//! Opens files below a directory through its handle.
//!
//! Other programs may replace a file by a link, pipe or device at any moment, so checking a path before opening it
//! proves nothing. No link is followed here, no open blocks, and the opened file itself is checked.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt};
use lanlab_os::opening::{TO_PASS, WITHOUT_FOLLOWING};

/// A program with a lease on a file (fcntl(2)) releases it when another opens the file. The open is retried after
/// this time, at most this often.
const LEASE_WAIT: Duration = Duration::from_millis(10);
const LEASE_WAITS: u32 = 20;

/// The file or directory of this name, if it exists.
///
/// # Errors `PermissionDenied` for other kinds, or a system error.
pub fn look(directory: &Dir, path: &Path) -> io::Result<Option<Metadata>> {
    match directory.symlink_metadata(path) {
        Ok(found) => ordinary(&found).map(|()| Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Open a subdirectory, without following a link.
///
/// # Errors `PermissionDenied` for a link, `NotADirectory`, or a system error.
pub fn open_directory(directory: &Dir, name: &str) -> io::Result<Dir> {
    match pass_without_following(directory, Path::new(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            // Opening a link fails with the same error as opening a file.
            let found = directory.symlink_metadata(name);
            Err(if found.is_ok_and(|found| found.is_symlink()) { no_link() } else { error })
        }
        done => done,
    }
}

/// Open a regular file, without following links or blocking on pipes.
///
/// # Errors `IsADirectory`, `PermissionDenied` for other kinds, or a system error.
pub fn open_file(directory: &Dir, path: &Path, options: &OpenOptions) -> io::Result<File> {
    let opened = open(directory, path, options, |found| {
        if found.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(()) }
    });
    opened.map(|(file, _)| file)
}

/// Open a file or directory, and return its metadata.
///
/// # Errors `PermissionDenied` for other kinds, or a system error.
pub fn open_any(
    directory: &Dir,
    path: &Path,
    options: &OpenOptions,
) -> io::Result<(File, Metadata)> {
    open(directory, path, options, |_| Ok(()))
}

fn open(
    directory: &Dir,
    path: &Path,
    options: &OpenOptions,
    judge: impl Fn(&Metadata) -> io::Result<()>,
) -> io::Result<(File, Metadata)> {
    // Opening a device may have side effects, so an existing one is not opened.
    if let Some(found) = look(directory, path)? {
        judge(&found)?;
    }
    let mut waits = 0;
    let file = loop {
        match open_no_link(directory, path, options) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && waits < LEASE_WAITS => {
                std::thread::sleep(LEASE_WAIT);
                waits += 1;
            }
            opened => break opened?,
        }
    };
    let found = Metadata::from_file(&file)?;
    ordinary(&found)?;
    judge(&found)?;
    Ok((file, found))
}

/// Check that this is a file or directory, not a link, pipe, socket or device.
pub fn ordinary(found: &Metadata) -> io::Result<()> {
    if found.is_file() || found.is_dir() {
        Ok(())
    } else if found.is_symlink() {
        Err(no_link())
    } else {
        let message = "neither a file nor a directory";
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    }
}

fn no_link() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "a symbolic link, which is not followed")
}

pub fn pass_without_following(directory: &Dir, name: &Path) -> io::Result<Dir> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(TO_PASS);
    Ok(Dir::from_std_file(directory.open_with(name, &options)?.into_std()))
}

/// Open without blocking; the caller must check what was opened.
pub fn open_without_following(
    directory: &Dir,
    path: &Path,
    options: &OpenOptions,
) -> io::Result<File> {
    let mut options = options.clone();
    options.custom_flags(WITHOUT_FOLLOWING);
    Ok(directory.open_with(path, &options)?.into_std())
}

fn open_no_link(directory: &Dir, path: &Path, options: &OpenOptions) -> io::Result<File> {
    let opened = open_without_following(directory, path, options);
    opened.map_err(|error| match error.raw_os_error() {
        // A link (`ELOOP`); a pipe without a reader, or a socket (`ENXIO`).
        Some(libc::ELOOP | libc::ENXIO) => no_link(),
        _ => error,
    })
}
