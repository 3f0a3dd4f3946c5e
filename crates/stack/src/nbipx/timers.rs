//! Time-outs of a session, from its stack's profile.

use crate::profile::IpxProfile;
use crate::sequenced::{Wait, Waits};

impl Waits for IpxProfile {
    fn first_ns(&self, wait: Wait, round_trip_ns: u64) -> u64 {
        match wait {
            Wait::Answer => self.connect_interval_ns.value,
            Wait::Room => self.probe_ns.value,
            Wait::Alive => self.alive_ns.value,
            _ => self.resend_ns.value.max(2 * round_trip_ns),
        }
    }

    fn most(&self, wait: Wait) -> u32 {
        match wait {
            // The call itself was the first attempt.
            Wait::Answer => self.connect_count.value - 1,
            Wait::Alive => self.alive_count.value,
            _ => self.resend_count.value,
        }
    }

    fn next_ns(&self, wait: Wait, interval_ns: u64) -> u64 {
        match wait {
            Wait::Acknowledgement => interval_ns * self.resend_growth_percent.value / 100,
            _ => interval_ns,
        }
    }

    fn call_ns(&self) -> u64 {
        u64::MAX
    }
}
