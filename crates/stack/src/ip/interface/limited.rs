//! Interfaces with a limited number of connections.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lanlab_units::Instant;

use super::{Connection, Interface, MOST_RESETS, frames};

impl Interface {
    /// Limit the number of connections.
    ///
    /// A connection is freed as soon as its program has released it and both ends have closed it, without the wait
    /// for late segments (RFC 9293, 3.6.1), which get a reset. If another one is needed, the oldest half-open one
    /// is dropped (RFC 4987, 3.4), first at the port with the most connections: strangers at one port drop no handshake
    /// at another. Or else the oldest that its program has released is dropped. Above the limit, opening fails
    /// and peers get no answer. Handshakes time out after 20 s, and connections opened by a peer after 200 s of
    /// silence.
    pub fn limit_connections(&mut self, most: usize) {
        self.most_connections = Some(most);
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
        let mut of_port = BTreeMap::new();
        for (port, _) in self.by_ends.keys() {
            *of_port.entry(*port).or_insert(0_usize) += 1;
        }
        let rank = |&&id: &&usize| {
            let Connection { is_half_open, local, number, .. } = &self.connections[id];
            (Reverse(is_half_open.then(|| of_port.get(&local.port()))), *number)
        };
        let Some(&id) = self.unowned.iter().min_by_key(rank) else { return false };
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
            self.resets.push_back(frame.clone());
        }
        self.await_timeout(now, id);
        self.live_connections() < most
    }

    /// Silently drop a connection that its peer has not opened yet.
    pub(super) fn forget(&mut self, now: Instant, id: usize) {
        self.connections[id].forget();
        self.await_timeout(now, id);
    }
}
