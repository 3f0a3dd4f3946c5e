//! Packets of strangers: foreign and stale connections, repeated and late packets, errors, floods of calls,
//! arbitrary octets.

use lanlab_stack::node::{Peer as Called, Why};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::Address;
use lanlab_wire::xns::error_packet::{self, number};
use lanlab_wire::xns::spp::{Header, control, stream};
use lanlab_wire::xns::{framing, idp, packet_type, socket};
use proptest::prelude::*;

use super::stranger::{SOCKET, Sent, Server, THEIRS, call, frame, packet, part};
use super::{OF_XEROX, THREE_PLUS};
use crate::by_hand::{CLIENT, OTHER};

#[test]
fn repeated_packets_are_accepted_once_and_early_ones_wait() {
    let mut server = Server::new();
    let ours = server.session();
    assert!(server.hear(CLIENT, part(ours, 0), b"one").is_empty());
    let again = server.hear(CLIENT, part(ours, 0), b"one");
    assert_eq!((again.len(), again[0].control, again[0].expected), (1, control::SYSTEM, 1));
    assert_eq!(server.received, [b"one"]);
    // What is missing is known from the acknowledgement.
    let early = server.hear(CLIENT, part(ours, 2), b"three");
    assert_eq!((early.len(), early[0].expected, early[0].allocation), (1, 1, 3));
    assert_eq!(server.hear(CLIENT, part(ours, 2), b"other").len(), 1);
    // An acknowledgement of packets that were never sent is counted, and the packet is taken.
    let header = Header { expected: 9, allocation: 99, ..part(ours, 1) };
    server.hear(CLIENT, header, b"two");
    assert_eq!(server.received, [&b"one"[..], b"two", b"three"]);
    assert!(server.ended.is_empty());
    assert_eq!(server.counted("acknowledged_unsent"), 1);
    assert_eq!(server.counted("information_discarded"), 2);
}

#[test]
fn packets_beyond_the_window_are_dropped_except_attention() {
    let mut server = Server::new();
    let ours = server.session();
    let session = server.sessions[0];
    server.node.pause(session);
    for number in 0..9 {
        let said = server.hear(CLIENT, part(ours, number), b"x");
        assert!(said.iter().all(|header| header.allocation == 2), "{number}: {said:?}");
    }
    let attention = control::ATTENTION | control::ACKNOWLEDGE;
    let said = server.hear(CLIENT, Header { control: attention, ..part(ours, 3) }, b"!");
    assert_eq!((said.len(), said[0].expected, said[0].allocation), (1, 4, 2));
    assert_eq!(server.counted("attentions_received"), 1);
    assert!(server.received.is_empty());
    server.node.resume(session);
    server.drain();
    assert_eq!(server.received, [b"x"; 3]);
    assert_eq!(server.sent()[0].header().allocation, 6);
}

#[test]
fn packets_for_connections_of_others_get_an_error() {
    let mut server = Server::new();
    let ours = server.session();
    let sequenced = |header: Header| {
        let mut octets = vec![];
        header.emit(&mut octets);
        octets
    };
    let strange = Header { source: 9, ..part(ours, 0) };
    let none = part(ours.wrapping_add(1), 0);
    for (from, source, header) in [
        (OTHER, SOCKET, part(ours, 0)),
        (CLIENT, SOCKET + 1, part(ours, 0)),
        (CLIENT, SOCKET, strange),
        (CLIENT, SOCKET, none),
        (CLIENT, SOCKET, Header { stream: stream::END, ..none }),
    ] {
        let packet = packet(from, source, socket::SMB, packet_type::SEQUENCED);
        let said = server.hear_packet(&packet, &sequenced(header));
        assert_eq!((said.len(), said[0].error()), (1, number::NO_SOCKET));
    }
    assert!(server.received.is_empty() && server.ended.is_empty());
    assert_eq!(server.counted("unknown_session_frames"), 5);
    // The session goes on.
    server.hear(CLIENT, part(ours, 0), b"x");
    assert_eq!(server.received.len(), 1);
}

