//! Two of every responder on one hub, and forged packets: what is answered once is not answered again.

use lanlab_stack::node::{CarrierKind, Node, NodeConfig};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Framing, Header as Ethernet, Mac};
use lanlab_wire::ipx::{Address, BROADCAST, Header, NO_CHECKSUM, framing, packet_type, socket};
use lanlab_wire::ncp::envelope::{Envelope, kind};
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_wire::xns;
use lanlab_wire::{nbipx, nmpi, rip, sap};

const MACS: [Mac; 2] = [Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2])];
const STRANGER: Mac = Mac([2, 0, 0, 0, 0, 9]);
const SECOND_NS: u64 = 1_000_000_000;
/// NetWare's diagnostics, watchdog and echo, and XNS's routing, echo and errors among them.
const SOCKETS: [u16; 16] = [
    1, 2, 3, 0x451, 0x452, 0x453, 0x455, 0x456, 0x550, 0x551, 0x552, 0xbbc, 0x4000, 0x4001, 0x4002,
    0x4003,
];
/// Names of both, and one that no station has.
const NAMES: [&str; 3] = ["ONE", "TWO", "NOBODY"];

/// A sequence of numbers without any pattern (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn octets(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most + 1)).map(|_| self.below(256) as u8).collect()
    }

    fn name(&mut self) -> Name {
        let kind = self.one_of(&[suffix::SERVER, 0]);
        Name::new(self.one_of(&NAMES), kind).unwrap()
    }

    /// What a program at some socket understands, or nothing at all.
    fn payload(&mut self) -> (u8, Vec<u8>) {
        let mut data = Vec::new();
        let name = self.name();
        let kind = match self.below(10) {
            0 => {
                sap::emit_query(self.below(2) == 0, self.one_of(&[4, 0x640, 0xffff]), &mut data);
                packet_type::EXCHANGE
            }
            1 => {
                let entries = vec![rip::Entry::asked(rip::ANY_NETWORK)];
                rip::Packet { is_response: self.below(2) == 0, entries }.emit(&mut data);
                packet_type::RIP
            }
            2 => {
                let kind = self.one_of(&[
                    kind::CREATE,
                    kind::REQUEST,
                    kind::DESTROY,
                    kind::REPLY,
                    kind::BUSY,
                ]);
                let (sequence, connection, task) = (self.below(3) as u8, self.below(3) as u16, 1);
                Envelope { kind, sequence, connection, task }.emit(&mut data);
                data.extend(self.octets(8));
                packet_type::NCP
            }
            3 => {
                let command = self.one_of(&[
                    nmpi::Command::Claim,
                    nmpi::Command::Query,
                    nmpi::Command::Found,
                ]);
                let kind = nmpi::kind::MACHINE;
                nmpi::Header { command, kind, message: 7, name, source: name }.emit(&mut data);
                self.one_of(&[packet_type::EXCHANGE, packet_type::PROPAGATED])
            }
            4 => {
                let command = self.one_of(&[nbipx::NameCommand::Find, nbipx::NameCommand::Claim]);
                nbipx::NamePacket { flags: 0, command, name }.emit(&mut data);
                self.one_of(&[packet_type::EXCHANGE, packet_type::PROPAGATED])
            }
            5 => {
                let sign = self.one_of(b"?YN");
                data.extend([1, sign]);
                packet_type::EXCHANGE
            }
            6 => {
                data.extend([0, self.one_of(&[1, 2])]);
                data.extend(self.octets(20));
                xns::packet_type::ECHO
            }
            7 => {
                data.extend([0, 0, 0, 7, 0, 0]);
                data.extend(name.0);
                xns::packet_type::EXCHANGE
            }
            8 => {
                data.extend(self.octets(60));
                self.one_of(&[
                    0,
                    xns::packet_type::ERROR,
                    xns::packet_type::SEQUENCED,
                    packet_type::NCP,
                ])
            }
            _ => {
                data.extend(self.octets(60));
                packet_type::EXCHANGE
            }
        };
        (kind, data)
    }

    /// A frame that seems to come from one of both, or from a stranger.
    fn frame(&mut self) -> Vec<u8> {
        let from = self.one_of(&[MACS[0], MACS[1], STRANGER]);
        let to = self.one_of(&[MACS[0], MACS[1], Mac::BROADCAST]);
        let mut frame = Vec::new();
        if self.below(5) == 0 {
            // LLC: any command or response, to NetBIOS, to all SAPs, or to the station.
            let control = self.one_of(&[
                0x03, 0x13, 0x7f, 0x6f, 0x43, 0x53, 0xe3, 0xf3, 0xaf, 0xbf, 0x0f, 0x1f, 0x63, 0x87,
                0x97, 0x01, 0x05, 0x00,
            ]);
            let mut pdu = vec![
                self.one_of(&[0xf0, 0x00, 0xff]),
                self.one_of(&[0xf0, 0xf1, 0x04, 0x00]),
                control,
            ];
            pdu.extend(self.octets(40));
            let header = Ethernet { destination: to, source: from, framing: Framing::Llc };
            header.emit(pdu.len(), &mut frame).unwrap();
            frame.extend(pdu);
            return frame;
        }
        let (kind, data) = self.payload();
        let node = |mac: Mac| if mac == Mac::BROADCAST { BROADCAST } else { mac.0 };
        let [asking, asked] = [(); 2].map(|()| self.one_of(&SOCKETS));
        let source =
            Address { network: 0, node: self.one_of(&[node(from), BROADCAST]), socket: asking };
        let destination = Address { network: 0, node: node(to), socket: asked };
        let header = Header { checksum: NO_CHECKSUM, hops: 0, kind, destination, source };
        if self.below(3) == 0 {
            let header = Header { checksum: 0, ..header };
            xns::framing::emit((to, from), xns::framing::ETHERNET_II, &header, &data, &mut frame)
                .unwrap();
        } else {
            let framing = self.one_of(&framing::ALL);
            framing::emit((to, from), framing, &header, &data, &mut frame).unwrap();
        }
        frame
    }
}

