//! Connections that a peer opens, until they are open.

use smoltcp::socket::tcp;
use smoltcp::time::Duration;
use smoltcp::wire::IpAddress;

use super::Connection;

/// Time for a peer to end the handshake that it has begun: its answer is asked for four times in it.
const OPENING: Duration = Duration::from_secs(20);
/// A peer that is silent for this time is asked whether it is still there (RFC 9293, 3.8.4), again after the same
/// time, and given up after [`VANISHED`].
const KEEP_ALIVE: Duration = Duration::from_secs(60);
/// See [`KEEP_ALIVE`].
const VANISHED: Duration = Duration::from_secs(200);

impl Connection {
    /// Wait for the peer to open it. Gives whether its address can be used.
    ///
    /// With `is_watched` it is given up if the peer does not end the handshake, or is not there any more.
    pub fn listen(&mut self, is_watched: bool) -> bool {
        let from = (IpAddress::from(self.local.ip()), self.local.port());
        self.is_half_open = true;
        let socket = self.socket_mut();
        if is_watched {
            // Set later, it would ask at once.
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

    /// Give it up, and say nothing: what the peer sends then is for no connection, and reset.
    pub fn forget(&mut self) {
        self.socket_mut().abort();
        self.device.unused.append(&mut self.device.sent);
    }
}
