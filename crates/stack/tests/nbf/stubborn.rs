//! A peer that holds an open session and does not play by the rules: each ends in bounded time, with the reason, and is
//! counted.

use lanlab_stack::llc::Ended;
use lanlab_stack::node::{Event, NameEvent, Why};
use lanlab_stack::profile;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{NO_NAME, NameCommand};

use super::by_hand::{BOTH, Hand, OURS};
use super::hostile::{STRANGER, commands, named};
use crate::segment::{mac, name};

impl Hand {
    fn wait(&mut self) -> Vec<Vec<u8>> {
        self.now = self.now.max(self.node.poll_timeout().expect("a timer"));
        self.node.handle_timeout(self.now);
        self.drain()
    }

    fn ended(&self) -> Option<Why> {
        self.events.iter().find_map(|(event, _)| match event {
            Event::Ended(_, why) => Some(*why),
            _ => None,
        })
    }
}

#[test]
fn a_peer_that_never_releases_rnr_loses_the_link_after_a_minute() {
    let mut hand = Hand::open(1_482, BOTH);
    let not_ready = [0xf0, 0xf1, 0x05, hand.received << 1];
    let answer = [0xf0, 0xf1, 0x05, hand.received << 1 | 1];
    hand.give(mac(0), &not_ready);
    hand.node.send(hand.now, hand.id, b"hello").unwrap();
    let since = hand.now;
    let mut polls = 0_u64;
    while hand.ended().is_none() {
        let sent = hand.wait();
        assert!(sent.iter().all(|pdu| pdu[2] & 1 == 1), "data in spite of RNR: {sent:x?}");
        if sent.iter().any(|pdu| pdu[1] == 0xf0 && pdu[2] == 0x01 && pdu[3] & 1 == 1) {
            polls += 1;
            hand.give(mac(0), &answer);
        }
        assert!(polls < 1_000, "polled for ever");
    }
    assert_eq!(hand.ended(), Some(Why::Link(Ended::Busy)));
    let waited_s = hand.now.nanos_since(since) as f64 / 1e9;
    assert!((60.0..61.0).contains(&waited_s), "{waited_s} s");
    let counts = hand.node.nbf().unwrap().link_counts();
    assert_eq!(counts.not_ready_received, polls + 1);
}

#[test]
fn acknowledging_unsent_frames_ends_the_link_with_frmr() {
    let mut hand = Hand::open(1_482, BOTH);
    let said = hand.give(mac(0), &[0xf0, 0xf1, 0x01, 77 << 1]);
    // FRMR: control field of the frame, V(S) and V(R), Z.
    assert_eq!(said.len(), 1, "{said:x?}");
    assert_eq!((said[0][2] & 0xef, said[0][3], said[0][4]), (0x87, 0x01, 77 << 1));
    assert_eq!(said[0][7] & 0x08, 0x08);
    assert!(matches!(hand.ended(), Some(Why::Link(Ended::FrameRejectSent(_)))));
    let since = hand.now;
    // Said again until the link without a session has lasted 10 s; then DISC, N2 times, and no more.
    let mut ends = 0;
    while hand.node.poll_timeout().is_some() {
        ends += hand.wait().iter().filter(|pdu| pdu[2] == 0x53).count();
    }
    assert_eq!(ends, profile::WINDOWS_NT.link.n2 as usize);
    let waited_s = hand.now.nanos_since(since) as f64 / 1e9;
    assert!(waited_s < 31.0, "{waited_s} s");
    // After 0, 450, 650, 950, 1400, 2100 and 3150 ms.
    assert_eq!(hand.node.nbf().unwrap().link_counts().frame_rejects_sent, 7);
    // A new link can be set up.
    assert_eq!(hand.give(mac(0), &[0xf0, 0xf0, 0x7f]), [[0xf0, 0xf1, 0x73]]);
}

#[test]
fn frames_for_closed_sessions_are_counted_and_open_ones_continue() {
    let mut hand = Hand::open(1_482, BOTH);
    for command in 0x14..=0x1f {
        let header = [14, 0, 0xff, 0xef, command, 0x0f, 0xff, 0xff, 9, 9, 9, 9, 200, OURS];
        let pdu = [&[0xf0, 0xf0, hand.sent << 1, hand.received << 1][..], &header].concat();
        hand.sent += 1;
        let said = hand.give(mac(0), &pdu);
        assert!(said.iter().all(|pdu| pdu[2] & 1 == 1), "an answer to {command:#x}: {said:x?}");
    }
    let counts = hand.node.nbf().unwrap().station_counts();
    // Ten commands are known; four between 14 and 1F are not.
    assert_eq!(counts.unknown_session_frames + counts.unknown_frames, 12, "{counts:?}");
    assert_eq!(hand.ended(), None);
    hand.message(0, b"x");
    assert_eq!(hand.messages(), [b"x"]);
}

#[test]
fn a_claim_of_our_name_is_answered_and_the_session_continues() {
    let mut hand = Hand::open(1_482, BOTH);
    for command in [NameCommand::AddNameQuery, NameCommand::AddGroupNameQuery] {
        let claim = named(command, [NO_NAME, name(0)], [0, 5]);
        let said = commands(&hand.give(Mac::NETBIOS_GROUP, &claim));
        assert_eq!(said[0].command, NameCommand::AddNameResponse);
        assert_eq!((said[0].transmit_correlator, said[0].source), (5, name(0)));
    }
    // It says that the name is in conflict: that is reported and asked about. It objects: that is
    // reported, too, and what is open stays open.
    let conflict = named(NameCommand::NameInConflict, [name(0), NO_NAME], [0, 5]);
    let asked = commands(&hand.give(Mac::NETBIOS_GROUP, &conflict));
    assert_eq!(hand.happened(&Event::Name(NameEvent::Disputed(name(0), STRANGER))), 1);
    let correlators = [asked[0].response_correlator, 5];
    let objection = named(NameCommand::AddNameResponse, [name(0), name(0)], correlators);
    hand.give(mac(0), &objection);
    assert_eq!(hand.happened(&Event::Name(NameEvent::Conflict(name(0), STRANGER))), 1);
    let mut asking = named(NameCommand::NameQuery, [name(0), name(1)], [0, 5]);
    asking[9] = 8;
    assert_eq!(hand.give(Mac::NETBIOS_GROUP, &asking), [] as [Vec<u8>; 0]);
    assert_eq!(hand.ended(), None);
    hand.message(0, b"x");
    assert_eq!(hand.messages(), [b"x"]);
}
