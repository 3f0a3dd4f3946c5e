//! Arrivals over time, in bins of even width.

use crate::messages::Intervals;

/// Bins kept at most; when more are needed, pairs are joined and the width doubles, so that memory
/// stays bounded however long a trial runs.
const MAX_BINS: usize = 1_200;

/// Counts messages and octets in bins from the start on.
#[derive(Debug, Clone)]
pub struct IntervalMeter {
    width_ns: u64,
    bins: Vec<(u64, u64)>,
}

impl IntervalMeter {
    /// Intervals of this width at first.
    pub fn new(width_ns: u64) -> Self {
        Self { width_ns: width_ns.max(1), bins: Vec::with_capacity(MAX_BINS) }
    }

    /// Count an arrival `offset_ns` after the start.
    pub fn record(&mut self, offset_ns: u64, messages: u64, bytes: u64) {
        let mut index = (offset_ns / self.width_ns) as usize;
        while index >= MAX_BINS {
            self.halve();
            index = (offset_ns / self.width_ns) as usize;
        }
        if index >= self.bins.len() {
            self.bins.resize(index + 1, (0, 0));
        }
        let bin = &mut self.bins[index];
        bin.0 += messages;
        bin.1 += bytes;
    }

    fn halve(&mut self) {
        self.width_ns *= 2;
        let joined = |pair: &[(u64, u64)]| pair.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        self.bins = self.bins.chunks(2).map(joined).collect();
    }

    /// The sum of several flows' bins, at the widest of their widths.
    pub fn merge(mut flows: Vec<Self>, with_messages: bool) -> Intervals {
        let Some(width_ns) = flows.iter().map(|flow| flow.width_ns).max() else {
            return Intervals::default();
        };
        let mut sum: Vec<(u64, u64)> = Vec::new();
        for flow in &mut flows {
            while flow.width_ns < width_ns {
                flow.halve();
            }
            sum.resize(sum.len().max(flow.bins.len()), (0, 0));
            for (total, bin) in sum.iter_mut().zip(&flow.bins) {
                *total = (total.0 + bin.0, total.1 + bin.1);
            }
        }
        Intervals {
            interval_ns: width_ns,
            messages: if with_messages {
                sum.iter().map(|bin| bin.0).collect()
            } else {
                Vec::new()
            },
            bytes: sum.iter().map(|bin| bin.1).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_when_bins_are_joined() {
        let mut meter = IntervalMeter::new(10);
        for offset_ns in 0..50_000 {
            meter.record(offset_ns, 1, 3);
        }
        let intervals = IntervalMeter::merge(vec![meter], true);
        assert_eq!(intervals.interval_ns, 80);
        assert_eq!(intervals.messages.len(), 625);
        assert!(intervals.messages.iter().all(|messages| *messages == 80));
        assert_eq!(intervals.bytes.iter().sum::<u64>(), 150_000);
    }

    #[test]
    fn flows_of_unlike_width_add_up() {
        let (mut short, mut long) = (IntervalMeter::new(10), IntervalMeter::new(10));
        short.record(5, 1, 1);
        short.record(15, 1, 2);
        long.record(20_000, 1, 4);
        let intervals = IntervalMeter::merge(vec![short, long], false);
        assert_eq!((intervals.interval_ns, intervals.bytes[0]), (20, 3));
        assert_eq!(intervals.bytes[1000], 4);
        assert!(intervals.messages.is_empty());
    }
}
