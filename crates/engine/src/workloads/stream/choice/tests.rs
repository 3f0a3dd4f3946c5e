//! Which way is chosen, and what is said of it.

use super::*;
use crate::messages::Amount;
use crate::workloads::stream::segments_at_once;

fn candidate(name: &str, messages_per_s: f64, cpu_ns_per_message: f64) -> Candidate {
    super::candidate(name, (messages_per_s, cpu_ns_per_message))
}

fn found(candidates: Vec<Candidate>) -> Found {
    Found { candidates, is_sure: true, tried_at_s: 1_700_000_000, earlier: false }
}

/// Rounds by way and whether two agreed, where way `w` carries `rates[w][n]` in its round `n`, at
/// the same cost each.
fn rounds_of(rates: &[&[f64]]) -> (Vec<usize>, bool) {
    let counts: Vec<std::cell::Cell<usize>> = rates.iter().map(|_| 0.into()).collect();
    let (found, agreed) = rounds(&["a", "b"], |way| {
        let round = counts[way].replace(counts[way].get() + 1);
        Ok((rates[way][round], 1000.0 + way as f64))
    });
    (found.iter().map(Vec::len).collect(), agreed)
}

#[test]
fn two_rounds_that_agree_decide() {
    assert_eq!(rounds_of(&[&[100.0, 100.0], &[200.0, 190.0]]), (vec![1, 2], true));
    assert_eq!(rounds_of(&[&[150.0, 140.0], &[200.0, 190.0]]), (vec![2, 2], true));
}

#[test]
fn two_rounds_that_differ_have_a_third() {
    let rates: [&[f64]; 2] = [&[200.0, 150.0, 180.0], &[150.0, 200.0, 150.0]];
    assert_eq!(rounds_of(&rates), (vec![3, 3], false));
}

#[test]
fn a_way_that_failed_once_is_tried_again() {
    let tries = std::cell::Cell::new(0);
    let (found, agreed) = rounds(&["a"], |_| {
        tries.set(tries.get() + 1);
        if tries.get() == 1 { Err(io::Error::other("once")) } else { Ok((1.0, 1.0)) }
    });
    assert_eq!((tries.get(), found[0].len(), agreed), (3, 2, true));
}

#[test]
fn the_median_of_an_even_number_lies_between_the_middle_two() {
    let of = |values: &[f64]| median(values.iter().copied());
    assert_eq!((of(&[]), of(&[3.0]), of(&[5.0, 3.0])), (0.0, 3.0, 4.0));
    assert_eq!((of(&[9.0, 1.0, 2.0]), of(&[9.0, 1.0, 2.0, 4.0])), (2.0, 3.0));
}

#[test]
fn the_fastest_io_mode_is_chosen_and_reported() {
    let ways = vec![
        candidate("block", 200_000.0, 9_000.0),
        candidate("poll", 310_000.0, 4_000.0),
        candidate("spin", 250_000.0, 6_000.0),
    ];
    let (chosen, choice) = decide(found(ways), None, 0);
    assert_eq!((chosen, choice.tried_at_s), (1, Some(1_700_000_000)));
    assert!(choice.reason.contains("poll carries 310,000 messages/s"), "{}", choice.reason);
    assert!(choice.reason.contains("block 200,000, spin 250,000"), "{}", choice.reason);
}

#[test]
fn a_rate_has_two_digits_and_thousands_apart() {
    let rates =
        [(0.0, "0"), (7.4, "7"), (99.6, "100"), (1_349.0, "1,300"), (1_625_625.0, "1,600,000")];
    for (rate, text) in rates {
        assert_eq!(rounded(rate), text);
    }
}

#[test]
fn of_ways_as_fast_the_cheapest_is_taken() {
    let ways = vec![candidate("spin", 350_000.0, 6_000.0), candidate("poll", 310_000.0, 4_000.0)];
    assert_eq!(decide(found(ways), None, 0).0, 1);
}

