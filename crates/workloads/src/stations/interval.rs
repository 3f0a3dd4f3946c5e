//! Stopping rule: the confidence interval of the mean response time from batch means.

const LEAST_BATCHES: usize = 20;
/// At this number, batches are merged in pairs: longer ones are less correlated (Law and Carson, "A
/// sequential procedure for determining the length of a steady-state simulation", Operations
/// Research 27, 1979).
const MOST_BATCHES: usize = 40;
/// 97.5th percentile of Student's distribution with 19 degrees of freedom, the fewest used; more would narrow the
/// interval.
const STUDENT: f64 = 2.093;

/// Batches of equal time: number of operations in each, and their total response time.
#[derive(Debug)]
pub struct IntervalRule {
    ratio: f64,
    batches: Vec<(u64, u64)>,
    /// Samples per batch, and samples in the current one.
    looks_a_batch: u32,
    looks: u32,
    last: (u64, u64),
}

impl IntervalRule {
    pub fn new(ratio: f64) -> Self {
        Self { ratio, batches: Vec::new(), looks_a_batch: 1, looks: 0, last: (0, 0) }
    }

    /// Sample operations and their total time at even intervals; returns whether the interval is narrow enough.
    pub fn look(&mut self, operations: u64, response_ns: u64) -> bool {
        self.looks += 1;
        if self.looks < self.looks_a_batch || operations == self.last.0 {
            return false;
        }
        self.looks = 0;
        let (before, time_before) = self.last;
        self.batches.push((operations - before, response_ns - time_before));
        self.last = (operations, response_ns);
        if self.batches.len() == MOST_BATCHES {
            let both = |pair: &[(u64, u64)]| (pair[0].0 + pair[1].0, pair[0].1 + pair[1].1);
            self.batches = self.batches.chunks(2).map(both).collect();
            self.looks_a_batch *= 2;
        }
        self.is_narrow()
    }

    fn is_narrow(&self) -> bool {
        let means: Vec<f64> = self
            .batches
            .iter()
            .skip(1)
            .map(|(operations, time_ns)| *time_ns as f64 / *operations as f64)
            .collect();
        if means.len() < LEAST_BATCHES {
            return false;
        }
        let count = means.len() as f64;
        let mean = means.iter().sum::<f64>() / count;
        let squares = means.iter().map(|each| (each - mean).powi(2)).sum::<f64>();
        let error = (squares / (count - 1.0) / count).sqrt();
        STUDENT * error <= self.ratio * mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples until the interval is narrow enough, with a mean of 1000 ns that varies by `spread`.
    fn looks_needed(ratio: f64, spread: u64) -> u64 {
        let mut rule = IntervalRule::new(ratio);
        let (mut time_ns, mut state) = (0, 1_u64);
        for look in 1..100_000 {
            state = crate::dataset::mix(state);
            time_ns += 100 * (1000 - spread + state % (2 * spread + 1));
            if rule.look(100 * look, time_ns) {
                return look;
            }
        }
        panic!("never enough")
    }

    #[test]
    fn steady_values_need_only_the_minimum_of_batches() {
        assert_eq!(looks_needed(0.01, 1), 21);
    }

    #[test]
    fn a_narrower_interval_needs_more_batches() {
        // A uniform spread of ±500 has a deviation of 289 ns: 1 % needs (2.093 · 28.9 / 1)² samples.
        let (wide, narrow) = (looks_needed(0.04, 500), looks_needed(0.01, 500));
        assert!((80..900).contains(&wide), "{wide}");
        assert!((1_500..12_000).contains(&narrow), "{narrow}");
    }

    #[test]
    fn zero_operations_never_suffice() {
        let mut rule = IntervalRule::new(0.5);
        assert!((0..1000).all(|_| !rule.look(0, 0)));
    }
}
