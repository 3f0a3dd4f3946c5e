//! The directory that is served, which no name leads out of.
//!
//! A path is taken apart before the system sees it: `..` at the top stays there, and a symbolic link
//! anywhere on the way is refused, so it cannot lead out. What makes links in the directory while it
//! is served has access to this host by other ways; no embedded server makes one.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::changes::mode_of;

/// Names deep.
const MAX_DEPTH: usize = 64;

/// A directory that is served.
#[derive(Debug, Clone)]
pub struct Confined {
    root: PathBuf,
    read_only: bool,
}

/// Where something is below it: names, none of them special; none: the directory itself.
pub type Names = Vec<String>;

impl Confined {
    /// Serve a directory.
    pub fn new(root: PathBuf, read_only: bool) -> Self {
        Self { root, read_only }
    }

    /// Where a path leads from a directory.
    pub fn names(base: &[String], path: &str) -> io::Result<Names> {
        let mut names = if path.starts_with('/') { Vec::new() } else { base.to_vec() };
        for name in path.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                _ if !is_plain(name) => {
                    let message = "a name has `\\`, a control character or a drive";
                    return Err(io::Error::new(io::ErrorKind::InvalidFilename, message));
                }
                _ => names.push(name.to_owned()),
            }
        }
        if names.len() > MAX_DEPTH {
            let message = format!("a path is more than {MAX_DEPTH} names deep");
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, message));
        }
        Ok(names)
    }

    /// The path of this host for it, which leads through no symbolic link, and to none.
    pub fn place(&self, names: &[String]) -> io::Result<PathBuf> {
        let mut path = self.root.clone();
        for name in names {
            path.push(name);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_symlink() => {
                    let message = "a symbolic link, which is not followed";
                    return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
                }
                Ok(_) => {}
                // What comes after it cannot be a link either.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(path)
    }

    /// The same, to change something there; the directory itself is never changed.
    pub fn place_to_change(&self, names: &[String]) -> io::Result<PathBuf> {
        if self.read_only || names.is_empty() {
            let message = "nothing may be changed there";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        self.place(names)
    }

    /// What is in a directory, but for links, devices and names that are not UTF-8.
    pub fn list(&self, names: &[String]) -> io::Result<impl Iterator<Item = Found> + use<>> {
        let entries = fs::read_dir(self.place(names)?)?;
        Ok(entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            Found::new(name, &entry.metadata().ok()?)
        }))
    }

    /// What is in one place.
    pub fn look(&self, names: &[String]) -> io::Result<Found> {
        let found = fs::symlink_metadata(self.place(names)?)?;
        let name = names.last().cloned().unwrap_or_default();
        Found::new(name, &found).ok_or_else(|| io::ErrorKind::PermissionDenied.into())
    }
}

/// A file or directory.
#[derive(Debug, Clone)]
pub struct Found {
    /// Last name.
    pub name: String,
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Octets of a file; zero of a directory.
    pub size_bytes: u64,
    /// Who may do what with it, as POSIX has it.
    pub mode: u32,
    /// Seconds since 1970 when it was changed last.
    pub modified_s: u64,
    /// The same of when it was read.
    pub accessed_s: u64,
}

impl Found {
    /// Of a file or directory; of nothing else.
    pub fn new(name: String, found: &fs::Metadata) -> Option<Self> {
        let is_directory = found.is_dir();
        if !is_directory && !found.is_file() {
            return None;
        }
        let since_1970_s =
            |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |at| at.as_secs());
        let modified_s = since_1970_s(found.modified().ok()?);
        let accessed_s = found.accessed().map_or(modified_s, since_1970_s);
        let size_bytes = if is_directory { 0 } else { found.len() };
        let mode = mode_of(found);
        Some(Self { name, is_directory, size_bytes, mode, modified_s, accessed_s })
    }
}

fn is_plain(name: &str) -> bool {
    let strange = |c: char| c.is_control() || c == '\\' || (cfg!(windows) && c == ':');
    !name.contains(strange)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_path_cannot_lead_out() {
        let base = ["a".to_owned()];
        assert_eq!(Confined::names(&base, "../../../etc/passwd").unwrap(), ["etc", "passwd"]);
        assert_eq!(Confined::names(&base, "b//./c").unwrap(), ["a", "b", "c"]);
        assert_eq!(Confined::names(&base, "/").unwrap(), [""; 0]);
        assert!(Confined::names(&base, "a\\..\\b").is_err());
        assert!(Confined::names(&base, "a\0b").is_err());
        assert!(Confined::names(&base, &"x/".repeat(100)).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let outside = tempfile::TempDir::new().unwrap();
        let root = tempfile::TempDir::new().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        let confined = Confined::new(root.path().to_owned(), false);
        for path in ["link", "link/secret"] {
            let names = Confined::names(&[], path).unwrap();
            let error = confined.place(&names).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        }
        assert_eq!(confined.list(&[]).unwrap().count(), 0);
    }

    proptest! {
        #[test]
        fn every_path_stays_below(path in ".*") {
            if let Ok(names) = Confined::names(&[], &path) {
                let confined = Confined::new("/base/of/it".into(), false);
                prop_assert!(names.iter().all(|name| name != ".." && !name.contains('/')));
                prop_assert!(confined.place(&names).unwrap().starts_with("/base/of/it"));
            }
        }
    }
}