#[test]
fn a_call_may_name_an_unknown_connection_as_spx_does() {
    let mut server = Server::new();
    let answers = server.hear(CLIENT, Header { destination: 0xffff, ..call(THEIRS) }, b"");
    assert_eq!((answers.len(), answers[0].destination, server.sessions.len()), (1, THEIRS, 1));
    // It is no connection of ours either.
    assert!(server.hear(CLIENT, Header { destination: 0xffff, ..part(0, 1) }, b"x").is_empty());
    assert_eq!(server.received.len(), 0);
}

#[test]
fn a_repeated_call_is_answered_again_until_it_counts_as_new() {
    let mut server = Server::new();
    let ours = server.session();
    assert_eq!(server.call(CLIENT, THEIRS)[0].source, ours);
    server.hear(CLIENT, part(ours, 0), b"x");
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
    let end = Header { stream: stream::END, ..part(ours, 0) };
    for _ in 0..2 {
        let said = server.hear(CLIENT, end, b"");
        assert_eq!((said.len(), said[0].stream, said[0].expected), (1, stream::END_REPLY, 1));
    }
    assert!(server.call(CLIENT, THEIRS).is_empty());
    assert_eq!(server.ended.len(), 2);
    let known = Header { stream: stream::END_REPLY, expected: 1, ..part(ours, 1) };
    assert!(server.hear(CLIENT, known, b"").is_empty(), "three packets end it");
    server.pass(20_000);
    assert!(server.sent().is_empty());
    // A call with a number that is not the first one, or without a connection, is none.
    assert!(server.hear(CLIENT, Header { sequence: 5, ..call(7) }, b"").is_empty());
    assert!(server.hear(CLIENT, call(0), b"").is_empty());
    // One may have data with it.
    let with_data = Header { control: control::END_OF_MESSAGE, ..call(8) };
    assert_eq!(server.hear(CLIENT, with_data, b"at once").len(), 1);
    assert_eq!(server.received.last().unwrap(), b"at once");
}

#[test]
fn clients_above_the_session_limit_get_an_error() {
    let mut server = Server::new();
    for number in 0..32_u8 {
        let from = Mac([2, 1, 0, 0, 0, number]);
        let ours = server.call(from, THEIRS)[0].source;
        for sequence in 0..if number > 0 { 6 } else { 0 } {
            server.hear(from, part(ours, sequence), b"x");
        }
    }
    // Who has only called makes room; those that are served stay.
    assert_eq!(server.call(OTHER, 1).len(), 1);
    assert_eq!((server.ended.clone(), server.counted("crowded_out")), (vec![Why::NoResources], 1));
    server.hear(OTHER, Header { source: 1, ..part(0, 0) }, b"");
    let mut octets = vec![];
    call(1).emit(&mut octets);
    let mut refused = 0;
    for number in 0..2_000_u16 {
        let [high, low] = number.to_be_bytes();
        let from = Mac([2, 2, 0, 0, high, low]);
        let asked = packet(from, SOCKET, socket::SMB, packet_type::SEQUENCED);
        let said = server.hear_packet(&asked, &octets);
        refused += u32::from(said[0].packet.kind == packet_type::ERROR);
    }
    assert_eq!(server.sessions.len() - server.ended.len(), 32);
    assert_eq!((refused, server.counted("calls_refused")), (0, 0));
    let last = Mac([2, 2, 0, 0, 7, 207]);
    let ours = server.call(last, 1)[0].source;
    for sequence in 0..6 {
        server.hear(last, Header { source: 1, ..part(ours, sequence) }, b"x");
    }
    let asked = packet(OTHER, SOCKET, socket::SMB, packet_type::SEQUENCED);
    let said = server.hear_packet(&asked, &octets);
    assert_eq!((said.len(), said[0].error()), (1, number::NO_RESOURCES));
    assert_eq!(server.counted("calls_refused"), 1);
}

/// A caller that is being answered: the packet by which it calls.
fn caller() -> (Server, Sent) {
    let mut caller = Server::with(&OF_XEROX);
    let to = Called::Ipx(Address { network: 0, node: CLIENT.0, socket: 0 });
    caller.node.open(caller.now, to);
    let sent = caller.sent();
    assert_eq!(sent.len(), 1);
    (caller, sent[0].clone())
}

fn error_about(sent: &Sent, number: u16) -> Vec<u8> {
    let (mut octets, mut data) = (vec![], vec![]);
    idp::emit(&sent.packet, &sent.data, &mut octets).unwrap();
    error_packet::emit(number, 0, &octets, &mut data);
    data
}

