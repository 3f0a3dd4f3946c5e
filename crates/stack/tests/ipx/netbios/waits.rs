//! Waits of a session by their exact times, and what is counted: a station by hand, in virtual time.

use lanlab_stack::node::{NotSent, Peer as Called, Why};
use lanlab_stack::profile::WINDOWS_NT;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Header as Packet, framing};
use lanlab_wire::nbipx::{
    NO_CONNECTION, NameCommand, NamePacket, Opening, SessionHeader, control, is_session, stream,
};

use super::hostile::{Server, THEIRS, part};
use super::{ms, open, pair, pattern};
use crate::by_hand::{CLIENT, OTHER};
use crate::peer::Peer;
use crate::segment::{Faults, frames, name};

/// Times that begin with the first one, each wait half as long again as the one before; the last one is when it ends.
fn growing(first_ns: u64, count: usize) -> Vec<u64> {
    let mut wait_ns = first_ns;
    let mut times = vec![0];
    for _ in 1..count {
        times.push(times.last().unwrap() + wait_ns);
        wait_ns = wait_ns * 3 / 2;
    }
    times
}

const IS_SYSTEM: u8 = control::SYSTEM | control::ACKNOWLEDGE;

/// Q99745: eight times after half a second that grows.
#[test]
fn unacknowledged_packets_are_resent_eight_times() {
    let mut server = Server::new();
    server.session();
    let id = server.sessions[0];
    server.node.send(server.now, id, b"hello").unwrap();
    let sent = server.until(100_000);
    let expected = growing(500_000_000, 10);
    assert_eq!(sent.iter().map(|one| one.0).collect::<Vec<_>>(), expected[..9]);
    assert!(sent.iter().all(|(_, header)| header.sequence == 0 && header.data_bytes == 5));
    assert_eq!(server.ended, [Why::NoAnswer]);
    assert_eq!((server.counted("t1_expiries"), server.counted("information_sent")), (8, 1));
    assert_eq!(server.counted("information_sent_again"), 8);
    // It ends where the ninth wait does.
    let mut other = Server::new();
    other.session();
    other.node.send(other.now, other.sessions[0], b"hello").unwrap();
    other.pass(expected[9] / 1_000_000);
    assert!(other.ended.is_empty());
    other.pass(1);
    assert_eq!(other.ended, [Why::NoAnswer]);
}

#[test]
fn an_unanswered_disconnect_is_resent_on_the_same_schedule() {
    let mut server = Server::new();
    server.session();
    server.node.close(server.now, server.sessions[0]);
    server.drain();
    assert_eq!(server.ended, [Why::Closed]);
    let sent = server.until(100_000);
    assert_eq!(sent.iter().map(|one| one.0).collect::<Vec<_>>(), growing(500_000_000, 9));
    assert!(sent.iter().all(|(_, header)| header.stream == stream::END));
    assert_eq!(server.node.poll_timeout(), None);
}

/// Q99745: after 30 s without a packet, eight questions 30 s apart.
#[test]
fn a_silent_peer_is_probed_eight_times() {
    let mut server = Server::new();
    let ours = server.session();
    let sent = server.until(400_000);
    let expected: Vec<_> = (1..9).map(|index| (index * 30_000_000_000, IS_SYSTEM)).collect();
    let found = sent.iter().map(|(at, header)| (*at, header.control));
    assert_eq!(found.collect::<Vec<_>>(), expected);
    assert_eq!(server.ended, [Why::NoAnswer]);
    // Any packet of its other end is a sign of it.
    let mut server = Server::new();
    let again = server.session();
    assert!(ours > 0 && again > 0);
    server.pass(269_999);
    server.sent();
    let header = SessionHeader { control: control::SYSTEM, ..part(again, 1, 0) };
    assert!(server.hear(CLIENT, header, b"").is_empty());
    assert_eq!(server.until(29_999).len(), 0);
    assert_eq!(server.until(1).len(), 1);
    assert!(server.ended.is_empty());
}

