//! Directories that trials need on this host, on disk or in memory, for this user alone.
//!
//! Beside each lies a file that is locked for as long as the engine lives that made it: one whose lock
//! can be had belongs to an engine that is gone, however it ended, and its directory is removed by the
//! next trial of the same user.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use std::{env, io};

use lanlab_os as os;

use crate::messages::{Failure, Medium};
use crate::paths::of_file;

/// Where Linux keeps files in memory.
const SHARED_MEMORY: &str = "/dev/shm";
/// A directory on disk that every user can reach. Where `/tmp` is in memory, this is not (hier(7)).
const DISK_FOR_ALL: &str = "/var/tmp";
const PREFIX: &str = "lanlab-copy-";
const LOCK: &str = "lock";
/// A lock without its directory may belong to one that is about to be made.
const ABOUT_TO_BE_MADE: Duration = Duration::from_mins(1);
const HINT: &str = "name another place by LANLAB_CACHE";

/// Locks of this process: not every file system refuses a process what it has locked itself.
static OWN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
/// Where datasets in memory are kept until this engine ends.
static IN_MEMORY: Mutex<Option<Directory>> = Mutex::new(None);

/// Where directories are made.
struct Places {
    disk: PathBuf,
    memory: PathBuf,
    disk_for_all: PathBuf,
    memory_for_all: PathBuf,
}

impl Places {
    /// Those of this user on this host.
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

