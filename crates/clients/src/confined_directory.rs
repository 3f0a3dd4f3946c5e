//! Files below a directory of this host, reached from a handle that is opened once.
//!
//! Every name on the path is opened from the handle of its parent directory, and links are not
//! followed. Even if another program replaces a file or directory in between, nothing outside the
//! directory is read, written or removed. The directories that this trial made are held open until
//! they are removed, so that a replacement is noticed. `cap-std` makes the calls.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use lanlab_files::{Access, ServicePath};
use lanlab_served::beneath;
use parking_lot::Mutex;

/// A lease holder (fcntl(2)) releases its lease within this time when another process opens the
/// file.
const LEASE_WITHIN: Duration = Duration::from_secs(5);
const LEASE_LOOK: Duration = Duration::from_millis(10);

/// A directory made here is held open if its path has at most this many names: the trial's
/// directory, and the one in it for all files.
const HELD_DEPTH: usize = 2;

/// The directories made here and not yet removed.
static MADE: Mutex<Option<HashMap<PathBuf, Arc<Dir>>>> = Mutex::new(None);
/// Open handles, by the path for which they were opened.
static OPEN: Mutex<Option<HashMap<PathBuf, Weak<ConfinedDirectory>>>> = Mutex::new(None);

#[derive(Debug)]
pub struct ConfinedDirectory {
    base: PathBuf,
    directory: Arc<Dir>,
    /// The directory of the last operation, which the next file usually needs, too.
    last: Mutex<Option<(PathBuf, Arc<Dir>)>>,
}

#[derive(Debug)]
pub struct Found {
    pub name: OsString,
    pub kind: Kind,
    pub bytes: u64,
    pub modified: Option<SystemTime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Directory,
    Link,
    Special,
}

impl Found {
    fn new(name: OsString, facts: &Metadata) -> Self {
        let kind = if facts.is_symlink() {
            Kind::Link
        } else if facts.is_dir() {
            Kind::Directory
        } else if facts.is_file() {
            Kind::File
        } else {
            Kind::Special
        };
        let modified = facts.modified().ok().map(cap_std::time::SystemTime::into_std);
        let bytes = if kind == Kind::File { facts.len() } else { 0 };
        Self { name, kind, bytes, modified }
    }
}

impl ConfinedDirectory {
    /// Open a directory. Links in its path are followed, because the user chose it.
    pub fn open(base: &Path) -> io::Result<Self> {
        let directory = Arc::new(Dir::open_ambient_dir(base, ambient_authority())?);
        Ok(Self { base: base.to_owned(), directory, last: Mutex::new(None) })
    }

    pub fn shared(base: &Path) -> io::Result<Arc<Self>> {
        let mut open = OPEN.lock();
        let open = open.get_or_insert_default();
        if let Some(there) = open.get(base).and_then(Weak::upgrade) {
            return Ok(there);
        }
        open.retain(|_, handle| handle.strong_count() > 0);
        let opened = Arc::new(Self::open(base)?);
        open.insert(base.to_owned(), Arc::downgrade(&opened));
        Ok(opened)
    }

    pub fn place(&self, path: Option<&ServicePath>) -> PathBuf {
        path.map_or_else(|| self.base.clone(), |path| self.base.join(path.as_str()))
    }

