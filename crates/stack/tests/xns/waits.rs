//! Waits of a session by their exact times, and what an end does with what the other one says: by hand.

use lanlab_stack::node::{Peer as Called, Why};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::Address;
use lanlab_wire::xns::spp::{Header, control, stream};
use lanlab_wire::xns::{framing, packet_type, socket};

use super::stranger::{SOCKET, Sent, Server, frame, packet, part};
use crate::by_hand::CLIENT;
use crate::pair::pattern;
use crate::segment::{mac, name};

/// Packets of sessions that are sent from now on, each with its time after now, ms.
fn until(server: &mut Server, milliseconds: u64) -> Vec<(u64, Header)> {
    let sent = server.until(milliseconds).into_iter();
    sent.map(|(at_ns, one)| (at_ns / 1_000_000, one.header())).collect()
}

fn times(all: &[(u64, Header)]) -> Vec<u64> {
    all.iter().map(|one| one.0).collect()
}

const ASKS: u8 = control::SYSTEM | control::ACKNOWLEDGE;

fn acknowledgement(ours: u16, expected: u16, allocation: u16) -> Header {
    Header { control: control::SYSTEM, expected, allocation, ..part(ours, 0) }
}

/// 4.3BSD: twelve times again, after one second, two, four … up to 64.
#[test]
fn unacknowledged_packets_are_resent_twelve_times() {
    let mut server = Server::new();
    server.session();
    server.node.send(server.now, server.sessions[0], b"hello").unwrap();
    let sent = until(&mut server, 1_000_000);
    let waits_s = [0, 1, 3, 7, 15, 31, 63, 127, 191, 255, 319, 383, 447];
    assert_eq!(times(&sent), waits_s.map(|at| at * 1_000));
    let last = control::END_OF_MESSAGE;
    assert_eq!((sent[0].1.control, sent[0].1.sequence), (last, 0));
    let again = sent[1..].iter().all(|one| one.1.control == last | control::ACKNOWLEDGE);
    assert!(again, "what is sent again asks for its acknowledgement");
    assert_eq!(server.ended, [Why::NoAnswer]);
    let counted = ["information_sent", "information_sent_again", "t1_expiries"];
    assert_eq!(counted.map(|key| server.counted(key)), [1, 12, 12]);
    // It ends where the last wait does.
    let mut other = Server::new();
    other.session();
    other.node.send(other.now, other.sessions[0], b"hello").unwrap();
    other.pass(510_999);
    assert!(other.ended.is_empty());
    other.pass(1);
    assert_eq!(other.ended, [Why::NoAnswer]);
}

#[test]
fn a_disconnect_is_sent_four_times_and_answered_for_ten_seconds() {
    let mut server = Server::new();
    server.session();
    server.node.close(server.now, server.sessions[0]);
    server.drain();
    let begin = server.now;
    let sent = until(&mut server, 14_999);
    assert_eq!(times(&sent), [0, 1_000, 3_000, 7_000]);
    assert!(sent.iter().all(|one| one.1.stream == stream::END && one.1.sequence == 0));
    assert_eq!(server.node.poll_timeout(), Some(begin.plus_nanos(15_000_000_000)));
    until(&mut server, 1);
    assert_eq!((server.node.poll_timeout(), server.ended.clone()), (None, vec![Why::Closed]));
    // Once the other end has answered, it says that it knows, and again for ten seconds.
    for (after_ms, is_said) in [(9_999, true), (10_000, false)] {
        let mut server = Server::new();
        let ours = server.session();
        server.node.close(server.now, server.sessions[0]);
        assert_eq!(server.sent().len(), 1);
        let reply = Header { stream: stream::END_REPLY, expected: 1, ..part(ours, 0) };
        let said = server.hear(CLIENT, reply, b"");
        assert_eq!((said.len(), said[0].stream, said[0].sequence), (1, stream::END_REPLY, 1));
        assert!(until(&mut server, after_ms).is_empty());
        let said = server.hear_packet(
            &packet(CLIENT, SOCKET, socket::SMB, packet_type::SEQUENCED),
            &octets(reply),
        );
        let is_reply = |one: &Sent| one.packet.kind == packet_type::SEQUENCED;
        assert_eq!(said.iter().any(is_reply), is_said, "{after_ms}");
    }
}

