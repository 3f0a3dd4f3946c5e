//! What `auto` stands for: the ways to send and to receive are tried on this system, over loopback,
//! and the fastest is taken; among equals the one that costs least.

mod attempt;
mod known;

use std::cell::Cell;
use std::io;

use crate::host;
use crate::messages::{Candidate, Choice, Io, Receive, StreamSpec, Transport, WaysOf};
use attempt::try_once;
use known::Found;
pub(crate) use known::share;

/// How long each way is tried, and how often at most, in turn with the others.
const ROUND_NS: u64 = 8_000_000;
const ROUNDS: usize = 3;
/// A way whose best round has less than this share of the fastest is not tried again: rounds of one
/// and the same way do not differ by as much.
const HOPELESS_RATIO: f64 = 0.6;
/// Ways within this share of the fastest count as equally fast: between short rounds one and the
/// same way differs by as much, and a processor that is spun away is missed elsewhere.
const EQUAL_RATIO: f64 = 0.15;
/// A rate that any system of this century carries in any way.
const SLOW_MESSAGES_PER_S: f64 = 20_000.0;
/// A way must carry so many times a rate to be left alone.
const ROOM_TO_SPARE: f64 = 2.0;
/// Sizes that stand for all that fit a packet of Ethernet, and for all larger ones.
const SMALL_BYTES: usize = 512;
const LARGE_BYTES: usize = 16_384;
const LARGEST_PACKET_BYTES: u32 = 1472;

/// What a choice depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Case {
    transport: Transport,
    message_bytes: usize,
    receive_buffer_bytes: Option<u32>,
    of: WaysOf,
}

const WAYS_TO_RECEIVE: [(&str, Receive); 3] =
    [("block", Receive::Block), ("poll", Receive::Poll), ("spin", Receive::Spin)];
const WAYS_TO_SEND: [(&str, Io); 2] = [("single", Io::Single), ("batch", Io::Batch)];

/// Names of the ways there are, in the order of preference where nothing arrived.
fn ways_of(of: WaysOf) -> &'static [&'static str] {
    const TO_RECEIVE: [&str; 3] =
        [WAYS_TO_RECEIVE[0].0, WAYS_TO_RECEIVE[1].0, WAYS_TO_RECEIVE[2].0];
    const TO_SEND: [&str; 2] = [WAYS_TO_SEND[0].0, WAYS_TO_SEND[1].0];
    match of {
        WaysOf::Receive { .. } => &TO_RECEIVE,
        WaysOf::Send { .. } => &TO_SEND,
    }
}

/// How a receiver shall wait under `spec`, where that is left to the engine.
pub fn receive(spec: &StreamSpec, messages_per_s: Option<f64>) -> (Receive, Option<Choice>) {
    if spec.receive != Receive::Auto {
        return (spec.receive, None);
    }
    if let Some(rate) = messages_per_s.filter(|rate| *rate <= SLOW_MESSAGES_PER_S) {
        let reason = format!("{rate:.0} messages/s are few: it waits in the system's call");
        return (Receive::Block, Some(Choice::without_trial(reason)));
    }
    let sender = if spec.io == Io::Auto { Io::Batch } else { spec.io };
    let case = Case::of(spec, WaysOf::Receive { beside: sender });
    let found = tried(case, |way| try_once(case, sender, WAYS_TO_RECEIVE[way].1));
    let (chosen, choice) = decide(found, messages_per_s, 0);
    (WAYS_TO_RECEIVE[chosen].1, Some(choice))
}

/// Whether a sender without a rate over UDP hands over single messages or batches, where that is
/// left to the engine.
pub fn send(spec: &StreamSpec) -> (Io, Choice) {
    let receiver = if spec.receive == Receive::Auto { Receive::Poll } else { spec.receive };
    let case = Case::of(spec, WaysOf::Send { beside: receiver });
    let found = tried(case, |way| try_once(case, WAYS_TO_SEND[way].1, receiver));
    let (chosen, choice) = decide(found, None, 0);
    (WAYS_TO_SEND[chosen].1, choice)
}

