//! Locks of byte ranges. A range that is not free is refused at once, also where a client would
//! wait: no answer of this server waits for another client.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::locking_andx::{self, lock_type};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::{command, read};

use super::locks::Owner;
use super::refusals::{Refused, malformed};
use super::state::State;

impl State {
    pub fn lock(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let range = read::Range::parse(block).map_err(malformed)?;
        let pid = self.request.pid;
        let open = self.open(range.fid)?;
        let owner = Owner { open: open.opened.number, pid };
        let (offset, count) = (u64::from(range.offset), u64::from(range.count));
        let mut file = open.opened.file();
        if block.command() == command::LOCK_BYTE_RANGE {
            file.locks.lock(owner, offset, count, false)?;
        } else {
            file.locks.unlock(owner, offset, count)?;
        }
        drop(file);
        self.put_nothing();
        Ok(())
    }

    pub fn lock_many(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = locking_andx::Request::parse(block).map_err(malformed)?;
        let kind = request.head.lock_type;
        if kind & (lock_type::CHANGE | lock_type::CANCEL) != 0 {
            // Nothing waits, so that there is nothing to cancel; no lock changes its kind.
            return Err(error::NOT_SUPPORTED);
        }
        let pid_high = self.request.pid & 0xffff_0000;
        let open = self.open(request.head.fid)?;
        let number = open.opened.number;
        let owner = |pid: u16| Owner { open: number, pid: pid_high | u32::from(pid) };
        let mut file = open.opened.file();
        for range in request.unlocks.iter() {
            file.locks.unlock(owner(range.pid), range.offset, range.count)?;
        }
        let shared = kind & lock_type::SHARED != 0;
        for (at, range) in request.locks.iter().enumerate() {
            let locked = file.locks.lock(owner(range.pid), range.offset, range.count, shared);
            if let Err(refused) = locked {
                // All or none.
                for range in request.locks.iter().take(at) {
                    file.locks.unlock(owner(range.pid), range.offset, range.count)?;
                }
                return Err(refused.into());
            }
        }
        drop(file);
        self.put(locking_andx::emit_response);
        Ok(())
    }
}
