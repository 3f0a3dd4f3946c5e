//! What both senders share: when a message is due, from when on it is measured, and what was sent.

use lanlab_link as link;
use lanlab_link::Usage;
use lanlab_units::Instant;

use super::{Plan, worst_end};
use crate::failure::Failure;
use crate::measure::{Pacer, Turn};
use crate::messages::{EndedBy, FlowSent, StreamSent, TcpFacts};
use crate::running::Running;

/// A message that leaves later than this after its slot is counted as late.
const LATE_NS: u64 = 1_000_000;

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
    pub unsent_messages: u64,
    pub late_messages: u64,
    pub max_lateness_ns: u64,
    /// Warm-up included: over UDP the sequence number of the next message.
    pub total_messages: u64,
    pub first_measured: u64,
    pub cpu: Usage,
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
    /// Nothing is due until then.
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
    /// When measuring began, and the CPU time used until then.
    measuring: Option<(Instant, Usage)>,
    pub sent: Sent,
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
            sent: Sent {
                ended_by: EndedBy::Unconfirmed,
                start_skew_ns: 0,
                elapsed_ns: 0,
                offered_messages: 0,
                sent_messages: 0,
                refused_messages: 0,
                refused_retried: 0,
                unsent_messages: 0,
                late_messages: 0,
                max_lateness_ns: 0,
                total_messages: 0,
                first_measured: 0,
                cpu: Usage::default(),
                local_port,
                send_buffer_bytes: 0,
                tcp: None,
            },
        }
    }

    /// Wait for the start. `None` if the driver does not want it any more.
    pub fn wait_to_begin(&mut self) -> Option<Instant> {
        let now = self.running.wait_to_begin(self.start)?;
        self.sent.start_skew_ns = now.signed_nanos_from(self.start);
        Some(now)
    }

    pub fn is_measuring(&self) -> bool {
        self.measuring.is_some()
    }

    pub fn has_schedule(&self) -> bool {
        self.pacer.is_some()
    }

    /// What to do at `now`.
    pub fn next(&mut self, now: Instant) -> Step {
        if self.measuring.is_none() && now.max(self.due(now)) >= self.warmup_end {
            let warmup_slots = self.plan.slots(self.first_slot, self.warmup_end);
            if let Some(pacer) = &mut self.pacer {
                // What the warm-up could not send in its time is not the measured part's to send.
                pacer.skip_to(warmup_slots);
            }
            self.measuring = Some((self.due(now), link::thread_usage()));
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
            return Step::Over;
        }
        let turn = match &self.pacer {
            None => Turn::Send(limit.min(self.plan.group as u64)),
            Some(pacer) => pacer.turn(now, pacer.taken().saturating_add(limit)),
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
    pub fn took(&mut self, due: u64, sent: u64, now: Instant) {
        if let Some(pacer) = &mut self.pacer {
            let lateness_ns = now.nanos_since(pacer.next_slot());
            pacer.took(due, now);
            if self.measuring.is_some() {
                self.sent.max_lateness_ns = self.sent.max_lateness_ns.max(lateness_ns);
                self.sent.late_messages += if lateness_ns > LATE_NS { due } else { 0 };
            }
        }
        self.sent.total_messages += sent;
        if self.measuring.is_some() {
            self.sent.offered_messages += due;
            self.sent.sent_messages += sent;
            self.sent.refused_messages += due - sent;
        }
        self.running.count(sent, sent * self.plan.message_bytes as u64);
    }

    /// Close the counts, when the amount is reached or something else has ended it.
    pub fn close(&mut self, stopped: Option<EndedBy>) {
        if stopped.is_none() {
            // The last message has its share of the time too.
            link::sleep_until(self.end.unwrap_or_else(|| self.due(Instant::ZERO)));
        }
        let now = link::monotonic();
        let Some((since, usage)) = self.measuring else { return };
        self.sent.elapsed_ns = now.nanos_since(since);
        self.sent.cpu = link::thread_usage().since(usage);
        if let (Some(pacer), Some(end)) = (&self.pacer, self.end) {
            // By the schedule some messages may have been due whose turn never came.
            let due = self.plan.slots(self.first_slot, end.min(now));
            self.sent.unsent_messages = due.saturating_sub(pacer.taken());
            self.sent.offered_messages += self.sent.unsent_messages;
        }
    }
}

/// All flows of a sender together, and the failure that their end is, if it is one.
pub fn sum_up(plan: &Plan, flows: Vec<Sent>) -> (StreamSent, Option<Failure>) {
    let (ended_by, failure) = worst_end(flows.iter().map(|flow| flow.ended_by));
    let sum = |count: fn(&Sent) -> u64| flows.iter().map(count).sum::<u64>();
    let max = |count: fn(&Sent) -> u64| flows.iter().map(count).max().unwrap_or(0);
    let mut sent = StreamSent {
        ended_by,
        io: plan.io,
        io_choice: None,
        threads: flows.len() as u64,
        burst_messages: plan.group as u64,
        start_skew_ns: flows.iter().map(|flow| flow.start_skew_ns).max().unwrap_or(0),
        elapsed_ns: max(|flow| flow.elapsed_ns),
        offered_messages: sum(|flow| flow.offered_messages),
        sent_messages: sum(|flow| flow.sent_messages),
        refused_messages: sum(|flow| flow.refused_messages),
        refused_retried: sum(|flow| flow.refused_retried),
        total_refused: sum(|flow| flow.refused_messages + flow.refused_retried),
        unsent_messages: sum(|flow| flow.unsent_messages),
        skipped_messages: 0,
        late_messages: sum(|flow| flow.late_messages),
        max_lateness_ns: max(|flow| flow.max_lateness_ns),
        back_to_back_messages: 0,
        gap: None,
        blocked_ns: 0,
        total_messages: sum(|flow| flow.total_messages),
        send_buffer_bytes: max(|flow| flow.send_buffer_bytes),
        cpu: flows.iter().fold(Usage::default(), |all, flow| all.plus(flow.cpu)).into(),
        host: None,
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
