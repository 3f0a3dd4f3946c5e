//! Both ends by hand: what a client sends to a server that keeps to nothing, and what a server asks a client that says
//! nothing, by their exact times.

use lanlab_stack::node::{CarrierKind, Event, NotSent, Peer, SessionId, Why};
use lanlab_stack::profile::netware::NETWARE_3;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Address, Header, NO_CHECKSUM, framing, packet_type, socket};
use lanlab_wire::ncp::burst::{
    Accepted, Fragment, Header as BurstHeader, Limits, Offer, Packet, flag,
};
use lanlab_wire::ncp::envelope::{Envelope, Reply, kind, status};
use lanlab_wire::ncp::function;
use lanlab_wire::netbios_name::{Name, suffix};
use lanlab_wire::{rip, sap};

use super::pair::{READY, node};
use crate::by_hand::{self, Carried};
use crate::segment::mac;

const OTHER: Mac = Mac([2, 0, 0, 0, 1, 1]);
const NETWORK: u32 = 0x17;
const CONNECTION: u16 = 5;

/// A packet that was sent, and to which adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    to: Mac,
    header: Header,
    data: Vec<u8>,
}

enum Ncp {}

impl Carried for Ncp {
    const KIND: CarrierKind = CarrierKind::Ncp;
    type Packet = Sent;

    fn read(frame: &Frame<'_>) -> Option<Sent> {
        let (header, data) = Header::parse(framing::packet(frame).unwrap().0).unwrap();
        Some(Sent { to: frame.header.destination, header, data: data.to_vec() })
    }
}

type Hand = by_hand::Hand<Ncp>;

fn address(node: Mac, socket: u16) -> Address {
    Address { network: NETWORK, node: node.0, socket }
}

impl Hand {
    fn station(index: usize) -> Self {
        let mut node = node(index, NETWARE_3, Some(framing::RAW_802_3));
        node.handle_timeout(READY);
        let mut hand = Self::of(node, READY);
        hand.sent();
        hand.events.clear();
        hand
    }

    fn hear(
        &mut self,
        from: Mac,
        (source, destination): (Address, Address),
        data: &[u8],
    ) -> Vec<Sent> {
        let kind = packet_type::NCP;
        let header = Header { checksum: NO_CHECKSUM, hops: 0, kind, destination, source };
        let mut frame = vec![];
        let to = Mac(destination.node);
        framing::emit((to, from), framing::RAW_802_3, &header, data, &mut frame).unwrap();
        self.hear_frame(&frame)
    }

    /// What is sent until a time after now, each with its time after now, ms.
    fn sent_during(&mut self, milliseconds: u64) -> Vec<(u64, Sent)> {
        let sent = self.until(milliseconds).into_iter();
        sent.map(|(at_ns, one)| (at_ns / 1_000_000, one)).collect()
    }
}

/// A client that has asked for a connection, and its packet.
fn calling() -> (Hand, SessionId, Sent) {
    let mut hand = Hand::station(0);
    let to = Peer::Ipx(address(OTHER, 0));
    let id = hand.node.open(hand.now, to);
    let sent = hand.sent();
    assert_eq!((sent.len(), sent[0].to), (1, OTHER));
    assert_eq!(sent[0].header.destination, address(OTHER, socket::NCP));
    let (envelope, data) = Envelope::parse(&sent[0].data).unwrap();
    let expected = Envelope { kind: kind::CREATE, sequence: 0, connection: 0xffff, task: 1 };
    assert_eq!((envelope, data), (expected, &[0][..]));
    (hand, id, sent[0].clone())
}

fn reply(kind: u16, sequence: u8, connection: u16, codes: [u8; 2], data: &[u8]) -> Vec<u8> {
    let envelope = Envelope { kind, sequence, connection, task: 1 };
    let mut packet = vec![];
    Reply { envelope, completion: codes[0], status: codes[1] }.emit(&mut packet);
    packet.extend_from_slice(data);
    packet
}

fn open() -> (Hand, SessionId, Address) {
    let (mut hand, id, create) = calling();
    let created = reply(kind::REPLY, 0, CONNECTION, [0, 0], b"");
    let own = create.header.source;
    let said = hand.hear(OTHER, (address(OTHER, socket::NCP), own), &created);
    assert!(said.is_empty());
    assert!(matches!(hand.events[..], [Event::Opened(found, _)] if found == id));
    hand.events.clear();
    (hand, id, own)
}

