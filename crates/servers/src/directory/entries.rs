//! Single steps in an open directory. Each takes one name, follows no link and waits for nobody: other
//! clients and programs of this host may put anything in the place of what was there a moment ago.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::time::Duration;

use cap_std::fs::{Dir, Metadata, OpenOptions};

/// A program that has a lease on a file (fcntl(2)) gives it back when another opens the file. It is
/// asked again after this time, so often.
const LEASE_LOOK: Duration = Duration::from_millis(10);
const LEASE_LOOKS: u32 = 20;

/// What has this name. Nothing, where there is nothing.
///
/// # Errors
/// `PermissionDenied` of what is neither a file nor a directory. Or what the system says.
pub fn look(directory: &Dir, name: &str) -> io::Result<Option<Metadata>> {
    match directory.symlink_metadata(name) {
        Ok(found) if found.is_file() || found.is_dir() => Ok(Some(found)),
        Ok(_) => Err(ErrorKind::PermissionDenied.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Open a file or, to read, a directory, and say what was opened.
///
/// # Errors
/// `PermissionDenied` of what is neither. Or what the system says.
pub fn open(
    directory: &Dir,
    name: &str,
    options: &mut OpenOptions,
) -> io::Result<(File, Metadata)> {
    // An open can have an effect on a device.
    look(directory, name)?;
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(options, lanlab_os::opening::WITHOUT_FOLLOWING);
    let mut looks = 0;
    let file = loop {
        match directory.open_with(name, options) {
            Err(error) if error.kind() == ErrorKind::WouldBlock && looks < LEASE_LOOKS => {
                std::thread::sleep(LEASE_LOOK);
                looks += 1;
            }
            // A link or a FIFO that has come since then is refused in many ways.
            Err(error) => return Err(look(directory, name).err().unwrap_or(error)),
            Ok(file) => break file,
        }
    };
    let found = file.metadata()?;
    if !found.is_file() && !found.is_dir() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    Ok((file.into_std(), found))
}

/// Open a directory by its name.
///
/// # Errors
/// `NotADirectory` of what is none. Or what the system says.
pub fn enter(directory: &Dir, name: &str) -> io::Result<Dir> {
    #[cfg(unix)]
    {
        let mut options = OpenOptions::new();
        options.read(true);
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, lanlab_os::opening::TO_PASS);
        Ok(Dir::from_std_file(directory.open_with(name, &options)?.into_std()))
    }
    #[cfg(not(unix))]
    {
        if look(directory, name)?.is_none() {
            return Err(ErrorKind::NotFound.into());
        }
        directory.open_dir(name)
    }
}

/// Names of the files and directories in a directory, in no order. Links, devices and names that are not
/// UTF-8 are left out.
///
/// # Errors
/// What the system says.
pub fn names(directory: &Dir) -> io::Result<impl Iterator<Item = io::Result<String>>> {
    Ok(directory.entries()?.filter_map(|entry| {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Err(error)),
        };
        let is_served = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
        if is_served { entry.file_name().into_string().ok().map(Ok) } else { None }
    }))
}
