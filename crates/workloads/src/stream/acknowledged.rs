//! What a peer's TCP has acknowledged of a flow, where only the sending end counts: no socket here, and
//! time is an argument.

use lanlab_units::Instant;

use crate::measure::IntervalMeter;
use crate::messages::AcknowledgedFlow;

/// A reading of the count of acknowledged bytes.
#[derive(Debug, Clone, Copy)]
struct Reading {
    at: Instant,
    bytes: u64,
}

/// The acknowledgements of one flow under way.
#[derive(Debug)]
pub struct AcknowledgedCounter {
    start: Instant,
    /// The kernel's count before the first byte of payload: it counts the connection's set-up too.
    before_bytes: u64,
    last: Reading,
    /// The readings at both ends of the measured part.
    from: Option<Reading>,
    until: Option<Reading>,
}

impl AcknowledgedCounter {
    /// Nothing is sent yet, and the kernel's count is `before_bytes`.
    pub fn new(start: Instant, before_bytes: u64) -> Self {
        let last = Reading { at: start, bytes: 0 };
        Self { start, before_bytes, last, from: None, until: None }
    }

    /// Take in the kernel's count at `now`. What the peer acknowledges beyond `written_bytes` of payload is
    /// the end of the connection.
    pub fn look(
        &mut self,
        count_bytes: u64,
        written_bytes: u64,
        now: Instant,
        intervals: &mut IntervalMeter,
    ) {
        let bytes = count_bytes.saturating_sub(self.before_bytes).min(written_bytes);
        let new = bytes.saturating_sub(self.last.bytes);
        if new > 0 {
            intervals.record(now.nanos_since(self.start), 0, new);
        }
        self.last = Reading { at: now, bytes: self.last.bytes + new };
    }

    /// The measured part begins with the last reading.
    pub fn begin(&mut self) {
        self.from.get_or_insert(self.last);
    }

    /// It ends with the last reading.
    pub fn end(&mut self) {
        self.until.get_or_insert(self.last);
    }

    /// Bytes of payload that were acknowledged in all.
    pub fn total_bytes(&self) -> u64 {
        self.last.bytes
    }

    /// What it came to. A part that did not end by itself ends with the last reading.
    pub fn finish(&self) -> AcknowledgedFlow {
        let until = self.until.unwrap_or(self.last);
        let from = self.from.unwrap_or(until);
        AcknowledgedFlow {
            window_ns: until.at.nanos_since(from.at),
            window_bytes: until.bytes - from.bytes,
            total_bytes: self.last.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(1_000_000_000 + ms * 1_000_000)
    }

    #[test]
    fn what_is_acknowledged_between_both_ends_of_the_measured_part_is_its_own() {
        let mut intervals = IntervalMeter::new(10_000_000);
        // The kernel has counted the SYN.
        let mut counter = AcknowledgedCounter::new(at(0), 1);
        counter.look(1, 0, at(1), &mut intervals);
        counter.look(501, 2_000, at(5), &mut intervals);
        counter.begin();
        counter.look(1_201, 2_000, at(12), &mut intervals);
        counter.look(1_501, 2_000, at(25), &mut intervals);
        counter.end();
        // The FIN is no payload.
        counter.look(2_002, 2_000, at(31), &mut intervals);
        let flow =
            AcknowledgedFlow { window_ns: 20_000_000, window_bytes: 1_000, total_bytes: 2_000 };
        assert_eq!((counter.finish(), counter.total_bytes()), (flow, 2_000));
        let bins = IntervalMeter::merge(vec![intervals], false).bytes;
        assert_eq!(bins, [500, 700, 300, 500]);
    }

    #[test]
    fn a_flow_that_never_came_to_its_measured_part_has_no_window() {
        let mut counter = AcknowledgedCounter::new(at(0), 0);
        counter.look(700, 700, at(3), &mut IntervalMeter::new(1_000_000));
        assert_eq!((counter.finish().window_ns, counter.finish().window_bytes), (0, 0));
        assert_eq!(counter.finish().total_bytes, 700);
    }

    #[test]
    fn a_count_that_goes_back_takes_nothing_away() {
        let mut intervals = IntervalMeter::new(1_000_000);
        let mut counter = AcknowledgedCounter::new(at(0), 0);
        counter.begin();
        counter.look(700, 700, at(1), &mut intervals);
        counter.look(0, 700, at(2), &mut intervals);
        assert_eq!(counter.finish().window_bytes, 700);
    }
}
