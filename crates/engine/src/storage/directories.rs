//! Directories for trials on this host, on disk or in memory, private to this user.
//!
//! The engine holds a lock file next to each directory while it runs. An unlocked file belongs to a dead engine,
//! and the next trial of the same user removes its directory.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, io};

use lanlab_os as os;
use parking_lot::Mutex;

use crate::messages::{Failure, Medium};
use crate::paths::of_file;

const SHARED_MEMORY: &str = "/dev/shm";
/// A directory on disk for every user; `/tmp` may be in memory, this is not (hier(7)).
const DISK_FOR_ALL: &str = "/var/tmp";
const PREFIX: &str = "lanlab-copy-";
const LOCK: &str = "lock";
/// Until a lock is this old, its owner may not have made the directory yet.
const ABOUT_TO_BE_MADE: Duration = Duration::from_mins(1);
const HINT: &str = "name another place by LANLAB_CACHE";

/// Locks held by this process: some file systems let a process lock its own locked file again.
static OWN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static IN_MEMORY: Mutex<Option<Directory>> = Mutex::new(None);

struct Places {
    disk: PathBuf,
    memory: PathBuf,
    disk_for_all: PathBuf,
    memory_for_all: PathBuf,
}

impl Places {
    fn of_this_user() -> Result<Self, Failure> {
        let usual = || {
            let below = |home: PathBuf| home.join(".cache");
            let cache = env::var_os("XDG_CACHE_HOME").filter(|set| !set.is_empty());
            cache.map(PathBuf::from).or_else(|| env::home_dir().map(below))
        };
        let chosen = env::var_os("LANLAB_CACHE").filter(|set| !set.is_empty()).map(PathBuf::from);
        let disk =
            chosen.or_else(|| usual().map(|cache| cache.join("lanlab"))).ok_or_else(|| {
                Failure::new("system.file", "this user has no home directory to keep files in")
                    .hint(HINT)
            })?;
        let disk = std::path::absolute(&disk).map_err(|error| of_file("find", &disk, &error))?;
        let for_all = Path::new(DISK_FOR_ALL);
        Ok(Self {
            disk,
            memory: Path::new(SHARED_MEMORY).join(format!("lanlab-{}", user_number())),
            disk_for_all: if for_all.is_dir() { for_all.to_owned() } else { env::temp_dir() },
            memory_for_all: SHARED_MEMORY.into(),
        })
    }

    /// The directory of a medium, private to its owner.
    fn own(&self, medium: Medium) -> Result<&Path, Failure> {
        let found = match medium {
            Medium::Disk => &self.disk,
            Medium::Tmpfs => &self.memory,
        };
        if medium == Medium::Tmpfs && !self.memory_for_all.is_dir() {
            let message = format!("no files in memory: {SHARED_MEMORY} does not exist");
            return Err(Failure::new("system.file", message).hint("use medium `disk` or `memory`"));
        }
        let failed = |error: io::Error| of_file("make directory", found, &error).hint(HINT);
        if let Some(parent) = found.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        match for_owner().create(found) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ => {}
        }
        // Everyone may write to /dev/shm, so another user may have created the name first.
        let facts = fs::symlink_metadata(found).map_err(failed)?;
        if !facts.is_dir() || !os::is_own(&facts) {
            let message = format!("{} belongs to another user", found.display());
            return Err(Failure::new("system.permission", message).hint(HINT));
        }
        Ok(found)
    }

    fn make(&self, medium: Medium, for_server: bool) -> Result<Directory, Failure> {
        let own = self.own(medium)?;
        let parent = match medium {
            _ if !for_server => own,
            Medium::Disk => &self.disk_for_all,
            Medium::Tmpfs => &self.memory_for_all,
        };
        Directory::make(parent)
    }

    fn remove_left(&self) {
        for parent in [&self.disk, &self.memory, &self.disk_for_all, &self.memory_for_all] {
            remove_left_in(parent);
        }
    }
}

