//! The toy next to NetBEUI: a node has only the configured carrier.

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Mac};
use lanlab_wire::ipx;
use lanlab_wire::netbios_name::{Name, suffix};

use super::{SOCKET, Toy};
use crate::carrier::CarrierFacts;
use crate::nbf::Station;
use crate::node::{
    CarrierKind, Event, NameEvent, Node, NodeConfig, Peer, Readiness, SessionId, StationConfig, Why,
};
use crate::profile::WINDOWS_NT;

const NETWORK: u32 = 0x0a0b_0c0d;
const TOY: Framing = Framing::Type(0x88b5);

fn mac(end: usize) -> Mac {
    Mac([2, 0, 0, 0, 0, end as u8 + 1])
}

fn name(end: usize) -> Name {
    Name::new(["HERE", "THERE"][end], suffix::SERVER).unwrap()
}

fn address(end: usize) -> Peer {
    Peer::Ipx(ipx::Address { network: NETWORK, node: mac(end).0, socket: SOCKET })
}

/// Two connected nodes, run until they are idle.
struct Pair {
    now: Instant,
    nodes: [Node; 2],
    sent: [Vec<Vec<u8>>; 2],
    events: [Vec<(Event, Vec<u8>)>; 2],
}

impl Pair {
    fn new(carrier: CarrierKind) -> Self {
        let node = |end: usize| {
            let config = NodeConfig::new(mac(end), name(end), WINDOWS_NT, carrier);
            let network = (end == 0).then_some(NETWORK);
            let station = StationConfig { framing: Some(TOY), network, ..config.station };
            Node::new(&NodeConfig { station, ..config }, Instant::ZERO)
        };
        let mut nodes = [node(0), node(1)];
        nodes[1].listen();
        let mut pair = Self {
            now: Instant::ZERO,
            nodes,
            sent: Default::default(),
            events: Default::default(),
        };
        pair.run();
        pair
    }

    fn run(&mut self) {
        for _ in 0..1000 {
            if self.exchange() {
                continue;
            }
            // Ignore the polls of idle links, which follow after half a minute.
            let next = self.nodes.iter().filter_map(Node::poll_timeout).min();
            let Some(next) = next.filter(|next| next.nanos_since(Instant::ZERO) < 20_000_000_000)
            else {
                return;
            };
            self.now = self.now.max(next);
            self.nodes.iter_mut().for_each(|node| node.handle_timeout(next));
        }
        panic!("the nodes do not come to rest");
    }

    /// Pass on all frames and events. Returns whether there were any.
    fn exchange(&mut self) -> bool {
        let mut is_any = false;
        for end in 0..2 {
            let (mut frame, mut message) = (Vec::new(), Vec::new());
            while self.nodes[end].poll_transmit(self.now, &mut frame) {
                self.nodes[1 - end].handle_frame(self.now, &frame);
                self.sent[end].push(frame.clone());
                is_any = true;
            }
            while let Some(event) = self.nodes[end].poll_event(&mut message) {
                self.events[end].push((event, std::mem::take(&mut message)));
                is_any = true;
            }
        }
        is_any
    }

    fn talk(&mut self, to: Peer) -> SessionId {
        let id = self.nodes[0].open(self.now, to);
        self.run();
        self.nodes[0].send(self.now, id, b"hello").unwrap();
        self.run();
        id
    }

    fn said(&self, end: usize, event: &Event) -> bool {
        self.events[end].iter().any(|(one, _)| one == event)
    }

    fn messages(&self, end: usize) -> Vec<&[u8]> {
        let messages =
            self.events[end].iter().filter(|(event, _)| matches!(event, Event::Message(_)));
        messages.map(|(_, message)| &message[..]).collect()
    }

    fn accepted(&self) -> Vec<(SessionId, CarrierFacts, Peer, Peer)> {
        let accepted = self.events[1].iter().filter_map(|(event, _)| match *event {
            Event::Accepted { session, facts, called, calling, .. } => {
                Some((session, facts, called, calling))
            }
            _ => None,
        });
        accepted.collect()
    }
}

