//! Sessions: names, messages both ways, acknowledgements, windows, silence, end.

use lanlab_stack::node::{CarrierKind, CarrierKinds, Event, Node, NodeConfig};
use lanlab_stack::node::{Readiness, Why};
use lanlab_stack::profile::{self, WINDOWS_9X, WINDOWS_NT, WINDOWS_WFW};
use lanlab_units::Instant;

use super::{ms, open, pair, pattern};
use crate::pair::{
    check_calls_without_need, check_close, check_idle_session, check_messages_of_every_length,
    check_that_the_last_messages_do_not_wait, check_what_is_refused,
};
use crate::peer::Peer;
use crate::segment::{Faults, Segment, mac, name};

#[test]
fn messages_of_every_length_round_trip_between_all_profiles() {
    check_messages_of_every_length(
        CarrierKind::Nbipx,
        &[WINDOWS_NT, WINDOWS_9X, WINDOWS_WFW, profile::DOS],
        1449,
    );
}

#[test]
fn packet_size_is_the_smaller_limit_of_both_ends() {
    // 802.2: 1500 octets without its header of 3, IPX's of 30 and that of the session of 18.
    for (callee, longest) in [(WINDOWS_NT, 1449), (WINDOWS_9X, 1440), (WINDOWS_WFW, 1424)] {
        let (mut segment, _) =
            pair([WINDOWS_NT, callee], [Peer::sending([pattern(1, 2 * longest)]), Peer::default()]);
        segment.run_until(ms(5_000));
        assert_eq!(segment.counted(0, "information_sent"), 2, "{}", callee.name);
        let (mut segment, _) = pair(
            [callee, WINDOWS_NT],
            [Peer::sending([pattern(1, 2 * longest + 1)]), Peer::default()],
        );
        segment.run_until(ms(5_000));
        assert_eq!(segment.counted(0, "information_sent"), 3, "{}", callee.name);
    }
}

#[test]
fn oversized_messages_are_refused_and_the_send_queue_is_bounded() {
    check_what_is_refused(CarrierKind::Nbipx, WINDOWS_NT);
}

/// A message of one packet is acknowledged with data, or after 250 ms; within a message when its window is full.
#[test]
fn acknowledgements_are_delayed_except_for_a_full_window() {
    let (mut segment, _) =
        pair([WINDOWS_NT; 2], [Peer::sending([pattern(0, 10)]), Peer::default()]);
    segment.run_until(ms(4_240));
    assert_eq!((segment.program(1).received.len(), segment.program(0).unacknowledged), (1, 1));
    segment.run_until(ms(4_260));
    assert_eq!(segment.program(0).unacknowledged, 0);
    // 41 packets of 1449 octets: after each four the window is used up; the last one waits again.
    let (mut segment, _) =
        pair([WINDOWS_NT; 2], [Peer::sending([pattern(0, 41 * 1449)]), Peer::default()]);
    segment.run_until(ms(4_200));
    assert_eq!(segment.program(1).received.len(), 1);
    assert_eq!(segment.program(0).unacknowledged, 1);
    // The answer of the call, and ten acknowledgements.
    assert_eq!(segment.counted(1, "supervisory_sent"), 11);
    // The last one is acknowledged, and nothing else is due.
    segment.run_until(ms(4_500));
    assert_eq!(segment.counted(1, "supervisory_sent"), 12);
    // A stack that does not let them wait for data.
    let (mut segment, _) =
        pair([WINDOWS_NT, profile::DOS], [Peer::sending([pattern(0, 10)]), Peer::default()]);
    segment.run_until(ms(4_010));
    assert_eq!(segment.program(0).unacknowledged, 0);
}

#[test]
fn missing_fragments_are_requested_and_resent_at_once() {
    let sent = vec![pattern(0, 60_000)];
    for seed in 0..20 {
        let (mut segment, _) =
            pair([WINDOWS_NT; 2], [Peer::sending(sent.clone()), Peer::default()]);
        segment.faults =
            Faults { doubled: seed, reordered: 10, longest_delay_ns: 3_000_000, lost: 0 };
        segment.run_until(ms(5_500));
        assert!(segment.program(1).received == sent, "{seed}");
    }
    let (mut segment, _) = pair([WINDOWS_NT; 2], [Peer::sending(sent.clone()), Peer::default()]);
    segment.run_until(ms(4_010));
    segment.faults.lost = 10;
    segment.run_until(ms(60_000));
    assert!(segment.program(1).received == sent);
    assert!(segment.counted(1, "rejects_sent") > 0 && segment.counted(0, "rejects_received") > 0);
}

#[test]
fn closing_flushes_data_and_ends_the_session_at_both_ends() {
    check_close(CarrierKind::Nbipx, WINDOWS_NT);
}

#[test]
fn an_unanswered_disconnect_is_resent_and_then_dropped() {
    let (mut segment, id) = pair([WINDOWS_NT; 2], [Peer::default(), Peer::default()]);
    segment.run_until(ms(4_100));
    segment.faults.lost = 100;
    segment.with(0, |now, node, _| node.close(now, id));
    assert_eq!(segment.program(0).ended[&id], Why::Closed);
    segment.run_until(ms(60_000));
    assert_eq!(segment.counted(0, "t1_expiries"), 8);
    assert_eq!(segment.node(0).poll_timeout(), None);
}