fn request(sequence: u8) -> Envelope {
    Envelope { kind: kind::REQUEST, sequence, connection: CONNECTION, task: 1 }
}

fn envelope(sent: &Sent) -> Envelope {
    Envelope::parse(&sent.data).unwrap().0
}

#[test]
fn a_connection_request_gets_a_number_or_a_refusal() {
    for (connection, codes, expected) in [
        (CONNECTION, [0, 0], None),
        (CONNECTION, [0x96, 0], Some(Why::NoResources)),
        (0xffff, [0, 0], Some(Why::Protocol)),
        (CONNECTION, [0, status::BAD_CONNECTION], Some(Why::ByPeerAbnormally)),
        (CONNECTION, [0, status::GOING_DOWN], Some(Why::ByPeerAbnormally)),
        (CONNECTION, [0, 0x02], None),
    ] {
        let (mut hand, id, create) = calling();
        assert_eq!(hand.node.send(hand.now, id, &[1]), Err(NotSent::NoSession));
        let packet = reply(kind::REPLY, 0, connection, codes, b"");
        let own = create.header.source;
        hand.hear(OTHER, (address(OTHER, socket::NCP), own), &packet);
        assert_eq!(hand.ended.clone(), Vec::from_iter(expected), "{connection} {codes:?}");
    }
}

#[test]
fn only_a_reply_to_the_open_request_is_accepted() {
    let (mut hand, id, own) = open();
    let server = (address(OTHER, socket::NCP), own);
    hand.node.send(hand.now, id, &[20, 1, 2]).unwrap();
    hand.node.send(hand.now, id, &[21]).unwrap();
    let sent = hand.sent();
    assert_eq!((sent.len(), envelope(&sent[0])), (1, request(1)), "one at a time");
    assert_eq!(sent[0].data[6..], [20, 1, 2]);
    let wrong = [
        (OTHER, server, reply(kind::REPLY, 2, CONNECTION, [0, 0], b"x")),
        (OTHER, server, reply(kind::REPLY, 1, 6, [0, 0], b"x")),
        // Of another station, and of another socket.
        (
            mac(3),
            (address(mac(3), socket::NCP), own),
            reply(kind::REPLY, 1, CONNECTION, [0, 0], b"x"),
        ),
        (OTHER, (address(OTHER, 0x999), own), reply(kind::REPLY, 1, CONNECTION, [0, 0], b"x")),
    ];
    let before = hand.counted("information_discarded");
    for (from, ends, packet) in wrong {
        assert!(hand.hear(from, ends, &packet).is_empty() && hand.events.is_empty());
    }
    assert_eq!(hand.counted("information_discarded") - before, 4);
    assert!(hand.hear(OTHER, server, &[0x33]).is_empty());
    assert_eq!(hand.counted("unreadable_packets"), 1);
    // The next one goes at once. What the first says comes with its completion code.
    let said = hand.hear(OTHER, server, &reply(kind::REPLY, 1, CONNECTION, [0x89, 0], b"x"));
    assert_eq!((said.len(), envelope(&said[0])), (1, request(2)));
    assert_eq!(hand.events, [Event::Message(id), Event::Room(id)]);
    hand.hear(OTHER, server, &reply(kind::REPLY, 1, CONNECTION, [0, 0], b"x"));
    assert_eq!(hand.events.len(), 2, "a late copy");
    let ended = reply(kind::REPLY, 2, CONNECTION, [0, status::GOING_DOWN], b"");
    hand.hear(OTHER, server, &ended);
    assert_eq!(hand.ended.clone(), [Why::ByPeerAbnormally]);
}

/// Waits in ms of a request in a network whose answers take no time: 0.1 s, doubled up to 4 s.
fn waits(count: usize) -> Vec<u64> {
    let mut times = vec![0];
    let mut wait = 100;
    while times.len() < count {
        times.push(times.last().unwrap() + wait);
        wait = 4_000.min(2 * wait);
    }
    times
}

