//! Framing and network: found, as configured, and what is counted of packets that are not ours.

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, Node, NodeConfig, StationConfig};
use lanlab_stack::profile;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Mac};
use lanlab_wire::ipx::{self, Address, BROADCAST, Header, NO_CHECKSUM, framing, socket};
use lanlab_wire::smb1::command;
use lanlab_wire::{rip, sap};

use super::exchange::{Peer, READY, open, requests};
use crate::segment::{Segment, mac, name};

const ROUTER: Mac = Mac([2, 0, 0, 0, 0, 99]);

fn node_with(station: usize, framing: Option<Framing>, network: Option<u32>) -> Node {
    node_over(CarrierKind::Ipx, station, framing, network)
}

fn node_over(
    carrier: CarrierKind,
    station: usize,
    framing: Option<Framing>,
    network: Option<u32>,
) -> Node {
    let config = NodeConfig::new(mac(station), name(station), profile::WINDOWS_NT, carrier);
    let station = StationConfig { framing, network, ..config.station };
    Node::new(&NodeConfig { station, ..config }, Instant::ZERO)
}

fn frames_of(node: &mut Node, now: Instant) -> Vec<Vec<u8>> {
    let (mut frames, mut frame) = (vec![], vec![]);
    while node.poll_transmit(now, &mut frame) {
        frames.push(frame.clone());
    }
    frames
}

fn read(frame: &[u8]) -> (Header, Vec<u8>, Framing) {
    let frame = Frame::parse(frame).unwrap();
    let (packet, framing) = framing::packet(&frame).unwrap();
    let (header, data) = Header::parse(packet).unwrap();
    (header, data.to_vec(), framing)
}

fn packet(framing: Framing, header: &Header, data: &[u8]) -> Vec<u8> {
    let mut frame = vec![];
    framing::emit((mac(0), Mac(header.source.node)), framing, header, data, &mut frame).unwrap();
    frame
}

fn from_router(network: u32, socket: u16) -> Header {
    let source = Address { network, node: ROUTER.0, socket };
    let destination = Address { network, node: mac(0).0, socket };
    Header { checksum: NO_CHECKSUM, hops: 0, kind: 1, destination, source }
}

#[test]
fn a_station_probes_every_framing_and_uses_the_answered_one() {
    for used in framing::ALL {
        let mut node = node_with(0, None, None);
        let asked: Vec<_> =
            frames_of(&mut node, Instant::ZERO).iter().map(|one| read(one)).collect();
        assert_eq!(asked.iter().map(|one| one.2).collect::<Vec<_>>(), framing::ALL);
        let all =
            rip::Packet { is_response: false, entries: vec![rip::Entry::asked(rip::ANY_NETWORK)] };
        assert!(asked.iter().all(|one| rip::Packet::parse(&one.1).as_ref() == Ok(&all)));
        let mut answer = vec![];
        let entries = vec![rip::Entry { network: 9, hops: 1, ticks: 2 }];
        rip::Packet { is_response: true, entries }.emit(&mut answer);
        let frame = packet(used, &from_router(0x17, socket::RIP), &answer);
        node.handle_frame(Instant::from_nanos(1_000_000), &frame);
        let mut claims = vec![];
        while let Some(at) = node.poll_timeout() {
            node.handle_timeout(at);
            claims.extend(frames_of(&mut node, at).iter().map(|one| read(one)));
        }
        // After the questions three claims, with the number of the network.
        let claims: Vec<_> = claims
            .into_iter()
            .filter(|one| one.0.destination.socket == socket::SMB_NAMES)
            .collect();
        assert_eq!(claims.len(), 3);
        for (header, _, framing) in claims {
            assert_eq!((framing, header.kind), (used, ipx::packet_type::PROPAGATED));
            assert_eq!((header.source.network, header.destination.network), (0x17, 0x17));
            assert_eq!(header.destination.node, BROADCAST);
        }
    }
}

#[test]
fn configured_framing_and_network_are_neither_probed_nor_changed() {
    let mut node = node_with(0, Some(framing::RAW_802_3), Some(7));
    let sent = frames_of(&mut node, Instant::ZERO);
    assert_eq!(read(&sent[0]).0.destination.socket, socket::SMB_NAMES);
    assert_eq!(read(&sent[0]).0.source.network, 7);
    assert_eq!(read(&sent[0]).2, framing::RAW_802_3);
    // A neighbour says another number.
    let other = Header {
        destination: Address { network: 0, ..from_router(8, socket::RIP).destination },
        ..from_router(8, socket::RIP)
    };
    node.handle_frame(Instant::ZERO, &packet(framing::IEEE_802_2, &other, &[0, 2]));
    let counts = node.counts();
    assert!(counts.contains(&("network_disputes", 1)), "{counts:?}");
}

