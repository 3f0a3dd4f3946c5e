//! The IP node of a simulated host.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lanlab_stack::ip::{Config, ConnectionId, Event, Interface, SocketId, TcpProfile};
use lanlab_units::Instant;

use crate::address::{HostId, mac_of};
use crate::node::{Key, Node};

/// Kinds of keys: a key is four times a socket or connection, and its kind.
const KINDS: Key = 4;
const DATAGRAM: Key = 0;
const ROOM: Key = 1;
const CONNECTION: Key = 2;

/// A peer has opened a connection.
pub(super) const ACCEPTED: Key = 3;
/// A program of another host has said something without a frame.
pub(super) const NOTIFIED: Key = 7;

/// The key of datagrams at a socket.
pub fn datagram_key(socket: SocketId) -> Key {
    socket.0 as Key * KINDS + DATAGRAM
}

/// The key of room in a socket's send buffer.
pub(super) fn room_key(socket: SocketId) -> Key {
    socket.0 as Key * KINDS + ROOM
}

/// The key of a connection's changes.
pub(super) fn connection_key(connection: ConnectionId) -> Key {
    connection.0 as Key * KINDS + CONNECTION
}

/// IPv4 and IPv6 address of a host.
pub fn addresses_of(host: HostId) -> [IpAddr; 2] {
    let number = host + 1;
    let [high, low] = number.to_be_bytes();
    [
        Ipv4Addr::new(10, 77, high, low).into(),
        Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number).into(),
    ]
}

/// IP on the adapter of a simulated host. All hosts know each other's addresses.
pub struct IpNode {
    /// Its sockets.
    pub interface: Interface,
    accepted: VecDeque<ConnectionId>,
    notified: Option<Key>,
}

impl IpNode {
    /// The node of `host`, one of `hosts`.
    pub fn new(host: HostId, hosts: HostId, tcp: TcpProfile, seed: u64) -> Self {
        // A server knows all its clients, and a client its server.
        let neighbours: BTreeMap<_, _> = (0..hosts)
            .flat_map(|other| addresses_of(other).map(|address| (address, mac_of(other))))
            .collect();
        let config = Config {
            mac: mac_of(host),
            addresses: addresses_of(host).to_vec(),
            neighbours,
            tcp,
            // Streams of connections are far apart.
            seed: seed.wrapping_add(u64::from(host) << 32),
        };
        Self { interface: Interface::new(config), accepted: VecDeque::new(), notified: None }
    }

    /// The oldest connection that a peer has opened and no program has taken.
    pub(super) fn accept(&mut self) -> Option<ConnectionId> {
        self.accepted.pop_front()
    }

    /// Wake programs that wait for `key`.
    pub(super) fn notify(&mut self, key: Key) {
        self.notified = Some(key);
    }
}

impl Node for IpNode {
    fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
        self.interface.handle_frame(now, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.interface.handle_timeout(now);
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.interface.poll_timeout()
    }

    fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        self.interface.poll_transmit(now, into)
    }

    fn poll_event(&mut self) -> Option<Key> {
        if let Some(key) = self.notified.take() {
            return Some(key);
        }
        Some(match self.interface.poll_event()? {
            Event::Datagram(socket) => datagram_key(socket),
            Event::Room(socket) => room_key(socket),
            Event::Changed(connection) => connection_key(connection),
            Event::Accepted(connection, _) => {
                self.accepted.push_back(connection);
                ACCEPTED
            }
        })
    }
}
