//! What both senders share: when a message is due, from when on it is measured, and what was sent.

use lanlab_os::Usage;
use lanlab_units::Instant;

use super::crew::ThreadUsage;
use super::{Plan, worst_end};
use crate::host::cpu_time;
use crate::messages::{
    Distribution, EndedBy, Failure, FlowSent, HostWindow, StreamSent, TcpFacts, WhenLate,
};
use crate::running::Running;
use lanlab_workloads::measure::{DistributionMeter, Pacer, Turn};

/// A message that leaves later than this after its slot is counted as late.
const LATE_NS: u64 = 1_000_000;

/// Messages without a schedule between two readings of the clock, if they are small: some tens of
/// microseconds.
const RUN_MESSAGES: u64 = 16;
const SMALL_MESSAGE_BYTES: usize = 4096;

/// What one flow came to. Counts are of the measured part unless they say otherwise.
#[derive(Debug)]
pub struct Sent {
    pub ended_by: EndedBy,
    pub start_skew_ns: i64,
    pub elapsed_ns: u64,
    pub offered_messages: u64,
    pub sent_messages: u64,
    pub refused_messages: u64,
    pub refused_retried: u64,
    pub total_refused: u64,
    pub unsent_messages: u64,
    pub skipped_messages: u64,
    pub back_to_back_messages: u64,
    pub blocked_ns: u64,
    pub paused_ns: u64,
    pub late_messages: u64,
    pub max_lateness_ns: u64,
    /// Warm-up included: over UDP the sequence number of the next message.
    pub total_messages: u64,
    pub first_measured: u64,
    pub local_port: u16,
    pub send_buffer_bytes: u64,
    pub tcp: Option<TcpFacts>,
}

/// What a sender shall do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The warm-up is over: what comes next is measured. Ask again.
    Measure,
    /// Send so many messages.
    Send(u64),
    /// Nothing is due until then: the slot of a message, or the end.
    Wait(Instant),
    /// The amount is reached.
    Over,
}

/// The way of one flow from its start to its amount.
pub struct Course<'a> {
    plan: &'a Plan,
    running: &'a Running,
    start: Instant,
    first_slot: Instant,
    warmup_end: Instant,
    end: Option<Instant>,
    pacer: Option<Pacer>,
    /// When measuring began.
    measuring: Option<Instant>,
    /// When the last group of messages left.
    last_left: Option<Instant>,
    begun: bool,
    pub sent: Sent,
}

/// What the flows of one sending thread measure together.
pub struct SharedMeters {
    pub usage: ThreadUsage,
    gap: DistributionMeter,
}

impl SharedMeters {
    pub fn new() -> Self {
        Self { usage: ThreadUsage::default(), gap: DistributionMeter::new() }
    }
}

impl<'a> Course<'a> {
    pub fn new(
        plan: &'a Plan,
        flow: u16,
        running: &'a Running,
        start: Instant,
        local_port: u16,
    ) -> Self {
        let first_slot = plan.first_slot(start, flow);
        Self {
            plan,
            running,
            start,
            first_slot,
            warmup_end: plan.warmup_end(start),
            end: plan.end(start),
            pacer: plan.pace.map(|pace| Pacer::new(pace, first_slot, plan.group as u64)),
            measuring: None,
            last_left: None,
            begun: false,
            sent: Sent {
                ended_by: EndedBy::Unconfirmed,
                start_skew_ns: 0,
                elapsed_ns: 0,
                offered_messages: 0,
                sent_messages: 0,
                refused_messages: 0,
                refused_retried: 0,
                total_refused: 0,
                unsent_messages: 0,
                skipped_messages: 0,
                back_to_back_messages: 0,
                blocked_ns: 0,
                paused_ns: 0,
                late_messages: 0,
                max_lateness_ns: 0,
                total_messages: 0,
                first_measured: 0,
                local_port,
                send_buffer_bytes: 0,
                tcp: None,
            },
        }
    }

    pub fn is_measuring(&self) -> bool {
        self.measuring.is_some()
    }

    pub fn has_schedule(&self) -> bool {
        self.pacer.is_some()
    }