#[test]
fn a_closed_window_is_probed_every_600_ms() {
    let mut server = Server::new();
    let ours = server.session();
    let id = server.sessions[0];
    server.node.send(server.now, id, &pattern(0, 6 * 1440)).unwrap();
    // Four packets are in its window, the last of which asks for an acknowledgement.
    let sent = server.sent();
    let asks = |one: &SessionHeader| one.control & control::ACKNOWLEDGE != 0;
    assert_eq!(sent.iter().map(asks).collect::<Vec<_>>(), [false, false, false, true]);
    let shut = SessionHeader { control: control::SYSTEM, expected: 4, ..part(ours, 1, 0) };
    assert!(server.hear(CLIENT, shut, b"").is_empty());
    let expected: Vec<_> = (1..4).map(|index| (index * 600_000_000, IS_SYSTEM)).collect();
    let asked = server.until(1_900);
    assert_eq!(asked.iter().map(|one| (one.0, one.1.control)).collect::<Vec<_>>(), expected);
    // While it answers it is there; each answer begins the time anew, and the questions.
    server.hear(CLIENT, shut, b"");
    let asked = server.until(60_000);
    assert_eq!(asked.len(), 8);
    assert_eq!(asked[0].0, 600_000_000);
    assert_eq!(server.ended, [Why::NoAnswer]);
    assert_eq!((server.counted("t1_expiries"), server.counted("information_sent")), (0, 4));
}

#[test]
fn acknowledgements_wait_250_ms_unless_requested() {
    let mut server = Server::new();
    let ours = server.session();
    assert!(server.hear(CLIENT, part(ours, 1, 1), b"x").is_empty());
    server.pass(100);
    // A second one does not have it wait longer.
    assert!(server.hear(CLIENT, part(ours, 2, 1), b"x").is_empty());
    let sent = server.until(1_000);
    assert_eq!(sent.len(), 1);
    assert_eq!(
        (sent[0].0, sent[0].1.control, sent[0].1.expected),
        (150_000_000, control::SYSTEM, 3)
    );
    let asked = SessionHeader { control: 0x50, ..part(ours, 3, 1) };
    assert_eq!(server.hear(CLIENT, asked, b"x").len(), 1);
    assert!(server.until(1_000).is_empty());
    // With data it needs no packet of its own.
    assert!(server.hear(CLIENT, part(ours, 4, 1), b"x").is_empty());
    server.node.send(server.now, server.sessions[0], b"answer").unwrap();
    let sent = server.until(499);
    assert_eq!((sent.len(), sent[0].1.sequence, sent[0].1.expected), (1, 0, 5));
    assert_eq!(server.counted("information_received"), 4);
    // The answer of the call, and two acknowledgements.
    assert_eq!(server.counted("supervisory_sent"), 3);
}

/// A session whose round trip was measured: how many parts of a message are acknowledged together, and after what time
/// data go out again.
fn after_round_trip(milliseconds: u64) -> (usize, u64) {
    let mut server = Server::new();
    let ours = server.session();
    let id = server.sessions[0];
    server.node.send(server.now, id, &pattern(0, 4 * 1440 + 1)).unwrap();
    assert_eq!(server.sent().len(), 4);
    server.now = server.now.plus_nanos(milliseconds * 1_000_000);
    let all =
        SessionHeader { control: control::SYSTEM, expected: 4, window_end: 9, ..part(ours, 1, 0) };
    assert_eq!(server.hear(CLIENT, all, b"").len(), 1);
    let again = server.until(100_000)[0].0;
    let mut server = Server::new();
    let ours = server.session();
    server.node.send(server.now, server.sessions[0], &pattern(0, 4 * 1440 + 1)).unwrap();
    server.sent();
    server.now = server.now.plus_nanos(milliseconds * 1_000_000);
    let last = SessionHeader { expected: 4, window_end: 9, destination: ours, ..all };
    server.hear(CLIENT, last, b"");
    let done = SessionHeader { expected: 5, ..last };
    server.hear(CLIENT, done, b"");
    let mut parts = 0;
    for sequence in 1..5 {
        let header = SessionHeader {
            control: 0,
            expected: 5,
            window_end: 9,
            total_bytes: 100,
            offset: sequence - 1,
            ..part(ours, sequence, 1)
        };
        parts += 1;
        if !server.hear(CLIENT, header, b"x").is_empty() {
            break;
        }
    }
    (parts, again)
}

