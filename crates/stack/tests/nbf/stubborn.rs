//! A peer that holds an open session and does not play by the rules: each ends in bounded time, with the reason, and is
//! counted.

use lanlab_stack::llc::Ended;
use lanlab_stack::node::{CarrierKind, Event, Node, SessionId, Why};
use lanlab_stack::profile;
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Header, Mac};
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader};
use lanlab_wire::netbios_name::Name;

use crate::segment::{mac, name, node};

const PEER: Mac = Mac([2, 9, 9, 9, 9, 9]);
const NUMBER: u8 = 7;

struct Called {
    node: Node,
    now: Instant,
    events: Vec<Event>,
    /// N(S) of the peer's next I frame.
    send_number: u8,
    session: SessionId,
    /// Number of the session at the station.
    local: u8,
}

impl Called {
    fn new() -> Self {
        let mut node = node(CarrierKind::Nbf, 0, &profile::WINDOWS_NT);
        node.listen();
        let (events, now, session) = (vec![], Instant::ZERO, SessionId(0));
        let mut called = Self { node, now, events, send_number: 0, session, local: 0 };
        while !called.events.contains(&Event::Claimed(name(0))) {
            called.wait();
        }
        let query = asking(NUMBER);
        let (recognized, _) = NameHeader::parse(&called.give(mac(0), &query)[0][3..]).unwrap();
        called.local = recognized.data2.to_le_bytes()[0];
        called.give(mac(0), &[0xf0, 0xf0, 0x7f]);
        let correlator = recognized.response_correlator.to_le_bytes();
        called.information(0x19, [0x8f, 0xca, 0x05], [correlator, [9, 0]]);
        called.session = called
            .events
            .iter()
            .find_map(|event| match event {
                Event::Accepted { session, .. } => Some(*session),
                _ => None,
            })
            .expect("the session is open");
        called
    }

    fn drained(&mut self) -> Vec<Vec<u8>> {
        let (mut frame, mut message, mut sent) = (vec![], vec![], vec![]);
        loop {
            while let Some(event) = self.node.poll_event(&mut message) {
                self.events.push(event);
            }
            if !self.node.poll_transmit(self.now, &mut frame) {
                return sent;
            }
            sent.push(Frame::parse(&frame).unwrap().payload.to_vec());
        }
    }

    fn give(&mut self, to: Mac, pdu: &[u8]) -> Vec<Vec<u8>> {
        let header = Header { destination: to, source: PEER, framing: Framing::Llc };
        let mut frame = vec![];
        Frame { header, payload: pdu }.emit(&mut frame).unwrap();
        self.node.handle_frame(self.now, &frame);
        self.drained()
    }

    /// The same of an I frame of the session, which acknowledges nothing.
    fn information(
        &mut self,
        command: u8,
        data: [u8; 3],
        correlators: [[u8; 2]; 2],
    ) -> Vec<Vec<u8>> {
        let [[a, b], [c, d]] = correlators;
        let header = [14, 0, 0xff, 0xef, command, data[0], data[1], data[2], a, b, c, d];
        let numbers = [self.local, NUMBER];
        let pdu = [&[0xf0, 0xf0, self.send_number << 1, 0][..], &header, &numbers].concat();
        self.send_number += 1;
        self.give(mac(0), &pdu)
    }

    fn wait(&mut self) -> Vec<Vec<u8>> {
        self.now = self.now.max(self.node.poll_timeout().expect("a timer"));
        self.node.handle_timeout(self.now);
        self.drained()
    }

    fn ended(&self) -> Option<Why> {
        self.events.iter().find_map(|event| match event {
            Event::Ended(session, why) if *session == self.session => Some(*why),
            _ => None,
        })
    }
}

/// NAME QUERY for the station's name, with this session number of the peer.
fn asking(number: u8) -> Vec<u8> {
    let names = (name(0), Name::new("PEER", 0).unwrap());
    name_frame(NameCommand::NameQuery, u16::from(number), names)
}

fn name_frame(command: NameCommand, data2: u16, names: (Name, Name)) -> Vec<u8> {
    let mut pdu = vec![0xf0, 0xf0, 0x03];
    NameHeader {
        command,
        data1: 0,
        data2,
        transmit_correlator: 0,
        response_correlator: 5,
        destination: names.0,
        source: names.1,
    }
    .emit(&mut pdu);
    pdu
}