/// This user's ID outside any user namespace: within one, several users of the system share an ID.
fn user_number() -> u32 {
    let user = os::user_and_group().0;
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    mapped(user, &map).unwrap_or(user)
}

/// A user's ID in the parent namespace, by the map of this one (`user_namespaces(7)`).
fn mapped(user: u32, map: &str) -> Option<u32> {
    map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map_while(|number| number.parse::<u32>().ok());
        let (inside, outside, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        let number = user.checked_sub(inside).filter(|number| *number < count)?;
        outside.checked_add(number)
    })
}

fn for_owner() -> DirBuilder {
    let mut builder = DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// A directory of this engine, until it is removed or dropped.
pub struct Directory {
    path: PathBuf,
    lock: PathBuf,
    _file: File,
}

impl Directory {
    fn make(parent: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| of_file("make a directory in", parent, &error);
        let number = getrandom::u64().map_err(|error| failed(io::Error::other(error)))?;
        // 48 random bits as twelve digits.
        let path = parent.join(format!("{PREFIX}{:012x}", number >> 16));
        let lock = path.with_extension(LOCK);
        // The lock comes first, so that no directory exists without one.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        OWN.lock().insert(lock.clone());
        let file = options.open(&lock).map_err(|error| {
            OWN.lock().remove(&lock);
            failed(error)
        })?;
        // Another engine testing the lock holds it for a moment. On a file system without locks, no test succeeds,
        // so nothing is removed as left over.
        let _ = file.lock();
        let made = Self { path, lock, _file: file };
        for_owner().create(&made.path).map_err(failed)?;
        Ok(made)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Remove the directory with its contents. Returns whether everything is gone.
    pub fn remove(self) -> bool {
        let path = self.path.clone();
        drop(self);
        !path.exists()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        remove_with(&self.lock);
        OWN.lock().remove(&self.lock);
    }
}

/// Remove the directory of a lock, and then the lock. Files written by a server that has not ended yet are removed
/// by the next trial.
fn remove_with(lock: &Path) {
    let made = lock.with_extension("");
    let _ = fs::remove_dir_all(&made);
    if !made.exists() {
        let _ = fs::remove_file(lock);
    }
}

fn remove_left_in(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let lock = entry.path();
        let name = entry.file_name();
        let is_lock = name.to_str().is_some_and(|name| name.starts_with(PREFIX))
            && lock.extension().is_some_and(|extension| extension == LOCK);
        if !is_lock || OWN.lock().contains(&lock) {
            continue;
        }
        let Ok(Some(file)) = os::open_own_file(&lock) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        let age = file.metadata().and_then(|facts| facts.modified()).ok();
        let age = age.and_then(|modified| modified.elapsed().ok());
        if lock.with_extension("").exists() || age.is_some_and(|age| age > ABOUT_TO_BE_MADE) {
            remove_with(&lock);
        }
    }
}

/// Make a directory for a trial.
pub fn make(medium: Medium, for_server: bool) -> Result<Directory, Failure> {
    Places::of_this_user()?.make(medium, for_server)
}

pub fn remove_left() {
    if let Ok(places) = Places::of_this_user() {
        places.remove_left();
    }
}

/// Directory for datasets of a medium: kept between runs on disk, and until this engine ends in memory.
pub fn for_datasets(medium: Medium) -> Result<PathBuf, Failure> {
    let places = Places::of_this_user()?;
    if medium == Medium::Disk {
        return places.own(medium).map(|own| own.join("datasets"));
    }
    let mut kept = IN_MEMORY.lock();
    if let Some(directory) = &*kept {
        return Ok(directory.path().to_owned());
    }
    let made = places.make(medium, false)?;
    let path = made.path().to_owned();
    *kept = Some(made);
    Ok(path)
}

pub fn remove_all() {
    for lock in OWN.lock().iter() {
        remove_with(lock);
    }
}

#[cfg(test)]
mod tests;
