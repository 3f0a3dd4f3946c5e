//! Connections of an interface that has a limited number of them.

use lanlab_units::Instant;

use super::{Interface, MOST_RESETS, frames};

impl Interface {
    /// Have at most as many connections at a time. What a connection holds is given back as soon as its program has
    /// left it and both ends have closed it, without the wait for what may still come (RFC 9293, 3.6.1), which is
    /// answered by a reset; where another one is wanted, the oldest that its program has left is given up. One
    /// more is refused, and of a peer is not answered.
    pub fn limit_connections(&mut self, most: usize) {
        self.most_connections = Some(most);
    }

    /// Connections that hold memory.
    pub fn live_connections(&self) -> usize {
        self.by_ends.len()
    }

    /// Whether there is room for one more connection, if need be of the oldest that its program has left.
    pub(super) fn makes_room(&mut self, now: Instant) -> bool {
        let Some(most) = self.most_connections else { return true };
        if self.live_connections() < most {
            return true;
        }
        let Some(&id) = self.left.iter().min_by_key(|&&id| self.connections[id].number) else {
            return false;
        };
        let connection = &mut self.connections[id];
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
}