#[test]
fn results_of_an_earlier_engine_have_their_time() {
    let ways = || vec![candidate("single", 200.0, 1.0), candidate("batch", 100.0, 1.0)];
    let before = Found { tried_at_s: now_s() - 725, earlier: true, ..found(ways()) };
    let (chosen, choice) = decide(before, None, 0);
    assert_eq!(chosen, 0);
    assert!(choice.reason.ends_with("; batch 100 (tried 12 min before)"), "{}", choice.reason);
    // The clock may have been set back.
    let ahead = Found { tried_at_s: now_s() + 3600, earlier: true, ..found(ways()) };
    assert!(decide(ahead, None, 0).1.reason.ends_with("(tried 0 min before)"));
}

#[test]
fn at_a_rate_the_plain_way_stays_if_it_has_room_to_spare() {
    let ways =
        || vec![candidate("block", 200_000.0, 9_000.0), candidate("poll", 310_000.0, 4_000.0)];
    assert_eq!(decide(found(ways()), Some(90_000.0), 0).0, 0);
    assert_eq!(decide(found(ways()), Some(150_000.0), 0).0, 1);
}

#[test]
fn without_a_trial_the_plain_way_is_taken() {
    let nothing = vec![candidate("block", 0.0, 0.0), candidate("poll", 0.0, 0.0)];
    let (chosen, choice) = decide(found(nothing), None, 0);
    assert_eq!(chosen, 0);
    assert!(choice.reason.contains("nothing could be tried"), "{}", choice.reason);
}

#[test]
fn joined_messages_are_tried_at_their_own_size() {
    let tried_with = |io, message_size_bytes| {
        let spec = StreamSpec {
            transport: Transport::Udp,
            io,
            message_size_bytes,
            ..crate::workloads::stream::tests::spec(Amount::TimeNs(1), None, 100, 1)
        };
        Case::of(&spec, WaysOf::Receive { beside: io }).message_bytes
    };
    assert_eq!(tried_with(Io::Segment, 1408), 1408);
    assert_eq!(tried_with(Io::Segment, 64), 64);
    assert_eq!(tried_with(Io::Batch, 1408), SMALL_BYTES);
    assert_eq!(tried_with(Io::Batch, 9000), LARGE_BYTES);
    assert_eq!((segments_at_once(1408), segments_at_once(64)), (46, 64));
}

fn spec(receive: Receive, io: Io) -> StreamSpec {
    let plain = crate::workloads::stream::tests::spec(Amount::TimeNs(1), None, 100, 1);
    StreamSpec { transport: Transport::Udp, receive, io, ..plain }
}

#[test]
fn a_way_that_was_asked_for_is_taken_without_a_choice() {
    for way in [Receive::Block, Receive::Poll, Receive::Spin] {
        let (taken, choice) = super::receive(&spec(way, Io::Auto), None);
        assert!(taken == way && choice.is_none());
    }
}

#[test]
fn few_messages_are_waited_for_in_the_system_s_call() {
    let (taken, choice) = super::receive(&spec(Receive::Auto, Io::Auto), Some(20_000.0));
    let choice = choice.unwrap();
    assert!(taken == Receive::Block && choice.candidates.is_empty());
    assert_eq!(choice.reason, "20000 messages/s are few: it waits in the system's call");
    let (_, choice) = super::receive(&spec(Receive::Auto, Io::Auto), Some(20_001.0));
    assert_eq!(choice.unwrap().candidates.len(), 3);
}

#[test]
fn the_reported_io_mode_is_the_mode_in_use() {
    let (taken, choice) = super::receive(&spec(Receive::Auto, Io::Single), None);
    let (name, _) = WAYS_TO_RECEIVE.into_iter().find(|(_, way)| *way == taken).unwrap();
    assert!(choice.unwrap().reason.starts_with(name));
    let (taken, choice) = send(&spec(Receive::Auto, Io::Auto));
    let name = if taken == Io::Batch { "batch" } else { "single" };
    assert!(choice.reason.starts_with(name), "{}", choice.reason);
    assert_eq!(choice.candidates.len(), 2);
}

