//! A search: its criteria and its position.

use lanlab_wire::smb1::{attributes, wildcard};

use super::found::attributes_of;
use crate::files::{Found, Names};

/// Attributes that a search may require and that files here have; others are not stored.
const MUST_HAVE: u16 = attributes::READ_ONLY | attributes::DIRECTORY | attributes::ARCHIVE;

pub const LABEL: &str = "LANLAB";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position {
    pub dots: u8,
    pub after: String,
}

#[derive(Debug, Clone)]
pub struct Search {
    pub tid: u16,
    pub directory: Names,
    pub pattern: String,
    wide_pattern: String,
    pub attributes: u16,
    pub position: Position,
    /// Position of each entry of the last response, with the key or name by which the client refers to it.
    pub batch: Vec<(Position, String)>,
    pub used: u64,
}

impl Search {
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

    pub fn finds(&self, found: &Found) -> bool {
        if found.is_directory && self.attributes & attributes::DIRECTORY == 0 {
            return false;
        }
        // The high byte holds required attributes ([MS-CIFS] 2.2.1.2.4).
        let must_have = self.attributes >> 8 & MUST_HAVE;
        if must_have & !attributes_of(found) != 0 {
            return false;
        }
        wildcard::matches(&self.wide_pattern, &found.name)
            || (!found.short_name.is_empty()
                && (wildcard::matches(&self.wide_pattern, &found.short_name)
                    || wildcard::matches_dos(&self.pattern, &found.short_name) == Some(true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_apply_allowed_and_required_attributes() {
        let found = |is_directory, is_read_only| Found {
            name: "A.X".into(),
            short_name: "A.X".into(),
            number: 1,
            is_directory,
            is_read_only,
            size_bytes: 0,
            modified_s: 0,
            accessed_s: 0,
        };
        let (file, locked, directory) =
            (found(false, false), found(false, true), found(true, false));
        let (directories, archive) = (attributes::DIRECTORY, attributes::ARCHIVE);
        for (wanted, finds) in [
            (0, [true, true, false]),
            (directories, [true, true, true]),
            (directories << 8 | directories, [false, false, true]),
            (archive << 8 | directories, [true, true, false]),
            (attributes::READ_ONLY << 8, [false, true, false]),
            // Files never have these attributes, so a search cannot require them.
            (attributes::HIDDEN << 8, [true, true, false]),
        ] {
            let search = Search::new(Names::new(), "*", wanted, 1);
            let found = [&file, &locked, &directory].map(|found| search.finds(found));
            assert_eq!(found, finds, "{wanted:#x}");
        }
    }
}