#[test]
fn unknown_names_are_not_found_and_non_listeners_do_not_answer() {
    let (mut segment, _) = pair([WINDOWS_NT; 2], [Peer::default(), Peer::default()]);
    for (from, to, after_ms, why) in
        [(0, 7, 1_500, Why::NameNotFound), (1, 0, 5_000, Why::NoAnswer)]
    {
        let begin = segment.now;
        let id = open(&mut segment, from, to);
        segment.run_until(begin.plus_nanos((after_ms - 1) * 1_000_000));
        assert!(segment.program(from).ended.is_empty());
        segment.run_until(begin.plus_nanos((after_ms + 3) * 1_000_000));
        assert_eq!(segment.program(from).ended[&id], why);
    }
}

#[test]
fn a_name_belongs_to_one_station() {
    let node = |station| {
        let carriers = CarrierKinds::only(CarrierKind::Nbipx);
        let config = NodeConfig::new(mac(station), name(0), WINDOWS_NT, carriers);
        (Node::new(&config, Instant::ZERO), Peer::sending([]))
    };
    let topology = lanlab_medium::Topology::Cable;
    let mut segment = Segment::of(topology, vec![node(0), node(1)], 1);
    segment.run_until(ms(4_000));
    let ready = [0, 1].map(|one| segment.node(one).readiness());
    assert!(ready.contains(&Readiness::NameInConflict), "{ready:?}");
    let has_heard = |one| {
        let mut events = segment.program(one).events.iter();
        events.any(|(_, event)| matches!(event, Event::Conflict(..)))
    };
    assert!(has_heard(0) || has_heard(1));
}

#[test]
fn a_paused_receiver_gets_the_whole_message_on_resume() {
    let sent = vec![pattern(0, 30_000), pattern(1, 30_000), pattern(2, 10)];
    let (mut segment, _) = pair([WINDOWS_NT; 2], [Peer::sending(sent.clone()), Peer::default()]);
    segment.run_until(ms(4_020));
    assert!(segment.program(1).received.is_empty());
    let id = segment.program(1).sessions[0];
    segment.with(1, |_, node, _| node.pause(id));
    segment.run_until(ms(100_000));
    assert!(segment.program(1).received.is_empty() && segment.program(0).ended.is_empty());
    // It is asked every 600 ms whether there is room.
    let asked = segment.counted(0, "supervisory_sent");
    segment.run_until(ms(106_000));
    assert_eq!(segment.counted(0, "supervisory_sent") - asked, 10);
    segment.with(1, |_, node, _| node.resume(id));
    segment.run_until(ms(110_000));
    assert!(segment.program(1).received == sent);
    // Between messages, too.
    segment.with(1, |_, node, _| node.pause(id));
    segment.with(0, |now, node, program| {
        program.to_send.push_back(pattern(3, 5_000));
        program.pump(now, node);
    });
    segment.run_until(ms(120_000));
    assert_eq!(segment.program(1).received.len(), 3);
    segment.with(1, |_, node, _| node.resume(id));
    segment.run_until(ms(121_000));
    assert!(segment.program(1).received[3] == pattern(3, 5_000));
}

#[test]
fn an_idle_session_is_probed_and_kept() {
    check_idle_session(CarrierKind::Nbipx, WINDOWS_NT, ms(3_600_000));
}

#[test]
fn session_ends_when_peer_disappears() {
    let (mut segment, id) = pair([WINDOWS_NT; 2], [Peer::sending([]), Peer::sending([])]);
    segment.run_until(ms(4_100));
    segment.faults.lost = 100;
    segment.with(0, |now, node, _| node.send(now, id, b"hello").unwrap());
    segment.run_until(ms(400_000));
    let ended_at = |station| {
        let peer = segment.program(station);
        assert_eq!(peer.ended.values().collect::<Vec<_>>(), [&Why::NoAnswer]);
        let is_end = |(_, event): &&(Instant, Event)| matches!(event, Event::Ended(..));
        peer.events.iter().find(is_end).unwrap().0
    };
    // 500 ms, each time half as much more, nine times in all.
    let waits_ms = (0..9).scan(500.0, |wait, _| Some(std::mem::replace(wait, *wait * 1.5)));
    let expected_ms = 4_100.0 + waits_ms.sum::<f64>();
    assert!((ended_at(0).as_nanos() as f64 / 1e6 - expected_ms).abs() < 1.0);
    // 30 s without a packet, then eight questions.
    assert_eq!((ended_at(1).as_nanos() - ms(4_000).as_nanos()) / 1_000_000_000, 270);
    assert_eq!([0, 1].map(|one| segment.node(one).poll_timeout()), [None, None]);
}

#[test]
fn spurious_timer_calls_change_nothing() {
    check_calls_without_need(CarrierKind::Nbipx, WINDOWS_NT);
}

#[test]
fn our_profile_acknowledges_unanswered_messages_at_once() {
    check_that_the_last_messages_do_not_wait(CarrierKind::Nbipx);
}
