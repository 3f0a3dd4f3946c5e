//! Queued lock requests: who waits for which ranges of a file, in order of arrival.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::channel::SessionChannel;
use super::locks::{Locks, Wanted};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Waits,
    Granted,
    GivenUp,
}

/// A session's handle for a wait. It changes only while its file is locked.
#[derive(Debug)]
pub struct Ticket {
    outcome: AtomicU8,
    channel: SessionChannel,
}

impl Ticket {
    pub fn outcome(&self) -> Outcome {
        match self.outcome.load(Ordering::Acquire) {
            0 => Outcome::Waits,
            1 => Outcome::Granted,
            _ => Outcome::GivenUp,
        }
    }

    fn end(&self, outcome: u8) {
        self.outcome.store(outcome, Ordering::Release);
        self.channel.wake();
    }
}

#[derive(Debug)]
struct Waiter {
    ticket: Arc<Ticket>,
    wanted: Vec<Wanted>,
    shared: bool,
}

#[derive(Debug, Default)]
pub struct Queue(Vec<Waiter>);

impl Queue {
    /// Wait for all these ranges. The session of `channel` is woken when the wait ends.
    pub fn wait(
        &mut self,
        wanted: Vec<Wanted>,
        shared: bool,
        channel: SessionChannel,
    ) -> Arc<Ticket> {
        let ticket = Arc::new(Ticket { outcome: AtomicU8::new(0), channel });
        self.0.push(Waiter { ticket: Arc::clone(&ticket), wanted, shared });
        ticket
    }

    pub fn grant(&mut self, locks: &mut Locks) {
        self.0.retain(|waiter| {
            let is_granted = locks.lock_all(&waiter.wanted, waiter.shared).is_ok();
            if is_granted {
                waiter.ticket.end(1);
            }
            !is_granted
        });
    }

    pub fn give_up(&mut self, is_meant: impl Fn(&Arc<Ticket>, &[Wanted]) -> bool) -> usize {
        let before = self.0.len();
        self.0.retain(|waiter| {
            let goes_on = !is_meant(&waiter.ticket, &waiter.wanted);
            if !goes_on {
                waiter.ticket.end(2);
            }
            goes_on
        });
        before - self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::locks::Owner;
    use super::*;

    fn of(open: u64, offset: u64, len: u64) -> Vec<Wanted> {
        vec![Wanted { owner: Owner { open, pid: 1 }, offset, len }]
    }

    #[test]
    fn locks_are_granted_in_order_and_free_ranges_at_once() {
        let (mut locks, mut queue) = (Locks::default(), Queue::default());
        locks.lock_all(&of(1, 0, 10), false).unwrap();
        locks.lock_all(&of(1, 20, 10), false).unwrap();
        let [first, second, other] = [of(2, 0, 10), of(3, 5, 10), of(4, 20, 5)]
            .map(|wanted| queue.wait(wanted, false, SessionChannel::default()));
        queue.grant(&mut locks);
        assert_eq!(first.outcome(), Outcome::Waits);
        locks.unlock(Owner { open: 1, pid: 1 }, 20, 10).unwrap();
        queue.grant(&mut locks);
        assert_eq!(other.outcome(), Outcome::Granted, "it does not wait for those before it");
        locks.unlock(Owner { open: 1, pid: 1 }, 0, 10).unwrap();
        queue.grant(&mut locks);
        assert_eq!((first.outcome(), second.outcome()), (Outcome::Granted, Outcome::Waits));
        locks.close(2);
        queue.grant(&mut locks);
        assert_eq!(second.outcome(), Outcome::Granted);
    }

    #[test]
    fn all_ranges_of_a_request_are_granted_together() {
        let (mut locks, mut queue) = (Locks::default(), Queue::default());
        locks.lock_all(&of(1, 0, 1), false).unwrap();
        let both = [of(2, 5, 1), of(2, 0, 1)].concat();
        let ticket = queue.wait(both, false, SessionChannel::default());
        queue.grant(&mut locks);
        locks.lock_all(&of(3, 5, 1), false).expect("half of it is not kept");
        locks.close(1);
        queue.grant(&mut locks);
        assert_eq!(ticket.outcome(), Outcome::Waits);
        assert_eq!(queue.give_up(|one, _| Arc::ptr_eq(one, &ticket)), 1);
        locks.close(3);
        queue.grant(&mut locks);
        assert_eq!(ticket.outcome(), Outcome::GivenUp);
        assert!(locks.is_empty());
    }
}
