//! A cache of names in recently used directories that is never stale.
//!
//! If the kernel reports all changes of a directory, by this server and others, they are applied
//! before each use; a report arrives before the changing call returns. Otherwise the directory's
//! time shows changes. Two changes within the file system's clock resolution look like one, so
//! names are cached only if the directory was unchanged for longer than that before it was read.
//!
//! Reading a large directory takes a second. Other requests for that directory get `WouldBlock` and try again, so
//! they hold no lock and no thread meanwhile. Few large directories are read at once.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use cap_std::fs::{Dir, MetadataExt};
use lanlab_os::{DirectoryChange, DirectoryWatch};

use super::index::Index;
use super::unchanged::Unchanged;
use crate::beneath::look;
use crate::unseen_name::is_unseen;

/// Maximum names of a directory. Larger directories are refused, as each use would read them again.
const MAX_LISTED: usize = 1 << 20;

/// Maximum names cached in all (150 bytes each), and maximum directories.
const MAX_NAMES: usize = MAX_LISTED + (1 << 18);
const MAX_DIRECTORIES: usize = 1024;

/// Time before a directory with too many names is read again.
const TOO_LONG_KEPT: Duration = Duration::from_secs(10);

/// Maximum changed names of a directory since its last use; with more, the directory is read again.
const MAX_CHANGED: usize = 4096;

/// A directory with more names is large, and is read only if fewer than this number of large ones are being read.
const MANY: usize = 1 << 14;
const LARGE_AT_ONCE: usize = 2;

/// Retries when a directory is evicted from the cache while waiting for it.
const ATTEMPTS: usize = 4;

type Identity = (u64, u64);

#[derive(Debug)]
pub struct Cache {
    can_be_asked_for: fn(&str) -> bool,
    many: usize,
    max_listed: usize,
    max_names: usize,
    max_directories: usize,
    watch: Option<DirectoryWatch>,
    places: Mutex<Places>,
    large: [Mutex<()>; LARGE_AT_ONCE],
}

#[derive(Debug, Default)]
struct Places {
    slots: HashMap<Identity, Slot>,
    watched: HashMap<i32, Identity>,
    uses: u64,
    names: usize,
    /// Freed without the lock, because freeing a large index takes a tenth of a second.
    evicted: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    names: Arc<Names>,
    count: usize,
    changed: Changed,
    watch: Watch,
    used: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watch {
    Untried,
    Refused,
    Watches(i32),
}

#[derive(Debug)]
enum Changed {
    Some(Vec<String>),
    All,
}

/// The names of a directory. Only the holder of `reading` reads the directory.
#[derive(Debug, Default)]
struct Names {
    kept: Mutex<Kept>,
    reading: Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    index: Option<Index>,
    is_large: bool,
    too_long: Option<Instant>,
    /// Used only for unwatched directories.
    unchanged: Unchanged,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Try to take a turn.
///
/// # Errors `WouldBlock` if others have it.
fn turn(mutex: &Mutex<()>) -> io::Result<MutexGuard<'_, ()>> {
    match mutex.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Ok(turn) => Ok(turn),
    }
}

impl Cache {
    pub fn new(can_be_asked_for: fn(&str) -> bool) -> Self {
        Self {
            can_be_asked_for,
            many: MANY,
            max_listed: MAX_LISTED,
            max_names: MAX_NAMES,
            max_directories: MAX_DIRECTORIES,
            watch: DirectoryWatch::new().ok(),
            places: Mutex::default(),
            large: Default::default(),
        }
    }

