//! Sessions: set up, messages both ways, flow, end.

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, Event, Peer as Called, SessionId, Why};
use lanlab_stack::profile::{self, Profile};

use crate::pair::{
    check_calls_without_need, check_close, check_idle_session, check_messages_of_every_length,
    check_that_the_last_messages_do_not_wait, check_what_is_refused, ms, open_over, pair_over,
    pattern,
};
use crate::peer::Peer;
use crate::segment::{Faults, Segment, name};

pub fn pair(
    [calling, called]: [Profile; 2],
    [from, to]: [Peer; 2],
    seed: u64,
) -> (Segment<Peer>, SessionId) {
    pair_over(CarrierKind::Nbf, [calling, called], [from, to], seed)
}

#[test]
fn messages_of_every_length_round_trip_between_all_profiles() {
    check_messages_of_every_length(CarrierKind::Nbf, &profile::ALL, 1482);
}

#[test]
fn oversized_messages_are_refused_and_the_send_queue_is_bounded() {
    check_what_is_refused(CarrierKind::Nbf, profile::WINDOWS_NT);
}

#[test]
fn a_call_above_the_session_limit_ends_an_unused_session() {
    let profiles = [profile::WINDOWS_NT, profile::PC_NETWORK];
    let (mut segment, first) = pair(profiles, [Peer::sending([]), Peer::default()], 1);
    let others: Vec<_> = (1..32).map(|_| open_over(CarrierKind::Nbf, &mut segment, 0, 1)).collect();
    segment.run_until(ms(6_000));
    assert_eq!(segment.program(0).ended.len(), 0, "{others:?}");
    let beyond = open_over(CarrierKind::Nbf, &mut segment, 0, 1);
    segment.run_until(ms(8_000));
    let ended = &segment.program(0).ended;
    assert_eq!((ended.len(), ended[&first]), (1, Why::ByPeerAbnormally));
    assert!(!ended.contains_key(&beyond));
}

#[test]
fn closing_flushes_data_and_ends_session_and_link() {
    check_close(CarrierKind::Nbf, profile::WINDOWS_NT);
}

#[test]
fn an_unknown_name_is_not_found_after_all_queries() {
    for (profile, after_ms) in [(profile::WINDOWS_NT, 1_500), (profile::IBM, 3_000)] {
        let (mut segment, _) = pair([profile; 2], [Peer::sending([]), Peer::default()], 1);
        segment.run_until(ms(5_000));
        let id = segment.with(0, |now, node, _| {
            node.open(now, CarrierKind::Nbf, Called::Name(name(7))).unwrap()
        });
        segment.run_until(ms(5_000 + after_ms - 1));
        assert!(!segment.program(0).ended.contains_key(&id));
        segment.run_until(ms(5_000 + after_ms));
        assert_eq!(segment.program(0).ended[&id], Why::NameNotFound, "{}", profile.name);
    }
}

#[test]
fn a_station_that_does_not_listen_is_called_for_two_cycles() {
    let nt = profile::WINDOWS_NT;
    let programs = vec![(nt, Peer::sending([])), (nt, Peer::default())];
    let mut segment = Segment::new(Topology::Cable, programs, 1);
    segment.run_until(ms(4_000));
    let id = segment
        .with(0, |now, node, _| node.open(now, CarrierKind::Nbf, Called::Name(name(1))).unwrap());
    segment.run_until(ms(4_400));
    assert!(!segment.program(0).ended.contains_key(&id));
    segment.run_until(ms(4_600));
    assert_eq!(segment.program(0).ended[&id], Why::NotListening);
}

#[test]
fn a_vanished_station_ends_the_session_after_n2_polls() {
    let nt = profile::WINDOWS_NT;
    let (mut segment, id) = pair([nt, nt], [Peer::sending([]), Peer::default()], 1);
    segment.run_until(ms(4_100));
    segment.faults = Faults { lost: 100, ..Faults::default() };
    segment.with(0, |now, node, _| node.send(now, id, b"hello").unwrap());
    segment.run_until(ms(120_000));
    let (at, _) = segment
        .program(0)
        .events
        .iter()
        .find(|(_, event)| matches!(event, Event::Ended(..)))
        .unwrap();
    // T1 once for the data, then N2 polls, each wait three halves of the one before in whole ticks of 50 ms.
    let mut ticks = [9; 9];
    for poll in 2..9 {
        ticks[poll] = ticks[poll - 1] * 3 / 2;
    }
    let waited_ms: u64 = ticks.iter().sum::<u64>() * 50;
    assert_eq!(at.nanos_since(ms(4_100)) / 1_000_000, waited_ms);
}

