//! A fixed-rate requester: requests are sent on schedule without waiting for replies. One thread sends and another
//! receives; both use the state machines here.

use std::sync::atomic::{AtomicU64, Ordering};

use lanlab_units::{Instant, Pace};

use super::{Counts, Handed, Heard, Plan};
use crate::Progress;
use crate::measure::{Pacer, Turn};
use crate::messages::{EndedBy, Failure, Transport};
use crate::peer_failure::went_on_too_long;

/// Interval at which a sender checks for cancellation.
const CHECK_NS: u64 = 10_000_000;
/// A datagram sender pauses after this silence plus a round trip, until it hears its peer again, so as not to flood
/// an absent one. TCP ensures that by itself.
const DEAD_MAN_NS: u64 = 900_000_000;
/// Interval of keep-alive messages over UDP while no request is due.
const ALIVE_NS: u64 = 50_000_000;

#[derive(Debug, Clone, Copy)]
pub struct RateSchedule {
    pace: Pace,
    start: Instant,
    first_measured: u64,
    pub total: u64,
}

impl RateSchedule {
    pub fn new(plan: &Plan, pace: Pace, start: Instant) -> Self {
        let first_measured = pace.slots_within(plan.warmup_ns);
        let total = match plan.requests() {
            u64::MAX => pace.slots_within(plan.end(start).nanos_since(start)),
            measured => first_measured + measured,
        };
        Self { pace, start, first_measured, total }
    }

    pub fn slot(&self, sequence: u64) -> Instant {
        self.pace.slot(self.start, sequence)
    }
}

/// Arrival time of the peer's last datagram, written by the receiving thread and read by the sender.
#[derive(Debug)]
pub struct LastHeard(AtomicU64);

impl LastHeard {
    pub fn new(start: Instant) -> Self {
        Self(AtomicU64::new(start.as_nanos()))
    }

    fn note(&self, now: Instant) {
        self.0.store(now.as_nanos(), Ordering::Relaxed);
    }

    fn is_long_ago(&self, now: Instant, round_trip_ns: u64) -> bool {
        let heard = Instant::from_nanos(self.0.load(Ordering::Relaxed));
        now.nanos_since(heard) > DEAD_MAN_NS + round_trip_ns
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Send(u64),
    SayAlive,
    Wait(Instant),
    Rest(Instant),
    Over,
}

pub struct RateSender<'a> {
    plan: &'a Plan,
    progress: &'a Progress,
    heard: &'a LastHeard,
    schedule: RateSchedule,
    pacer: Pacer,
    last_sent: Instant,
    sent: u64,
    refused: u64,
    stopped: Option<EndedBy>,
}

impl<'a> RateSender<'a> {
    pub fn new(
        plan: &'a Plan,
        progress: &'a Progress,
        heard: &'a LastHeard,
        schedule: RateSchedule,
    ) -> Self {
        Self {
            plan,
            progress,
            heard,
            schedule,
            pacer: Pacer::new(schedule.pace, schedule.start, 1),
            last_sent: schedule.start,
            sent: 0,
            refused: 0,
            stopped: None,
        }
    }

    #[inline]
    pub fn next(&mut self, now: Instant) -> Due {
        if self.stopped.is_some() || self.pacer.taken >= self.schedule.total {
            return Due::Over;
        }
        if self.progress.is_cancelled() {
            self.stopped = Some(EndedBy::Cancelled);
            return Due::Over;
        }
        match self.pacer.turn(now, self.schedule.total) {
            Turn::Wait(until) if until <= now.plus_nanos(CHECK_NS) => Due::Wait(until),
            Turn::Send(_)
                if !self.over_datagrams()
                    || !self.heard.is_long_ago(now, self.plan.round_trip_ns) =>
            {
                Due::Send(self.pacer.taken)
            }
            Turn::Wait(_) | Turn::Send(_) => self.rest(now),
        }
    }

