//! Frames that no honest station sends: counted, answered as the standard says, and nothing hangs.

use lanlab_stack::nbf::Counts;
use lanlab_stack::node::{CarrierKind, Node, StrayCounts};
use lanlab_stack::profile;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Header, Mac};
use lanlab_wire::llc;
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader, SessionCommand, SessionHeader};
use lanlab_wire::netbios_name::Name;

use crate::pair::ms;
use crate::segment::{mac, name, node};

pub const STRANGER: Mac = Mac([2, 9, 9, 9, 9, 9]);

/// A station that has its name and listens.
pub fn station() -> (Node, Instant) {
    let mut node = node(CarrierKind::Nbf, 0, &profile::WINDOWS_NT);
    node.listen();
    let mut now = Instant::ZERO;
    while let Some(at) = node.poll_timeout() {
        now = at;
        node.handle_timeout(now);
        answers(&mut node, now);
    }
    (node, now)
}

pub fn answers(node: &mut Node, now: Instant) -> Vec<Vec<u8>> {
    let (mut frame, mut message, mut frames) = (vec![], vec![], vec![]);
    while node.poll_event(&mut message).is_some() {}
    while node.poll_transmit(now, &mut frame) {
        frames.push(Frame::parse(&frame).unwrap().payload.to_vec());
    }
    frames
}

pub fn give(node: &mut Node, now: Instant, to: Mac, pdu: &[u8]) -> Vec<Vec<u8>> {
    let header = Header { destination: to, source: STRANGER, framing: Framing::Llc };
    let mut frame = vec![];
    Frame { header, payload: pdu }.emit(&mut frame).unwrap();
    node.handle_frame(now, &frame);
    answers(node, now)
}

#[test]
fn foreign_and_malformed_frames_are_counted_and_not_answered() {
    let (mut node, now) = station();
    let (before, strays) = (node.nbf().unwrap().station_counts(), node.stray_counts());
    // Longer than it is; neither length nor type; empty; another station's; another SAP's.
    node.handle_frame(now, &[&mac(0).0[..], &STRANGER.0, &[0x01, 0x00], &[0; 46]].concat());
    node.handle_frame(now, &[&mac(0).0[..], &STRANGER.0, &[0x05, 0xdd], &[0; 46]].concat());
    node.handle_frame(now, &[]);
    assert_eq!(give(&mut node, now, mac(7), &[0xf0, 0xf0, 0x7f]), [] as [Vec<u8>; 0]);
    assert_eq!(give(&mut node, now, mac(0), &[0xe0, 0xe0, 0x03, 1, 2]), [] as [Vec<u8>; 0]);
    // NetBIOS that is none.
    assert_eq!(give(&mut node, now, mac(0), &[0xf0, 0xf0, 0x03, 1, 2]), [] as [Vec<u8>; 0]);
    let after = node.nbf().unwrap().station_counts();
    assert_eq!(
        after,
        Counts {
            unknown_frames: before.unknown_frames + 1,
            received_frames: before.received_frames + 1,
            ..before
        }
    );
    assert_eq!(
        node.stray_counts(),
        StrayCounts {
            malformed_frames: strays.malformed_frames + 3,
            foreign_frames: strays.foreign_frames + 1,
            unknown_sap_frames: strays.unknown_sap_frames + 1,
            ..strays
        }
    );
}

#[test]
fn a_station_without_a_link_gets_dm_to_commands_and_nothing_to_responses() {
    let (mut node, now) = station();
    for (pdu, answer) in [
        (&[0xf0, 0xf0, 0x01, 0x01][..], Some(vec![0xf0, 0xf1, 0x1f])),
        (&[0xf0, 0xf0, 0x00, 0x00, 7], Some(vec![0xf0, 0xf1, 0x0f])),
        (&[0xf0, 0xf0, 0x53], Some(vec![0xf0, 0xf1, 0x1f])),
        (&[0xf0, 0xf1, 0x01, 0x01], None),
        (&[0xf0, 0xf1, 0x73], None),
    ] {
        assert_eq!(give(&mut node, now, mac(0), pdu), Vec::from_iter(answer), "{pdu:x?}");
    }
    // XID and TEST, also where the SAP is the station itself.
    let xid = give(&mut node, now, mac(0), &[0x00, 0xf0, 0xbf, 0x81, 0x01, 0x00]);
    assert_eq!(xid, [[0xf0, 0x01, 0xbf, 0x81, 0x03, 20]]);
    let test = give(&mut node, now, mac(0), &[0xf0, 0xf0, 0xf3, b'h', b'i']);
    assert_eq!(test, [[0xf0, 0xf1, 0xf3, b'h', b'i']]);
}

