//! One direction of a full-duplex cable: frames in sequence, with gaps.

use lanlab_units::Instant;

use crate::bit_time::{BitClock, Exact};
use crate::plan::GAP_BITS;

#[derive(Debug, Default)]
pub(crate) struct Line {
    next_start: Exact,
}

/// Time of a frame on a line, from its first bit to the end of its last.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transmission {
    pub(crate) start: Exact,
    pub(crate) end: Exact,
}

impl Line {
    /// Send a frame that an adapter offers at `now`.
    ///
    /// `now` is rounded up to a whole nanosecond. If a gap ended within that nanosecond, the frame
    /// starts at its exact end; otherwise each back-to-back frame would lose a fraction.
    pub(crate) fn send_offered(
        &mut self,
        clock: BitClock,
        now: Instant,
        wire_bytes: u32,
    ) -> Transmission {
        let in_the_gap = now <= self.next_start.rounded_up();
        let not_before = if in_the_gap { self.next_start } else { Exact::from(now) };
        self.send(clock, not_before, wire_bytes)
    }

    pub(crate) fn send(
        &mut self,
        clock: BitClock,
        not_before: Exact,
        wire_bytes: u32,
    ) -> Transmission {
        let start = not_before.max(self.next_start);
        let end = clock.after(start, clock.bytes(wire_bytes));
        self.next_start = clock.after(end, clock.bits(GAP_BITS));
        Transmission { start, end }
    }
}
