//! Round trips over time, in bins of equal width.

use crate::messages::RoundTripsOverTime;

/// Initial width. Beyond the limit of bins, pairs are merged and the width doubles.
const WIDTH_NS: u64 = 10_000_000;
/// Maximum bins: a chart shows no more.
const MAX_BINS: usize = 120;

#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    replies: u64,
    sum_ns: u64,
    longest_ns: u64,
}

#[derive(Debug)]
pub struct RoundTripMeter {
    width_ns: u64,
    bins: Vec<Bin>,
}

impl Default for RoundTripMeter {
    fn default() -> Self {
        Self { width_ns: WIDTH_NS, bins: Vec::with_capacity(MAX_BINS) }
    }
}

impl RoundTripMeter {
    pub fn record(&mut self, offset_ns: u64, round_trip_ns: u64) {
        while offset_ns / self.width_ns >= MAX_BINS as u64 {
            self.width_ns *= 2;
            let joined = |pair: &[Bin]| {
                pair.iter().fold(Bin::default(), |a, b| Bin {
                    replies: a.replies + b.replies,
                    sum_ns: a.sum_ns.saturating_add(b.sum_ns),
                    longest_ns: a.longest_ns.max(b.longest_ns),
                })
            };
            self.bins = self.bins.chunks(2).map(joined).collect();
        }
        let index = (offset_ns / self.width_ns) as usize;
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        let bin = &mut self.bins[index];
        bin.replies += 1;
        bin.sum_ns = bin.sum_ns.saturating_add(round_trip_ns);
        bin.longest_ns = bin.longest_ns.max(round_trip_ns);
    }

    pub fn finish(&self) -> RoundTripsOverTime {
        let mean = |bin: &Bin| bin.sum_ns.checked_div(bin.replies).unwrap_or(0);
        RoundTripsOverTime {
            interval_ns: self.width_ns,
            replies: self.bins.iter().map(|bin| bin.replies).collect(),
            mean_ns: self.bins.iter().map(mean).collect(),
            longest_ns: self.bins.iter().map(|bin| bin.longest_ns).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_joined_and_no_reply_is_lost() {
        let mut meter = RoundTripMeter::default();
        for second in 0..10_u64 {
            meter.record(second * 1_000_000_000, 1000 * (second + 1));
            meter.record(second * 1_000_000_000 + 1, 3000 * (second + 1));
        }
        let finished = meter.finish();
        assert_eq!((finished.interval_ns, finished.replies.len()), (80_000_000, 113));
        assert_eq!(finished.replies.iter().sum::<u64>(), 20);
        // The last second is in the bin from 8.96 s on.
        let last = 112;
        assert_eq!((finished.mean_ns[last], finished.longest_ns[last]), (20_000, 30_000));
        assert_eq!((finished.replies[1], finished.mean_ns[1], finished.longest_ns[1]), (0, 0, 0));
    }
}
