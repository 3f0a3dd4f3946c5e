//! Shared by both senders: when messages are due, when measuring starts, and what was sent.

use lanlab_units::Instant;

use super::{CpuMeter, Plan};
use crate::Progress;
use crate::measure::{DistributionMeter, Pacer, Turn};
use crate::messages::{EndedBy, TcpFacts, WhenLate};

/// A message sent later than this after its slot counts as late.
const LATE_NS: u64 = 1_000_000;

/// Without a schedule, small messages sent between two clock readings: some tens of microseconds.
const RUN_MESSAGES: u64 = 16;
const SMALL_MESSAGE_BYTES: usize = 4096;

/// Result of one flow. Counts refer to the measured part unless stated otherwise.
#[derive(Debug, Default)]
pub struct Sent {
    pub ended_by: EndedBy,
    pub start_skew_ns: i64,
    pub elapsed_ns: u64,
    pub offered_messages: u64,
    pub sent_messages: u64,
    /// Messages not sent because the system had no room.
    pub refused_messages: u64,
    /// How often the system had no room for a message; it was sent later.
    pub refused_retried: u64,
    pub total_refused: u64,
    /// Messages due but not sent when the time was over.
    pub unsent_messages: u64,
    /// Messages skipped because the next one was due as well.
    pub skipped_messages: u64,
    /// Messages sent within a tenth of the period after the previous one.
    pub back_to_back_messages: u64,
    pub blocked_ns: u64,
    /// Time in which sending was paused because the receiver was silent.
    pub paused_ns: u64,
    pub late_messages: u64,
    pub max_lateness_ns: u64,
    pub total_messages: u64,
    pub first_measured: u64,
    pub local_port: u16,
    pub send_buffer_bytes: u64,
    pub tcp: Option<TcpFacts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Measure,
    Send(u64),
    /// Wait for the next message's slot, or for the end.
    Wait(Instant),
    Over,
}

pub struct Schedule<'a> {
    plan: &'a Plan,
    progress: &'a Progress,
    start: Instant,
    first_slot: Instant,
    warmup_end: Instant,
    end: Option<Instant>,
    pacer: Option<Pacer>,
    measuring: Option<Instant>,
    last_left: Option<Instant>,
    blocked_since: Option<Instant>,
    begun: bool,
    pub sent: Sent,
}

#[derive(Default)]
pub struct SharedMeters<U> {
    pub usage: U,
    pub gap: DistributionMeter,
}

impl<'a> Schedule<'a> {
    /// The schedule of one flow; `start` is the beginning of the warm-up.
    pub fn new(
        plan: &'a Plan,
        flow: u16,
        progress: &'a Progress,
        start: Instant,
        local_port: u16,
    ) -> Self {
        let first_slot = plan.first_slot(start, flow);
        Self {
            plan,
            progress,
            start,
            first_slot,
            warmup_end: plan.warmup_end(start),
            end: plan.end(start),
            pacer: plan.pace.map(|pace| Pacer::new(pace, first_slot, plan.group as u64)),
            measuring: None,
            last_left: None,
            blocked_since: None,
            begun: false,
            sent: Sent { local_port, ..Sent::default() },
        }
    }

    pub fn is_measuring(&self) -> bool {
        self.measuring.is_some()
    }

    pub fn has_schedule(&self) -> bool {
        self.pacer.is_some()
    }

    pub fn next(&mut self, now: Instant, meters: &mut SharedMeters<impl CpuMeter>) -> Step {
        if !self.begun {
            self.begun = true;
            self.sent.start_skew_ns = now.signed_nanos_from(self.start);
        }
        if self.measuring.is_none() && now.max(self.due(now)) >= self.warmup_end {
            let warmup_slots = self.plan.slots(self.first_slot, self.warmup_end);
            if let Some(pacer) = &mut self.pacer {
                // Messages that the warm-up failed to send are not sent in the measured part.
                pacer.skip_to(warmup_slots);
            }
            self.measuring = Some(self.due(now));
            self.last_left = None;
            meters.usage.begin();
            self.sent.first_measured = self.sent.total_messages;
            return Step::Measure;
        }
        let limit = self.messages_left();
        let over = match self.end {
            // A due last message is sent even if its turn comes a moment after the end.
            Some(end) => {
                let due = self.due(now);
                due >= end || (now >= end && now.nanos_since(due) > LATE_NS)
            }
            None => limit == 0,
        };
        if over {
            // The last message gets its full period, too.
            let end = self.end.unwrap_or_else(|| self.due(Instant::ZERO));
            return if now < end { Step::Wait(end) } else { Step::Over };
        }
        let turn = match &mut self.pacer {
            None => Turn::Send(limit.min(self.plan.group as u64)),
            Some(pacer) => {
                if self.plan.when_late == WhenLate::Skip {
                    let skipped = pacer.skip_overdue(now, pacer.taken.saturating_add(limit));
                    if self.measuring.is_some() {
                        self.sent.skipped_messages += skipped;
                        self.sent.offered_messages += skipped;
                    }
                }
                pacer.turn(now, pacer.taken.saturating_add(limit))
            }
        };
        match turn {
            Turn::Send(messages) => Step::Send(messages),
            Turn::Wait(until) => Step::Wait(until),
        }
    }

