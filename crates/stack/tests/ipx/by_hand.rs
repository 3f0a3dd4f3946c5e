//! SMB straight on IPX, and IPX itself, by hand: waits by their exact times, bounds, and what is not for a station.

use lanlab_stack::node::{
    CarrierKind, Node, NodeConfig, NotSent, Peer as Called, SessionId, StationConfig, Why,
};
use lanlab_stack::profile;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Address, Header as Packet, NO_CHECKSUM, framing, socket};
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::multiplexed::Response;
use lanlab_wire::smb1::read_raw;
use lanlab_wire::smb1::status::Status;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::{rip, sap};

use super::exchange::request;
use super::hostile::{Server, error, numbered};
use crate::by_hand::{CLIENT, Carried, Hand, OTHER};
use crate::segment::{mac, name};

fn counted(node: &Node, key: &str) -> u64 {
    node.counts().iter().find(|(known, _)| *known == key).unwrap().1
}

#[test]
fn clients_are_dropped_10_minutes_after_silence_or_10_s_after_leaving() {
    for (last, longest_ms, why) in [
        (command::READ, 600_000, Why::NoAnswer),
        (command::LOGOFF_ANDX, 10_000, Why::ByPeer),
        (command::TREE_DISCONNECT, 10_000, Why::ByPeer),
    ] {
        let mut server = Server::new();
        let connection = server.session(CLIENT);
        server.hear(CLIENT, &numbered(last, 2, connection, 0));
        server.answer();
        server.pass(longest_ms - 1);
        assert!(server.ended.is_empty());
        server.pass(1);
        assert_eq!(server.ended, [why]);
    }
    // One that waits for what is carried out is not forgotten.
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    server.hear(CLIENT, &numbered(command::WRITE, 2, connection, 1));
    server.pass(1_199_999);
    assert!(server.ended.is_empty());
    server.answer();
    server.pass(1);
    assert_eq!(server.ended.len(), 1);
    // Who has gone on after all stays.
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    server.hear(CLIENT, &numbered(command::LOGOFF_ANDX, 2, connection, 0));
    server.answer();
    server.hear(CLIENT, &numbered(command::READ, 3, connection, 0));
    server.answer();
    server.pass(599_999);
    assert!(server.ended.is_empty());
}

#[test]
fn sessions_are_limited_to_127_per_station_and_254_in_all() {
    let mut server = Server::new();
    let first = |server: &mut Server, from: Mac, socket: u16| {
        let source = Address { network: 0, node: from.0, socket };
        let destination = Address { network: 0, node: mac(0).0, socket: socket::SMB_SERVER };
        let header = Packet { checksum: NO_CHECKSUM, hops: 0, kind: 4, destination, source };
        let hear = |server: &mut Server, message: &[u8]| {
            let mut octets = vec![];
            framing::emit((mac(0), from), framing::IEEE_802_2, &header, message, &mut octets)
                .unwrap();
            server.hear_frame(&octets)
        };
        let before = server.sessions.len();
        let refused = hear(server, &request(command::NEGOTIATE, 1));
        if server.sessions.len() == before {
            assert_eq!(error(&refused[0]), (2, 0x5a));
            return false;
        }
        let answer = server.answer();
        let connection = u16::from_le_bytes([answer[0][18], answer[0][19]]);
        // Sessions that are not used make room.
        for number in 2..8 {
            hear(server, &numbered(command::READ, number, connection, 0));
            server.answer();
        }
        true
    };
    for index in 0..127 {
        assert!(first(&mut server, CLIENT, 0x4000 + index));
        assert!(first(&mut server, OTHER, 0x4000 + index));
    }
    assert!(!first(&mut server, CLIENT, 0x5000), "its own are all");
    assert!(!first(&mut server, Mac([2, 0, 0, 0, 0, 79]), 0x5000), "all are taken");
    assert_eq!((server.ended.len(), server.counted("crowded_out")), (0, 0));
}