fn octets(header: Header) -> Vec<u8> {
    let mut octets = vec![];
    header.emit(&mut octets);
    octets
}

#[test]
fn a_disconnect_with_a_reused_number_ends_the_session() {
    for number in [0, 1, 2] {
        let mut server = Server::new();
        let ours = server.session();
        server.hear(CLIENT, part(ours, 0), b"one");
        server.hear(CLIENT, part(ours, 1), b"two");
        let said = server.hear(CLIENT, Header { stream: stream::END, ..part(ours, number) }, b"");
        assert_eq!((said.len(), said[0].stream), (1, stream::END_REPLY), "{number}");
        assert_eq!((said[0].expected, server.ended.clone()), (number + 1, vec![Why::ByPeer]));
    }
    // One that comes early waits for what is before it.
    let mut server = Server::new();
    let ours = server.session();
    let end = Header { stream: stream::END, ..part(ours, 1) };
    let said = server.hear(CLIENT, end, b"");
    assert_eq!((said.len(), said[0].control, said[0].expected), (1, control::SYSTEM, 0));
    assert!(server.ended.is_empty());
    assert_eq!(server.hear(CLIENT, part(ours, 0), b"one")[0].stream, stream::END_REPLY);
    assert_eq!((server.ended.clone(), server.received.len()), (vec![Why::ByPeer], 1));
}

#[test]
fn a_silent_peer_is_probed_eight_times_75_s_apart() {
    let mut server = Server::new();
    server.session();
    let sent = until(&mut server, 1_000_000);
    assert_eq!(times(&sent), (1..9).map(|index| index * 75_000).collect::<Vec<_>>());
    assert!(sent.iter().all(|one| one.1.control == ASKS));
    assert_eq!(server.ended, [Why::NoAnswer]);
    let mut server = Server::new();
    let ours = server.session();
    server.pass(9 * 75_000 - 1);
    server.sent();
    assert!(server.hear(CLIENT, acknowledgement(ours, 0, 2), b"").is_empty());
    assert_eq!(times(&until(&mut server, 75_000)), [75_000]);
    assert!(server.ended.is_empty());
}

#[test]
fn a_closed_window_is_probed_at_growing_intervals() {
    let mut server = Server::new();
    let ours = server.session();
    server.node.send(server.now, server.sessions[0], &pattern(0, 5 * 534)).unwrap();
    // Three packets are allowed, and the last one asks for its acknowledgement.
    let sent: Vec<_> = server.sent().iter().map(|one| one.header().control).collect();
    assert_eq!(sent, [0, 0, control::ACKNOWLEDGE]);
    assert!(server.hear(CLIENT, acknowledgement(ours, 3, 2), b"").is_empty());
    let asked = until(&mut server, 140_000);
    assert_eq!(times(&asked), [5_000, 15_000, 35_000, 75_000, 135_000]);
    assert!(asked.iter().all(|one| one.1.control == ASKS));
    // An answer is a sign of the other end; the intervals stay long.
    assert!(server.hear(CLIENT, acknowledgement(ours, 3, 2), b"").is_empty());
    let asked = until(&mut server, 2_000_000);
    assert_eq!(times(&asked), (1..13).map(|index| index * 60_000).collect::<Vec<_>>());
    assert_eq!(server.ended, [Why::NoAnswer]);
    assert_eq!((server.counted("t1_expiries"), server.counted("information_sent")), (0, 3));
}

