//! Counters of a requester: replies in time, late or duplicate.

use lanlab_units::Instant;

use super::Plan;
use crate::measure::{DistributionMeter, RoundTripMeter, Seen, SequenceWindow};

/// Counters of the measured part only.
#[derive(Debug, Default)]
pub struct Counts {
    timeout_ns: u64,
    start: Instant,
    pub(super) first_measured: u64,
    pub(super) measured_from: Instant,
    pub(super) last: Instant,
    pub(super) last_reply: Instant,
    arrived: SequenceWindow,
    /// When the amount was reached; `None` before, and for scheduled requests.
    pub(super) sent_until: Option<Instant>,
    /// Replies in time, to any request, from the first measured request until `sent_until`.
    sending_replies: u64,
    pub offered: u64,
    pub sent: u64,
    pub refused: u64,
    pub late: u64,
    pub duplicate: u64,
    pub foreign: u64,
    pub round_trip: DistributionMeter,
    pub kernel_round_trip: DistributionMeter,
    /// Round-trip times of all replies in time, including the warm-up's, over time.
    pub over_time: RoundTripMeter,
}

impl Counts {
    pub(super) fn new(plan: &Plan, start: Instant) -> Self {
        Self {
            timeout_ns: plan.timeout_ns,
            start,
            first_measured: u64::MAX,
            measured_from: plan.warmup_end(start),
            last: plan.warmup_end(start),
            last_reply: start,
            ..Self::default()
        }
    }

    pub fn is_measured(&self, sequence: u64) -> bool {
        sequence >= self.first_measured
    }

    pub fn elapsed_ns(&self) -> u64 {
        self.last.nanos_since(self.measured_from)
    }

    /// Duration of sending measured requests, and the replies in time during it.
    ///
    /// With many requests in flight, the first replies belong to the warm-up, and the last arrive after sending has
    /// ended; a reply rate refers to this duration.
    pub fn sending(&self) -> (u64, u64) {
        self.sent_until.map_or((self.elapsed_ns(), self.round_trip.samples()), |until| {
            (until.nanos_since(self.measured_from), self.sending_replies)
        })
    }

    pub fn timeouts(&self) -> u64 {
        self.sent - self.round_trip.samples()
    }

    pub(super) fn is_complete(&self, total: u64) -> bool {
        self.arrived.next == total
            && self.round_trip.samples() + self.late == total - self.first_measured
    }

    /// Count the reply to `sequence`, which arrived at `now`, `round_trip_ns` after its request.
    pub(super) fn take(&mut self, sequence: u64, round_trip_ns: u64, now: Instant) {
        self.last_reply = now;
        let measured = self.is_measured(sequence);
        match self.arrived.observe(sequence) {
            Seen::Duplicate | Seen::Stale => self.duplicate += u64::from(measured),
            Seen::InOrder | Seen::Reordered => {
                let in_time = round_trip_ns <= self.timeout_ns;
                if in_time {
                    self.over_time.record(now.nanos_since(self.start), round_trip_ns);
                }
                if in_time && self.first_measured != u64::MAX && self.sent_until.is_none() {
                    self.sending_replies += 1;
                }
                if measured {
                    self.last = now;
                    if in_time {
                        self.round_trip.record(round_trip_ns.cast_signed());
                    } else {
                        self.late += 1;
                    }
                }
            }
        }
    }
}
