//! A station on a real Ethernet: an [`Interface`] with ARP and bounded memory.
//!
//! It is driven like an interface. First it probes whether its address is in use (RFC 5227, with shorter pauses),
//! then resolves the hardware address of its peer, if it has one; [`reach`](Station::reach) reports progress. From
//! then on it answers ARP requests for its address and learns their senders (RFC 826), so that they can connect.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};

use lanlab_units::Instant;
use lanlab_wire::arp::Packet;

use super::frames::{self, Carried};
use super::small::RECEIVED_FRAME_BYTES;
use super::{Config, ETHERNET_HEADER_BYTES, Interface, Mac, TcpProfile};

const ARP_TYPE: [u8; 2] = [8, 6];
const BROADCAST: Mac = [0xff; 6];
/// Target hardware address in an ARP request (RFC 826).
const UNKNOWN: Mac = [0; 6];
/// Offset of the sender's address in a frame with an IPv4 packet (RFC 791, 3.1).
const SENDER: std::ops::Range<usize> = ETHERNET_HEADER_BYTES + 12..ETHERNET_HEADER_BYTES + 16;
/// Offset of the protocol in such a frame, and that of ICMP.
const PROTOCOL: usize = ETHERNET_HEADER_BYTES + 9;
const ICMP: u8 = 1;
const ARP_FRAME_BYTES: usize = ETHERNET_HEADER_BYTES + lanlab_wire::arp::PACKET_LEN;
/// Probes for our address, and the pause after each; RFC 5227 specifies 3 and one second.
const PROBES: u32 = 3;
const PROBE_PAUSE_NS: u64 = 100_000_000;
const QUESTIONS: u32 = 12;
const QUESTION_PAUSE_NS: u64 = 250_000_000;
/// Maximum stations on the Ethernet known at a time.
const MOST_NEIGHBOURS: usize = 8;
/// Maximum answers queued for the adapter.
const MOST_ANSWERS: usize = 4;
/// Frames of the driving program: one received and one sent.
const FRAME_BYTES: usize = 2 * RECEIVED_FRAME_BYTES;

#[derive(Debug, Clone, Copy)]
pub struct StationConfig {
    pub mac: Mac,
    pub address: Ipv4Addr,
    /// The peer to connect to, on the same Ethernet; absent for stations that only accept connections.
    pub peer: Option<Ipv4Addr>,
    pub tcp: TcpProfile,
    /// Maximum connections at a time.
    pub connections: usize,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Asking,
    Known,
    Taken(Mac),
    Unanswered,
}

pub struct Station {
    pub interface: Interface,
    mac: Mac,
    address: Ipv4Addr,
    peer: Option<Ipv4Addr>,
    askers: VecDeque<Ipv4Addr>,
    reach: Reach,
    /// Requests sent so far, probes first, and when the next one is due.
    asked: u32,
    ask_at: Option<Instant>,
    answers: VecDeque<Vec<u8>>,
}

impl Station {
    pub fn new(config: StationConfig, now: Instant) -> Self {
        let StationConfig { mac, address, peer, tcp, connections, seed } = config;
        let mut interface = Interface::new(Config {
            mac,
            addresses: vec![IpAddr::V4(address)],
            neighbours: BTreeMap::new(),
            tcp,
            seed,
        });
        interface.limit_connections(connections);
        Self {
            interface,
            mac,
            address,
            peer,
            askers: VecDeque::with_capacity(MOST_NEIGHBOURS),
            reach: Reach::Asking,
            asked: 0,
            ask_at: Some(now),
            answers: VecDeque::with_capacity(MOST_ANSWERS),
        }
    }

    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Memory in use now, with the frames of the driving program.
    pub fn held_bytes(&self) -> usize {
        let answers = self.askers.capacity() * size_of::<Ipv4Addr>()
            + self.answers.capacity() * size_of::<Vec<u8>>()
            + self.answers.iter().map(Vec::capacity).sum::<usize>();
        size_of::<Self>() - size_of::<Interface>()
            + self.interface.held_bytes()
            + answers
            + FRAME_BYTES
    }

    /// Upper bound of its memory for this many connections and reads of at most `read_bytes`.
    pub fn most_bytes(tcp: &TcpProfile, connections: usize, read_bytes: usize) -> usize {
        size_of::<Self>() - size_of::<Interface>()
            + Interface::most_bytes(tcp, connections, MOST_NEIGHBOURS, read_bytes)
            + MOST_NEIGHBOURS * size_of::<Ipv4Addr>()
            + MOST_ANSWERS * (size_of::<Vec<u8>>() + RECEIVED_FRAME_BYTES)
            + FRAME_BYTES
    }

