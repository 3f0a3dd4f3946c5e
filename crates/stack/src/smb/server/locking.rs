//! Locks of byte ranges, and queued lock requests.
//!
//! A request waits only if nothing is chained behind it and the driver provides a clock. Meanwhile,
//! other requests of the session are answered.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::locking_andx::{self, lock_type};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::{command, read};

use super::pending::Wait;
use super::refusals::{Refused, malformed};
use super::state::{Answer, State};
use crate::file_server::locks::{LockRefusal, Locks, Owner, Wanted};
use crate::file_server::waiting::{Outcome, Ticket};

/// Maximum waiting requests per session, and maximum ranges per request, to bound memory.
const MAX_WAITS: usize = 16;
const MAX_RANGES: usize = 64;
/// From this offset on, Windows reports a refused lock as a conflict at once, unless the highest bit is set.
const FAR: u64 = 0xef00_0000;
/// Wait without limit ([MS-CIFS] 2.2.4.32.1).
const NO_LIMIT: u32 = u32::MAX;

impl State {
    /// The core protocol's lock, which cannot wait ([MS-CIFS] 2.2.4.13).
    pub fn lock(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let range = read::Range::parse(block).map_err(malformed)?;
        let pid = self.request.pid as u16;
        let open = self.open(range.fid)?;
        let owner = Owner { open: open.opened.number, pid };
        let (offset, count) = (u64::from(range.offset), u64::from(range.count));
        let mut file = open.opened.file();
        if block.command() == command::LOCK_BYTE_RANGE {
            let locked = file.locks.lock(owner, offset, count, false);
            drop(file);
            locked.map_err(|refusal| self.refuse_lock(range.fid, refusal))?;
        } else {
            file.locks.unlock(owner, offset, count)?;
            file.grant();
            drop(file);
        }
        self.put_nothing()
    }

    pub fn lock_many(&mut self, block: &Block<'_>, is_alone: bool) -> Result<Answer, Refused> {
        let request = locking_andx::Request::parse(block).map_err(malformed)?;
        let (kind, timeout_ms) = (request.head.lock_type, request.head.timeout_ms);
        if kind & lock_type::CHANGE != 0 {
            return Err(error::ATOMIC_LOCKS_NOT_SUPPORTED);
        }
        let is_large = kind & lock_type::LARGE_FILES != 0;
        let now = self.channel.now().filter(|_| is_alone && self.waits.len() < MAX_WAITS);
        let (fid, channel) = (self.fid(request.head.fid), self.channel.clone());
        let open = self.open(request.head.fid)?;
        let number = open.opened.number;
        let wanted = |range: locking_andx::Range| Wanted {
            owner: Owner { open: number, pid: range.pid },
            offset: range.offset,
            len: range.count,
        };
        let mut file = open.opened.file();
        if kind & lock_type::CANCEL != 0 {
            // If there are several ranges, only the first is used.
            let meant = request.locks.iter().map(wanted).next();
            let meant = meant.ok_or(error::CANCEL_VIOLATION)?;
            drop(file);
            // A wait is identified by its range and the encoding of the range.
            let alike: Vec<_> = self
                .waits
                .iter()
                .filter(|wait| wait.fid == fid && wait.is_large == is_large)
                .map(|wait| Arc::clone(&wait.ticket))
                .collect();
            let is_meant = |ticket: &Arc<Ticket>, waits: &[Wanted]| {
                alike.iter().any(|one| Arc::ptr_eq(one, ticket)) && waits.contains(&meant)
            };
            let given_up = self.open(fid)?.opened.file().queue.give_up(is_meant);
            if given_up == 0 {
                return Err(error::CANCEL_VIOLATION);
            }
            self.put(locking_andx::emit_response)?;
            return Ok(Answer::Block);
        }
        let unlocked = request
            .unlocks
            .iter()
            .map(wanted)
            .try_for_each(|range| file.locks.unlock(range.owner, range.offset, range.len));
        file.grant();
        unlocked?;
        let shared = kind & lock_type::SHARED != 0;
        let ranges: Vec<_> = request.locks.iter().map(wanted).collect();
        match (file.locks.lock_all(&ranges, shared), now) {
            (Ok(()), _) => {}
            (Err(LockRefusal::Conflict(offset)), Some(now))
                if timeout_ms != 0
                    && ranges.len() <= MAX_RANGES
                    // A range that conflicts with itself can never be granted.
                    && Locks::default().lock_all(&ranges, shared).is_ok() =>
            {
                let ticket = file.queue.wait(ranges, shared, channel);
                drop(file);
                let ends_at = (timeout_ms != NO_LIMIT)
                    .then(|| now.plus_nanos(u64::from(timeout_ms) * 1_000_000));
                let (request, answer_number) = (self.request, self.answer_number);
                self.waits.push(Wait {
                    request,
                    answer_number,
                    fid,
                    offset,
                    is_large,
                    ticket,
                    ends_at,
                });
                self.tell_timeout();
                return Ok(Answer::Sent);
            }
            (Err(refusal), _) => {
                drop(file);
                let refused = self.refuse_lock(request.head.fid, refusal);
                // A client that was ready to wait gets no error asking it to retry.
                let has_waited = timeout_ms != 0 && refused == error::LOCK_NOT_GRANTED;
                return Err(if has_waited { error::FILE_LOCK_CONFLICT } else { refused });
            }
        }
        drop(file);
        self.put(locking_andx::emit_response)?;
        Ok(Answer::Block)
    }

