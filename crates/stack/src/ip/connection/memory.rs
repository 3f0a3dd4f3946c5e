//! What a connection holds in memory.

use std::collections::VecDeque;

use smoltcp::iface::SocketStorage;
use smoltcp::socket::tcp;

use super::{Connection, Device, ETHERNET_HEADER_BYTES, MTU_BYTES, TcpProfile};

/// Frames that a connection holds at most: one that has come, its answers, and buffers to be used again.
const MOST_FRAMES: usize = 5;

/// Size of the ring of bytes to send: whole segments, as one is cut where the ring begins anew.
pub(super) fn ring_bytes(profile: &TcpProfile, mss: usize) -> usize {
    (profile.send_rings * profile.send_buffer_bytes).next_multiple_of(mss)
}

impl Connection {
    /// Memory that it holds now: buffers, frames, what is out of order, timers.
    pub fn held_bytes(&self) -> usize {
        let Device { received, sent, unused, .. } = &self.device;
        let lists = (sent.capacity() + unused.capacity()) * size_of::<Vec<u8>>();
        let frames = received.iter().chain(sent).chain(unused).map(Vec::capacity).sum::<usize>();
        let kept = self.kept.as_ref().map_or(0, VecDeque::capacity);
        let rings = self.socket().recv_capacity() + self.socket().send_capacity();
        Self::FIXED_BYTES + rings + lists + frames + kept + self.looked_at.capacity()
    }

    /// What it never holds more than, with reads of at most `read_bytes`.
    pub fn most_bytes(profile: &TcpProfile, read_bytes: usize) -> usize {
        let mss = profile.mss_bytes.map_or(MTU_BYTES, usize::from).min(MTU_BYTES);
        let frame = size_of::<Vec<u8>>() + ETHERNET_HEADER_BYTES + MTU_BYTES;
        // The received bytes are held once more when both ends have closed, or while they are read.
        let received = 2 * profile.receive_buffer_bytes + MTU_BYTES + read_bytes;
        let sent = profile.send_rings * profile.send_buffer_bytes + mss;
        Self::FIXED_BYTES + received + sent + MOST_FRAMES * frame
    }

    /// Itself, and its socket, which has the list of gaps in what was received.
    const FIXED_BYTES: usize = size_of::<Self>() + size_of::<SocketStorage<'static>>();

    /// Give back the memory of its buffers. It stays closed.
    pub fn release(&mut self) {
        self.facts = self.facts();
        self.sockets.remove(self.handle);
        let buffer = || tcp::SocketBuffer::new(Vec::new());
        self.handle = self.sockets.add(tcp::Socket::new(buffer(), buffer()));
        self.device.unused = Vec::new();
        self.looked_at = Vec::new();
        self.kept = self.kept.take().map(|_| VecDeque::new());
        self.unshown_bytes = 0;
    }
}