#[test]
fn requests_are_sent_20_times_and_disconnects_3_times() {
    let (mut hand, id, own) = open();
    hand.node.send(hand.now, id, &[20]).unwrap();
    assert_eq!(hand.sent().len(), 1);
    let again = hand.sent_during(100_000);
    let expected = waits(21);
    assert_eq!(again.iter().map(|one| one.0).collect::<Vec<_>>(), expected[1..20]);
    assert!(again.iter().all(|one| envelope(&one.1) == request(1)));
    assert_eq!(
        (hand.ended.clone(), hand.counted("information_sent_again")),
        (vec![Why::NoAnswer], 19)
    );
    assert_eq!(hand.counted("information_sent"), 2, "the first asked for the connection");

    // A server that executes repeated requests again would make a second key.
    let (mut hand, id, _) = open();
    hand.node.send(hand.now, id, &[function::GET_KEY.number, 0, 1, 0x17]).unwrap();
    hand.sent();
    let again = hand.sent_during(3_000);
    assert_eq!(again.iter().map(|one| one.0).collect::<Vec<_>>(), [1_000, 3_000]);

    let (mut hand, id, _) = open();
    hand.node.close(hand.now, id);
    let sent = hand.sent();
    let destroy = Envelope { kind: kind::DESTROY, ..request(1) };
    assert_eq!((sent.len(), envelope(&sent[0])), (1, destroy));
    assert_eq!(hand.node.send(hand.now, id, &[20]), Err(NotSent::NoSession));
    let again = hand.sent_during(699);
    assert_eq!(again.iter().map(|one| one.0).collect::<Vec<_>>(), [100, 300]);
    assert!(hand.ended.is_empty());
    hand.sent_during(1);
    assert_eq!(hand.ended.clone(), [Why::Closed]);

    // A server that works has the request: it is asked as if it were sent for the first time.
    let (mut hand, id, _) = open();
    let server = (address(OTHER, socket::NCP), own);
    hand.node.send(hand.now, id, &[20]).unwrap();
    hand.sent();
    hand.sent_during(300);
    hand.hear(OTHER, server, &reply(kind::BUSY, 1, CONNECTION, [0, 0], b""));
    assert_eq!(hand.counted("working_received"), 1);
    let again = hand.sent_during(200_000);
    assert_eq!((again.len(), again[0].0), (19, 400));
    // One that has answered the end is not asked any more.
    let (mut hand, id, own) = open();
    hand.node.close(hand.now, id);
    hand.sent();
    let server = (address(OTHER, socket::NCP), own);
    hand.hear(OTHER, server, &reply(kind::REPLY, 1, CONNECTION, [0, 0], b""));
    assert_eq!((hand.ended.clone(), hand.node.poll_timeout()), (vec![Why::Closed], None));
}

#[test]
fn each_of_254_sessions_has_two_sockets() {
    let mut hand = Hand::station(0);
    for _ in 0..254 {
        hand.node.open(hand.now, Peer::Ipx(address(OTHER, 0)));
    }
    let sent = hand.sent();
    assert!(hand.ended.is_empty());
    let mut sockets: Vec<_> = sent.iter().map(|one| one.header.source.socket).collect();
    assert!(sockets.windows(2).all(|two| two[1] == two[0] + 2), "{sockets:x?}");
    assert!((0x4000..0x8000).contains(&sockets[0]) && sockets[253] < 0x7fff);
    sockets.dedup();
    assert_eq!(sockets.len(), 254);
    hand.node.open(hand.now, Peer::Ipx(address(OTHER, 0)));
    hand.sent();
    assert_eq!(hand.ended.clone(), [Why::NoResources]);
}

#[test]
fn burst_offers_carry_the_session_numbers() {
    let (mut hand, id, own) = open();
    let mut message = vec![];
    let offer = Offer { packet: 1_400, ..Offer::default() };
    function::OFFER_BURST.emit(&mut message, |out| offer.emit(out));
    hand.node.send(hand.now, id, &message).unwrap();
    let sent = hand.sent();
    let expected = Offer {
        connection: u32::from(own.socket) << 16 | u32::from(CONNECTION),
        socket: own.socket,
        ..offer
    };
    assert_eq!(Offer::parse(&sent[0].data[7..]), Ok(expected));
    assert_eq!(sent[0].data[6], message[0]);
}

