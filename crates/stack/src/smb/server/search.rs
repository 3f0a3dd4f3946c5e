//! A search: what it looks for, and where it has come to.

use lanlab_wire::smb1::{attributes, wildcard};

use crate::files::{Found, Names};

/// Label of the volume.
pub const LABEL: &str = "LANLAB";

/// Where a search has come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position {
    /// Of `.` and `..`, those that were listed.
    pub dots: u8,
    /// The name that was listed last.
    pub after: String,
}

/// A search that goes on.
#[derive(Debug, Clone)]
pub struct Search {
    pub tid: u16,
    pub directory: Names,
    /// As the client wrote it.
    pub pattern: String,
    /// In the characters of Windows NT.
    wide_pattern: String,
    pub attributes: u16,
    pub position: Position,
    /// Where each entry of the last response was, and the key or name that a client knows it by.
    pub batch: Vec<(Position, String)>,
    /// When it was used, as a count of uses.
    pub used: u64,
}

impl Search {
    /// A search that has listed nothing yet.
    pub fn new(directory: Names, pattern: &str, attributes: u16, tid: u16) -> Self {
        let is_wide = pattern.contains(['<', '>', '"']);
        let wide_pattern = if is_wide { pattern.to_owned() } else { wildcard::from_dos(pattern) };
        Self {
            tid,
            directory,
            pattern: pattern.to_owned(),
            wide_pattern,
            attributes,
            position: Position::default(),
            batch: Vec::new(),
            used: 0,
        }
    }

    /// Whether it finds this.
    pub fn finds(&self, found: &Found) -> bool {
        if found.is_directory && self.attributes & attributes::DIRECTORY == 0 {
            return false;
        }
        wildcard::matches(&self.wide_pattern, &found.name)
            || (!found.short_name.is_empty()
                && (wildcard::matches(&self.wide_pattern, &found.short_name)
                    || wildcard::matches_dos(&self.pattern, &found.short_name) == Some(true)))
    }
}
