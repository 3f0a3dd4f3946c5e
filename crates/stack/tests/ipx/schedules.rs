//! Random schedules of loss, doubling and reordering: every write is carried out once, in order, and no session
//! waits longer than its tries last.

use lanlab_stack::node::Why;
use lanlab_wire::smb1::command;

use super::exchange::{Peer, open, pair, requests};
use crate::chance::Chance;
use crate::schedule::wanted;
use crate::segment::Faults;

#[derive(Debug, Default)]
struct Tally {
    complete: u64,
    ended: u64,
    never_opened: u64,
    writes: u64,
    sent_again: u64,
    answered_again: u64,
}

/// Ten tries of one request: one second, doubled until four.
const LONGEST_REQUEST_NS: u64 = 40_000_000_000;

/// One schedule. Panics, with its seed, where something does not hold.
fn run(seed: u64, tally: &mut Tally) {
    let mut chance = Chance::new(seed);
    let faults = Faults::drawn(&mut chance);
    let count = 1 + chance.below(20);
    let kinds = [command::WRITE, command::READ, command::WRITE, command::CLOSE];
    let commands: Vec<_> = (0..count).map(|_| kinds[chance.below(4) as usize]).collect();
    let asked = requests(commands.clone());
    let expected: Vec<u32> = (1..=asked.len() as u32).map(|number| number * 7).collect();
    let writes: Vec<u32> = commands
        .iter()
        .zip(&expected[1..])
        .filter(|(command, _)| **command == command::WRITE)
        .map(|(_, value)| *value)
        .collect();
    let mut segment = pair(Peer::asking(asked), Peer::default(), seed);
    segment.faults = faults;
    let id = open(&mut segment, 0, 1);
    let mut answered = 0;
    loop {
        let client = segment.program(0);
        if client.answers.len() == expected.len() || client.ended.contains_key(&id) {
            break;
        }
        let until = segment.now.plus_nanos(LONGEST_REQUEST_NS);
        let moved = segment.run_while(until, |segment| {
            segment.program(0).answers.len() == answered && segment.program(0).ended.is_empty()
        });
        assert!(moved, "seed {seed}: stuck after {answered} answers");
        answered = segment.program(0).answers.len();
    }
    // Late copies change nothing any more.
    segment.run_until(segment.now.plus_nanos(1_000_000_000));
    let (client, server) = (segment.program(0), segment.program(1));
    assert!(expected.starts_with(&client.answers), "seed {seed}: {:?}", client.answers);
    assert!(server.accepted.len() <= 1, "seed {seed}: {} sessions", server.accepted.len());
    let done = server.writes.values().next().cloned().unwrap_or_default();
    assert!(writes.starts_with(&done), "seed {seed}: {done:?} of {writes:?}");
    tally.writes += done.len() as u64;
    match client.ended.get(&id) {
        None => {
            assert_eq!(done, writes, "seed {seed}");
            tally.complete += 1;
        }
        Some((_, Why::NameNotFound)) => tally.never_opened += 1,
        Some((_, why)) => {
            assert_eq!(*why, Why::NoAnswer, "seed {seed}");
            assert!(faults.lost == 30, "seed {seed}: given up with {faults:?}");
            tally.ended += 1;
        }
    }
    tally.sent_again += segment.counted(0, "information_sent_again");
    tally.answered_again += segment.counted(1, "answered_again");
}

#[test]
fn writes_execute_once_in_order_under_random_faults() {
    let mut tally = Tally::default();
    for seed in 0..2_000 {
        run(seed, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.complete > 1_800 && tally.answered_again > 100, "{tally:?}");
}

/// `SCHEDULES=1000000 SCHEDULE_SEED=1000 cargo test --release -p lanlab-stack --test carriers -- --ignored many_requests`
#[test]
#[ignore = "long: 100,000 schedules, or as many as are asked for"]
fn many_requests() {
    let (first, count) = wanted(100_000);
    let mut tally = Tally::default();
    for seed in first..first + count {
        run(seed, &mut tally);
    }
    println!("{tally:?}");
    assert!(tally.complete > count / 2, "{tally:?}");
}