/// Q99745: on a slow network each second packet is acknowledged; the first wait is two round trips at least.
#[test]
fn a_round_trip_of_half_a_second_counts_as_a_slow_network() {
    assert_eq!(after_round_trip(1), (4, 500_000_000));
    assert_eq!(after_round_trip(249), (4, 500_000_000));
    assert_eq!(after_round_trip(499), (4, 998_000_000));
    assert_eq!(after_round_trip(500), (2, 1_000_000_000));
}

#[test]
fn a_closed_session_answers_disconnects_for_ten_seconds() {
    for (after_ms, is_answered) in [(9_999, true), (10_000, false)] {
        let mut server = Server::new();
        let ours = server.session();
        let end = SessionHeader { stream: stream::END, ..part(ours, 1, 0) };
        assert_eq!(server.hear(CLIENT, end, b"").len(), 1);
        server.pass(after_ms);
        assert_eq!(server.hear(CLIENT, end, b"").len(), usize::from(is_answered), "{after_ms}");
    }
}

#[test]
fn sessions_are_limited_to_127_per_station_and_254_in_all() {
    let mut server = Server::new();
    let open = |server: &mut Server, from: Mac, number: u16| {
        let said = server.call(from, number);
        let ours = said.first()?.source;
        // Sessions that are not used make room.
        for sequence in 1..=6 {
            server.hear(from, SessionHeader { source: number, ..part(ours, sequence, 1) }, b"x");
        }
        Some(ours)
    };
    for number in 1..=127 {
        assert!(open(&mut server, CLIENT, number).is_some(), "{number}");
    }
    assert_eq!(open(&mut server, CLIENT, 200), None);
    for number in 1..=127 {
        assert!(open(&mut server, OTHER, number).is_some(), "{number}");
    }
    let third = Mac([2, 0, 0, 0, 0, 79]);
    assert_eq!(open(&mut server, third, 1), None);
    // Two calls, and two packets of each session beyond its window.
    assert_eq!(server.counted("information_discarded"), 2 + 2 * 254);
    assert_eq!((server.sessions.len(), server.counted("crowded_out")), (254, 0));
    // One that is over makes room, and was reported before.
    let end = |server: &mut Server, ours| {
        let header = SessionHeader { stream: stream::END, source: 5, ..part(ours, 5, 0) };
        server.hear(CLIENT, header, b"");
    };
    let fifth = server.call(CLIENT, 5);
    assert_eq!(fifth.len(), 1, "a late copy is answered");
    end(&mut server, fifth[0].source);
    assert_eq!(server.ended, [Why::ByPeer]);
    assert!(open(&mut server, third, 1).is_some());
    assert_eq!(server.counted("crowded_out"), 0);
}

#[test]
fn a_station_opens_at_most_254_sessions() {
    let mut server = Server::new();
    let to = Called::Name(name(7));
    let ids: Vec<_> = (0..254).map(|_| server.node.open(server.now, to)).collect();
    server.drain();
    assert!(server.ended.is_empty());
    server.node.open(server.now, to);
    server.drain();
    assert_eq!(server.ended, [Why::NoResources]);
    server.node.close(server.now, ids[3]);
    server.node.open(server.now, to);
    server.drain();
    assert_eq!(server.ended, [Why::NoResources, Why::Closed]);
    assert_eq!(server.node.send(server.now, ids[0], b"x"), Err(NotSent::NoSession));
}

