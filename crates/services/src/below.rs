//! Files below a directory of this host, reached from a handle of it that is opened once.
//!
//! Every name on the way is looked up in the handle of the directory before it, and none is followed
//! if it is a link: whatever somebody puts in the place of a file or directory meanwhile, nothing
//! beside the directory is read, written or removed. The directories of a trial that were made here
//! are held open until they are removed, so that another in their place is not taken for them.
//! `cap-std` makes the calls.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

use crate::path::ServicePath;
use crate::session::Access;

/// Somebody who has a lease on a file (fcntl(2)) gives it back when another opens the file, within
/// this time.
const LEASE_WITHIN: Duration = Duration::from_secs(5);
const LEASE_LOOK: Duration = Duration::from_millis(10);

/// Of the directories that are made, those with no more names are held open: that of a trial, and the
/// one in it that all its files are in or below.
const HELD_DEPTH: usize = 2;

/// The directories that were made here and not yet removed.
static MADE: Mutex<Option<HashMap<PathBuf, Arc<Dir>>>> = Mutex::new(None);
/// The handles that are open, by what they were opened for.
static OPEN: Mutex<Option<HashMap<PathBuf, Weak<Below>>>> = Mutex::new(None);

/// A directory of this host, held open.
#[derive(Debug)]
pub struct Below {
    /// Where it was when it was opened.
    base: PathBuf,
    directory: Arc<Dir>,
    /// The directory in which something was done last: as a rule that of the next file.
    last: Mutex<Option<(PathBuf, Arc<Dir>)>>,
}

/// Something in a directory. What a link leads to is not looked at.
#[derive(Debug)]
pub struct Found {
    /// Its last name.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
    /// Octets of a file.
    pub bytes: u64,
    /// When it was changed last.
    pub modified: Option<SystemTime>,
}

/// What can be in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, FIFO or socket.
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

impl Below {
    /// Open a directory. Links on the way to it are its user's own.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(base: &Path) -> io::Result<Self> {
        let directory = Arc::new(Dir::open_ambient_dir(base, ambient_authority())?);
        Ok(Self { base: base.to_owned(), directory, last: Mutex::new(None) })
    }

    /// The same, with one handle for all who have it at once.
    ///
    /// # Errors
    /// What the system says.
    pub fn shared(base: &Path) -> io::Result<Arc<Self>> {
        let mut open = locked(&OPEN);
        let open = open.get_or_insert_default();
        if let Some(there) = open.get(base).and_then(Weak::upgrade) {
            return Ok(there);
        }
        open.retain(|_, handle| handle.strong_count() > 0);
        let opened = Arc::new(Self::open(base)?);
        open.insert(base.to_owned(), Arc::downgrade(&opened));
        Ok(opened)
    }

    /// Where something is, for messages.
    pub fn place(&self, path: Option<&ServicePath>) -> PathBuf {
        path.map_or_else(|| self.base.clone(), |path| self.base.join(path.as_str()))
    }

    /// Open a regular file. One that is written to has no other name, by which it could be
    /// somebody's.
    ///
    /// # Errors
    /// What the system says, or it is something else.
    pub fn file(&self, path: &ServicePath, access: Access) -> io::Result<File> {
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Create { .. } => options.write(true).create_new(true),
            // It is cut when it is seen to be ours.
            Access::Replace { .. } => options.write(true).create(true),
            Access::Update => options.read(true).write(true),
        };
        let file = opened(&*self.parent(path)?, path.name(), &mut options)?;
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

    /// What is in a place.
    ///
    /// # Errors
    /// What the system says.
    pub fn look(&self, path: &ServicePath) -> io::Result<Found> {
        let facts = self.parent(path)?.symlink_metadata(path.name())?;
        Ok(Found::new(path.name().into(), &facts))
    }

    /// What is in a directory (`None`: the one that is held open), in no order.
    ///
    /// # Errors
    /// What the system says.
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
                // Removed since it was listed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => Some(Err(error)),
            }
        }))
    }

    /// Make a directory, which is refused if something is there.
    ///
    /// # Errors
    /// What the system says.
    pub fn make_directory(&self, path: &ServicePath) -> io::Result<()> {
        let parent = self.parent(path)?;
        parent.create_dir(path.name())?;
        if path.names().count() <= HELD_DEPTH {
            let made = entered(&parent, path.name())?;
            if made.entries()?.next().is_some() {
                let message = "another directory is in the place of the one that was made";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
            }
            locked(&MADE).get_or_insert_default().insert(self.place(Some(path)), Arc::new(made));
        }
        Ok(())
    }

    /// Remove a file, or a link in its place.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_file(&self, path: &ServicePath) -> io::Result<()> {
        self.parent(path)?.remove_file(path.name())
    }

    /// Remove a directory that is empty.
    ///
    /// # Errors
    /// What the system says.
    pub fn remove_directory(&self, path: &ServicePath) -> io::Result<()> {
        let removed = self.parent(path)?.remove_dir(path.name());
        let is_missing =
            removed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if removed.is_ok() || is_missing {
            if let Some(made) = &mut *locked(&MADE) {
                made.remove(&self.place(Some(path)));
            }
            *locked(&self.last) = None;
        }
        removed.map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory => {
                io::Error::new(io::ErrorKind::AlreadyExists, "something else is in its place")
            }
            _ => error,
        })
    }

    /// The directory in which something is.
    fn parent(&self, path: &ServicePath) -> io::Result<Arc<Dir>> {
        match Path::new(path.as_str()).parent() {
            Some(parent) if !parent.as_os_str().is_empty() => self.directory(parent),
            _ => Ok(Arc::clone(&self.directory)),
        }
    }

    /// A directory by its names.
    fn directory(&self, path: &Path) -> io::Result<Arc<Dir>> {
        if let Some((last, directory)) = &*locked(&self.last)
            && last == path
        {
            return Ok(Arc::clone(directory));
        }
        let mut directory = Arc::clone(&self.directory);
        let mut place = self.base.clone();
        for name in path {
            place.push(name);
            let held = locked(&MADE).as_ref().and_then(|made| made.get(&place).cloned());
            directory = match held {
                Some(held) => held,
                None => Arc::new(entered(&directory, Path::new(name))?),
            };
        }
        *locked(&self.last) = Some((path.to_owned(), Arc::clone(&directory)));
        Ok(directory)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Open what one name of a directory stands for; a FIFO that somebody has put there is not waited for.
fn opened(directory: &Dir, name: &str, options: &mut OpenOptions) -> io::Result<File> {
    without_following(directory, Path::new(name), options)?;
    let mut waited = Duration::ZERO;
    loop {
        match directory.open_with(name, options) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && waited < LEASE_WITHIN => {
                std::thread::sleep(LEASE_LOOK);
                waited += LEASE_LOOK;
            }
            Err(error) => return Err(named(directory, Path::new(name), error)),
            Ok(file) => return Ok(file.into_std()),
        }
    }
}