/// Novell's watchdog: a question at the socket behind that of the session, for its connection.
#[test]
fn clients_answer_only_the_watchdog_of_their_server() {
    let (mut hand, _, own) = open();
    let to = Address { socket: own.socket + 1, ..own };
    let from = |node| address(node, 0x4001);
    let question = [CONNECTION as u8, b'?'];
    for (node, to, data) in [
        (mac(3), to, &question[..]),
        (OTHER, to, &[9, b'?']),
        (OTHER, to, &[CONNECTION as u8, b'Y']),
        (OTHER, Address { socket: own.socket + 2, ..own }, &question),
    ] {
        assert!(hand.hear(node, (from(node), to), data).is_empty(), "{node:?} {data:?}");
    }
    assert_eq!(hand.node.stray_counts().unknown_socket_packets, 1);
    let said = hand.hear(OTHER, (from(OTHER), to), &question);
    assert_eq!((said.len(), &said[0].data[..]), (1, &[CONNECTION as u8, b'Y'][..]));
    assert_eq!((said[0].header.source, said[0].header.destination), (to, from(OTHER)));
    assert!(hand.hear(OTHER, (from(OTHER), to), &[1]).is_empty());
    assert_eq!(hand.counted("watchdog_questions_answered"), 1);
    assert_eq!(hand.counted("unreadable_packets"), 1);
}

/// Novell's RIP: who knows the way to a network answers, and packets go there.
#[test]
fn remote_servers_are_reached_through_the_router_that_knows_the_route() {
    let far = Address { network: 0x99, node: [0, 0, 0, 0, 0, 1], socket: socket::NCP };
    let mut hand = Hand::station(0);
    hand.node.open(hand.now, Peer::Ipx(far));
    let mut asked = hand.sent().into_iter().map(|one| (0, one)).collect::<Vec<_>>();
    asked.extend(hand.sent_during(10_000));
    let question = rip::Packet { is_response: false, entries: vec![rip::Entry::asked(0x99)] };
    for (index, (at, one)) in asked.iter().enumerate() {
        assert_eq!((*at, one.to), (500 * index as u64, Mac::BROADCAST));
        assert_eq!(
            (one.header.destination.socket, one.header.kind),
            (socket::RIP, packet_type::RIP)
        );
        assert_eq!(rip::Packet::parse(&one.data).as_ref(), Ok(&question));
    }
    assert_eq!((asked.len(), hand.ended.clone()), (6, vec![Why::NoAnswer]));

    let route = |network, hops| {
        let mut data = vec![];
        let entries = vec![rip::Entry { network, hops, ticks: 2 }];
        rip::Packet { is_response: true, entries }.emit(&mut data);
        data
    };
    let mut hand = Hand::station(0);
    hand.node.open(hand.now, Peer::Ipx(far));
    hand.sent();
    let ends = (address(OTHER, socket::RIP), address(mac(0), socket::RIP));
    // The way to another network, and one that is too long.
    for data in [route(0x98, 1), route(0x99, 16)] {
        assert!(hand.hear(OTHER, ends, &data).is_empty());
    }
    let said = hand.hear(OTHER, ends, &route(0x99, 15));
    assert_eq!((said.len(), said[0].to, said[0].header.destination), (1, OTHER, far));
    assert_eq!(envelope(&said[0]).kind, kind::CREATE);
    assert!(hand.hear(OTHER, ends, &route(0x99, 1)).is_empty(), "it is known");
}

#[test]
fn a_server_is_found_by_type_and_case_insensitive_name() {
    let server = |kind, name: &str, hops| {
        let server = sap::Server { kind, name: name.into(), address: address(OTHER, 0x451), hops };
        let mut data = vec![];
        sap::emit_response(false, &[server], &mut data);
        data
    };
    let ends = (address(OTHER, socket::SAP), address(mac(0), socket::SAP));
    let mut hand = Hand::station(0);
    let to = Peer::Name(Name::new("FS1", suffix::SERVER).unwrap());
    hand.node.open(hand.now, to);
    assert_eq!(hand.sent()[0].data, [0, 1, 0, 4], "all servers of files are asked");
    for data in [server(7, "FS1", 1), server(4, "FS2", 1), server(4, "FS1", 16)] {
        assert!(hand.hear(OTHER, ends, &data).is_empty());
    }
    let said = hand.hear(OTHER, ends, &server(4, "fs1", 15));
    assert_eq!((said.len(), envelope(&said[0]).kind), (1, kind::CREATE));
    assert_eq!(said[0].header.destination, address(OTHER, 0x451));
}

/// A server, and a client at a socket of another station that has a connection.
fn served() -> (Hand, (Address, Address), u16) {
    let mut hand = Hand::station(1);
    hand.node.listen();
    hand.sent();
    let to = address(mac(1), socket::NCP);
    let ends = (address(OTHER, 0x4003), to);
    let mut create = vec![];
    Envelope { kind: kind::CREATE, sequence: 0, connection: 0xffff, task: 1 }.emit(&mut create);
    let said = hand.hear(OTHER, ends, &create);
    let connection = Reply::parse(&said[0].data).unwrap().0.envelope.connection;
    (hand, ends, connection)
}

