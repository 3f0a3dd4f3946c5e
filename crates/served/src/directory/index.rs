//! The names of one directory, looked up in any case and by short name, and listed in order. The cost barely
//! depends on the size of the directory.
//!
//! A name that clients cannot request is listed and found only by its short name, so every listed name can be
//! opened.

use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;
use std::ops::Bound;
use std::sync::Arc;

use lanlab_stack::file_server::short_names::{MAX_NUMBER, first_of, is_own, made, own};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub name: Arc<str>,
    pub on_disk: Arc<str>,
    /// The 8.3 name; empty if there is none.
    pub short: String,
}

#[derive(Debug)]
pub struct Index {
    can_be_asked_for: fn(&str) -> bool,
    /// Names as clients see them, with the name on disk if different.
    listed: BTreeMap<Arc<str>, Option<Arc<str>>>,
    folded: BTreeSet<(u64, Arc<str>)>,
    /// Names on disk that need a generated short name, by the hash of their first candidate.
    made: BTreeSet<(u64, Arc<str>)>,
    hidden: BTreeSet<(u64, Arc<str>)>,
    hashes: RandomState,
}

impl Index {
    pub fn new(can_be_asked_for: fn(&str) -> bool) -> Self {
        Self {
            can_be_asked_for,
            listed: BTreeMap::new(),
            folded: BTreeSet::new(),
            made: BTreeSet::new(),
            hidden: BTreeSet::new(),
            hashes: RandomState::new(),
        }
    }

