//! A distribution of times: exact mean, spread and extremes, and a histogram for percentiles.

use std::fmt::Write as _;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};

use crate::messages::Distribution;

/// Longest distinguished time: one minute, the longest time-out.
const MAX_NS: u64 = 60_000_000_000;

#[derive(Debug)]
pub struct DistributionMeter {
    histogram: Histogram<u64>,
    sum_ns: i128,
    min_ns: i64,
    max_ns: i64,
    mean_ns: f64,
    squares_ns2: f64,
}

impl Default for DistributionMeter {
    fn default() -> Self {
        let histogram =
            Histogram::new_with_bounds(1, MAX_NS, 3).expect("constant bounds are valid");
        Self {
            histogram,
            sum_ns: 0,
            min_ns: i64::MAX,
            max_ns: i64::MIN,
            mean_ns: 0.0,
            squares_ns2: 0.0,
        }
    }
}

impl DistributionMeter {
    /// Record a time. A time between two clocks may be negative within their error: mean and extremes keep the
    /// sign, the histogram uses its smallest value.
    pub fn record(&mut self, time_ns: i64) {
        self.record_run(time_ns, 1);
    }

    pub fn record_run(&mut self, time_ns: i64, count: u64) {
        let own = self.histogram.len() as f64;
        self.histogram.saturating_record_n(u64::try_from(time_ns).unwrap_or(0), count);
        self.sum_ns += i128::from(time_ns) * i128::from(count);
        self.min_ns = self.min_ns.min(time_ns);
        self.max_ns = self.max_ns.max(time_ns);
        self.pool(time_ns as f64, 0.0, own, count as f64);
    }

    /// Updating formulae for a pooled variance (Chan, Golub and others, 1979).
    fn pool(&mut self, mean_ns: f64, squares_ns2: f64, own: f64, more: f64) {
        let difference = mean_ns - self.mean_ns;
        let share = more / (own + more);
        self.mean_ns += difference * share;
        self.squares_ns2 += squares_ns2 + difference * difference * own * share;
    }

    pub fn add(&mut self, other: &Self) {
        let (own, more) = (self.samples() as f64, other.samples() as f64);
        if more == 0.0 {
            return;
        }
        self.histogram.add(&other.histogram).expect("both have the same bounds");
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.pool(other.mean_ns, other.squares_ns2, own, more);
    }

    pub fn samples(&self) -> u64 {
        self.histogram.len()
    }

    /// Times with their counts at the histogram's precision, shortest first.
    pub fn times(&self) -> impl Iterator<Item = (u64, u64)> {
        self.histogram.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()))
    }

    pub fn finish(&self) -> Distribution {
        let samples = self.samples();
        if samples == 0 {
            return Distribution::default();
        }
        let sd_ns =
            if samples > 1 { (self.squares_ns2 / (samples - 1) as f64).sqrt() } else { 0.0 };
        let mut octets = Vec::new();
        V2Serializer::new()
            .serialize(&self.histogram, &mut octets)
            .expect("a vector takes all that is written to it");
        let histogram =
            octets.iter().fold(String::with_capacity(2 * octets.len()), |mut text, octet| {
                write!(text, "{octet:02x}").expect("a string takes all that is written to it");
                text
            });
        // A histogram returns the upper end of a bucket.
        let most_ns = u64::try_from(self.max_ns).unwrap_or_default();
        let at = |share| self.histogram.value_at_quantile(share).min(most_ns);
        Distribution {
            samples,
            mean_ns: (self.sum_ns / i128::from(samples)) as i64,
            sd_ns: sd_ns as u64,
            min_ns: self.min_ns,
            p1_ns: at(0.01),
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: self.max_ns,
            histogram,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::Deserializer;

    #[test]
    fn ends_and_mean_are_exact() {
        let mut meter = DistributionMeter::default();
        for round_trip_ns in 1..=10_001_i64 {
            meter.record(round_trip_ns * 1000);
        }
        let trip = meter.finish();
        assert_eq!((trip.samples, trip.min_ns, trip.max_ns), (10_001, 1000, 10_001_000));
        assert_eq!(trip.mean_ns, 5_001_000);
        // Standard deviation of 1..=n is sqrt(n(n+1)/12).
        let expected = (10_001.0 * 10_002.0 / 12.0_f64).sqrt() * 1000.0;
        assert!((trip.sd_ns as f64 / expected - 1.0).abs() < 1e-6, "{}", trip.sd_ns);
        for (found, exact) in [(trip.p50_ns, 5_001_000.0), (trip.p99_ns, 9_901_000.0)] {
            assert!((found as f64 / exact - 1.0).abs() < 0.001, "{found} for {exact}");
        }
    }

    #[test]
    fn runs_and_merged_meters_equal_single_times() {
        let (mut single, mut runs) = (DistributionMeter::default(), DistributionMeter::default());
        for (time_ns, count) in [(1_000, 3), (-50, 2), (700_000, 1), (2_500, 40)] {
            for _ in 0..count {
                single.record(time_ns);
            }
            let mut part = DistributionMeter::default();
            part.record_run(time_ns, count);
            runs.add(&part);
        }
        let (single, runs) = (single.finish(), runs.finish());
        assert_eq!((single.min_ns, single.max_ns), (-50, 700_000));
        assert_eq!(single.sd_ns, runs.sd_ns);
        assert_eq!((single.samples, single.mean_ns), (runs.samples, runs.mean_ns));
        assert_eq!(single.histogram, runs.histogram);
    }

    #[test]
    fn histograms_round_trip() {
        let mut meter = DistributionMeter::default();
        meter.record(36_000);
        let text = meter.finish().histogram;
        let octets: Vec<u8> = (0..text.len())
            .step_by(2)
            .map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap())
            .collect();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut octets.as_slice()).unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(read.value_at_quantile(0.5), meter.histogram.value_at_quantile(0.5));
    }

    #[test]
    fn no_percentile_is_above_the_maximum() {
        for time_ns in [939_123_457, 670_999_999, 5, 0] {
            let mut meter = DistributionMeter::default();
            meter.record(time_ns);
            let times = meter.finish();
            let found = [times.p1_ns, times.p50_ns, times.p90_ns, times.p99_ns, times.p999_ns];
            assert!(found.iter().all(|p| i64::try_from(*p).unwrap() <= times.max_ns), "{found:?}");
            assert_eq!(times.max_ns, time_ns);
        }
    }

    #[test]
    fn an_empty_meter_reports_no_time() {
        let none = DistributionMeter::default().finish();
        assert_eq!((none.samples, none.min_ns, none.max_ns), (0, 0, 0));
        assert_eq!(none.histogram, "");
    }
}
