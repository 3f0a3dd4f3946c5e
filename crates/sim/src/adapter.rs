//! The sending side of a host's adapter: waiting frames, and when the next one may be sent.

use std::collections::VecDeque;

use lanlab_medium::GAP_BITS;

use crate::frames::FrameId;

#[derive(Debug)]
pub(crate) struct Adapter {
    waiting: VecDeque<FrameId>,
    queued: u32,
    queue_frames: u32,
    is_ready: bool,
    is_slower: bool,
    /// Pause of a slower adapter after each frame, ns: this per bit of frame and gap, plus `gap_ns`.
    pause_per_bit_ns: f64,
    gap_ns: f64,
    sent_wire_bytes: u32,
}

impl Adapter {
    pub(crate) fn new(queue_frames: u32, rate_ratio: f64, rate_bps: Option<u64>) -> Self {
        let bit_ns = rate_bps.map_or(0.0, |rate_bps| 1e9 / rate_bps as f64);
        let is_slower = rate_ratio < 1.0;
        Self {
            waiting: VecDeque::new(),
            queued: 0,
            queue_frames,
            is_ready: true,
            is_slower,
            pause_per_bit_ns: bit_ns * (1.0 / rate_ratio - 1.0),
            gap_ns: bit_ns * GAP_BITS as f64,
            sent_wire_bytes: 0,
        }
    }

    pub(crate) fn has_room(&self) -> bool {
        self.queued < self.queue_frames
    }

    pub(crate) fn take_room(&mut self) {
        self.queued += 1;
    }

    pub(crate) fn enqueue(&mut self, frame: FrameId) {
        self.waiting.push_back(frame);
    }

    pub(crate) fn start(&mut self) -> Option<FrameId> {
        if !self.is_ready {
            return None;
        }
        let frame = self.waiting.pop_front()?;
        self.queued -= 1;
        self.is_ready = false;
        Some(frame)
    }

    pub(crate) fn has_started(&mut self, wire_bytes: u32) {
        self.sent_wire_bytes = wire_bytes;
    }

    /// How long the adapter still pauses when the medium can accept a frame again, ns.
    #[inline]
    pub(crate) fn pause_ns(&self) -> u64 {
        if !self.is_slower {
            return 0;
        }
        let bits = f64::from(self.sent_wire_bytes) * 8.0 + GAP_BITS as f64;
        (self.gap_ns + self.pause_per_bit_ns * bits).round() as u64
    }

    pub(crate) fn ready(&mut self) {
        self.is_ready = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_adapters_stretch_frame_times_by_their_ratio() {
        let mut adapter = Adapter::new(1, 0.5, Some(10_000_000));
        adapter.has_started(1526);
        // The gap of 9.6 µs, then another frame and gap.
        assert_eq!(adapter.pause_ns(), 9_600 + 1_220_800 + 9_600);
        let mut adapter = Adapter::new(1, 1.0, Some(10_000_000));
        adapter.has_started(1526);
        assert_eq!(adapter.pause_ns(), 0);
    }
}
