//! Arrival times and lengths of frames.

use lanlab_medium::{Port, Random};
use lanlab_units::{Instant, Schedule};

use super::plan::{Arrivals, LoadPlan};

/// Stream of random numbers that no part of the medium uses.
const ARRIVAL_STREAM: u64 = 2;

#[derive(Debug)]
pub(super) struct ArrivalProcess {
    random: Random,
    schedule: Schedule<Instant, Port>,
    mean_gap_ns: f64,
    lengths: Vec<(u32, f64)>,
}

impl ArrivalProcess {
    pub(super) fn new(plan: &LoadPlan, seed: u64) -> Self {
        let total: f64 = plan.frames.iter().map(|share| share.weight).sum();
        let mut cumulated = 0.0;
        let lengths = plan.frames.iter().map(|share| {
            cumulated += share.weight / total;
            (share.frame_bytes, cumulated)
        });
        let mut process = Self {
            random: Random::new(seed, ARRIVAL_STREAM),
            schedule: Schedule::new(),
            mean_gap_ns: 0.0,
            lengths: lengths.collect(),
        };
        if let Arrivals::Poisson { offered_ratio } = plan.arrivals {
            let stations = plan.medium.ports;
            let rate_bps = plan.medium.rate_bps.unwrap_or(1) as f64;
            let frames_per_s = offered_ratio * rate_bps / (8.0 * plan.mean_frame_bytes());
            process.mean_gap_ns = 1e9 * f64::from(stations) / frames_per_s;
            for station in 0..stations {
                process.plan_next(Instant::ZERO, station);
            }
        }
        process
    }

    pub(super) fn next_at(&self) -> Option<Instant> {
        self.schedule.next_at()
    }

    pub(super) fn take_next(&mut self) -> Option<(Instant, Port)> {
        let (at, station) = self.schedule.pop()?;
        self.plan_next(at, station);
        Some((at, station))
    }

    pub(super) fn frame_bytes(&mut self) -> u32 {
        if let [(frame_bytes, _)] = self.lengths[..] {
            return frame_bytes;
        }
        let unit = self.random.unit();
        let found = self.lengths.iter().find(|(_, cumulated)| unit < *cumulated);
        // The shares add up to 1, except for rounding.
        found.or(self.lengths.last()).map_or(0, |(frame_bytes, _)| *frame_bytes)
    }

    fn plan_next(&mut self, from: Instant, station: Port) {
        let gap_ns = (exponential(&mut self.random) * self.mean_gap_ns).round() as u64;
        self.schedule.add(from.plus_nanos(gap_ns), station);
    }
}

/// An exponentially distributed number with mean 1.
///
/// J. von Neumann's method ("Various Techniques Used in Connection with Random Digits", 1951)
/// compares uniform numbers. It needs no logarithm, whose last digits differ between platforms.
fn exponential(random: &mut Random) -> f64 {
    let mut whole = 0.0;
    loop {
        let first = random.unit();
        let mut last = first;
        let mut is_odd = true;
        loop {
            let next = random.unit();
            if next >= last {
                break;
            }
            last = next;
            is_odd = !is_odd;
        }
        if is_odd {
            return whole + first;
        }
        whole += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_draws_have_the_right_mean_variance_and_tail() {
        let mut random = Random::new(11, 0);
        let numbers: Vec<f64> = (0..200_000).map(|_| exponential(&mut random)).collect();
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let tail = numbers.iter().filter(|x| **x > 3.0).count() as f64 / count;
        // Four standard errors: 1/√n, √8/√n, √(p(1−p)/n).
        assert!((mean - 1.0).abs() < 0.009, "{mean}");
        assert!((variance - 1.0).abs() < 0.026, "{variance}");
        assert!((tail - (-3.0_f64).exp()).abs() < 0.002, "{tail}");
    }
}
