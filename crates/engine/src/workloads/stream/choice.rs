//! What `auto` stands for: the ways to send and to receive are tried on this system, over loopback,
//! and the fastest is taken; among equals the one that costs least.

mod attempt;

use std::io;
use std::sync::{Mutex, PoisonError};

use crate::messages::{Candidate, Choice, Io, Receive, StreamSpec, Transport};
use attempt::try_once;

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

/// Cases that are remembered.
const MOST_KNOWN: usize = 64;

/// What was tried, so that it is tried once: the kernel does not change while we run.
static TRIED: Mutex<Vec<(Case, Vec<Candidate>)>> = Mutex::new(Vec::new());

/// What a choice depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Case {
    transport: Transport,
    message_bytes: usize,
    receive_buffer_bytes: Option<u32>,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// Ways to receive, beside a sender of this kind.
    Receive(Io),
    /// Ways to send, beside a receiver of this kind.
    Send(Receive),
}

/// How a receiver shall wait under `spec`, where that is left to the engine.
pub fn receive(spec: &StreamSpec, messages_per_s: Option<f64>) -> (Receive, Option<Choice>) {
    if spec.receive != Receive::Auto {
        return (spec.receive, None);
    }
    if let Some(rate) = messages_per_s.filter(|rate| *rate <= SLOW_MESSAGES_PER_S) {
        let reason = format!("{rate:.0} messages/s are few: it waits in the system's call");
        return (Receive::Block, Some(Choice { reason, candidates: Vec::new() }));
    }
    let sender = if spec.io == Io::Auto { Io::Batch } else { spec.io };
    let case = Case::of(spec, What::Receive(sender));
    let ways = [Receive::Block, Receive::Poll, Receive::Spin];
    let candidates =
        tried(case, &ways.map(name_of_receive), |way| try_once(case, sender, ways[way]));
    let (chosen, choice) = decide(candidates, messages_per_s, "block");
    (
        ways.into_iter().find(|way| name_of_receive(*way) == chosen).unwrap_or(Receive::Block),
        Some(choice),
    )
}

/// Whether a sender without a rate over UDP hands over single messages or batches, where that is
/// left to the engine.
pub fn send(spec: &StreamSpec) -> (Io, Choice) {
    let receiver = if spec.receive == Receive::Auto { Receive::Poll } else { spec.receive };
    let case = Case::of(spec, What::Send(receiver));
    let ways = [Io::Single, Io::Batch];
    let candidates = tried(case, &["single", "batch"], |way| try_once(case, ways[way], receiver));
    let (chosen, choice) = decide(candidates, None, "single");
    (if chosen == "batch" { Io::Batch } else { Io::Single }, choice)
}

impl Case {
    fn of(spec: &StreamSpec, what: What) -> Self {
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
            what,
        }
    }
}

const fn name_of_receive(way: Receive) -> &'static str {
    match way {
        Receive::Block => "block",
        Receive::Poll => "poll",
        Receive::Spin => "spin",
        Receive::Auto => "auto",
    }
}

/// The fastest way; of those as fast the cheapest; with a rate the plain way if it has room to spare.
fn decide(
    candidates: Vec<Candidate>,
    messages_per_s: Option<f64>,
    plain: &'static str,
) -> (String, Choice) {
    let plainest = candidates.iter().find(|way| way.name == plain);
    if let (Some(rate), Some(way)) = (messages_per_s, plainest)
        && way.messages_per_s >= ROOM_TO_SPARE * rate
    {
        let reason = format!(
            "{plain} carries {:.0} messages/s over loopback here, and {rate:.0} are asked for",
            way.messages_per_s
        );
        return (plain.into(), Choice { reason, candidates });
    }
    let Some(best) = best_of(&candidates) else {
        let reason = format!("{plain}, as nothing could be tried over loopback here");
        return (plain.into(), Choice { reason, candidates });
    };
    let others: Vec<String> = candidates
        .iter()
        .filter(|way| way.name != best.name)
        .map(|way| format!("{} {:.0}", way.name, way.messages_per_s))
        .collect();
    let reason = format!(
        "{} carries {:.0} messages/s over loopback here at {:.2} \u{b5}s of processor each; {}",
        best.name,
        best.messages_per_s,
        best.cpu_ns_per_message / 1000.0,
        others.join(", ")
    );
    (best.name.clone(), Choice { reason, candidates })
}

