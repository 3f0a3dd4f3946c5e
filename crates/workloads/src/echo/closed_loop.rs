//! A closed-loop requester, which keeps a number of requests in flight. It sends the next one when a reply arrives
//! or times out.
//!
//! # Driving it
//!
//! Call [`next`](ClosedLoop::next) and do what it returns; report requests with [`handed`](ClosedLoop::handed) and
//! received datagrams with [`heard`](ClosedLoop::heard); then repeat.

use std::collections::VecDeque;

use lanlab_units::Instant;

use super::{Counts, Handed, Heard, Plan};
use crate::Progress;
use crate::messages::{EndedBy, Failure};
use crate::peer_failure::went_on_too_long;

/// Pause before the next request if the system had no room for one.
const REFUSED_PAUSE_NS: u64 = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Measure,
    Send(u64),
    /// Receive replies, at most until this time.
    Listen(Instant),
    Wait(Instant),
    Over(EndedBy),
}

#[derive(Debug)]
struct Outstanding {
    sequence: u64,
    sent_at: Instant,
    is_answered: bool,
}

pub struct ClosedLoop<'a> {
    plan: &'a Plan,
    progress: &'a Progress,
    warmup_end: Instant,
    end: Instant,
    latest_end: Instant,
    ended_by: Option<EndedBy>,
    /// Requests in flight in sending order, which is also their time-out order. The first is unanswered.
    outstanding: VecDeque<Outstanding>,
    waiting: usize,
    ready_from: Instant,
    sequence: u64,
    pub counts: Counts,
}

impl<'a> ClosedLoop<'a> {
    pub fn new(plan: &'a Plan, progress: &'a Progress, start: Instant) -> Self {
        Self {
            plan,
            progress,
            warmup_end: plan.warmup_end(start),
            end: plan.end(start),
            latest_end: plan.latest_end(start),
            ended_by: None,
            outstanding: VecDeque::with_capacity(plan.outstanding_requests),
            waiting: 0,
            ready_from: start,
            sequence: 0,
            counts: Counts::new(plan, start),
        }
    }

    #[inline]
    pub fn next(&mut self, now: Instant) -> Result<Step, Failure> {
        if let Some(ended_by) = self.ended_by {
            return Ok(Step::Over(ended_by));
        }
        if self.progress.is_cancelled() {
            return Ok(self.over(EndedBy::Cancelled));
        }
        self.give_up_overdue(now);
        let first_due = self.first_due();
        if self.is_full() {
            return Ok(Step::Listen(first_due));
        }
        if now < self.ready_from {
            return Ok(match self.waiting {
                0 => Step::Wait(self.ready_from),
                _ => Step::Listen(first_due.min(self.ready_from)),
            });
        }
        if self.counts.first_measured == u64::MAX && now >= self.warmup_end {
            self.counts.first_measured = self.sequence;
            self.counts.measured_from = now;
            return Ok(Step::Measure);
        }
        let measured = self.counts.is_measured(self.sequence);
        if now >= self.end || (measured && self.counts.offered == self.plan.requests()) {
            return Ok(self.drain(now, first_due));
        }
        if now.nanos_since(self.counts.last_reply) > self.plan.longest_silence_ns() {
            return Ok(self.over(EndedBy::Silence));
        }
        if now > self.latest_end {
            return Err(went_on_too_long());
        }
        self.counts.offered += u64::from(measured);
        Ok(Step::Send(self.sequence))
    }

    #[inline]
    pub fn is_full(&self) -> bool {
        self.waiting >= self.plan.outstanding_requests
    }

    fn give_up_overdue(&mut self, now: Instant) {
        while self.waiting > 0 && self.first_due() <= now {
            let Some(overdue) = self.outstanding.pop_front() else { return };
            if self.counts.is_measured(overdue.sequence) {
                self.counts.last = now;
            }
            self.waiting -= 1;
            self.forget_answered();
        }
    }

    fn first_due(&self) -> Instant {
        self.outstanding
            .front()
            .map_or(Instant::FAR_FUTURE, |first| first.sent_at.plus_nanos(self.plan.timeout_ns))
    }

    fn forget_answered(&mut self) {
        while self.outstanding.front().is_some_and(|first| first.is_answered) {
            self.outstanding.pop_front();
        }
    }

    /// The amount was reached at `now`: wait for replies in flight.
    fn drain(&mut self, now: Instant, first_due: Instant) -> Step {
        let last = if self.waiting == 0 { self.counts.last } else { now };
        self.counts.sent_until.get_or_insert(last);
        if self.waiting == 0 { self.over(EndedBy::Finished) } else { Step::Listen(first_due) }
    }

    #[inline]
    pub fn handed(&mut self, handed: Handed, now: Instant) {
        let measured = self.counts.is_measured(self.sequence);
        match handed {
            Handed::Sent => {
                self.counts.sent += u64::from(measured);
                self.progress.count(1, self.plan.message_bytes as u64);
                let (sequence, is_answered) = (self.sequence, false);
                self.outstanding.push_back(Outstanding { sequence, sent_at: now, is_answered });
                self.waiting += 1;
                self.ready_from = now;
                self.sequence += 1;
            }
            Handed::Refused => {
                self.counts.refused += u64::from(measured);
                self.sequence += 1;
                self.ready_from = now.plus_nanos(REFUSED_PAUSE_NS);
            }
            Handed::Closed => self.ended_by = Some(EndedBy::PeerClosed),
        }
    }

    /// Handle a received datagram at `now`. Returns whether it is an awaited and measured reply.
    #[inline]
    pub fn heard(&mut self, heard: Heard, now: Instant) -> bool {
        match heard {
            Heard::Reply(number) if number < self.sequence => return self.answered(number, now),
            // A reply to a request that was not sent yet is foreign.
            Heard::Reply(_) | Heard::Foreign => self.counts.foreign += 1,
            Heard::Closed => self.ended_by = Some(EndedBy::PeerClosed),
            Heard::Idle | Heard::Alive => {}
        }
        false
    }

    fn answered(&mut self, number: u64, now: Instant) -> bool {
        let found = self.outstanding.binary_search_by_key(&number, |one| one.sequence);
        let waiting = found.ok().and_then(|at| self.outstanding.get_mut(at));
        let Some(request) = waiting.filter(|request| !request.is_answered) else {
            // A late or duplicate reply.
            self.counts.take(number, u64::MAX, now);
            return false;
        };
        request.is_answered = true;
        let sent_at = request.sent_at;
        self.counts.take(number, now.nanos_since(sent_at), now);
        self.waiting -= 1;
        self.forget_answered();
        self.counts.is_measured(number)
    }

    fn over(&mut self, ended_by: EndedBy) -> Step {
        self.ended_by = Some(ended_by);
        Step::Over(ended_by)
    }
}
