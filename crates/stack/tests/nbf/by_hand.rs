//! A station and a stranger that speaks NetBIOS frames by hand: what each frame is answered by, when, and what is counted.

use lanlab_stack::node::{Event, NameEvent, Node, NotSent, Peer as Called, SessionId, Why};
use lanlab_stack::profile::{self, Profile};
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Header, Mac};
use lanlab_wire::nbf::{
    AdapterStatus, FIXED_LEN, NO_NAME, NameCommand, NameEntry, NameHeader, SessionCommand,
    SessionHeader, flag, permanent_name, value,
};
use lanlab_wire::netbios_name::Name;

use super::hostile::{STRANGER, commands, named, station};
use super::sessions::pair;
use crate::pair::{ms, pattern};
use crate::peer::Peer;
use crate::segment::{Faults, Segment, frames, mac, name};

type Said = Vec<(SessionHeader, Vec<u8>)>;

pub struct Hand {
    pub node: Node,
    pub now: Instant,
    pub id: SessionId,
    pub events: Vec<(Event, Vec<u8>)>,
    /// Our number of the session, and the station's.
    numbers: [u8; 2],
    /// V(S) and V(R).
    pub sent: u8,
    pub received: u8,
}

pub const OURS: u8 = 7;

impl Hand {
    fn without_session() -> Self {
        let (node, now) = station();
        let (id, numbers, events) = (SessionId(0), [OURS, 0], vec![]);
        Self { node, now, id, events, numbers, sent: 0, received: 0 }
    }

    /// A session of messages in parts of this many octets, with these flags agreed.
    pub fn open(part_bytes: u16, data1: u8) -> Self {
        let mut hand = Self::without_session();
        let mut query = named(NameCommand::NameQuery, [name(0), name(1)], [0, 33]);
        query[9] = OURS;
        let answer = commands(&hand.give(mac(0), &query));
        assert_eq!((answer.len(), answer[0].transmit_correlator), (1, 33));
        hand.numbers[1] = answer[0].data2 as u8;
        assert_eq!(hand.give(mac(0), &[0xf0, 0xf0, 0x7f]), [[0xf0, 0xf1, 0x73]]);
        let initialize = SessionHeader {
            data1,
            data2: part_bytes,
            response_correlator: 44,
            ..hand.header(SessionCommand::SessionInitialize)
        };
        // With another correlator it is none.
        let correlator = answer[0].response_correlator;
        let other = SessionHeader { transmit_correlator: correlator.wrapping_add(1), ..initialize };
        assert_eq!(hand.say(other, b""), []);
        let right = SessionHeader { transmit_correlator: correlator, ..initialize };
        let confirmed = hand.say(right, b"");
        assert_eq!(confirmed.len(), 1);
        let (confirm, data) = &confirmed[0];
        let expected = SessionHeader {
            command: SessionCommand::SessionConfirm,
            data1: flag::SEND_NO_ACK_ABLE | flag::VERSION_2,
            data2: 1_482,
            transmit_correlator: 44,
            response_correlator: 0,
            destination_number: OURS,
            source_number: hand.numbers[1],
        };
        assert_eq!((confirm, &data[..]), (&expected, &b""[..]));
        let accepted = hand.events.iter().find_map(|(event, _)| match event {
            Event::Accepted { session, called, calling, station, .. } => {
                assert_eq!((*called, *calling), (Called::Name(name(0)), Called::Name(name(1))));
                assert_eq!(*station, STRANGER);
                Some(*session)
            }
            _ => None,
        });
        hand.id = accepted.unwrap();
        hand.events.clear();
        hand
    }

    fn header(&self, command: SessionCommand) -> SessionHeader {
        SessionHeader {
            command,
            data1: 0,
            data2: 0,
            transmit_correlator: 0,
            response_correlator: 0,
            destination_number: self.numbers[1],
            source_number: self.numbers[0],
        }
    }

    pub fn give(&mut self, to: Mac, pdu: &[u8]) -> Vec<Vec<u8>> {
        let header = Header { destination: to, source: STRANGER, framing: Framing::Llc };
        let mut frame = vec![];
        Frame { header, payload: pdu }.emit(&mut frame).unwrap();
        self.node.handle_frame(self.now, &frame);
        self.drain()
    }

    pub fn drain(&mut self) -> Vec<Vec<u8>> {
        let (mut frame, mut message, mut frames) = (vec![], vec![], vec![]);
        loop {
            while let Some(event) = self.node.poll_event(&mut message) {
                let octets =
                    if matches!(event, Event::Message(_)) { message.clone() } else { vec![] };
                self.events.push((event, octets));
            }
            if !self.node.poll_transmit(self.now, &mut frame) {
                return frames;
            }
            frames.push(Frame::parse(&frame).unwrap().payload.to_vec());
        }
    }