/// Five times, a second apart (Q99745).
#[test]
fn an_unanswered_call_is_sent_five_times() {
    let (mut segment, _) = pair([WINDOWS_NT; 2], [Peer::sending([]), Peer::default()]);
    let begin = segment.now;
    segment.capture = Some(vec![]);
    let id = open(&mut segment, 1, 0);
    segment.run_until(ms(20_000));
    let ended = segment.program(1).ended[&id];
    assert_eq!(ended, Why::NoAnswer);
    let calls: Vec<_> = packets(segment.capture.as_ref().unwrap())
        .into_iter()
        .filter(|(_, from, header)| {
            *from == 1 && header.control & (control::CONNECT | control::SYSTEM) == control::CONNECT
        })
        .map(|(at, ..)| at)
        .collect();
    let gaps: Vec<_> = calls.windows(2).map(|two| two[1] - two[0]).collect();
    assert_eq!(gaps, [1_000_000_000; 4]);
    assert!(calls[0] - begin.as_nanos() < 10_000_000);
}

fn packets(capture: &[u8]) -> Vec<(u64, usize, SessionHeader)> {
    let packet = |(at_ns, frame): (u64, &[u8])| {
        let frame = Frame::parse(frame).unwrap();
        let (_, data) = Packet::parse(framing::packet(&frame).unwrap().0).unwrap();
        let station = usize::from(frame.header.source.0[5]) - 1;
        let header = is_session(data).then(|| SessionHeader::split(data).unwrap().0)?;
        Some((at_ns - 800_000_000_000_000_000, station, header))
    };
    frames(capture).into_iter().filter_map(packet).collect()
}

#[test]
fn both_ends_count_the_same_traffic() {
    for seed in 0..6 {
        let sent: Vec<_> = (0..12).map(|index| pattern(index, 9_000)).collect();
        let peers = [Peer::sending(sent.clone()), Peer::echoing()];
        let (mut segment, id) = pair([WINDOWS_NT; 2], peers);
        segment.capture = Some(vec![]);
        segment.faults = Faults { lost: seed, doubled: seed, ..Faults::default() };
        segment.run_until(ms(200_000));
        segment.with(0, |now, node, _| node.close(now, id));
        segment.run_until(ms(300_000));
        assert!(segment.program(0).received == sent, "{seed}");
        let seen = packets(segment.capture.as_ref().unwrap());
        for station in [0, 1] {
            let count = |test: &dyn Fn(&SessionHeader) -> bool| {
                seen.iter().filter(|(_, from, header)| *from == station && test(header)).count()
                    as u64
            };
            let is_system = |one: &SessionHeader| one.control & control::SYSTEM != 0;
            let data = count(&|one| {
                one.stream == stream::DATA
                    && one.control & (control::SYSTEM | control::CONNECT) == 0
            });
            let (first, again) = (
                segment.counted(station, "information_sent"),
                segment.counted(station, "information_sent_again"),
            );
            // 12 messages of 9,000 octets in parts of 1,449.
            assert_eq!((first, first + again), (12 * 7, data), "{seed} {station}");
            assert_eq!(segment.counted(station, "supervisory_sent"), count(&is_system));
            let asked = count(&|one| is_system(one) && one.control & control::RESEND != 0);
            assert_eq!(segment.counted(station, "rejects_sent"), asked);
            assert_eq!(segment.counted(station, "information_received"), 12 * 7);
        }
        if seed == 0 {
            for key in ["information_sent_again", "rejects_received", "t1_expiries"] {
                assert_eq!(segment.counted(0, key), 0, "{key}");
            }
        }
    }
}

#[test]
fn a_closing_station_uses_the_negotiated_times() {
    // A session of 3 s that cannot end, as nothing is acknowledged.
    let mut server = Server::new();
    server.session();
    let id = server.sessions[0];
    server.node.send(server.now, id, b"hello").unwrap();
    server.sent();
    server.node.close(server.now, id);
    server.pass(2_999);
    assert!(server.ended.is_empty());
    assert_eq!(server.node.send(server.now, id, b"x"), Err(NotSent::NoSession));
    server.sent();
    server.pass(1);
    assert_eq!(server.ended, [Why::Closed]);
    let ends: Vec<_> = server.sent().into_iter().filter(|one| one.stream == stream::END).collect();
    assert_eq!(ends.len(), 1);
    assert_eq!(ends[0].sequence, 0, "the first number that is not acknowledged");
}