/// Two stations with one node for each carrier. A node's number says which station it belongs to.
struct Hub {
    nodes: Vec<(usize, Node)>,
    now: Instant,
    frames: u64,
}

impl Hub {
    fn new() -> Self {
        let node = |at: usize, kind: CarrierKind| {
            let name = Name::new(NAMES[at], suffix::SERVER).unwrap();
            let config = NodeConfig::new(MACS[at], name, WINDOWS_NT, kind);
            let mut node = Node::new(&config, Instant::ZERO);
            node.listen();
            (at, node)
        };
        let of_station = |at| CarrierKind::ALL.iter().map(move |kind| node(at, *kind));
        let nodes = [0, 1].into_iter().flat_map(of_station).collect();
        let mut hub = Self { nodes, now: Instant::ZERO, frames: 0 };
        hub.rest(60 * SECOND_NS);
        hub
    }

    fn sent(&mut self) -> Vec<(usize, Vec<u8>)> {
        let (mut message, mut all) = (vec![], vec![]);
        for (at, node) in &mut self.nodes {
            while node.poll_event(&mut message).is_some() {}
            let mut frame = Vec::new();
            while node.poll_transmit(self.now, &mut frame) {
                all.push((*at, frame.clone()));
            }
        }
        self.frames += all.len() as u64;
        all
    }

    /// Bring what is sent to the other, until nothing is. Gives how often something was sent.
    fn rounds(&mut self) -> usize {
        for round in 0.. {
            let sent = self.sent();
            if sent.is_empty() || round == 20 {
                return round;
            }
            for (from, frame) in sent {
                self.hears(1 - from, &frame);
            }
        }
        unreachable!()
    }

    fn hears(&mut self, station: usize, frame: &[u8]) {
        for (_, node) in self.nodes.iter_mut().filter(|(at, _)| *at == station) {
            node.handle_frame(self.now, frame);
        }
    }

    /// Let time pass, with all that is due in it.
    fn rest(&mut self, for_ns: u64) {
        let end = self.now.plus_nanos(for_ns);
        loop {
            self.rounds();
            let next = self.nodes.iter().filter_map(|(_, node)| node.poll_timeout()).min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
            self.nodes.iter_mut().for_each(|(_, node)| node.handle_timeout(self.now));
        }
        self.now = end;
    }
}

fn forge(packets: u64, seed: u64) -> (u64, usize) {
    let (mut hub, mut numbers) = (Hub::new(), Numbers(seed));
    let (mut answered, mut longest) = (0, 0);
    for number in 0..packets {
        // Announcements and timers of before are over.
        hub.rest(SECOND_NS / 50);
        let frame = numbers.frame();
        for station in 0..2 {
            hub.hears(station, &frame);
        }
        let rounds = hub.rounds();
        // A link that is rejected is set up anew or ended by a command (IEEE 802.2, 7.6), which has its response.
        let is_reject = frame[16..].first() == Some(&0x87) && frame[12] < 6;
        let most = if is_reject { 2 } else { 1 };
        assert!(rounds <= most, "packet {number} is answered {rounds} times: {frame:02x?}");
        answered += u64::from(rounds > 0);
        longest = longest.max(if is_reject { 0 } else { rounds });
    }
    // What sessions of strangers still ask for is over in time.
    hub.rest(3_600 * SECOND_NS);
    let before = hub.frames;
    hub.rest(60 * SECOND_NS);
    assert!(hub.frames - before <= 20, "{} frames in a minute of rest", hub.frames - before);
    (answered, longest)
}

#[test]
fn replies_are_never_answered() {
    let (answered, longest) = forge(100_000, 11);
    assert!(answered > 5_000, "{answered} of 100,000 forged packets were answered");
    assert_eq!(longest, 1);
}

/// Of SAP and RIP questions a second, each station answers a hundred.
#[test]
fn server_and_route_queries_get_at_most_100_answers_per_second() {
    let mut hub = Hub::new();
    for (own, kind) in [(socket::SAP, packet_type::EXCHANGE), (socket::RIP, packet_type::RIP)] {
        let mut data = Vec::new();
        if own == socket::SAP {
            sap::emit_query(true, sap::FILE_SERVER, &mut data);
        } else {
            let entries = vec![rip::Entry::asked(rip::ANY_NETWORK)];
            rip::Packet { is_response: false, entries }.emit(&mut data);
        }
        let source = Address { network: 0, node: STRANGER.0, socket: 0x4003 };
        let destination = Address { network: 0, node: BROADCAST, socket: own };
        let header = Header { checksum: NO_CHECKSUM, hops: 0, kind, destination, source };
        let mut frame = Vec::new();
        let ways = (Mac::BROADCAST, STRANGER);
        framing::emit(ways, framing::ALL[0], &header, &data, &mut frame).unwrap();
        let before = hub.frames;
        for _ in 0..3_000 {
            hub.hears(0, &frame);
            hub.sent();
        }
        assert_eq!(hub.frames - before, 100);
    }
}
