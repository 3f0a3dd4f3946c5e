//! Sessions: set up, messages both ways, flow, end.

use lanlab_medium::Topology;
use lanlab_stack::node::{CarrierKind, Peer as Called, SessionId, Why};
use lanlab_stack::profile::{self, Profile};

use crate::pair::{ms, open_over, pair_over, pattern};
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
fn a_call_above_the_session_limit_ends_an_unused_session() {
    let profiles = [profile::WINDOWS_NT, profile::PC_NETWORK];
    let (mut segment, first) = pair(profiles, [Peer::sending([]), Peer::default()], 1);
    let others: Vec<_> = (1..32).map(|_| open_over(&mut segment, 0, 1)).collect();
    segment.run_until(ms(6_000));
    assert_eq!(segment.program(0).ended.len(), 0, "{others:?}");
    let beyond = open_over(&mut segment, 0, 1);
    segment.run_until(ms(8_000));
    let ended = &segment.program(0).ended;
    assert_eq!((ended.len(), ended[&first]), (1, Why::ByPeerAbnormally));
    assert!(!ended.contains_key(&beyond));
}

#[test]
fn an_unknown_name_is_not_found_after_all_queries() {
    for (profile, after_ms) in [(profile::WINDOWS_NT, 1_500), (profile::IBM, 3_000)] {
        let (mut segment, _) = pair([profile; 2], [Peer::sending([]), Peer::default()], 1);
        segment.run_until(ms(5_000));
        let id = segment.with(0, |now, node, _| node.open(now, Called::Name(name(7))));
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
    let id = segment.with(0, |now, node, _| node.open(now, Called::Name(name(1))));
    segment.run_until(ms(4_400));
    assert!(!segment.program(0).ended.contains_key(&id));
    segment.run_until(ms(4_600));
    assert_eq!(segment.program(0).ended[&id], Why::NotListening);
}

#[test]
fn two_sessions_share_one_link_and_end_apart() {
    let nt = profile::WINDOWS_NT;
    let (mut segment, first) = pair([nt, nt], [Peer::default(), Peer::echoing()], 1);
    segment.run_until(ms(4_100));
    let second = segment.with(0, |now, node, _| node.open(now, Called::Name(name(1))));
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
    let second = segment.with(0, |now, node, _| node.open(now, Called::Name(name(1))));
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
