//! The nodes of a simulated host: IP, and optionally a station of frame carriers.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lanlab_stack::ip::{Config, ConnectionId, Event, Interface, TcpProfile};
use lanlab_units::Instant;

use super::CLIENT_PORT;
use super::keys::{ACCEPTED, connection_key, datagram_key, room_key};
use super::station::Station;
use crate::address::{HostId, mac_of};
use crate::node::{Key, Node};

pub fn addresses_of(host: HostId) -> [IpAddr; 2] {
    let number = host + 1;
    let [high, low] = number.to_be_bytes();
    [
        Ipv4Addr::new(10, 77, high, low).into(),
        Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number).into(),
    ]
}

/// The nodes on a host's adapter. IP frames go to the first, all others to the station.
pub struct HostNode {
    pub ip: IpNode,
    pub station: Option<Station>,
}

impl Node for HostNode {
    fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
        match &mut self.station {
            Some(station) if !is_ip(frame) => station.handle_frame(now, frame),
            _ => self.ip.handle_frame(now, frame),
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.ip.handle_timeout(now);
        if let Some(station) = &mut self.station {
            station.handle_timeout(now);
        }
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        let station = self.station.as_mut().and_then(Node::poll_timeout);
        Instant::earliest([self.ip.poll_timeout(), station])
    }

    fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        self.ip.poll_transmit(now, into)
            || self.station.as_mut().is_some_and(|station| station.poll_transmit(now, into))
    }

    fn poll_event(&mut self) -> Option<Key> {
        self.ip.poll_event().or_else(|| self.station.as_mut().and_then(Node::poll_event))
    }
}

/// Whether a frame is one of IPv4, IPv6 or ARP, by its type (IEEE 802, registered).
fn is_ip(frame: &[u8]) -> bool {
    let of_type = frame.get(12..14);
    [[0x08, 0x00], [0x86, 0xdd], [0x08, 0x06]].iter().any(|ip| of_type == Some(&ip[..]))
}

pub struct IpNode {
    pub interface: Interface,
    accepted: VecDeque<(ConnectionId, u16)>,
    notified: Option<Key>,
    next_port: u16,
}

impl IpNode {
    pub fn new(host: HostId, hosts: HostId, tcp: TcpProfile, seed: u64) -> Self {
        // A server knows all its clients, and a client knows its server.
        let neighbours: BTreeMap<_, _> = (0..hosts)
            .flat_map(|other| addresses_of(other).map(|address| (address, mac_of(other))))
            .collect();
        let config = Config {
            mac: mac_of(host),
            addresses: addresses_of(host).to_vec(),
            neighbours,
            tcp,
            // Initial sequence numbers of connections are far apart.
            seed: seed.wrapping_add(u64::from(host) << 32),
        };
        Self {
            interface: Interface::new(config),
            accepted: VecDeque::new(),
            notified: None,
            next_port: CLIENT_PORT,
        }
    }

    pub(crate) fn accept(&mut self, port: u16) -> Option<ConnectionId> {
        let place = self.accepted.iter().position(|(_, to)| *to == port)?;
        self.accepted.remove(place).map(|(connection, _)| connection)
    }

    /// An ephemeral port, a new one each time, because the peer of an earlier connection may keep
    /// it for a while (RFC 9293, 3.6.1).
    pub(crate) fn any_port(&mut self) -> u16 {
        let next = self.next_port.checked_add(1).unwrap_or(CLIENT_PORT);
        std::mem::replace(&mut self.next_port, next)
    }

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
            Event::Accepted(connection, port) => {
                self.accepted.push_back((connection, port));
                ACCEPTED
            }
        })
    }
}
