//! The three timers of a link.

use lanlab_units::Instant;

/// T1 (an answer), T2 (an acknowledgement of ours), Ti (silence), each with the time when it expires.
#[derive(Debug, Default)]
pub(super) struct Timers {
    pub(super) t1: Option<Instant>,
    pub(super) t2: Option<Instant>,
    pub(super) ti: Option<Instant>,
}

impl Timers {
    pub(super) fn next(&self) -> Option<Instant> {
        Instant::earliest([self.t1, self.t2, self.ti])
    }

    pub(super) fn stop_all(&mut self) {
        *self = Self::default();
    }
}

pub(super) fn take_due(timer: &mut Option<Instant>, now: Instant) -> bool {
    let is_due = timer.is_some_and(|at| at <= now);
    if is_due {
        *timer = None;
    }
    is_due
}
