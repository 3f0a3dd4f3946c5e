//! What a bucket holds, in the order of S3: that of the octets of the keys.

use std::fs;
use std::io;
use std::path::Path;

use super::super::http::confined;
use super::store::{Found, UNSEEN};

/// Keys that are looked through for one answer at most, so that memory is bounded.
const MAX_KEYS: usize = 1_000_000;

/// Directories within directories at most.
const MAX_DEPTH: usize = 64;

/// Some of what a bucket holds.
#[derive(Debug, Default)]
pub struct Page {
    /// Objects.
    pub objects: Vec<(String, Found)>,
    /// What keys begin with up to the next `/`.
    pub prefixes: Vec<String>,
    /// The last of these, if there are more.
    pub next: Option<String>,
}

/// At most `wanted` of what begins with `prefix` and comes after `after`.
pub fn page(
    root: &Path,
    prefix: &str,
    by_directory: bool,
    after: Option<&str>,
    wanted: usize,
) -> io::Result<Page> {
    let mut keys = Vec::new();
    let directory = prefix.rsplit_once('/').map_or("", |(directory, _)| directory);
    if directory.is_empty() || !directory.split('/').any(str::is_empty) {
        let at = confined(root, directory).ok().filter(|at| at.is_dir());
        if let Some(at) = at {
            let base = if directory.is_empty() { String::new() } else { format!("{directory}/") };
            gather(&at, &base, prefix, by_directory, MAX_DEPTH, &mut keys)?;
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
        } else if let Ok(metadata) = root.join(&key).symlink_metadata()
            && let Ok(found) = Found::of(&metadata)
        {
            page.objects.push((key, found));
        }
    }
    Ok(page)
}

fn gather(
    at: &Path,
    base: &str,
    prefix: &str,
    by_directory: bool,
    depth: usize,
    keys: &mut Vec<String>,
) -> io::Result<()> {
    for entry in fs::read_dir(at)? {
        let entry = entry?;
        // Names of others that S3 could not say, and files that are not whole.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let kind = entry.file_type()?;
        let mut key = format!("{base}{name}");
        if kind.is_dir() {
            key.push('/');
            let is_along = key.starts_with(prefix) || prefix.starts_with(&key);
            if is_along && by_directory && key.len() > prefix.len() {
                if holds_any(&entry.path(), depth) {
                    keys.push(key);
                }
            } else if is_along && depth > 0 {
                gather(&entry.path(), &key, prefix, by_directory, depth - 1, keys)?;
            }
        } else if kind.is_file() && key.starts_with(prefix) && !name.starts_with(UNSEEN) {
            keys.push(key);
        }
        if keys.len() > MAX_KEYS {
            return Err(io::Error::other(format!("more than {MAX_KEYS} objects; list by `/`")));
        }
    }
    Ok(())
}

/// Whether there is an object in a directory or those in it: an empty directory is none to S3.
fn holds_any(at: &Path, depth: usize) -> bool {
    let Ok(entries) = fs::read_dir(at) else { return false };
    entries.flatten().any(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => depth > 0 && holds_any(&entry.path(), depth - 1),
        Ok(kind) => kind.is_file() && !entry.file_name().to_string_lossy().starts_with(UNSEEN),
        Err(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (directory, file) in [("", "b"), ("a", "1"), ("a", "2"), ("a/c", "3"), ("a-", "4")] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
            fs::write(root.path().join(directory).join(file), file).unwrap();
        }
        fs::create_dir(root.path().join("empty")).unwrap();
        fs::write(root.path().join(format!("{UNSEEN}0")), "x").unwrap();
        root
    }

    fn all(root: &Path, prefix: &str, by_directory: bool, wanted: usize) -> Vec<Vec<String>> {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let page = page(root, prefix, by_directory, after.as_deref(), wanted).unwrap();
            let objects = page.objects.into_iter().map(|(key, _)| key);
            pages.push(page.prefixes.into_iter().chain(objects).collect());
            after = page.next;
            if after.is_none() {
                return pages;
            }
        }
    }

    #[test]
    fn a_bucket_is_listed_by_directory_or_whole() {
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
    fn pages_leave_nothing_out() {
        let root = bucket();
        let pages = all(root.path(), "", false, 2);
        assert_eq!(pages, [vec!["a-/4", "a/1"], vec!["a/2", "a/c/3"], vec!["b"]]);
        assert!(all(root.path(), "", false, 0)[0].is_empty());
    }
}