#[test]
fn up_to_four_reply_messages_are_kept_and_resent() {
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    let echo = numbered(command::WRITE, 2, connection, 1);
    server.hear(CLIENT, &echo);
    let answers: Vec<_> = (0..6).flat_map(|_| server.answer()).collect();
    assert_eq!(answers.len(), 6);
    let again = server.hear(CLIENT, &echo);
    assert_eq!(again, answers[..4]);
    // An answer is a packet: one octet more than that is none.
    let (session, message) = (server.asked.unwrap(), server.received.last().unwrap());
    let header = Header::parse(message).unwrap().response(Status::success(0));
    let mut answer = vec![];
    Writer::begin(&mut answer, &header).empty();
    answer.resize(1_500 - 3 - 30, 0);
    assert_eq!(server.node.send(server.now, session, &answer), Ok(()));
    answer.push(0);
    assert_eq!(server.node.send(server.now, session, &answer), Err(NotSent::TooLong));
}

#[test]
fn drops_are_counted_by_reason() {
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    let discarded = |server: &Server| server.counted("information_discarded");
    // A number that leaves one out, a response, and the ninth request that is not answered.
    server.hear(CLIENT, &numbered(command::WRITE, 2, connection, 2));
    assert_eq!(discarded(&server), 1);
    let response = Header::request(command::WRITE, 0x80, 0).emit();
    server.hear(CLIENT, &response);
    assert_eq!(discarded(&server), 2);
    for number in 2..11 {
        server.hear(CLIENT, &numbered(command::READ, number, connection, 0));
    }
    assert_eq!((discarded(&server), server.received.len()), (3, 9));
    // What is carried out still is answered so.
    let said = server.hear(CLIENT, &numbered(command::READ, 5, connection, 0));
    assert_eq!((said.len(), error(&said[0])), (1, (2, 0x11)));
    server.hear(OTHER, &numbered(command::READ, 5, connection, 0));
    let keys = ["answered_again", "unknown_session_frames", "unreadable_packets"];
    assert_eq!(keys.map(|key| server.counted(key)), [1, 1, 0]);
    server.hear(OTHER, b"no SMB");
    assert_eq!(server.counted("unreadable_packets"), 1);
    // A paused session has eight requests wait.
    let mut server = Server::new();
    let connection = server.session(CLIENT);
    server.node.pause(server.sessions[0]);
    for number in 2..20 {
        server.hear(CLIENT, &numbered(command::NT_CANCEL, number, connection, 0));
    }
    assert_eq!((server.received.len(), discarded(&server)), (1, 10));
    server.node.resume(server.sessions[0]);
    server.drain();
    assert_eq!(server.received.len(), 1 + 8);
}

enum Asking {}

impl Carried for Asking {
    const KIND: CarrierKind = CarrierKind::Ipx;
    type Packet = (u16, Vec<u8>);

    /// The socket that it came from, and its message.
    fn read(frame: &Frame<'_>) -> Option<(u16, Vec<u8>)> {
        let (header, data) = Packet::parse(framing::packet(frame).unwrap().0).unwrap();
        (header.destination.socket == socket::SMB_SERVER)
            .then(|| (header.source.socket, data.to_vec()))
    }
}

struct Caller {
    hand: Hand<Asking>,
    id: SessionId,
    socket: u16,
}

const THEIRS: u16 = 0x77;

impl Caller {
    fn new() -> Self {
        let mut hand = Hand::new();
        let to = Called::Ipx(Address { network: 0, node: CLIENT.0, socket: 0 });
        let id = hand.node.open(hand.now, to);
        assert!(hand.sent().is_empty());
        assert_eq!(hand.sessions, [id]);
        Self { hand, id, socket: 0 }
    }

    /// One whose connection is open.
    fn connected() -> Self {
        let mut caller = Self::new();
        let first = caller.send(command::NEGOTIATE, 1);
        assert_eq!((first.len(), &first[0][18..22]), (1, &[0; 4][..]));
        assert!(caller.answer(CLIENT, &first[0], THEIRS, 0).is_empty());
        assert_eq!(caller.hand.received.len(), 1);
        caller.hand.received.clear();
        caller.hand.events.clear();
        caller
    }