    /// Frames of the session among what was sent, each acknowledged, with those that follow.
    fn read(&mut self, pdus: Vec<Vec<u8>>) -> Said {
        let mut said = vec![];
        let mut rest = std::collections::VecDeque::from(pdus);
        while let Some(pdu) = rest.pop_front() {
            if pdu[2] & 1 != 0 {
                continue;
            }
            assert_eq!(pdu[2] >> 1, self.received, "I frames in order");
            self.received = (self.received + 1) % 128;
            let (header, data) = SessionHeader::parse(&pdu[4..]).unwrap();
            said.push((header, data.to_vec()));
            rest.extend(self.give(mac(0), &[0xf0, 0xf1, 0x01, self.received << 1]));
        }
        said
    }

    fn say(&mut self, header: SessionHeader, data: &[u8]) -> Said {
        let mut pdu = vec![0xf0, 0xf0, self.sent << 1, self.received << 1];
        header.emit(&mut pdu);
        pdu.extend(data);
        self.sent = (self.sent + 1) % 128;
        let answers = self.give(mac(0), &pdu);
        self.read(answers)
    }

    /// Frames of the session that time brings, each with its time after now, ms.
    fn pass(&mut self, milliseconds: u64) -> Vec<(u64, SessionHeader)> {
        let (begin, end) = (self.now, self.now.plus_nanos(milliseconds * 1_000_000));
        let mut all = vec![];
        while let Some(at) = self.node.poll_timeout().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.node.handle_timeout(at);
            let pdus = self.drain();
            // Polls of the link are answered.
            if pdus.iter().any(|pdu| pdu[1] == 0xf0 && pdu[2..] == [0x01, (self.sent << 1) | 1]) {
                self.give(mac(0), &[0xf0, 0xf1, 0x01, (self.received << 1) | 1]);
            }
            let said = self.read(pdus);
            let at_ms = self.now.nanos_since(begin) / 1_000_000;
            all.extend(said.into_iter().map(|(header, _)| (at_ms, header)));
        }
        self.now = end;
        all
    }

    pub fn message(&mut self, data1: u8, data: &[u8]) -> Said {
        let command = SessionCommand::DataOnlyLast;
        let header = SessionHeader { data1, response_correlator: 9, ..self.header(command) };
        self.say(header, data)
    }

    fn part(&mut self, data1: u8, data: &[u8]) -> Said {
        let command = SessionCommand::DataFirstMiddle;
        let header = SessionHeader { data1, response_correlator: 9, ..self.header(command) };
        self.say(header, data)
    }

    fn answer(&self, command: SessionCommand) -> SessionHeader {
        SessionHeader {
            destination_number: self.numbers[0],
            source_number: self.numbers[1],
            ..self.header(command)
        }
    }

    pub fn messages(&self) -> Vec<&[u8]> {
        let all = self.events.iter().filter(|(event, _)| matches!(event, Event::Message(_)));
        all.map(|(_, octets)| &octets[..]).collect()
    }

    pub fn happened(&self, event: &Event) -> usize {
        self.events.iter().filter(|(found, _)| found == event).count()
    }

    fn send(&mut self, message: &[u8]) -> Said {
        self.node.send(self.now, self.id, message).unwrap();
        let pdus = self.drain();
        self.read(pdus)
    }
}

pub const BOTH: u8 = flag::SEND_NO_ACK_ABLE | flag::VERSION_2;

/// IBM, "Data Acknowledgment": a frame of its own, with data, or none, as both ends have agreed.
#[test]
fn messages_are_acknowledged_as_negotiated() {
    let ack = |hand: &Hand| SessionHeader {
        transmit_correlator: 9,
        ..hand.answer(SessionCommand::DataAck)
    };
    let mut hand = Hand::open(1_482, BOTH);
    let expected = ack(&hand);
    assert_eq!(hand.message(0, b"one"), [(expected, vec![])]);
    assert_eq!(hand.message(flag::NO_ACK, b"two"), []);
    assert_eq!(hand.message(flag::ACK_WITH_DATA_ALLOWED, b"three"), []);
    // Q90180: it waits 150 ms for data.
    assert_eq!(hand.pass(10_000), [(150, expected)]);
    assert_eq!(hand.message(flag::ACK_WITH_DATA_ALLOWED, b"four"), []);
    // A message that comes meanwhile does not have the one before wait longer.
    assert_eq!(hand.message(flag::ACK_WITH_DATA_ALLOWED, b"five"), [(expected, vec![])]);
    let said = hand.send(b"answer");
    let with = SessionHeader {
        data1: flag::ACK_INCLUDED | flag::ACK_WITH_DATA_ALLOWED,
        response_correlator: said[0].0.response_correlator,
        ..ack(&hand)
    };
    let with = SessionHeader { command: SessionCommand::DataOnlyLast, ..with };
    assert_eq!(said, [(with, b"answer".to_vec())]);
    assert_eq!(hand.pass(10_000), []);
    assert_eq!(hand.messages(), [&b"one"[..], b"two", b"three", b"four", b"five"]);
    // Who does not understand it gets frames, and its flag is none.
    let mut hand = Hand::open(1_482, 0);
    let said = hand.message(flag::ACK_WITH_DATA_ALLOWED, b"x");
    assert_eq!(said, [(ack(&hand), vec![])]);
    assert_eq!(hand.send(b"answer")[0].0.data1, 0);
}

