//! Directories that are seen to be directories before anything in them is removed.
//!
//! Somebody may have put a link where the trial had made a directory, or a directory where it had
//! written a file: what lies behind is not the trial's. Services differ in what they follow, and one
//! (`WebDAV`) removes a directory with all that is in it by the same word as a file; their listings
//! tell.

use std::collections::{HashMap, HashSet};

use lanlab_services::{AnySession, Class, Fault, ServicePath, Session};

/// The directories of a trial at the service, each with the names of those in it.
pub struct Seen<'a> {
    session: &'a AnySession,
    directories: HashMap<ServicePath, HashSet<String>>,
}

impl<'a> Seen<'a> {
    /// None yet.
    pub fn new(session: &'a AnySession) -> Self {
        Self { session, directories: HashMap::new() }
    }

    /// Look into a directory, if it is one. Those that it is in were looked into before.
    pub async fn look(&mut self, path: &ServicePath) -> Result<(), Fault> {
        if !path.parent().is_none_or(|parent| self.names(&parent, path.name())) {
            return Ok(());
        }
        let entries = match self.session.list(Some(path)).await {
            Ok(entries) => entries,
            Err(fault) if fault.class == Class::Missing => return Ok(()),
            Err(fault) => return Err(fault),
        };
        let below = entries.into_iter().filter(|entry| entry.is_directory);
        self.directories.insert(path.clone(), below.map(|entry| entry.name).collect());
        Ok(())
    }

    fn names(&self, directory: &ServicePath, name: &str) -> bool {
        self.directories.get(directory).is_some_and(|names| names.contains(name))
    }

    /// Whether this was seen to be a directory.
    pub fn is_directory(&self, path: &ServicePath) -> bool {
        self.directories.contains_key(path)
    }

    /// Whether a file can be there: it lies in a directory that was seen, and is none itself.
    pub fn may_hold(&self, file: &ServicePath) -> bool {
        file.parent()
            .is_some_and(|parent| self.is_directory(&parent) && !self.names(&parent, file.name()))
    }
}