#[test]
fn data_for_closed_sessions_is_counted_and_the_link_stays() {
    let (mut node, now) = station();
    assert_eq!(give(&mut node, now, mac(0), &[0xf0, 0xf0, 0x7f]), [[0xf0, 0xf1, 0x73]]);
    let data = [0x0e, 0, 0xff, 0xef, 0x16, 0, 0, 0, 0, 0, 1, 0, 9, 9, b'x'];
    let pdu = [&[0xf0, 0xf0, 0x00, 0x01][..], &data].concat();
    assert_eq!(give(&mut node, now, mac(0), &pdu), [[0xf0, 0xf1, 0x01, 0x03]]);
    assert_eq!(node.nbf().unwrap().station_counts().unknown_session_frames, 1);
    // A link that no session uses ends by itself.
    let mut now = now;
    let mut sent = vec![];
    while let Some(at) = node.poll_timeout() {
        now = at;
        node.handle_timeout(now);
        sent.extend(answers(&mut node, now));
    }
    assert!(sent.contains(&vec![0xf0, 0xf0, 0x53]), "{sent:x?}");
    assert!(now < ms(60_000), "{now}");
}

pub fn named(
    command: NameCommand,
    [destination, source]: [Name; 2],
    correlators: [u16; 2],
) -> Vec<u8> {
    let [transmit_correlator, response_correlator] = correlators;
    let header = NameHeader::new(command, destination, source);
    let header = NameHeader { transmit_correlator, response_correlator, ..header };
    let mut pdu = vec![0xf0, 0xf0, 0x03];
    header.emit(&mut pdu);
    pdu
}

pub fn commands(answers: &[Vec<u8>]) -> Vec<NameHeader> {
    answers.iter().filter_map(|pdu| Some(NameHeader::parse(pdu.get(3..)?).ok()?.0)).collect()
}

fn is_found(node: &mut Node, now: Instant) -> bool {
    let query = named(NameCommand::NameQuery, [name(0), NO_NAME], [0, 9]);
    let answers = commands(&give(node, now, Mac::NETBIOS_GROUP, &query));
    answers.iter().any(|answer| answer.command == NameCommand::NameRecognized)
}

/// Let the next timer expire; gives when that was, and what was sent.
fn wait(node: &mut Node) -> (Instant, Vec<NameHeader>) {
    let now = node.poll_timeout().expect("a timer");
    node.handle_timeout(now);
    (now, commands(&answers(node, now)))
}

#[test]
fn a_conflict_frame_does_not_take_a_name_away() {
    let (mut node, now) = station();
    let conflict = named(NameCommand::NameInConflict, [name(0), NO_NAME], [0, 0]);
    let asked = commands(&give(&mut node, now, Mac::NETBIOS_GROUP, &conflict));
    // It asks who has the name, and is found meanwhile.
    assert_eq!(asked.len(), 1);
    assert_eq!((asked[0].command, asked[0].source), (NameCommand::AddNameQuery, name(0)));
    assert!(is_found(&mut node, now));
    // Once: more of them ask nothing more.
    assert_eq!(commands(&give(&mut node, now, Mac::NETBIOS_GROUP, &conflict)), []);
    let mut now = now;
    while node.poll_timeout().is_some() {
        now = wait(&mut node).0;
        assert!(is_found(&mut node, now));
    }
    let counts = node.nbf().unwrap().station_counts();
    assert_eq!((counts.name_disputes, counts.name_conflicts), (1, 0));
    // Another one is heard again.
    give(&mut node, now, Mac::NETBIOS_GROUP, &conflict);
    assert_eq!(node.nbf().unwrap().station_counts().name_disputes, 2);
}

#[test]
fn a_name_in_use_is_claimed_again_until_free() {
    let (mut node, now) = station();
    let conflict = named(NameCommand::NameInConflict, [name(0), NO_NAME], [0, 0]);
    let asked = commands(&give(&mut node, now, Mac::NETBIOS_GROUP, &conflict));
    let objection = |query: &NameHeader| {
        let correlators = [query.response_correlator, 0];
        named(NameCommand::AddNameResponse, [name(0), name(0)], correlators)
    };
    give(&mut node, now, mac(0), &objection(&asked[0]));
    assert!(!is_found(&mut node, now));
    assert_eq!(node.nbf().unwrap().station_counts().name_conflicts, 1);
    // Once more it is another's, and then no more.
    let (retried_at, asked) = wait(&mut node);
    assert!(retried_at.nanos_since(now) >= 10_000_000_000, "{retried_at}");
    assert_eq!(asked[0].command, NameCommand::AddNameQuery);
    give(&mut node, retried_at, mac(0), &objection(&asked[0]));
    assert!(!is_found(&mut node, retried_at));
    let mut now = retried_at;
    while node.poll_timeout().is_some() {
        now = wait(&mut node).0;
    }
    assert!(is_found(&mut node, now));
    assert_eq!(node.nbf().unwrap().station_counts().name_conflicts, 1, "it was said");
}