#[test]
fn stations_in_different_framings_reach_each_other() {
    let all = [None].into_iter().chain(framing::ALL.map(Some));
    for one in all.clone() {
        for other in all.clone() {
            let client = (node_with(0, one, None), Peer::asking(requests([command::WRITE])));
            let server = (node_with(1, other, None), Peer::default());
            let mut segment = Segment::of(Topology::Cable, vec![client, server], 1);
            segment.with(1, |_, node, _| node.listen());
            segment.run_until(READY);
            open(&mut segment, 0, 1);
            segment.run_until(READY.plus_nanos(1_000_000_000));
            assert_eq!(segment.program(0).answers, [7, 14], "{one:?} {other:?}");
            assert_eq!(segment.counted(0, "information_sent_again"), 0);
        }
    }
}

#[test]
fn foreign_packets_are_counted_by_reason_and_not_forwarded() {
    let mut node = node_with(0, Some(framing::ETHERNET_II), Some(7));
    node.listen();
    frames_of(&mut node, Instant::ZERO);
    let good = Header { kind: 4, ..from_router(7, socket::SMB_NAMES) };
    let to = |destination| Header { destination, ..good };
    let cases = [
        ("hops_exceeded", Header { hops: 16, ..good }),
        ("other_address_packets", to(Address { network: 8, ..good.destination })),
        ("other_address_packets", to(Address { node: mac(5).0, ..good.destination })),
        ("unknown_socket_packets", to(Address { socket: socket::NCP, ..good.destination })),
        ("unreadable_packets", good),
    ];
    for (key, header) in cases {
        let before = node.counts();
        node.handle_frame(Instant::ZERO, &packet(framing::ETHERNET_II, &header, &[0; 10]));
        let number = |counts: &[(&str, u64)]| counts.iter().find(|one| one.0 == key).unwrap().1;
        assert_eq!(number(&node.counts()), number(&before) + 1, "{key}");
        assert_eq!(frames_of(&mut node, Instant::ZERO).len(), 0, "{key}");
    }
    // Longer than its frame.
    let mut frame = packet(framing::ETHERNET_II, &good, &[0; 10]);
    frame[16..18].copy_from_slice(&500_u16.to_be_bytes());
    node.handle_frame(Instant::ZERO, &frame);
    assert_eq!(node.stray_counts().malformed_frames, 1);
}

#[test]
fn a_server_advertises_only_itself() {
    let mut node = node_with(0, Some(framing::ETHERNET_II), Some(7));
    let asked = |is_nearest, kind| {
        let mut data = vec![];
        sap::emit_query(is_nearest, kind, &mut data);
        packet(framing::ETHERNET_II, &Header { kind: 4, ..from_router(7, socket::SAP) }, &data)
    };
    let answers = |node: &mut Node, is_nearest, kind| {
        frames_of(node, Instant::ZERO);
        node.handle_frame(Instant::ZERO, &asked(is_nearest, kind));
        frames_of(node, Instant::ZERO)
    };
    assert!(answers(&mut node, false, sap::WINDOWS_SERVER).is_empty(), "it does not listen");
    node.listen();
    for (is_nearest, kind) in
        [(false, sap::WINDOWS_SERVER), (true, sap::WINDOWS_SERVER), (false, sap::ANY_SERVER)]
    {
        let sent = answers(&mut node, is_nearest, kind);
        let (header, data, _) = read(&sent[0]);
        assert_eq!((sent.len(), header.destination.node), (1, ROUTER.0));
        let Ok(sap::Packet::Response { is_nearest: found, servers }) = sap::Packet::parse(&data)
        else {
            panic!("no response")
        };
        let servers: Vec<_> = servers.iter().collect();
        let address = Address { network: 7, node: mac(0).0, socket: socket::SMB_SERVER };
        assert_eq!((found, servers.len()), (is_nearest, 1));
        assert_eq!((servers[0].name.as_str(), servers[0].address), ("STATION0", address));
    }
    for kind in [sap::FILE_SERVER, 7] {
        assert!(answers(&mut node, true, kind).is_empty(), "{kind}");
    }
    // Who asks for networks gets no answer of a station.
    let mut all = vec![];
    rip::Packet { is_response: false, entries: vec![rip::Entry::asked(7)] }.emit(&mut all);
    node.handle_frame(
        Instant::ZERO,
        &packet(framing::ETHERNET_II, &from_router(7, socket::RIP), &all),
    );
    assert!(frames_of(&mut node, Instant::ZERO).is_empty());
}
