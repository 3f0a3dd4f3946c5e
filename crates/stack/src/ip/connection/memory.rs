//! Memory used by a connection.

use std::collections::VecDeque;

use smoltcp::iface::SocketStorage;
use smoltcp::socket::tcp;

use super::{Connection, Device, ETHERNET_HEADER_BYTES, MTU_BYTES, TcpProfile};

/// Maximum frames held by a connection: one received, its answers, and spare buffers.
const MOST_FRAMES: usize = 5;

/// Size of the send ring: whole segments, because a segment is split where the ring wraps.
pub(super) fn ring_bytes(profile: &TcpProfile, mss: usize) -> usize {
    (profile.send_rings * profile.send_buffer_bytes).next_multiple_of(mss)
}

impl Connection {
    /// Memory in use now: buffers, frames, out-of-order data, timers.
    pub fn held_bytes(&self) -> usize {
        let Device { received, sent, unused, .. } = &self.device;
        let lists = (sent.capacity() + unused.capacity()) * size_of::<Vec<u8>>();
        let frames = received.iter().chain(sent).chain(unused).map(Vec::capacity).sum::<usize>();
        let kept = self.kept.as_ref().map_or(0, VecDeque::capacity);
        let rings = self.socket().recv_capacity() + self.socket().send_capacity();
        Self::FIXED_BYTES + rings + lists + frames + kept + self.looked_at.capacity()
    }

    /// Upper bound of its memory, with reads of at most `read_bytes`.
    pub fn most_bytes(profile: &TcpProfile, read_bytes: usize) -> usize {
        let mss = profile.mss_bytes.map_or(MTU_BYTES, usize::from).min(MTU_BYTES);
        let frame = size_of::<Vec<u8>>() + ETHERNET_HEADER_BYTES + MTU_BYTES;
        // Received bytes are held twice after both ends have closed, or during a read.
        let received = 2 * profile.receive_buffer_bytes + MTU_BYTES + read_bytes;
        let sent = profile.send_rings * profile.send_buffer_bytes + mss;
        Self::FIXED_BYTES + received + sent + MOST_FRAMES * frame
    }

    /// The connection itself and its socket, with the list of gaps in the received data.
    pub const FIXED_BYTES: usize = size_of::<Self>() + size_of::<SocketStorage<'static>>();

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

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use lanlab_units::Instant;

    use super::*;

    const PROFILE: TcpProfile = TcpProfile {
        mss_bytes: Some(1_000),
        receive_buffer_bytes: 3_000,
        send_buffer_bytes: 2_600,
        send_rings: 2,
        delayed_ack_ns: None,
        is_modern: false,
        nagle: true,
    };
    const OWN: usize = size_of::<Connection>() + size_of::<SocketStorage<'static>>();
    const LIST_ENTRY: usize = size_of::<Vec<u8>>();

    fn connection() -> Connection {
        let [local, peer] = [1, 2].map(|host| SocketAddr::from(([10, 0, 0, host], 7)));
        Connection::new(Instant::ZERO, local, peer, [2, 0, 0, 0, 0, 2], &PROFILE, 1)
    }

    #[test]
    fn a_connection_holds_its_buffers_and_its_frames_until_it_is_released() {
        let mut connection = connection();
        // 5,200 bytes to send are six whole segments.
        let rings = 3_000 + 6_000;
        assert_eq!(connection.held_bytes(), OWN + rings);
        // One frame to send, one received, two spare, and the kept data.
        connection.device.sent = Vec::with_capacity(3);
        connection.device.sent.push(Vec::with_capacity(700));
        connection.device.received = Some(Vec::with_capacity(80));
        connection.device.unused = Vec::with_capacity(5);
        connection.device.unused.extend([Vec::with_capacity(60), Vec::with_capacity(40)]);
        let frames = 8 * LIST_ENTRY + 700 + 80 + 60 + 40;
        assert_eq!(connection.held_bytes(), OWN + rings + frames);
        connection.kept = Some(VecDeque::with_capacity(900));
        connection.looked_at = Vec::with_capacity(500);
        assert_eq!(connection.held_bytes(), OWN + rings + frames + 900 + 500);
        connection.release();
        assert_eq!(connection.held_bytes(), OWN + 3 * LIST_ENTRY + 700 + 80);
    }

    #[test]
    fn the_memory_bound_covers_buffers_and_five_frames() {
        let most = |profile| Connection::most_bytes(&profile, 100) - OWN;
        let frames = 5 * (LIST_ENTRY + 14 + 1_500);
        assert_eq!(most(PROFILE), 2 * 3_000 + 1_500 + 100 + 2 * 2_600 + 1_000 + frames);
        let long = TcpProfile { mss_bytes: None, ..PROFILE };
        assert_eq!(most(long), most(PROFILE) + 500);
        assert_eq!(ring_bytes(&PROFILE, 1_000), 6_000);
        assert_eq!(ring_bytes(&PROFILE, 1_300), 5_200, "as it is");
    }
}
