//! Random schedules of loss, doubling and reordering: every request is carried out once, in order, and no session
//! waits longer than its tries last.

use std::collections::VecDeque;

use lanlab_medium::Topology;
use lanlab_stack::node::{Event, Node, NotSent, Peer, SessionId, Why};
use lanlab_stack::profile::netware;
use lanlab_units::Instant;
use lanlab_wire::ipx::framing;
use lanlab_wire::ncp::burst::Offer;

use super::pair::{READY, node};
use crate::chance::Chance;
use crate::schedule::wanted;
use crate::segment::{Faults, Program, Segment, name};

/// Twenty tries of one request: from a tenth of a second, doubled until four. What comes of a burst begins them anew.
const LONGEST_REQUEST_NS: u64 = 80_000_000_000;
const LONGEST_BURST_NS: u64 = 4 * LONGEST_REQUEST_NS;
/// Before the first answer the server, the way to it and a connection are asked for.
const LONGEST_BEGINNING_NS: u64 = 6_000_000_000 + LONGEST_REQUEST_NS;

/// A client that asks one number after another, and a server that says each, and the numbers before it, back.
#[derive(Debug, Default)]
struct End {
    to_ask: VecDeque<u32>,
    answers: Vec<u32>,
    carried_out: Vec<u32>,
    accepted: usize,
    opened: Option<SessionId>,
    ended: Option<Why>,
    /// Whether it offers bursts, and whether the server has agreed to them.
    offers: bool,
    has_bursts: bool,
}

fn number(message: &[u8]) -> u32 {
    u32::from_be_bytes(message[1..5].try_into().unwrap())
}

/// A message of a number: two of three are bursts if there are any. What answers it is another one.
fn message(number: u32, as_burst: bool, is_answer: bool) -> Vec<u8> {
    let is_burst = as_burst && !number.is_multiple_of(3);
    let first = if is_burst || is_answer { 0 } else { 0x14 };
    let mut message = [&[first][..], &number.to_be_bytes()].concat();
    if is_burst {
        let length = number.wrapping_mul(if is_answer { 7_919 } else { 104_729 }) % 20_000;
        message.extend((0..length).map(|at| (at ^ at >> 8 ^ number) as u8));
    }
    message
}

impl End {
    fn pump(&mut self, now: Instant, node: &mut Node) {
        let Some(session) = self.opened else { return };
        while let Some(next) = self.to_ask.front() {
            let message = message(*next, self.has_bursts, false);
            match node.send(now, session, &message) {
                Ok(()) => drop(self.to_ask.pop_front()),
                Err(NotSent::Full | NotSent::NoSession) => return,
                Err(NotSent::TooLong) => panic!(),
            }
        }
    }
}

impl Program for End {
    fn handle(&mut self, now: Instant, node: &mut Node, event: Event, message: &mut Vec<u8>) {
        match event {
            Event::Opened(session, _) if self.offers => {
                let (packet, length) = (1_500, 20_000);
                let offer =
                    Offer { packet, most_sent: length, most_taken: length, ..Offer::default() };
                let mut message = vec![0x65];
                offer.emit(&mut message);
                node.send(now, session, &message).unwrap();
                self.opened = Some(session);
                return;
            }
            Event::Message(_) if self.offers => {
                self.offers = false;
                self.has_bursts = message[0] == 0;
            }
            Event::Opened(session, _) => self.opened = Some(session),
            Event::Accepted { .. } => self.accepted += 1,
            Event::Ended(_, why) => self.ended = Some(why),
            Event::Message(_) if self.opened.is_some() => {
                let number = number(message);
                assert!(*message == self::message(number, self.has_bursts, true), "{number}");
                self.answers.push(number);
            }
            Event::Message(session) => {
                let (number, is_burst) = (number(message), message[0] == 0);
                assert!(*message == self::message(number, is_burst, false), "{number}");
                self.carried_out.push(number);
                node.send(now, session, &self::message(number, is_burst, true)).unwrap();
            }
            _ => {}
        }
        if !self.offers {
            self.pump(now, node);
        }
    }
}