    /// What to do at `now`.
    pub fn next(&mut self, now: Instant, meters: &mut SharedMeters) -> Step {
        if !self.begun {
            self.begun = true;
            self.sent.start_skew_ns = now.signed_nanos_from(self.start);
        }
        if self.measuring.is_none() && now.max(self.due(now)) >= self.warmup_end {
            let warmup_slots = self.plan.slots(self.first_slot, self.warmup_end);
            if let Some(pacer) = &mut self.pacer {
                // What the warm-up could not send in its time is not the measured part's to send.
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
            // A last message that is due is sent even if its turn comes a moment after the end.
            Some(end) => {
                let due = self.due(now);
                due >= end || (now >= end && now.nanos_since(due) > LATE_NS)
            }
            None => limit == 0,
        };
        if over {
            // The last message has its share of the time too.
            let end = self.end.unwrap_or_else(|| self.due(Instant::ZERO));
            return if now < end { Step::Wait(end) } else { Step::Over };
        }
        let turn = match &mut self.pacer {
            None => Turn::Send(limit.min(self.plan.group as u64)),
            Some(pacer) => {
                if self.plan.when_late == WhenLate::Skip {
                    let skipped = pacer.skip_overdue(now, pacer.taken().saturating_add(limit));
                    if self.measuring.is_some() {
                        self.sent.skipped_messages += skipped;
                        self.sent.offered_messages += skipped;
                    }
                }
                pacer.turn(now, pacer.taken().saturating_add(limit))
            }
        };
        match turn {
            Turn::Send(messages) => Step::Send(messages),
            Turn::Wait(until) => Step::Wait(until),
        }
    }

    /// When the next message is due: its slot, or now if there is no schedule.
    fn due(&self, now: Instant) -> Instant {
        self.pacer.as_ref().map_or(now, Pacer::next_slot)
    }

    /// How many messages may go one after the other before the clock is read again: reading it for
    /// each would cost a tenth of what a small write takes. One where there is a schedule.
    pub fn run_length(&self) -> u64 {
        let small = self.plan.message_bytes <= SMALL_MESSAGE_BYTES;
        if self.has_schedule() || !small { 1 } else { self.messages_left().min(RUN_MESSAGES) }
    }

    /// Messages that may still be sent, in the warm-up or in the measured part.
    fn messages_left(&self) -> u64 {
        if let (Some(_), Some(messages)) = (self.measuring, self.plan.messages()) {
            return messages - self.sent.offered_messages;
        }
        // A group must not reach from the warm-up into the measured part, nor beyond its end.
        let part_end = if self.measuring.is_none() { Some(self.warmup_end) } else { self.end };
        match (&self.pacer, part_end) {
            (Some(pacer), Some(end)) => {
                self.plan.slots(self.first_slot, end).saturating_sub(pacer.taken()).max(1)
            }
            _ => u64::MAX,
        }
    }

    /// Count `due` messages whose turn it was at `now`, of which the system took `sent`.
    pub fn took(&mut self, due: u64, sent: u64, now: Instant, meters: &mut SharedMeters) {
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
        self.running.count(sent, sent * self.plan.message_bytes as u64);
    }

    /// The system had no room for a message that will be tried again.
    pub fn refused(&mut self) {
        self.sent.total_refused += 1;
        self.sent.refused_retried += u64::from(self.measuring.is_some());
    }

    /// The system made the sender wait for room so long.
    pub fn blocked(&mut self, waited_ns: u64) {
        if self.measuring.is_some() {
            self.sent.blocked_ns += waited_ns;
        }
    }

    /// Nothing was sent for so long, as nothing was heard of the receiver.
    pub fn paused(&mut self, waited_ns: u64) {
        self.sent.paused_ns += waited_ns;
    }

    /// Close the counts at `now`, when the amount is reached or something else has ended it.
    pub fn close(&mut self, now: Instant, meters: &mut SharedMeters) {
        let Some(since) = self.measuring else { return };
        self.sent.elapsed_ns = now.nanos_since(since);
        meters.usage.end();
        if let (Some(pacer), Some(end)) = (&self.pacer, self.end) {
            // By the schedule some messages may have been due whose turn never came.
            let due = self.plan.slots(self.first_slot, end.min(now));
            self.sent.unsent_messages = due.saturating_sub(pacer.taken());
            self.sent.offered_messages += self.sent.unsent_messages;
        }
    }
}

/// All flows of a sender together, and the failure that their end is, if it is one.
pub fn sum_up(
    plan: &Plan,
    flows: Vec<Sent>,
    threads: &[SharedMeters],
    host: Option<HostWindow>,
) -> (StreamSent, Option<Failure>) {
    let (ended_by, failure) = worst_end(flows.iter().map(|flow| flow.ended_by));
    let sum = |count: fn(&Sent) -> u64| flows.iter().map(count).sum::<u64>();
    let max = |count: fn(&Sent) -> u64| flows.iter().map(count).max().unwrap_or(0);
    let mut sent = StreamSent {
        ended_by,
        io: plan.io,
        io_choice: plan.io_choice.clone(),
        threads: threads.len() as u64,
        burst_messages: plan.group as u64,
        start_skew_ns: flows.iter().map(|flow| flow.start_skew_ns).max().unwrap_or(0),
        elapsed_ns: max(|flow| flow.elapsed_ns),
        offered_messages: sum(|flow| flow.offered_messages),
        sent_messages: sum(|flow| flow.sent_messages),
        refused_messages: sum(|flow| flow.refused_messages),
        refused_retried: sum(|flow| flow.refused_retried),
        total_refused: sum(|flow| flow.total_refused),
        unsent_messages: sum(|flow| flow.unsent_messages),
        skipped_messages: sum(|flow| flow.skipped_messages),
        late_messages: sum(|flow| flow.late_messages),
        max_lateness_ns: max(|flow| flow.max_lateness_ns),
        back_to_back_messages: sum(|flow| flow.back_to_back_messages),
        gap: gaps(threads),
        blocked_ns: sum(|flow| flow.blocked_ns),
        paused_ns: max(|flow| flow.paused_ns),
        total_messages: sum(|flow| flow.total_messages),
        send_buffer_bytes: max(|flow| flow.send_buffer_bytes),
        cpu: cpu_time(
            threads.iter().fold(Usage::default(), |all, thread| all.plus(thread.usage.used())),
        ),
        host,
        flows: Vec::new(),
    };
    sent.flows = flows
        .into_iter()
        .map(|flow| FlowSent {
            local_port: flow.local_port,
            first_measured: flow.first_measured,
            offered_messages: flow.offered_messages,
            sent_messages: flow.sent_messages,
            tcp: flow.tcp,
        })
        .collect();
    (sent, failure)
}

/// The gaps of all flows; `None` where nothing was paced.
fn gaps(threads: &[SharedMeters]) -> Option<Distribution> {
    let mut all = DistributionMeter::new();
    for thread in threads {
        all.add(&thread.gap);
    }
    (all.samples() > 0).then(|| all.finish())
}