    /// The directory of a medium into which only its owner may look.
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
        // Everyone may write to /dev/shm: somebody may have been there first.
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

/// This user's number outside of a user namespace: in one, several users of the system have the same.
fn user_number() -> u32 {
    let user = os::user_and_group().map_or(0, |(user, _)| user);
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    mapped(user, &map).unwrap_or(user)
}

/// A user's number in the namespace above, by this one's map (`user_namespaces(7)`).
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
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// A directory of this engine, until it is removed or dropped.
pub struct Directory {
    path: PathBuf,
    lock: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Directory {
    fn make(parent: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| of_file("make a directory in", parent, &error);
        let number = getrandom::u64().map_err(|error| failed(io::Error::other(error)))?;
        // 48 bits of it, as twelve digits.
        let path = parent.join(format!("{PREFIX}{:012x}", number >> 16));
        let lock = path.with_extension(LOCK);
        // Before the directory, so that there is never one without.
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        own().insert(lock.clone());
        let file = options.open(&lock).map_err(|error| {
            own().remove(&lock);
            failed(error)
        })?;
        // Whoever looks whether it is held has it for a moment. Where there are no locks nobody gets one,
        // and nothing is taken for an orphan's.
        let _ = file.lock();
        let made = Self { path, lock, _file: file };
        for_owner().create(&made.path).map_err(failed)?;
        Ok(made)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Remove it with all that is in it. Gives whether all of it is gone.
    pub fn remove(self) -> bool {
        let path = self.path.clone();
        drop(self);
        !path.exists()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What a server that has not yet ended still writes, the next trial removes.
        let _ = fs::remove_dir_all(&self.path);
        forget(&self.lock, &self.path);
        own().remove(&self.lock);
    }
}

fn own() -> std::sync::MutexGuard<'static, BTreeSet<PathBuf>> {
    OWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_memory() -> std::sync::MutexGuard<'static, Option<Directory>> {
    IN_MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The lock goes once its directory is gone.
fn forget(lock: &Path, made: &Path) {
    if !made.exists() {
        let _ = fs::remove_file(lock);
    }
}

fn remove_left_in(parent: &Path) {
    // What is open cannot be removed on Windows: locks are let go first.
    let mut left = HashMap::new();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let lock = entry.path();
        let name = entry.file_name();
        let is_lock = name.to_str().is_some_and(|name| name.starts_with(PREFIX))
            && lock.extension().is_some_and(|extension| extension == LOCK);
        if !is_lock || own().contains(&lock) {
            continue;
        }
        let Ok(Some(file)) = os::open_own_file(&lock) else { continue };
        if file.try_lock().is_err() {
            continue;
        }
        let made = lock.with_extension("");
        let age = file.metadata().and_then(|facts| facts.modified()).ok();
        let age = age.and_then(|modified| modified.elapsed().ok());
        if made.exists() || age.is_some_and(|age| age > ABOUT_TO_BE_MADE) {
            let _ = fs::remove_dir_all(&made);
            left.insert(lock, made);
        }
    }
    for (lock, made) in left {
        forget(&lock, &made);
    }
}

/// Make a directory for a trial.
///
/// # Errors
/// It cannot be made, there is no file system in memory, or its place belongs to another user.
pub fn make(medium: Medium, for_server: bool) -> Result<Directory, Failure> {
    Places::of_this_user()?.make(medium, for_server)
}

/// Remove the directories of this user's engines that were killed.
pub fn remove_left() {
    if let Ok(places) = Places::of_this_user() {
        places.remove_left();
    }
}

/// Where datasets of a medium lie: on disk from run to run, in memory until this engine ends.
///
/// # Errors
/// As `make`.
pub fn for_datasets(medium: Medium) -> Result<PathBuf, Failure> {
    let places = Places::of_this_user()?;
    if medium == Medium::Disk {
        return places.own(medium).map(|own| own.join("datasets"));
    }
    let mut kept = in_memory();
    if let Some(directory) = &*kept {
        return Ok(directory.path().to_owned());
    }
    let made = places.make(medium, false)?;
    let path = made.path().to_owned();
    *kept = Some(made);
    Ok(path)
}

/// Remove every directory of this engine, as it ends.
pub fn remove_all() {
    for lock in own().iter() {
        let made = lock.with_extension("");
        let _ = fs::remove_dir_all(&made);
        forget(lock, &made);
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn places(folder: &TempDir) -> Places {
        let for_all = folder.path().join("for all");
        fs::create_dir(&for_all).unwrap();
        Places {
            disk: folder.path().join("cache/lanlab"),
            memory: for_all.join("lanlab-0"),
            disk_for_all: for_all.clone(),
            memory_for_all: for_all,
        }
    }

    /// What a killed engine leaves: a lock that nobody holds, and its directory with files.
    fn left_behind(parent: &Path, number: &str) -> (PathBuf, PathBuf) {
        let made = parent.join(format!("{PREFIX}{number}"));
        fs::create_dir_all(made.join("files")).unwrap();
        fs::write(made.join("files/f1"), b"octets").unwrap();
        let lock = made.with_extension(LOCK);
        File::create(&lock).unwrap();
        (made, lock)
    }

    #[test]
    fn a_directory_is_its_owners_and_goes_with_all_that_is_in_it() {
        let folder = TempDir::new().unwrap();
        let places = places(&folder);
        for (medium, for_server) in
            [(Medium::Disk, false), (Medium::Disk, true), (Medium::Tmpfs, true)]
        {
            let made = places.make(medium, for_server).unwrap();
            let (path, lock) = (made.path().to_owned(), made.lock.clone());
            assert_eq!(path.starts_with(&places.disk), medium == Medium::Disk && !for_server);
            #[cfg(unix)]
            {
                let facts = fs::metadata(&path).unwrap();
                assert_eq!(
                    std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o777,
                    0o700
                );
            }
            fs::create_dir(path.join("d")).unwrap();
            fs::write(path.join("d/f"), b"octets").unwrap();
            // In use: neither this engine nor another takes it for left.
            places.remove_left();
            assert!(path.join("d/f").is_file() && lock.is_file());
            assert!(made.remove());
            assert!(!path.exists() && !lock.exists());
        }
    }

    #[test]
    fn only_what_nobody_holds_is_taken_for_left() {
        let folder = TempDir::new().unwrap();
        let places = places(&folder);
        let parent = places.disk_for_all.clone();
        let (made, lock) = left_behind(&parent, "0123456789ab");
        let (held, held_lock) = left_behind(&parent, "112233445566");
        let holder = File::open(&held_lock).unwrap();
        holder.lock().unwrap();
        let without_lock = parent.join(format!("{PREFIX}ffffffffffff"));
        fs::create_dir(&without_lock).unwrap();

        places.remove_left();

        assert!(!made.exists() && !lock.exists());
        assert!(held.join("files/f1").is_file() && held_lock.is_file());
        assert!(without_lock.is_dir());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_of_one_name_is_no_lock_of_ours() {
        let folder = TempDir::new().unwrap();
        let places = places(&folder);
        let other = folder.path().join("other");
        File::create(&other).unwrap();
        let (by_link, link) = left_behind(&places.disk_for_all, "000000000001");
        let (by_hard_link, hard_link) = left_behind(&places.disk_for_all, "000000000002");
        let (by_socket, socket) = left_behind(&places.disk_for_all, "000000000003");
        for lock in [&link, &hard_link, &socket] {
            fs::remove_file(lock).unwrap();
        }
        std::os::unix::fs::symlink(&other, &link).unwrap();
        fs::hard_link(&other, &hard_link).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();

        places.remove_left();

        for made in [by_link, by_hard_link, by_socket] {
            assert!(made.join("files/f1").is_file(), "{}", made.display());
        }
    }

    #[test]
    fn a_lock_without_its_directory_is_left_for_a_minute() {
        let folder = TempDir::new().unwrap();
        let places = places(&folder);
        let lock = places.disk_for_all.join(format!("{PREFIX}0123456789ab.{LOCK}"));
        let file = File::create(&lock).unwrap();
        places.remove_left();
        assert!(lock.exists());

        let long_ago = std::time::SystemTime::now() - ABOUT_TO_BE_MADE - Duration::from_secs(1);
        file.set_modified(long_ago).unwrap();
        drop(file);
        places.remove_left();
        assert!(!lock.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_place_that_leads_elsewhere_is_refused() {
        let folder = TempDir::new().unwrap();
        let places = places(&folder);
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &places.memory).unwrap();
        let refused = places.make(Medium::Tmpfs, false).err().unwrap();
        assert_eq!(refused.code, "system.permission", "{refused}");
        assert!(fs::read_dir(&elsewhere).unwrap().next().is_none());
    }

    #[test]
    fn users_of_namespaces_are_told_apart() {
        assert_eq!(mapped(0, "         0          0 4294967295\n"), Some(0));
        assert_eq!(mapped(0, "0 65534 1\n"), Some(65534));
        assert_eq!(mapped(7, "0 65534 1\n5 100 10\n"), Some(102));
        assert_eq!(mapped(1, "0 65534 1\n"), None);
        assert_eq!(mapped(1, "no map"), None);
    }
}