#[test]
fn only_errors_from_the_peer_that_quote_our_packet_end_a_session() {
    for (number, why) in [
        (number::NO_SOCKET, Some(Why::NotListening)),
        (number::NO_RESOURCES, Some(Why::NoResources)),
        (number::BAD_CHECKSUM, None),
        (0x202, None),
    ] {
        let (mut node, sent) = caller();
        let about = error_about(&sent, number);
        let to = sent.packet.source.socket;
        let error = |from| packet(from, socket::SMB, to, packet_type::ERROR);
        // Of a stranger, and about another connection.
        node.hear_packet(&error(OTHER), &about);
        let mut other = sent.clone();
        other.data[2] ^= 1;
        node.hear_packet(&error(CLIENT), &error_about(&other, number));
        node.hear_packet(&error(CLIENT), &about[..20]);
        assert!(node.ended.is_empty());
        node.hear_packet(&error(CLIENT), &about);
        assert_eq!(node.ended, why.into_iter().collect::<Vec<_>>());
    }
    let (mut node, sent) = caller();
    let mine = sent.header().source;
    let answer = Header { source: THEIRS, destination: mine, allocation: 7, ..call(0) };
    let mut octets = vec![];
    Header { control: control::SYSTEM, ..answer }.emit(&mut octets);
    // It answers from a socket of its own.
    let from = packet(CLIENT, 0x5555, sent.packet.source.socket, packet_type::SEQUENCED);
    node.hear_packet(&from, &octets);
    assert_eq!(node.sessions.len(), 1);
    node.node.send(node.now, node.sessions[0], b"hello").unwrap();
    let sent = node.sent();
    assert_eq!(sent[0].packet.destination.socket, 0x5555);
    let error = packet(CLIENT, 0x5555, sent[0].packet.source.socket, packet_type::ERROR);
    node.hear_packet(&error, &error_about(&sent[0], number::NO_RESOURCES));
    assert!(node.ended.is_empty(), "it is sent again");
    node.hear_packet(&error, &error_about(&sent[0], number::NO_SOCKET));
    assert_eq!(node.ended, [Why::ByPeerAbnormally]);
}

#[test]
fn sessions_get_their_own_socket_if_the_profile_says_so() {
    let mut server = Server::with(&OF_XEROX);
    let mut octets = vec![];
    call(THEIRS).emit(&mut octets);
    let asked = packet(CLIENT, SOCKET, socket::SMB, packet_type::SEQUENCED);
    let said = server.hear_packet(&asked, &octets);
    let own = said[0].packet.source.socket;
    assert!(own >= 0x4000 && said[0].header().allocation == 7);
    let ours = said[0].header().source;
    octets.clear();
    part(ours, 0).emit(&mut octets);
    server.hear_packet(&packet(CLIENT, SOCKET, own, packet_type::SEQUENCED), &octets);
    assert_eq!(server.received.len(), 1);
    // At the socket of all it is no connection.
    assert_eq!(server.hear_packet(&asked, &octets)[0].error(), number::NO_SOCKET);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_packets_leave_a_server_running(
        packets in prop::collection::vec(
            (0..4_u8, prop::collection::vec(any::<u8>(), 0..90)), 0..40,
        ),
    ) {
        let mut server = Server::with(&THREE_PLUS);
        let ours = server.session();
        for (how, mut octets) in packets {
            if how > 0 && octets.len() >= 12 {
                let said = Header::parse(&octets).unwrap();
                let mut near = vec![];
                Header {
                    stream: [0, stream::END, stream::END_REPLY, 7][usize::from(said.stream % 4)],
                    source: THEIRS,
                    destination: if how > 1 { ours } else { said.destination % 3 },
                    sequence: said.sequence % 8,
                    expected: said.expected % 3,
                    ..said
                }
                .emit(&mut near);
                octets[..12].copy_from_slice(&near);
            }
            let kind = [5, 5, 4, 3, 2, 0][octets.len() % 6];
            let to = if kind == 2 { socket::ECHO } else { socket::SMB };
            let one = packet(CLIENT, SOCKET, to, kind);
            server.hear_frame(&frame(framing::ALL[usize::from(how % 2)], &one, &octets));
            server.pass(1);
        }
    }
}
