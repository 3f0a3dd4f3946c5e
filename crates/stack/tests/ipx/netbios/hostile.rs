//! Packets of strangers: foreign and stale sessions, repeated and senseless parts, acknowledgements of what was
//! never sent, floods of calls, arbitrary octets.

use lanlab_stack::node::{CarrierKind, Why};
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Address, Header as Packet, NO_CHECKSUM, framing, socket};
use lanlab_wire::nbipx::{NO_CONNECTION, Opening, SessionHeader, control, is_session, stream};
use lanlab_wire::netbios_name::{Name, suffix};
use proptest::prelude::*;

use crate::by_hand::{CLIENT, Carried, Hand, OTHER};
use crate::segment::{mac, name};

/// Connection of the client.
pub const THEIRS: u16 = 0x1234;

pub enum NetBios {}

impl Carried for NetBios {
    const KIND: CarrierKind = CarrierKind::Nbipx;
    type Packet = SessionHeader;

    fn read(frame: &Frame<'_>) -> Option<SessionHeader> {
        let (_, data) = Packet::parse(framing::packet(frame).unwrap().0).unwrap();
        is_session(data).then(|| SessionHeader::split(data).unwrap().0)
    }
}

pub type Server = Hand<NetBios>;

impl Server {
    pub fn hear_octets(&mut self, from: Mac, kind: u8, octets: &[u8]) -> Vec<SessionHeader> {
        let source = Address { network: 0, node: from.0, socket: socket::NETBIOS };
        let destination = Address { network: 0, node: mac(0).0, socket: socket::NETBIOS };
        let header = Packet { checksum: NO_CHECKSUM, hops: 0, kind, destination, source };
        let mut frame = vec![];
        framing::emit((mac(0), from), framing::IEEE_802_2, &header, octets, &mut frame).unwrap();
        self.hear_frame(&frame)
    }

    pub fn hear(&mut self, from: Mac, header: SessionHeader, data: &[u8]) -> Vec<SessionHeader> {
        let mut octets = vec![];
        SessionHeader { data_bytes: data.len() as u16, ..header }.emit(&mut octets);
        octets.extend_from_slice(data);
        self.hear_octets(from, 4, &octets)
    }

    pub fn call(&mut self, from: Mac, source: u16) -> Vec<SessionHeader> {
        let client = Name::new("CLIENT", suffix::WORKSTATION).unwrap();
        let opening = Opening {
            source: client.0,
            destination: name(0).0,
            longest_data: 1440,
            times: [0x25, 0x0d],
        };
        let mut data = vec![];
        opening.emit(&mut data);
        let header = SessionHeader {
            control: control::CONNECT | control::ACKNOWLEDGE,
            stream: stream::DATA,
            source,
            destination: NO_CONNECTION,
            total_bytes: data.len() as u16,
            window_end: 3,
            ..Default::default()
        };
        self.hear(from, header, &data)
    }

    pub fn session(&mut self) -> u16 {
        let answers = self.call(CLIENT, THEIRS);
        assert_eq!(answers.len(), 1);
        let answer = answers[0];
        assert_eq!(answer.control, control::SYSTEM | control::CONNECT);
        assert_eq!((answer.destination, answer.expected, answer.window_end), (THEIRS, 1, 4));
        answer.source
    }
}

pub fn part(destination: u16, sequence: u16, len: u16) -> SessionHeader {
    SessionHeader {
        control: control::END_OF_MESSAGE,
        stream: stream::DATA,
        source: THEIRS,
        destination,
        sequence,
        total_bytes: len,
        window_end: 3,
        ..Default::default()
    }
}

#[test]
fn repeated_parts_are_accepted_once_and_parts_after_a_gap_refused() {
    let mut server = Server::new();
    let ours = server.session();
    assert!(server.hear(CLIENT, part(ours, 1, 3), b"one").is_empty());
    let again = server.hear(CLIENT, part(ours, 1, 3), b"one");
    assert_eq!((again.len(), again[0].control, again[0].expected), (1, control::SYSTEM, 2));
    assert_eq!(server.received, [b"one"]);
    // What is missing is asked for once.
    let asked = server.hear(CLIENT, part(ours, 3, 3), b"two");
    assert_eq!((asked.len(), asked[0].control, asked[0].expected), (1, 0x88, 2));
    assert!(server.hear(CLIENT, part(ours, 4, 3), b"two").is_empty());
    assert_eq!(server.received.len(), 1);
    // An acknowledgement of packets that were never sent counts for all that were, and widens the window.
    server.node.send(server.now, server.sessions[0], b"answer").unwrap();
    assert_eq!(server.sent().len(), 1);
    let header = SessionHeader { expected: 9, window_end: 99, ..part(ours, 2, 3) };
    server.hear(CLIENT, header, b"two");
    assert_eq!((server.received.len(), server.ended.len()), (2, 0));
    server.pass(20_000);
    let keys = ["acknowledged_unsent", "information_sent_again"];
    assert_eq!(keys.map(|key| server.counted(key)), [1, 0]);
}

/// Of the next packet with one: so the other end sees whether it lacks any.
#[test]
fn acknowledgements_carry_the_next_expected_number() {
    let mut server = Server::new();
    let ours = server.session();
    server.node.send(server.now, server.sessions[0], &[1; 10]).unwrap();
    let data = server.sent()[0];
    server.hear(CLIENT, part(ours, 1, 10), &[2; 10]);
    server.pass(300);
    let sent = server.sent();
    let acknowledgement = sent.iter().find(|one| one.control & control::SYSTEM != 0).unwrap();
    assert_eq!(acknowledgement.sequence, data.sequence + 1);
}