/// A station that has found the one with a name, and its call: our connection.
fn calling() -> (Server, u16) {
    let mut server = Server::new();
    let id = server.node.open(server.now, Called::Name(name(7)));
    server.sessions.push(id);
    server.sent();
    let mut octets = vec![];
    NamePacket { flags: 0xc0, command: NameCommand::Recognized, name: name(6) }.emit(&mut octets);
    assert!(server.hear_octets(CLIENT, 4, &octets).is_empty(), "another name");
    octets.clear();
    NamePacket { flags: 0xc0, command: NameCommand::Recognized, name: name(7) }.emit(&mut octets);
    let said = server.hear_octets(CLIENT, 4, &octets);
    assert_eq!((said.len(), said[0].destination), (1, NO_CONNECTION));
    assert_eq!((said[0].control, said[0].sequence), (control::CONNECT | control::ACKNOWLEDGE, 0));
    assert!(server.hear_octets(CLIENT, 4, &octets).is_empty(), "it is found");
    (server, said[0].source)
}

#[test]
fn only_the_called_station_can_open_the_session() {
    let opening = |station, longest_data| {
        let mut data = vec![];
        let (source, destination) = (name(station).0, name(0).0);
        Opening { source, destination, longest_data, times: [0; 2] }.emit(&mut data);
        data
    };
    let answer = |ours| SessionHeader {
        control: control::SYSTEM | control::CONNECT,
        expected: 1,
        total_bytes: opening(7, 1440).len() as u16,
        ..part(ours, 0, 0)
    };
    let (mut server, ours) = calling();
    for (header, data) in [
        (SessionHeader { expected: 0, ..answer(ours) }, opening(7, 1440)),
        (SessionHeader { control: control::CONNECT, ..answer(ours) }, opening(7, 1440)),
        (SessionHeader { control: control::SYSTEM, ..answer(ours) }, opening(7, 1440)),
        (answer(ours), opening(6, 1440)),
        (answer(ours), vec![0; 3]),
    ] {
        assert!(server.hear(CLIENT, header, &data).is_empty());
        assert_eq!(server.node.send(server.now, server.sessions[0], b"x"), Err(NotSent::NoSession));
    }
    assert_eq!(server.counted("information_discarded"), 5);
    server.hear(CLIENT, answer(ours), &opening(7, 1440));
    assert_eq!(server.node.send(server.now, server.sessions[0], b"x"), Ok(()));
    let sent = server.sent();
    assert_eq!((sent[0].sequence, sent[0].expected, sent[0].destination), (1, 0, THEIRS));
    // One with which nothing can be agreed ends it.
    for (source, longest) in [(THEIRS, 127), (NO_CONNECTION, 1440)] {
        let (mut server, ours) = calling();
        server.hear(CLIENT, SessionHeader { source, ..answer(ours) }, &opening(7, longest));
        assert_eq!(server.ended, [Why::Protocol], "{longest}");
    }
}

/// A call is one at no connection, with data of its stream: what bears only its bits is of a session.
#[test]
fn packets_for_other_streams_are_not_calls() {
    for (destination, number) in [(5, stream::DATA), (NO_CONNECTION, stream::END)] {
        let mut server = Server::new();
        let client = name(5);
        let mut data = vec![];
        let (source, called) = (client.0, name(0).0);
        Opening { source, destination: called, longest_data: 1440, times: [0; 2] }.emit(&mut data);
        let header = SessionHeader {
            control: control::CONNECT | control::ACKNOWLEDGE,
            stream: number,
            source: THEIRS,
            destination,
            total_bytes: data.len() as u16,
            window_end: 3,
            ..Default::default()
        };
        assert!(server.hear(CLIENT, header, &data).is_empty());
        assert_eq!((server.sessions.len(), server.counted("unknown_session_frames")), (0, 1));
    }
}
