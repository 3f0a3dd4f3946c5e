//! Variation of the one-way delay (RFC 3393) between consecutive messages.

use hdrhistogram::Histogram;

use crate::messages::DelayVariation;

const MAX_NS: u64 = 60_000_000_000;

#[derive(Debug, Default)]
pub struct LastDelay {
    last: Option<(u64, i64)>,
    smoothed_ns: f64,
}

impl LastDelay {
    /// Current delay variation (RFC 3550, section 6.4.1), nanoseconds.
    pub fn smoothed_ns(&self) -> u64 {
        self.smoothed_ns as u64
    }
}

/// Records send and arrival times. The two clocks may differ, as offsets cancel out in differences of delays. One
/// meter serves many flows.
#[derive(Debug)]
pub struct DelayVariationMeter {
    histogram: Histogram<u64>,
    sum_ns: u128,
    smoothed_ns: f64,
}

impl Default for DelayVariationMeter {
    fn default() -> Self {
        let histogram = Histogram::new_with_max(MAX_NS, 3).expect("constant bounds are valid");
        Self { histogram, sum_ns: 0, smoothed_ns: 0.0 }
    }
}

impl DelayVariationMeter {
    /// Record a message of the flow. It forms a pair only with its direct predecessor, not next to a lost or
    /// reordered message.
    pub fn record(&mut self, flow: &mut LastDelay, sequence: u64, sent_ns: u64, arrived_ns: u64) {
        let delay_ns = arrived_ns.wrapping_sub(sent_ns).cast_signed();
        if let Some((last, last_ns)) = flow.last.replace((sequence, delay_ns))
            && sequence == last.wrapping_add(1)
        {
            let variation_ns = delay_ns.wrapping_sub(last_ns).unsigned_abs();
            self.histogram.saturating_record(variation_ns);
            self.sum_ns += u128::from(variation_ns);
            // RFC 3550, section 6.4.1: J += (|D| - J) / 16.
            flow.smoothed_ns += (variation_ns as f64 - flow.smoothed_ns) / 16.0;
        }
    }

    /// Record `count` messages from `sequence` on that were sent and received together: the delay does not vary
    /// between them.
    pub fn record_run(
        &mut self,
        flow: &mut LastDelay,
        sequence: u64,
        count: u64,
        sent_ns: u64,
        arrived_ns: u64,
    ) {
        self.record(flow, sequence, sent_ns, arrived_ns);
        if let Some(last) = flow.last.as_mut().filter(|_| count > 1) {
            last.0 = sequence + count - 1;
            self.histogram.saturating_record_n(0, count - 1);
            flow.smoothed_ns *= (15.0_f64 / 16.0).powi(count as i32 - 1);
        }
    }

    pub fn end(&mut self, flow: &LastDelay) {
        self.smoothed_ns = self.smoothed_ns.max(flow.smoothed_ns);
    }