    fn messages(&mut self, sent: Vec<(u16, Vec<u8>)>) -> Vec<Vec<u8>> {
        self.socket = sent.last().map_or(self.socket, |one| one.0);
        sent.into_iter().map(|one| one.1).collect()
    }

    fn sent(&mut self) -> Vec<Vec<u8>> {
        let sent = self.hand.sent();
        self.messages(sent)
    }

    fn send(&mut self, command: u8, number: u16) -> Vec<Vec<u8>> {
        self.hand.node.send(self.hand.now, self.id, &request(command, number)).unwrap();
        self.sent()
    }

    fn hear(&mut self, from: Mac, message: &[u8]) -> Vec<Vec<u8>> {
        let source = Address { network: 0, node: from.0, socket: socket::SMB_SERVER };
        let destination = Address { network: 0, node: mac(0).0, socket: self.socket };
        let header = Packet { checksum: NO_CHECKSUM, hops: 0, kind: 4, destination, source };
        let mut octets = vec![];
        framing::emit((mac(0), from), framing::IEEE_802_2, &header, message, &mut octets).unwrap();
        let sent = self.hand.hear_frame(&octets);
        self.messages(sent)
    }

    fn answer(&mut self, from: Mac, request: &[u8], connection: u16, code: u16) -> Vec<Vec<u8>> {
        let header = Header::parse(request).unwrap().response(Status::success(0));
        let mut message = vec![];
        Writer::begin(&mut message, &header).empty();
        message[18..20].copy_from_slice(&connection.to_le_bytes());
        message[20..22].copy_from_slice(&request[20..22]);
        if code != 0 {
            message[5] = 2;
            message[7..9].copy_from_slice(&code.to_le_bytes());
        }
        self.hear(from, &message)
    }

    /// What is sent until a time after now, each with its time after now, ms.
    fn pass(&mut self, milliseconds: u64) -> Vec<(u64, Vec<u8>)> {
        let sent = self.hand.until(milliseconds).into_iter();
        sent.map(|(at_ns, (_, message))| (at_ns / 1_000_000, message)).collect()
    }
}

/// Where nothing is measured a second, doubled up to four; ten times in all.
#[test]
fn a_request_is_sent_ten_times() {
    let mut caller = Caller::new();
    let first = caller.send(command::NEGOTIATE, 1);
    let again = caller.pass(34_999);
    let times: Vec<_> = again.iter().map(|one| one.0).collect();
    assert_eq!(times, [1_000, 3_000, 7_000, 11_000, 15_000, 19_000, 23_000, 27_000, 31_000]);
    assert!(again.iter().all(|one| one.1 == first[0]));
    assert!(caller.hand.ended.is_empty());
    caller.pass(1);
    assert_eq!(caller.hand.ended, [Why::NoAnswer]);
    assert_eq!(caller.hand.counted("information_sent_again"), 9);
    assert_eq!(caller.hand.counted("information_sent"), 1);
}

