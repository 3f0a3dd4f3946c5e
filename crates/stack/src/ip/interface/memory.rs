//! What an interface holds in memory.

use std::net::{IpAddr, SocketAddr};

use lanlab_units::Instant;

use super::super::connection::Connection;
use super::super::{Mac, TcpProfile};
use super::{Event, Interface, MOST_RESETS};

/// Entries of a node of the standard library's trees, its least, and its other bytes.
const NODE_ENTRIES: usize = 11;
const LEAST_ENTRIES: usize = 5;
const NODE_BYTES: usize = 128;
/// Least capacity of a list that grows.
const LEAST_CAPACITY: usize = 4;
/// Events of a connection that wait at a time: it was opened, and it has changed.
const MOST_EVENTS: usize = 2;
/// Resets that wait, and buffers for more: each with the longest headers, grown.
const RESETS_BYTES: usize = 2 * MOST_RESETS * (size_of::<Vec<u8>>() + 2 * 80);

/// At most what a tree with this number of entries takes.
const fn tree_bytes<T>(entries: usize) -> usize {
    if entries == 0 {
        return 0;
    }
    (entries / LEAST_ENTRIES + 1) * (NODE_ENTRIES * size_of::<T>() + NODE_BYTES)
}

/// What the trees take with as many connections and neighbours, and no more ports that listen.
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
    /// Memory that it holds now for its connections: buffers, frames, what is out of order, timers. Sockets for
    /// datagrams are not counted.
    pub fn held_bytes(&self) -> usize {
        let unused = self.connections.capacity() - self.connections.len();
        let lists = (self.sending.capacity() + self.free.capacity()) * size_of::<usize>()
            + self.events.capacity() * size_of::<Event>()
            + (self.resets.capacity() + self.unused.capacity()) * size_of::<Vec<u8>>()
            + self.resets.iter().chain(&self.unused).map(Vec::capacity).sum::<usize>()
            + unused * size_of::<Connection>();
        let connections = self.connections.iter().map(Connection::held_bytes).sum::<usize>();
        let trees = trees_bytes(self.connections.len(), self.config.neighbours.len());
        size_of::<Self>() + lists + trees + connections
    }

    /// What it never holds more than, with as many connections to as many neighbours that are read in parts of at
    /// most `read_bytes`, if they are [limited](Self::limit_connections) where peers open them.
    pub fn most_bytes(
        profile: &TcpProfile,
        connections: usize,
        neighbours: usize,
        read_bytes: usize,
    ) -> usize {
        let unused = grown(connections) - connections;
        let lists = 2 * grown(2 * connections) * size_of::<usize>()
            + grown(2 * MOST_EVENTS * connections) * size_of::<Event>()
            + unused * size_of::<Connection>()
            + RESETS_BYTES;
        size_of::<Self>()
            + lists
            + trees_bytes(connections, neighbours)
            + connections * Connection::most_bytes(profile, read_bytes)
    }
}