#[test]
fn watchdog_packets_start_after_296_6_s_and_repeat_every_59_3_s() {
    let (mut hand, ends, connection) = served();
    let is_watchdog = |one: &(u64, Sent)| one.1.header.source.socket == 0x4001;
    let asked: Vec<_> = hand.sent_during(1_000_000).into_iter().filter(is_watchdog).collect();
    let times: Vec<_> = asked.iter().map(|one| one.0).collect();
    assert_eq!(times, (0..10).map(|index| 296_600 + 59_300 * index).collect::<Vec<_>>());
    for (_, one) in &asked {
        assert_eq!(one.header.destination, Address { socket: 0x4004, ..ends.0 });
        assert_eq!(one.data, [connection as u8, b'?']);
    }
    assert_eq!(
        (hand.ended.clone(), hand.counted("watchdog_questions_sent")),
        (vec![Why::NoAnswer], 10)
    );

    // Its answer is one for its own connection, from the socket behind its own.
    let (mut hand, _, connection) = served();
    let to = address(mac(1), 0x4001);
    let yes = [connection as u8, b'Y'];
    let wrong = [
        (OTHER, 0x4003, yes),
        (OTHER, 0x4004, [connection as u8 + 1, b'Y']),
        (OTHER, 0x4004, [connection as u8, b'?']),
        (mac(3), 0x4004, yes),
    ];
    hand.sent_during(296_600);
    for (node, socket, data) in wrong {
        hand.hear(node, (address(node, socket), to), &data);
    }
    assert_eq!(hand.counted("information_discarded"), 4);
    assert_eq!(hand.sent_during(59_300).iter().filter(|one| is_watchdog(one)).count(), 1);
    hand.hear(OTHER, (address(OTHER, 0x4004), to), &yes);
    assert_eq!(hand.counted("information_discarded"), 4);
    assert_eq!(hand.sent_during(296_599).iter().filter(|one| is_watchdog(one)).count(), 0);
    assert_eq!(hand.sent_during(1).iter().filter(|one| is_watchdog(one)).count(), 1);
    hand.hear(OTHER, (address(OTHER, 0x4004), to), &[1]);
    assert_eq!(hand.counted("unreadable_packets"), 1);
}

#[test]
fn a_server_advertises_itself_every_minute() {
    let (mut hand, ..) = served();
    let is_sap = |one: &(u64, Sent)| one.1.header.source.socket == socket::SAP;
    let said: Vec<_> =
        hand.sent_during(185_000).into_iter().filter(is_sap).map(|one| one.0).collect();
    assert_eq!(said, [0, 60_000, 120_000, 180_000]);
}

