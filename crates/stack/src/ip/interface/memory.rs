//! Memory used by an interface.

use std::net::{IpAddr, SocketAddr};

use lanlab_units::Instant;

use super::super::connection::Connection;
use super::super::{Mac, TcpProfile};
use super::handshakes::{HANDSHAKES, Handshake};
use super::{Event, Interface, MOST_RESETS};

/// Nodes of the standard library's B-trees: maximum entries, minimum entries, other bytes.
const NODE_ENTRIES: usize = 11;
const LEAST_ENTRIES: usize = 5;
const NODE_BYTES: usize = 128;
const LEAST_CAPACITY: usize = 4;
/// Maximum events queued per connection: opened, and changed.
const MOST_EVENTS: usize = 2;
/// A connection that only makes a SYN+ACK: itself, and two frames.
const ANSWER_BYTES: usize = Connection::FIXED_BYTES + 2 * (size_of::<Vec<u8>>() + 80);
/// Queued resets and spare buffers, each with the longest headers, after growth.
const RESETS_BYTES: usize = 2 * MOST_RESETS * (size_of::<Vec<u8>>() + 2 * 80);

const fn tree_bytes<T>(entries: usize) -> usize {
    if entries == 0 {
        return 0;
    }
    (entries / LEAST_ENTRIES + 1) * (NODE_ENTRIES * size_of::<T>() + NODE_BYTES)
}

const fn trees_bytes(connections: usize, neighbours: usize) -> usize {
    tree_bytes::<((u16, SocketAddr), usize)>(connections)
        + tree_bytes::<(Instant, usize)>(connections)
        + tree_bytes::<usize>(connections)
        + tree_bytes::<u16>(connections)
        + tree_bytes::<(IpAddr, Mac)>(neighbours)
}

const fn grown(entries: usize) -> usize {
    let entries = entries.next_power_of_two();
    if entries < LEAST_CAPACITY { LEAST_CAPACITY } else { entries }
}

impl Interface {
    /// Memory in use by its connections: buffers, frames, out-of-order data, timers. Datagram sockets are not
    /// counted.
    pub fn held_bytes(&self) -> usize {
        let unused = self.connections.capacity() - self.connections.len();
        let handshakes = self.handshakes.capacity() * size_of::<Handshake>();
        let lists = handshakes
            + (self.sending.capacity() + self.free.capacity()) * size_of::<usize>()
            + self.events.capacity() * size_of::<Event>()
            + (self.resets.capacity() + self.unused.capacity()) * size_of::<Vec<u8>>()
            + self.resets.iter().chain(&self.unused).map(Vec::capacity).sum::<usize>()
            + unused * size_of::<Connection>();
        let connections = self.connections.iter().map(Connection::held_bytes).sum::<usize>();
        let trees = trees_bytes(self.connections.len(), self.config.neighbours.len());
        size_of::<Self>() + lists + trees + connections
    }

    /// Upper bound with this many [limited](Self::limit_connections) connections and neighbours, and reads of at
    /// most `read_bytes`.
    pub fn most_bytes(
        profile: &TcpProfile,
        connections: usize,
        neighbours: usize,
        read_bytes: usize,
    ) -> usize {
        let handshakes = HANDSHAKES * connections * size_of::<Handshake>();
        let lists = handshakes
            + 2 * grown(2 * connections) * size_of::<usize>()
            + grown(2 * MOST_EVENTS * connections) * size_of::<Event>()
            + ANSWER_BYTES
            + RESETS_BYTES;
        size_of::<Self>()
            + lists
            + trees_bytes(connections, neighbours)
            + connections * Connection::most_bytes(profile, read_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use super::super::super::Config;
    use super::*;

    const PROFILE: TcpProfile = TcpProfile {
        mss_bytes: None,
        receive_buffer_bytes: 3_000,
        send_buffer_bytes: 2_000,
        send_rings: 2,
        delayed_ack_ns: None,
        is_modern: false,
        nagle: true,
    };
    const LIST_ENTRY: usize = size_of::<Vec<u8>>();

    #[test]
    fn tree_memory_assumes_11_entries_per_node_at_least_5_used() {
        let bytes = [0, 1, 4, 5, 9, 10].map(tree_bytes::<u64>);
        let node = 11 * 8 + 128;
        assert_eq!(bytes, [0, node, node, 2 * node, 2 * node, 3 * node]);
        assert_eq!([0, 1, 4, 5, 8, 9].map(grown), [4, 4, 4, 8, 8, 16]);
        // Trees: for connection ends, timeouts, abandoned connections, ports; for neighbours.
        let ends = size_of::<((u16, SocketAddr), usize)>();
        let entries = ends + size_of::<(Instant, usize)>() + size_of::<usize>() + 2;
        assert_eq!(trees_bytes(3, 0), 4 * 128 + 11 * entries);
        assert_eq!(trees_bytes(0, 7), 2 * (128 + 11 * (17 + 6)));
        assert_eq!(trees_bytes(3, 7), trees_bytes(3, 0) + trees_bytes(0, 7));
    }

    #[test]
    fn interface_memory_includes_lists_and_their_contents() {
        let address = |last: u8| IpAddr::from([10, 0, 0, last]);
        let neighbours: BTreeMap<IpAddr, Mac> =
            (2..9).map(|last| (address(last), [2; 6])).collect();
        let mut interface = Interface::new(Config {
            mac: [2, 0, 0, 0, 0, 1],
            addresses: vec![address(1)],
            neighbours,
            tcp: PROFILE,
            seed: 1,
        });
        let own = size_of::<Interface>() + trees_bytes(0, 7);
        assert_eq!(interface.held_bytes(), own);
        interface.sending = VecDeque::with_capacity(8);
        interface.free = Vec::with_capacity(16);
        interface.events = VecDeque::with_capacity(6);
        let lists = 24 * size_of::<usize>() + 6 * size_of::<Event>();
        assert_eq!(interface.held_bytes(), own + lists);
        interface.resets = VecDeque::with_capacity(3);
        interface.resets.push_back(Vec::with_capacity(100));
        interface.unused = Vec::with_capacity(5);
        interface.unused.extend([Vec::with_capacity(60), Vec::with_capacity(40)]);
        let lists = lists + 8 * LIST_ENTRY + 200;
        assert_eq!(interface.held_bytes(), own + lists);
        interface.connections = Vec::with_capacity(5);
        let [local, peer] = [1, 2].map(|last| SocketAddr::new(address(last), 7));
        for _ in 0..2 {
            let one = Connection::new(Instant::ZERO, local, peer, [2; 6], &PROFILE, 1);
            interface.connections.push(one);
        }
        let connections = 3 * size_of::<Connection>() + 2 * interface.connections[0].held_bytes();
        let trees = trees_bytes(2, 0);
        assert_eq!(interface.held_bytes(), own + lists + connections + trees);
    }

    #[test]
    fn the_interface_bound_covers_lists_handshakes_and_16_short_frames() {
        let of_connections = trees_bytes(3, 7) + 3 * Connection::most_bytes(&PROFILE, 100);
        // Room for six numbers in each of two lists, twelve events, 18 handshakes, and the SYN+ACK of one.
        let lists = 2 * 8 * size_of::<usize>()
            + 16 * size_of::<Event>()
            + 18 * size_of::<Handshake>()
            + Connection::FIXED_BYTES
            + 2 * (LIST_ENTRY + 80)
            + 16 * (LIST_ENTRY + 160);
        let expected = size_of::<Interface>() + lists + of_connections;
        assert_eq!(Interface::most_bytes(&PROFILE, 3, 7, 100), expected);
    }
}
