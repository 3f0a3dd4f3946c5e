//! Sessions: names, messages both ways, acknowledgements, windows, silence, end.

use lanlab_stack::node::{CarrierKind, Peer as Called, Why};
use lanlab_wire::ipx::Address;

use super::{OF_XEROX, THREE_PLUS, ms, open, pair, pattern};
use crate::peer::Peer;
use crate::segment::{Faults, frames, mac};

/// A message is acknowledged with data, or after 200 ms; within one when the window of three packets is used up.
#[test]
fn acknowledgements_are_delayed_except_for_a_full_window() {
    let (mut segment, _) =
        pair([THREE_PLUS; 2], [Peer::sending([pattern(0, 10)]), Peer::default()]);
    segment.run_until(ms(4_190));
    assert_eq!((segment.program(1).received.len(), segment.program(0).unacknowledged), (1, 1));
    segment.run_until(ms(4_210));
    assert_eq!(segment.program(0).unacknowledged, 0);
    // 31 packets: ten acknowledgements and the answer of the call; the last one waits.
    let long = pattern(0, 31 * 534);
    let (mut segment, _) = pair([THREE_PLUS; 2], [Peer::sending([long.clone()]), Peer::default()]);
    segment.run_until(ms(4_150));
    assert_eq!((segment.program(1).received.len(), segment.program(0).unacknowledged), (1, 1));
    assert_eq!(segment.counted(1, "supervisory_sent"), 11);
    // A station of Xerox asks for each.
    let (mut segment, _) = pair([OF_XEROX; 2], [Peer::sending([long]), Peer::default()]);
    segment.run_until(ms(4_150));
    assert_eq!(segment.program(0).unacknowledged, 0);
    assert_eq!(segment.counted(1, "supervisory_sent"), 32);
}

#[test]
fn out_of_order_packets_wait_for_earlier_ones() {
    let sent = vec![pattern(0, 60_000)];
    for seed in 0..20 {
        let peers = [Peer::sending(sent.clone()), Peer::default()];
        let (mut segment, _) = pair([OF_XEROX; 2], peers);
        segment.faults =
            Faults { doubled: seed, reordered: 10, longest_delay_ns: 3_000_000, lost: 0 };
        segment.run_until(ms(6_000));
        assert!(segment.program(1).received == sent, "{seed}");
        assert_eq!(segment.counted(0, "t1_expiries"), 0, "{seed}");
    }
}

/// With a window of eight packets, three equal acknowledgements come long before the wait of a second is over.
#[test]
fn enough_later_packets_trigger_an_immediate_resend() {
    let sent = vec![pattern(0, 40 * 534)];
    let (mut quick, mut waits) = (0, 0);
    for seed in 0..30 {
        let peers = [Peer::sending(sent.clone()), Peer::default()];
        let (mut segment, _) = pair([OF_XEROX; 2], peers);
        segment.run_until(ms(4_000).plus_nanos(200_000 * (seed + 3)));
        // About one packet.
        segment.faults.lost = 100;
        let until = segment.now.plus_nanos(480_000);
        segment.run_until(until);
        segment.faults.lost = 0;
        segment.run_until(ms(30_000));
        assert!(segment.program(1).received == sent);
        let (again, late) =
            (segment.counted(0, "information_sent_again"), segment.counted(0, "t1_expiries"));
        quick += u32::from(again > 0 && late == 0);
        waits += u32::from(late > 0);
    }
    println!("{quick} quickly, {waits} after a wait");
    assert!(quick >= 5, "{quick} {waits}");
}

#[test]
fn crossing_disconnects_end_the_session_once() {
    let (mut segment, id) = pair([THREE_PLUS; 2], [Peer::default(), Peer::default()]);
    segment.run_until(ms(4_100));
    let theirs = segment.program(1).sessions[0];
    let heard = segment.heard;
    segment.with(0, |now, node, _| node.close(now, id));
    segment.with(1, |now, node, _| node.close(now, theirs));
    segment.run_until(ms(60_000));
    assert_eq!([0, 1].map(|one| segment.node(one).poll_timeout()), [None, None]);
    assert!(segment.heard - heard <= 8, "{} packets", segment.heard - heard);
    for station in [0, 1] {
        assert_eq!(segment.program(station).ended.values().collect::<Vec<_>>(), [&Why::Closed]);
    }
}

#[test]
fn unknown_names_are_not_found_and_addresses_need_no_name() {
    let (mut segment, _) = pair([THREE_PLUS; 2], [Peer::default(), Peer::default()]);
    let id = open(&mut segment, 0, 7);
    segment.run_until(ms(5_490));
    assert!(segment.program(0).ended.is_empty());
    segment.run_until(ms(5_510));
    assert_eq!(segment.program(0).ended[&id], Why::NameNotFound);
    let called = CarrierKind::Spp.server("02608C000002").unwrap();
    let node = mac(1).0;
    assert_eq!(called, Called::Ipx(Address { network: 0, node, socket: 0x0bbc }));
    for (from, to, why) in [
        (0, called, None),
        (
            1,
            Called::Ipx(Address { network: 0, node: mac(0).0, socket: 0 }),
            Some(Why::NotListening),
        ),
    ] {
        let id = segment.with(from, |now, node, _| node.open(now, to));
        let until = segment.now.plus_nanos(10_000_000);
        segment.run_until(until);
        assert_eq!(segment.program(from).ended.get(&id).copied(), why);
    }
    assert_eq!(segment.program(0).sessions.len(), 2);
    assert!(CarrierKind::Spp.server("A-NAME-THAT-IS-TOO-LONG").is_err());
    assert!(matches!(CarrierKind::Spp.server("02608C00000Z"), Ok(Called::Name(_))));
}

#[test]
fn an_unanswered_call_tries_both_framings_and_times_out_after_75_s() {
    let (mut segment, _) = pair([THREE_PLUS; 2], [Peer::sending([]), Peer::default()]);
    segment.run_until(ms(4_100));
    segment.capture = Some(vec![]);
    let to = Called::Ipx(Address { network: 0, node: [2, 0, 0, 0, 0, 9], socket: 0 });
    let id = segment.with(0, |now, node, _| node.open(now, to));
    segment.run_until(ms(4_100 + 75_001));
    assert_eq!(segment.program(0).ended[&id], Why::NoAnswer);
    let sent = frames(segment.capture.as_ref().unwrap());
    let types: Vec<_> =
        sent.iter().map(|(_, frame)| u16::from_be_bytes([frame[12], frame[13]])).collect();
    // 1, 2, 4 … 32 s after each other.
    assert_eq!(types[..7], [0x600, 47, 0x600, 47, 0x600, 47, 0x600]);
    // The other session was asked for meanwhile.
    assert_eq!(types[7..], [0x600; 2]);
}