#[test]
fn messages_are_split_to_the_peer_size_and_wait_for_receive_continue() {
    let mut hand = Hand::open(100, BOTH);
    let message = pattern(1, 250);
    // The first part asks to go on.
    let said = hand.send(&message);
    assert_eq!(said.len(), 1);
    let (first, data) = &said[0];
    assert_eq!(
        (first.command, first.data1),
        (SessionCommand::DataFirstMiddle, flag::RECEIVE_CONTINUE)
    );
    assert_eq!((&data[..], first.data2), (&message[..100], 0));
    assert_ne!(first.response_correlator, 0);
    let go_on = |hand: &Hand, transmit_correlator| SessionHeader {
        transmit_correlator,
        ..hand.header(SessionCommand::ReceiveContinue)
    };
    let right = first.response_correlator;
    let wrong = go_on(&hand, right.wrapping_add(1));
    assert_eq!(hand.say(wrong, b""), []);
    let right = go_on(&hand, right);
    let said = hand.say(right, b"");
    assert_eq!(said.iter().map(|one| one.1.len()).collect::<Vec<_>>(), [100, 50]);
    assert_eq!((said[0].0.data1, said[0].0.response_correlator), (0, 0));
    let last = said[1].0;
    assert_eq!(
        (last.command, last.data1),
        (SessionCommand::DataOnlyLast, flag::ACK_WITH_DATA_ALLOWED)
    );
    // Only its own acknowledgement makes room.
    let ack = |hand: &Hand, transmit_correlator| SessionHeader {
        transmit_correlator,
        ..hand.header(SessionCommand::DataAck)
    };
    let other = ack(&hand, last.response_correlator.wrapping_add(1));
    hand.say(other, b"");
    assert_eq!(hand.happened(&Event::Room(hand.id)), 0);
    let own = ack(&hand, last.response_correlator);
    hand.say(own, b"");
    hand.say(own, b"");
    assert_eq!(hand.happened(&Event::Room(hand.id)), 1);
    // The second long message does not ask. What the other end acknowledges with data makes room, too.
    let said = hand.send(&message);
    assert_eq!(said.iter().map(|one| one.1.len()).collect::<Vec<_>>(), [100, 100, 50]);
    let with_ack = SessionHeader {
        data1: flag::ACK_INCLUDED,
        transmit_correlator: said[2].0.response_correlator,
        response_correlator: 9,
        ..hand.header(SessionCommand::DataOnlyLast)
    };
    assert_eq!(hand.say(SessionHeader { data1: 0, ..with_ack }, b"none").len(), 1);
    assert_eq!(hand.happened(&Event::Room(hand.id)), 1);
    hand.say(with_ack, b"with");
    assert_eq!(hand.happened(&Event::Room(hand.id)), 2);
}

/// IBM, "No Receive" and "Receive Outstanding": the sender goes on with the octet after those that were accepted.
#[test]
fn a_paused_receiver_reports_accepted_bytes_and_when_to_resume() {
    let mut hand = Hand::open(100, BOTH);
    assert_eq!(hand.part(0, b"12345"), []);
    hand.node.pause(hand.id);
    let refused = |hand: &Hand, data1| {
        (SessionHeader { data1, data2: 5, ..hand.answer(SessionCommand::NoReceive) }, vec![])
    };
    assert_eq!(hand.part(0, b"67"), [refused(&hand, 0)]);
    // Said once; what comes then is thrown away.
    assert_eq!(hand.message(0, b"89"), []);
    let outstanding = SessionHeader { data2: 5, ..hand.answer(SessionCommand::ReceiveOutstanding) };
    hand.node.resume(hand.id);
    let pdus = hand.drain();
    assert_eq!(hand.read(pdus), [(outstanding, vec![])]);
    assert_eq!(hand.message(0, b"late"), []);
    let again = SessionHeader {
        data2: value::RESYNCHRONIZE,
        response_correlator: 9,
        ..hand.header(SessionCommand::DataOnlyLast)
    };
    assert_eq!(hand.say(again, b"6789").len(), 1);
    assert_eq!(hand.messages(), [b"123456789"]);
    // Of a message that needs no acknowledgement it is said so.
    hand.part(flag::NO_ACK, b"12345");
    hand.node.pause(hand.id);
    assert_eq!(hand.message(flag::NO_ACK, b"67"), [refused(&hand, flag::NO_ACK)]);
    hand.node.resume(hand.id);
    let pdus = hand.drain();
    assert_eq!(hand.read(pdus), [(outstanding, vec![])]);
    hand.say(SessionHeader { data1: flag::NO_ACK, ..again }, b"");
    assert_eq!(hand.messages().len(), 2);
    // Before anything of a message has come, nothing is said until there is memory.
    hand.node.pause(hand.id);
    assert_eq!(hand.part(0, b"12345"), []);
    hand.node.resume(hand.id);
    let pdus = hand.drain();
    assert_eq!(hand.read(pdus), [(SessionHeader { data2: 0, ..outstanding }, vec![])]);
    // While nothing came in vain, there is nothing to say.
    hand.say(again, b"whole");
    hand.node.pause(hand.id);
    hand.node.resume(hand.id);
    assert_eq!(hand.drain(), [] as [Vec<u8>; 0]);
    assert_eq!(hand.messages()[2], b"whole");
}

