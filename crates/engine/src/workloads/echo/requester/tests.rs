//! A closed loop whose replies the test makes up.

use std::io;

use super::super::{plan, tests::spec};
use super::*;
use crate::messages::{EchoAmount, EchoSpec};
use crate::output::Output;

fn running() -> Running {
    Running::new(1, Output::new(io::sink()))
}

struct Plain;

impl Requests for Plain {
    fn send(&mut self, _: u64, _: Instant) -> Result<Handed, Failure> {
        Ok(Handed::Sent)
    }
}

impl Replies for Plain {
    fn next(&mut self) -> Result<Heard, Failure> {
        Ok(Heard::Idle)
    }
}

/// Notes the last request, which the kernel stamps 1 µs after the second.
struct Stamped(u64);

impl Requests for Stamped {
    fn send(&mut self, sequence: u64, _: Instant) -> Result<Handed, Failure> {
        self.0 = sequence;
        Ok(Handed::Sent)
    }

    fn kernel_sent_ns(&mut self) -> Option<u64> {
        Some(1_000_001_000)
    }
}

/// Each reply follows another message. Replies are stamped from 5 µs after the second on, at
/// intervals of 1 µs.
struct Answers {
    looks: u64,
}

impl Replies for Answers {
    fn next(&mut self) -> Result<Heard, Failure> {
        self.looks += 1;
        Ok(if self.looks % 2 == 1 { Heard::Foreign } else { Heard::Reply(self.looks / 2 - 1) })
    }

    fn kernel_arrived_ns(&self) -> Option<u64> {
        Some(1_000_004_000 + 1_000 * (self.looks / 2))
    }
}

#[test]
fn kernel_timestamps_are_read_only_from_replies() {
    let plan =
        plan(&EchoSpec { amount: EchoAmount::Requests(3), timeout_ns: 60_000_000_000, ..spec() });
    let (plan, running) = (plan.unwrap(), running());
    let mut requests = Stamped(0);
    let mut answers = Answers { looks: 0 };
    let done = closed_loop(&plan, &mut requests, &mut answers, &running, os::monotonic());
    let Requested { ended_by, counts, .. } = done.unwrap();
    assert_eq!((ended_by, requests.0), (EndedBy::Finished, 2));
    assert_eq!((counts.round_trip.samples(), counts.foreign), (3, 3));
    let outcome = outcome(&plan, 7, ended_by, &counts, CpuTime::default());
    // From 1 µs to 5, 6 and 7.
    let kernel = outcome.kernel_round_trip.unwrap();
    assert_eq!((kernel.samples, kernel.min_ns, kernel.max_ns), (3, 4_000, 6_000));
    assert_eq!((outcome.replies, outcome.requests, outcome.start_skew_ns), (3, 3, 7));
}

#[test]
fn kernel_round_trips_need_timestamps() {
    assert_eq!((Plain.kernel_sent_ns(), Plain.kernel_arrived_ns()), (None, None));
    let (plan, running) = (plan(&spec()).unwrap(), running());
    let counts = ClosedLoop::new(&plan, &running.progress, os::monotonic()).counts;
    let outcome = outcome(&plan, 0, EndedBy::Finished, &counts, CpuTime::default());
    assert!(outcome.kernel_round_trip.is_none() && outcome.host.is_none());
}
