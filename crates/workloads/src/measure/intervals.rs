//! Arrivals and losses over time, in bins of equal width.

use crate::messages::Intervals;

/// Maximum bins: beyond it, pairs are merged and the width doubles, so that memory stays bounded.
const MAX_BINS: usize = 1_200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Bin {
    messages: u64,
    bytes: u64,
    lost: i64,
}

impl Bin {
    fn plus(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            lost: self.lost.saturating_add(other.lost),
        }
    }
}

/// Counts received bytes and messages, and lost messages, in bins from the start on.
#[derive(Debug, Clone)]
pub struct IntervalMeter {
    width_ns: u64,
    bins: Vec<Bin>,
}

impl IntervalMeter {
    pub fn new(width_ns: u64) -> Self {
        Self { width_ns: width_ns.max(1), bins: Vec::with_capacity(MAX_BINS) }
    }

    pub fn record(&mut self, offset_ns: u64, messages: u64, bytes: u64) {
        let bin = self.bin(offset_ns);
        bin.messages += messages;
        bin.bytes += bytes;
    }

    /// Count `messages` missing between arrivals at `from_ns` and `to_ns`, as if evenly spaced between them.
    pub fn record_lost(&mut self, from_ns: u64, to_ns: u64, messages: u64) {
        if messages == 0 {
            return;
        }
        // Creates the last bin, so the width stays constant below.
        self.bin(to_ns);
        let from_ns = from_ns.min(to_ns);
        let mut placed = 0;
        for index in self.index(from_ns)..=self.index(to_ns) {
            let bin_end_ns = (index as u64 + 1).saturating_mul(self.width_ns);
            let until = due_before(bin_end_ns, from_ns, to_ns, messages);
            let lost = i64::try_from(until - placed).unwrap_or(i64::MAX);
            let bin = &mut self.bins[index];
            bin.lost = bin.lost.saturating_add(lost);
            placed = until;
        }
    }

    pub fn record_late(&mut self, offset_ns: u64) {
        let bin = self.bin(offset_ns);
        bin.lost = bin.lost.saturating_sub(1);
    }

    fn index(&self, offset_ns: u64) -> usize {
        (offset_ns / self.width_ns) as usize
    }

    fn bin(&mut self, offset_ns: u64) -> &mut Bin {
        while self.index(offset_ns) >= MAX_BINS {
            self.halve();
        }
        let index = self.index(offset_ns);
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        &mut self.bins[index]
    }

    fn halve(&mut self) {
        self.width_ns *= 2;
        let joined = |pair: &[Bin]| pair.iter().fold(Bin::default(), |a, b| a.plus(*b));
        self.bins = self.bins.chunks(2).map(joined).collect();
    }

    /// Sum the bins of several flows at their largest width.
    pub fn merge(mut flows: Vec<Self>, with_messages: bool) -> Intervals {
        let Some(width_ns) = flows.iter().map(|flow| flow.width_ns).max() else {
            return Intervals::default();
        };
        let mut sum: Vec<Bin> = Vec::new();
        for flow in &mut flows {
            while flow.width_ns < width_ns {
                flow.halve();
            }
            sum.resize(sum.len().max(flow.bins.len()), Bin::default());
            for (total, bin) in sum.iter_mut().zip(&flow.bins) {
                *total = total.plus(*bin);
            }
        }
        let counted: &[Bin] = if with_messages { &sum } else { &[] };
        Intervals {
            interval_ns: width_ns,
            messages: counted.iter().map(|bin| bin.messages).collect(),
            bytes: sum.iter().map(|bin| bin.bytes).collect(),
            lost_messages: counted.iter().map(|bin| bin.lost).collect(),
        }
    }
}

fn due_before(end_ns: u64, from_ns: u64, to_ns: u64, messages: u64) -> u64 {
    if end_ns >= to_ns {
        return messages;
    }
    // The message with number n of 1 to `messages` is due at from + n × (to − from) / (messages + 1).
    let slots = (u128::from(messages) + 1) * u128::from(end_ns - from_ns);
    let before = slots.div_ceil(u128::from(to_ns - from_ns)) - 1;
    u64::try_from(before).unwrap_or(u64::MAX).min(messages)
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
    fn intervals_of_different_widths_add_up() {
        let (mut short, mut long) = (IntervalMeter::new(10), IntervalMeter::new(10));
        short.record(5, 1, 1);
        short.record(15, 1, 2);
        long.record(20_000, 1, 4);
        let intervals = IntervalMeter::merge(vec![short, long], false);
        assert_eq!((intervals.interval_ns, intervals.bytes[0]), (20, 3));
        assert_eq!(intervals.bytes[1000], 4);
        assert!(intervals.messages.is_empty());
        assert!(intervals.lost_messages.is_empty());
    }

    /// Lost messages per bin of 10 ns.
    fn lost(from_ns: u64, to_ns: u64, messages: u64) -> Vec<i64> {
        let mut meter = IntervalMeter::new(10);
        meter.record_lost(from_ns, to_ns, messages);
        IntervalMeter::merge(vec![meter], true).lost_messages
    }

    #[test]
    fn a_gap_within_a_bin_belongs_to_it() {
        assert_eq!(lost(12, 18, 3), [0, 3]);
        assert_eq!(lost(15, 15, 2), [0, 2], "both arrivals at one moment");
        assert_eq!(lost(19, 12, 2), [0, 2], "an earlier stamp on the later arrival");
    }

    #[test]
    fn a_gap_over_several_bins_is_spread_over_its_time() {
        // Due at 7, 14, 21 and 28.
        assert_eq!(lost(0, 35, 4), [1, 1, 2, 0]);
        // Due at 10, 20 and 30: a bin includes its start.
        assert_eq!(lost(0, 40, 3), [0, 1, 1, 1, 0]);
        // One message is due in the middle.
        assert_eq!(lost(5, 45, 1), [0, 0, 1, 0, 0]);
    }

    #[test]
    fn late_arrivals_reduce_the_losses_of_their_bin() {
        let mut meter = IntervalMeter::new(10);
        meter.record_lost(0, 5, 2);
        meter.record_late(15);
        assert_eq!(IntervalMeter::merge(vec![meter], true).lost_messages, [2, -1]);
    }

    proptest::proptest! {
        #[test]
        fn every_lost_message_is_in_one_bin(
            gaps in proptest::collection::vec((0_u64..100_000, 0_u64..100_000, 0_u64..1_000_000), 0..20)
        ) {
            let mut meter = IntervalMeter::new(10);
            let mut total = 0;
            for (from, to, messages) in gaps {
                meter.record_lost(from, to, messages);
                total += messages.cast_signed();
            }
            let found = IntervalMeter::merge(vec![meter], true).lost_messages;
            proptest::prop_assert!(found.iter().all(|lost| *lost >= 0));
            proptest::prop_assert_eq!(found.iter().sum::<i64>(), total);
        }
    }
}
