//! Ends that say nothing, or not yet: repetitions, the sign of a server that works, and the watchdog.

use lanlab_stack::node::{CarrierKind, Event, Node, NodeConfig, Peer, Why};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_stack::profile::netware::{self, NETWARE_3};
use lanlab_stack::redirector::{Access, Call, Done, Redirector};
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Address, BROADCAST, Header, NO_CHECKSUM, framing, socket};
use lanlab_wire::sap;

use super::pair::{End, Pair, READY, Setting, node};
use crate::segment::{mac, name};

const SECOND_NS: u64 = 1_000_000_000;

fn begin(pair: &mut Pair, call: Call<'_>, seconds: u64) -> lanlab_stack::redirector::CallId {
    let id = pair.begin(call);
    pair.segment.run_until(pair.segment.now.plus_nanos(seconds * SECOND_NS));
    id
}

/// What a station says of its server, and to which node.
fn announced(node: &mut Node, now: Instant) -> Vec<([u8; 6], String, u16)> {
    let (mut frame, mut found) = (vec![], vec![]);
    while node.poll_transmit(now, &mut frame) {
        let frame = Frame::parse(&frame).unwrap();
        let (header, data) = Header::parse(framing::packet(&frame).unwrap().0).unwrap();
        let packet = sap::Packet::parse(data).ok().filter(|_| header.source.socket == socket::SAP);
        if let Some(sap::Packet::Response { servers, .. }) = packet {
            let to = header.destination.node;
            found.extend(servers.iter().map(|server| (to, server.name.clone(), server.hops)));
        }
    }
    found
}

#[test]
fn a_server_advertises_itself_and_its_shutdown() {
    for is_listening in [true, false] {
        let mut node = node(1, NETWARE_3, Some(framing::RAW_802_3));
        if is_listening {
            node.listen();
        }
        node.handle_timeout(READY);
        let said = |hops| (BROADCAST, "STATION1".to_owned(), hops);
        assert_eq!(announced(&mut node, READY), vec![said(1); usize::from(is_listening)]);
        node.leave();
        let goodbye = said(sap::GOING_DOWN_HOPS);
        assert_eq!(announced(&mut node, READY), vec![goodbye; usize::from(is_listening)]);
    }
}

#[test]
fn a_server_echoes_ping_packets() {
    let mut node = node(1, NETWARE_3, Some(framing::RAW_802_3));
    node.listen();
    node.handle_timeout(READY);
    announced(&mut node, READY);
    let address = |node, socket| Address { network: 0x17, node, socket };
    let (from, to) = (address([2, 0, 0, 0, 1, 1], 0x4005), address(mac(1).0, 0x4002));
    let header = Header { checksum: NO_CHECKSUM, hops: 0, kind: 4, destination: to, source: from };
    let (mut frame, macs) = (vec![], (mac(1), Mac(from.node)));
    framing::emit(macs, framing::RAW_802_3, &header, &[7; 1400], &mut frame).unwrap();
    node.handle_frame(READY, &frame);
    assert!(node.poll_transmit(READY, &mut frame));
    let frame = Frame::parse(&frame).unwrap();
    let (header, data) = Header::parse(framing::packet(&frame).unwrap().0).unwrap();
    assert_eq!((header.destination, header.source.socket, data), (from, to.socket, &[7; 1400][..]));
}

#[test]
fn a_busy_server_reports_it_and_executes_once() {
    let mut pair = Pair::new(&Setting::new(NETWARE_3));
    pair.serve(|_, _, serving| serving.is_slow = true);
    let id = begin(&mut pair, Call::MakeDirectory { path: "slow" }, 60);
    assert!(pair.client().ended.is_none());
    assert!(pair.counted(0, "working_received") > 10);
    assert_eq!(pair.counted(0, "working_received"), pair.counted(1, "answered_again"));
    pair.serve(|now, node, serving| {
        serving.is_slow = false;
        serving.work(now, node);
    });
    // Made twice, it would be there already.
    assert_eq!(pair.outcome(id).0, Ok(Done::Nothing));
}

#[test]
fn a_forever_busy_server_times_out_at_the_client_limit() {
    let mut pair = Pair::new(&Setting::new(NETWARE_3));
    pair.serve(|_, _, serving| serving.is_slow = true);
    begin(&mut pair, Call::Echo, 700);
    assert!(pair.client().ended.is_none());
    let (from, id) = (pair.segment.now, pair.id);
    pair.segment.with(0, |now, node, _| node.close(now, id));
    pair.segment.run_until(from.plus_nanos(700 * SECOND_NS));
    let (at, why) = pair.client().ended.unwrap();
    assert_eq!(why, Why::NoAnswer);
    assert!(at.nanos_since(from) <= 80 * SECOND_NS, "{at:?}");
}

