//! Packets that are to be sent.

use std::collections::VecDeque;

use lanlab_wire::ethernet::{Framing, Mac};
use lanlab_wire::ipx::{Address, Header, NO_CHECKSUM, framing};

/// More frames than this are not kept: the driver has to send them first.
const MOST_WAITING: usize = 512;
/// Frames whose memory is kept.
const MOST_SPARE: usize = 32;

/// Where another station is: its address, and how it is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// The address of IPX.
    pub(crate) address: Address,
    /// Its adapter, or that of the router to it.
    pub(crate) mac: Mac,
    /// The framing in which it is sent to.
    pub(crate) framing: Framing,
}

impl Place {
    /// Whether another place is the same socket of the same station. Until a network has a number, it is zero
    /// for some stations and not for others.
    pub(crate) fn is_end(&self, other: &Self) -> bool {
        let (one, other) = (self.address, other.address);
        (one.node, one.socket) == (other.node, other.socket)
    }
}

/// Frames that wait.
#[derive(Debug, Default)]
pub(super) struct Output {
    waiting: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
}

impl Output {
    /// Add a packet. False if too many wait, or it is too long for a frame.
    pub(super) fn push(
        &mut self,
        (to, from): (Place, Mac),
        source: Address,
        kind: u8,
        data: &[u8],
    ) -> bool {
        if self.waiting.len() >= MOST_WAITING {
            return false;
        }
        let mut frame = self.spare.pop().unwrap_or_default();
        let destination = to.address;
        let header = Header { checksum: NO_CHECKSUM, hops: 0, kind, destination, source };
        let is_written =
            framing::emit((to.mac, from), to.framing, &header, data, &mut frame).is_ok();
        if is_written {
            self.waiting.push_back(frame);
        }
        is_written
    }

    pub(super) fn poll_transmit(&mut self, into: &mut Vec<u8>) -> bool {
        let Some(frame) = self.waiting.pop_front() else { return false };
        let memory = std::mem::replace(into, frame);
        if self.spare.len() < MOST_SPARE {
            self.spare.push(memory);
        }
        true
    }
}