#[test]
fn a_paused_receiver_gets_the_whole_message_on_resume() {
    for profile in [profile::WINDOWS_NT, profile::DOS] {
        let sent = vec![pattern(0, 30_000), pattern(1, 30_000), pattern(2, 10)];
        let (mut segment, _) =
            pair([profile; 2], [Peer::sending(sent.clone()), Peer::default()], 1);
        // In the middle of the first message.
        segment.run_until(ms(4_020));
        assert!(segment.program(1).received.is_empty());
        let id = segment.program(1).sessions[0];
        segment.with(1, |_, node, _| node.pause(id));
        segment.run_until(ms(10_000));
        assert!(segment.program(1).received.is_empty(), "{}", profile.name);
        segment.with(1, |_, node, _| node.resume(id));
        segment.run_until(ms(20_000));
        assert!(segment.program(1).received == sent, "{}", profile.name);
        // Between messages nothing is said until the receiver goes on.
        segment.with(1, |_, node, _| node.pause(id));
        segment.with(0, |now, node, program| {
            program.to_send.push_back(pattern(3, 5_000));
            program.pump(now, node);
        });
        segment.run_until(ms(30_000));
        assert_eq!(segment.program(1).received.len(), 3);
        segment.with(1, |_, node, _| node.resume(id));
        segment.run_until(ms(40_000));
        assert!(segment.program(1).received[3] == pattern(3, 5_000), "{}", profile.name);
    }
}

#[test]
fn two_sessions_share_one_link_and_end_apart() {
    let nt = profile::WINDOWS_NT;
    let (mut segment, first) = pair([nt, nt], [Peer::default(), Peer::echoing()], 1);
    segment.run_until(ms(4_100));
    let second = segment
        .with(0, |now, node, _| node.open(now, CarrierKind::Nbf, Called::Name(name(1))).unwrap());
    segment.run_until(ms(4_200));
    assert_eq!(segment.program(0).sessions, [first, second]);
    segment.with(0, |now, node, _| {
        node.send(now, first, b"one").unwrap();
        node.close(now, second);
    });
    segment.run_until(ms(4_900));
    assert_eq!(segment.program(1).received, [b"one"]);
    assert_eq!(segment.program(0).ended.len(), 1);
    let links = segment.node(0).nbf().unwrap().link_counts();
    // SESSION INITIALIZE twice, one message, SESSION END: one link carried all of it.
    assert_eq!(links.information_sent, 4);
    segment.with(0, |now, node, _| node.send(now, first, b"two").unwrap());
    segment.run_until(ms(5_900));
    assert_eq!(segment.program(1).received.len(), 2);
}

#[test]
fn sessions_of_one_link_send_in_turns() {
    let nt = profile::WINDOWS_NT;
    let (mut segment, first) = pair([nt, nt], [Peer::default(), Peer::default()], 1);
    segment.run_until(ms(4_100));
    let second = segment
        .with(0, |now, node, _| node.open(now, CarrierKind::Nbf, Called::Name(name(1))).unwrap());
    segment.run_until(ms(4_200));
    let long = pattern(0, 40_000);
    segment.with(0, |now, node, _| node.send(now, first, &long).unwrap());
    // Long enough for RECEIVE CONTINUE, which the first part waits for.
    segment.run_until(ms(4_210));
    segment.with(0, |now, node, _| node.send(now, second, b"short").unwrap());
    segment.run_until(ms(9_000));
    // The short one does not wait for all 28 parts of the long one.
    assert_eq!(segment.program(1).received, [b"short".to_vec(), long]);
}

#[test]
fn an_idle_session_survives_its_timers() {
    for profile in profile::ALL {
        check_idle_session(CarrierKind::Nbf, profile, ms(600_000));
    }
}

#[test]
fn spurious_timer_calls_change_nothing() {
    check_calls_without_need(CarrierKind::Nbf, profile::IBM);
}

#[test]
fn our_profile_acknowledges_unanswered_messages_at_once() {
    check_that_the_last_messages_do_not_wait(CarrierKind::Nbf);
}

#[test]
fn duplicate_and_late_frames_end_no_session() {
    for seed in 0..60 {
        let profile = profile::ALL[seed as usize % profile::ALL.len()];
        let sent: Vec<_> = (0..6).map(|index| pattern(index, 9_000)).collect();
        let peers = [Peer::sending(sent.clone()), Peer::echoing()];
        let (mut segment, _) = pair_over(CarrierKind::Nbf, [profile; 2], peers, seed);
        let longest_delay_ns = [1, 5, 300][seed as usize % 3] * 1_000_000;
        segment.faults = Faults { lost: 0, doubled: 20, reordered: 20, longest_delay_ns };
        segment.run_until(ms(600_000));
        let (from, to) = (segment.program(0), segment.program(1));
        assert!(
            from.ended.is_empty() && to.ended.is_empty(),
            "{seed} {}: {:?} {:?}",
            profile.name,
            from.ended,
            to.ended
        );
        assert_eq!((&from.received, &to.received), (&sent, &sent), "{seed}");
    }
}