    pub fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
        match frame.get(12..ETHERNET_HEADER_BYTES) {
            Some(kind) if kind == ARP_TYPE => self.handle_arp(&frame[ETHERNET_HEADER_BYTES..]),
            _ => {
                self.learn_sender(frame);
                self.reply_to_echo(frame);
                self.interface.handle_frame(now, frame);
            }
        }
    }

    fn handle_arp(&mut self, packet: &[u8]) {
        let Ok(packet) = Packet::parse(packet) else { return };
        if packet.sender_mac == self.mac
            || packet.sender_mac == UNKNOWN
            || packet.sender_mac[0] & 1 > 0
        {
            return;
        }
        let is_probing = self.reach == Reach::Asking && self.asked <= PROBES;
        // A simultaneous probe by another station is a conflict too (RFC 5227, 2.1.1).
        let is_rival = packet.is_request && packet.sender.is_unspecified();
        if is_probing {
            if packet.sender == self.address || (is_rival && packet.target == self.address) {
                self.reach = Reach::Taken(packet.sender_mac);
                self.ask_at = None;
            }
            return;
        }
        if Some(packet.sender) == self.peer
            && self.reach == Reach::Asking
            && packet.target == self.address
        {
            self.interface.add_neighbour(IpAddr::V4(packet.sender), packet.sender_mac);
            self.reach = Reach::Known;
            self.ask_at = None;
        }
        if packet.is_request && packet.target == self.address {
            self.learn(packet.sender, packet.sender_mac);
        }
        if packet.is_request && packet.target == self.address && self.answers.len() < MOST_ANSWERS {
            let answer = Packet {
                is_request: false,
                sender_mac: self.mac,
                sender: self.address,
                target_mac: packet.sender_mac,
                target: packet.sender,
            };
            self.answers.push_back(framed(packet.sender_mac, &answer));
        }
    }

    fn reply_to_echo(&mut self, frame: &[u8]) {
        if frame.get(PROTOCOL) == Some(&ICMP)
            && let Some(Carried::EchoRequest { to, packet }) = frames::parse(self.mac, frame)
            && let Some(from) = frame.get(6..12).and_then(|mac| Mac::try_from(mac).ok())
            && (to, self.reach) == (IpAddr::V4(self.address), Reach::Known)
            && from[0] & 1 == 0
            && self.answers.len() < MOST_ANSWERS
        {
            self.answers.push_back(frames::echo_reply((self.mac, from), packet));
        }
    }

    /// A peer that has cached our address sends no ARP request: learn it from its packets.
    fn learn_sender(&mut self, frame: &[u8]) {
        if self.peer.is_none()
            && frame.get(..6) == Some(&self.mac)
            && let Some(mac) = frame.get(6..12).and_then(|mac| Mac::try_from(mac).ok())
            && let Some(sender) =
                frame.get(SENDER).and_then(|octets| <[u8; 4]>::try_from(octets).ok())
            && mac[0] & 1 == 0
            && !self.interface.knows(IpAddr::from(sender))
        {
            self.learn(Ipv4Addr::from(sender), mac);
        }
    }

    /// Remember a station that asked for our address, replacing the least recent one.
    fn learn(&mut self, address: Ipv4Addr, mac: Mac) {
        if address.is_unspecified() || address == self.address {
            return;
        }
        if Some(address) != self.peer && !self.askers.contains(&address) {
            // One place is reserved for the peer.
            if self.askers.len() + 1 == MOST_NEIGHBOURS
                && let Some(oldest) = self.askers.pop_front()
            {
                self.interface.remove_neighbour(IpAddr::V4(oldest));
            }
            self.askers.push_back(address);
        }
        self.interface.add_neighbour(IpAddr::V4(address), mac);
    }

    fn question(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.ask_at.filter(|at| *at <= now)?;
        if self.asked == PROBES && self.peer.is_none() {
            self.reach = Reach::Known;
            self.ask_at = None;
            return None;
        }
        if self.asked == PROBES + QUESTIONS {
            self.reach = Reach::Unanswered;
            self.ask_at = None;
            return None;
        }
        let is_probe = self.asked < PROBES;
        let pause_ns = if is_probe { PROBE_PAUSE_NS } else { QUESTION_PAUSE_NS };
        self.asked += 1;
        self.ask_at = Some(now.plus_nanos(pause_ns));
        let question = Packet {
            is_request: true,
            sender_mac: self.mac,
            sender: if is_probe { Ipv4Addr::UNSPECIFIED } else { self.address },
            target_mac: UNKNOWN,
            target: self.peer.filter(|_| !is_probe).unwrap_or(self.address),
        };
        Some(framed(BROADCAST, &question))
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        self.interface.handle_timeout(now);
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        Instant::earliest([self.ask_at, self.interface.poll_timeout()])
    }

    pub fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        match self.question(now).or_else(|| self.answers.pop_front()) {
            Some(frame) => {
                into.clone_from(&frame);
                true
            }
            None => self.interface.poll_transmit(now, into),
        }
    }
}

fn framed(to: Mac, packet: &Packet) -> Vec<u8> {
    let mut frame = Vec::with_capacity(ARP_FRAME_BYTES);
    frame.extend([to, packet.sender_mac].concat());
    frame.extend(ARP_TYPE);
    packet.emit(&mut frame);
    frame
}
