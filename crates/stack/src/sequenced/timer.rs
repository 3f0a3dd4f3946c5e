//! What a session waits for, and how long.

use lanlab_units::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Nothing,
    Answer,
    Acknowledgement,
    Room,
    Alive,
    End,
    Oblivion,
}

/// How long a session that is over answers the other end still, ns.
const OBLIVION_NS: u64 = 10_000_000_000;

pub(crate) trait Waits {
    /// How long it waits at first, ns. Its mean round trip is zero before one was measured.
    fn first_ns(&self, wait: Wait, round_trip_ns: u64) -> u64;

    /// How often it waits again.
    fn most(&self, wait: Wait) -> u32;

    /// How long it waits after it has waited this long in vain, ns.
    fn next_ns(&self, wait: Wait, interval_ns: u64) -> u64;

    /// Time after which a call is given up, ns.
    fn call_ns(&self) -> u64;
}

/// What is waited for, since when, and how often it was waited for in vain.
#[derive(Debug)]
pub(crate) struct Timer {
    wait: Wait,
    pub(crate) deadline: Option<Instant>,
    tries: u32,
    interval_ns: u64,
    began: Instant,
    /// Mean round trip, of which each counts an eighth, ns.
    round_trip_ns: Option<u64>,
}

impl Timer {
    pub(crate) const fn new(now: Instant) -> Self {
        let (wait, deadline) = (Wait::Nothing, None);
        Self { wait, deadline, tries: 0, interval_ns: 0, began: now, round_trip_ns: None }
    }

    /// Wait for this from now on; anew, if something has happened that was waited for.
    pub(crate) fn begin(&mut self, now: Instant, wait: Wait, is_anew: bool, waits: &impl Waits) {
        let is_same = self.wait == wait;
        if is_same && !is_anew {
            return;
        }
        self.tries = 0;
        // A window that stays closed is asked for at intervals that grow.
        if !(is_same && wait == Wait::Room) {
            (self.wait, self.began) = (wait, now);
            self.interval_ns = match wait {
                Wait::Nothing => 0,
                Wait::Oblivion => OBLIVION_NS,
                _ => waits.first_ns(wait, self.round_trip_ns.unwrap_or(0)),
            };
        }
        self.deadline = (wait != Wait::Nothing).then(|| now.plus_nanos(self.interval_ns));
    }

    /// It was waited for in vain. What it was; `None`: often enough.
    pub(crate) fn expire(&mut self, now: Instant, waits: &impl Waits) -> Option<Wait> {
        let most = match self.wait {
            Wait::Nothing | Wait::Oblivion => 0,
            wait => waits.most(wait),
        };
        self.deadline = None;
        let (waited_ns, is_call) = (now.nanos_since(self.began), self.wait == Wait::Answer);
        if self.tries >= most || is_call && waited_ns >= waits.call_ns() {
            return None;
        }
        self.tries += 1;
        self.interval_ns = waits.next_ns(self.wait, self.interval_ns);
        if is_call {
            self.interval_ns = self.interval_ns.min(waits.call_ns() - waited_ns);
        }
        self.deadline = Some(now.plus_nanos(self.interval_ns));
        Some(self.wait)
    }

    pub(crate) const fn tries(&self) -> u32 {
        self.tries
    }

    /// The mean round trip, if one was measured, ns.
    pub(crate) const fn round_trip_ns(&self) -> Option<u64> {
        self.round_trip_ns
    }

    pub(crate) fn measure(&mut self, took_ns: u64) {
        let mean_ns = |before_ns: u64| (7 * before_ns + took_ns) / 8;
        self.round_trip_ns = Some(self.round_trip_ns.map_or(took_ns, mean_ns));
    }
}
