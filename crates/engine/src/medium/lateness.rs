//! How late each frame is delivered, relative to its exact time.

use hdrhistogram::Histogram;

use crate::messages::MediumLateness;

/// A frame counts as late beyond both a tenth of its time on the wire and 20 µs.
const SHARE_OF_FRAME: u64 = 10;
const LEAST_NS: u64 = 20_000;
/// Times are recorded up to a minute; more counts as a minute.
const MOST_NS: u64 = 60_000_000_000;

pub struct Lateness {
    times: Histogram<u64>,
    late: u64,
    longest_gap_ns: u64,
}

impl Lateness {
    pub fn new() -> Self {
        let times = Histogram::new_with_bounds(1, MOST_NS, 2).expect("the bounds are in order");
        Self { times, late: 0, longest_gap_ns: 0 }
    }

    pub fn count(&mut self, late_ns: u64, frame_ns: u64) {
        self.times.saturating_record(late_ns);
        self.late += u64::from(late_ns > (frame_ns / SHARE_OF_FRAME).max(LEAST_NS));
        self.gap(late_ns);
    }

    pub fn gap(&mut self, ns: u64) {
        self.longest_gap_ns = self.longest_gap_ns.max(ns);
    }

    pub fn read(&mut self) -> MediumLateness {
        let read = MediumLateness {
            deliveries: self.times.len(),
            p50_ns: self.times.value_at_quantile(0.5),
            p99_ns: self.times.value_at_quantile(0.99),
            longest_ns: self.times.max(),
            late_deliveries: self.late,
            longest_gap_ns: self.longest_gap_ns,
        };
        self.times.reset();
        (self.late, self.longest_gap_ns) = (0, 0);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_is_a_tenth_of_the_frame_and_at_least_20_microseconds() {
        let mut lateness = Lateness::new();
        // The shortest frame at 10 Mbit/s takes 57.6 µs, the longest 1.22 ms.
        for late_ns in [20_000, 20_001] {
            lateness.count(late_ns, 57_600);
        }
        for late_ns in [122_080, 122_081] {
            lateness.count(late_ns, 1_220_800);
        }
        let read = lateness.read();
        assert_eq!((read.deliveries, read.late_deliveries), (4, 2));
        assert!(read.longest_ns.abs_diff(122_081) < 1_300, "{}", read.longest_ns);
        assert_eq!(read.longest_gap_ns, 122_081);
        assert_eq!(lateness.read().deliveries, 0);
    }
}
