//! A UDP socket: what has come, and what its send buffer holds.

use std::collections::VecDeque;
use std::net::SocketAddr;

/// What a datagram takes of a buffer besides its payload: as one `mbuf` of BSD for addresses and headers
/// (`MSIZE`, 128 octets). Without it a buffer would hold tens of thousands of short messages.
pub const OVERHEAD_BYTES: usize = 128;

/// A datagram that a program takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    /// Who sent it.
    pub from: SocketAddr,
    /// Datagrams that the socket had dropped when this one came.
    pub drops: u32,
}

/// A UDP socket.
#[derive(Debug)]
pub(super) struct Socket {
    pub port: u16,
    /// What has come and was not taken yet.
    received: VecDeque<(Datagram, Vec<u8>)>,
    received_bytes: usize,
    receive_buffer_bytes: usize,
    /// Payload and overhead that wait for the adapter.
    queued_bytes: usize,
    send_buffer_bytes: usize,
    /// A program was refused for want of room.
    pub waits_for_room: bool,
    /// Datagrams that found the receive buffer full.
    pub dropped_datagrams: u64,
    unused: Vec<Vec<u8>>,
}

impl Socket {
    pub fn new(port: u16, receive_buffer_bytes: usize, send_buffer_bytes: usize) -> Self {
        Self {
            port,
            received: VecDeque::new(),
            received_bytes: 0,
            receive_buffer_bytes,
            queued_bytes: 0,
            send_buffer_bytes,
            waits_for_room: false,
            dropped_datagrams: 0,
            unused: Vec::new(),
        }
    }

    /// Keep a datagram; false if there is no room. One always fits.
    pub fn keep(&mut self, from: SocketAddr, payload: &[u8]) -> bool {
        let bytes = self.received_bytes + payload.len() + OVERHEAD_BYTES;
        if !self.received.is_empty() && bytes > self.receive_buffer_bytes {
            self.dropped_datagrams += 1;
            return false;
        }
        let mut buffer = self.unused.pop().unwrap_or_default();
        buffer.clear();
        buffer.extend_from_slice(payload);
        let datagram = Datagram { from, drops: self.dropped_datagrams as u32 };
        self.received.push_back((datagram, buffer));
        self.received_bytes = bytes;
        true
    }

    /// Make `into` the payload of the oldest datagram.
    pub fn take(&mut self, into: &mut Vec<u8>) -> Option<Datagram> {
        let (datagram, mut payload) = self.received.pop_front()?;
        self.received_bytes -= payload.len() + OVERHEAD_BYTES;
        std::mem::swap(into, &mut payload);
        self.unused.push(payload);
        Some(datagram)
    }

    /// Payload of the oldest datagram.
    pub fn next_bytes(&self) -> Option<usize> {
        self.received.front().map(|(_, payload)| payload.len())
    }

    /// Whether something has come.
    pub fn has_received(&self) -> bool {
        !self.received.is_empty()
    }

    /// Whether the send buffer has room for a datagram. One always fits.
    pub fn has_room_for(&self, bytes: usize) -> bool {
        self.queued_bytes == 0
            || self.queued_bytes + bytes + OVERHEAD_BYTES <= self.send_buffer_bytes
    }

    /// A datagram waits for the adapter.
    pub fn queued(&mut self, bytes: usize) {
        self.queued_bytes += bytes + OVERHEAD_BYTES;
    }

    /// The adapter has taken a datagram. Gives whether a program waits for this.
    pub fn left(&mut self, bytes: usize) -> bool {
        self.queued_bytes -= bytes + OVERHEAD_BYTES;
        std::mem::take(&mut self.waits_for_room)
    }
}
