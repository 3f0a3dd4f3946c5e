//! The served directory, which no path can leave.
//!
//! A path is split before the system sees it: `..` at the top stays there. Then each directory is opened through
//! the handle of its parent, without following symbolic links, so concurrent replacements cannot lead outside.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions, ReadDir};

use crate::beneath::{open_directory, open_file, ordinary};
use crate::changes::{Changes, mode_of};
use crate::free_name;
use crate::unseen_name::is_unseen;

pub const MAX_DEPTH: usize = 64;

#[derive(Debug, Clone)]
pub struct Confined {
    root: Arc<Dir>,
    read_only: bool,
}

pub type Names = Vec<String>;

impl Confined {
    pub fn new(root: &Path, read_only: bool) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(root, ambient_authority())?;
        Ok(Self { root: Arc::new(root), read_only })
    }

    /// The names of a path relative to a directory.
    ///
    /// # Errors `InvalidFilename` for a name that is never listed, or for too many names.
    pub fn names(base: &[String], path: &str) -> io::Result<Names> {
        let mut names = if path.starts_with('/') { Vec::new() } else { base.to_vec() };
        for name in path.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                _ => names.push(name.to_owned()),
            }
        }
        checked(names)
    }

    /// The names of a path from the root, in which `.` and `..` are invalid.
    ///
    /// # Errors As for [`Self::names`], and for `.` and `..`.
    pub fn plain_names(path: &str) -> io::Result<Names> {
        let names = path.split('/').filter(|name| !name.is_empty()).map(str::to_owned);
        checked(names.collect())
    }

    pub(crate) fn directory(&self, names: &[String]) -> io::Result<Arc<Dir>> {
        let mut directory = Arc::clone(&self.root);
        for name in names {
            directory = Arc::new(open_directory(&directory, name)?);
        }
        Ok(directory)
    }

    fn place<'a>(&self, names: &'a [String]) -> io::Result<(Arc<Dir>, &'a str)> {
        let (name, above) = names.split_last().ok_or(io::ErrorKind::IsADirectory)?;
        Ok((self.directory(above)?, name))
    }

    /// As [`Self::place`], for a change. The served directory itself cannot be changed.
    pub(crate) fn place_to_change<'a>(
        &self,
        names: &'a [String],
    ) -> io::Result<(Arc<Dir>, &'a str)> {
        if self.read_only {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        if names.is_empty() {
            let message = "nothing may be changed there";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        self.place(names)
    }

    /// Metadata of a file or directory.
    ///
    /// # Errors `PermissionDenied` for other kinds, or a system error.
    pub fn metadata(&self, names: &[String]) -> io::Result<Metadata> {
        let found = self.metadata_of_any(names)?;
        ordinary(&found)?;
        Ok(found)
    }

    pub fn metadata_of_any(&self, names: &[String]) -> io::Result<Metadata> {
        if names.is_empty() {
            return self.root.dir_metadata();
        }
        let (directory, name) = self.place(names)?;
        directory.symlink_metadata(name)
    }

    pub fn look(&self, names: &[String]) -> io::Result<Found> {
        let name = names.last().cloned().unwrap_or_default();
        Found::new(name, &self.metadata(names)?).ok_or_else(denied)
    }

    /// Files and directories in a directory, except names that clients could not request.
    pub fn entries(&self, names: &[String]) -> io::Result<Entries> {
        self.entries_of(names, |entry| entry.is_directory || entry.is_file)
    }

    pub fn all_entries(&self, names: &[String]) -> io::Result<Entries> {
        self.entries_of(names, |_| true)
    }

    fn entries_of(&self, names: &[String], wants: fn(&Entry) -> bool) -> io::Result<Entries> {
        let reading = self.directory(names)?.entries()?;
        // Entries below the maximum depth cannot be requested.
        Ok(Entries { reading: (names.len() < MAX_DEPTH).then_some(reading), wants })
    }

    pub fn list(
        &self,
        names: &[String],
    ) -> io::Result<impl Iterator<Item = io::Result<Found>> + use<>> {
        // The entry may have been removed or replaced by now.
        let found = |one: Entry| Found::new(one.name, &one.entry.metadata().ok()?);
        Ok(self.entries(names)?.filter_map(move |entry| entry.map(found).transpose()))
    }

    /// Open a file for reading.
    ///
    /// # Errors `IsADirectory`, `PermissionDenied` for other kinds, or a system error.
    pub fn open(&self, names: &[String]) -> io::Result<File> {
        let (directory, name) = self.place(names)?;
        open_file(&directory, Path::new(name), OpenOptions::new().read(true))
    }

    /// Open or create a file with `options`, for a change.
    ///
    /// # Errors As for [`Self::open`]; `ReadOnlyFilesystem` if the service is read-only.
    pub fn open_to_change(&self, names: &[String], options: &OpenOptions) -> io::Result<File> {
        let (directory, name) = self.place_to_change(names)?;
        open_file(&directory, Path::new(name), options)
    }

    /// Make a directory, with these permissions if given.
    ///
    /// # Errors `AlreadyExists`, `ReadOnlyFilesystem`, or a system error.
    pub fn create_dir(&self, names: &[String], mode: Option<u32>) -> io::Result<()> {
        let (directory, name) = self.place_to_change(names)?;
        let mut builder = cap_std::fs::DirBuilder::new();
        if let Some(mode) = mode {
            cap_std::fs::DirBuilderExt::mode(&mut builder, mode);
        }
        directory.create_dir_with(name, &builder)
    }

    /// Whether there is a file that may be written.
    ///
    /// # Errors As for [`Self::open_to_change`], except `NotFound`.
    pub fn has_file_to_change(&self, names: &[String]) -> io::Result<bool> {
        match self.open_to_change(names, OpenOptions::new().write(true)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Remove a file; nothing else.
    ///
    /// # Errors `IsADirectory`, `PermissionDenied`, or a system error.
    pub fn remove_file(&self, names: &[String]) -> io::Result<()> {
        let (directory, name) = self.place_to_change(names)?;
        let found = directory.symlink_metadata(name)?;
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if found.is_file() { directory.remove_file(name) } else { Err(denied()) }
    }

    /// Remove anything except a directory. The target of a link stays.
    ///
    /// # Errors `ReadOnlyFilesystem`, or a system error.
    pub fn remove_any(&self, names: &[String]) -> io::Result<()> {
        let (directory, name) = self.place_to_change(names)?;
        directory.remove_file(name)
    }

    /// Remove a directory without entries or unfinished uploads.
    ///
    /// # Errors `DirectoryNotEmpty`, or a system error.
    pub fn remove_empty_dir(&self, names: &[String]) -> io::Result<()> {
        let (directory, name) = self.place_to_change(names)?;
        directory.remove_dir(name)
    }

    /// Remove a directory that is empty to clients, with its unfinished uploads.
    pub fn remove_dir(&self, names: &[String]) -> io::Result<()> {
        let (directory, name) = self.place_to_change(names)?;
        let removed = directory.remove_dir(name);
        if !removed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::DirectoryNotEmpty) {
            return removed;
        }
        let within = open_directory(&directory, name)?;
        let unfinished: Vec<_> = within
            .entries()?
            .map(|entry| Ok(entry?.file_name().into_string().unwrap_or_default()))
            .collect::<io::Result<_>>()?;
        let is_unfinished = |name: &String| {
            is_unseen(name) && within.symlink_metadata(name).is_ok_and(|found| found.is_file())
        };
        if !unfinished.iter().all(is_unfinished) {
            return removed;
        }
        for name in unfinished {
            within.remove_file(name)?;
        }
        directory.remove_dir(name)
    }

    /// Rename to a free name. If two clients or programs try at once, one succeeds.
    ///
    /// # Errors `AlreadyExists`, `ReadOnlyFilesystem` if the service is read-only or for a link, or a system error.
    pub fn rename(&self, from: &[String], to: &[String]) -> io::Result<()> {
        let (directory, name) = self.place_to_change(from)?;
        let (new_directory, new_name) = self.place_to_change(to)?;
        ordinary(&directory.symlink_metadata(name)?)?;
        let to = (&*new_directory, Path::new(new_name));
        free_name::rename((&*directory, Path::new(name)), to)
    }

    /// Change size, permissions and times of a file or directory.
    ///
    /// # Errors As for [`Changes::apply`]; `PermissionDenied` for other kinds, `ReadOnlyFilesystem` if the service
    /// is read-only.
    pub fn change(&self, names: &[String], changes: &Changes) -> io::Result<()> {
        let (directory, name) = self.place_to_change(names)?;
        changes.apply_in(&directory, name)
    }
}

#[derive(Debug)]
pub struct Entries {
    reading: Option<ReadDir>,
    wants: fn(&Entry) -> bool,
}

#[derive(Debug)]
pub struct Entry {
    pub name: String,
    pub is_directory: bool,
    pub is_file: bool,
    pub entry: cap_std::fs::DirEntry,
}

impl Iterator for Entries {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<io::Result<Entry>> {
        loop {
            let entry = match self.reading.as_mut()?.next()? {
                Ok(entry) => entry,
                Err(error) => {
                    self.reading = None;
                    return Some(Err(error));
                }
            };
            let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else {
                continue;
            };
            let (is_directory, is_file) = (kind.is_dir(), kind.is_file());
            let entry = Entry { name, is_directory, is_file, entry };
            if is_plain(&entry.name) && (self.wants)(&entry) {
                return Some(Ok(entry));
            }
        }
    }
}

#[derive(Debug, Clone)]
pub struct Found {
    pub name: String,
    pub is_directory: bool,
    pub size_bytes: u64,
    pub mode: u32,
    /// Last modification, seconds since 1970.
    pub modified_s: u64,
    pub accessed_s: u64,
}

impl Found {
    pub fn new(name: String, found: &Metadata) -> Option<Self> {
        let is_directory = found.is_dir();
        if !is_directory && !found.is_file() {
            return None;
        }
        let since_1970_s = |at: cap_std::time::SystemTime| {
            at.into_std().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |at| at.as_secs())
        };
        let modified_s = since_1970_s(found.modified().ok()?);
        let accessed_s = found.accessed().map_or(modified_s, since_1970_s);
        let size_bytes = if is_directory { 0 } else { found.len() };
        let mode = mode_of(found);
        Some(Self { name, is_directory, size_bytes, mode, modified_s, accessed_s })
    }
}

fn denied() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

fn checked(names: Names) -> io::Result<Names> {
    if !names.iter().all(|name| is_plain(name)) {
        let message = "a name has `\\`, a control character or a drive, or is reserved";
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, message));
    }
    if names.len() > MAX_DEPTH {
        let message = format!("a path is more than {MAX_DEPTH} names deep");
        return Err(io::Error::new(io::ErrorKind::InvalidFilename, message));
    }
    Ok(names)
}

/// Whether every service can list and request a name: it has no line ends, is not like a path, and
/// is valid in XML.
fn is_plain(name: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, '\\' | '/' | '\u{fffe}' | '\u{ffff}');
    !matches!(name, "" | "." | "..") && !name.contains(is_odd) && !is_unseen(name)
}

#[cfg(test)]
mod tests;