/// [MS-CIFS] 2.1.2.1: what changes something has the next number; what does not, none.
#[test]
fn replies_are_matched_to_numbered_requests() {
    let mut caller = Caller::connected();
    let numbers =
        |message: &[u8]| [18, 20].map(|at| u16::from_le_bytes([message[at], message[at + 1]]));
    let mut sent = vec![];
    for (command, number, sequence) in [
        (command::READ, 2, 0),
        (command::WRITE, 3, 1),
        (command::READ, 4, 0),
        (command::WRITE, 5, 2),
    ] {
        sent = caller.send(command, number);
        assert_eq!((sent.len(), numbers(&sent[0])), (1, [THEIRS, sequence]));
        if number < 5 {
            caller.answer(CLIENT, &sent[0], THEIRS, 0);
            assert_eq!(caller.hand.received.len(), usize::from(number) - 1);
        }
    }
    let events = caller.hand.events.len();
    // Of another station, with another process, number or connection, and none that answers: dropped.
    let write = sent.remove(0);
    let before = caller.hand.counted("information_discarded");
    caller.answer(OTHER, &write, THEIRS, 0);
    caller.answer(CLIENT, &write, THEIRS + 1, 0);
    caller.answer(CLIENT, &request(command::WRITE, 6), THEIRS, 0);
    let mut other_process = write.clone();
    other_process[26] ^= 1;
    caller.answer(CLIENT, &other_process, THEIRS, 0);
    caller.hear(CLIENT, &write);
    assert_eq!(caller.hand.counted("information_discarded") - before, 5);
    assert_eq!(caller.hand.events.len(), events);
    // A server that works is waited for as long again.
    caller.answer(CLIENT, &write, THEIRS, 0x11);
    assert_eq!((caller.hand.counted("working_received"), caller.hand.events.len()), (1, events));
    for (code, why) in [(0x10, Why::ByPeerAbnormally), (0x12, Why::NameNotFound)] {
        let mut caller = Caller::connected();
        let sent = caller.send(command::WRITE, 2);
        caller.answer(CLIENT, &sent[0], THEIRS, code);
        assert_eq!(caller.hand.ended, [why]);
    }
    for connection in [0, 0xffff] {
        let mut caller = Caller::new();
        let first = caller.send(command::NEGOTIATE, 1);
        caller.answer(CLIENT, &first[0], connection, 0);
        assert_eq!(caller.hand.ended, [Why::Protocol]);
    }
}

#[test]
fn a_silent_server_is_probed_after_four_minutes() {
    let mut caller = Caller::connected();
    let asked = caller.pass(240_000);
    assert_eq!((asked.len(), asked[0].0, asked[0].1[4]), (1, 240_000, command::ECHO));
    assert!(caller.answer(CLIENT, &asked[0].1, THEIRS, 0).is_empty());
    assert!(caller.hand.events.is_empty(), "the program sees nothing of it");
    assert!(caller.pass(239_999).is_empty());
    let asked = caller.pass(1);
    assert_eq!(asked.len(), 1);
    // A session that is closed while it is asked for ends with the answer.
    caller.hand.node.close(caller.hand.now, caller.id);
    assert!(caller.sent().is_empty() && caller.hand.ended.is_empty());
    caller.answer(CLIENT, &asked[0].1, THEIRS, 0);
    assert_eq!(caller.hand.ended, [Why::Closed]);
    let mut caller = Caller::connected();
    caller.hand.node.close(caller.hand.now, caller.id);
    caller.sent();
    assert_eq!(caller.hand.ended, [Why::Closed], "nothing is open");
}

#[test]
fn a_station_calls_up_to_254_servers_each_from_its_own_socket() {
    let mut caller = Caller::new();
    let to = Called::Ipx(Address { network: 0, node: CLIENT.0, socket: 0 });
    let mut sockets = vec![];
    for _ in 1..254 {
        caller.id = caller.hand.node.open(caller.hand.now, to);
        caller.send(command::NEGOTIATE, 1);
        sockets.push(caller.socket);
    }
    assert!(sockets.windows(2).all(|two| two[1] == two[0] + 1));
    assert!(caller.hand.ended.is_empty());
    caller.hand.node.open(caller.hand.now, to);
    caller.sent();
    assert_eq!(caller.hand.ended, [Why::NoResources]);
}

/// A node of NetWare that serves, with a network in itself; and what it sends to a packet.
fn served() -> (Node, Instant) {
    let carriers = CarrierKind::Ncp;
    let config = NodeConfig::new(mac(0), name(0), profile::WINDOWS_NT, carriers);
    let station =
        StationConfig { framing: Some(framing::RAW_802_3), network: Some(7), ..config.station };
    let mut node = Node::new(&NodeConfig { station, ..config }, Instant::ZERO);
    node.listen();
    while node.poll_transmit(Instant::ZERO, &mut vec![]) {}
    (node, Instant::ZERO)
}

