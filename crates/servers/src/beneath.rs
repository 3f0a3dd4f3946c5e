//! Opening what is beneath a directory by a handle of it.
//!
//! Another program of this host may put a link, a pipe or a device in the place of a file at any
//! moment, so that a look at a path says nothing of what is opened a moment later. No link is followed
//! here, nothing is waited for, and what was opened is looked at.

use std::fs::File;
use std::io;
use std::path::Path;

use cap_std::fs::{Dir, Metadata, OpenOptions};

/// Open a directory of a directory: no link to one.
///
/// # Errors
/// `PermissionDenied` of a link, `NotADirectory`, or what the system says.
pub fn open_directory(directory: &Dir, name: &str) -> io::Result<Dir> {
    match system::open_directory(directory, name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            // A link is not told from a file by the error.
            let found = directory.symlink_metadata(name);
            Err(if found.is_ok_and(|found| found.is_symlink()) { no_link() } else { error })
        }
        done => done,
    }
}

/// Open a plain file: no link, no pipe, no device. A pipe is not waited for.
///
/// # Errors
/// `IsADirectory`, `PermissionDenied` of what is neither file nor directory, or what the system says.
pub fn open_file(directory: &Dir, path: &Path, options: &OpenOptions) -> io::Result<File> {
    open(directory, path, options, |found| {
        if found.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { ordinary(found) }
    })
}

/// The same of a file or a directory.
///
/// # Errors
/// `PermissionDenied` of what is neither, or what the system says.
pub fn open_any(directory: &Dir, path: &Path, options: &OpenOptions) -> io::Result<File> {
    open(directory, path, options, ordinary)
}

fn open(
    directory: &Dir,
    path: &Path,
    options: &OpenOptions,
    judge: impl Fn(&Metadata) -> io::Result<()>,
) -> io::Result<File> {
    // To open a device may do something by itself, so that one that is there is not opened at all.
    match directory.symlink_metadata(path) {
        Ok(found) => judge(&found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let file = system::open(directory, path, options)?;
    judge(&Metadata::from_file(&file)?)?;
    Ok(file)
}

/// Neither a link, which is not followed, nor a pipe, a socket or a device.
///
/// # Errors
/// `PermissionDenied` of those.
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

#[cfg(unix)]
mod system {
    use super::{Dir, File, OpenOptions, Path, io, no_link};
    use cap_std::fs::OpenOptionsExt;

    /// Who may go through a directory need not be able to read it.
    #[cfg(target_os = "linux")]
    const ONLY_TO_GO_ON: i32 = libc::O_PATH;
    #[cfg(not(target_os = "linux"))]
    const ONLY_TO_GO_ON: i32 = 0;

    pub(super) fn open_directory(directory: &Dir, name: &str) -> io::Result<Dir> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW | ONLY_TO_GO_ON);
        Ok(Dir::from_std_file(directory.open_with(name, &options)?.into_std()))
    }

    pub(super) fn open(directory: &Dir, path: &Path, options: &OpenOptions) -> io::Result<File> {
        let mut options = options.clone();
        options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
        let opened = directory.open_with(path, &options);
        opened.map(cap_std::fs::File::into_std).map_err(|error| match error.raw_os_error() {
            // A link; a pipe that nothing reads, a socket.
            Some(libc::ELOOP | libc::ENXIO) => no_link(),
            _ => error,
        })
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Dir, File, OpenOptions, Path, io, no_link};

    /// Between the look and the opening a link may come: then it leads nowhere but below the served
    /// directory, as `cap-std` has it.
    fn refuse_link(directory: &Dir, path: &Path) -> io::Result<()> {
        match directory.symlink_metadata(path) {
            Ok(found) if found.is_symlink() => Err(no_link()),
            _ => Ok(()),
        }
    }

    pub(super) fn open_directory(directory: &Dir, name: &str) -> io::Result<Dir> {
        refuse_link(directory, Path::new(name))?;
        directory.open_dir(name)
    }

    pub(super) fn open(directory: &Dir, path: &Path, options: &OpenOptions) -> io::Result<File> {
        refuse_link(directory, path)?;
        Ok(directory.open_with(path, options)?.into_std())
    }
}