/// The fastest way; of those as fast the cheapest; none if nothing arrived.
fn best_of(candidates: &[Candidate]) -> Option<&Candidate> {
    let fastest = candidates.iter().map(|way| way.messages_per_s).fold(0.0, f64::max);
    candidates
        .iter()
        .filter(|way| way.messages_per_s > 0.0)
        .filter(|way| way.messages_per_s >= (1.0 - EQUAL_RATIO) * fastest)
        .min_by(|a, b| a.cpu_ns_per_message.total_cmp(&b.cpu_ns_per_message))
}

/// Try each way in turn, unless the case is known.
fn tried(
    case: Case,
    names: &[&str],
    once: impl Fn(usize) -> io::Result<(f64, f64)>,
) -> Vec<Candidate> {
    // Held while trying: two that try at once would measure each other.
    let mut known = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, candidates)) = known.iter().find(|(other, _)| *other == case) {
        return candidates.clone();
    }
    let rounds = rounds(names.len(), once);
    let candidates: Vec<Candidate> = names
        .iter()
        .zip(&rounds)
        .map(|(name, found)| {
            let rate = median(found.iter().map(|(rate, _)| *rate));
            let cost = median(found.iter().map(|(_, cost)| *cost));
            candidate((*name).to_owned(), (rate, cost))
        })
        .collect();
    if known.len() >= MOST_KNOWN {
        known.remove(0);
    }
    known.push((case, candidates.clone()));
    candidates
}

/// Messages per second and cost of each round, by way. Two rounds that choose the same decide; a
/// third is for those that do not.
fn rounds(ways: usize, once: impl Fn(usize) -> io::Result<(f64, f64)>) -> Vec<Vec<(f64, f64)>> {
    let mut rounds: Vec<Vec<(f64, f64)>> = vec![Vec::new(); ways];
    let mut in_play: Vec<usize> = (0..ways).collect();
    let mut chosen_before = None;
    for _ in 0..ROUNDS {
        let mut last = Vec::new();
        for &way in &in_play {
            if let Ok(found) = once(way) {
                rounds[way].push(found);
                last.push(candidate(way.to_string(), found));
            }
        }
        let chosen = best_of(&last).map(|way| way.name.clone());
        if chosen.is_some() && chosen == chosen_before {
            break;
        }
        chosen_before = chosen;
        let best_rate =
            |way: &usize| rounds[*way].iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
        let fastest = in_play.iter().map(best_rate).fold(0.0, f64::max);
        in_play.retain(|way| best_rate(way) >= HOPELESS_RATIO * fastest);
    }
    rounds
}

