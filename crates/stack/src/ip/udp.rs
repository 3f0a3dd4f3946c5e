//! A UDP socket: received datagrams, and use of its send buffer.

use std::collections::VecDeque;
use std::net::SocketAddr;

/// Buffer space per datagram in addition to its payload: one BSD `mbuf` for addresses and headers (`MSIZE`, 128
/// bytes).
/// Without it a buffer would hold tens of thousands of short messages.
pub const OVERHEAD_BYTES: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Datagram {
    pub from: SocketAddr,
    pub drops: u32,
}

#[derive(Debug, Default)]
pub(super) struct Socket {
    pub port: u16,
    received: VecDeque<(Datagram, Vec<u8>)>,
    received_bytes: usize,
    receive_buffer_bytes: usize,
    queued_bytes: usize,
    send_buffer_bytes: usize,
    pub waits_for_room: bool,
    pub dropped_datagrams: u64,
    unused: Vec<Vec<u8>>,
}

impl Socket {
    pub fn new(port: u16, receive_buffer_bytes: usize, send_buffer_bytes: usize) -> Self {
        Self { port, receive_buffer_bytes, send_buffer_bytes, ..Self::default() }
    }

    /// Queue a datagram; false if there is no room. One always fits.
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

    pub fn take(&mut self, into: &mut Vec<u8>) -> Option<Datagram> {
        let (datagram, mut payload) = self.received.pop_front()?;
        self.received_bytes -= payload.len() + OVERHEAD_BYTES;
        std::mem::swap(into, &mut payload);
        self.unused.push(payload);
        Some(datagram)
    }

    pub fn next_bytes(&self) -> Option<usize> {
        self.received.front().map(|(_, payload)| payload.len())
    }

    pub fn has_received(&self) -> bool {
        !self.received.is_empty()
    }

    pub fn has_room_for(&self, bytes: usize) -> bool {
        self.queued_bytes == 0
            || self.queued_bytes + bytes + OVERHEAD_BYTES <= self.send_buffer_bytes
    }

    pub fn queued(&mut self, bytes: usize) {
        self.queued_bytes += bytes + OVERHEAD_BYTES;
    }

    /// The adapter took a datagram. Returns whether a program waits for this.
    pub fn left(&mut self, bytes: usize) -> bool {
        self.queued_bytes -= bytes + OVERHEAD_BYTES;
        std::mem::take(&mut self.waits_for_room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each datagram of 372 bytes uses 500 bytes of a buffer.
    const BYTES: usize = 500 - OVERHEAD_BYTES;

    #[test]
    fn a_datagram_takes_its_payload_and_128_bytes_of_the_receive_buffer() {
        let from = SocketAddr::from(([192, 0, 2, 1], 7));
        let mut socket = Socket::new(9, 1_000, 0);
        assert_eq!(OVERHEAD_BYTES, 128);
        assert_eq!([(); 3].map(|()| socket.keep(from, &[1; BYTES])), [true, true, false]);
        assert_eq!(socket.dropped_datagrams, 1);
        let mut into = vec![];
        assert_eq!(socket.take(&mut into), Some(Datagram { from, drops: 0 }));
        assert_eq!(into, [1; BYTES]);
        assert_eq!([BYTES + 1, BYTES].map(|len| socket.keep(from, &vec![2; len])), [false, true]);
        // An empty buffer accepts a datagram larger than itself.
        while socket.take(&mut into).is_some() {}
        assert!(socket.keep(from, &[3; 2_000]) && !socket.keep(from, &[]));
    }

    #[test]
    fn a_datagram_takes_its_payload_and_128_bytes_of_the_send_buffer() {
        let mut socket = Socket::new(9, 0, 1_000);
        assert!(socket.has_room_for(2_000));
        socket.queued(BYTES);
        assert_eq!([BYTES, BYTES + 1].map(|bytes| socket.has_room_for(bytes)), [true, false]);
        socket.queued(BYTES);
        assert!(!socket.has_room_for(0));
        socket.waits_for_room = true;
        assert!(socket.left(BYTES) && socket.has_room_for(BYTES));
        assert!(!socket.left(BYTES) && socket.has_room_for(2_000));
    }
}
