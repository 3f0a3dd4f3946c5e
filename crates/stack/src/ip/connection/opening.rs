//! Connections being opened by a peer.

use smoltcp::socket::tcp;
use smoltcp::time::Duration;
use smoltcp::wire::IpAddress;

use super::Connection;

/// Time-out of the handshake; the SYN+ACK is sent four times within it.
const OPENING: Duration = Duration::from_secs(20);
/// Silence after which a peer is probed (RFC 9293, 3.8.4). Probes repeat at this interval until [`VANISHED`].
const KEEP_ALIVE: Duration = Duration::from_secs(60);
const VANISHED: Duration = Duration::from_secs(200);

impl Connection {
    /// Wait for the peer to open the connection. Returns whether its address is valid.
    ///
    /// With `is_watched`, an incomplete handshake or a vanished peer ends the connection.
    pub fn listen(&mut self, is_watched: bool) -> bool {
        let from = (IpAddress::from(self.local.ip()), self.local.port());
        self.is_half_open = true;
        let socket = self.socket_mut();
        if is_watched {
            // Setting this later would send a probe at once.
            socket.set_keep_alive(Some(KEEP_ALIVE));
            socket.set_timeout(Some(OPENING));
        }
        socket.listen(from).is_ok()
    }

    pub fn opened(&mut self) {
        self.is_half_open = false;
        let socket = self.socket_mut();
        if socket.timeout().is_some() {
            socket.set_timeout(Some(VANISHED));
        }
    }

    pub fn is_unasked(&self) -> bool {
        self.socket().state() == tcp::State::Listen
    }

    /// Drop the connection silently; later segments of the peer are answered with a reset.
    pub fn forget(&mut self) {
        self.socket_mut().abort();
        self.device.unused.append(&mut self.device.sent);
    }
}