#[test]
fn a_request_repeated_during_execution_gets_a_busy_reply() {
    let (mut hand, ends, connection) = served();
    let mut packet = vec![];
    let envelope = Envelope { connection, ..request(1) };
    envelope.emit(&mut packet);
    packet.extend([20, 0]);
    assert!(hand.hear(OTHER, ends, &packet).is_empty());
    let said = hand.hear(OTHER, ends, &packet);
    let (reply, _) = Reply::parse(&said[0].data).unwrap();
    assert_eq!((said.len(), reply.envelope), (1, Envelope { kind: kind::BUSY, ..envelope }));
    // The next request is not taken before this one is answered.
    let mut next = vec![];
    Envelope { connection, ..request(2) }.emit(&mut next);
    next.extend([20, 0]);
    assert!(hand.hear(OTHER, ends, &next).is_empty());
    let mut asked = hand.events.iter().filter_map(|event| match event {
        Event::Message(id) => Some(*id),
        _ => None,
    });
    let id = asked.next().unwrap();
    assert!(asked.next().is_none());
    assert_eq!(hand.node.send(hand.now, id, &[]), Err(NotSent::NoSession));
    assert_eq!(hand.node.send(hand.now, id, &vec![0; 1_600]), Err(NotSent::TooLong));
    hand.node.send(hand.now, id, &[7, 1, 2]).unwrap();
    assert_eq!(hand.node.send(hand.now, id, &[7]), Err(NotSent::NoSession), "it is answered");
    let said = hand.sent();
    let (answer, data) = Reply::parse(&said[0].data).unwrap();
    assert_eq!((answer.completion, data), (7, &[1, 2][..]));
    // One of a connection that there is not, or from another socket, is refused; the end is answered.
    for (from, connection) in [(ends.0, connection + 1), (address(OTHER, 0x4009), connection)] {
        let mut other = vec![];
        Envelope { connection, ..envelope }.emit(&mut other);
        other.extend([20, 0]);
        let said = hand.hear(OTHER, (from, ends.1), &other);
        assert_eq!(Reply::parse(&said[0].data).unwrap().0.status, status::BAD_CONNECTION);
    }
    assert_eq!(hand.counted("unknown_session_frames"), 2);
    let mut destroy = vec![];
    Envelope { kind: kind::DESTROY, sequence: 2, connection, task: 1 }.emit(&mut destroy);
    let said = hand.hear(OTHER, ends, &destroy);
    let (reply, _) = Reply::parse(&said[0].data).unwrap();
    assert_eq!((reply.envelope.kind, reply.completion, reply.status), (kind::REPLY, 0, 0));
    assert_eq!(hand.ended.clone(), [Why::ByPeer]);
    // What is no request is dropped, and so is all where nothing listens.
    let before = hand.counted("information_discarded");
    let mut none = vec![];
    Envelope { kind: kind::BUSY, ..envelope }.emit(&mut none);
    assert!(hand.hear(OTHER, ends, &none).is_empty());
    let mut deaf = Hand::station(1);
    assert!(deaf.hear(OTHER, ends, &destroy).is_empty());
    assert_eq!(hand.counted("information_discarded") - before, 1);
    assert_eq!(deaf.counted("information_discarded"), 1);
}

#[test]
fn connections_are_limited_to_127_per_station_and_254_in_all() {
    let mut hand = Hand::station(1);
    hand.node.listen();
    hand.sent();
    let to = address(mac(1), socket::NCP);
    let connect = |hand: &mut Hand, node: Mac, socket: u16| {
        let mut create = vec![];
        Envelope { kind: kind::CREATE, sequence: 0, connection: 0xffff, task: 1 }.emit(&mut create);
        let ends = (address(node, socket), to);
        let said = hand.hear(node, ends, &create);
        let (reply, _) = Reply::parse(&said[0].data).unwrap();
        if reply.completion == 0 {
            let mut packet = vec![];
            Envelope { connection: reply.envelope.connection, ..request(1) }.emit(&mut packet);
            packet.extend([20, 0]);
            hand.hear(node, ends, &packet);
        }
        (reply.completion, reply.envelope.connection)
    };
    let mut numbers = vec![];
    for index in 0..127 {
        for node in [OTHER, mac(3)] {
            let (code, number) = connect(&mut hand, node, 0x5000 + 2 * index);
            assert_eq!(code, 0, "{index}");
            numbers.push(number);
        }
    }
    assert_eq!(numbers, (1..255).collect::<Vec<u16>>());
    // Connections that are not used make room, one for each.
    for node in [OTHER, mac(4)] {
        assert_eq!(connect(&mut hand, node, 0x6000).0, 0);
    }
    assert_eq!((hand.ended.len(), hand.counted("crowded_out")), (2, 2));
}

#[test]
fn requests_and_replies_are_single_packets_and_repeats_within_10_s_duplicates() {
    let (mut hand, id, _) = open();
    // 1,500 octets without IPX's header of 30 and the 7 of a reply around a message.
    assert_eq!(hand.node.send(hand.now, id, &vec![20; 1_464]), Err(NotSent::TooLong));
    assert_eq!(hand.node.send(hand.now, id, &vec![20; 1_463]), Ok(()));
    for (after_ms, is_copy) in [(9_999, true), (10_000, false)] {
        let (mut hand, ends, connection) = served();
        let mut packet = vec![];
        Envelope { connection, ..request(1) }.emit(&mut packet);
        packet.extend([20, 0]);
        hand.hear(OTHER, ends, &packet);
        let id = hand.events.iter().find_map(|event| match event {
            Event::Message(id) => Some(*id),
            _ => None,
        });
        assert_eq!(hand.node.send(hand.now, id.unwrap(), &vec![0; 1_464]), Err(NotSent::TooLong));
        assert_eq!(hand.node.send(hand.now, id.unwrap(), &vec![0; 1_463]), Ok(()));
        hand.sent();
        hand.sent_during(after_ms);
        let mut create = vec![];
        Envelope { kind: kind::CREATE, sequence: 0, connection: 0xffff, task: 1 }.emit(&mut create);
        let said = hand.hear(OTHER, ends, &create);
        let again = Reply::parse(&said[0].data).unwrap().0.envelope;
        assert_eq!(again.connection == connection, is_copy, "{after_ms}");
        assert_eq!(hand.ended.is_empty(), is_copy);
        assert_eq!(hand.counted("answered_again"), u64::from(is_copy));
    }
}

