//! Counters of a datagram receiver: no socket here, and time is an argument.

use lanlab_units::Instant;
use lanlab_wire::probe::Layout;

use super::Plan;
use crate::measure::{
    DelayVariationMeter, DistributionMeter, IntervalMeter, LastDelay, Seen, SequenceWindow,
};
use crate::messages::ClockRelation;

pub struct Meters<U> {
    pub usage: U,
    pub receive_calls: u64,
    pub delay_variation: DelayVariationMeter,
    pub one_way_delay: DistributionMeter,
    pub intervals: IntervalMeter,
    sender_clock: Option<ClockRelation>,
}

impl<U: Default> Meters<U> {
    pub fn new(plan: &Plan, sender_clock: Option<ClockRelation>) -> Self {
        Self {
            usage: U::default(),
            receive_calls: 0,
            delay_variation: DelayVariationMeter::default(),
            one_way_delay: DistributionMeter::default(),
            intervals: IntervalMeter::new(plan.interval_ns),
            sender_clock,
        }
    }
}

#[derive(Debug, Default)]
pub struct Counts {
    pub window_ns: u64,
    pub window_messages: u64,
    pub window_bytes: u64,
    pub measured_messages: u64,
    pub overdue_messages: u64,
    pub socket_dropped: Option<u64>,
    pub first_measured: Option<u64>,
    pub duplicate_messages: u64,
    pub reordered_messages: u64,
    pub stale_messages: u64,
    pub foreign_datagrams: u64,
    pub total_messages: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    pub at: Instant,
    pub drops: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct Run {
    pub first: u64,
    pub count: u64,
    pub sent_ns: u64,
    pub arrival: Arrival,
}

impl Run {
    pub fn is_continued_by(&self, single: &Self) -> bool {
        single.first == self.first + self.count
            && single.sent_ns == self.sent_ns
            && single.arrival == self.arrival
    }
}

pub struct Counter<'a> {
    plan: &'a Plan,
    layout: Layout,
    start: Instant,
    window_start: Instant,
    window_end: Option<Instant>,
    sequences: SequenceWindow,
    last_delay: LastDelay,
    newest_at: Instant,
    /// Arrival of the first and last measured message, if they define the window.
    first_arrival: Option<Instant>,
    last_arrival: Instant,
    /// The socket's drop count before the measured part, and whether it is final.
    drops_before: u32,
    drops_settled: bool,
    pub finished_at: Option<Instant>,
    sent_messages: Option<u64>,
    pub counts: Counts,
}

impl<'a> Counter<'a> {
    /// Counters at zero; `start` is the beginning of the warm-up at the sender.
    pub fn new(plan: &'a Plan, start: Instant) -> Self {
        let start = plan.arrivals_from(start);
        Self {
            plan,
            layout: Layout::of(plan.message_bytes),
            start,
            window_start: plan.warmup_end(start),
            window_end: plan.end(start),
            sequences: SequenceWindow::default(),
            last_delay: LastDelay::default(),
            newest_at: start,
            first_arrival: None,
            last_arrival: start,
            drops_before: 0,
            drops_settled: false,
            finished_at: None,
            sent_messages: None,
            counts: Counts {
                // Without a warm-up the first message is the first measured one.
                first_measured: (plan.warmup_ns == 0).then_some(0),
                ..Counts::default()
            },
        }
    }

    pub fn expected(&self) -> u64 {
        self.sequences.next
    }

    pub fn delay_variation_ns(&self) -> u64 {
        self.last_delay.smoothed_ns()
    }

    pub fn finish(&mut self, sent_messages: u64, now: Instant) -> bool {
        let is_new = self.finished_at.is_none();
        if is_new {
            self.finished_at = Some(now);
            self.sent_messages = Some(sent_messages);
        }
        is_new
    }

    pub fn is_complete(&self) -> bool {
        self.sent_messages == Some(self.counts.total_messages)
    }

    /// Count a run of messages: at once if all are new and on one side of the warm-up's end, otherwise one by one.
    pub fn count<U>(&mut self, run: Run, meters: &mut Meters<U>) {
        let last = run.first + run.count - 1;
        let mixed =
            self.counts.first_measured.is_some_and(|first| run.first < first && first <= last);
        if run.count > 1 && (mixed || run.first < self.sequences.next) {
            for first in run.first..=last {
                self.count(Run { first, count: 1, ..run }, meters);
            }
            return;
        }
        let missing = run.first.saturating_sub(self.sequences.next);
        if run.count == 1 {
            match self.sequences.observe(run.first) {
                Seen::Duplicate => return self.counts.duplicate_messages += 1,
                Seen::Stale => return self.counts.stale_messages += 1,
                Seen::Reordered => {
                    self.counts.reordered_messages += 1;
                    meters.intervals.record_late(run.arrival.at.nanos_since(self.start));
                }
                Seen::InOrder => self.note_newest(missing, run.arrival.at, meters),
            }
        } else {
            self.sequences.observe_run(run.first, run.count);
            self.note_newest(missing, run.arrival.at, meters);
        }
        self.count_new(run, meters);
    }

