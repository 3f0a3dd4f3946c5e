//! Servers that hear one framing only, as period stacks do: they are found in each framing.

use lanlab_stack::node::{CarrierKind, Node, NodeConfig, Peer as Called, StationConfig};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing};
use lanlab_wire::ipx::framing;

use super::exchange::{Peer, requests};
use crate::segment::{Program as _, mac, name};

const SECOND_NS: u64 = 1_000_000_000;
const CARRIERS: [CarrierKind; 3] = [CarrierKind::Ipx, CarrierKind::Nbipx, CarrierKind::Ncp];

struct Station {
    node: Node,
    program: Peer,
    hears: Option<Framing>,
}

/// Stations on a segment without delay.
struct Stations {
    now: Instant,
    carrier: CarrierKind,
    all: Vec<Station>,
}

impl Stations {
    fn new(carrier: CarrierKind) -> Self {
        Self { now: Instant::ZERO, carrier, all: vec![] }
    }

    fn boot_client(&mut self) -> usize {
        self.boot(None, None)
    }

    /// A server that is given its framing and network, and hears nothing else, boots now.
    fn boot(&mut self, framing: Option<Framing>, network: Option<u32>) -> usize {
        let index = self.all.len();
        let carriers = self.carrier;
        let config = NodeConfig::new(mac(index), name(index), WINDOWS_NT, carriers);
        let station = StationConfig { framing, network, ..config.station };
        let mut node = Node::new(&NodeConfig { station, ..config }, self.now);
        if framing.is_some() {
            node.listen();
        }
        self.all.push(Station { node, program: Peer::default(), hears: framing });
        self.settle();
        index
    }

    fn settle(&mut self) {
        let (mut frame, mut message) = (vec![], vec![]);
        let mut frames = vec![];
        for (from, Station { node, program, .. }) in self.all.iter_mut().enumerate() {
            while let Some(event) = node.poll_event(&mut message) {
                program.handle(self.now, node, event, &mut message);
            }
            while node.poll_transmit(self.now, &mut frame) {
                frames.push((from, frame.clone()));
            }
        }
        let is_over = frames.is_empty();
        for (from, octets) in frames {
            let (_, framing) = framing::packet(&Frame::parse(&octets).unwrap()).unwrap();
            for (to, station) in self.all.iter_mut().enumerate() {
                if to != from && station.hears.is_none_or(|only| only == framing) {
                    station.node.handle_frame(self.now, &octets);
                }
            }
        }
        if !is_over {
            self.settle();
        }
    }

    fn pass(&mut self, seconds: u64) {
        let end = self.now.plus_nanos(seconds * SECOND_NS);
        let next = |all: &[Station]| all.iter().filter_map(|one| one.node.poll_timeout()).min();
        while let Some(at) = next(&self.all).filter(|at| *at <= end) {
            self.now = at;
            for station in &mut self.all {
                station.node.handle_timeout(at);
            }
            self.settle();
        }
        self.now = end;
    }

    /// The client calls a server, and is answered by it within its three questions.
    fn calls(&mut self, client: usize, server: usize) {
        let is_smb = self.carrier == CarrierKind::Ipx;
        let caller = &mut self.all[client];
        caller.program = Peer::default();
        if is_smb {
            caller.program.to_ask = requests([]);
        }
        let to = Called::Name(name(server));
        let id = caller.node.open(self.now, to);
        self.settle();
        self.pass(3);
        let (client, answered) = (&self.all[client], usize::from(is_smb));
        assert_eq!(client.program.opened, Some(id), "{:?} {server}", self.carrier);
        assert_eq!(client.program.answers.len(), answered, "{:?} {server}", self.carrier);
        assert_eq!(self.all[server].program.accepted.len(), 1, "{:?} {server}", self.carrier);
        let counts = client.node.counts();
        let number = |key| counts.iter().find(|one| one.0 == key).unwrap().1;
        let keys = ["network_disputes", "other_address_packets", "information_sent_again"];
        assert_eq!(keys.map(number), [0; 3], "{:?} {server}", self.carrier);
    }
}

#[test]
fn a_late_server_is_found_in_any_framing() {
    for carrier in CARRIERS {
        for used in framing::ALL {
            let mut stations = Stations::new(carrier);
            let client = stations.boot_client();
            stations.pass(20);
            let server = stations.boot(Some(used), Some(7));
            stations.pass(20);
            stations.calls(client, server);
        }
    }
}

#[test]
fn servers_on_two_framings_are_called_in_turn() {
    for carrier in CARRIERS {
        for one in framing::ALL {
            for other in framing::ALL.into_iter().filter(|other| *other != one) {
                let mut stations = Stations::new(carrier);
                let client = stations.boot_client();
                let first = stations.boot(Some(one), Some(7));
                stations.pass(5);
                let second = stations.boot(Some(other), Some(8));
                stations.pass(5);
                stations.calls(client, first);
                stations.calls(client, second);
                let third = stations.boot(Some(one), Some(7));
                stations.pass(5);
                stations.calls(client, third);
            }
        }
    }
}

#[test]
fn a_silent_server_is_found_in_a_framing_nobody_else_uses() {
    for carrier in CARRIERS {
        let mut stations = Stations::new(carrier);
        let silent = stations.boot(Some(framing::SNAP), Some(7));
        stations.pass(20);
        let client = stations.boot_client();
        let heard = stations.boot(Some(framing::RAW_802_3), Some(8));
        stations.pass(5);
        stations.calls(client, heard);
        stations.calls(client, silent);
    }
}

#[test]
fn queries_for_a_silent_server_are_repeated_in_every_framing() {
    let mut stations = Stations::new(CarrierKind::Nbipx);
    stations.boot_client();
    stations.pass(20);
    let (mut now, node) = (stations.now, &mut stations.all[0].node);
    node.open(now, Called::Name(name(5)));
    let (mut frame, mut asked) = (vec![], vec![]);
    for _ in 0..3 {
        let mut framings = vec![];
        while node.poll_transmit(now, &mut frame) {
            framings.push(framing::packet(&Frame::parse(&frame).unwrap()).unwrap().1);
        }
        asked.push(framings);
        now = node.poll_timeout().unwrap();
        node.handle_timeout(now);
    }
    assert_eq!(asked, [&[framing::IEEE_802_2][..], &framing::ALL, &framing::ALL]);
}