    /// Merge several meters; `None` if there were no pairs of messages.
    pub fn merge<'a>(meters: impl Iterator<Item = &'a Self> + Clone) -> Option<DelayVariation> {
        let mut all = Histogram::new_with_max(MAX_NS, 3).expect("constant bounds are valid");
        for flow in meters.clone() {
            all.add(&flow.histogram).expect("both have the same bounds");
        }
        let samples = all.len();
        if samples == 0 {
            return None;
        }
        let sum_ns: u128 = meters.clone().map(|flow| flow.sum_ns).sum();
        let smoothed_ns = meters.map(|flow| flow.smoothed_ns).fold(0.0, f64::max);
        Some(DelayVariation {
            samples,
            mean_ns: (sum_ns / u128::from(samples)) as u64,
            p50_ns: all.value_at_quantile(0.5),
            p90_ns: all.value_at_quantile(0.9),
            p99_ns: all.value_at_quantile(0.99),
            max_ns: all.max(),
            smoothed_ns: smoothed_ns as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_offset_cancels_out() {
        let run = |offset_ns: u64| {
            let (mut meter, mut flow) = (DelayVariationMeter::default(), LastDelay::default());
            for (number, delay_ns) in [(0, 100), (1, 130), (2, 110), (3, 110)] {
                let sent_ns = 1000 * number;
                meter.record(
                    &mut flow,
                    number,
                    sent_ns,
                    (sent_ns + delay_ns).wrapping_add(offset_ns),
                );
            }
            DelayVariationMeter::merge([&meter].into_iter()).unwrap()
        };
        let together = run(0);
        assert_eq!((together.samples, together.mean_ns), (3, 16));
        assert_eq!((together.p50_ns, together.max_ns), (20, 30));
        let apart = run(0_u64.wrapping_sub(5_000_000_000));
        assert_eq!((apart.mean_ns, apart.max_ns), (16, 30));
    }

    #[test]
    fn a_run_equals_single_messages() {
        let run = |by_run: bool| {
            let (mut meter, mut flow) = (DelayVariationMeter::default(), LastDelay::default());
            for (first, count, delay_ns) in [(0, 4, 500), (4, 1, 900), (5, 64, 100), (80, 2, 0)] {
                let (sent_ns, arrived_ns) = (10_000 * first, 10_000 * first + delay_ns);
                if by_run {
                    meter.record_run(&mut flow, first, count, sent_ns, arrived_ns);
                } else {
                    for number in first..first + count {
                        meter.record(&mut flow, number, sent_ns, arrived_ns);
                    }
                }
            }
            meter.end(&flow);
            DelayVariationMeter::merge([&meter].into_iter()).unwrap()
        };
        let (single, runs) = (run(false), run(true));
        assert_eq!((single.samples, single.mean_ns), (runs.samples, runs.mean_ns));
        assert_eq!((single.p99_ns, single.max_ns), (runs.p99_ns, runs.max_ns));
        assert_eq!(single.smoothed_ns, runs.smoothed_ns);
    }

    #[test]
    fn only_consecutive_messages_form_pairs() {
        let (mut meter, mut flow) = (DelayVariationMeter::default(), LastDelay::default());
        // 2 is lost; 5 overtakes 4.
        for number in [0, 1, 3, 5, 4, 6, 7] {
            meter.record(&mut flow, number, 1000 * number, 1000 * number + 100);
        }
        // The pairs 0-1 and 6-7.
        assert_eq!(DelayVariationMeter::merge([&meter].into_iter()).unwrap().samples, 2);
    }

    #[test]
    fn flows_pool_samples_and_keep_the_largest_smoothed_variation() {
        // Delays in ns; flows of the first meter alternate.
        let flows = [[0, 1600, 1600], [0, 160, 0], [500, 500, 820]];
        let mut meters = [DelayVariationMeter::default(), DelayVariationMeter::default()];
        let mut last = flows.map(|_| LastDelay::default());
        for number in 0..3 {
            for (flow, delays) in flows.iter().enumerate() {
                let (meter, sent_ns) = (&mut meters[flow / 2], 1_000_000 * number);
                let arrived_ns = sent_ns + delays[number as usize];
                meter.record(&mut last[flow], number, sent_ns, arrived_ns);
            }
        }
        for (flow, last) in last.iter().enumerate() {
            meters[flow / 2].end(last);
        }

        let all = DelayVariationMeter::merge(meters.iter()).unwrap();
        // 1600, 0; 160, 160; 0, 320. Smoothed: 93 (100, then 15/16 of it), 19 and 20.
        assert_eq!((all.samples, all.mean_ns, all.smoothed_ns), (6, 2240 / 6, 93));
        assert_eq!((all.p50_ns, all.p90_ns, all.max_ns), (160, 1600, 1600));
    }

    #[test]
    fn one_message_has_no_variation() {
        let (mut meter, mut flow) = (DelayVariationMeter::default(), LastDelay::default());
        meter.record(&mut flow, 0, 1, 2);
        assert!(DelayVariationMeter::merge([&meter].into_iter()).is_none());
    }
}
