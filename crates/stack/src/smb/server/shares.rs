//! Who may open a file beside whom.
//!
//! Source: [MS-CIFS] 3.3.5.5 and 3.3.5.35; the compatibility mode of DOS is in [MS-CIFS] 2.2.4.3.

/// What one open does with a file, and what it lets others do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "three rights of each of two sides")]
pub struct Sharing {
    /// It reads.
    pub reads: bool,
    /// It writes.
    pub writes: bool,
    /// It removes or renames.
    pub deletes: bool,
    /// Others may read.
    pub lets_read: bool,
    /// Others may write.
    pub lets_write: bool,
    /// Others may remove or rename.
    pub lets_delete: bool,
    /// Number of the session, in the compatibility mode of DOS: its opens in that mode go together.
    pub compatible_with: Option<u64>,
}

impl Sharing {
    /// Of a request that removes a file: no one may use it meanwhile.
    pub const REMOVE: Self = Self {
        reads: false,
        writes: false,
        deletes: true,
        lets_read: false,
        lets_write: false,
        lets_delete: false,
        compatible_with: None,
    };
    /// Of a request that renames a file or removes a directory: who has it open may go on.
    pub const RENAME: Self =
        Self { lets_read: true, lets_write: true, lets_delete: true, ..Self::REMOVE };

    /// Of an access mode of DOS: bits 0 to 2 what it does, bits 4 to 6 what it denies others.
    /// `None` if it is none.
    pub const fn from_dos(mode: u16) -> Option<Self> {
        let (reads, writes) = match mode & 7 {
            0 | 3 => (true, false),
            1 => (false, true),
            2 => (true, true),
            _ => return None,
        };
        let (lets_read, lets_write) = match mode >> 4 & 7 {
            // A reader in compatibility mode lets others read, a writer no one.
            0 => (!writes, false),
            1 => (false, false),
            2 => (true, false),
            3 => (false, true),
            4 => (true, true),
            _ => return None,
        };
        let (deletes, lets_delete, compatible_with) = (false, false, None);
        Some(Self { reads, writes, deletes, lets_read, lets_write, lets_delete, compatible_with })
    }

    /// Whether two opens of one file may be there at once.
    pub fn goes_with(self, other: Self) -> bool {
        let is_same =
            self.compatible_with.is_some() && self.compatible_with == other.compatible_with;
        is_same || self.is_let_by(other) && other.is_let_by(self)
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
    fn the_modes_of_dos_exclude_each_other_as_its_table_says() {
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
    fn opens_of_one_session_in_compatibility_mode_go_together() {
        let of = |session| Sharing { compatible_with: Some(session), ..mode(0, 2) };
        assert!(of(1).goes_with(of(1)) && !of(1).goes_with(of(2)));
        assert!(!of(1).goes_with(mode(4, 2)) && !mode(4, 2).goes_with(of(1)));
        assert!(!mode(0, 2).goes_with(mode(0, 2)));
    }

    #[test]
    fn what_is_no_mode_is_none() {
        for mode in [4, 5, 6, 7, 0x50, 0x60, 0x70] {
            assert_eq!(Sharing::from_dos(mode), None);
        }
    }
}