#[test]
fn a_sender_resumes_where_the_receiver_stopped() {
    let mut hand = Hand::open(100, BOTH);
    let message = pattern(1, 250);
    let say = |hand: &mut Hand, command, data2| {
        let header = SessionHeader { data2, ..hand.header(command) };
        hand.say(header, b"")
    };
    // Without a message they say nothing.
    assert_eq!(say(&mut hand, SessionCommand::NoReceive, 0), []);
    assert_eq!(say(&mut hand, SessionCommand::ReceiveOutstanding, 0), []);
    let first = hand.send(&message)[0].0;
    let go_on = SessionHeader {
        transmit_correlator: first.response_correlator,
        ..hand.header(SessionCommand::ReceiveContinue)
    };
    assert_eq!(hand.say(go_on, b"").len(), 2);
    assert_eq!(say(&mut hand, SessionCommand::NoReceive, 130), []);
    let sent = say(&mut hand, SessionCommand::ReceiveOutstanding, 130);
    // From there, and it asks to go on anew.
    assert_eq!(sent.len(), 1);
    let (header, data) = &sent[0];
    assert_eq!((header.data1, header.data2), (flag::RECEIVE_CONTINUE, value::RESYNCHRONIZE));
    assert_eq!(data[..], message[130..230]);
    let go_on = SessionHeader { transmit_correlator: header.response_correlator, ..go_on };
    let rest = hand.say(go_on, b"");
    assert_eq!((rest.len(), &rest[0].1[..], rest[0].0.data2), (1, &message[230..], 0));
    // Beyond its end: an empty part, and it is whole.
    say(&mut hand, SessionCommand::NoReceive, 250);
    let rest = say(&mut hand, SessionCommand::ReceiveOutstanding, 9_999);
    assert_eq!(
        (rest.len(), rest[0].1.len(), rest[0].0.command),
        (1, 0, SessionCommand::DataOnlyLast)
    );
    // Before it has begun, a message is not held back.
    let done = SessionHeader {
        transmit_correlator: rest[0].0.response_correlator,
        ..hand.header(SessionCommand::DataAck)
    };
    hand.say(done, b"");
    assert_eq!(say(&mut hand, SessionCommand::NoReceive, 0), []);
    assert_eq!(hand.send(b"next").len(), 1);
}

#[test]
fn only_messages_above_the_maximum_end_the_session() {
    for (last, is_ended) in [(65_535 - 65_000, false), (65_536 - 65_000, true)] {
        let mut hand = Hand::open(1_482, BOTH);
        for _ in 0..65 {
            assert_eq!(hand.part(0, &[1; 1_000]), []);
        }
        let said = hand.message(0, &vec![1; last]);
        assert_eq!(said.len(), 1);
        let end =
            SessionHeader { data2: value::ABNORMAL_END, ..hand.answer(SessionCommand::SessionEnd) };
        assert_eq!(said[0].0 == end, is_ended);
        assert_eq!(hand.happened(&Event::Ended(hand.id, Why::Protocol)), usize::from(is_ended));
        assert_eq!(hand.messages().len(), usize::from(!is_ended));
    }
}