/// 254 calls with which their stations do not go on, and no link.
#[test]
fn abandoned_calls_keep_no_station_out() {
    let (mut node, now) = station();
    let call = |node: &mut Node, source: Mac, number: u8| {
        let mut pdu = named(NameCommand::NameQuery, [name(0), name(1)], [0, 1]);
        pdu[9] = number;
        let header = Header { destination: mac(0), source, framing: Framing::Llc };
        let mut frame = vec![];
        Frame { header, payload: &pdu }.emit(&mut frame).unwrap();
        node.handle_frame(now, &frame);
        commands(&answers(node, now))[0].data2.to_le_bytes()[0]
    };
    for number in 1..=200 {
        assert_ne!(call(&mut node, STRANGER, number), 0xff, "{number}");
    }
    for station in 0..=255 {
        let number = call(&mut node, Mac([2, 8, 0, 0, 0, station]), 1);
        assert!((1..=254).contains(&number), "{station}: {number}");
    }
    assert_eq!(node.nbf().unwrap().station_counts().crowded_out, 136 + 2 + 64);
}

/// Strangers that begin a session and say nothing on it, too.
#[test]
fn links_and_calls_of_strangers_are_bounded() {
    for goes_on in [false, true] {
        let (mut node, now) = station();
        let (mut refused, mut confirmed) = (0, 0);
        for stranger in 0..300_u16 {
            let [high, low] = stranger.to_be_bytes();
            let source = Mac([2, 8, 0, 0, high, low]);
            let say = |node: &mut Node, pdu: &[u8]| {
                let header = Header { destination: mac(0), source, framing: Framing::Llc };
                let mut frame = vec![];
                Frame { header, payload: pdu }.emit(&mut frame).unwrap();
                node.handle_frame(now, &frame);
            };
            say(&mut node, &[0xf0, 0xf0, 0x7f]);
            let query = NameHeader {
                data2: 1,
                response_correlator: 1,
                ..NameHeader::new(NameCommand::NameQuery, name(0), NO_NAME)
            };
            let mut pdu = vec![0xf0, 0xf0, 0x03];
            query.emit(&mut pdu);
            say(&mut node, &pdu);
            for answer in answers(&mut node, now) {
                let (header, information) = llc::Header::parse(&answer).unwrap();
                let is_dm = header.control.to_wire()[0] == 0x1f;
                let found = NameHeader::parse(information).ok().map(|(header, _)| header);
                let number = found.map(|header| header.data2.to_le_bytes()[0]);
                refused += u32::from(is_dm || number == Some(0xff));
                if let Some(found) = found.filter(|_| goes_on) {
                    let mut initialize = vec![0xf0, 0xf0, 0, 0];
                    SessionHeader {
                        command: SessionCommand::SessionInitialize,
                        data1: 0,
                        data2: 1400,
                        transmit_correlator: found.response_correlator,
                        response_correlator: 1,
                        destination_number: found.data2.to_le_bytes()[0],
                        source_number: 1,
                    }
                    .emit(&mut initialize);
                    say(&mut node, &initialize);
                }
            }
            let is_confirmed = |frame: &Vec<u8>| {
                SessionHeader::parse(&frame[4..])
                    .is_ok_and(|(header, _)| header.command == SessionCommand::SessionConfirm)
            };
            confirmed += answers(&mut node, now).iter().filter(|one| is_confirmed(one)).count();
        }
        // 256 links and 254 sessions: who has done little makes room for 44 and 46 others.
        assert_eq!((refused, node.nbf().unwrap().station_counts().crowded_out), (0, 90));
        assert_eq!(confirmed, if goes_on { 300 } else { 0 });
    }
}

/// A STATUS QUERY for the station's name, and the data of its answer, with the two data fields before.
fn state_for(node: &mut Node, now: Instant, data1: u8, data2: u16) -> (u8, u16, Vec<u8>) {
    let query = NameHeader::new(NameCommand::StatusQuery, name(0), NO_NAME);
    let query = NameHeader { data1, data2, response_correlator: 77, ..query };
    let mut pdu = vec![0xf0, 0xf0, 0x03];
    query.emit(&mut pdu);
    let answers = give(node, now, Mac::NETBIOS_GROUP, &pdu);
    let (header, data) = NameHeader::parse(&answers[0][3..]).unwrap();
    assert_eq!((answers.len(), header.transmit_correlator), (1, 77));
    (header.data1, header.data2, data.to_vec())
}

#[test]
fn status_replies_are_cut_to_the_requested_buffer() {
    let (mut node, now) = station();
    let whole = state_for(&mut node, now, 1, 4000);
    assert_eq!((whole.0, whole.1, whole.2.len()), (1, 78, 78));
    // As `NetBIOS` before 2.1 asks, and is answered.
    assert_eq!(state_for(&mut node, now, 0, 4000).0, 0);
    for (room, length) in [(0, 0), (10, 10), (60, 60), (77, 60), (78, 78)] {
        let (_, data2, data) = state_for(&mut node, now, 1, room);
        let too_short = if room < 78 { 0x4000 } else { 0 };
        assert_eq!((data2, data.len()), (too_short | length, usize::from(length)), "{room}");
    }
    // More names than there are.
    for number in [2, 255] {
        let (data1, data2, data) = state_for(&mut node, now, number, 4000);
        assert_eq!((data1, data2, data), (1, 0, vec![]));
    }
}