#[test]
fn packets_for_sessions_of_others_are_not_answered() {
    let mut server = Server::new();
    let ours = server.session();
    let header = part(ours, 1, 1);
    let strange = SessionHeader { source: 9, ..header };
    let none = part(ours.wrapping_add(1), 1, 1);
    for (from, header) in [(OTHER, header), (CLIENT, strange), (CLIENT, none)] {
        assert!(server.hear(from, header, b"x").is_empty());
        let end = SessionHeader { stream: stream::END, ..header };
        assert!(server.hear(from, end, b"").is_empty());
    }
    assert!(server.received.is_empty() && server.ended.is_empty());
    assert!(server.node.counts().contains(&("unknown_session_frames", 6)));
}

#[test]
fn inconsistent_parts_end_the_session_and_parts_beyond_the_window_are_dropped() {
    let senseless = [
        SessionHeader { offset: 5, ..part(0, 1, 8) },
        SessionHeader { control: 0, ..part(0, 1, 3) },
        part(0, 1, 9),
        part(0, 1, 2),
    ];
    for header in senseless {
        let mut server = Server::new();
        let destination = server.session();
        let said = server.hear(CLIENT, SessionHeader { destination, ..header }, b"abc");
        assert_eq!(said.last().unwrap().stream, stream::END);
        assert_eq!((server.ended.clone(), server.received.len()), (vec![Why::Protocol], 0));
    }
    let mut server = Server::new();
    let ours = server.session();
    server.node.pause(server.sessions[0]);
    for sequence in 1..9 {
        let said = server.hear(CLIENT, part(ours, sequence, 1), b"x");
        assert!(said.iter().all(|header| header.window_end <= 4));
    }
    assert!(server.received.is_empty());
    let session = server.sessions[0];
    server.node.resume(session);
    server.drain();
    assert_eq!(server.received.len(), 4);
    assert_eq!(server.sent().last().unwrap().window_end, 8);
}

#[test]
fn a_repeated_call_is_answered_again_until_it_counts_as_new() {
    let mut server = Server::new();
    let ours = server.session();
    assert_eq!(server.call(CLIENT, THEIRS)[0].source, ours);
    server.hear(CLIENT, part(ours, 1, 1), b"x");
    server.pass(29_999);
    server.sent();
    assert_eq!(server.call(CLIENT, THEIRS)[0].source, ours);
    server.pass(1);
    server.sent();
    assert_ne!(server.call(CLIENT, THEIRS)[0].source, ours);
    assert_eq!(server.counted("answered_again"), 2);
    assert_eq!((server.sessions.len(), server.ended.clone()), (2, vec![Why::ByPeer]));
    // After an end, a late copy of the call does not open anything.
    let ours = server.call(CLIENT, THEIRS)[0].source;
    let end = SessionHeader { stream: stream::END, ..part(ours, 1, 0) };
    for _ in 0..2 {
        let said = server.hear(CLIENT, end, b"");
        assert_eq!((said.len(), said[0].stream), (1, stream::END_ACKNOWLEDGED));
    }
    assert!(server.call(CLIENT, THEIRS).is_empty());
    assert_eq!(server.ended.len(), 2);
}

#[test]
fn clients_that_only_connect_make_room_for_others() {
    let mut server = Server::new();
    let ours = server.session();
    server.hear(CLIENT, part(ours, 1, 1), b"x");
    for number in 0..2_000_u16 {
        let [high, low] = number.to_be_bytes();
        server.call(Mac([2, 1, 0, 0, high, low]), 7);
    }
    assert_eq!(server.sessions.len() - server.ended.len(), 254);
    for number in 1..200 {
        server.call(OTHER, number);
    }
    assert_eq!(server.sessions.len() - server.ended.len(), 254);
    // The one that has gone on is there.
    server.hear(CLIENT, part(ours, 2, 1), b"x");
    assert_eq!(server.received.len(), 2);
}

#[test]
fn calls_for_other_names_and_with_tiny_packets_are_not_answered() {
    let mut server = Server::new();
    let opening = |destination: Name, longest_data| {
        let mut data = vec![];
        let (source, times) = ([b'A'; 16], [0; 2]);
        Opening { source, destination: destination.0, longest_data, times }.emit(&mut data);
        data
    };
    let header = SessionHeader {
        control: control::CONNECT | control::ACKNOWLEDGE,
        stream: stream::DATA,
        source: THEIRS,
        destination: NO_CONNECTION,
        ..Default::default()
    };
    for data in [opening(name(7), 1440), opening(name(0), 127), vec![0; 3]] {
        assert!(server.hear(CLIENT, header, &data).is_empty());
    }
    assert!(server.sessions.is_empty());
    assert_eq!(server.hear(CLIENT, header, &opening(name(0), 128)).len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_packets_leave_a_server_running(
        packets in prop::collection::vec(
            (0..3_u8, prop::collection::vec(any::<u8>(), 0..90)), 0..40,
        ),
    ) {
        let mut server = Server::new();
        let ours = server.session().to_le_bytes();
        for (how, mut octets) in packets {
            if how > 0 && octets.len() >= 18 {
                octets[1] = stream::DATA + octets[1] % 3;
                octets[2..6].copy_from_slice(&[0x34, 0x12, ours[0], ours[1]]);
            }
            if how > 1 && octets.len() >= 18 {
                (octets[6], octets[7]) = (octets[6] % 4, 0);
                (octets[12], octets[13]) = (octets[12] % 64, 0);
            }
            let kind = if octets.len() % 5 == 0 { 0x14 } else { 4 };
            server.hear_octets(CLIENT, kind, &octets);
            server.pass(1);
        }
    }
}