    fn due(&self, now: Instant) -> Instant {
        self.pacer.as_ref().map_or(now, Pacer::next_slot)
    }

    /// Messages sent between two clock readings: one for each would cost a tenth of a small write.
    /// 1 with a schedule.
    pub fn run_length(&self) -> u64 {
        let small = self.plan.message_bytes <= SMALL_MESSAGE_BYTES;
        if self.has_schedule() || !small { 1 } else { self.messages_left().min(RUN_MESSAGES) }
    }

    /// Messages that may still be sent in the current part, warm-up or measured.
    fn messages_left(&self) -> u64 {
        if let (Some(_), Some(messages)) = (self.measuring, self.plan.messages()) {
            return messages - self.sent.offered_messages;
        }
        // A group must not extend from the warm-up into the measured part, nor beyond its end.
        let part_end = if self.measuring.is_none() { Some(self.warmup_end) } else { self.end };
        match (&self.pacer, part_end) {
            (Some(pacer), Some(end)) => {
                self.plan.slots(self.first_slot, end).saturating_sub(pacer.taken).max(1)
            }
            _ => u64::MAX,
        }
    }

    /// Count `due` messages at `now`, of which the system accepted `sent`.
    pub fn took(
        &mut self,
        due: u64,
        sent: u64,
        now: Instant,
        meters: &mut SharedMeters<impl CpuMeter>,
    ) {
        let measured = self.measuring.is_some();
        if let Some(pacer) = &mut self.pacer {
            let lateness_ns = now.nanos_since(pacer.next_slot());
            pacer.took(due, now);
            if measured {
                self.sent.max_lateness_ns = self.sent.max_lateness_ns.max(lateness_ns);
                self.sent.late_messages += if lateness_ns > LATE_NS { due } else { 0 };
                if let Some(last) = self.last_left.replace(now) {
                    let gap_ns = now.nanos_since(last);
                    meters.gap.record(gap_ns.cast_signed());
                    let even_ns = pacer.group_ns();
                    self.sent.back_to_back_messages += u64::from(10 * gap_ns < even_ns);
                }
            }
        }
        self.sent.total_messages += sent;
        self.sent.total_refused += due - sent;
        if measured {
            self.sent.offered_messages += due;
            self.sent.sent_messages += sent;
            self.sent.refused_messages += due - sent;
        }
        self.progress.count(sent, sent * self.plan.message_bytes as u64);
    }

    /// The system had no room for a message that will be retried.
    pub fn refused(&mut self) {
        self.sent.total_refused += 1;
        self.sent.refused_retried += u64::from(self.measuring.is_some());
    }

    /// The system has had no room for a message since `now`.
    pub fn blocked(&mut self, now: Instant) {
        self.blocked_since = Some(now);
    }

    /// A message is tried at `now`, possibly again.
    pub fn tries(&mut self, now: Instant) {
        let since = self.blocked_since.take().filter(|_| self.measuring.is_some());
        self.sent.blocked_ns += since.map_or(0, |since| now.nanos_since(since));
    }

    /// Nothing was sent for `waited_ns` because the receiver was silent.
    pub fn paused(&mut self, waited_ns: u64) {
        self.sent.paused_ns += waited_ns;
    }

    /// Close the counters at `now`, when the amount is reached or the flow has ended otherwise.
    pub fn close(&mut self, now: Instant, meters: &mut SharedMeters<impl CpuMeter>) {
        let Some(since) = self.measuring else { return };
        self.sent.elapsed_ns = now.nanos_since(since);
        meters.usage.end();
        if let (Some(pacer), Some(end)) = (&self.pacer, self.end) {
            // Some scheduled messages may be due but unsent.
            let due = self.plan.slots(self.first_slot, end.min(now));
            self.sent.unsent_messages = due.saturating_sub(pacer.taken);
            self.sent.offered_messages += self.sent.unsent_messages;
        }
    }
}
