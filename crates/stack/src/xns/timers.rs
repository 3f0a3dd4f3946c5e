//! Time-outs of a session, from its stack's profile.

use crate::profile::xns::XnsProfile;
use crate::sequenced::{Wait, Waits};

impl Waits for XnsProfile {
    fn first_ns(&self, wait: Wait, round_trip_ns: u64) -> u64 {
        let (shortest_ns, longest_ns) = self.resend_ns;
        match wait {
            Wait::Room => self.probe_ns.0,
            Wait::Alive => self.alive_ns,
            _ => (2 * round_trip_ns).clamp(shortest_ns, longest_ns),
        }
    }

    fn most(&self, wait: Wait) -> u32 {
        match wait {
            Wait::Alive => self.alive_count,
            // The first one was already sent.
            Wait::End => self.end_count - 1,
            _ => self.resend_count,
        }
    }

    fn next_ns(&self, wait: Wait, interval_ns: u64) -> u64 {
        let longest_ns = match wait {
            Wait::Room => self.probe_ns.1,
            Wait::Alive => self.alive_ns,
            _ => self.resend_ns.1,
        };
        (2 * interval_ns).min(longest_ns)
    }

    fn call_ns(&self) -> u64 {
        self.call_ns
    }
}
