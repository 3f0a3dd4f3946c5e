//! Entry numbers of files and directories for name-space clients. All sessions share them, so a number means the
//! same entry to everyone, even after a rename.

use std::collections::BTreeMap;

use crate::files::Names;

pub const ROOT: u32 = 0;
/// Maximum entries known. When exceeded, all are dropped: clients with an old number get an invalid-path error, and
/// look it up again.
const MOST: usize = 1 << 17;

#[derive(Debug, Default)]
pub struct EntryNumbers {
    entries: BTreeMap<u32, (u32, String)>,
    numbers: BTreeMap<(u32, String), u32>,
    last: u32,
}

impl EntryNumbers {
    pub fn number(&mut self, path: &[String]) -> u32 {
        if self.entries.len() + path.len() > MOST || self.last >= u32::MAX - MOST as u32 {
            *self = Self { last: self.last % (u32::MAX - MOST as u32), ..Self::default() };
        }
        let mut number = ROOT;
        for name in path {
            let place = (number, name.to_uppercase());
            number = self.numbers.get(&place).copied().unwrap_or_else(|| {
                self.last += 1;
                self.put(self.last, place);
                self.last
            });
        }
        number
    }

    fn put(&mut self, number: u32, place: (u32, String)) {
        self.entries.insert(number, place.clone());
        self.numbers.insert(place, number);
    }

    pub fn path(&self, mut number: u32) -> Option<Names> {
        let mut path = Names::new();
        while number != ROOT {
            let (parent, name) = self.entries.get(&number)?;
            path.push(name.clone());
            number = *parent;
        }
        path.reverse();
        Some(path)
    }

    /// Drop the entry at a path: a new entry with this name gets a new number.
    pub fn removed(&mut self, path: &[String]) -> u32 {
        let number = self.number(path);
        if let Some(place) = self.entries.remove(&number) {
            self.numbers.remove(&place);
        }
        number
    }

    /// Record that the entry at a path was moved, with everything below it.
    pub fn renamed(&mut self, from: &[String], to: &[String]) {
        let Some((name, parent)) = to.split_last() else { return };
        let number = self.removed(from);
        self.removed(to);
        let parent = self.number(parent);
        self.put(number, (parent, name.to_uppercase()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Names {
        text.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn entry_numbers_survive_renames_and_new_entries_get_new_ones() {
        let mut numbers = EntryNumbers::default();
        let file = numbers.number(&path("d/A.TXT"));
        assert_eq!(numbers.number(&path("D/a.txt")), file);
        assert_eq!(numbers.path(file), Some(path("D/A.TXT")));
        let directory = numbers.number(&path("D"));
        numbers.renamed(&path("D"), &path("E"));
        assert_eq!(numbers.path(file), Some(path("E/A.TXT")));
        assert_eq!(numbers.number(&path("E")), directory);
        numbers.removed(&path("E/A.TXT"));
        assert_eq!(numbers.path(file), None);
        assert_ne!(numbers.number(&path("E/A.TXT")), file);
        assert_eq!((numbers.number(&[]), numbers.path(ROOT)), (ROOT, Some(Names::new())));
    }

    #[test]
    fn entry_numbers_are_bounded() {
        let mut numbers = EntryNumbers::default();
        let first = numbers.number(&path("0"));
        for index in 1..MOST + 10 {
            numbers.number(&path(&index.to_string()));
        }
        assert!(numbers.entries.len() <= MOST && numbers.numbers.len() <= MOST);
        assert_eq!(numbers.path(first), None);
    }
}
