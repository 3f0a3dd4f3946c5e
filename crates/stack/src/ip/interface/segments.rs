//! Arriving segments: for a connection, a listening port, or neither.

use std::net::SocketAddr;

use lanlab_units::Instant;

use super::{Interface, MOST_RESETS, frames};

impl Interface {
    /// Let peers open connections to `port`. Returns false if it is in use.
    pub fn listen(&mut self, port: u16) -> bool {
        self.listening.insert(port)
    }

    /// Stop accepting connections to `port`. Open ones continue.
    pub fn stop_listening(&mut self, port: u16) {
        self.listening.remove(&port);
        self.handshakes.retain(|handshake| handshake.port != port);
    }

    pub(super) fn handle_segment(
        &mut self,
        now: Instant,
        from: SocketAddr,
        to: SocketAddr,
        is_syn: bool,
        packet: &[u8],
    ) -> bool {
        let known = self.by_ends.get(&(to.port(), from)).copied();
        let id = match known {
            Some(id) => id,
            None if !self.config.addresses.contains(&to.ip()) => return false,
            None if is_syn && self.listening.contains(&to.port()) => {
                return self.handle_syn(now, (from, to), packet);
            }
            None => match self.handle_answer(now, (from, to), packet) {
                (Some(id), _) => id,
                (None, is_expected) => return is_expected,
            },
        };
        self.connections[id].handle_packet(now, packet);
        self.touched(now, id);
        self.tell(id);
        true
    }

    /// Answer a segment without a connection. If too many resets are queued, the peer's resend gets one.
    pub(super) fn reset(&mut self, from: SocketAddr, to: SocketAddr, packet: &[u8]) {
        let Ok((_, mac)) = self.way_to(from) else { return };
        let mut frame = self.unused.pop().unwrap_or_default();
        let macs = (self.config.mac, mac);
        if self.resets.len() < MOST_RESETS
            && frames::emit_reset(macs, (from, to), packet, &mut frame)
        {
            self.resets.push_back(frame);
        }
    }
}