fn hear(node: &mut Node, header: &Packet, data: &[u8]) -> Vec<(Packet, Vec<u8>)> {
    let mut frame = vec![];
    let from = Mac(header.source.node);
    framing::emit((mac(0), from), framing::RAW_802_3, header, data, &mut frame).unwrap();
    node.handle_frame(Instant::ZERO, &frame);
    let mut all = vec![];
    while node.poll_transmit(Instant::ZERO, &mut frame) {
        let frame = Frame::parse(&frame).unwrap();
        let (header, data) = Packet::parse(framing::packet(&frame).unwrap().0).unwrap();
        all.push((header, data.to_vec()));
    }
    all
}

fn to_socket(socket: u16) -> Packet {
    let source = Address { network: 7, node: CLIENT.0, socket: 0x4003 };
    let destination = Address { network: 7, node: mac(0).0, socket };
    Packet { checksum: NO_CHECKSUM, hops: 0, kind: 4, destination, source }
}

/// Novell's RIP: one hop and two ticks to the network in the server, for who asks for it or for all.
#[test]
fn a_server_advertises_only_its_internal_network() {
    let (mut node, _) = served();
    let mut data = vec![];
    sap::emit_query(true, sap::FILE_SERVER, &mut data);
    let said = hear(&mut node, &to_socket(socket::SAP), &data);
    let Ok(sap::Packet::Response { servers, is_nearest: true }) = sap::Packet::parse(&said[0].1)
    else {
        panic!("{said:?}")
    };
    let server = servers.iter().next().unwrap();
    let internal = server.address;
    assert_eq!((server.hops, internal.node, internal.socket), (1, [0, 0, 0, 0, 0, 1], socket::NCP));
    let ask = |node: &mut Node, networks: &[u32]| {
        let entries = networks.iter().map(|one| rip::Entry::asked(*one)).collect();
        let mut data = vec![];
        rip::Packet { is_response: false, entries }.emit(&mut data);
        hear(node, &to_socket(socket::RIP), &data)
    };
    let way = rip::Entry { network: internal.network, hops: 1, ticks: 2 };
    let expected = rip::Packet { is_response: true, entries: vec![way] };
    for networks in [&[internal.network][..], &[3, internal.network], &[rip::ANY_NETWORK]] {
        let said = ask(&mut node, networks);
        assert_eq!((said.len(), rip::Packet::parse(&said[0].1).as_ref()), (1, Ok(&expected)));
        assert_eq!(said[0].0.destination, to_socket(socket::RIP).source);
    }
    assert!(ask(&mut node, &[3, 7]).is_empty());
    // Its node on that network is the server's, and there is no other one.
    let echo = |node_number: [u8; 6], network| {
        let destination = Address { network, node: node_number, socket: 0x4002 };
        Packet { destination, ..to_socket(0x4002) }
    };
    assert_eq!(hear(&mut node, &echo(internal.node, internal.network), b"way").len(), 1);
    for (node_number, network) in
        [(mac(0).0, internal.network), ([0, 0, 0, 0, 0, 2], internal.network), (internal.node, 7)]
    {
        assert!(hear(&mut node, &echo(node_number, network), b"way").is_empty());
    }
    assert_eq!(counted(&node, "other_address_packets"), 3);
}

#[test]
fn packets_with_15_hops_are_accepted_and_frames_for_others_dropped() {
    let (mut node, now) = served();
    let echo = to_socket(0x4002);
    assert_eq!(hear(&mut node, &Packet { hops: 15, ..echo }, b"way").len(), 1);
    assert!(hear(&mut node, &Packet { hops: 16, ..echo }, b"way").is_empty());
    let mut good = vec![];
    framing::emit((mac(0), CLIENT), framing::RAW_802_3, &echo, b"way", &mut good).unwrap();
    let before = node.stray_counts().foreign_frames;
    for (at, address) in [(0, CLIENT), (6, mac(0)), (6, Mac([3, 0, 0, 0, 0, 1]))] {
        let mut other = good.clone();
        other[at..at + 6].copy_from_slice(&address.0);
        node.handle_frame(now, &other);
        assert!(!node.poll_transmit(now, &mut vec![]), "{address:?}");
    }
    assert_eq!(node.stray_counts().foreign_frames, before + 3);
    // Answers wait for the driver, up to 512.
    for _ in 0..515 {
        node.handle_frame(now, &good);
    }
    let sent = std::iter::from_fn(|| node.poll_transmit(now, &mut vec![]).then_some(())).count();
    assert_eq!((sent, counted(&node, "dropped_answers")), (512, 3));
}

