//! What a session waits for, and how long.

use lanlab_units::Instant;

use crate::profile::IpxProfile;
use crate::sequenced::mean_round_trip_ns;

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Nothing: its program decides.
    Nothing,
    /// The answer to its call.
    Answer,
    /// The acknowledgement of what it has sent.
    Acknowledgement,
    /// Room at the other end.
    Room,
    /// Any packet: the other end may have gone.
    Alive,
    /// The end of its last answers.
    Oblivion,
}

/// How long a session that is over answers the other end still, ns.
const OBLIVION_NS: u64 = 10_000_000_000;

/// What is waited for, since when, and how often it was waited for in vain.
#[derive(Debug)]
pub(super) struct Timer {
    wait: Wait,
    pub(super) deadline: Option<Instant>,
    tries: u32,
    interval_ns: u64,
    /// Mean round trip, ns.
    round_trip_ns: Option<u64>,
}

impl Timer {
    pub(super) const fn new() -> Self {
        let (wait, deadline) = (Wait::Nothing, None);
        Self { wait, deadline, tries: 0, interval_ns: 0, round_trip_ns: None }
    }

    /// Wait for this from now on; anew, if something has happened that was waited for.
    pub(super) fn begin(&mut self, now: Instant, wait: Wait, is_anew: bool, profile: &IpxProfile) {
        if self.wait == wait && !is_anew {
            return;
        }
        (self.wait, self.tries) = (wait, 0);
        self.interval_ns = match wait {
            Wait::Nothing => 0,
            Wait::Answer => profile.connect_interval_ns.value,
            Wait::Acknowledgement => {
                profile.resend_ns.value.max(2 * self.round_trip_ns.unwrap_or(0))
            }
            Wait::Room => profile.probe_ns.value,
            Wait::Alive => profile.alive_ns.value,
            Wait::Oblivion => OBLIVION_NS,
        };
        self.deadline = (wait != Wait::Nothing).then(|| now.plus_nanos(self.interval_ns));
    }

    /// It was waited for in vain. What it was; `None`: often enough.
    pub(super) fn expire(&mut self, now: Instant, profile: &IpxProfile) -> Option<Wait> {
        let most = match self.wait {
            Wait::Nothing | Wait::Oblivion => 0,
            // The call itself was the first one.
            Wait::Answer => profile.connect_count.value - 1,
            Wait::Acknowledgement | Wait::Room => profile.resend_count.value,
            Wait::Alive => profile.alive_count.value,
        };
        self.deadline = None;
        if self.tries >= most {
            return None;
        }
        self.tries += 1;
        if self.wait == Wait::Acknowledgement {
            self.interval_ns = self.interval_ns * profile.resend_growth_percent.value / 100;
        }
        self.deadline = Some(now.plus_nanos(self.interval_ns));
        Some(self.wait)
    }

    /// Something was answered that was sent once, this time ago.
    pub(super) fn measure(&mut self, took_ns: u64) {
        self.round_trip_ns = Some(mean_round_trip_ns(self.round_trip_ns, took_ns));
    }

    /// Whether the network is so slow that acknowledgements do not wait.
    pub(super) fn is_slow(&self, profile: &IpxProfile) -> bool {
        self.round_trip_ns.is_some_and(|mean_ns| mean_ns >= profile.slow_ns.value)
    }
}