    /// The index of a whole directory, as by [`Self::insert`] one by one, but in a fraction of the time.
    pub fn of(can_be_asked_for: fn(&str) -> bool, names: Vec<Arc<str>>) -> Self {
        let mut index = Self::new(can_be_asked_for);
        let (names, hidden): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| can_be_asked_for(name));
        // As read, names are nearly in order on some file systems; by hash they never are.
        index.listed = names.iter().map(|name| (Arc::clone(name), None)).collect();
        let fold = |name: Arc<str>| (index.fold(&name), name);
        let mut folded: Vec<_> = names.into_iter().map(fold).collect();
        folded.sort_unstable();
        let mut made = Vec::new();
        for alike in folded.chunk_by(|one, other| one.0 == other.0) {
            for (at, (_, name)) in alike.iter().enumerate() {
                let is_first = |(_, other): &(u64, Arc<str>)| {
                    !(other.eq_ignore_ascii_case(name) && is_own(other))
                };
                if !is_own(name) || !alike[..at].iter().all(is_first) {
                    made.push((index.stem(name), Arc::clone(name)));
                }
            }
        }
        index.folded = folded.into_iter().collect();
        index.made = made.into_iter().collect();
        for name in &hidden {
            index.insert(name);
        }
        index
    }

    pub fn len(&self) -> usize {
        self.listed.len() + self.hidden.len()
    }

    pub fn insert(&mut self, on_disk: &str) {
        let name: Arc<str> = on_disk.into();
        if !(self.can_be_asked_for)(on_disk) {
            let stem = self.stem(on_disk);
            self.regroup(&[stem], |index| {
                index.made.insert((stem, Arc::clone(&name)));
                index.hidden.insert((stem, name));
            });
            return;
        }
        if matches!(self.listed.get(on_disk), Some(None)) {
            return;
        }
        let first = self.first_own(on_disk);
        let stems = self.stems(on_disk, first.as_deref());
        self.regroup(&stems, |index| {
            index.listed.insert(Arc::clone(&name), None);
            index.folded.insert((index.fold(&name), Arc::clone(&name)));
            let loser = match (is_own(&name), first) {
                (true, None) => None,
                // If two names differ only in case, the first one gets the short name.
                (true, Some(first)) if name < first => Some(first),
                _ => Some(name),
            };
            if let Some(loser) = loser {
                index.made.insert((index.stem(&loser), loser));
            }
        });
    }

    pub fn remove(&mut self, on_disk: &str) {
        let name: Arc<str> = on_disk.into();
        if !(self.can_be_asked_for)(on_disk) {
            let stem = self.stem(on_disk);
            self.regroup(&[stem], |index| {
                let entry = (stem, name);
                index.made.remove(&entry);
                index.hidden.remove(&entry);
            });
            return;
        }
        if !matches!(self.listed.get(on_disk), Some(None)) {
            return;
        }
        let fold = self.fold(on_disk);
        let entry = (fold, Arc::clone(&name));
        self.folded.remove(&entry);
        // Search only the remaining names.
        let first = self.first_own(on_disk);
        self.folded.insert(entry.clone());
        let stems = self.stems(on_disk, first.as_deref());
        self.regroup(&stems, |index| {
            index.listed.remove(&name);
            index.folded.remove(&entry);
            let had_short = !index.made.remove(&(index.stem(&name), Arc::clone(&name)));
            if had_short && let Some(first) = first {
                index.made.remove(&(index.stem(&first), first));
            }
        });
    }

    /// Resolve a client's name: exact, in another case, or short.
    pub fn find(&self, name: &str) -> Option<Known> {
        let lower = name.to_lowercase();
        // By hash alone: comparing names would fetch many of them from memory.
        let alike = self.alike(self.hashes.hash_one(&lower));
        let alike: Vec<_> = alike.filter(|other| other.to_lowercase() == lower).collect();
        if let Some(found) = alike.iter().find(|other| ****other == *name).or(alike.first()) {
            return Some(self.known(found, self.listed.get(*found)?.as_ref()));
        }
        let stem = self.hashes.hash_one(first_of(name)?);
        let (on_disk, _) =
            self.assigned(stem).into_iter().find(|(_, short)| short.eq_ignore_ascii_case(name))?;
        let (found, hidden) = self.listed.get_key_value(&*on_disk)?;
        Some(self.known(found, hidden.as_ref()))
    }

    pub fn list(&self, after: &str, most: usize) -> Vec<Known> {
        let after = (Bound::Excluded(after), Bound::Unbounded);
        let listed = self.listed.range::<str, _>(after).take(most);
        listed.map(|(name, on_disk)| self.known(name, on_disk.as_ref())).collect()
    }

    fn known(&self, name: &Arc<str>, on_disk: Option<&Arc<str>>) -> Known {
        let short = if on_disk.is_some() { name.to_string() } else { self.short(name) };
        Known { name: Arc::clone(name), on_disk: Arc::clone(on_disk.unwrap_or(name)), short }
    }

    fn short(&self, name: &str) -> String {
        let stem = self.stem(name);
        if !self.made.contains(&(stem, name.into())) {
            return own(name).unwrap_or_default();
        }
        let assigned = self.assigned(stem).into_iter().find(|(other, _)| **other == *name);
        assigned.map(|(_, short)| short).unwrap_or_default()
    }

    /// Names with the same short-name stem, in order, with their short names. Only the first few
    /// have one.
    fn assigned(&self, stem: u64) -> Vec<(Arc<str>, String)> {
        let group = group(&self.made, stem);
        let numbers = 1..=MAX_NUMBER;
        let mut assigned = Vec::new();
        let mut number = *numbers.start();
        for name in group {
            while numbers.contains(&number) && self.first_own(&made(name, number)).is_some() {
                number += 1;
            }
            if !numbers.contains(&number) {
                break;
            }
            assigned.push((Arc::clone(name), made(name, number)));
            number += 1;
        }
        assigned
    }

    /// Apply a change that affects the short names of these groups, and update the listing.
    fn regroup(&mut self, stems: &[u64], change: impl FnOnce(&mut Self)) {
        self.list_hidden(stems, |index, short, _| {
            index.listed.remove(short);
            index.folded.remove(&(index.fold(short), short.into()));
        });
        change(self);
        self.list_hidden(stems, |index, short, on_disk| {
            let short: Arc<str> = short.into();
            index.folded.insert((index.fold(&short), Arc::clone(&short)));
            index.listed.insert(short, Some(on_disk));
        });
    }

    fn list_hidden(&mut self, stems: &[u64], each: impl Fn(&mut Self, &str, Arc<str>)) {
        for stem in stems {
            if group(&self.hidden, *stem).next().is_none() {
                continue;
            }
            for (on_disk, short) in self.assigned(*stem) {
                if self.hidden.contains(&(*stem, Arc::clone(&on_disk))) {
                    each(self, &short, on_disk);
                }
            }
        }
    }

    fn stems(&self, name: &str, other: Option<&str>) -> Vec<u64> {
        if self.hidden.is_empty() {
            return Vec::new();
        }
        let mut stems = vec![self.stem(name)];
        stems.extend(other.map(|other| self.stem(other)));
        stems.extend(first_of(name).map(|first| self.hashes.hash_one(first)));
        stems.sort_unstable();
        stems.dedup();
        stems
    }

    /// The first listed name that is a valid short name and equals `name`, ignoring case.
    fn first_own(&self, name: &str) -> Option<Arc<str>> {
        let is_meant = |other: &&Arc<str>| {
            other.eq_ignore_ascii_case(name)
                && is_own(other)
                && matches!(self.listed.get(*other), Some(None))
        };
        self.alike(self.fold(name)).find(is_meant).cloned()
    }

    fn alike(&self, fold: u64) -> impl Iterator<Item = &Arc<str>> {
        group(&self.folded, fold)
    }

    fn fold(&self, name: &str) -> u64 {
        let mut lower = [0; 255];
        match lower.get_mut(..name.len()) {
            // Without memory for each name: most are ASCII.
            Some(lower) if name.is_ascii() => {
                lower.copy_from_slice(name.as_bytes());
                lower.make_ascii_lowercase();
                self.hashes.hash_one(std::str::from_utf8(lower).unwrap_or_default())
            }
            _ => self.hashes.hash_one(name.to_lowercase()),
        }
    }

    fn stem(&self, name: &str) -> u64 {
        self.hashes.hash_one(made(name, 1))
    }
}

fn group(names: &BTreeSet<(u64, Arc<str>)>, hash: u64) -> impl Iterator<Item = &Arc<str>> {
    let from = (hash, Arc::from(""));
    names.range(from..).take_while(move |(other, _)| *other == hash).map(|(_, name)| name)
}

#[cfg(test)]
mod tests;