#[test]
fn receive_continue_is_sent_on_request_and_session_end_has_a_reason() {
    let mut hand = Hand::open(1_482, BOTH);
    let go_on =
        SessionHeader { transmit_correlator: 9, ..hand.answer(SessionCommand::ReceiveContinue) };
    assert_eq!(hand.part(flag::RECEIVE_CONTINUE, b"x"), [(go_on, vec![])]);
    for (data2, why) in [(0, Why::ByPeer), (1, Why::ByPeerAbnormally)] {
        let mut hand = Hand::open(1_482, BOTH);
        let end = SessionHeader { data2, ..hand.header(SessionCommand::SessionEnd) };
        // One of another session is none.
        let other = SessionHeader { destination_number: end.destination_number ^ 1, ..end };
        hand.say(other, b"");
        hand.say(SessionHeader { source_number: 9, ..end }, b"");
        assert_eq!(hand.node.nbf().unwrap().station_counts().unknown_session_frames, 2);
        assert!(hand.events.is_empty());
        hand.say(end, b"");
        assert_eq!(hand.happened(&Event::Ended(hand.id, why)), 1);
        // The link lasts ten seconds more without a session.
        let begin = hand.now;
        let disconnect = vec![0xf0, 0xf0, 0x53];
        while let Some(at) = hand.node.poll_timeout() {
            hand.now = at;
            hand.node.handle_timeout(at);
            if hand.drain().contains(&disconnect) {
                break;
            }
        }
        let after = hand.now.nanos_since(begin);
        assert_eq!(after, 10_000_000_000);
    }
}

#[test]
fn a_disconnect_waits_three_seconds_for_acknowledgements() {
    let mut hand = Hand::open(1_482, BOTH);
    let sent = hand.send(b"hello")[0].0;
    hand.node.close(hand.now, hand.id);
    assert_eq!(hand.drain(), [] as [Vec<u8>; 0]);
    assert_eq!(hand.node.send(hand.now, hand.id, b"x"), Err(NotSent::NoSession));
    let end =
        |hand: &Hand, data2| SessionHeader { data2, ..hand.answer(SessionCommand::SessionEnd) };
    let abnormal = end(&hand, value::ABNORMAL_END);
    assert_eq!(hand.pass(3_100), [(3_000, abnormal)]);
    assert_eq!(hand.happened(&Event::Ended(hand.id, Why::Closed)), 1);

    let mut hand = Hand::open(1_482, BOTH);
    let again = hand.send(b"hello")[0].0;
    assert!(sent.response_correlator > 0);
    hand.node.close(hand.now, hand.id);
    hand.pass(2_999);
    let ack = SessionHeader {
        transmit_correlator: again.response_correlator,
        ..hand.header(SessionCommand::DataAck)
    };
    let hang_up = end(&hand, value::HANG_UP);
    assert_eq!(hand.say(ack, b""), [(hang_up, vec![])]);
    assert_eq!(hand.happened(&Event::Ended(hand.id, Why::Closed)), 1);
}

/// A call that its station does not go on with is forgotten after three seconds: the same call is then a new one.
#[test]
fn a_call_must_continue_within_three_seconds() {
    for (after_ms, is_same) in [(2_999, true), (3_000, false)] {
        let mut hand = Hand::without_session();
        let mut query = named(NameCommand::NameQuery, [name(0), name(1)], [0, 33]);
        query[9] = OURS;
        let first = commands(&hand.give(mac(0), &query))[0];
        hand.pass(after_ms);
        let second = commands(&hand.give(mac(0), &query))[0];
        assert_eq!(first == second, is_same, "{after_ms}");
        // With another correlator it is a new call, from the same station under the same number.
        query[13] ^= 1;
        let third = commands(&hand.give(mac(0), &query))[0];
        assert_ne!(third.data2, second.data2);
        assert!(hand.events.is_empty(), "it was never announced");
    }
}

#[test]
fn one_station_has_at_most_222_sessions() {
    let mut hand = Hand::without_session();
    assert_eq!(hand.give(mac(0), &[0xf0, 0xf0, 0x7f]), [[0xf0, 0xf1, 0x73]]);
    let call = |hand: &mut Hand, number: u8| {
        let mut query = named(NameCommand::NameQuery, [name(0), name(1)], [0, 33]);
        query[9] = number;
        commands(&hand.give(mac(0), &query))[0]
    };
    for number in 1..=222 {
        let answer = call(&mut hand, number);
        hand.numbers = [number, answer.data2 as u8];
        let initialize = SessionHeader {
            data2: 100,
            transmit_correlator: answer.response_correlator,
            ..hand.header(SessionCommand::SessionInitialize)
        };
        assert_eq!(hand.say(initialize, b"").len(), 1, "{number}");
        // Sessions that are not used make room.
        for _ in 0..6 {
            hand.say(hand.header(SessionCommand::DataOnlyLast), b"x");
        }
    }
    assert_eq!(call(&mut hand, 223).data2, u16::from(value::NO_RESOURCES));
    assert_eq!(hand.node.nbf().unwrap().station_counts().crowded_out, 0);
}