impl Case {
    fn of(spec: &StreamSpec, of: WaysOf) -> Self {
        let message_bytes = match spec.message_size_bytes {
            // Joined, messages count by their bytes: how many fit the receiver's buffer, and so what
            // a pause costs, depends on their size.
            bytes if spec.io == Io::Segment => bytes as usize,
            bytes if bytes <= LARGEST_PACKET_BYTES => SMALL_BYTES,
            _ => LARGE_BYTES,
        };
        Self {
            transport: spec.transport,
            message_bytes,
            receive_buffer_bytes: spec.socket.receive_buffer_bytes,
            of,
        }
    }
}

/// The fastest way; of those as fast the cheapest; with a rate the plain way if it has room to spare.
/// Ways are numbers of `found.candidates`.
fn decide(found: Found, messages_per_s: Option<f64>, plain: usize) -> (usize, Choice) {
    let ways = &found.candidates;
    let rate_of = |way: usize| format!("{} {:.0}", ways[way].name, ways[way].messages_per_s);
    let has_room = |rate: &f64| ways[plain].messages_per_s >= ROOM_TO_SPARE * rate;
    let (chosen, mut reason) = if let Some(rate) = messages_per_s.filter(has_room) {
        let Candidate { name, messages_per_s, .. } = &ways[plain];
        let carried = format!("{name} carries {messages_per_s:.0} messages/s over loopback here");
        (plain, format!("{carried}, and {rate:.0} are asked for"))
    } else if let Some(best) = best_of(ways.iter().enumerate()) {
        let others = (0..ways.len()).filter(|way| *way != best).map(rate_of);
        let Candidate { name, messages_per_s, cpu_ns_per_message } = &ways[best];
        let reason = format!(
            "{name} carries {messages_per_s:.0} messages/s over loopback here at {:.2} \u{b5}s of \
             processor each; {}",
            cpu_ns_per_message / 1000.0,
            others.collect::<Vec<_>>().join(", ")
        );
        (best, reason)
    } else {
        (plain, format!("{}, as nothing could be tried over loopback here", ways[plain].name))
    };
    if found.earlier {
        let ago_s = now_s().saturating_sub(found.tried_at_s);
        reason = format!("{reason} (tried {} min before)", ago_s / 60);
    }
    let tried_at_s = Some(found.tried_at_s);
    (chosen, Choice { reason, candidates: found.candidates, tried_at_s })
}

/// The number of the fastest way; of those as fast of the cheapest; none if nothing arrived.
fn best_of<'a>(ways: impl Iterator<Item = (usize, &'a Candidate)> + Clone) -> Option<usize> {
    let fastest = ways.clone().map(|(_, way)| way.messages_per_s).fold(0.0, f64::max);
    ways.filter(|(_, way)| way.messages_per_s > 0.0)
        .filter(|(_, way)| way.messages_per_s >= (1.0 - EQUAL_RATIO) * fastest)
        .min_by(|(_, a), (_, b)| a.cpu_ns_per_message.total_cmp(&b.cpu_ns_per_message))
        .map(|(number, _)| number)
}

/// Try each way in turn, unless the case is known.
fn tried(case: Case, once: impl Fn(usize) -> io::Result<(f64, f64)>) -> Found {
    let mut memory = known::lock();
    if let Some(found) = memory.of(case) {
        return found.clone();
    }
    let names = ways_of(case.of);
    let has_room = Cell::new(true);
    let (rounds, agreed) = rounds(names, |way| {
        // A thread to send, this one, and one to receive.
        has_room.set(has_room.get() && host::has_room_for(2));
        once(way)
    });
    let candidates = names
        .iter()
        .zip(&rounds)
        .map(|(name, rounds)| {
            let rate = median(rounds.iter().map(|round| round.messages_per_s));
            let cost = median(rounds.iter().map(|round| round.cpu_ns_per_message));
            candidate(name, (rate, cost))
        })
        .collect();
    let is_sure = agreed && has_room.get();
    let found = Found { candidates, is_sure, tried_at_s: now_s(), earlier: false };
    memory.add(case, found.clone());
    found
}

