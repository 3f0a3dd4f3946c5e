//! Listing of a bucket in S3 order: by the bytes of the keys.

use std::io::{self, ErrorKind};

use super::store::{Found, Store};
use crate::listings::MAX_KEPT;
use lanlab_served::{Confined, Entry, Names};

#[derive(Debug, Default)]
pub struct Page {
    pub objects: Vec<(String, Found)>,
    pub prefixes: Vec<String>,
    pub next: Option<String>,
}

/// At most `wanted` entries that begin with `prefix` and come after `after`.
pub fn page(
    store: &Store,
    prefix: &str,
    by_directory: bool,
    after: Option<&str>,
    wanted: usize,
) -> io::Result<Page> {
    let (after, page) = (after.unwrap_or_default(), Page::default());
    let mut walk = Walk { store, prefix, by_directory, after, wanted, page };
    let directory = prefix.rsplit_once('/').map_or("", |(directory, _)| directory);
    if wanted > 0 && (directory.is_empty() || !directory.split('/').any(str::is_empty)) {
        let at = Confined::plain_names(directory).ok();
        let is_there = |at: &Names| store.confined.metadata(at).is_ok_and(|found| found.is_dir());
        if let Some(mut at) = at.filter(is_there) {
            walk.enter(&mut at)?;
        }
    }
    Ok(walk.page)
}

struct Walk<'a> {
    store: &'a Store,
    prefix: &'a str,
    by_directory: bool,
    after: &'a str,
    wanted: usize,
    page: Page,
}

impl Walk<'_> {
    /// Add the entries of a directory, in order. Returns whether there is room for more.
    fn enter(&mut self, at: &mut Names) -> io::Result<bool> {
        let confined = &self.store.confined;
        let metadata = confined.metadata(at)?;
        let entries =
            self.store.listings.get(at.clone(), &metadata, false, || read(confined, at))?;
        let base = if at.is_empty() { String::new() } else { format!("{}/", at.join("/")) };
        let from = entries.partition_point(|entry| {
            let key = format!("{base}{entry}");
            let is_before = |bound: &str| *key < *bound && !leads_to(&key, bound);
            is_before(self.after) || is_before(self.prefix)
        });
        for entry in &entries[from..] {
            let key = format!("{base}{entry}");
            if !key.starts_with(self.prefix) && !leads_to(&key, self.prefix) {
                break;
            }
            let goes_on = if let Some(name) = entry.strip_suffix('/') {
                at.push(name.to_owned());
                let goes_on = if self.by_directory && key.len() > self.prefix.len() {
                    *key <= *self.after || !holds_any(confined, at) || self.add(key, None)
                } else {
                    gone(self.enter(at))?
                };
                at.pop();
                goes_on
            } else {
                let found = Confined::plain_names(&key).and_then(|names| confined.metadata(&names));
                match found.and_then(|metadata| Found::of(&metadata)) {
                    Ok(found) if *key > *self.after => self.add(key, Some(found)),
                    _ => true,
                }
            };
            if !goes_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn add(&mut self, key: String, found: Option<Found>) -> bool {
        if self.page.objects.len() + self.page.prefixes.len() == self.wanted {
            let last = |key: Option<&String>| key.cloned().unwrap_or_default();
            let object = last(self.page.objects.last().map(|(key, _)| key));
            self.page.next = Some(object.max(last(self.page.prefixes.last())));
            return false;
        }
        match found {
            Some(found) => self.page.objects.push((key, found)),
            None => self.page.prefixes.push(key),
        }
        true
    }
}

/// Whether `key` is a directory that contains `longer`.
fn leads_to(key: &str, longer: &str) -> bool {
    key.ends_with('/') && longer.starts_with(key)
}

fn read(confined: &Confined, at: &[String]) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in confined.entries(at)? {
        let Entry { name, is_directory, .. } = entry?;
        names.push(if is_directory { format!("{name}/") } else { name });
        if names.len() > MAX_KEPT {
            return Err(io::Error::other(format!("a directory has more than {MAX_KEPT} names")));
        }
    }
    Ok(names)
}

