//! What a session waits for, and how long.

use lanlab_units::Instant;

use super::profile::XnsProfile;
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
    /// That the other end has seen the end.
    End,
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
    began: Instant,
    /// Mean round trip, ns.
    round_trip_ns: Option<u64>,
}

impl Timer {
    pub(super) const fn new(now: Instant) -> Self {
        let (wait, deadline) = (Wait::Nothing, None);
        Self { wait, deadline, tries: 0, interval_ns: 0, began: now, round_trip_ns: None }
    }

    /// Wait for this from now on; anew, if something has happened that was waited for.
    pub(super) fn begin(&mut self, now: Instant, wait: Wait, is_anew: bool, profile: &XnsProfile) {
        let is_same = self.wait == wait;
        if is_same && !is_anew {
            return;
        }
        self.tries = 0;
        // A window that stays closed is asked for at longer and longer intervals.
        if !(is_same && wait == Wait::Room) {
            (self.wait, self.began) = (wait, now);
            self.interval_ns = match wait {
                Wait::Nothing => 0,
                Wait::Answer | Wait::Acknowledgement | Wait::End => {
                    let (shortest_ns, longest_ns) = profile.resend_ns.value;
                    let measured_ns = 2 * self.round_trip_ns.unwrap_or(0);
                    measured_ns.clamp(shortest_ns, longest_ns)
                }
                Wait::Room => profile.probe_ns.value.0,
                Wait::Alive => profile.alive_ns.value,
                Wait::Oblivion => OBLIVION_NS,
            };
        }
        self.deadline = (wait != Wait::Nothing).then(|| now.plus_nanos(self.interval_ns));
    }

    /// It was waited for in vain. What it was; `None`: often enough.
    pub(super) fn expire(&mut self, now: Instant, profile: &XnsProfile) -> Option<Wait> {
        let (most, longest_ns) = match self.wait {
            Wait::Nothing | Wait::Oblivion => (0, 0),
            Wait::Answer | Wait::Acknowledgement => {
                (profile.resend_count.value, profile.resend_ns.value.1)
            }
            Wait::Room => (profile.resend_count.value, profile.probe_ns.value.1),
            Wait::Alive => (profile.alive_count.value, profile.alive_ns.value),
            // The first one was said before.
            Wait::End => (profile.end_count.value - 1, profile.resend_ns.value.1),
        };
        self.deadline = None;
        let waited_ns = now.nanos_since(self.began);
        if self.tries >= most || self.wait == Wait::Answer && waited_ns >= profile.call_ns.value {
            return None;
        }
        self.tries += 1;
        self.interval_ns = (2 * self.interval_ns).min(longest_ns);
        if self.wait == Wait::Answer {
            self.interval_ns = self.interval_ns.min(profile.call_ns.value - waited_ns);
        }
        self.deadline = Some(now.plus_nanos(self.interval_ns));
        Some(self.wait)
    }

    /// How often it was waited for in vain.
    pub(super) const fn tries(&self) -> u32 {
        self.tries
    }

    /// Something was answered that was sent once, this time ago.
    pub(super) fn measure(&mut self, took_ns: u64) {
        self.round_trip_ns = Some(mean_round_trip_ns(self.round_trip_ns, took_ns));
    }
}
