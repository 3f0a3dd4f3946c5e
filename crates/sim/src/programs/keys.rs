//! Keys for changes in a host's nodes.

use lanlab_stack::ip::{ConnectionId, SocketId};
use lanlab_stack::node::SessionId;

use crate::node::Key;

/// Number of kinds of keys. A key is eight times the number of a socket, connection or session,
/// plus its kind.
const KINDS: Key = 8;
const DATAGRAM: Key = 0;
const ROOM: Key = 1;
const CONNECTION: Key = 2;
const SESSION: Key = 3;

pub(crate) const ACCEPTED: Key = 4;
/// A program of another host has passed information without a frame.
pub(crate) const NOTIFIED: Key = 5;
/// A station has opened a session, or this host's station is ready for sessions.
pub(crate) const STATION: Key = 6;

pub fn datagram_key(socket: SocketId) -> Key {
    socket.0 as Key * KINDS + DATAGRAM
}

pub(crate) fn room_key(socket: SocketId) -> Key {
    socket.0 as Key * KINDS + ROOM
}

pub(crate) fn connection_key(connection: ConnectionId) -> Key {
    connection.0 as Key * KINDS + CONNECTION
}

/// The key for data of a carrier's session, and for room to send.
pub(crate) fn session_key(session: SessionId) -> Key {
    session.0.wrapping_mul(KINDS) + SESSION
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn wait_keys_are_unique() {
        let of_number = |number: usize| {
            [
                datagram_key(SocketId(number)),
                room_key(SocketId(number)),
                connection_key(ConnectionId(number)),
                session_key(SessionId(number as u32)),
            ]
        };
        let keys: Vec<Key> =
            (0..100).flat_map(of_number).chain([ACCEPTED, NOTIFIED, STATION]).collect();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len());
    }
}
