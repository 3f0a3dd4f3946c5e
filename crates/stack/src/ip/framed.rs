//! A station, with the frames in transit between it and its link.

use lanlab_units::Instant;

use super::Station;
use super::small::{Facts, LONGEST_FRAME_BYTES, RECEIVED_FRAME_BYTES};

pub struct FramedStation {
    pub station: Station,
    pub facts: Facts,
    received: Box<[u8; RECEIVED_FRAME_BYTES]>,
    sent: Vec<u8>,
    is_blocked: bool,
}

impl FramedStation {
    pub fn new(station: Station, facts: Facts) -> Self {
        Self {
            station,
            facts,
            received: Box::new([0; RECEIVED_FRAME_BYTES]),
            sent: Vec::with_capacity(LONGEST_FRAME_BYTES),
            is_blocked: false,
        }
    }

    /// Handle a frame from `receive`, which returns its length. Returns whether there was one.
    pub fn take<E>(
        &mut self,
        now: Instant,
        receive: impl FnOnce(&mut [u8]) -> Result<Option<usize>, E>,
    ) -> Result<bool, E> {
        let Some(length) = receive(&mut self.received[..])? else { return Ok(false) };
        self.facts.received_frames += 1;
        if let Some(frame) = self.received.get(..length) {
            self.station.handle_frame(now, frame);
        }
        Ok(true)
    }

    /// Handle frames from `receive` until none is left, `most` were handled, or a reply must leave. Let the program
    /// read before [`send`](Self::send): acknowledgements then announce the whole window, which a sender that looks
    /// at windows only when all is acknowledged (mTCP) needs. Returns the number of frames.
    pub fn take_all<E>(
        &mut self,
        now: impl Fn() -> Instant,
        most: usize,
        mut receive: impl FnMut(&mut [u8]) -> Result<Option<usize>, E>,
    ) -> Result<usize, E> {
        let mut taken = 0;
        while taken < most && self.take(now(), &mut receive)? {
            taken += 1;
            if self.station.interface.has_replies() {
                break;
            }
        }
        Ok(taken)
    }

    /// Send due frames with `send`, which returns whether the link had room.
    pub fn send<E>(
        &mut self,
        now: Instant,
        mut send: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Result<(), E> {
        while self.is_blocked || self.station.poll_transmit(now, &mut self.sent) {
            self.is_blocked = !send(&self.sent)?;
            if self.is_blocked {
                break;
            }
            self.facts.sent_frames += 1;
        }
        Ok(())
    }

    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Check its memory, including the bytes of the program that drives it.
    pub fn check_memory(&mut self, own_bytes: usize) -> Result<(), String> {
        self.facts.holds(self.station.held_bytes() + own_bytes)
    }
}
