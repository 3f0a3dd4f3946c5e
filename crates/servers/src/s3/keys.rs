//! Listing of a bucket in S3 order: by the bytes of the keys.

use std::io::{self, ErrorKind};

use super::store::Found;
use lanlab_served::{Confined, Entry, Names};

/// Most keys examined per response, to bound memory.
const MAX_KEYS: usize = 1_000_000;

#[derive(Debug, Default)]
pub struct Page {
    pub objects: Vec<(String, Found)>,
    pub prefixes: Vec<String>,
    pub next: Option<String>,
}

/// At most `wanted` entries that begin with `prefix` and come after `after`.
pub fn page(
    confined: &Confined,
    prefix: &str,
    by_directory: bool,
    after: Option<&str>,
    wanted: usize,
) -> io::Result<Page> {
    let mut keys = Vec::new();
    let directory = prefix.rsplit_once('/').map_or("", |(directory, _)| directory);
    if directory.is_empty() || !directory.split('/').any(str::is_empty) {
        let at = Confined::plain_names(directory).ok();
        let is_directory = |at: &Names| confined.metadata(at).is_ok_and(|found| found.is_dir());
        if let Some(mut at) = at.filter(is_directory) {
            gather(confined, &mut at, prefix, by_directory, &mut keys)?;
        }
    }
    keys.retain(|key| after.is_none_or(|after| key.as_str() > after));
    keys.sort_unstable();
    let mut page = Page::default();
    if wanted == 0 {
        return Ok(page);
    }
    if keys.len() > wanted {
        keys.truncate(wanted);
        page.next = keys.last().cloned();
    }
    for key in keys {
        if key.ends_with('/') {
            page.prefixes.push(key);
        } else if let Ok(names) = Confined::plain_names(&key)
            && let Ok(metadata) = confined.metadata(&names)
            && let Ok(found) = Found::of(&metadata)
        {
            page.objects.push((key, found));
        }
    }
    Ok(page)
}

fn gather(
    confined: &Confined,
    at: &mut Names,
    prefix: &str,
    by_directory: bool,
    keys: &mut Vec<String>,
) -> io::Result<()> {
    let base = if at.is_empty() { String::new() } else { format!("{}/", at.join("/")) };
    for Entry { name, is_directory, .. } in confined.entries(at)? {
        let mut key = format!("{base}{name}");
        if is_directory {
            key.push('/');
            if !key.starts_with(prefix) && !prefix.starts_with(&key) {
                continue;
            }
            at.push(name);
            if by_directory && key.len() > prefix.len() {
                if holds_any(confined, at) {
                    keys.push(key);
                }
            } else {
                gone(gather(confined, at, prefix, by_directory, keys))?;
            }
            at.pop();
        } else if key.starts_with(prefix) {
            keys.push(key);
        }
        if keys.len() > MAX_KEYS {
            return Err(io::Error::other(format!("more than {MAX_KEYS} objects; list by `/`")));
        }
    }
    Ok(())
}

/// A listed directory may be gone, or replaced by a link, when it is opened.
fn gone(gathered: io::Result<()>) -> io::Result<()> {
    match gathered {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(())
        }
        // A link: the error is ours, not a denial by the system.
        Err(error)
            if error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none() =>
        {
            Ok(())
        }
        gathered => gathered,
    }
}

/// Whether a directory contains an object at any depth: S3 has no empty directories.
fn holds_any(confined: &Confined, at: &mut Names) -> bool {
    let Ok(mut entries) = confined.entries(at) else { return false };
    entries.any(|Entry { name, is_directory, .. }| {
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
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let confined = Confined::new(root, false).unwrap();
            let page = page(&confined, prefix, by_directory, after.as_deref(), wanted).unwrap();
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
}