    /// The error for a conflicting lock. The first refusal of a range asks to retry; the next one at the same open
    /// and offset, and one beyond `FAR`, reports a conflict.
    fn refuse_lock(&mut self, fid: u16, refusal: LockRefusal) -> Refused {
        let LockRefusal::Conflict(offset) = refusal else { return refusal.into() };
        let is_far = offset >= FAR && offset >> 63 == 0;
        let before = self.open(fid).map_or(None, |open| open.refused_lock.replace(offset));
        if is_far || before == Some(offset) {
            error::FILE_LOCK_CONFLICT
        } else {
            error::LOCK_NOT_GRANTED
        }
    }

    /// Cancel the wait of this client request ([MS-CIFS] 2.2.4.65). The cancel itself gets no reply.
    pub fn cancel(&mut self) {
        let asked = self.request;
        for wait in &self.waits {
            let Header { pid, tid, uid, mid, .. } = wait.request;
            if (pid, tid, uid, mid) == (asked.pid, asked.tid, asked.uid, asked.mid) {
                self.give_up(wait);
            }
        }
    }

    /// End a wait, unless it has already ended.
    fn give_up(&self, wait: &Wait) {
        if let Some(open) = self.opens.get(&wait.fid) {
            let is_meant = |ticket: &Arc<Ticket>, _: &[Wanted]| Arc::ptr_eq(ticket, &wait.ticket);
            open.opened.file().queue.give_up(is_meant);
        }
    }

    fn tell_timeout(&self) {
        self.channel.set_timeout(self.waits.iter().filter_map(|wait| wait.ends_at).min());
    }

    /// The next message, or `None` after the client has disconnected. Lock requests whose wait ends are answered first.
    pub async fn next_message(&mut self, used: Vec<u8>) -> Option<Vec<u8>> {
        self.channel.give_used(used);
        loop {
            let next = poll_fn(|_| match self.ended_wait() {
                Some(at) => Poll::Ready(Err(at)),
                None => self.channel.poll_message().map(Ok),
            });
            match next.await {
                Ok(message) => return message,
                Err(at) => self.answer_wait(at).await,
            }
        }
    }

    fn ended_wait(&self) -> Option<usize> {
        let now = self.channel.now();
        for wait in &self.waits {
            if wait.ends_at.is_some_and(|at| now.is_some_and(|now| now >= at)) {
                self.give_up(wait);
            }
        }
        self.waits.iter().position(|wait| wait.ticket.outcome() != Outcome::Waits)
    }

    async fn answer_wait(&mut self, at: usize) {
        let wait = self.waits.remove(at);
        self.tell_timeout();
        self.begin(wait.request);
        self.command = wait.request.command;
        self.answer_number = wait.answer_number;
        if wait.ticket.outcome() == Outcome::Granted {
            let granted = self.put(locking_andx::emit_response);
            self.finish(granted).await;
        } else {
            let is_open = self.opens.get_mut(&wait.fid);
            let refused = match is_open {
                Some(open) => {
                    open.refused_lock = Some(wait.offset);
                    error::FILE_LOCK_CONFLICT
                }
                None => error::RANGE_NOT_LOCKED,
            };
            let refused = self.put_nothing().and(Err(refused));
            self.finish(refused).await;
        }
    }
}
