//! Connections opened by a peer.

use smoltcp::time::Duration;
use smoltcp::wire::IpAddress;

use super::Connection;

/// Silence after which a peer is probed (RFC 9293, 3.8.4). Probes repeat at this interval until [`VANISHED`].
const KEEP_ALIVE: Duration = Duration::from_secs(60);
const VANISHED: Duration = Duration::from_secs(200);

impl Connection {
    /// Wait for the peer's SYN. With `is_watched`, a vanished peer ends the connection.
    pub fn listen(&mut self, is_watched: bool) {
        let from = (IpAddress::from(self.local.ip()), self.local.port());
        let socket = self.socket_mut();
        if is_watched {
            // Setting this later would send a probe at once.
            socket.set_keep_alive(Some(KEEP_ALIVE));
            socket.set_timeout(Some(VANISHED));
        }
        // An address that cannot be listened at gets no SYN+ACK.
        let _ = socket.listen(from);
    }
}
