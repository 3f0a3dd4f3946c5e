//! Opening what is beneath a directory by a handle of it.
//!
//! Another program of this host may put a link, a pipe or a device in the place of a file at any
//! moment, so that a look at a path says nothing of what is opened a moment later. No link is followed
//! here, nothing is waited for, and what was opened is looked at.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use cap_std::fs::{Dir, Metadata, OpenOptions};

pub use system::{open_without_following, pass_without_following};

/// A program that has a lease on a file (fcntl(2)) gives it back when another opens the file. The file is
/// opened again after this time, at most this often.
const LEASE_WAIT: Duration = Duration::from_millis(10);
const LEASE_WAITS: u32 = 20;

/// The file or directory of this name; `None` where there is nothing.
///
/// # Errors
/// `PermissionDenied` of anything else, or what the system says.
pub fn look(directory: &Dir, path: &Path) -> io::Result<Option<Metadata>> {
    match directory.symlink_metadata(path) {
        Ok(found) => ordinary(&found).map(|()| Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Open a directory of a directory: no link to one.
///
/// # Errors
/// `PermissionDenied` of a link, `NotADirectory`, or what the system says.
pub fn open_directory(directory: &Dir, name: &str) -> io::Result<Dir> {
    match pass_without_following(directory, Path::new(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            // The error of a link is that of a file.
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
    let opened = open(directory, path, options, |found| {
        if found.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(()) }
    });
    opened.map(|(file, _)| file)
}

/// The same of a file or a directory, with what was opened.
///
/// # Errors
/// `PermissionDenied` of what is neither, or what the system says.
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
    // To open a device may do something by itself, so that one that is there is not opened at all.
    if let Some(found) = look(directory, path)? {
        judge(&found)?;
    }
    let mut waits = 0;
    let file = loop {
        match system::open(directory, path, options) {
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
    use lanlab_os::opening::{TO_PASS, WITHOUT_FOLLOWING};

    pub fn pass_without_following(directory: &Dir, name: &Path) -> io::Result<Dir> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(TO_PASS);
        Ok(Dir::from_std_file(directory.open_with(name, &options)?.into_std()))
    }

    /// Open what may be anything, and has to be looked at. Nothing is waited for.
    pub fn open_without_following(
        directory: &Dir,
        path: &Path,
        options: &OpenOptions,
    ) -> io::Result<File> {
        let mut options = options.clone();
        options.custom_flags(WITHOUT_FOLLOWING);
        Ok(directory.open_with(path, &options)?.into_std())
    }

    pub(super) fn open(directory: &Dir, path: &Path, options: &OpenOptions) -> io::Result<File> {
        let opened = open_without_following(directory, path, options);
        opened.map_err(|error| match error.raw_os_error() {
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

    /// Open a directory to look names up in it.
    ///
    /// # Errors
    /// `PermissionDenied` of a link, or what the system says.
    pub fn pass_without_following(directory: &Dir, name: &Path) -> io::Result<Dir> {
        refuse_link(directory, name)?;
        directory.open_dir(name)
    }

    pub(super) use open_without_following as open;

    /// Open what may be anything, and has to be looked at.
    ///
    /// # Errors
    /// `PermissionDenied` of a link, or what the system says.
    pub fn open_without_following(
        directory: &Dir,
        path: &Path,
        options: &OpenOptions,
    ) -> io::Result<File> {
        refuse_link(directory, path)?;
        Ok(directory.open_with(path, options)?.into_std())
    }
}