    fn rest(&mut self, now: Instant) -> Due {
        if self.over_datagrams() && now.nanos_since(self.last_sent) > ALIVE_NS {
            self.last_sent = now;
            return Due::SayAlive;
        }
        Due::Rest(now.plus_nanos(CHECK_NS))
    }

    fn over_datagrams(&self) -> bool {
        self.plan.transport == Transport::Udp
    }

    #[inline]
    pub fn handed(&mut self, handed: Handed, now: Instant) {
        let counted = u64::from(self.pacer.taken >= self.schedule.first_measured);
        match handed {
            Handed::Sent => {
                self.sent += counted;
                self.progress.count(1, self.plan.message_bytes as u64);
            }
            Handed::Refused => self.refused += counted,
            Handed::Closed => self.stopped = Some(EndedBy::PeerClosed),
        }
        self.last_sent = now;
        self.pacer.took(1, now);
    }
}

pub struct RateListener<'a> {
    plan: &'a Plan,
    progress: &'a Progress,
    heard: &'a LastHeard,
    schedule: RateSchedule,
    latest_end: Instant,
    last_due: Option<Instant>,
    closed: bool,
    pub counts: Counts,
}

impl<'a> RateListener<'a> {
    pub fn new(
        plan: &'a Plan,
        progress: &'a Progress,
        heard: &'a LastHeard,
        schedule: RateSchedule,
    ) -> Self {
        let mut counts = Counts::new(plan, schedule.start);
        counts.first_measured = schedule.first_measured;
        counts.measured_from = schedule.slot(schedule.first_measured);
        counts.offered = schedule.total.saturating_sub(schedule.first_measured);
        Self {
            plan,
            progress,
            heard,
            schedule,
            latest_end: plan.latest_end(schedule.start),
            last_due: None,
            closed: false,
            counts,
        }
    }

    #[inline]
    pub fn heard(&mut self, heard: Heard, now: Instant) {
        if matches!(heard, Heard::Reply(_) | Heard::Alive) {
            self.heard.note(now);
        }
        match heard {
            // A reply to a request not sent yet: a short number was extended wrongly.
            Heard::Reply(sequence)
                if sequence < self.schedule.total && self.schedule.slot(sequence) <= now =>
            {
                let round_trip_ns = now.nanos_since(self.schedule.slot(sequence));
                self.counts.take(sequence, round_trip_ns, now);
            }
            Heard::Reply(_) | Heard::Foreign => self.counts.foreign += 1,
            Heard::Closed => self.closed = true,
            Heard::Idle | Heard::Alive => {}
        }
    }

    /// Whether the trial has ended at `now`, and why. Call it after each receive, at least fifty times a second. It
    /// also stops the sender.
    #[inline]
    pub fn end(&mut self, now: Instant, all_sent: bool) -> Result<Option<EndedBy>, Failure> {
        if all_sent && self.last_due.is_none() {
            self.last_due = Some(now.plus_nanos(self.plan.timeout_ns));
        }
        let ended_by = if self.closed {
            EndedBy::PeerClosed
        } else if self.last_due.is_some_and(|due| now >= due)
            || self.counts.is_complete(self.schedule.total)
        {
            return Ok(Some(EndedBy::Finished));
        } else if self.progress.is_cancelled() {
            EndedBy::Cancelled
        } else if now.nanos_since(self.counts.last_reply) > self.plan.longest_silence_ns() {
            EndedBy::Silence
        } else if now > self.latest_end {
            self.progress.cancel();
            return Err(went_on_too_long());
        } else {
            return Ok(None);
        };
        self.progress.cancel();
        Ok(Some(ended_by))
    }

    /// Close the counters at `now` with those of the sender; the listener ended by `ended_by`. Returns how both
    /// ended.
    pub fn close(&mut self, sender: &RateSender, ended_by: EndedBy, now: Instant) -> EndedBy {
        self.counts.sent = sender.sent;
        self.counts.refused = sender.refused;
        self.counts.last = self.counts.last.max(now);
        match ended_by {
            EndedBy::Finished => sender.stopped.unwrap_or(EndedBy::Finished),
            other => other,
        }
    }
}