#[test]
fn acknowledgements_wait_200_ms_unless_requested() {
    let mut server = Server::new();
    let ours = server.session();
    assert!(server.hear(CLIENT, part(ours, 0), b"x").is_empty());
    server.pass(100);
    // A second one does not have it wait longer.
    assert!(server.hear(CLIENT, part(ours, 1), b"x").is_empty());
    let sent = until(&mut server, 1_000);
    assert_eq!(times(&sent), [100]);
    assert_eq!((sent[0].1.control, sent[0].1.expected), (control::SYSTEM, 2));
    let asked = Header { control: control::END_OF_MESSAGE | control::ACKNOWLEDGE, ..part(ours, 2) };
    assert_eq!(server.hear(CLIENT, asked, b"x").len(), 1);
    assert!(until(&mut server, 1_000).is_empty());
    assert!(server.hear(CLIENT, part(ours, 3), b"x").is_empty());
    server.node.send(server.now, server.sessions[0], b"answer").unwrap();
    let sent = until(&mut server, 999);
    assert_eq!((sent.len(), sent[0].1.sequence, sent[0].1.expected), (1, 0, 4));
    // The answer of the call, and two acknowledgements; a packet without a number that asks is answered, too.
    assert_eq!(server.counted("supervisory_sent"), 3);
    let asks = Header { control: ASKS, ..acknowledgement(ours, 1, 3) };
    assert_eq!(server.hear(CLIENT, asks, b"").len(), 1);
    assert!(server.hear(CLIENT, Header { control: control::SYSTEM, ..asks }, b"").is_empty());
    assert_eq!(server.counted("information_received"), 4);
}

/// The first wait is two round trips, of what asks for its acknowledgement and is sent once.
#[test]
fn the_resend_timeout_follows_the_round_trip() {
    let wait = |messages: &[usize], expected: u16, after_ms: u64| {
        let mut server = Server::new();
        let ours = server.session();
        for length in messages {
            server.node.send(server.now, server.sessions[0], &pattern(0, *length)).unwrap();
        }
        server.sent();
        server.now = server.now.plus_nanos(after_ms * 1_000_000);
        server.hear(CLIENT, acknowledgement(ours, expected, expected + 2), b"");
        server.node.send(server.now, server.sessions[0], b"next").unwrap();
        server.sent();
        until(&mut server, 100_000)[0].0
    };
    // Three packets fill the window: the last one asks where more is to come.
    assert_eq!(wait(&[4 * 534], 3, 800), 1_600);
    assert_eq!(wait(&[4 * 534], 3, 400), 1_000, "a second at least");
    assert_eq!(wait(&[4 * 534], 3, 999), 1_998);
    // One that does not ask says nothing of it.
    assert_eq!(wait(&[10], 1, 900), 1_000);
    // An acknowledgement of a part of it does neither.
    assert_eq!(wait(&[4 * 534], 2, 900), 1_000);
}

/// 4.3BSD: three equal acknowledgements have what they ask for sent again at once, and no more of it.
#[test]
fn three_duplicate_acknowledgements_resend_the_first_packet() {
    let mut server = Server::new();
    let ours = server.session();
    server.node.send(server.now, server.sessions[0], &pattern(0, 3 * 534)).unwrap();
    assert_eq!(server.sent().len(), 3);
    let same = acknowledgement(ours, 0, 2);
    for turn in 1..6 {
        let said = server.hear(CLIENT, same, b"");
        assert_eq!(said.len(), usize::from(turn == 3), "{turn}");
        assert!(said.iter().all(|one| one.sequence == 0));
    }
    // One that is new, or widens the window, or comes with data, is not equal.
    assert!(server.hear(CLIENT, acknowledgement(ours, 1, 2), b"").is_empty());
    for allocation in [3, 4] {
        assert!(server.hear(CLIENT, acknowledgement(ours, 1, allocation), b"").is_empty());
    }
    server.hear(CLIENT, Header { expected: 1, allocation: 4, ..part(ours, 0) }, b"x");
    for turn in 1..4 {
        let said = server.hear(CLIENT, acknowledgement(ours, 1, 4), b"");
        let sent: Vec<_> = said.iter().map(|one| one.sequence).collect();
        assert_eq!(sent, if turn == 3 { vec![1] } else { vec![] }, "{turn}");
    }
    // Where nothing is on its way they are signs of life alone.
    server.hear(CLIENT, acknowledgement(ours, 3, 5), b"");
    for _ in 0..5 {
        assert!(server.hear(CLIENT, acknowledgement(ours, 3, 5), b"").is_empty());
    }
    assert_eq!(server.counted("information_sent_again"), 2);
}

#[test]
fn an_unacknowledged_close_ends_after_three_seconds() {
    let mut server = Server::new();
    server.session();
    server.node.send(server.now, server.sessions[0], b"hello").unwrap();
    server.node.close(server.now, server.sessions[0]);
    server.pass(2_999);
    assert!(server.ended.is_empty());
    server.pass(1);
    assert_eq!(server.ended, [Why::Closed]);
    let last = server.sent().last().unwrap().header();
    assert_eq!((last.stream, last.sequence), (stream::END, 0), "what is not acknowledged");
}