/// Only a packet of a neighbour, which has passed no router, says the number of this network.
#[test]
fn the_network_number_is_learned_only_from_neighbours() {
    let learnt = |hops, from: Mac, network| {
        let Server { mut node, now, .. } = Server::new();
        let source = Address { network, node: CLIENT.0, socket: 9 };
        let destination = Address { network: 0, node: mac(0).0, socket: 9 };
        let header = Packet { checksum: NO_CHECKSUM, hops, kind: 4, destination, source };
        let mut frame = vec![];
        framing::emit((mac(0), from), framing::IEEE_802_2, &header, b"", &mut frame).unwrap();
        node.handle_frame(now, &frame);
        node.segment().unwrap().network
    };
    assert_eq!(learnt(0, CLIENT, 9), Some(9));
    assert_eq!([learnt(1, CLIENT, 9), learnt(0, OTHER, 9), learnt(0, CLIENT, 0)], [None; 3]);
}

/// [MS-CIFS] 3.2.4.14: of a read whose responses are lost, what has not come is asked for again.
#[test]
fn a_read_of_several_packets_requests_only_missing_fragments() {
    let mut caller = Caller::connected();
    let header = Header { pid: 1, mid: 2, ..Header::request(command::READ_MPX, 0, 0) };
    let asked = read_raw::Request {
        fid: 5,
        offset: 1_000,
        max_count: 300,
        min_count: 0,
        timeout_ms: 0,
        wide: false,
    };
    let mut message = vec![];
    asked.emit(&mut Writer::begin(&mut message, &header));
    caller.hand.node.send(caller.hand.now, caller.id, &message).unwrap();
    let sent = caller.sent();
    let read = |message: &[u8]| {
        let header = Header::parse(message).unwrap();
        assert_eq!(message[18..22], [THEIRS as u8, 0, 0, 0], "the connection, and no number");
        read_raw::Request::parse(&Block::first(&header, message).unwrap()).unwrap()
    };
    assert_eq!((sent.len(), read(&sent[0])), (1, asked));
    let response = |offset, data: &[u8]| {
        let header = header.response(Status::success(0));
        let (count, remaining) = (300, 0xffff);
        let mut message = vec![];
        Response { offset, count, remaining, data }.emit(&mut Writer::begin(&mut message, &header));
        message[18..20].copy_from_slice(&THEIRS.to_le_bytes());
        message
    };
    // The middle comes; then nothing for 0.1 s, and again 0.2 s.
    assert!(caller.hear(CLIENT, &response(1_100, &[1; 50])).is_empty());
    let again = caller.pass(300);
    let missing = read_raw::Request { max_count: 100, ..asked };
    let expected = vec![(100, missing), (300, missing)];
    assert_eq!(again.iter().map(|one| (one.0, read(&one.1))).collect::<Vec<_>>(), expected);
    assert_eq!(caller.hand.counted("information_sent_again"), 2);
    // The first part is what was asked for: the rest is asked for at once.
    let rest = caller.hear(CLIENT, &response(1_000, &[2; 100]));
    let missing = read_raw::Request { offset: 1_150, max_count: 150, ..asked };
    assert_eq!((rest.len(), read(&rest[0])), (1, missing));
    assert!(caller.hear(CLIENT, &response(1_150, &[3; 150])).is_empty());
    let whole = &caller.hand.received[0];
    let header = Header::parse(whole).unwrap();
    let response = Response::parse(&Block::first(&header, whole).unwrap()).unwrap();
    assert_eq!((response.offset, response.count), (1_000, 300));
    assert_eq!(response.data, [&[2; 100][..], &[1; 50], &[3; 150]].concat());
}