/// A listed directory may be gone, or replaced by a link, when it is opened.
fn gone(entered: io::Result<bool>) -> io::Result<bool> {
    match entered {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(true)
        }
        // A link: the error is ours, not a denial by the system.
        Err(error)
            if error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none() =>
        {
            Ok(true)
        }
        entered => entered,
    }
}

/// Whether a directory contains an object at any depth: S3 has no empty directories.
fn holds_any(confined: &Confined, at: &mut Names) -> bool {
    let Ok(mut entries) = confined.entries(at) else { return false };
    entries.any(|entry| {
        let Ok(Entry { name, is_directory, .. }) = entry else { return false };
        if !is_directory {
            return true;
        }
        at.push(name);
        let holds = holds_any(confined, at);
        at.pop();
        holds
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn bucket() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (directory, file) in [("", "b"), ("a", "1"), ("a", "2"), ("a/c", "3"), ("a-", "4")] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
            fs::write(root.path().join(directory).join(file), file).unwrap();
        }
        fs::create_dir(root.path().join("empty")).unwrap();
        fs::write(root.path().join(".lanlab-unseen-0"), "x").unwrap();
        root
    }

    fn all(root: &Path, prefix: &str, by_directory: bool, wanted: usize) -> Vec<Vec<String>> {
        let store = Store::new(Confined::new(root, false).unwrap());
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let page = page(&store, prefix, by_directory, after.as_deref(), wanted).unwrap();
            let objects = page.objects.into_iter().map(|(key, _)| key);
            pages.push(page.prefixes.into_iter().chain(objects).collect());
            after = page.next;
            if after.is_none() {
                return pages;
            }
        }
    }

    #[test]
    fn a_bucket_is_listed_with_or_without_a_delimiter() {
        let root = bucket();
        let root = root.path();
        assert_eq!(all(root, "", true, 9), [["a-/", "a/", "b"]]);
        assert_eq!(all(root, "", false, 9), [["a-/4", "a/1", "a/2", "a/c/3", "b"]]);
        assert_eq!(all(root, "a/", true, 9), [["a/c/", "a/1", "a/2"]]);
        assert_eq!(all(root, "a", true, 9), [["a-/", "a/"]]);
        assert_eq!(all(root, "a/c/3", true, 9), [["a/c/3"]]);
        assert!(all(root, "../", true, 9)[0].is_empty() && all(root, "no/", true, 9)[0].is_empty());
    }

    #[test]
    fn paged_listings_omit_nothing() {
        let root = bucket();
        let pages = all(root.path(), "", false, 2);
        assert_eq!(pages, [vec!["a-/4", "a/1"], vec!["a/2", "a/c/3"], vec!["b"]]);
        assert!(all(root.path(), "", false, 0)[0].is_empty());
    }

    #[test]
    fn pages_of_any_size_together_equal_the_whole() {
        let root = bucket();
        let root = root.path();
        for (prefix, by_directory) in [("", true), ("", false), ("a", true), ("a/", false)] {
            let whole = all(root, prefix, by_directory, 99).concat();
            assert!(!whole.is_empty());
            for wanted in 1..4 {
                let parts = all(root, prefix, by_directory, wanted);
                assert!(parts.iter().all(|part| (1..=wanted).contains(&part.len())));
                let mut parts = parts.concat();
                let mut whole = whole.clone();
                parts.sort();
                whole.sort();
                assert_eq!(parts, whole, "{prefix:?} {by_directory} {wanted}");
            }
        }
    }

    #[test]
    fn a_page_shows_the_latest_change() {
        let root = bucket();
        let store = Store::new(Confined::new(root.path(), false).unwrap());
        for round in 0..20 {
            fs::write(root.path().join(format!("n{round:02}")), "").unwrap();
            let page = page(&store, "n", true, None, 99).unwrap();
            assert_eq!(page.objects.len(), round + 1);
        }
    }
}