/// Sessions that have ended leave their numbers: there are 254, from one on.
#[test]
fn session_numbers_cycle_from_1_to_254() {
    let (mut node, now) = station();
    let mut numbers = vec![];
    for _ in 0..300 {
        let id = node.open(now, Called::Name(name(3)));
        let (mut frame, mut message) = (vec![], vec![]);
        let nbf = node.nbf().unwrap();
        // The name is looked for first.
        assert!(lanlab_stack::carrier::Carrier::poll_transmit(nbf, now, &mut frame));
        let (query, _) = NameHeader::parse(&frame[17..]).unwrap();
        assert_eq!((query.command, query.data2), (NameCommand::NameQuery, 0));
        let answer = NameHeader {
            command: NameCommand::NameRecognized,
            data2: 0,
            transmit_correlator: query.response_correlator,
            response_correlator: 0,
            destination: query.source,
            source: query.destination,
            ..query
        };
        let mut pdu = vec![0xf0, 0xf0, 0x03];
        answer.emit(&mut pdu);
        let header = Header { destination: mac(0), source: STRANGER, framing: Framing::Llc };
        frame.clear();
        Frame { header, payload: &pdu }.emit(&mut frame).unwrap();
        node.handle_frame(now, &frame);
        assert!(node.poll_transmit(now, &mut frame));
        let (query, _) = NameHeader::parse(&frame[17..]).unwrap();
        numbers.push(query.data2);
        node.close(now, id);
        while node.poll_event(&mut message).is_some() {}
    }
    let expected: Vec<u16> = (1..=254).chain(1..=46).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn at_most_128_answers_wait_for_the_driver() {
    let (mut node, now) = station();
    let header = Header { destination: mac(0), source: STRANGER, framing: Framing::Llc };
    let mut frame = vec![];
    Frame { header, payload: &[0xf0, 0xf0, 0xf3, 1] }.emit(&mut frame).unwrap();
    let before = node.nbf().unwrap().station_counts();
    for _ in 0..130 {
        node.handle_frame(now, &frame);
    }
    let mut sent = vec![];
    let mut count = 0;
    while node.poll_transmit(now, &mut sent) {
        count += 1;
    }
    let after = node.nbf().unwrap().station_counts();
    assert_eq!((count, after.dropped_answers), (128, 2));
    assert_eq!(after.received_frames - before.received_frames, 130);
    assert_eq!(after.sent_frames - before.sent_frames, 128);
}

/// How long a name that is another's is left to it: ten seconds and 40 ms for each of the last octet of the address.
#[test]
fn a_lost_name_is_claimed_again_after_a_station_specific_delay() {
    let mut hand = Hand::without_session();
    let now = hand.now;
    let conflict = named(NameCommand::NameInConflict, [name(0), NO_NAME], [0, 0]);
    let asked = commands(&hand.give(Mac::NETBIOS_GROUP, &conflict))[0];
    // An objection to another claim changes nothing.
    for correlator in [asked.response_correlator ^ 1, asked.response_correlator] {
        assert_eq!(hand.happened(&Event::Name(NameEvent::Conflict(name(0), STRANGER))), 0);
        let objection = named(NameCommand::AddNameResponse, [name(0), name(0)], [correlator, 0]);
        hand.give(mac(0), &objection);
    }
    assert_eq!(hand.happened(&Event::Name(NameEvent::Conflict(name(0), STRANGER))), 1);
    let wait_ns = 10_000_000_000 + 40_000_000 * u64::from(mac(0).0[5]);
    assert_eq!(hand.node.poll_timeout(), Some(now.plus_nanos(wait_ns)));
    // Three claims half a second apart, and it is ours again.
    let mut times = vec![];
    while let Some(at) = hand.node.poll_timeout() {
        hand.now = at;
        hand.node.handle_timeout(at);
        let claims = commands(&hand.drain());
        times.extend(claims.iter().map(|_| at.nanos_since(now) - wait_ns));
    }
    assert_eq!(times, [0, 500_000_000, 1_000_000_000]);
    assert_eq!(hand.now.nanos_since(now) - wait_ns, 1_500_000_000);
    assert_eq!(hand.happened(&Event::Name(NameEvent::Claimed(name(0)))), 1);
}

/// IBM, SESSION ALIVE: after 30 s without traffic.
#[test]
fn keep_alives_are_sent_every_30_s_if_the_profile_has_them() {
    let alive = |profile: Profile| {
        let (mut segment, _) = pair([profile; 2], [Peer::sending([]), Peer::sending([])], 1);
        segment.run_until(ms(5_000));
        segment.capture = Some(vec![]);
        segment.run_until(ms(200_000));
        let capture = segment.capture.take().unwrap();
        let of = |frame: &[u8]| {
            let payload = Frame::parse(frame).unwrap().payload;
            let header = (payload[2] & 1 == 0).then(|| SessionHeader::parse(&payload[4..]));
            header.is_some_and(|read| read.unwrap().0.command == SessionCommand::SessionAlive)
        };
        let times: Vec<u64> =
            frames(&capture).into_iter().filter(|(_, frame)| of(frame)).map(|one| one.0).collect();
        times
    };
    let times = alive(profile::IBM);
    // Six rounds of 30 s, of one end or both.
    assert!((6..=12).contains(&times.len()), "{times:?}");
    let rounds: Vec<_> = times.windows(2).filter(|two| two[1] - two[0] > 1_000_000_000).collect();
    assert_eq!(rounds.len(), 5);
    for two in rounds {
        let gap_ms = (two[1] - two[0]) / 1_000_000;
        assert!((29_990..=30_200).contains(&gap_ms), "{gap_ms}");
    }
    assert_eq!(alive(profile::WINDOWS_NT), []);
}

/// The state of an adapter has what its station counted, and what was seen on the way.
#[test]
fn adapter_status_reports_the_counters_of_the_station() {
    let sent: Vec<_> = (0..10).map(|index| pattern(index, 20_000)).collect();
    let nt = profile::WINDOWS_NT;
    let (mut segment, _) = pair([nt; 2], [Peer::sending(sent), Peer::sending([])], 3);
    segment.run_until(ms(4_050));
    let sent_frames = |segment: &mut Segment<Peer>| {
        [0, 1].map(|one| segment.node(one).nbf().unwrap().station_counts().sent_frames)
    };
    let before = sent_frames(&mut segment);
    segment.keeps_sent = true;
    segment.faults = Faults { lost: 5, ..Faults::default() };
    segment.run_until(ms(100_000));
    segment.faults = Faults::default();
    let after = sent_frames(&mut segment);
    let seen = segment.sent.len() as u64;
    assert_eq!(after[0] + after[1] - before[0] - before[1], seen);
    assert!(seen > 100 && after[1] > before[1]);
    assert_eq!(segment.program(1).received.len(), 10);
    for asked in [0, 1] {
        segment.run_until(ms(181_000));
        let links = segment.node(asked).nbf().unwrap().link_counts();
        let counts = segment.node(asked).nbf().unwrap().station_counts();
        let status = segment.with(asked, |now, node, _| status_of(node, now, name(asked)));
        let entry = NameEntry { name: name(asked), number: 2, state: NameEntry::REGISTERED };
        let expected = AdapterStatus {
            mac: mac(asked),
            major_version: 3,
            adapter_type: 0xfe,
            minutes: 3,
            information_receive_errors: links.information_discarded as u16,
            sent_packets: counts.sent_frames as u32,
            // The question is one more.
            received_packets: counts.received_frames as u32 + 1,
            information_send_errors: links.information_sent_again as u16,
            t1_expiries: links.t1_expiries as u16,
            ti_expiries: links.ti_expiries as u16,
            control_blocks: [255; 3],
            longest_datagram_bytes: 512,
            sessions: [1, 254, 254],
            longest_session_packet_bytes: 1_482,
            name_count: 1,
            ..AdapterStatus::default()
        };
        assert_eq!(status, (expected, entry));
        let mut number = |key| segment.counted(asked, key);
        assert_eq!(number("information_sent"), links.information_sent);
        assert_eq!(number("information_sent_again"), links.information_sent_again);
        assert_eq!(number("information_received"), links.information_received);
        assert_eq!(number("information_discarded"), links.information_discarded);
        assert_eq!(number("supervisory_sent"), links.supervisory_sent);
        assert_eq!(number("t1_expiries"), links.t1_expiries);
        assert_eq!(number("unknown_frames"), 0);
    }
    let first = segment.node(0).nbf().unwrap().link_counts();
    assert!(first.information_sent_again > 0 && first.t1_expiries > 0);
    let own = permanent_name(mac(1));
    let (status, _) = segment.with(1, |now, node, _| status_of(node, now, own));
    assert_eq!((status.mac, status.name_count), (mac(1), 1));
}

/// What a station answers to a query for the status of this name.
fn status_of(node: &mut Node, now: Instant, of: Name) -> (AdapterStatus, NameEntry) {
    let mut query = named(NameCommand::StatusQuery, [of, NO_NAME], [0, 77]);
    query[8] = 1;
    query[9..11].copy_from_slice(&1_454_u16.to_le_bytes());
    let header =
        Header { destination: Mac::NETBIOS_GROUP, source: STRANGER, framing: Framing::Llc };
    let mut frame = vec![];
    Frame { header, payload: &query }.emit(&mut frame).unwrap();
    node.handle_frame(now, &frame);
    let mut sent = vec![];
    assert!(node.poll_transmit(now, &mut sent));
    let answer = Frame::parse(&sent).unwrap();
    let (header, data) = NameHeader::parse(&answer.payload[3..]).unwrap();
    assert_eq!((header.command, header.transmit_correlator), (NameCommand::StatusResponse, 77));
    let first = NameEntry::parse(&data[FIXED_LEN..]).unwrap();
    (AdapterStatus::parse(data).unwrap(), first)
}

/// Two stations that both have a name: the caller says so to both.
#[test]
fn a_second_answer_to_a_call_is_a_name_conflict() {
    let mut hand = Hand::without_session();
    let now = hand.now;
    hand.node.open(now, Called::Name(name(3)));
    let asked = commands(&hand.drain())[0];
    let answer = |asked: &NameHeader, number: u8| {
        let correlators = [asked.response_correlator, 5];
        let mut pdu =
            named(NameCommand::NameRecognized, [asked.source, asked.destination], correlators);
        pdu[9] = number;
        pdu
    };
    let called = commands(&hand.give(mac(0), &answer(&asked, 0)))[0];
    assert_eq!((called.command, called.data2), (NameCommand::NameQuery, 1));
    // What answers another question is counted.
    let unknown = hand.node.nbf().unwrap().station_counts().unknown_frames;
    let mut other = answer(&called, 9);
    other[12] ^= 1;
    hand.give(mac(0), &other);
    assert_eq!(hand.node.nbf().unwrap().station_counts().unknown_frames, unknown + 1);
    // We never ask for a status.
    let status = named(NameCommand::StatusResponse, [name(0), name(3)], [0, 0]);
    hand.give(mac(0), &status);
    assert_eq!(hand.node.nbf().unwrap().station_counts().unknown_frames, unknown + 2);
    let linked = hand.give(mac(0), &answer(&called, 9));
    assert_eq!(linked, [[0xf0, 0xf0, 0x7f]]);
    // The same station again says nothing new; another one is said.
    assert_eq!(hand.give(mac(0), &answer(&called, 9)), [] as [Vec<u8>; 0]);
    let header =
        Header { destination: mac(0), source: Mac([2, 8, 8, 8, 8, 8]), framing: Framing::Llc };
    let mut frame = vec![];
    Frame { header, payload: &answer(&called, 4) }.emit(&mut frame).unwrap();
    hand.node.handle_frame(hand.now, &frame);
    let said = commands(&hand.drain());
    assert_eq!((said.len(), said[0].command), (1, NameCommand::NameInConflict));
    assert_eq!((said[0].destination, said[0].source), (name(3), permanent_name(mac(0))));
}

/// A call to a station needs no link to it yet: the link ends with the last session that uses it.
#[test]
fn a_link_ends_with_its_last_session_even_during_a_call() {
    let mut hand = Hand::open(1_482, BOTH);
    hand.node.open(hand.now, Called::Name(name(3)));
    let asked = commands(&hand.drain())[0];
    let correlators = [asked.response_correlator, 5];
    let found = named(NameCommand::NameRecognized, [asked.source, asked.destination], correlators);
    assert_eq!(commands(&hand.give(mac(0), &found)).len(), 1, "it is called");
    hand.node.close(hand.now, hand.id);
    let pdus = hand.drain();
    assert_eq!(hand.happened(&Event::Ended(hand.id, Why::Closed)), 1);
    hand.received += pdus.iter().filter(|pdu| pdu[2] & 1 == 0).count() as u8;
    let said = hand.give(mac(0), &[0xf0, 0xf0, 0x01, hand.received << 1]);
    assert!(said.contains(&vec![0xf0, 0xf0, 0x53]), "{said:x?}");
}

/// A session that comes while the link to its station ends has it set up anew, once it has ended.
#[test]
fn a_link_needed_while_closing_is_set_up_again() {
    let mut hand = Hand::open(1_482, BOTH);
    hand.node.close(hand.now, hand.id);
    let pdus = hand.drain();
    hand.received += pdus.iter().filter(|pdu| pdu[2] & 1 == 0).count() as u8;
    let said = hand.give(mac(0), &[0xf0, 0xf0, 0x01, hand.received << 1]);
    assert!(said.contains(&vec![0xf0, 0xf0, 0x53]), "{said:x?}");
    hand.node.open(hand.now, Called::Name(name(3)));
    let mut asked = commands(&hand.drain())[0];
    for number in [0, 9] {
        let correlators = [asked.response_correlator, 5];
        let mut found =
            named(NameCommand::NameRecognized, [asked.source, asked.destination], correlators);
        found[9] = number;
        let said = hand.give(mac(0), &found);
        match commands(&said).first() {
            Some(called) => asked = *called,
            None => assert_eq!(said, [] as [Vec<u8>; 0], "the link has not ended yet"),
        }
    }
    // UA to DISC: SABME. Where the link is lost otherwise, the session is, too.
    assert_eq!(hand.give(mac(0), &[0xf0, 0xf1, 0x73]), [[0xf0, 0xf0, 0x7f]]);
    assert_eq!(hand.give(mac(0), &[0xf0, 0xf1, 0x1f]), [] as [Vec<u8>; 0]);
    let ended = hand.events.iter().filter(|one| matches!(one.0, Event::Ended(_, Why::Link(_))));
    assert_eq!(ended.count(), 1);
}
