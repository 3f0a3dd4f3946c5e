//! Names of clients, as the directory has them: in any case, or by a short name.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata};
use lanlab_stack::files::FileRefusal;
use lanlab_stack::smb::server::short_names;

/// Where a path leads.
#[derive(Debug)]
pub struct Place {
    /// Below the served directory; `.` is the directory itself.
    pub path: PathBuf,
    /// What is there. Nothing, where only the last name is missing.
    pub found: Option<Metadata>,
}

/// What an error of the system is to a client.
pub fn refusal(error: &io::Error) -> FileRefusal {
    match error.kind() {
        ErrorKind::NotFound => FileRefusal::Missing,
        ErrorKind::NotADirectory => FileRefusal::NoPath,
        ErrorKind::AlreadyExists => FileRefusal::Exists,
        ErrorKind::DirectoryNotEmpty => FileRefusal::NotEmpty,
        ErrorKind::IsADirectory => FileRefusal::IsDirectory,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => FileRefusal::Denied,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            FileRefusal::NoSpace
        }
        ErrorKind::InvalidFilename | ErrorKind::InvalidInput => FileRefusal::Name,
        _ if matches!(error.raw_os_error(), Some(23 | 24)) => FileRefusal::TooMany,
        _ => FileRefusal::Failed,
    }
}

/// Find a path. A symbolic link is not followed, wherever it leads.
///
/// # Errors
/// `NoPath` if a directory on the way is not there, `Denied` for a link.
pub fn resolve(root: &Dir, names: &[String]) -> Result<Place, FileRefusal> {
    let mut path = PathBuf::from(".");
    let mut found = Some(root.dir_metadata().map_err(|error| refusal(&error))?);
    for name in names {
        match &found {
            Some(found) if found.is_dir() => {}
            _ => return Err(FileRefusal::NoPath),
        }
        let (name, there) = find(root, &path, name)?;
        if there.as_ref().is_some_and(|there| !there.is_file() && !there.is_dir()) {
            return Err(FileRefusal::Denied);
        }
        path.push(name);
        found = there;
    }
    Ok(Place { path, found })
}

fn find(
    root: &Dir,
    directory: &Path,
    name: &str,
) -> Result<(String, Option<Metadata>), FileRefusal> {
    // Most names are as they were written, or all in one case.
    for written in [name.to_owned(), name.to_lowercase(), name.to_uppercase()] {
        match root.symlink_metadata(directory.join(&written)) {
            Ok(found) => return Ok((written, Some(found))),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(refusal(&error)),
        }
    }
    let there = names(root, directory).map_err(|error| refusal(&error))?;
    let lower = name.to_lowercase();
    let found = there.iter().find(|other| other.to_lowercase() == lower).cloned();
    let found = found.or_else(|| {
        // Only made names have this character; others were found above.
        if !name.contains('~') {
            return None;
        }
        let all: Vec<_> = there.iter().map(String::as_str).collect();
        let short = short_names::of_directory(&all);
        let at = short.iter().position(|short| {
            short.as_ref().is_some_and(|short| short.eq_ignore_ascii_case(name))
        })?;
        Some(there[at].clone())
    });
    let Some(found) = found else { return Ok((name.to_owned(), None)) };
    match root.symlink_metadata(directory.join(&found)) {
        Ok(there) => Ok((found, Some(there))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok((found, None)),
        Err(error) => Err(refusal(&error)),
    }
}

/// Names of the files and directories of a directory, in their order, but for links, devices and
/// names that are not UTF-8.
pub fn names(root: &Dir, directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in root.read_dir(directory)? {
        let entry = entry?;
        let is_served = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
        if is_served && let Ok(name) = entry.file_name().into_string() {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}