/// Novell's RIP has 50 ways in a packet at most.
#[test]
fn a_route_is_found_among_many() {
    let far = Address { network: 0x99, node: [0, 0, 0, 0, 0, 1], socket: socket::NCP };
    let mut hand = Hand::station(0);
    hand.node.open(hand.now, Peer::Ipx(far));
    hand.sent();
    let networks = (0..49).map(|index| 0x1000 + index).chain([0x99]);
    let entries = networks.map(|network| rip::Entry { network, hops: 1, ticks: 2 });
    let mut data = vec![];
    rip::Packet { is_response: true, entries: entries.collect() }.emit(&mut data);
    let ends = (address(OTHER, socket::RIP), address(mac(0), socket::RIP));
    assert_eq!(hand.hear(OTHER, ends, &data).len(), 1);
}

/// A client with bursts that has sent one as its request.
fn bursting() -> (Hand, SessionId, (Address, Address), BurstHeader) {
    let (mut hand, id, own) = open();
    let mut message = vec![];
    function::OFFER_BURST.emit(&mut message, |out| {
        Offer { packet: 1_400, ..Offer::default() }.emit(out);
    });
    hand.node.send(hand.now, id, &message).unwrap();
    assert_eq!(hand.node.send(hand.now, id, &[0; 9]), Err(NotSent::TooLong), "not agreed yet");
    hand.sent();
    let mut accepted = vec![];
    Accepted { connection: 0x77, packet: 600 }.emit(&mut accepted);
    Limits { most_sent: 60_000, most_taken: 60_000 }.emit(&mut accepted);
    let server = (address(OTHER, socket::NCP), own);
    hand.hear(OTHER, server, &reply(kind::REPLY, 1, CONNECTION, [0, 0], &accepted));
    hand.events.clear();
    hand.node.send(hand.now, id, &[&[0][..], &[7; 600]].concat()).unwrap();
    let sent = hand.sent();
    let read: Vec<_> = sent.iter().map(|one| Packet::parse(&one.data).unwrap()).collect();
    let parts: Vec<_> = read.iter().map(|one| (one.header.offset, one.data.len())).collect();
    assert_eq!(parts, [(0, 534), (534, 66)], "600 octets a packet");
    let header = read[0].header;
    let ids = (header.source, header.destination, header.burst, header.ack);
    let source = u32::from(own.socket) << 16 | u32::from(CONNECTION);
    assert_eq!(ids, (source, 0x77, 0, 0));
    let answer = BurstHeader {
        source: 0x77,
        destination: source,
        burst: 0,
        ack: 1,
        total: 1_000,
        ..BurstHeader::default()
    };
    (hand, id, server, answer)
}

fn burst(header: BurstHeader, missing: &[Fragment], data: &[u8]) -> Vec<u8> {
    let mut octets = vec![];
    header.emit(missing, data, &mut octets);
    octets
}

