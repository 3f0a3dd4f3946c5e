//! Bytes acknowledged by a peer's TCP, for trials counted only at the sender: no socket here, and time is an
//! argument.

use lanlab_units::Instant;

use crate::measure::IntervalMeter;
use crate::messages::AcknowledgedFlow;

#[derive(Debug, Clone, Copy, Default)]
struct Reading {
    at: Instant,
    bytes: u64,
}

#[derive(Debug, Default)]
pub struct AcknowledgedCounter {
    start: Instant,
    /// The kernel's count before the first byte of payload, which includes connection set-up.
    before_bytes: u64,
    last: Reading,
    /// The last reading that increased, and the number of increases.
    last_gain: Reading,
    gains: u64,
    from: Option<Edge>,
    until: Option<Edge>,
    next_gain: Option<Reading>,
    window: Option<(Instant, Instant)>,
}

#[derive(Debug, Clone, Copy)]
struct Edge {
    at: Reading,
    last_gain: Reading,
    gains: u64,
}

/// From this many increases on, a measured part is timed between its ends; with fewer, one more or less would
/// change the result by over a tenth, so it is timed between increases.
const MANY_GAINS: u64 = 10;

impl AcknowledgedCounter {
    pub fn new(start: Instant, before_bytes: u64) -> Self {
        let last = Reading { at: start, bytes: 0 };
        Self { start, before_bytes, last, last_gain: last, ..Self::default() }
    }

    /// Add a measured part between these times, possibly within a long message.
    #[must_use]
    pub fn within(self, window: Option<(Instant, Instant)>) -> Self {
        Self { window, ..self }
    }

    /// Record the kernel's count at `now`. An acknowledgement beyond `written_bytes` of payload
    /// covers the FIN.
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
        if new > 0 {
            (self.last_gain, self.gains) = (self.last, self.gains + 1);
            if self.until.is_some() {
                self.next_gain.get_or_insert(self.last);
            }
        }
        if self.window.is_some_and(|(begin, _)| now >= begin) {
            self.begin();
        }
        if self.window.is_some_and(|(_, end)| now >= end) {
            self.end();
        }
    }

    fn edge(&self) -> Edge {
        Edge { at: self.last, last_gain: self.last_gain, gains: self.gains }
    }

    pub fn begin(&mut self) {
        self.from.get_or_insert(self.edge());
    }

    pub fn end(&mut self) {
        self.until.get_or_insert(self.edge());
    }

    pub fn total_bytes(&self) -> u64 {
        self.last.bytes
    }

    /// The result. A part that did not end by itself ends with the last reading.
    ///
    /// A slow reader acknowledges in bursts.
    pub fn finish(&self) -> AcknowledgedFlow {
        let until = self.until.unwrap_or(self.edge());
        let from = self.from.unwrap_or(until);
        let is_lumpy = self.from.is_some() && until.gains - from.gains < MANY_GAINS;
        let (from, until) = match self.next_gain.filter(|_| is_lumpy) {
            Some(next_gain) => (from.last_gain, next_gain),
            None => (from.at, until.at),
        };
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
    fn sparse_acknowledgements_are_measured_between_their_neighbours() {
        let mut intervals = IntervalMeter::new(10_000_000);
        // The kernel has counted the SYN.
        let mut counter = AcknowledgedCounter::new(at(0), 1);
        counter.look(1, 0, at(1), &mut intervals);
        counter.look(501, 2_000, at(5), &mut intervals);
        counter.begin();
        counter.look(1_201, 2_000, at(12), &mut intervals);
        counter.look(1_501, 2_000, at(25), &mut intervals);
        counter.end();
        // The FIN is not payload.
        counter.look(2_002, 2_000, at(31), &mut intervals);
        let flow =
            AcknowledgedFlow { window_ns: 26_000_000, window_bytes: 1_500, total_bytes: 2_000 };
        assert_eq!((counter.finish(), counter.total_bytes()), (flow, 2_000));
        let bins = IntervalMeter::merge(vec![intervals], false).bytes;
        assert_eq!(bins, [500, 700, 300, 500]);
    }

    #[test]
    fn flows_that_never_reach_the_measured_part_have_no_window() {
        let mut counter = AcknowledgedCounter::new(at(0), 0);
        counter.look(700, 700, at(3), &mut IntervalMeter::new(1_000_000));
        assert_eq!((counter.finish().window_ns, counter.finish().window_bytes), (0, 0));
        assert_eq!(counter.finish().total_bytes, 700);
    }

    #[test]
    fn decreasing_counts_are_ignored() {
        let mut intervals = IntervalMeter::new(1_000_000);
        let mut counter = AcknowledgedCounter::new(at(0), 0);
        counter.begin();
        counter.look(700, 700, at(1), &mut intervals);
        counter.look(0, 700, at(2), &mut intervals);
        assert_eq!(counter.finish().window_bytes, 700);
    }

    #[test]
    fn bursts_of_acknowledgements_are_measured_to_the_next_burst() {
        let mut intervals = IntervalMeter::new(1_000_000_000);
        let mut counter = AcknowledgedCounter::new(at(0), 0);
        let mut look = |counter: &mut AcknowledgedCounter, bytes, ms| {
            counter.look(bytes, 1_000_000, at(ms), &mut intervals);
        };
        // 20 kB/s, 80 kB at a time.
        look(&mut counter, 80_000, 100);
        look(&mut counter, 80_000, 1_000);
        counter.begin();
        look(&mut counter, 80_000, 3_000);
        counter.end();
        assert_eq!(counter.finish().window_bytes, 0, "nothing more has come");
        look(&mut counter, 160_000, 4_100);
        look(&mut counter, 240_000, 8_100);
        let found = counter.finish();
        assert_eq!((found.window_bytes, found.window_ns), (80_000, 4_000_000_000));
        assert_eq!(found.total_bytes, 240_000);
    }

    #[test]
    fn parts_with_many_acknowledgements_are_measured_between_their_ends() {
        let mut intervals = IntervalMeter::new(1_000_000_000);
        let mut counter = AcknowledgedCounter::new(at(0), 0);
        counter.begin();
        for ms in 1..=20 {
            counter.look(ms * 1_000, 1_000_000, at(ms), &mut intervals);
        }
        counter.end();
        counter.look(1_000_000, 1_000_000, at(500), &mut intervals);
        let found = counter.finish();
        assert_eq!((found.window_bytes, found.window_ns), (20_000, 20_000_000));
    }

    #[test]
    fn the_measured_part_begins_and_ends_within_a_message_that_takes_longer() {
        let mut intervals = IntervalMeter::new(1_000_000_000);
        let window = Some((at(1_000), at(3_000)));
        let mut counter = AcknowledgedCounter::new(at(0), 0).within(window);
        for place in 1..=60 {
            counter.look(place * 2_000, 1_000_000, at(place * 100), &mut intervals);
        }
        let found = counter.finish();
        assert_eq!((found.window_bytes, found.window_ns), (40_000, 2_000_000_000));
    }
}
