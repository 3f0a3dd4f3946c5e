//! Packets queued for sending.

use std::collections::VecDeque;

use lanlab_wire::Error;
use lanlab_wire::ethernet::{Framing, Mac};
use lanlab_wire::ipx::Address;

/// Maximum frames queued; more are dropped until the driver has sent some.
const MOST_WAITING: usize = 512;
const MOST_SPARE: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: Address,
    pub(crate) mac: Mac,
    pub(crate) framing: Framing,
}

impl Place {
    /// Whether another endpoint is the same socket of the same station. Networks are ignored: until the number is
    /// known, some stations use zero.
    pub(crate) fn is_end(&self, other: &Self) -> bool {
        let (one, other) = (self.address, other.address);
        (one.node, one.socket) == (other.node, other.socket)
    }

    /// If a packet is from this endpoint, reply by the same framing and router from now on.
    pub(crate) fn follow(&mut self, from: &Self) -> bool {
        let is_end = self.is_end(from);
        if is_end {
            *self = Self { address: self.address, ..*from };
        }
        is_end
    }
}

#[derive(Debug, Default)]
pub(crate) struct Output {
    waiting: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
}

impl Output {
    /// Queue a packet, written by `write`. False if the queue is full or the packet too long for a frame.
    pub(crate) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), Error>) -> bool {
        if self.waiting.len() >= MOST_WAITING {
            return false;
        }
        let mut frame = self.spare.pop().unwrap_or_default();
        let is_written = write(&mut frame).is_ok();
        if is_written {
            self.waiting.push_back(frame);
        }
        is_written
    }

    pub(crate) fn poll_transmit(&mut self, into: &mut Vec<u8>) -> bool {
        let Some(frame) = self.waiting.pop_front() else { return false };
        let memory = std::mem::replace(into, frame);
        if self.spare.len() < MOST_SPARE {
            self.spare.push(memory);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use lanlab_wire::ipx::framing;

    use super::*;

    /// The driver's buffer is exchanged for the frame; at most 32 are kept.
    #[test]
    fn frame_buffers_are_reused() {
        let mut output = Output::default();
        for _ in 0..40 {
            assert!(output.push(|_| Ok(())));
        }
        while output.poll_transmit(&mut Vec::with_capacity(99)) {}
        let mut kept = 0;
        for _ in 0..40 {
            output.push(|frame| {
                kept += usize::from(frame.capacity() == 99);
                Ok(())
            });
        }
        assert_eq!(kept, 32);
    }

    #[test]
    fn endpoints_match_by_station_and_socket_on_any_network() {
        let place = |network, node, socket| {
            let address = Address { network, node: [2, 0, 0, 0, 0, node], socket };
            Place { address, mac: Mac(address.node), framing: framing::SNAP }
        };
        let one = place(0, 1, 5);
        assert!(one.is_end(&place(7, 1, 5)));
        assert!(!one.is_end(&place(0, 2, 5)) && !one.is_end(&place(0, 1, 6)));
    }
}