#[derive(Debug, Default)]
struct Tally {
    complete: u64,
    ended: u64,
    never_opened: u64,
    requests: u64,
    sent_again: u64,
    answered_again: u64,
    with_bursts: u64,
}

/// One schedule. Panics, with its seed, where something does not hold.
fn run(seed: u64, tally: &mut Tally) {
    let mut chance = Chance::new(seed);
    let faults = Faults::drawn(&mut chance);
    let netware = netware::ALL[chance.below(2) as usize];
    let offers = chance.below(3) > 0;
    // More than sequence numbers, at times.
    let most = if chance.below(64) == 0 { 600 } else { 10 };
    let count = 1 + chance.below(most) as u32;
    let asked: Vec<u32> = (0..count).collect();
    let client = End { to_ask: asked.iter().copied().collect(), offers, ..End::default() };
    let ends = [client, End::default()].into_iter().enumerate();
    let ends = ends.map(|(at, end)| (node(at, netware, Some(framing::IEEE_802_2)), end)).collect();
    let mut segment = Segment::of(Topology::Cable, ends, seed);
    segment.with(1, |_, node, _| node.listen());
    segment.run_until(READY);
    segment.faults = faults;
    let to = Peer::Name(name(1));
    segment.with(0, |now, node, _| node.open(now, to));
    let mut answered = 0;
    while segment.program(0).answers.len() < asked.len() && segment.program(0).ended.is_none() {
        let longest_ns = if offers { LONGEST_BURST_NS } else { LONGEST_REQUEST_NS };
        let before_ns = if answered == 0 { LONGEST_BEGINNING_NS } else { 0 };
        let until = segment.now.plus_nanos(before_ns + longest_ns);
        let moved = segment.run_while(until, |segment| {
            let client = segment.program(0);
            client.answers.len() == answered && client.ended.is_none()
        });
        assert!(moved, "seed {seed}: stuck after {answered} answers");
        answered = segment.program(0).answers.len();
    }
    // Late copies change nothing any more.
    segment.run_until(segment.now.plus_nanos(1_000_000_000));
    let (client, server) = (segment.program(0), segment.program(1));
    assert!(asked.starts_with(&client.answers), "seed {seed}: {:?}", client.answers);
    assert!(asked.starts_with(&server.carried_out), "seed {seed}: {:?}", server.carried_out);
    assert!(server.accepted <= 1, "seed {seed}: {} sessions", server.accepted);
    tally.with_bursts += u64::from(client.has_bursts);
    tally.requests += server.carried_out.len() as u64;
    match client.ended {
        None => {
            assert_eq!(server.carried_out, asked, "seed {seed}");
            tally.complete += 1;
        }
        // The server and the way to it are looked for six times only.
        Some(Why::NameNotFound | Why::NoAnswer) if client.opened.is_none() => {
            tally.never_opened += 1;
        }
        Some(why) => {
            assert_eq!(why, Why::NoAnswer, "seed {seed}");
            assert_eq!(faults.lost, 30, "seed {seed}: given up with {faults:?}");
            tally.ended += 1;
        }
    }
    let mut counted = |station: usize, key: &str| {
        let counts = segment.node(station).counts();
        counts.iter().find(|(found, _)| *found == key).unwrap().1
    };
    tally.sent_again += counted(0, "information_sent_again");
    tally.answered_again += counted(1, "answered_again");
}

#[test]
fn requests_execute_once_in_order_under_random_faults() {
    let mut tally = Tally::default();
    for seed in 0..2_000 {
        run(seed, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.complete > 1_900 && tally.answered_again > 500, "{tally:?}");
    assert!(tally.with_bursts > 500, "{tally:?}");
}

/// `SCHEDULES=1000000 SCHEDULE_SEED=1000 cargo test --release -p lanlab-stack --test carriers -- --ignored many_ncp`
#[test]
#[ignore = "long: 10,000 schedules, or as many as are asked for"]
fn many_ncp_schedules() {
    let (first, count) = wanted(10_000);
    let mut tally = Tally::default();
    for seed in first..first + count {
        run(seed, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.complete > count / 2, "{tally:?}");
}