    /// Open a regular file. A file to write must have no other name, because that could belong to
    /// somebody else.
    pub fn file(&self, path: &ServicePath, access: Access) -> io::Result<File> {
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Create { .. } => options.write(true).create_new(true),
            // Truncate later, once the file is known to be ours.
            Access::Replace { .. } => options.write(true).create(true),
            Access::Update => options.read(true).write(true),
        };
        let file = opened(&*self.parent(path)?, path.name(), &options)?;
        if let Access::Create { .. } = access {
            return Ok(file);
        }
        let facts = file.metadata()?;
        if !facts.is_file() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "not a regular file"));
        }
        if access != Access::Read && names(&facts) > 1 {
            let message = "the file has another name, by which it may be somebody's";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        if let Access::Replace { .. } = access {
            file.set_len(0)?;
        }
        Ok(file)
    }

    pub fn look(&self, path: &ServicePath) -> io::Result<Found> {
        let facts = self.parent(path)?.symlink_metadata(path.name())?;
        Ok(Found::new(path.name().into(), &facts))
    }

    /// The entries of a directory (`None`: the one held open), in any order.
    pub fn list(
        &self,
        path: Option<&ServicePath>,
    ) -> io::Result<impl Iterator<Item = io::Result<Found>> + use<>> {
        let directory = match path {
            None => Arc::clone(&self.directory),
            Some(path) => self.directory(Path::new(path.as_str()))?,
        };
        Ok(directory.entries()?.filter_map(|entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return Some(Err(error)),
            };
            match entry.metadata() {
                Ok(facts) => Some(Ok(Found::new(entry.file_name(), &facts))),
                // The entry was removed after it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => Some(Err(error)),
            }
        }))
    }

    pub fn make_directory(&self, path: &ServicePath) -> io::Result<()> {
        let parent = self.parent(path)?;
        parent.create_dir(path.name())?;
        if path.names().count() <= HELD_DEPTH {
            let made = entered(&parent, path.name())?;
            if made.entries()?.next().is_some() {
                let message = "another directory is in the place of the one that was made";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
            }
            MADE.lock().get_or_insert_default().insert(self.place(Some(path)), Arc::new(made));
        }
        Ok(())
    }

    pub fn remove_file(&self, path: &ServicePath) -> io::Result<()> {
        self.parent(path)?.remove_file(path.name())
    }

    pub fn rename(&self, from: &ServicePath, to: &ServicePath) -> io::Result<()> {
        self.parent(from)?.rename(from.name(), &*self.parent(to)?, to.name())
    }

    pub fn remove_directory(&self, path: &ServicePath) -> io::Result<()> {
        let removed = self.parent(path)?.remove_dir(path.name());
        let is_missing =
            removed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if removed.is_ok() || is_missing {
            if let Some(made) = &mut *MADE.lock() {
                made.remove(&self.place(Some(path)));
            }
            *self.last.lock() = None;
        }
        removed.map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory => {
                io::Error::new(io::ErrorKind::AlreadyExists, "something else is in its place")
            }
            _ => error,
        })
    }

    fn parent(&self, path: &ServicePath) -> io::Result<Arc<Dir>> {
        match Path::new(path.as_str()).parent() {
            Some(parent) if !parent.as_os_str().is_empty() => self.directory(parent),
            _ => Ok(Arc::clone(&self.directory)),
        }
    }

    fn directory(&self, path: &Path) -> io::Result<Arc<Dir>> {
        if let Some((last, directory)) = &*self.last.lock()
            && last == path
        {
            return Ok(Arc::clone(directory));
        }
        let mut directory = Arc::clone(&self.directory);
        let mut place = self.base.clone();
        for name in path {
            place.push(name);
            let held = MADE.lock().as_ref().and_then(|made| made.get(&place).cloned());
            directory = match held {
                Some(held) => held,
                None => Arc::new(entered(&directory, Path::new(name))?),
            };
        }
        *self.last.lock() = Some((path.to_owned(), Arc::clone(&directory)));
        Ok(directory)
    }
}

/// Open the entry of a directory without waiting for a FIFO that another program may have put
/// there.
fn opened(directory: &Dir, name: &str, options: &OpenOptions) -> io::Result<File> {
    let mut waited = Duration::ZERO;
    loop {
        match beneath::open_without_following(directory, Path::new(name), options) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && waited < LEASE_WITHIN => {
                std::thread::sleep(LEASE_LOOK);
                waited += LEASE_LOOK;
            }
            Err(error) => return Err(named(directory, Path::new(name), error)),
            Ok(file) => return Ok(file),
        }
    }
}

fn entered(directory: &Dir, name: impl AsRef<Path>) -> io::Result<Dir> {
    let name = name.as_ref();
    beneath::pass_without_following(directory, name).map_err(|error| named(directory, name, error))
}

/// The error, but always the same one for a link, as systems report links in many ways.
fn named(directory: &Dir, name: &Path, error: io::Error) -> io::Error {
    let is_link = || directory.symlink_metadata(name).is_ok_and(|found| found.is_symlink());
    if error.kind() != io::ErrorKind::AlreadyExists && is_link() {
        let message = format!("`{}` is a symbolic link, which is not followed", name.display());
        return io::Error::new(io::ErrorKind::NotADirectory, message);
    }
    error
}

fn names(facts: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(facts)
}

#[cfg(test)]
mod tests;