#[test]
fn a_station_opens_up_to_254_sessions_each_from_its_own_socket() {
    let mut server = Server::new();
    for _ in 0..254 {
        server.node.open(server.now, Called::Name(name(7)));
    }
    server.drain();
    assert!(server.ended.is_empty());
    let asked = server.sent();
    let mut sockets: Vec<_> = asked.iter().map(|one| one.packet.source.socket).collect();
    sockets.sort_unstable();
    sockets.dedup();
    assert_eq!((asked.len(), sockets.len()), (254, 254));
    assert!((0x4000..0x8000).contains(&sockets[0]) && sockets[253] < 0x8000);
    server.node.open(server.now, Called::Name(name(7)));
    server.drain();
    assert_eq!(server.ended, [Why::NoResources]);
}

#[test]
fn up_to_512_unsent_answers_are_kept_and_more_counted_as_dropped() {
    let mut server = Server::new();
    let asked = frame(
        framing::ETHERNET_II,
        &packet(CLIENT, SOCKET, socket::ECHO, packet_type::ECHO),
        b"\0\x01",
    );
    for _ in 0..515 {
        server.node.handle_frame(server.now, &asked);
    }
    assert_eq!((server.sent().len(), server.counted("dropped_answers")), (512, 3));
}

/// Frames of other adapters, of this one come back, and of groups, which no adapter sends from.
#[test]
fn frames_for_other_adapters_are_ignored() {
    let mut server = Server::new();
    let asked = packet(CLIENT, SOCKET, socket::ECHO, packet_type::ECHO);
    let good = frame(framing::ETHERNET_II, &asked, b"\0\x01");
    assert_eq!(server.hear_frame(&good).len(), 1);
    let before = server.node.stray_counts().foreign_frames;
    for (at, address) in [(0, CLIENT), (6, mac(0)), (6, Mac([3, 0, 0, 0, 0, 1]))] {
        let mut other = good.clone();
        other[at..at + 6].copy_from_slice(&address.0);
        assert!(server.hear_frame(&other).is_empty(), "{address:?}");
    }
    assert_eq!(server.node.stray_counts().foreign_frames, before + 3);
    // One that has come through a router says nothing of this network.
    let routed = |hops, network| lanlab_wire::ipx::Header {
        hops,
        source: Address { network, ..asked.source },
        ..asked
    };
    for (hops, network, is_known) in [(1, 9, false), (0, 0, false), (0, 9, true)] {
        server.hear_frame(&frame(framing::ETHERNET_II, &routed(hops, network), b"\0\x01"));
        let said = server.hear_frame(&good);
        assert_eq!(said[0].packet.source.network, if is_known { 9 } else { 0 }, "{hops}");
    }
    // Of a packet whose first station is another one neither.
    let mut far = packet(CLIENT, SOCKET, socket::ECHO, packet_type::ECHO);
    far.source.network = 8;
    let mut octets = frame(framing::ETHERNET_II, &far, b"\0\x01");
    octets[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 99]);
    server.hear_frame(&octets);
    assert_eq!(server.counted("network_disputes"), 0);
}

#[test]
fn only_messages_above_the_maximum_end_the_session() {
    for (last, is_ended) in [(65_535 % 534, false), (65_536 % 534, true)] {
        let mut server = Server::new();
        let ours = server.session();
        for number in 0..65_535 / 534 {
            server.hear(CLIENT, Header { control: 0, ..part(ours, number) }, &[1; 534]);
        }
        let said = server.hear(CLIENT, part(ours, 65_535 / 534), &vec![1; last]);
        assert_eq!(said.iter().any(|one| one.stream == stream::END), is_ended);
        assert_eq!(server.ended, if is_ended { vec![Why::Protocol] } else { vec![] });
        assert_eq!(server.received.len(), usize::from(!is_ended));
    }
    // Nor may one answer an end that was not said.
    let mut server = Server::new();
    let ours = server.session();
    server.hear(CLIENT, Header { stream: stream::END_REPLY, ..part(ours, 0) }, b"");
    assert_eq!(server.ended, [Why::Protocol]);
}
