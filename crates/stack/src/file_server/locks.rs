//! Locks of ranges of a file.
//!
//! Source: [MS-CIFS] 3.3.5.14 and 3.3.5.28; where they are silent, smbtorture's findings about Windows servers
//! decide. A lock belongs to an open file and a process of its client.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub open: u64,
    /// Client process ID: only the low half, as lock requests carry no more.
    pub pid: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    pub owner: Owner,
    pub offset: u64,
    pub len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lock {
    owner: Owner,
    offset: u64,
    len: u64,
    shared: bool,
}

/// Maximum locks per file, to bound the memory that a client can use.
const MAX_LOCKS: usize = 1024;

#[derive(Debug, Clone, Default)]
pub struct Locks(Vec<Lock>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockRefusal {
    Conflict(u64),
    Range,
    NotLocked,
    TooMany,
}

impl Locks {
    /// Lock a range. An exclusive lock excludes all others, except a shared lock that its owner adds later; shared
    /// locks coexist.
    pub fn lock(
        &mut self,
        owner: Owner,
        offset: u64,
        len: u64,
        shared: bool,
    ) -> Result<(), LockRefusal> {
        let new = Lock { owner, offset, len, shared };
        if len > 0 && offset.checked_add(len - 1).is_none() {
            return Err(LockRefusal::Range);
        }
        let goes_with = |lock: &Lock| shared && (lock.shared || lock.owner == owner);
        if self.0.iter().any(|lock| lock.overlaps(offset, len) && !goes_with(lock)) {
            return Err(LockRefusal::Conflict(offset));
        }
        if self.0.len() >= MAX_LOCKS {
            return Err(LockRefusal::TooMany);
        }
        self.0.push(new);
        Ok(())
    }

    pub fn lock_all(&mut self, wanted: &[Wanted], shared: bool) -> Result<(), LockRefusal> {
        let before = self.0.len();
        for Wanted { owner, offset, len } in wanted {
            if let Err(refusal) = self.lock(*owner, *offset, *len, shared) {
                self.0.truncate(before);
                return Err(refusal);
            }
        }
        Ok(())
    }

    /// Unlock a range with exactly these bounds, an exclusive lock before shared ones.
    pub fn unlock(&mut self, owner: Owner, offset: u64, len: u64) -> Result<(), LockRefusal> {
        let is_meant = |lock: &Lock| (lock.owner, lock.offset, lock.len) == (owner, offset, len);
        let exclusive = self.0.iter().position(|lock| is_meant(lock) && !lock.shared);
        let at = exclusive.or_else(|| self.0.iter().position(is_meant));
        self.0.remove(at.ok_or(LockRefusal::NotLocked)?);
        Ok(())
    }

    pub fn lets(&self, owner: Owner, offset: u64, len: u64, writes: bool) -> bool {
        self.0.iter().all(|lock| {
            !lock.overlaps(offset, len) || if lock.shared { !writes } else { lock.owner == owner }
        })
    }

    pub fn close(&mut self, open: u64) {
        self.0.retain(|lock| lock.owner.open != open);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Lock {
    const fn overlaps(&self, offset: u64, len: u64) -> bool {
        let (start, other) = (self.offset as u128, offset as u128);
        start < other + len as u128 && other < start + self.len as u128
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: Owner = Owner { open: 1, pid: 1 };
    const OTHER: Owner = Owner { open: 2, pid: 1 };

    #[test]
    fn an_owner_may_add_shared_locks_over_its_exclusive_lock() {
        let mut locks = Locks::default();
        locks.lock(ONE, 0, 10, false).unwrap();
        assert_eq!(locks.lock(OTHER, 0, 10, true), Err(LockRefusal::Conflict(0)));
        locks.lock(ONE, 0, 10, true).unwrap();
        assert!(locks.lets(ONE, 0, 10, false) && !locks.lets(OTHER, 0, 10, false));
        locks.unlock(ONE, 0, 10).unwrap();
        assert!(locks.lets(OTHER, 0, 10, false), "the shared one is left");
        assert_eq!(locks.lock(ONE, 0, 10, false), Err(LockRefusal::Conflict(0)));
        locks.unlock(ONE, 0, 10).unwrap();
        assert!(locks.is_empty());
    }

    #[test]
    fn the_last_byte_can_be_locked_and_locks_without_end_are_refused() {
        let mut locks = Locks::default();
        assert_eq!(locks.lock(ONE, u64::MAX, 2, false), Err(LockRefusal::Range));
        locks.lock(ONE, u64::MAX, 1, false).unwrap();
        let taken = Err(LockRefusal::Conflict(u64::MAX));
        assert_eq!(locks.lock(OTHER, u64::MAX, 1, false), taken);
        locks.unlock(ONE, u64::MAX, 1).unwrap();
        for at in 0..MAX_LOCKS as u64 {
            locks.lock(ONE, at, 1, false).unwrap();
        }
        assert_eq!(locks.lock(ONE, 1 << 40, 1, false), Err(LockRefusal::TooMany));
    }

    proptest! {
        #[test]
        fn exclusive_locks_never_overlap(wanted: Vec<(u8, u8, bool)>) {
            let mut locks = Locks::default();
            for (offset, len, shared) in wanted {
                let _ = locks.lock(ONE, u64::from(offset), u64::from(len), shared);
            }
            for (at, one) in locks.0.iter().enumerate() {
                for other in &locks.0[at + 1..] {
                    let together = other.shared;
                    prop_assert!(together || !one.overlaps(other.offset, other.len));
                }
            }
        }
    }
}
