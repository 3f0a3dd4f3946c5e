//! The sending side of a host's adapter: its queue, and the rate limit of the host.
//!
//! A virtual interface accepts every frame and drops those that do not fit; the sender does not notice. A real
//! adapter makes the sender wait. So a token bucket precedes the interface, where waiting frames still count
//! against the sender's socket buffer. Its rate depends on the queue here: the link's rate while it is short, and
//! less than the medium's recent rate while it is long.

use std::collections::VecDeque;

use lanlab_units::Instant;

use super::FULL_FRAME_BYTES;

/// The bucket's rate relative to the link's while the queue is short, so it never runs empty.
const FULL_RATE_RATIO: f64 = 1.002;
/// The bucket's rate relative to the medium's while the queue is long, so that it shrinks.
const HELD_RATE_RATIO: f64 = 0.9;
/// Minimum rate as a fraction of the link's: the bucket applies a new rate only with its next
/// frame.
const LEAST_RATE_RATIO: f64 = 1.0 / 64.0;
/// Period over which the medium's rate is measured, and between two reductions. Longer on a shared medium, where a
/// host sends irregularly.
const PERIOD_NS: u64 = 5_000_000;
const SHARED_PERIOD_NS: u64 = 100_000_000;
const LATEST_SHARE: f64 = 0.5;

pub struct Adapter {
    waiting: VecDeque<u32>,
    waiting_bytes: u64,
    served_bytes: u64,
    /// `None` if frames take no time.
    steering: Option<Steering>,
}

struct Steering {
    full_bps: u64,
    rate_bps: u64,
    low_bytes: u64,
    high_bytes: u64,
    period_ns: u64,
    since: Instant,
    served_bytes_then: u64,
    served_bps: f64,
}

impl Adapter {
    /// The adapter of a medium with this rate. On a shared medium the queue is longer: hosts send irregularly, and
    /// it must not be empty when the host may send.
    pub fn new(rate_bps: Option<u64>, shared: bool) -> Self {
        let steering = rate_bps.map(|rate_bps| {
            let in_a_millisecond = rate_bps / 8 / 1000;
            let (low_frames, high_frames) = if shared { (24, 64) } else { (2, 8) };
            let full_bps = (rate_bps as f64 * FULL_RATE_RATIO).ceil() as u64;
            Steering {
                full_bps,
                rate_bps: full_bps,
                low_bytes: (low_frames * FULL_FRAME_BYTES).max(in_a_millisecond),
                high_bytes: (high_frames * FULL_FRAME_BYTES).max(3 * in_a_millisecond),
                period_ns: if shared { SHARED_PERIOD_NS } else { PERIOD_NS },
                since: Instant::ZERO,
                served_bytes_then: 0,
                served_bps: 0.0,
            }
        });
        Self { waiting: VecDeque::new(), waiting_bytes: 0, served_bytes: 0, steering }
    }

    pub fn full_rate_bps(&self) -> Option<u64> {
        self.steering.as_ref().map(|steering| steering.full_bps)
    }

    pub fn is_full(&self) -> bool {
        self.steering.as_ref().is_some_and(|each| self.waiting_bytes >= 4 * each.high_bytes)
    }

    pub fn waiting_frames(&self) -> u64 {
        self.waiting.len() as u64
    }

    pub fn push(&mut self, ticket: u32, wire_bytes: u32) {
        self.waiting.push_back(ticket);
        self.waiting_bytes += u64::from(wire_bytes);
    }

    pub fn first(&self) -> Option<u32> {
        self.waiting.front().copied()
    }

    pub fn pop(&mut self, wire_bytes: u32) {
        self.waiting.pop_front();
        self.waiting_bytes -= u64::from(wire_bytes);
        self.served_bytes += u64::from(wire_bytes);
    }

    /// The host's new rate limit, if it changes.
    pub fn steer(&mut self, now: Instant) -> Option<u64> {
        let steering = self.steering.as_mut()?;
        let period_ns = now.nanos_since(steering.since);
        let mut wanted_bps = steering.rate_bps;
        if self.waiting_bytes <= steering.low_bytes {
            wanted_bps = steering.full_bps;
        }
        if period_ns >= steering.period_ns {
            let bits = 8 * (self.served_bytes - steering.served_bytes_then);
            let served_bps = bits as f64 / (period_ns as f64 / 1e9);
            steering.served_bps += LATEST_SHARE * (served_bps - steering.served_bps);
            if self.waiting_bytes >= steering.high_bytes {
                let least_bps = steering.full_bps as f64 * LEAST_RATE_RATIO;
                let most_bps = steering.rate_bps as f64;
                let held_bps = steering.served_bps.min(most_bps) * HELD_RATE_RATIO;
                wanted_bps = held_bps.max(least_bps) as u64;
            }
            steering.since = now;
            steering.served_bytes_then = self.served_bytes;
        }
        if wanted_bps == steering.rate_bps {
            return None;
        }
        steering.rate_bps = wanted_bps;
        Some(wanted_bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulate a host that always has a frame, a bucket at the steered rate, and a medium with
    /// `share` of the link's rate. Returns the longest queue, and the share of time it was empty.
    fn saturate(shared: bool, share: f64) -> (u64, f64) {
        const RATE_BPS: f64 = 10e6;
        const FRAME_NS: f64 = 1538.0 * 8.0 / RATE_BPS * 1e9;
        let mut adapter = Adapter::new(Some(RATE_BPS as u64), shared);
        let mut rate_bps = adapter.full_rate_bps().unwrap() as f64;
        let (mut arrives_ns, mut leaves_ns, mut now_ns) = (0.0_f64, FRAME_NS, 0.0);
        let (mut most, mut dry, mut turns) = (0, 0_u32, 0_u32);
        while now_ns < 60e9 {
            now_ns = arrives_ns.min(leaves_ns);
            if arrives_ns <= leaves_ns {
                adapter.push(0, 1538);
                arrives_ns += 1538.0 * 8.0 / rate_bps * 1e9;
            } else {
                turns += 1;
                if adapter.first().is_some() {
                    adapter.pop(1538);
                } else {
                    dry += 1;
                }
                leaves_ns += FRAME_NS / share;
            }
            most = most.max(adapter.waiting_bytes);
            if let Some(changed) = adapter.steer(Instant::from_nanos(now_ns as u64)) {
                rate_bps = changed as f64;
            }
        }
        (most, f64::from(dry) / f64::from(turns))
    }

    #[test]
    fn a_busy_sender_on_a_cable_is_paced_without_starving() {
        let (most, dry) = saturate(false, 1.0);
        assert!(most <= 12 * 1538, "{most}");
        assert!(dry < 0.001, "{dry}");
    }

    #[test]
    fn a_host_is_paced_but_not_starved_at_a_fifteenth_of_the_bus() {
        let (most, dry) = saturate(true, 1.0 / 15.0);
        assert!(most <= 4 * 64 * 1538, "{most}");
        assert!(dry < 0.01, "{dry}");
    }

    #[test]
    fn an_unlimited_medium_delays_no_sender() {
        let mut adapter = Adapter::new(None, false);
        (0..10_000).for_each(|ticket| adapter.push(ticket, 1538));
        assert!(!adapter.is_full());
        assert_eq!(adapter.steer(Instant::from_nanos(1 << 40)), None);
    }
}
