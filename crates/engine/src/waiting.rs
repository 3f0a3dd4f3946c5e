//! Precise waiting: sleep until shortly before the time, then spin.

use lanlab_os as os;
use lanlab_units::Instant;

/// Initial margin of wake-ups, until the system's delay is measured.
const FIRST_MARGIN_NS: u64 = 60_000;
const LEAST_MARGIN_NS: u64 = 2_000;
const MOST_MARGIN_NS: u64 = 150_000;
/// A long wait can afford an earlier wake-up: up to a sixth of it is spent spinning.
const AFFORDED_SHARE: u64 = 6;
/// A late wake-up widens the margin by an eighth, an early one narrows it by a 1024th: in equilibrium one wake-up
/// in 120 is late, so 99 of 100 waits end on time.
const WIDEN_BY: u64 = 8;
const NARROW_BY: u64 = 1024;
/// Longer waits within the margin are spun entirely, and narrow it, too. Otherwise a margin wider
/// than all waits would never shrink, and the spinning would continue.
const LEAST_SLEEP_NS: u64 = 50_000;

/// How much earlier than wanted a thread asks to be woken. More costs processor time, less costs precision; the
/// right value differs between systems by a factor of ten, so it is measured.
#[derive(Debug)]
pub struct Margin {
    ns: u64,
}

impl Margin {
    pub fn new() -> Self {
        Self { ns: FIRST_MARGIN_NS }
    }

    pub fn of(&self, left_ns: u64) -> u64 {
        self.ns.max((left_ns / AFFORDED_SHARE).min(MOST_MARGIN_NS))
    }

    /// Adjust to a wake-up that came this late.
    pub fn learn(&mut self, late_ns: u64) {
        let margin_ns = if late_ns > self.ns {
            self.ns + self.ns / WIDEN_BY
        } else {
            self.ns - self.ns / NARROW_BY
        };
        self.ns = margin_ns.clamp(LEAST_MARGIN_NS, MOST_MARGIN_NS);
    }

    fn spun(&mut self, left_ns: u64) {
        if left_ns > LEAST_SLEEP_NS {
            self.ns -= self.ns / NARROW_BY;
        }
    }
}

#[derive(Debug)]
pub struct Waiter {
    margin: Margin,
}

impl Waiter {
    pub fn new() -> Self {
        Self { margin: Margin::new() }
    }

    /// Wait until `deadline`, and return the time then.
    pub fn wait_until(&mut self, deadline: Instant) -> Instant {
        let mut now = os::monotonic();
        let left_ns = deadline.nanos_since(now);
        let margin_ns = self.margin.of(left_ns);
        if left_ns > margin_ns {
            let wake_at = deadline.minus_nanos(margin_ns);
            os::sleep_until(wake_at);
            now = os::monotonic();
            self.margin.learn(now.nanos_since(wake_at));
        } else {
            self.margin.spun(left_ns);
        }
        while now < deadline {
            std::hint::spin_loop();
            now = os::monotonic();
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_wait_returns_early() {
        let mut waiter = Waiter::new();
        let mut deadline = os::monotonic();
        for _ in 0..50 {
            deadline = deadline.plus_nanos(100_000);
            assert!(waiter.wait_until(deadline) >= deadline);
        }
    }

    /// 63 wake-ups of 64 are 10 µs late, one is 40 µs late.
    #[test]
    fn the_margin_settles_once_few_wake_ups_are_late() {
        let mut margin = Margin::new();
        let (mut too_late, rounds) = (0, 64_000);
        for round in 0..rounds {
            let late_ns = if round % 64 == 0 { 40_000 } else { 10_000 };
            if round > rounds / 2 {
                too_late += u32::from(late_ns > margin.ns);
            }
            margin.learn(late_ns);
        }
        assert!(too_late < rounds / 2 / 32, "{too_late}");
        assert!((10_000..50_000).contains(&margin.ns), "{}", margin.ns);
    }

    #[test]
    fn under_1_percent_of_wake_ups_are_late() {
        let mut margin = Margin::new();
        let (mut late_ns, mut too_late, rounds) = (0, 0, 200_000);
        for round in 0..rounds {
            // Uniform from 0 to 40 µs, shuffled.
            late_ns = (late_ns + 24_691) % 40_009;
            if round > rounds / 2 {
                too_late += u32::from(late_ns > margin.ns);
            }
            margin.learn(late_ns);
        }
        assert!((1..rounds / 200).contains(&too_late), "{too_late}");
    }

    #[test]
    fn a_margin_wider_than_every_wait_narrows_until_the_thread_sleeps_again() {
        let mut margin = Margin::new();
        (0..20).for_each(|_| margin.learn(1_000_000));
        assert!(margin.of(102_400) > 102_400);
        (0..1_000).for_each(|_| margin.spun(102_400));
        assert!(margin.of(102_400) < 102_400, "{}", margin.ns);
        // Waits too short to sleep in do not change the estimate.
        let before = margin.ns;
        (0..1_000).for_each(|_| margin.spun(20_000));
        assert_eq!(margin.ns, before);
    }

    #[test]
    fn the_margin_stays_within_its_bounds() {
        let mut margin = Margin::new();
        for _ in 0..100_000 {
            margin.learn(0);
        }
        assert_eq!(margin.ns, LEAST_MARGIN_NS);
        for _ in 0..1_000 {
            margin.learn(10_000_000);
        }
        assert_eq!(margin.ns, MOST_MARGIN_NS);
    }
}
