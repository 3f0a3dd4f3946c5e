use super::*;
use crate::stream::example::plan;

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

fn run(first: u64, count: u64, arrived_ms: u64, drops: u32) -> Run {
    let arrival = Arrival { at: at_ms(arrived_ms), drops };
    Run { first, count, sent_ns: arrival.at.as_nanos() - 1000, arrival }
}

fn counting(plan: &Plan) -> (Counter<'_>, Meters<()>) {
    (Counter::new(plan, Instant::ZERO), Meters::new(plan, None))
}

#[test]
fn a_run_across_the_mark_is_measured_from_the_mark_on() {
    let plan = plan();
    let (mut counter, mut meters) = counting(&plan);
    counter.count(run(0, 4, 50, 0), &mut meters);
    counter.mark(6);
    counter.count(run(4, 5, 110, 0), &mut meters);
    assert_eq!((counter.counts.total_messages, counter.counts.measured_messages), (9, 3));
    // Counted by the window; the sender took its first part for warm-up.
    assert_eq!(counter.counts.window_messages, 5);
}

#[test]
fn a_late_mark_counts_messages_already_received() {
    let plan = plan();
    let (mut counter, mut meters) = counting(&plan);
    counter.count(run(0, 10, 110, 0), &mut meters);
    counter.mark(7);
    assert_eq!(counter.counts.measured_messages, 3);
    counter.mark(2);
    assert_eq!(counter.counts.first_measured, Some(7), "the first mark is the mark");
}

#[test]
fn messages_after_the_drain_are_overdue() {
    let plan = plan();
    let (mut counter, mut meters) = counting(&plan);
    counter.mark(0);
    counter.count(run(0, 1, 1_099, 0), &mut meters);
    counter.count(run(1, 1, 1_150, 0), &mut meters);
    counter.count(run(2, 3, 1_151, 0), &mut meters);
    let counts = &counter.counts;
    assert_eq!((counts.measured_messages, counts.overdue_messages), (2, 3));
    assert_eq!(counts.window_messages, 1);
    assert_eq!(counts.total_messages, 5);
}

#[test]
fn drops_count_from_the_first_measured_message_on() {
    let plan = plan();
    let dropped = |warmup_drops, first: u64, first_drops| {
        let (mut counter, mut meters) = counting(&plan);
        counter.mark(100);
        counter.count(run(0, 10, 50, warmup_drops), &mut meters);
        counter.count(run(first, 1, 120, first_drops), &mut meters);
        counter.close(at_ms(1_200), Some(50), &mut meters);
        counter.counts.socket_dropped
    };
    // All up to the first measured message were dropped before it was sent.
    assert_eq!(dropped(3, 100, 20), Some(30));
    // Messages before it are missing: they may be among the 17 that were dropped since.
    assert_eq!(dropped(3, 105, 20), Some(47));
}

#[test]
fn drops_before_the_mark_belong_to_the_warm_up() {
    let plan = plan();
    let dropped = |warmup_ms| {
        let (mut counter, mut meters) = counting(&plan);
        counter.count(run(0, 1, warmup_ms, 3), &mut meters);
        counter.mark(1);
        // The first measured message is missing.
        counter.count(run(2, 1, 120, 20), &mut meters);
        counter.close(at_ms(1_200), Some(50), &mut meters);
        counter.counts.socket_dropped
    };
    assert_eq!([dropped(50), dropped(99), dropped(100)], [Some(47), Some(47), Some(50)]);
}

#[test]
fn repeated_values_of_a_run_are_counted_once() {
    let plan = plan();
    let (mut counter, mut meters) = counting(&plan);
    counter.mark(0);
    counter.count(run(3, 3, 200, 0), &mut meters);
    counter.count(run(1, 5, 201, 0), &mut meters);
    let counts = &counter.counts;
    assert_eq!((counts.measured_messages, counts.duplicate_messages), (5, 3));
    assert_eq!(counts.reordered_messages, 2);
}

/// Received and lost messages per interval of 100 ms.
fn over_time(meters: Meters<()>) -> (Vec<u64>, Vec<i64>) {
    let found = IntervalMeter::merge(vec![meters.intervals], true);
    (found.messages, found.lost_messages)
}

#[test]
fn losses_count_in_the_interval_they_were_due() {
    let plan = plan();
    let (mut counter, mut meters) = counting(&plan);
    counter.mark(0);
    counter.count(run(0, 2, 50, 0), &mut meters);
    // 2 is missing, within the first interval; 6 to 14 from 80 ms on, one each 27 ms.
    counter.count(run(3, 3, 80, 0), &mut meters);
    counter.count(run(15, 1, 350, 0), &mut meters);
    // One of them arrives late; its duplicate does not count.
    counter.count(run(9, 1, 360, 0), &mut meters);
    counter.count(run(9, 1, 361, 0), &mut meters);
    // 16 to 19 are missing at the end: at 500, 650, 800 and 950 ms.
    assert!(counter.finish(20, at_ms(1_300)));
    counter.close(at_ms(1_400), Some(0), &mut meters);

    let (messages, lost) = over_time(meters);
    assert_eq!(messages, [5, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(lost, [1, 4, 4, 1 - 1, 0, 1, 1, 0, 1, 1, 0, 0]);
    assert_eq!(lost.iter().sum::<i64>(), 20 - counter.counts.total_messages.cast_signed());
}

#[test]
fn trailing_losses_need_the_count_of_the_sender() {
    let plan = plan();
    let (mut counter, mut meters) = counting(&plan);
    counter.count(run(0, 2, 50, 0), &mut meters);
    counter.close(at_ms(1_400), Some(0), &mut meters);
    assert_eq!(over_time(meters), (vec![2], vec![0]));
}
