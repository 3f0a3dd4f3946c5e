//! Verifies directories by listing before anything in them is removed.
//!
//! Another program may have replaced a directory of the trial with a link, or a file with a directory, whose
//! contents are not the trial's. Services differ in what they follow, and one (`WebDAV`) removes a file and a
//! directory tree by the same request; only listings show the difference.

use std::collections::{HashMap, HashSet};

use lanlab_files::{Class, Fault, ServicePath, Session};

/// The directories of a trial at the service, each with its names and which of them are directories.
pub struct Listing {
    directories: HashMap<ServicePath, HashMap<String, bool>>,
    /// Directories without a valid listing. The trial's files in them are removed by name.
    unlisted: HashSet<ServicePath>,
    pub not_listed: Option<Fault>,
}

impl Listing {
    /// List the trial's directory and those below it, parents first.
    ///
    /// # Errors The connection failed, or a directory cannot be listed and `by_names` is false, as for services
    /// that remove files and directory trees by the same request.
    pub async fn in_these(
        session: &impl Session,
        working: &ServicePath,
        below: &[ServicePath],
        by_names: bool,
    ) -> Result<Self, Fault> {
        let (directories, unlisted) = (HashMap::new(), HashSet::new());
        let mut seen = Self { directories, unlisted, not_listed: None };
        for path in std::iter::once(working).chain(below) {
            let is_seen = path.parent().is_none_or(|parent| {
                seen.is_directory_in(&parent, path.name()) || seen.unlisted.contains(&parent)
            });
            if !is_seen {
                continue;
            }
            match seen.look(session, path).await {
                Err(fault) if by_names && !fault.class.is_passing() => {
                    seen.unlisted.insert(path.clone());
                    seen.not_listed.get_or_insert(fault);
                }
                looked => looked?,
            }
        }
        Ok(seen)
    }

    async fn look(&mut self, session: &impl Session, path: &ServicePath) -> Result<(), Fault> {
        let entries = match session.list(Some(path)).await {
            Ok(entries) => entries,
            Err(fault) if fault.class == Class::Missing => return Ok(()),
            Err(fault) => return Err(fault),
        };
        let names = entries.into_iter().map(|entry| (entry.name, entry.is_directory));
        self.directories.insert(path.clone(), names.collect());
        Ok(())
    }

    /// Whether an existing name is a directory. Some servers change the case of names, like Samba with `preserve
    /// case = no`, but removal uses the name as written.
    fn kind_in(&self, directory: &ServicePath, name: &str) -> Option<bool> {
        let names = self.directories.get(directory)?;
        let other_case = || {
            let folded = name.to_lowercase();
            names.iter().find(|(found, _)| found.to_lowercase() == folded).map(|(_, kind)| kind)
        };
        names.get(name).or_else(other_case).copied()
    }

    fn is_directory_in(&self, directory: &ServicePath, name: &str) -> bool {
        self.kind_in(directory, name) == Some(true)
    }

    pub fn is_directory(&self, path: &ServicePath) -> bool {
        self.directories.contains_key(path) || self.unlisted.contains(path)
    }

    /// Whether a file can exist: its directory was listed, and it is not itself a directory.
    pub fn may_hold(&self, file: &ServicePath) -> bool {
        file.parent().is_some_and(|parent| {
            self.is_directory(&parent) && !self.is_directory_in(&parent, file.name())
        })
    }

    pub fn is_file(&self, path: &ServicePath) -> bool {
        path.parent().and_then(|parent| self.kind_in(&parent, path.name())) == Some(false)
    }

    pub fn is_empty(&self, path: &ServicePath) -> bool {
        self.directories.get(path).is_some_and(HashMap::is_empty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> ServicePath {
        ServicePath::new(text).unwrap()
    }

    #[test]
    fn files_directories_and_unlisted_names_are_distinguished() {
        let entries = [("file".to_owned(), false), ("below".to_owned(), true)];
        let directories = [(path("d"), entries.into()), (path("d/below"), HashMap::new())];
        let unlisted = HashSet::from([path("d/dark")]);
        let seen = Listing { directories: directories.into(), unlisted, not_listed: None };
        let is = |what: fn(&Listing, &ServicePath) -> bool| {
            ["d", "d/file", "d/below", "d/other", "e/file"].map(|text| what(&seen, &path(text)))
        };
        assert_eq!(is(Listing::is_file), [false, true, false, false, false]);
        assert!(seen.is_file(&path("d/FILE")) && !seen.may_hold(&path("d/BELOW")));
        assert_eq!(is(Listing::is_directory), [true, false, true, false, false]);
        assert_eq!(is(Listing::is_empty), [false, false, true, false, false]);
        // A new file may have appeared, but not in place of a directory.
        assert_eq!(is(Listing::may_hold), [false, true, false, true, false]);
        // Without a listing, everything counts as made by the trial.
        let (dark, file) = (path("d/dark"), path("d/dark/file"));
        assert!(seen.is_directory(&dark) && !seen.is_empty(&dark));
        assert!(seen.may_hold(&file) && !seen.is_file(&file));
    }
}
