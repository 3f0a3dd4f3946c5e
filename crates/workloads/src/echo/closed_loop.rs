//! A requester in a closed loop: the next request leaves when the reply is there or overdue.
//!
//! # Driving it
//!
//! Ask [`next`](ClosedLoop::next) what to do, and do it; say what became of a request by
//! [`handed`](ClosedLoop::handed) and what a look at the replies found by
//! [`heard`](ClosedLoop::heard); then ask again.

use lanlab_units::Instant;

use super::{Counts, Handed, Heard, Plan};
use crate::Progress;
use crate::messages::{EndedBy, Failure};
use crate::peer_failure::went_on_too_long;

/// Pause before the next request if the system had no room for one.
const REFUSED_PAUSE_NS: u64 = 1_000_000;

/// What a requester in a closed loop shall do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The warm-up is over: what comes next is measured. Ask again.
    Measure,
    /// Send the request with this number.
    Send(u64),
    /// Look for replies, until then at most.
    Listen(Instant),
    /// Nothing is due until then.
    Wait(Instant),
    /// It is over.
    Over(EndedBy),
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    /// A request may leave, but not before then.
    Ready(Instant),
    /// The reply to a request that was sent then is waited for.
    Waiting(Instant),
    Over(EndedBy),
}

/// A requester in a closed loop.
pub struct ClosedLoop<'a> {
    plan: &'a Plan,
    progress: &'a Progress,
    warmup_end: Instant,
    end: Instant,
    latest_end: Instant,
    phase: Phase,
    /// Number of the request that is waited for, or else of the next.
    sequence: u64,
    /// What was counted.
    pub counts: Counts,
}

impl<'a> ClosedLoop<'a> {
    /// Nothing has been sent; `start` is the beginning of the warm-up.
    pub fn new(plan: &'a Plan, progress: &'a Progress, start: Instant) -> Self {
        Self {
            plan,
            progress,
            warmup_end: plan.warmup_end(start),
            end: plan.end(start),
            latest_end: plan.latest_end(start),
            phase: Phase::Ready(start),
            sequence: 0,
            counts: Counts::new(plan, start),
        }
    }

    /// What to do at `now`.
    ///
    /// # Errors
    /// `peer.too_long` if the peer keeps the loop going beyond all that was agreed on.
    #[inline]
    pub fn next(&mut self, now: Instant) -> Result<Step, Failure> {
        match self.phase {
            Phase::Over(ended_by) => return Ok(Step::Over(ended_by)),
            _ if self.progress.is_cancelled() => return Ok(self.over(EndedBy::Cancelled)),
            Phase::Waiting(sent_at) => {
                let due = sent_at.plus_nanos(self.plan.timeout_ns);
                if now < due {
                    return Ok(Step::Listen(due));
                }
                if self.counts.is_measured(self.sequence) {
                    self.counts.last = now;
                }
                self.sequence += 1;
                self.phase = Phase::Ready(now);
            }
            Phase::Ready(from) if now < from => return Ok(Step::Wait(from)),
            Phase::Ready(_) => {}
        }
        if self.counts.first_measured == u64::MAX && now >= self.warmup_end {
            self.counts.first_measured = self.sequence;
            self.counts.measured_from = now;
            return Ok(Step::Measure);
        }
        let measured = self.counts.is_measured(self.sequence);
        if now >= self.end || (measured && self.counts.offered == self.plan.requests()) {
            return Ok(self.over(EndedBy::Finished));
        }
        if now.nanos_since(self.counts.last_reply) > self.plan.silence_ns {
            return Ok(self.over(EndedBy::Silence));
        }
        if now > self.latest_end {
            return Err(went_on_too_long());
        }
        self.counts.offered += u64::from(measured);
        Ok(Step::Send(self.sequence))
    }

    /// The request that was to be sent at `now` was handed to the system.
    #[inline]
    pub fn handed(&mut self, handed: Handed, now: Instant) {
        let measured = self.counts.is_measured(self.sequence);
        match handed {
            Handed::Sent => {
                self.counts.sent += u64::from(measured);
                self.progress.count(1, self.plan.message_bytes as u64);
                self.phase = Phase::Waiting(now);
            }
            Handed::Refused => {
                self.counts.refused += u64::from(measured);
                self.sequence += 1;
                self.phase = Phase::Ready(now.plus_nanos(REFUSED_PAUSE_NS));
            }
            Handed::Closed => self.phase = Phase::Over(EndedBy::PeerClosed),
        }
    }

    /// A look at the replies found this at `now`. Gives whether it is the reply that is waited for,
    /// and is measured.
    #[inline]
    pub fn heard(&mut self, heard: Heard, now: Instant) -> bool {
        match (heard, self.phase) {
            (Heard::Reply(number), Phase::Waiting(sent_at)) if number == self.sequence => {
                self.counts.take(number, now.nanos_since(sent_at), now);
                self.sequence += 1;
                self.phase = Phase::Ready(now);
                return self.counts.is_measured(number);
            }
            // A reply to an earlier request, which is overdue, or one that comes again.
            (Heard::Reply(number), _) if number < self.sequence => {
                self.counts.take(number, u64::MAX, now);
            }
            // What was not asked for yet cannot be answered.
            (Heard::Reply(_) | Heard::Foreign, _) => self.counts.foreign += 1,
            (Heard::Closed, _) => self.phase = Phase::Over(EndedBy::PeerClosed),
            (Heard::Idle | Heard::Alive, _) => {}
        }
        false
    }

    fn over(&mut self, ended_by: EndedBy) -> Step {
        self.phase = Phase::Over(ended_by);
        Step::Over(ended_by)
    }
}
