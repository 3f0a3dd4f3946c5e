//! Cached directory listings: a page costs the same in directories of any size.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;

use cap_std::fs::Metadata;
use lanlab_served::Unchanged;
use parking_lot::Mutex;

/// Maximum entries cached in all listings; a longer listing is not cached.
pub const MAX_KEPT: usize = 1 << 20;
/// Maximum cached listings: clients may list any number of directories once.
const MAX_LISTINGS: usize = 64;

#[derive(Debug)]
pub struct Listings<K, E>(Mutex<Kept<K, E>>);

#[derive(Debug)]
struct Kept<K, E> {
    of: HashMap<K, Listing<E>>,
    entries: usize,
}

#[derive(Debug)]
struct Listing<E> {
    unchanged: Unchanged,
    /// Whether the directory is unchanged since it was listed.
    is_current: bool,
    entries: Arc<[E]>,
}

impl<K: Eq + Hash, E: Ord> Listings<K, E> {
    pub fn new() -> Self {
        Self(Mutex::new(Kept { of: HashMap::new(), entries: 0 }))
    }

    /// Sorted entries of a directory with this metadata, cached or read. Cached ones may be older than its last
    /// change only with `may_be_old`: for later pages whose entries are looked up one by one.
    pub fn get<F>(
        &self,
        directory: K,
        metadata: &Metadata,
        may_be_old: bool,
        read: impl FnOnce() -> Result<Vec<E>, F>,
    ) -> Result<Arc<[E]>, F> {
        let mut unchanged = Unchanged::default();
        let is_current = {
            let kept = self.0.lock();
            let listing = kept.of.get(&directory);
            unchanged = listing.map_or(unchanged, |listing| listing.unchanged);
            let is_unchanged = unchanged.check(metadata, Instant::now());
            let is_good = |one: &&Listing<E>| may_be_old || is_unchanged && one.is_current;
            if let Some(listing) = listing.filter(is_good) {
                return Ok(Arc::clone(&listing.entries));
            }
            is_unchanged
        };
        let mut entries = read()?;
        entries.sort_unstable();
        let entries: Arc<[E]> = entries.into();
        let kept = Listing { unchanged, is_current, entries: Arc::clone(&entries) };
        self.0.lock().keep(directory, kept);
        Ok(entries)
    }
}

impl<K: Eq + Hash, E> Kept<K, E> {
    fn keep(&mut self, directory: K, listing: Listing<E>) {
        let size = |listing: &Listing<E>| listing.entries.len() + 1;
        if let Some(old) = self.of.remove(&directory) {
            self.entries -= size(&old);
        }
        if self.entries + size(&listing) > MAX_KEPT || self.of.len() == MAX_LISTINGS {
            self.of.clear();
            self.entries = 0;
        }
        if size(&listing) <= MAX_KEPT {
            self.entries += size(&listing);
            self.of.insert(directory, listing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listings_of_many_directories_are_not_all_kept() {
        let mut kept = Kept { of: HashMap::new(), entries: 0 };
        for directory in 0..10_000 {
            let (unchanged, entries) = (Unchanged::default(), Arc::from([1, 2, 3]));
            kept.keep(directory, Listing { unchanged, is_current: true, entries });
            assert!(kept.of.contains_key(&directory));
            assert!(kept.of.len() <= 64);
        }
    }
}
