//! Connections of an interface that has a limited number of them.

use lanlab_units::Instant;

use super::{Interface, MOST_RESETS, frames};

impl Interface {
    /// Have at most as many connections at a time. What a connection holds is given back as soon as its program has
    /// left it and both ends have closed it, without the wait for what may still come (RFC 9293, 3.6.1), which is
    /// answered by a reset; where another one is wanted, the oldest that a peer has begun to open and not opened is
    /// forgotten (RFC 4987, 3.4), or the oldest that its program has left is given up. One more is refused, and of a
    /// peer is not answered. A handshake that its peer does not end is given up after 20 s, and a connection that a
    /// peer has opened after 200 s without a sign of it.
    pub fn limit_connections(&mut self, most: usize) {
        self.most_connections = Some(most);
    }

    pub fn live_connections(&self) -> usize {
        self.by_ends.len()
    }

    /// Whether there is room for one more connection, if need be of one that no program has.
    pub(super) fn makes_room(&mut self, now: Instant) -> bool {
        let Some(most) = self.most_connections else { return true };
        if self.live_connections() < most {
            return true;
        }
        let age = |&&id: &&usize| (!self.connections[id].is_half_open, self.connections[id].number);
        let Some(&id) = self.unowned.iter().min_by_key(age) else { return false };
        let connection = &mut self.connections[id];
        if connection.is_half_open {
            self.forget(now, id);
            return self.live_connections() < most;
        }
        connection.abort();
        connection.make_segment(now);
        let mut frame = Vec::new();
        if self.resets.len() < MOST_RESETS && connection.take_frame(&mut frame) {
            let (mac, to) = (connection.peer_mac, connection.peer.ip());
            frames::emit_ethernet(self.config.mac, mac, to, &mut frame);
            // A copy is as short as it is.
            self.resets.push_back(frame.clone());
        }
        self.await_timeout(now, id);
        self.live_connections() < most
    }

    /// Give up a connection that its peer has not opened yet, without a word.
    pub(super) fn forget(&mut self, now: Instant, id: usize) {
        self.connections[id].forget();
        self.await_timeout(now, id);
    }
}
