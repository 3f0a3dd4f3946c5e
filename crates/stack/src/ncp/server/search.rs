//! Positions of searches in a directory.
//!
//! A client names the position to continue after. Positions count all entries of a directory, so they mean the same
//! for every pattern. The current position of a search is kept, so that no step has to start over.

use std::collections::VecDeque;

use lanlab_wire::ncp::file_entry::attribute;
pub use lanlab_wire::ncp::name_space::ALSO_DIRECTORIES;
use lanlab_wire::smb1::wildcard;

use crate::files::{Found, Names};

/// Maximum searches kept, and maximum directories with open searches.
const MOST_CURSORS: usize = 8;
const MOST_BEGUN: usize = 32;

#[derive(Debug, Default)]
pub struct Cursor {
    pub directory: Names,
    pub place: u32,
    pub page: VecDeque<Found>,
    pub after: String,
    pub is_at_end: bool,
}

#[derive(Debug, Default)]
pub struct Searches {
    cursors: Vec<Cursor>,
    pub begun: VecDeque<(u16, Names)>,
    last_begun: u16,
}

impl Searches {
    pub fn take(&mut self, directory: &Names, place: u32) -> Cursor {
        let is_meant = |one: &Cursor| one.directory == *directory && one.place == place;
        match self.cursors.iter().position(is_meant) {
            Some(at) => self.cursors.remove(at),
            None => Cursor { directory: directory.clone(), ..Cursor::default() },
        }
    }

    pub fn keep(&mut self, cursor: Cursor) {
        if self.cursors.len() >= MOST_CURSORS {
            self.cursors.remove(0);
        }
        self.cursors.push(cursor);
    }

    pub fn begin(&mut self, directory: Names) -> u16 {
        if self.begun.len() >= MOST_BEGUN {
            self.begun.pop_front();
        }
        self.last_begun = self.last_begun.wrapping_add(1);
        self.begun.push_back((self.last_begun, directory));
        self.last_begun
    }
}

/// Whether an entry is of the kind, file or directory, that a search with these attributes wants.
pub fn is_of_kind(attributes: u16, found: &Found) -> bool {
    let of_directories = attributes & u16::from(attribute::DIRECTORY) != 0;
    attributes & ALSO_DIRECTORIES != 0 || found.is_directory == of_directories
}

pub fn finds(pattern: &str, attributes: u16, found: &Found) -> bool {
    // `*` alone matches every name.
    let pattern = if pattern == "*" { "*.*" } else { pattern };
    is_of_kind(attributes, found)
        && !found.short_name.is_empty()
        && wildcard::matches_dos(pattern, &found.short_name) == Some(true)
}
