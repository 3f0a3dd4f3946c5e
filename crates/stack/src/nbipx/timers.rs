//! Time-outs of a session, from its stack's profile.

use crate::profile::IpxProfile;
use crate::sequenced::{Wait, Waits};

impl Waits for IpxProfile {
    fn first_ns(&self, wait: Wait, round_trip_ns: u64) -> u64 {
        match wait {
            Wait::Answer => self.connect_interval_ns,
            Wait::Room => self.probe_ns,
            Wait::Alive => self.alive_ns,
            _ => self.resend_ns.max(2 * round_trip_ns),
        }
    }

    fn most(&self, wait: Wait) -> u32 {
        match wait {
            // The call itself was the first attempt.
            Wait::Answer => self.connect_count - 1,
            Wait::Alive => self.alive_count,
            _ => self.resend_count,
        }
    }

    fn next_ns(&self, wait: Wait, interval_ns: u64) -> u64 {
        match wait {
            Wait::Acknowledgement | Wait::End => interval_ns * self.resend_growth_percent / 100,
            _ => interval_ns,
        }
    }

    fn call_ns(&self) -> u64 {
        u64::MAX
    }
}
