//! How long before a deadline the medium's thread requests its wake-up.
//!
//! A system wakes a thread late. The delay differs between systems by a factor of ten, so it is measured. A thread
//! that wakes early spins until the deadline.

use lanlab_units::Instant;

use crate::waiting::Margin;

/// With `precise`, shorter waits are spun entirely.
const PRECISE_LEAST_SLEEP_NS: u64 = 200_000;
/// Without `precise`, at most this fraction of the time is spent spinning.
const SPIN_RATIO: f64 = 0.4;
const MOST_CREDIT_NS: u64 = 20_000_000;
const FIRST_LEAD_NS: u64 = 60_000;
const MOST_LEAD_NS: u64 = 100_000;
/// Wake-ups are early enough for nine of ten to be on time: a late one adds nine times what an
/// on-time one subtracts. For 99 of 100, a lone frame would cost three times as much spinning.
const LESS_NS: u64 = 250;
const MORE_NS: u64 = 9 * LESS_NS;

pub struct WakeUp {
    /// With `precise`: the 99th percentile of the delay of wake-ups.
    margin: Option<Margin>,
    /// 90th percentile of that delay.
    lead_ns: u64,
    credit_ns: u64,
    since: Instant,
    pub spun_ns: u64,
}

impl WakeUp {
    pub fn new(is_precise: bool) -> Self {
        Self {
            margin: is_precise.then(Margin::new),
            lead_ns: FIRST_LEAD_NS,
            credit_ns: 0,
            since: Instant::ZERO,
            spun_ns: 0,
        }
    }

    pub fn sleep_ns(&mut self, now: Instant, left_ns: u64) -> u64 {
        if let Some(margin) = &self.margin {
            let sleep_ns = left_ns.saturating_sub(margin.of(left_ns));
            return if left_ns < PRECISE_LEAST_SLEEP_NS { 0 } else { sleep_ns };
        }
        let grown_ns = now.nanos_since(self.since) as f64 * SPIN_RATIO;
        self.since = now;
        self.credit_ns = (self.credit_ns + grown_ns as u64).min(MOST_CREDIT_NS);
        let early_ns = if self.credit_ns >= self.lead_ns { self.lead_ns } else { 0 };
        left_ns.saturating_sub(early_ns)
    }

    pub fn woke(&mut self, late_ns: u64) {
        if let Some(margin) = &mut self.margin {
            margin.learn(late_ns);
        }
        self.lead_ns = if late_ns > self.lead_ns {
            (self.lead_ns + MORE_NS).min(MOST_LEAD_NS)
        } else {
            self.lead_ns.saturating_sub(LESS_NS)
        };
    }

    pub fn spun(&mut self, ns: u64) {
        self.spun_ns += ns;
        self.credit_ns = self.credit_ns.saturating_sub(ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    #[test]
    fn nine_of_ten_wake_ups_are_on_time() {
        let mut wake_up = WakeUp::new(false);
        let (mut late_ns, mut in_time) = (0, 0);
        for round in 0..40_000 {
            // Uniform from 20 to 60 µs, shuffled.
            late_ns = (late_ns + 24_691) % 40_009;
            if round >= 20_000 {
                in_time += u32::from(20_000 + late_ns <= wake_up.lead_ns);
            }
            wake_up.woke(20_000 + late_ns);
        }
        assert!((17_500..18_500).contains(&in_time), "{in_time}");
    }

    #[test]
    fn at_most_40_percent_of_the_time_is_spent_spinning() {
        let mut wake_up = WakeUp::new(false);
        (0..1_000).for_each(|_| wake_up.woke(1_000_000));
        let mut now = Instant::ZERO;
        while now.as_nanos() < 10 * SECOND_NS {
            let sleep_ns = wake_up.sleep_ns(now, 110_000);
            wake_up.spun(110_000 - sleep_ns);
            now = now.plus_nanos(110_000);
        }
        let spun = wake_up.spun_ns as f64 / now.as_nanos() as f64;
        assert!((0.3..0.41).contains(&spun), "{spun}");
    }

    #[test]
    fn a_precise_thread_spins_through_short_waits_and_sleeps_through_long_ones() {
        let mut wake_up = WakeUp::new(true);
        assert_eq!(wake_up.sleep_ns(Instant::ZERO, 199_999), 0);
        let slept = wake_up.sleep_ns(Instant::ZERO, SECOND_NS);
        assert!((SECOND_NS - 200_000..SECOND_NS).contains(&slept), "{slept}");
    }
}
