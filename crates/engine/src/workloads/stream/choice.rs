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
/// Multiple of the rate that the plain way must carry to be kept.
const ROOM_TO_SPARE: f64 = 2.0;
/// Sizes that stand for all that fit a packet of Ethernet, and for all larger ones.
const SMALL_BYTES: usize = 512;
const LARGE_BYTES: usize = 16_384;
const LARGEST_PACKET_BYTES: u32 = 1472;

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

pub fn receive(spec: &StreamSpec, messages_per_s: Option<f64>) -> (Receive, Option<Choice>) {
    if spec.receive != Receive::Auto {
        return (spec.receive, None);
    }
    if let Some(rate) = messages_per_s.filter(|rate| *rate <= SLOW_MESSAGES_PER_S) {
        let reason = format!("{rate:.0} messages/s are few: it waits in the system's call");
        return (Receive::Block, Some(Choice::without_trial(reason)));
    }
    let sender = sender_beside(spec);
    let case = Case::of(spec, WaysOf::Receive { beside: sender });
    let found = tried(case, |way| try_once(case, sender, WAYS_TO_RECEIVE[way].1));
    let (chosen, choice) = decide(found, messages_per_s, 0);
    (WAYS_TO_RECEIVE[chosen].1, Some(choice))
}

/// Whether a sender without a rate over UDP hands over single messages or batches, where that is
/// left to the engine.
pub fn send(spec: &StreamSpec) -> (Io, Choice) {
    let receiver = receiver_beside(spec);
    let case = Case::of(spec, WaysOf::Send { beside: receiver });
    let found = tried(case, |way| try_once(case, WAYS_TO_SEND[way].1, receiver));
    let (chosen, choice) = decide(found, None, 0);
    (WAYS_TO_SEND[chosen].1, choice)
}

fn sender_beside(spec: &StreamSpec) -> Io {
    if spec.io == Io::Auto { Io::Batch } else { spec.io }
}

fn receiver_beside(spec: &StreamSpec) -> Receive {
    if spec.receive == Receive::Auto { Receive::Poll } else { spec.receive }
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

fn rounded(messages_per_s: f64) -> String {
    let unit = 10_f64.powf(messages_per_s.max(1.0).log10().floor() - 1.0).max(1.0);
    let digits = format!("{:.0}", (messages_per_s / unit).round() * unit);
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The fastest way; of those as fast the cheapest; with a rate the plain way if it has room to spare.
/// Ways are numbers of `found.candidates`.
fn decide(found: Found, messages_per_s: Option<f64>, plain: usize) -> (usize, Choice) {
    let ways = &found.candidates;
    let rate_of = |way: usize| format!("{} {}", ways[way].name, rounded(ways[way].messages_per_s));
    let has_room = |rate: &f64| ways[plain].messages_per_s >= ROOM_TO_SPARE * rate;
    let (chosen, mut reason) = if let Some(rate) = messages_per_s.filter(has_room) {
        let Candidate { name, messages_per_s, .. } = &ways[plain];
        let most = rounded(*messages_per_s);
        let carried = format!("{name} carries {most} messages/s over loopback here");
        (plain, format!("{carried}, and {rate:.0} are asked for"))
    } else if let Some(best) = best_of(ways.iter().enumerate()) {
        let others = (0..ways.len()).filter(|way| *way != best).map(rate_of);
        let Candidate { name, messages_per_s, cpu_ns_per_message } = &ways[best];
        let reason = format!(
            "{name} carries {} messages/s over loopback here at {:.2} \u{b5}s of processor each; {}",
            rounded(*messages_per_s),
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
    // A thread to send, this one, and one to receive.
    let found = try_ways(ways_of(case.of), || host::has_room_for(2), once);
    memory.add(case, found.clone());
    found
}

/// Try each way in turn. It is not sure what is found while the host has no room for both threads.
fn try_ways(
    names: &[&str],
    host_has_room: impl Fn() -> bool,
    once: impl Fn(usize) -> io::Result<(f64, f64)>,
) -> Found {
    let had_room = Cell::new(true);
    let (rounds, agreed) = rounds(names, |way| {
        had_room.set(had_room.get() && host_has_room());
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
    let is_sure = agreed && had_room.get();
    Found { candidates, is_sure, tried_at_s: now_s(), earlier: false }
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
mod tests;
