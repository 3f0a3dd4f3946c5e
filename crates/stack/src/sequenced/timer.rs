//! What a session waits for, and for how long.

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

/// How long an ended session still answers the other end, ns.
const OBLIVION_NS: u64 = 10_000_000_000;

pub(crate) trait Waits {
    /// Initial time-out, ns. The mean round trip is zero until one was measured.
    fn first_ns(&self, wait: Wait, round_trip_ns: u64) -> u64;

    fn most(&self, wait: Wait) -> u32;

    /// The time-out that follows an expired one of this length, ns.
    fn next_ns(&self, wait: Wait, interval_ns: u64) -> u64;

    fn call_ns(&self) -> u64;
}

/// The current wait, its start, and the number of expired time-outs.
#[derive(Debug)]
pub(crate) struct Timer {
    wait: Wait,
    pub(crate) deadline: Option<Instant>,
    tries: u32,
    interval_ns: u64,
    began: Instant,
    /// Mean round-trip time, with a weight of 1/8 per sample, ns.
    round_trip_ns: Option<u64>,
    /// A packet whose acknowledgement is timed: the number after it, and when it was sent.
    pub(crate) timed: Option<(u16, Instant)>,
}

impl Timer {
    pub(crate) const fn new(now: Instant) -> Self {
        let (wait, deadline, round_trip_ns, timed) = (Wait::Nothing, None, None, None);
        Self { wait, deadline, tries: 0, interval_ns: 0, began: now, round_trip_ns, timed }
    }

    /// Start to wait. `is_anew`, after progress, restarts the same wait.
    pub(crate) fn begin(&mut self, now: Instant, wait: Wait, is_anew: bool, waits: &impl Waits) {
        let is_same = self.wait == wait;
        if is_same && !is_anew {
            return;
        }
        self.tries = 0;
        // A window that stays closed is probed at growing intervals.
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

    /// The wait expired. Returns its kind; `None` after the last retry.
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

    pub(crate) const fn round_trip_ns(&self) -> Option<u64> {
        self.round_trip_ns
    }

    /// The other end expects this number next: measure the round trip if it acknowledges the timed packet.
    pub(crate) fn measure(&mut self, now: Instant, expected: u16) {
        if let Some((_, sent_at)) = self.timed.take_if(|(number, _)| *number == expected) {
            let took_ns = now.nanos_since(sent_at);
            let mean_ns = |before_ns: u64| (7 * before_ns + took_ns) / 8;
            self.round_trip_ns = Some(self.round_trip_ns.map_or(took_ns, mean_ns));
        }
    }
}
