//! Which opens of one file are compatible.
//!
//! Source: [MS-CIFS] 3.3.5.5 and 3.3.5.35; the compatibility mode of DOS is in [MS-CIFS] 2.2.4.3.

/// Extensions of programs, which Windows shares even in compatibility mode.
const PROGRAMS: [&str; 4] = ["COM", "DLL", "EXE", "SYM"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "three rights of each of two sides")]
pub struct Sharing {
    pub reads: bool,
    pub writes: bool,
    pub deletes: bool,
    pub lets_read: bool,
    pub lets_write: bool,
    pub lets_delete: bool,
    pub compatible_with: Option<u64>,
    /// Whether the same session may open the file again in compatibility mode, to read or to write.
    pub lets_compatible: bool,
}

impl Sharing {
    pub const NOTHING: Self = Self {
        reads: false,
        writes: false,
        deletes: false,
        lets_read: false,
        lets_write: false,
        lets_delete: false,
        compatible_with: None,
        lets_compatible: false,
    };
    /// For removal: excludes every other open.
    pub const REMOVE: Self = Self { deletes: true, ..Self::NOTHING };
    /// For renaming a file or removing a directory: other opens continue.
    pub const RENAME: Self =
        Self { lets_read: true, lets_write: true, lets_delete: true, ..Self::REMOVE };

    /// Parse a DOS access mode: bits 0 to 2 select the access, bits 4 to 6 what others are denied.
    /// `None` if invalid.
    pub const fn from_dos(mode: u16) -> Option<Self> {
        let (reads, writes) = match mode & 7 {
            0 | 3 => (true, false),
            1 => (false, true),
            2 => (true, true),
            _ => return None,
        };
        let (lets_read, lets_write) = match mode >> 4 & 7 {
            // In compatibility mode a reader allows other readers, and a writer excludes all others.
            0 => (!writes, false),
            1 => (false, false),
            2 => (true, false),
            3 => (false, true),
            4 => (true, true),
            _ => return None,
        };
        Some(Self { reads, writes, lets_read, lets_write, ..Self::NOTHING })
    }

    /// Adapt to compatibility mode within one session. Programs are shared, except when opened by
    /// file control block.
    #[must_use]
    pub fn compatible(self, session: u64, name: &str, by_control_block: bool) -> Self {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let is_program = PROGRAMS.iter().any(|one| extension.eq_ignore_ascii_case(one));
        let lets_all = is_program && !by_control_block;
        Self {
            lets_read: self.lets_read || lets_all,
            lets_write: self.lets_write || lets_all,
            compatible_with: Some(session),
            lets_compatible: by_control_block || (self.writes && !is_program),
            ..self
        }
    }

    pub fn goes_with(self, other: Self) -> bool {
        let is_same = other.lets_compatible && self.compatible_with == other.compatible_with;
        // An open that does not use the file's data is compatible with all others.
        is_same
            || self.is_idle()
            || other.is_idle()
            || self.is_let_by(other) && other.is_let_by(self)
    }

    const fn is_idle(self) -> bool {
        !(self.reads || self.writes || self.deletes)
    }

    const fn is_let_by(self, other: Self) -> bool {
        (!self.reads || other.lets_read)
            && (!self.writes || other.lets_write)
            && (!self.deletes || other.lets_delete)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modes by name: deny none, deny write, deny read, deny all; each to read, write or both.
    fn mode(deny: u16, access: u16) -> Sharing {
        Sharing::from_dos(deny << 4 | access).unwrap()
    }

    #[test]
    fn dos_sharing_modes_follow_the_published_table() {
        let (all, write, read, none) = (1, 2, 3, 4);
        for (first, second, together) in [
            ((none, 0), (none, 2), true),
            ((none, 2), (none, 2), true),
            ((write, 0), (none, 0), true),
            ((write, 0), (none, 1), false),
            ((write, 0), (write, 0), true),
            ((write, 2), (write, 0), false),
            ((read, 1), (none, 1), true),
            ((read, 1), (none, 0), false),
            ((all, 0), (none, 0), false),
            ((0, 0), (0, 0), true),
            ((0, 0), (0, 2), false),
            ((0, 2), (none, 0), false),
        ] {
            let (one, other) = (mode(first.0, first.1), mode(second.0, second.1));
            assert_eq!(one.goes_with(other), together, "{first:?} {second:?}");
            assert_eq!(other.goes_with(one), together, "{second:?} {first:?}");
        }
    }

    #[test]
    fn compatibility_mode_opens_of_one_session_coexist() {
        let of = |session| mode(0, 2).compatible(session, "A.DAT", false);
        assert!(of(1).goes_with(of(1)) && !of(1).goes_with(of(2)));
        assert!(!of(1).goes_with(mode(4, 2)) && !mode(4, 2).goes_with(of(1)));
        assert!(!mode(0, 2).goes_with(mode(0, 2)));
        // The reader's own sharing mode excludes later writers.
        let reader = mode(0, 0).compatible(1, "A.DAT", false);
        assert!(reader.goes_with(reader) && reader.goes_with(of(1)) && !of(1).goes_with(reader));
    }

    #[test]
    fn programs_are_shared_except_when_opened_by_fcb() {
        let of = |session, name, by_block| mode(0, 2).compatible(session, name, by_block);
        let (program, other) = (of(1, "A.Exe", false), of(2, "A.Exe", false));
        assert!(program.goes_with(other) && program.goes_with(mode(4, 2)));
        let block = of(1, "A.EXE", true);
        assert!(!block.goes_with(program) && !block.goes_with(other) && !other.goes_with(block));
        assert!(program.goes_with(block) && block.goes_with(block));
    }

    #[test]
    fn an_open_without_access_blocks_no_client() {
        let (none, all) = (Sharing::NOTHING, mode(1, 2));
        assert!(none.goes_with(all) && all.goes_with(none) && none.goes_with(none));
        assert!(Sharing::REMOVE.goes_with(none) && !Sharing::REMOVE.goes_with(mode(4, 0)));
        let lets_all = Sharing { reads: true, ..Sharing { deletes: false, ..Sharing::RENAME } };
        assert!(Sharing::RENAME.goes_with(lets_all) && !Sharing::REMOVE.goes_with(lets_all));
    }

    #[test]
    fn invalid_modes_are_rejected() {
        for mode in [4, 5, 6, 7, 0x50, 0x60, 0x70] {
            assert_eq!(Sharing::from_dos(mode), None);
        }
    }
}