/// Open a directory by its one name.
fn entered(directory: &Dir, name: impl AsRef<Path>) -> io::Result<Dir> {
    let mut options = OpenOptions::new();
    options.read(true);
    let name = name.as_ref();
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt;
        // Where it can be, without the right to list it, which one that is only passed need not give.
        #[cfg(target_os = "linux")]
        const PASSED: i32 = libc::O_PATH;
        #[cfg(not(target_os = "linux"))]
        const PASSED: i32 = 0;
        options.custom_flags(libc::O_NOFOLLOW | libc::O_DIRECTORY | PASSED);
        match directory.open_with(name, &options) {
            Ok(opened) => Ok(Dir::from_std_file(opened.into_std())),
            Err(error) => Err(named(directory, name, error)),
        }
    }
    #[cfg(not(unix))]
    {
        without_following(directory, name, &mut options)?;
        directory.open_dir(name)
    }
}

/// An error, or in its place that there is a link, which systems say in many ways.
fn named(directory: &Dir, name: &Path, error: io::Error) -> io::Error {
    let is_link = || directory.symlink_metadata(name).is_ok_and(|found| found.is_symlink());
    if error.kind() != io::ErrorKind::AlreadyExists && is_link() {
        let message = format!("`{}` is a symbolic link, which is not followed", name.display());
        return io::Error::new(io::ErrorKind::NotADirectory, message);
    }
    error
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it has to look")]
fn without_following(_: &Dir, _: &Path, options: &mut OpenOptions) -> io::Result<()> {
    use cap_std::fs::OpenOptionsExt;
    options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
    Ok(())
}

#[cfg(not(unix))]
fn without_following(directory: &Dir, name: &Path, _: &mut OpenOptions) -> io::Result<()> {
    match directory.symlink_metadata(name) {
        Ok(found) if found.is_symlink() => {
            let message = "a symbolic link, which is not followed";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// How many names a file has.
#[cfg(unix)]
fn names(facts: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(facts)
}

#[cfg(not(unix))]
fn names(_: &std::fs::Metadata) -> u64 {
    1
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn path(text: &str) -> ServicePath {
        ServicePath::new(text).expect("a path")
    }

    const NEW: Access = Access::Create { size_bytes: 1 };

    /// A directory with another beside it that must stay as it is, and what is in that.
    fn with_neighbour() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let place = tempfile::TempDir::new().expect("a directory");
        let (base, other) = (place.path().join("base"), place.path().join("other"));
        fs::create_dir_all(base.join("mine/files")).expect("directories");
        fs::create_dir(&other).expect("a directory");
        fs::write(other.join("file"), "precious").expect("a file");
        (place, base, other)
    }

    fn is_untouched(other: &Path) -> bool {
        let names = fs::read_dir(other).expect("a directory").count();
        names == 1 && fs::read(other.join("file")).expect("a file") == b"precious"
    }

    #[test]
    fn no_link_on_the_way_is_followed() {
        let (_place, base, other) = with_neighbour();
        fs::remove_dir(base.join("mine/files")).expect("removed");
        // One that stays in the base is none of ours either.
        fs::create_dir(base.join("yours")).expect("a directory");
        fs::write(base.join("yours/file"), "precious").expect("a file");
        for leads_to in [other.as_path(), Path::new("../yours"), &base.join("yours")] {
            symlink(leads_to, base.join("mine/files")).expect("a link");
            let below = Below::open(&base).expect("opened");
            for access in [Access::Read, NEW, Access::Replace { size_bytes: 1 }, Access::Update] {
                for file in ["mine/files/file", "mine/files/new"] {
                    let error = below.file(&path(file), access).expect_err("refused");
                    assert!(error.to_string().contains("`files` is a symbolic link"), "{error}");
                }
            }
            assert!(below.remove_file(&path("mine/files/file")).is_err());
            assert!(below.make_directory(&path("mine/files/new")).is_err());
            assert!(below.remove_directory(&path("mine/files")).is_err());
            assert!(below.list(Some(&path("mine/files"))).is_err());
            assert!(below.look(&path("mine/files/file")).is_err());
            fs::remove_file(base.join("mine/files")).expect("removed");
        }
        assert!(is_untouched(&other) && is_untouched(&base.join("yours")));
    }

    #[test]
    fn a_file_that_was_replaced_is_not_written_to_or_waited_for() {
        let (_place, base, other) = with_neighbour();
        let below = Below::open(&base).expect("opened");
        let file = path("mine/files/file");
        let there = base.join(file.as_str());
        let put: [&dyn Fn() -> std::io::Result<()>; 3] = [
            &|| symlink(other.join("file"), &there),
            &|| fs::hard_link(other.join("file"), &there),
            &|| std::os::unix::net::UnixListener::bind(&there).map(drop),
        ];
        for put in put {
            put().expect("put there");
            for access in [NEW, Access::Replace { size_bytes: 1 }, Access::Update] {
                assert!(below.file(&file, access).is_err());
            }
            below.remove_file(&file).expect("removed");
        }
        assert!(is_untouched(&other));
    }

    #[test]
    fn what_was_made_is_not_mistaken_for_what_took_its_place() {
        let (_place, base, other) = with_neighbour();
        let (made, file) = (path("made"), path("made/file"));
        let below = Below::open(&base).expect("opened");
        below.make_directory(&made).expect("made");
        fs::rename(base.join("made"), base.join("away")).expect("renamed");
        fs::rename(&other, base.join("made")).expect("renamed");
        // In another session, too.
        for below in [below, Below::open(&base).expect("opened")] {
            drop(below.file(&file, NEW).expect("made where it was made"));
            assert!(base.join("away/file").is_file());
            below.remove_file(&file).expect("removed where it was made");
            assert!(is_untouched(&base.join("made")));
        }
    }

    #[test]
    fn files_and_directories_are_made_listed_and_removed() {
        let (_place, base, _) = with_neighbour();
        let below = Below::shared(&base).expect("opened");
        let deep = path("mine/files/a");
        below.make_directory(&deep).expect("made");
        assert_eq!(
            below.make_directory(&deep).expect_err("there").kind(),
            io::ErrorKind::AlreadyExists
        );
        let file = path("mine/files/a/file");
        crate::positioned::write_all_at(&below.file(&file, NEW).expect("made"), b"four", 0)
            .expect("written");
        let all: Vec<_> = below.list(Some(&deep)).expect("listed").map(Result::unwrap).collect();
        assert_eq!((all.len(), all[0].kind, all[0].bytes), (1, Kind::File, 4));
        assert_eq!(below.look(&file).expect("there").modified, all[0].modified);
        drop(below.file(&file, Access::Replace { size_bytes: 0 }).expect("opened"));
        assert_eq!(below.look(&file).expect("there").bytes, 0);
        assert!(below.remove_directory(&deep).is_err());
        below.remove_file(&file).expect("removed");
        below.remove_directory(&deep).expect("removed");
        assert_eq!(below.look(&deep).expect_err("gone").kind(), io::ErrorKind::NotFound);
    }
}