#[test]
fn a_way_as_slow_as_its_bound_is_equal_or_tried_again() {
    // 85 % of the fastest is as fast; below 60 % it is hopeless.
    let cheap = |rate| {
        let ways = [candidate("fast", 200.0, 9.0), candidate("cheap", rate, 1.0)];
        best_of(ways.iter().enumerate())
    };
    assert_eq!((cheap(170.0), cheap(169.0)), (Some(1), Some(0)));
    assert_eq!(best_of([candidate("none", 0.0, 1.0)].iter().enumerate()), None);
    assert_eq!(rounds_of(&[&[120.0, 110.0], &[200.0, 190.0]]).0, [2, 2]);
    assert_eq!(rounds_of(&[&[119.0, 110.0], &[200.0, 190.0]]).0, [1, 2]);
    // Twice the rate is room to spare.
    let ways = || found(vec![candidate("block", 200.0, 9.0), candidate("poll", 310.0, 4.0)]);
    assert_eq!(decide(ways(), Some(100.0), 0).0, 0);
    assert_eq!(decide(ways(), Some(100.1), 0).0, 1);
}

#[test]
fn receive_modes_are_tried_with_send_modes_and_vice_versa() {
    let chosen = |receive, io| {
        let spec = spec(receive, io);
        (sender_beside(&spec), receiver_beside(&spec))
    };
    assert_eq!(chosen(Receive::Auto, Io::Auto), (Io::Batch, Receive::Poll));
    assert_eq!(chosen(Receive::Spin, Io::Segment), (Io::Segment, Receive::Spin));
    assert_eq!(chosen(Receive::Block, Io::Single), (Io::Single, Receive::Block));
}

/// What is found of two ways, of which the first has `firsts` in its rounds and the second 100,
/// on a host that has room as `room` says.
fn tried_of(firsts: &[f64], room: &[bool]) -> Found {
    let next = |at: &Cell<usize>| at.replace(at.get() + 1);
    let (rounds, looks) = (Cell::new(0), Cell::new(0));
    let has_room = || room.get(next(&looks)).copied().unwrap_or(true);
    try_ways(&["a", "b"], has_room, |way| {
        let rate = if way == 0 { firsts[next(&rounds)] } else { 100.0 };
        Ok((rate, 1_000.0))
    })
}

#[test]
fn ways_are_sure_if_two_rounds_agree_on_a_host_with_room() {
    let sure = tried_of(&[110.0, 130.0], &[]);
    assert!(sure.is_sure && !sure.earlier);
    let names: Vec<_> =
        sure.candidates.iter().map(|way| (way.name.as_str(), way.messages_per_s)).collect();
    assert_eq!(names, [("a", 120.0), ("b", 100.0)]);
    // Room that was missing once is missed.
    assert!(!tried_of(&[110.0, 130.0], &[false]).is_sure);
    assert!(!tried_of(&[110.0, 130.0], &[true, true, false]).is_sure);
    assert!(!tried_of(&[150.0, 70.0, 150.0], &[]).is_sure);
}

#[test]
fn what_was_tried_is_known_with_its_time() {
    let since_s = now_s();
    let system_s = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    assert!(since_s.abs_diff(system_s) <= 60, "{since_s} and {system_s}");
    // A size that no other test tries.
    let case = Case {
        transport: Transport::Tcp,
        message_bytes: 77,
        receive_buffer_bytes: None,
        of: WaysOf::Send { beside: Receive::Spin },
    };
    let first = tried(case, |_| Ok((5.0, 1.0)));
    assert!(first.tried_at_s >= since_s);
    assert_eq!(tried(case, |_| panic!("it is known")), first);
}
