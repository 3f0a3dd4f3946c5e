//! Counters of a byte stream's receiver: no socket here, and time is an argument.

use lanlab_units::Instant;

use super::{Plan, ReceivedBytes};
use crate::measure::IntervalMeter;
use crate::messages::{EndedBy, FlowReceived};

pub struct ByteCounter<'a> {
    plan: &'a Plan,
    start: Instant,
    window_start: Instant,
    window_end: Option<Instant>,
    last_arrival: Instant,
    total_bytes: u64,
    window_bytes: u64,
    earlier_bytes: u64,
}

impl<'a> ByteCounter<'a> {
    /// Counters at zero; `start` is the beginning of the warm-up at the sender.
    pub fn new(plan: &'a Plan, start: Instant) -> Self {
        let start = plan.arrivals_from(start);
        Self {
            plan,
            start,
            window_start: plan.warmup_end(start),
            window_end: plan.end(start),
            last_arrival: start,
            total_bytes: 0,
            window_bytes: 0,
            earlier_bytes: 0,
        }
    }

    /// Reception begins at `now`, with these bytes waiting: a peer sends as soon as it is connected, and earlier
    /// bytes are outside the window.
    pub fn begin(&mut self, waiting_bytes: u64, now: Instant) {
        if waiting_bytes > 0 && now >= self.window_start {
            self.window_start = now;
            self.earlier_bytes = waiting_bytes;
        }
    }

    /// Count bytes that arrived at `now`. Returns the number of messages they complete.
    pub fn count(&mut self, bytes: u64, now: Instant, intervals: &mut IntervalMeter) -> u64 {
        self.last_arrival = now;
        let before = self.total_bytes;
        self.total_bytes += bytes;
        intervals.record(now.nanos_since(self.start), 0, bytes);
        if now >= self.window_start && self.window_end.is_none_or(|end| now < end) {
            self.window_bytes += self.total_bytes.saturating_sub(self.earlier_bytes.max(before));
        }
        let size = self.plan.message_bytes as u64;
        self.total_bytes / size - before / size
    }

    pub fn is_measuring(&self, now: Instant) -> bool {
        now >= self.window_start
    }

    pub fn quiet_ns(&self, now: Instant) -> u64 {
        now.nanos_since(self.last_arrival.max(self.start))
    }

    /// A sender closes its end after sending everything; one that dies closes it too early.
    pub fn end_of_stream(&self, now: Instant) -> EndedBy {
        let is_complete = match (self.window_end, self.plan.messages()) {
            (Some(end), _) => now >= end,
            (None, Some(messages)) => self.total_bytes >= messages * self.plan.message_bytes as u64,
            (None, None) => true,
        };
        if is_complete { EndedBy::Finished } else { EndedBy::PeerClosed }
    }

    /// The end of a peer that decides how much it sends: everything in the window counts.
    pub fn end_of_peer(&mut self, now: Instant) -> EndedBy {
        let is_timed = self.window_end.is_some() && self.window_bytes > 0;
        if is_timed && self.end_of_stream(now) == EndedBy::PeerClosed {
            self.window_end = Some(self.last_arrival);
        }
        self.end_of_stream(now)
    }

    pub fn has_amount(&self, now: Instant) -> bool {
        match (self.window_end, self.plan.messages()) {
            (Some(end), _) => now >= end,
            (None, Some(messages)) => {
                let come = self.earlier_bytes.min(self.total_bytes) + self.window_bytes;
                come >= messages * self.plan.message_bytes as u64
            }
            (None, None) => false,
        }
    }

    /// The result at `now`, without facts about TCP.
    pub fn finish(
        &self,
        ended_by: EndedBy,
        receive_buffer_bytes: u64,
        now: Instant,
    ) -> ReceivedBytes {
        let end = self.window_end.map_or(self.last_arrival, |end| end.min(now));
        let facts = FlowReceived {
            window_bytes: self.window_bytes,
            window_ns: end.nanos_since(self.window_start),
            measured_messages: self.window_bytes / self.plan.message_bytes as u64,
            tcp: None,
        };
        ReceivedBytes { ended_by, total_bytes: self.total_bytes, receive_buffer_bytes, facts }
    }
}
