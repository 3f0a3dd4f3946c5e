//! A distribution of delays in constant memory, exact to 0.4 %.

/// Buckets per doubling of the delay: 2^8, so a bucket is at most 1/256 of its delay wide.
const BITS: u32 = 8;

#[derive(Debug)]
pub(super) struct Delays {
    buckets: Vec<u64>,
    count: u64,
    sum_ns: u128,
}

impl Default for Delays {
    fn default() -> Self {
        let buckets = vec![0; bucket_of(u64::MAX) + 1];
        Self { buckets, count: 0, sum_ns: 0 }
    }
}

impl Delays {
    pub(super) fn add(&mut self, delay_ns: u64) {
        self.buckets[bucket_of(delay_ns)] += 1;
        self.count += 1;
        self.sum_ns += u128::from(delay_ns);
    }

    pub(super) fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The delay that this share of frames does not exceed: the upper end of its bucket.
    pub(super) fn quantile_ns(&self, share: f64) -> Option<u64> {
        let rank = ((share * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|in_bucket| {
            seen += in_bucket;
            seen >= rank
        });
        bucket.map(end_of)
    }
}

/// Small delays have a bucket each; larger ones are grouped by their first `BITS + 1` bits.
fn bucket_of(delay_ns: u64) -> usize {
    let digits = u64::BITS - delay_ns.leading_zeros();
    let cut = digits.saturating_sub(BITS + 1);
    ((cut as usize) << BITS) + (delay_ns >> cut) as usize
}

fn end_of(bucket: usize) -> u64 {
    let cut = (bucket >> BITS).saturating_sub(1);
    let digits = (bucket - (cut << BITS)) as u128;
    u64::try_from(((digits + 1) << cut) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_ends_at_most_a_256th_above_each_of_its_delays() {
        for delay_ns in (0..10_000).chain([u64::MAX - 1, u64::MAX, 1 << 40, (1 << 40) - 1]) {
            let end = end_of(bucket_of(delay_ns));
            assert!(end >= delay_ns && end - delay_ns <= delay_ns / 256, "{delay_ns}: {end}");
        }
    }

    #[test]
    fn quantiles_match_the_sorted_delays() {
        let mut delays = Delays::default();
        assert_eq!((delays.mean_ns(), delays.quantile_ns(0.5)), (None, None));
        for delay_ns in 1..=100 {
            delays.add(delay_ns);
        }
        assert_eq!(delays.mean_ns(), Some(50.5));
        let quantiles = [0.0, 0.5, 0.95, 0.99, 1.0].map(|share| delays.quantile_ns(share));
        assert_eq!(quantiles, [Some(1), Some(50), Some(95), Some(99), Some(100)]);
    }
}