    /// Call `used` with a directory's current names.
    ///
    /// # Errors `WouldBlock` while others read large directories, `ArgumentListTooLong` for a directory with too many
    /// names, or a system error.
    pub fn with<R>(&self, directory: &Dir, used: impl FnOnce(&Index) -> R) -> io::Result<R> {
        let metadata = directory.dir_metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        for _ in 0..ATTEMPTS {
            let names = self.place(identity);
            let mut kept = locked(&names.kept);
            let reading = turn(&names.reading);
            if kept.index.is_none() && reading.is_err() {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let Some((is_watched, changed)) = self.changes(identity, &names, directory) else {
                continue;
            };
            let is_kept = if is_watched {
                kept.apply(directory, changed);
                kept.index.take_if(|index| index.len() > self.max_listed);
                true
            } else {
                let is_unchanged = kept.unchanged.check(&metadata, Instant::now());
                kept.index.take_if(|_| !is_unchanged);
                is_unchanged
            };
            let index = if let Some(index) = kept.index.take() {
                index
            } else {
                let _reading = reading?;
                let mut is_large = kept.is_large;
                if kept.too_long.is_some_and(|since| since.elapsed() < TOO_LONG_KEPT) {
                    return Err(io::ErrorKind::ArgumentListTooLong.into());
                }
                drop(kept);
                let read = self.read(directory, &mut is_large);
                kept = locked(&names.kept);
                kept.note(is_large, read.as_ref().err());
                read?
            };
            let result = used(&index);
            let count = index.len();
            if is_kept {
                kept.index = Some(index);
            }
            self.count(identity, &names, if is_kept { count } else { 0 });
            return Ok(result);
        }
        Ok(used(&self.read(directory, &mut false)?))
    }

    /// Read a directory, in turn with others if it is large.
    fn read(&self, directory: &Dir, is_large: &mut bool) -> io::Result<Index> {
        let in_turn = || self.large.iter().find_map(|one| turn(one).ok());
        let in_turn = || in_turn().map(Some).ok_or(io::ErrorKind::WouldBlock);
        let mut large = if *is_large { in_turn()? } else { None };
        let mut listed = Vec::new();
        for name in names(directory)? {
            if listed.len() == self.max_listed {
                let message = format!("a directory has more than {} names", self.max_listed);
                return Err(io::Error::new(io::ErrorKind::ArgumentListTooLong, message));
            }
            if listed.len() == self.many && large.is_none() {
                *is_large = true;
                large = in_turn()?;
            }
            listed.push(name?.into());
        }
        *is_large = listed.len() > self.many;
        Ok(Index::of(self.can_be_asked_for, listed))
    }

    fn with_places<R>(&self, work: impl FnOnce(&mut Places) -> R) -> R {
        let (result, _evicted) = {
            let mut places = locked(&self.places);
            (work(&mut places), std::mem::take(&mut places.evicted))
        };
        result
    }

    fn place(&self, identity: Identity) -> Arc<Names> {
        self.with_places(|places| {
            places.uses += 1;
            let used = places.uses;
            let slot = places.slots.entry(identity).or_insert_with(|| Slot {
                names: Arc::default(),
                count: 0,
                changed: Changed::All,
                watch: Watch::Untried,
                used,
            });
            slot.used = used;
            let names = Arc::clone(&slot.names);
            self.make_room(places, identity);
            names
        })
    }

    /// Whether a directory is watched, and its changes so far. `None` if it was evicted.
    fn changes(
        &self,
        identity: Identity,
        names: &Arc<Names>,
        directory: &Dir,
    ) -> Option<(bool, Changed)> {
        self.with_places(|places| {
            if let Some(watch) = &self.watch {
                let slot = places.slots.get_mut(&identity)?;
                if slot.watch == Watch::Untried {
                    slot.watch = watch.add(directory).map_or(Watch::Refused, Watch::Watches);
                    if let Watch::Watches(number) = slot.watch {
                        places.watched.insert(number, identity);
                    }
                }
                if watch.take(|change| places.note(change)).is_err() {
                    places.note(DirectoryChange::Lost);
                }
            }
            let slot = places.slots.get_mut(&identity)?;
            if !Arc::ptr_eq(&slot.names, names) {
                return None;
            }
            let changed = std::mem::replace(&mut slot.changed, Changed::Some(Vec::new()));
            Some((matches!(slot.watch, Watch::Watches(_)), changed))
        })
    }

    fn count(&self, identity: Identity, names: &Arc<Names>, count: usize) {
        self.with_places(|places| {
            let Some(slot) = places.slots.get_mut(&identity) else { return };
            if Arc::ptr_eq(&slot.names, names) {
                let before = std::mem::replace(&mut slot.count, count);
                places.names = places.names + count - before;
                self.make_room(places, identity);
            }
        });
    }

    fn make_room(&self, places: &mut Places, but: Identity) {
        while places.names > self.max_names || places.slots.len() > self.max_directories {
            let others = places.slots.iter().filter(|(identity, _)| **identity != but);
            let Some((identity, _)) = others.min_by_key(|(_, slot)| slot.used) else { return };
            let identity = *identity;
            if let Some(Watch::Watches(number)) = places.forget(identity)
                && let Some(watch) = &self.watch
            {
                watch.remove(number);
            }
        }
    }
}

impl Places {
    fn note(&mut self, change: DirectoryChange) {
        match change {
            DirectoryChange::Name { watch, name } => {
                // Names that are not UTF-8 are not served.
                let Ok(name) = name.into_string() else { return };
                let identity = self.watched.get(&watch);
                let slot = identity.and_then(|identity| self.slots.get_mut(identity));
                if let Some(Slot { changed, .. }) = slot {
                    match changed {
                        Changed::Some(names) if names.len() < MAX_CHANGED => names.push(name),
                        _ => *changed = Changed::All,
                    }
                }
            }
            DirectoryChange::Gone { watch } => {
                if let Some(identity) = self.watched.get(&watch).copied() {
                    self.forget(identity);
                }
            }
            DirectoryChange::Lost => {
                self.slots.values_mut().for_each(|slot| slot.changed = Changed::All);
            }
        }
    }

    fn forget(&mut self, identity: Identity) -> Option<Watch> {
        let slot = self.slots.remove(&identity)?;
        let watch = slot.watch;
        self.names -= slot.count;
        if let Watch::Watches(number) = watch {
            self.watched.remove(&number);
        }
        self.evicted.push(slot);
        Some(watch)
    }
}

impl Kept {
    fn note(&mut self, is_large: bool, error: Option<&io::Error>) {
        self.is_large = is_large;
        let is_too_long = |error: &io::Error| error.kind() == io::ErrorKind::ArgumentListTooLong;
        self.too_long = error.is_some_and(is_too_long).then(Instant::now);
    }

    fn apply(&mut self, directory: &Dir, changed: Changed) {
        let (Some(index), Changed::Some(names)) = (&mut self.index, changed) else {
            self.index = None;
            return;
        };
        for name in names {
            match look(directory, Path::new(&name)) {
                Ok(Some(_)) if !is_unseen(&name) => index.insert(&name),
                // The entry was replaced by something that is not served.
                Ok(_) => index.remove(&name),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    index.remove(&name);
                }
                Err(_) => {
                    self.index = None;
                    return;
                }
            }
        }
    }
}

/// Names of the files and directories in a directory, unordered. Links, devices and names that are not UTF-8 are
/// omitted.
fn names(directory: &Dir) -> io::Result<impl Iterator<Item = io::Result<String>>> {
    Ok(directory.entries()?.filter_map(|entry| {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return Some(Err(error)),
        };
        let is_served = entry.file_type().is_ok_and(|kind| kind.is_file() || kind.is_dir());
        if !is_served {
            return None;
        }
        entry.file_name().into_string().ok().filter(|name| !is_unseen(name)).map(Ok)
    }))
}

#[cfg(test)]
mod tests;