fn now_s() -> u64 {
    lanlab_os::realtime_ns() / 1_000_000_000
}

/// The rounds of each way, and whether two chose the same: these decide, a third is for those that do
/// not agree.
fn rounds(
    names: &[&str],
    once: impl Fn(usize) -> io::Result<(f64, f64)>,
) -> (Vec<Vec<Candidate>>, bool) {
    let mut rounds: Vec<Vec<Candidate>> = vec![Vec::new(); names.len()];
    let mut in_play: Vec<usize> = (0..names.len()).collect();
    let mut chosen_before = None;
    for _ in 0..ROUNDS {
        let mut last = Vec::new();
        for &way in &in_play {
            if let Ok(found) = once(way) {
                let round = candidate(names[way], found);
                rounds[way].push(round.clone());
                last.push((way, round));
            }
        }
        let chosen = best_of(last.iter().map(|(way, round)| (*way, round)));
        if chosen.is_some() && chosen == chosen_before {
            return (rounds, true);
        }
        chosen_before = chosen;
        let best_rate =
            |way: &usize| rounds[*way].iter().map(|round| round.messages_per_s).fold(0.0, f64::max);
        let fastest = in_play.iter().map(best_rate).fold(0.0, f64::max);
        in_play.retain(|way| best_rate(way) >= HOPELESS_RATIO * fastest);
    }
    (rounds, false)
}

fn candidate(name: &str, (messages_per_s, cpu_ns_per_message): (f64, f64)) -> Candidate {
    Candidate { name: name.into(), messages_per_s, cpu_ns_per_message }
}

/// Of two the mean; 0 of none.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let lower = values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0);
    let upper = values.get(values.len() / 2).copied().unwrap_or(lower);
    f64::midpoint(lower, upper)
}

#[cfg(test)]
mod tests {
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
    fn the_fastest_way_is_taken_and_said() {
        let ways = vec![
            candidate("block", 200_000.0, 9_000.0),
            candidate("poll", 310_000.0, 4_000.0),
            candidate("spin", 250_000.0, 6_000.0),
        ];
        let (chosen, choice) = decide(found(ways), None, 0);
        assert_eq!((chosen, choice.tried_at_s), (1, Some(1_700_000_000)));
        assert!(choice.reason.contains("poll carries 310000 messages/s"), "{}", choice.reason);
        assert!(choice.reason.contains("block 200000, spin 250000"), "{}", choice.reason);
    }

    #[test]
    fn of_ways_as_fast_the_cheapest_is_taken() {
        let ways =
            vec![candidate("spin", 350_000.0, 6_000.0), candidate("poll", 310_000.0, 4_000.0)];
        assert_eq!(decide(found(ways), None, 0).0, 1);
    }

    #[test]
    fn what_an_earlier_engine_tried_says_when() {
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
    fn the_way_that_is_said_is_the_way_that_is_taken() {
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
    fn every_way_can_be_tried() {
        let case = |transport, of| Case {
            transport,
            message_bytes: SMALL_BYTES,
            receive_buffer_bytes: None,
            of,
        };
        for transport in [Transport::Udp, Transport::Tcp] {
            for receive in [Receive::Block, Receive::Poll, Receive::Spin] {
                // A round is short: on a busy host nothing may arrive in one.
                let arrives = |_| {
                    let case = case(transport, WaysOf::Send { beside: receive });
                    try_once(case, Io::Single, receive).unwrap().0 > 0.0
                };
                assert!((0..20).any(arrives), "{transport:?} {receive:?}");
            }
        }
    }
}
