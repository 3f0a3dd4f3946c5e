//! Interfaces with a limited number of connections.

use lanlab_units::Instant;

use super::handshakes::HANDSHAKES;
use super::{Interface, MOST_RESETS, frames};

impl Interface {
    /// Limit the number of connections.
    ///
    /// A connection is freed as soon as its program has released it and both ends have closed it, without the wait
    /// for late segments (RFC 9293, 3.6.1), which get a reset. If another one is needed, the oldest that its program
    /// has released is dropped, those first whose data has all arrived. Above the limit, opening fails, and complete
    /// handshakes wait. Connections opened by a peer time out after 200 s of silence.
    pub fn limit_connections(&mut self, most: usize) {
        self.most_connections = Some(most);
        self.connections.reserve_exact(most);
        self.handshakes.reserve_exact(HANDSHAKES * most);
    }

    pub fn live_connections(&self) -> usize {
        self.by_ends.len()
    }

    /// Whether one more connection fits, if necessary by dropping one that no program uses.
    pub(super) fn makes_room(&mut self, now: Instant) -> bool {
        let Some(most) = self.most_connections else { return true };
        if self.live_connections() < most {
            return true;
        }
        let rank = |&&id: &&usize| {
            let connection = &self.connections[id];
            (connection.facts().unacknowledged_bytes > 0, connection.number)
        };
        let Some(&id) = self.unowned.iter().min_by_key(rank) else { return false };
        let connection = &mut self.connections[id];
        connection.abort();
        connection.make_segment(now);
        // Sent resets become spare buffers, so a new one for each would fill the memory.
        let mut frame = self.unused.pop().unwrap_or_default();
        if self.resets.len() < MOST_RESETS && connection.take_frame(&mut frame) {
            let (mac, to) = (connection.peer_mac, connection.peer.ip());
            frames::emit_ethernet(self.config.mac, mac, to, &mut frame);
            self.resets.push_back(frame.clone());
        }
        self.await_timeout(now, id);
        self.live_connections() < most
    }
}