    /// New highest numbers arrived at `at`, and `missing` numbers before them did not.
    fn note_newest<U>(&mut self, missing: u64, at: Instant, meters: &mut Meters<U>) {
        let (from_ns, to_ns) = (self.newest_at.nanos_since(self.start), at.nanos_since(self.start));
        meters.intervals.record_lost(from_ns, to_ns, missing);
        self.newest_at = at;
    }

    fn count_new<U>(&mut self, run: Run, meters: &mut Meters<U>) {
        let arrival = run.arrival;
        let bytes = run.count * self.plan.message_bytes as u64;
        self.counts.total_messages += run.count;
        meters.intervals.record(arrival.at.nanos_since(self.start), run.count, bytes);
        let measured = self.counts.first_measured.is_some_and(|first| run.first >= first);
        self.note_drops(run.first, measured, arrival);
        if measured && self.is_overdue(arrival.at) {
            return self.counts.overdue_messages += run.count;
        }
        let counts = &mut self.counts;
        if measured {
            counts.measured_messages += run.count;
            if self.layout == Layout::Full {
                let arrived_ns = arrival.at.as_nanos();
                meters.delay_variation.record_run(
                    &mut self.last_delay,
                    run.first,
                    run.count,
                    run.sent_ns,
                    arrived_ns,
                );
                if let Some(clock) = meters.sender_clock {
                    let sent_ns = run.sent_ns.wrapping_sub(clock.offset_ns.cast_unsigned());
                    let delay_ns = arrived_ns.wrapping_sub(sent_ns).cast_signed();
                    meters.one_way_delay.record_run(delay_ns, run.count);
                }
            }
        }
        match self.window_end {
            Some(end) if arrival.at >= self.window_start && arrival.at < end => {
                counts.window_messages += run.count;
                counts.window_bytes += bytes;
            }
            None if measured => {
                self.last_arrival = arrival.at;
                // The first message opens the window and is not in it.
                let counted = run.count - u64::from(self.first_arrival.is_none());
                self.first_arrival.get_or_insert(arrival.at);
                counts.window_messages += counted;
                counts.window_bytes += counted * self.plan.message_bytes as u64;
            }
            _ => {}
        }
    }

    /// Whether arrivals now are too late to count: `drain_ns` after the end of the measured part, or, for an amount
    /// of messages, after the sender's final count.
    fn is_overdue(&self, at: Instant) -> bool {
        let end = self.window_end.or(self.finished_at);
        end.is_some_and(|end| at > end.plus_nanos(self.plan.drain_ns))
    }

    /// Determine the socket's drop count before the measured part from the counts attached to messages.
    fn note_drops(&mut self, sequence: u64, measured: bool, arrival: Arrival) {
        if self.drops_settled {
            return;
        }
        if measured {
            self.drops_settled = true;
            // Only the first measured message gives an exact count: others before a later one may be lost.
            if self.counts.first_measured == Some(sequence) {
                self.drops_before = arrival.drops;
            }
        } else if self.counts.first_measured.is_some() || arrival.at < self.window_start {
            self.drops_before = arrival.drops;
        }
    }

    /// Messages are measured from `first_measured` on. If the mark was late, those already received and still
    /// remembered are counted.
    pub fn mark(&mut self, first_measured: u64) {
        if self.counts.first_measured.is_none()
            && let Some(arrived) = self.sequences.arrived_since(first_measured)
        {
            self.counts.first_measured = Some(first_measured);
            self.counts.measured_messages = arrived;
        }
    }

    /// Messages sent after the newest received one: lost, if the sender has reported their number.
    fn note_missing_at_the_end<U>(&mut self, now: Instant, meters: &mut Meters<U>) {
        let sent = self.sent_messages.unwrap_or(0);
        let missing = sent.saturating_sub(self.sequences.next);
        let said_at = self.finished_at.unwrap_or(now);
        let sent_all_at = self.window_end.map_or(said_at, |end| end.min(said_at));
        self.note_newest(missing, sent_all_at.max(self.newest_at), meters);
    }

    /// Close the counters at `now`; `dropped` is the socket's drop count then.
    pub fn close<U>(&mut self, now: Instant, dropped: Option<u32>, meters: &mut Meters<U>) {
        meters.delay_variation.end(&self.last_delay);
        self.note_missing_at_the_end(now, meters);
        let counts = &mut self.counts;
        counts.socket_dropped =
            dropped.map(|dropped| u64::from(dropped.wrapping_sub(self.drops_before)));
        counts.window_ns = match self.window_end {
            // A trial cut short has a shorter window.
            Some(end) => end.min(now).nanos_since(self.window_start),
            None => self.first_arrival.map_or(0, |first| self.last_arrival.nanos_since(first)),
        };
        if counts.first_measured.is_none() {
            counts.measured_messages = counts.total_messages;
        }
    }
}

#[cfg(test)]
mod tests;