fn is_toy(frame: &[u8]) -> bool {
    Frame::parse(frame).unwrap().header.framing == TOY
}

#[test]
fn a_node_with_one_carrier_has_no_other_one() {
    let mut pair = Pair::new(CarrierKind::Toy);
    assert_eq!(pair.nodes[1].readiness(), Readiness::Waiting, "no network yet");
    let id = pair.talk(address(1));
    assert_eq!(pair.nodes[1].readiness(), Readiness::Ready);
    assert!(pair.sent.iter().flatten().all(|frame| is_toy(frame)));
    assert_eq!(pair.messages(1), [b"hello"]);
    let [(accepted, facts, called, calling)] = pair.accepted()[..] else { panic!() };
    assert_eq!((facts, called, calling), (super::FACTS, address(1), address(0)));
    assert!(pair.nodes[0].machine::<Station>().is_none());

    pair.nodes[1].pause(accepted);
    pair.nodes[0].send(pair.now, id, b"held").unwrap();
    pair.run();
    assert_eq!(pair.messages(1).len(), 1);
    pair.nodes[1].resume(accepted);
    pair.run();
    assert_eq!(pair.messages(1), [&b"hello"[..], b"held"]);
    let kinds =
        ["foreign_frames", "malformed_frames", "unknown_sap_frames", "unknown_socket_packets"];
    let stray = kinds.map(|kind| (kind, 0));
    assert_eq!(pair.nodes[1].counts(), [&stray[..], &[("toy_messages", 2)]].concat());
    pair.nodes[0].close(pair.now, id);
    pair.run();
    assert!(pair.said(0, &Event::Ended(id, Why::Closed)));
    assert!(pair.said(1, &Event::Ended(accepted, Why::ByPeer)));
}

#[test]
fn a_node_claims_its_name_and_is_ready_when_its_carrier_is() {
    let mut pair = Pair::new(CarrierKind::Nbf);
    assert!(pair.said(1, &Event::Name(NameEvent::Claimed(name(1)))));
    assert_eq!(pair.nodes.each_ref().map(Node::readiness), [Readiness::Ready; 2]);
    assert!(pair.nodes[0].machine::<Toy>().is_none() && pair.nodes[0].nbf().is_some());
    pair.talk(Peer::Name(name(1)));
    assert_eq!(pair.messages(1), [b"hello"]);
}

#[test]
fn an_address_of_another_family_ends_the_session() {
    for (carrier, to) in [(CarrierKind::Toy, Peer::Name(name(1))), (CarrierKind::Nbf, address(1))] {
        let mut pair = Pair::new(carrier);
        let id = pair.nodes[0].open(pair.now, to);
        pair.run();
        assert!(pair.said(0, &Event::Ended(id, Why::AddressFamily)), "{carrier:?}");
    }
}

#[test]
fn each_carrier_parses_its_own_server_address() {
    assert_eq!(CarrierKind::Nbf.server("THERE"), Ok(Peer::Name(name(1))));
    let Ok(Peer::Ipx(found)) = CarrierKind::Toy.server("020000000002") else { panic!() };
    assert_eq!(found.node, mac(1).0);
    let refused = CarrierKind::Nbf.server("A-NAME-THAT-IS-TOO-LONG").unwrap_err();
    assert!(refused.message.starts_with("`A-NAME-THAT-IS-TOO-LONG` is no NetBIOS name: "));
    assert!(CarrierKind::Toy.server("THERE").is_err());
}

#[test]
fn carriers_are_found_by_their_names() {
    for &kind in CarrierKind::ALL {
        assert_eq!(CarrierKind::by_name(kind.name()), Some(kind));
    }
    assert_eq!(CarrierKind::by_name("tcp"), None);
}

#[test]
fn carriers_know_whether_they_use_ipx() {
    let on_ipx = CarrierKind::ALL.iter().filter(|kind| kind.is_on_ipx()).copied();
    let expected = [CarrierKind::Ipx, CarrierKind::Nbipx, CarrierKind::Ncp];
    assert_eq!(on_ipx.collect::<Vec<_>>(), expected);
}
