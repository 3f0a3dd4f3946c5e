//! A closed loop with many requests on their way, over a link in virtual time.

mod datagram_link;
mod echo_ends;

use datagram_link::{Faults, MS};
use echo_ends::{START_NS, finished, trial, with_outstanding};
use lanlab_messages::{EchoAmount, EndedBy};
use lanlab_units::Instant;
use lanlab_workloads::Progress;
use lanlab_workloads::echo::{ClosedLoop, Handed, Heard, Plan, Step};

#[test]
fn a_clean_link_carries_the_set_requests_per_round_trip() {
    let trial = trial(&with_outstanding(8), Faults::default(), 1);
    let counts = &trial.counts;
    // A round trip takes 2 ms: 4,000 a second, in a warm-up of 100 ms and a second.
    assert_eq!((trial.requests.sent.len(), trial.answered), (4_400, 4_400));
    assert_eq!((counts.offered, counts.sent, counts.timeouts()), (4_000, 4_000, 0));
    let times = counts.round_trip.finish();
    assert_eq!((times.samples, times.min_ns, times.max_ns), (4_000, 2_000_000, 2_000_000));
    assert_eq!(counts.sending(), (1_000 * MS, 4_000));
    assert_eq!((counts.late, counts.duplicate, counts.foreign, trial.foreign), (0, 0, 0, 0));
    assert!(finished(&trial));
}

/// What is sent at `now`, up to the step that is another.
fn sent(requester: &mut ClosedLoop, now: Instant) -> (Vec<u64>, Step) {
    let mut numbers = Vec::new();
    loop {
        match requester.next(now).unwrap() {
            Step::Measure => {}
            Step::Send(number) => {
                numbers.push(number);
                requester.handed(Handed::Sent, now);
            }
            other => return (numbers, other),
        }
    }
}

#[test]
fn each_reply_or_time_out_lets_one_request_leave() {
    let (progress, start) = (Progress::default(), Instant::from_nanos(START_NS));
    let after = |ms| start.plus_nanos(ms * MS);
    let plan = Plan { warmup_ns: 0, amount: EchoAmount::Requests(6), ..with_outstanding(3) };
    let mut requester = ClosedLoop::new(&plan, &progress, start);
    assert_eq!(sent(&mut requester, start), (vec![0, 1, 2], Step::Listen(after(50))));
    assert!(requester.heard(Heard::Reply(1), after(10)));
    assert_eq!(sent(&mut requester, after(10)), (vec![3], Step::Listen(after(50))));
    // A reply that comes again makes no room, and what was not sent is no reply.
    assert!(!requester.heard(Heard::Reply(1), after(11)));
    assert!(!requester.heard(Heard::Reply(4), after(11)));
    assert_eq!(sent(&mut requester, after(11)), (vec![], Step::Listen(after(50))));
    assert!(requester.heard(Heard::Reply(0), after(20)));
    assert_eq!(sent(&mut requester, after(20)), (vec![4], Step::Listen(after(50))));
    // The third is overdue; its reply comes late, and makes no room again.
    assert_eq!(sent(&mut requester, after(50)), (vec![5], Step::Listen(after(60))));
    assert!(!requester.heard(Heard::Reply(2), after(51)));
    for number in [5, 3, 4] {
        assert!(requester.heard(Heard::Reply(number), after(55)));
    }
    assert_eq!(sent(&mut requester, after(55)), (vec![], Step::Over(EndedBy::Finished)));
    let counts = &requester.counts;
    assert_eq!((counts.offered, counts.sent, counts.round_trip.samples()), (6, 6, 5));
    assert_eq!((counts.timeouts(), counts.late, counts.duplicate, counts.foreign), (1, 1, 1, 1));
}
