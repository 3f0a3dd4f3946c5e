//! An interface: its sockets, and the five calls that drive it.

mod datagrams;
mod handshakes;
mod limited;
mod memory;
mod neighbours;
mod segments;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

use lanlab_units::Instant;

use self::handshakes::Handshake;
use super::connection::{Connection, ConnectionFacts, Received, local_address};
use super::frames::{self, Carried};
use super::udp::Socket;
use super::{Config, Mac, Refusal, TcpProfile};

/// Maximum resets queued for the adapter.
const MOST_RESETS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SocketId(pub usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionId(pub usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Datagram(SocketId),
    Room(SocketId),
    Accepted(ConnectionId, u16),
    /// A connection may have opened, received data, gained room or ended.
    Changed(ConnectionId),
}

struct Waiting {
    frame: Vec<u8>,
    socket: usize,
    bytes: usize,
}

/// An interface with its sockets. The [module](super) describes how to drive it.
pub struct Interface {
    config: Config,
    sockets: Vec<Socket>,
    listening: BTreeSet<u16>,
    connections: Vec<Connection>,
    most_connections: Option<usize>,
    handshakes: VecDeque<Handshake>,
    opened: u64,
    unowned: BTreeSet<usize>,
    free: Vec<usize>,
    by_ends: BTreeMap<(u16, SocketAddr), usize>,
    datagrams: VecDeque<Waiting>,
    resets: VecDeque<Vec<u8>>,
    sending: VecDeque<usize>,
    timeouts: BTreeSet<(Instant, usize)>,
    events: VecDeque<Event>,
    unused: Vec<Vec<u8>>,
    unclaimed_frames: u64,
    /// Destination and route of the last datagram or connection: most hosts send to one peer.
    last_way: Option<(IpAddr, (IpAddr, Mac))>,
}

impl Interface {
    pub fn new(config: Config) -> Self {
        Self {
            config,
            sockets: Vec::new(),
            listening: BTreeSet::new(),
            connections: Vec::new(),
            most_connections: None,
            handshakes: VecDeque::new(),
            opened: 0,
            unowned: BTreeSet::new(),
            free: Vec::new(),
            by_ends: BTreeMap::new(),
            datagrams: VecDeque::new(),
            resets: VecDeque::new(),
            sending: VecDeque::new(),
            timeouts: BTreeSet::new(),
            events: VecDeque::new(),
            unused: Vec::new(),
            unclaimed_frames: 0,
            last_way: None,
        }
    }

    pub fn mac(&self) -> Mac {
        self.config.mac
    }

    pub fn unclaimed_frames(&self) -> u64 {
        self.unclaimed_frames
    }

    /// Datagrams dropped because the receive buffer of their socket was full, over all sockets.
    pub fn dropped_datagrams(&self) -> u64 {
        self.sockets.iter().map(|socket| socket.dropped_datagrams).sum()
    }

    fn way_to(&mut self, to: SocketAddr) -> Result<(IpAddr, Mac), Refusal> {
        if let Some((_, way)) = self.last_way.filter(|(last, _)| *last == to.ip()) {
            return Ok(way);
        }
        let from = local_address(&self.config.addresses, to.ip()).ok_or(Refusal::NoAddress(to))?;
        let mac = self.config.neighbours.get(&to.ip()).ok_or(Refusal::NoNeighbour(to.ip()))?;
        let way = (from, *mac);
        self.last_way = Some((to.ip(), way));
        Ok(way)
    }

    /// Open a connection. [`Event::Changed`] follows when it is open.
    pub fn connect(
        &mut self,
        now: Instant,
        port: u16,
        to: SocketAddr,
    ) -> Result<ConnectionId, Refusal> {
        let (from, mac) = self.way_to(to)?;
        if self.by_ends.contains_key(&(port, to)) {
            return Err(Refusal::PortInUse(port));
        }
        if !self.makes_room(now) {
            return Err(Refusal::Full);
        }
        self.opened += 1;
        let ends = (SocketAddr::new(from, port), to);
        let mut connection = self.connection(now, ends, mac, &self.config.tcp, self.opened);
        if !connection.connect() {
            return Err(Refusal::NoAddress(to));
        }
        let id = self.keep(connection);
        self.touched(now, id);
        Ok(ConnectionId(id))
    }

    fn connection(
        &self,
        now: Instant,
        (local, peer): (SocketAddr, SocketAddr),
        mac: Mac,
        tcp: &TcpProfile,
        number: u64,
    ) -> Connection {
        let mut seed = self.config.seed.wrapping_add(number - 1);
        if self.most_connections.is_some() {
            // Strangers must not predict the initial sequence number from those of others (RFC 6528).
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            seed = hasher.finish();
        }
        let mut connection = Connection::new(now, local, peer, mac, tcp, seed);
        connection.number = number;
        connection
    }

    fn keep(&mut self, mut connection: Connection) -> usize {
        let ends = (connection.local.port(), connection.peer);
        let id = if let Some(id) = self.free.pop() {
            // A reused slot may still be in these lists, once in each.
            let before = &self.connections[id];
            connection.is_sending = before.is_sending;
            connection.is_told = before.is_told;
            self.connections[id] = connection;
            id
        } else {
            self.connections.push(connection);
            self.connections.len() - 1
        };
        self.by_ends.insert(ends, id);
        id
    }

    pub fn is_open(&self, id: ConnectionId) -> bool {
        self.connections[id.0].is_established()
    }

    pub fn is_over(&self, id: ConnectionId) -> bool {
        self.connections[id.0].is_over()
    }

    /// Queue as much of `data` as fits into the send buffer. Returns the number of bytes.
    pub fn send(&mut self, now: Instant, id: ConnectionId, data: &[u8]) -> usize {
        let taken = self.connections[id.0].send(data);
        self.touched(now, id.0);
        taken
    }

    pub fn receive(&mut self, now: Instant, id: ConnectionId, into: &mut [u8]) -> Received {
        let received = self.connections[id.0].receive(into);
        self.touched(now, id.0);
        received
    }

    pub fn readable_bytes(&self, id: ConnectionId) -> usize {
        self.connections[id.0].readable_bytes()
    }

    /// Whether a frame was made in reply to a segment: it cannot be merged with later ones.
    pub fn has_replies(&self) -> bool {
        self.sending.iter().any(|&id| self.connections[id].has_frame())
    }

    pub fn room_bytes(&self, id: ConnectionId) -> usize {
        self.connections[id.0].room_bytes()
    }

    pub fn close(&mut self, now: Instant, id: ConnectionId) {
        self.connections[id.0].close();
        self.touched(now, id.0);
    }

    pub fn abort(&mut self, now: Instant, id: ConnectionId) {
        self.connections[id.0].abort();
        self.touched(now, id.0);
    }

    pub fn abort_all(&mut self, now: Instant) {
        let all: Vec<_> = self.by_ends.values().copied().collect();
        for id in all.into_iter().map(ConnectionId) {
            if !self.is_over(id) {
                self.abort(now, id);
            }
        }
    }

    /// The program releases a connection: it is closed, and its buffers and port are free once both ends have
    /// closed it and the wait for late segments is over.
    pub fn leave(&mut self, now: Instant, id: ConnectionId) {
        self.unowned.insert(id.0);
        self.close(now, id);
    }

    pub fn local(&self, id: ConnectionId) -> SocketAddr {
        self.connections[id.0].local
    }

    pub fn peer(&self, id: ConnectionId) -> SocketAddr {
        self.connections[id.0].peer
    }

    pub fn facts(&self, id: ConnectionId) -> ConnectionFacts {
        self.connections[id.0].facts()
    }

    pub fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
        let is_claimed = match frames::parse(self.config.mac, frame) {
            Some(Carried::Datagram { from, to, payload }) => {
                self.handle_datagram(from, to, payload)
            }
            Some(Carried::Segment { from, to, is_syn, packet }) => {
                self.handle_segment(now, from, to, is_syn, packet)
            }
            Some(Carried::EchoRequest { .. }) | None => false,
        };
        self.unclaimed_frames += u64::from(!is_claimed);
    }

    fn handle_datagram(&mut self, from: SocketAddr, to: SocketAddr, payload: &[u8]) -> bool {
        if !self.config.addresses.contains(&to.ip()) {
            return false;
        }
        let Some(id) = self.sockets.iter().position(|socket| socket.port == to.port()) else {
            return false;
        };
        if self.sockets[id].keep(from, payload) {
            self.events.push_back(Event::Datagram(SocketId(id)));
        }
        true
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        for handshake in &mut self.handshakes {
            handshake.resend_at.take_if(|at| *at <= now);
        }
        while let Some((at, id)) = self.timeouts.first().copied()
            && at <= now
        {
            self.timeouts.remove(&(at, id));
            self.connections[id].timeout = None;
            self.is_sending(id);
        }
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let timeout = self.timeouts.first().map(|(at, _)| *at);
        let handshake = self.handshakes.iter().filter_map(|one| one.resend_at).min();
        Instant::earliest([timeout, handshake])
    }

    /// Write the next frame to `into`, without padding and check sequence. False if there is none.
    pub fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        // Connections are dropped for others only once all they can send has left.
        self.next_frame(now, into) || (self.admit(now) && self.next_frame(now, into))
    }

    fn next_frame(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        if let Some(reset) = self.resets.pop_front() {
            // Cloned, not exchanged: buffers of resets stay short.
            into.clone_from(&reset);
            self.unused.push(reset);
            return true;
        }
        if self.answer_handshake(now, into) {
            return true;
        }
        if let Some(mut waiting) = self.datagrams.pop_front() {
            std::mem::swap(into, &mut waiting.frame);
            self.unused.push(waiting.frame);
            if self.sockets[waiting.socket].left(waiting.bytes) {
                self.events.push_back(Event::Room(SocketId(waiting.socket)));
            }
            return true;
        }
        while let Some(id) = self.sending.pop_front() {
            let connection = &mut self.connections[id];
            connection.is_sending = false;
            if !connection.has_frame() {
                connection.make_segment(now);
            }
            if connection.take_frame(into) {
                let (mac, to) = (connection.peer_mac, connection.peer.ip());
                frames::emit_ethernet(self.config.mac, mac, to, into);
                self.touched(now, id);
                self.tell(id);
                return true;
            }
            self.await_timeout(now, id);
            self.tell(id);
        }
        false
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front()?;
        if let Event::Changed(id) = event {
            self.connections[id.0].is_told = false;
        }
        Some(event)
    }

    /// A connection changed: it may have something to send, now or later.
    fn touched(&mut self, now: Instant, id: usize) {
        let connection = &mut self.connections[id];
        if connection.has_frame() || connection.wants(now).is_some_and(|at| at <= now) {
            self.is_sending(id);
        } else {
            self.await_timeout(now, id);
        }
    }

    fn is_sending(&mut self, id: usize) {
        if !std::mem::replace(&mut self.connections[id].is_sending, true) {
            self.sending.push_back(id);
        }
    }

    fn await_timeout(&mut self, now: Instant, id: usize) {
        let connection = &mut self.connections[id];
        let is_bounded = self.most_connections.is_some();
        let is_done = connection.is_closed() || (is_bounded && connection.is_settled(now));
        if is_done && self.unowned.remove(&id) {
            connection.release();
            self.by_ends.remove(&(connection.local.port(), connection.peer));
            if is_bounded {
                self.free.push(id);
            }
        }
        // A connection that is due now but has nothing to send waits for a change.
        let wanted = connection.wants(now).filter(|at| *at > now);
        if connection.timeout == wanted {
            return;
        }
        if let Some(before) = connection.timeout.take() {
            self.timeouts.remove(&(before, id));
        }
        connection.timeout = wanted;
        self.timeouts.extend(wanted.map(|at| (at, id)));
    }

    fn tell(&mut self, id: usize) {
        if !std::mem::replace(&mut self.connections[id].is_told, true) {
            self.events.push_back(Event::Changed(ConnectionId(id)));
        }
    }
}