#[test]
fn the_watchdog_keeps_only_clients_that_answer() {
    let mut pair = Pair::new(&Setting::new(NETWARE_3));
    let _ = pair.open("a", Access::Create).unwrap();
    assert_eq!(pair.server().files.open(), 1);
    pair.segment.run_until(pair.segment.now.plus_nanos(7_200 * SECOND_NS));
    assert!(pair.server().ended.is_empty() && pair.client().ended.is_none());
    assert_eq!(pair.counted(1, "watchdog_questions_sent"), 24);
    assert_eq!(pair.counted(0, "watchdog_questions_answered"), 24);
    pair.segment.faults.lost = 100;
    let from = pair.segment.now;
    pair.segment.run_while(
        from.plus_nanos(7_200 * SECOND_NS),
        |segment| matches!(segment.program(1), End::Server(one) if one.ended.is_empty()),
    );
    assert_eq!(pair.server().ended, [Why::NoAnswer]);
    // At most 296.6 s, then 10 × 59.3 s.
    let waited_s = pair.segment.now.nanos_since(from) / SECOND_NS;
    assert!((593..=890).contains(&waited_s), "{waited_s}");
    assert_eq!(pair.counted(1, "watchdog_questions_sent"), 34);
    assert_eq!(pair.server().files.open(), 0, "what it had open is closed");
    assert_eq!(pair.server().server.open_files(), 0);
    // Back again, it hears that there is no such connection.
    pair.segment.faults.lost = 0;
    begin(&mut pair, Call::Echo, 5);
    assert_eq!(pair.client().ended.map(|ended| ended.1), Some(Why::ByPeerAbnormally));
    assert_eq!(pair.counted(1, "unknown_session_frames"), 1);
}

fn sent(node: &mut Node, now: Instant) -> Vec<(Mac, u16, Vec<u8>)> {
    let (mut frame, mut found) = (vec![], vec![]);
    while node.poll_transmit(now, &mut frame) {
        let frame = Frame::parse(&frame).unwrap();
        let (header, data) = Header::parse(framing::packet(&frame).unwrap().0).unwrap();
        let to = (frame.header.destination, header.destination.socket);
        found.push((to.0, to.1, data.to_vec()));
    }
    found
}

#[test]
fn the_nearest_server_is_the_first_to_answer() {
    for netware in netware::ALL {
        let mut client = node(0, netware, Some(framing::RAW_802_3));
        client.handle_timeout(READY);
        let nearest = CarrierKind::Ncp.nearest().unwrap();
        client.open(READY, nearest);
        let question = (Mac::BROADCAST, socket::SAP, vec![0, 3, 0, 4]);
        assert_eq!(sent(&mut client, READY), [question]);
        let say = |client: &mut Node, index: usize, is_answer| {
            let address = |node, socket| Address { network: 0x17, node, socket };
            let own = address(mac(index).0, socket::SAP);
            let (kind, name) = (sap::FILE_SERVER, format!("FS{index}"));
            let server = sap::Server { kind, name, address: address(own.node, 0x451), hops: 1 };
            let mut data = vec![];
            sap::emit_response(is_answer, &[server], &mut data);
            let destination = address(mac(0).0, socket::SAP);
            let header =
                Header { checksum: NO_CHECKSUM, hops: 0, kind: 4, destination, source: own };
            let macs = (mac(0), mac(index));
            let mut frame = vec![];
            framing::emit(macs, framing::RAW_802_3, &header, &data, &mut frame).unwrap();
            client.handle_frame(READY, &frame);
            sent(client, READY)
        };
        // An announcement may be of a server far away, which a router passes on.
        assert_eq!(say(&mut client, 3, false), []);
        let asked = say(&mut client, 2, true);
        assert_eq!(asked.len(), 1);
        assert_eq!((asked[0].0, asked[0].1), (mac(2), socket::NCP));
        assert!(asked[0].2.starts_with(&[0x11, 0x11]));
        assert_eq!(say(&mut client, 4, true), []);
    }
}

#[test]
fn nearest_server_searches_are_bounded_and_ncp_only() {
    let mut client = node(0, NETWARE_3, Some(framing::RAW_802_3));
    client.handle_timeout(READY);
    client.open(READY, Peer::Nearest);
    let (mut questions, mut now) = (0, READY);
    while client.poll_timeout().is_some_and(|at| at.nanos_since(READY) < 60 * SECOND_NS) {
        questions += sent(&mut client, now).iter().filter(|one| one.1 == socket::SAP).count();
        now = client.poll_timeout().unwrap();
        client.handle_timeout(now);
    }
    assert_eq!((questions, now.nanos_since(READY)), (6, 3 * SECOND_NS));
    let ended = std::iter::from_fn(|| client.poll_event(&mut vec![]));
    let ended = ended.filter(|event| matches!(event, Event::Ended(_, Why::NameNotFound)));
    assert_eq!(ended.count(), 1);
    for kind in CarrierKind::ALL.iter().filter(|kind| **kind != CarrierKind::Ncp) {
        assert_eq!(kind.nearest(), None);
        let config = NodeConfig::new(mac(0), name(0), WINDOWS_NT, *kind);
        let mut node = Node::new(&config, Instant::ZERO);
        let id = node.open(Instant::ZERO, Peer::Nearest);
        let mut events = std::iter::from_fn(|| node.poll_event(&mut vec![]));
        assert!(events.any(|event| event == Event::Ended(id, Why::AddressFamily)), "{kind:?}");
    }
}

#[test]
fn a_client_that_restarts_on_its_socket_gets_a_new_connection() {
    let mut pair = Pair::new(&Setting::new(NETWARE_3));
    assert_eq!(pair.client().client.as_ref().unwrap().facts().unwrap().depth, 1);
    let create = pair.first_packet_of(0, 0x1111);
    // A late copy changes nothing.
    pair.segment.with(1, |now, node, _| node.handle_frame(now, &create));
    pair.done(Call::Echo);
    assert!(pair.server().ended.is_empty());
    // Long after, it is that of a client that was switched off and on.
    pair.segment.run_until(pair.segment.now.plus_nanos(11 * SECOND_NS));
    pair.segment.with(1, |now, node, _| node.handle_frame(now, &create));
    assert_eq!(pair.server().ended, [Why::ByPeer]);
    assert_eq!(pair.server().sessions.len(), 2);
}