#[test]
fn burst_replies_are_reassembled_and_foreign_packets_dropped() {
    let (mut hand, id, server, answer) = bursting();
    let before = hand.counted("information_discarded");
    for wrong in [
        BurstHeader { burst: 1, ..answer },
        BurstHeader { ack: 0, ..answer },
        BurstHeader { source: 0x78, ..answer },
        BurstHeader { destination: 1, ..answer },
    ] {
        assert!(hand.hear(OTHER, server, &burst(wrong, &[], &[1; 100])).is_empty());
    }
    assert_eq!(hand.counted("information_discarded") - before, 4);
    // A plain reply answers no burst.
    hand.hear(OTHER, server, &reply(kind::REPLY, 1, CONNECTION, [0, 0], b"x"));
    assert_eq!(hand.counted("information_discarded") - before, 5);
    assert!(hand.events.is_empty());
    // The server works still, and then misses the end of what was sent.
    let busy = BurstHeader { flags: flag::SYSTEM | flag::BUSY, total: 0, ..answer };
    assert!(hand.hear(OTHER, server, &burst(busy, &[], b"")).is_empty());
    assert_eq!(hand.counted("working_received"), 1);
    let missing = BurstHeader { flags: flag::SYSTEM | flag::MISSING, total: 0, ..answer };
    let list = [Fragment { offset: 534, length: 66 }];
    let sent = hand.hear(OTHER, server, &burst(missing, &list, b""));
    let again = Packet::parse(&sent[0].data).unwrap();
    assert_eq!((sent.len(), again.header.offset, again.data.len()), (1, 534, 66));
    assert_eq!(hand.counted("working_received"), 1);
    // Its answer has a gap, which is asked for when its end has come.
    let of = |offset, flags| BurstHeader { offset, flags, ..answer };
    for known in 0..2 {
        assert!(hand.hear(OTHER, server, &burst(of(0, 0), &[], &[1; 300])).is_empty());
        assert_eq!(hand.counted("information_discarded") - before, 5 + known);
    }
    let asked = hand.hear(OTHER, server, &burst(of(600, flag::END), &[], &[3; 400]));
    let list: Vec<_> = Packet::parse(&asked[0].data)
        .unwrap()
        .missing()
        .map(|one| (one.offset, one.length))
        .collect();
    assert_eq!((asked.len(), list), (1, vec![(300, 300)]));
    // Nothing comes: after 0.1 s it is asked for again.
    let again = hand.sent_during(100);
    assert_eq!((again.len(), again[0].0), (1, 100));
    assert_eq!(Packet::parse(&again[0].1.data).unwrap().header.flags, 0xc0);
    assert!(hand.hear(OTHER, server, &burst(of(300, flag::END), &[], &[2; 300])).is_empty());
    assert_eq!(hand.events, [Event::Message(id), Event::Room(id)]);
    assert!(hand.sent_during(1_000).is_empty(), "nothing is open");
    // The session may be given up by the server.
    let (mut hand, _, server, answer) = bursting();
    let abort = BurstHeader { flags: flag::ABORT, ..answer };
    hand.hear(OTHER, server, &burst(abort, &[], b""));
    assert_eq!(hand.ended.clone(), [Why::ByPeerAbnormally]);
    // Where nothing answers, the end of the burst is said again.
    let (mut hand, ..) = bursting();
    let again = hand.sent_during(100);
    let end = Packet::parse(&again[0].1.data).unwrap();
    assert_eq!((again.len(), end.header.offset, end.header.flags), (1, 534, flag::END));
    assert_eq!(hand.counted("information_sent_again"), 1);
}

#[test]
fn a_paused_session_gets_its_request_on_resume() {
    let (mut hand, ends, connection) = served();
    let accepted = hand.events.iter().find_map(|event| match event {
        Event::Accepted { session, .. } => Some(*session),
        _ => None,
    });
    let id = accepted.unwrap();
    let mut create = vec![];
    Envelope { kind: kind::CREATE, sequence: 0, connection: 0xffff, task: 1 }.emit(&mut create);
    hand.hear(mac(3), (address(mac(3), 0x4003), ends.1), &create);
    hand.node.pause(id);
    hand.events.clear();
    let mut packet = vec![];
    Envelope { connection, ..request(1) }.emit(&mut packet);
    packet.extend([20, 0]);
    hand.hear(OTHER, ends, &packet);
    assert!(hand.events.is_empty());
    hand.node.resume(id);
    hand.sent();
    assert_eq!(hand.events, [Event::Message(id)]);
    // The other one is not paused.
    let mut packet = vec![];
    Envelope { connection: connection + 1, ..request(1) }.emit(&mut packet);
    packet.extend([20, 0]);
    hand.hear(mac(3), (address(mac(3), 0x4003), ends.1), &packet);
    assert_eq!(hand.events.len(), 2);
    // Who is closed is no more, and the other one is.
    hand.node.close(hand.now, id);
    hand.sent();
    assert_eq!(hand.ended.clone(), [Why::Closed]);
    assert_eq!(hand.node.send(hand.now, id, &[0]), Err(NotSent::NoSession));
    let Event::Message(other) = hand.events[1] else { panic!("{:?}", hand.events) };
    assert_eq!(hand.node.send(hand.now, other, &[0]), Ok(()));
}
