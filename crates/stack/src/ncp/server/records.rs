//! Record locks: logged first, and locked one by one or as a set. A range in use is refused at once: no request
//! waits for another client.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::files::FileHandle;
use lanlab_wire::ncp::records::{Log, Range, lock};

use super::refusals::{Refused, malformed};
use super::state::{Logged, Open, State};
use crate::file_server::locks::Owner;

/// Maximum ranges logged per session.
const MOST_LOGGED: usize = 256;

const fn owner(open: &Open) -> Owner {
    Owner { open: open.opened.number, pid: 0 }
}

impl State {
    pub fn check_locks(
        &self,
        file: FileHandle,
        (offset, count): (u64, u64),
        writes: bool,
    ) -> Result<(), Refused> {
        let (_, open) = self.opened(file)?;
        let file = open.opened.file();
        let lets = file.locks.is_empty() || file.locks.lets(owner(open), offset, count, writes);
        if lets { Ok(()) } else { Err(completion::LOCKED) }
    }

    pub fn log_record(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Log::parse(data).map_err(malformed)?;
        let (file, _) = self.opened(asked.file)?;
        let is_shared = asked.flags & lock::SHARED != 0;
        let Log { offset, length, .. } = asked;
        let known = self
            .logged
            .iter()
            .position(|one| (one.file, one.offset, one.length) == (file, offset, length));
        let at = match known {
            Some(at) => at,
            None if self.logged.len() >= MOST_LOGGED => return Err(completion::OUT_OF_MEMORY),
            None => {
                self.logged.push(Logged { file, offset, length, is_shared, is_locked: false });
                self.logged.len() - 1
            }
        };
        if asked.flags & lock::NOW != 0 { self.lock_logged(at) } else { Ok(()) }
    }

    fn lock_logged(&mut self, at: usize) -> Result<(), Refused> {
        let one = &mut self.logged[at];
        let Some(open) = self.opens.get(&one.file).filter(|_| !one.is_locked) else {
            return Ok(());
        };
        let (offset, length) = (one.offset.into(), one.length.into());
        let locked = open.opened.file().locks.lock(owner(open), offset, length, one.is_shared);
        one.is_locked = locked.is_ok();
        locked.map_err(|_| completion::COLLISION)
    }

    pub fn lock_records(&mut self) -> Result<(), Refused> {
        let before: Vec<bool> = self.logged.iter().map(|one| one.is_locked).collect();
        for at in 0..self.logged.len() {
            if let Err(refused) = self.lock_logged(at) {
                for (at, was_locked) in before.iter().enumerate() {
                    if !was_locked {
                        self.unlock_logged(at);
                    }
                }
                return Err(refused);
            }
        }
        Ok(())
    }

    fn unlock_logged(&mut self, at: usize) {
        let one = &mut self.logged[at];
        if !std::mem::take(&mut one.is_locked) {
            return;
        }
        let Some(open) = self.opens.get(&one.file) else { return };
        let mut file = open.opened.file();
        // Cannot fail: this session holds the lock.
        let _ = file.locks.unlock(owner(open), one.offset.into(), one.length.into());
        file.grant();
    }

    pub fn release_record(&mut self, data: &[u8], clears: bool) -> Result<(), Refused> {
        let asked = Range::parse(data).map_err(malformed)?;
        let (file, _) = self.opened(asked.file)?;
        let is_meant =
            |one: &Logged| (one.file, one.offset, one.length) == (file, asked.offset, asked.length);
        let at = self.logged.iter().position(is_meant).ok_or(completion::FAILED)?;
        self.unlock_logged(at);
        if clears {
            self.logged.remove(at);
        }
        Ok(())
    }

    pub fn forget_records(&mut self, file: u16) {
        self.logged.retain(|one| one.file != file);
    }

    pub fn release_records(&mut self, clears: bool) {
        for at in 0..self.logged.len() {
            self.unlock_logged(at);
        }
        if clears {
            self.logged.clear();
        }
    }
}