#[test]
fn a_peer_that_never_releases_rnr_loses_the_link_after_a_minute() {
    let mut called = Called::new();
    called.node.send(called.now, called.session, b"hello").unwrap();
    let since = called.now;
    // SESSION CONFIRM is acknowledged: one I frame was sent before the peer is not ready.
    called.give(mac(0), &[0xf0, 0xf1, 0x05, 1 << 1]);
    let mut polls = 0_u64;
    while called.ended().is_none() {
        let sent = called.wait();
        assert!(sent.iter().all(|pdu| pdu[2] & 1 == 1), "data in spite of RNR: {sent:x?}");
        // Each poll is answered, by RNR again.
        if sent.iter().any(|pdu| pdu[1] == 0xf0 && pdu[2] == 0x01 && pdu[3] & 1 == 1) {
            polls += 1;
            called.give(mac(0), &[0xf0, 0xf1, 0x05, 1 << 1 | 1]);
        }
        assert!(polls < 1_000, "polled for ever");
    }
    assert_eq!(called.ended(), Some(Why::Link(Ended::Busy)));
    let waited_s = called.now.nanos_since(since) as f64 / 1e9;
    assert!((60.0..61.0).contains(&waited_s), "{waited_s} s");
    let counts = called.node.nbf().unwrap().link_counts();
    assert_eq!(counts.not_ready_received, polls + 1);
    assert!(counts.t1_expiries >= polls, "{counts:?}");
}

#[test]
fn acknowledging_unsent_frames_ends_the_link_with_frmr() {
    let mut called = Called::new();
    let said = called.give(mac(0), &[0xf0, 0xf1, 0x01, 77 << 1]);
    // FRMR: control field of the frame, V(S) and V(R), Z.
    assert_eq!(said.len(), 1, "{said:x?}");
    assert_eq!((said[0][2] & 0xef, said[0][3], said[0][4]), (0x87, 0x01, 77 << 1));
    assert_eq!(said[0][7] & 0x08, 0x08);
    assert!(matches!(called.ended(), Some(Why::Link(Ended::FrameRejectSent(_)))));
    let since = called.now;
    // Said again until the link without a session has lasted 10 s; then DISC, N2 times, and no more.
    let mut ends = 0;
    while called.node.poll_timeout().is_some() {
        ends += called.wait().iter().filter(|pdu| pdu[2] == 0x53).count();
    }
    assert_eq!(ends, profile::WINDOWS_NT.link.n2.value as usize);
    let waited_s = called.now.nanos_since(since) as f64 / 1e9;
    assert!(waited_s < 31.0, "{waited_s} s");
    let counts = called.node.nbf().unwrap().link_counts();
    // After 0, 450, 650, 950, 1400, 2100 and 3150 ms.
    assert_eq!(counts.frame_rejects_sent, 7);
    // A new link can be set up.
    assert_eq!(called.give(mac(0), &[0xf0, 0xf0, 0x7f]), [[0xf0, 0xf1, 0x73]]);
}

#[test]
fn frames_for_closed_sessions_are_counted_and_open_ones_continue() {
    let mut called = Called::new();
    let own = called.local;
    called.local = 200;
    for command in 0x14..=0x1f {
        let said = called.information(command, [0x0f, 0xff, 0xff], [[9, 9], [9, 9]]);
        assert!(said.iter().all(|pdu| pdu[2] & 1 == 1), "an answer to {command:#x}: {said:x?}");
    }
    let counts = called.node.nbf().unwrap().station_counts();
    // Ten commands are known; four between 14 and 1F are not.
    assert_eq!(counts.unknown_session_frames + counts.unknown_frames, 12, "{counts:?}");
    assert_eq!(called.ended(), None);
    called.local = own;
    called.information(0x16, [0x04, 0, 0], [[0, 0], [3, 0]]);
    assert!(called.events.contains(&Event::Message(called.session)));
}

#[test]
fn a_claim_of_our_name_is_answered_and_the_session_continues() {
    let mut called = Called::new();
    for command in [NameCommand::AddNameQuery, NameCommand::AddGroupNameQuery] {
        let claim = name_frame(command, 0, (NO_NAME, name(0)));
        let said = called.give(Mac::NETBIOS_GROUP, &claim);
        let (answer, _) = NameHeader::parse(&said[0][3..]).unwrap();
        assert_eq!(answer.command, NameCommand::AddNameResponse);
        assert_eq!((answer.transmit_correlator, answer.source), (5, name(0)));
    }
    // It says that the name is in conflict: that is reported and asked about. It objects: that is
    // reported, too, and what is open stays open.
    let conflict = name_frame(NameCommand::NameInConflict, 0, (name(0), NO_NAME));
    let asked = called.give(Mac::NETBIOS_GROUP, &conflict);
    assert!(called.events.contains(&Event::Disputed(name(0), PEER)), "{:?}", called.events);
    let (query, _) = NameHeader::parse(&asked[0][3..]).unwrap();
    let mut objection = name_frame(NameCommand::AddNameResponse, 0, (name(0), name(0)));
    objection[11..13].copy_from_slice(&query.response_correlator.to_le_bytes());
    called.give(mac(0), &objection);
    assert!(called.events.contains(&Event::Conflict(name(0), PEER)), "{:?}", called.events);
    assert_eq!(called.give(Mac::NETBIOS_GROUP, &asking(8)), [] as [Vec<u8>; 0]);
    assert_eq!(called.ended(), None);
    called.information(0x16, [0x04, 0, 0], [[0, 0], [3, 0]]);
    assert!(called.events.contains(&Event::Message(called.session)));
}