fn candidate(name: String, (messages_per_s, cpu_ns_per_message): (f64, f64)) -> Candidate {
    Candidate { name, messages_per_s, cpu_ns_per_message }
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
        super::candidate(name.into(), (messages_per_s, cpu_ns_per_message))
    }

    /// Rounds by way, where way `w` carries `rates[w][n]` in its round `n`, at the same cost each.
    fn rounds_of(rates: &[&[f64]]) -> Vec<usize> {
        let counts: Vec<std::cell::Cell<usize>> = rates.iter().map(|_| 0.into()).collect();
        let found = rounds(rates.len(), |way| {
            let round = counts[way].replace(counts[way].get() + 1);
            Ok((rates[way][round], 1000.0 + way as f64))
        });
        found.iter().map(Vec::len).collect()
    }

    #[test]
    fn two_rounds_that_agree_decide() {
        assert_eq!(rounds_of(&[&[100.0, 100.0], &[200.0, 190.0]]), [1, 2]);
        assert_eq!(rounds_of(&[&[150.0, 140.0], &[200.0, 190.0]]), [2, 2]);
    }

    #[test]
    fn two_rounds_that_differ_have_a_third() {
        assert_eq!(rounds_of(&[&[200.0, 150.0, 180.0], &[150.0, 200.0, 150.0]]), [3, 3]);
    }

    #[test]
    fn a_way_that_failed_once_is_tried_again() {
        let tries = std::cell::Cell::new(0);
        let found = rounds(1, |_| {
            tries.set(tries.get() + 1);
            if tries.get() == 1 { Err(io::Error::other("once")) } else { Ok((1.0, 1.0)) }
        });
        assert_eq!((tries.get(), found[0].len()), (3, 2));
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
        let (chosen, choice) = decide(ways, None, "block");
        assert_eq!(chosen, "poll");
        assert!(choice.reason.contains("poll carries 310000 messages/s"), "{}", choice.reason);
        assert!(choice.reason.contains("block 200000, spin 250000"), "{}", choice.reason);
    }

    #[test]
    fn of_ways_as_fast_the_cheapest_is_taken() {
        let ways =
            vec![candidate("spin", 350_000.0, 6_000.0), candidate("poll", 310_000.0, 4_000.0)];
        assert_eq!(decide(ways, None, "block").0, "poll");
    }

    #[test]
    fn at_a_rate_the_plain_way_stays_if_it_has_room_to_spare() {
        let ways =
            || vec![candidate("block", 200_000.0, 9_000.0), candidate("poll", 310_000.0, 4_000.0)];
        assert_eq!(decide(ways(), Some(90_000.0), "block").0, "block");
        assert_eq!(decide(ways(), Some(150_000.0), "block").0, "poll");
    }

    #[test]
    fn without_a_trial_the_plain_way_is_taken() {
        let (chosen, choice) = decide(vec![candidate("poll", 0.0, 0.0)], None, "block");
        assert_eq!(chosen, "block");
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
            Case::of(&spec, What::Receive(io)).message_bytes
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
        assert!(choice.unwrap().reason.starts_with(name_of_receive(taken)));
        let (taken, choice) = send(&spec(Receive::Auto, Io::Auto));
        let name = if taken == Io::Batch { "batch" } else { "single" };
        assert!(choice.reason.starts_with(name), "{}", choice.reason);
        assert_eq!(choice.candidates.len(), 2);
    }

    #[test]
    fn a_way_as_slow_as_its_bound_is_equal_or_tried_again() {
        // 85 % of the fastest is as fast; below 60 % it is hopeless, and nothing that arrived not.
        let cheap = |rate| vec![candidate("fast", 200.0, 9.0), candidate("cheap", rate, 1.0)];
        assert_eq!(best_of(&cheap(170.0)).unwrap().name, "cheap");
        assert_eq!(best_of(&cheap(169.0)).unwrap().name, "fast");
        assert!(best_of(&[candidate("none", 0.0, 1.0)]).is_none());
        assert_eq!(rounds_of(&[&[120.0, 110.0], &[200.0, 190.0]]), [2, 2]);
        assert_eq!(rounds_of(&[&[119.0, 110.0], &[200.0, 190.0]]), [1, 2]);
        // Twice the rate is room to spare.
        let ways = || vec![candidate("block", 200.0, 9.0), candidate("poll", 310.0, 4.0)];
        assert_eq!(decide(ways(), Some(100.0), "block").0, "block");
        assert_eq!(decide(ways(), Some(100.1), "block").0, "poll");
    }

    #[test]
    fn what_was_tried_is_remembered_until_much_else_was() {
        let case = |message_bytes| Case {
            transport: Transport::Udp,
            message_bytes,
            receive_buffer_bytes: Some(4_321),
            what: What::Send(Receive::Poll),
        };
        let count = std::cell::Cell::new(0);
        let once = |way| {
            count.set(count.get() + 1);
            Ok((100.0 + f64::from(u8::try_from(way).unwrap()), 50.0 + count.get() as f64))
        };
        let found = tried(case(1), &["a", "b"], once);
        // Two rounds of both agree on the cheaper one.
        let told: Vec<_> =
            found.iter().map(|way| (way.name.as_str(), way.messages_per_s)).collect();
        assert_eq!(told, [("a", 100.0), ("b", 101.0)]);
        let cost_ns: f64 = found.iter().map(|way| way.cpu_ns_per_message).sum();
        assert!((cost_ns - 105.0).abs() < 1e-9, "{cost_ns}");
        assert_eq!(count.get(), 4);
        tried(case(1), &["a", "b"], once);
        assert_eq!(count.get(), 4);
        for other in 0..MOST_KNOWN {
            tried(case(1_000 + other), &["a"], once);
        }
        assert!(TRIED.lock().unwrap().len() <= MOST_KNOWN);
        let before = count.get();
        tried(case(1), &["a", "b"], once);
        assert_eq!(count.get(), before + 4);
    }

    #[test]
    fn every_way_can_be_tried() {
        let case = |transport, what| Case {
            transport,
            message_bytes: SMALL_BYTES,
            receive_buffer_bytes: None,
            what,
        };
        for transport in [Transport::Udp, Transport::Tcp] {
            for receive in [Receive::Block, Receive::Poll, Receive::Spin] {
                // A round is short: on a busy host nothing may arrive in one.
                let arrives = |_| {
                    let case = case(transport, What::Send(receive));
                    try_once(case, Io::Single, receive).unwrap().0 > 0.0
                };
                assert!((0..20).any(arrives), "{transport:?} {receive:?}");
            }
        }
    }
}
