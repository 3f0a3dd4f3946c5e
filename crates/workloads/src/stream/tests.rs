//! Figures of a sender's schedule and a byte receiver, worked out by hand.

use lanlab_units::{Instant, Pace};

use super::example::plan;
use super::*;
use crate::Progress;
use crate::measure::IntervalMeter;
use crate::messages::{Amount, EndedBy, WhenLate};

const MS: u64 = 1_000_000;

fn at_us(us: u64) -> Instant {
    Instant::from_nanos(us * 1_000)
}

/// All bytes, and the bytes and duration of the window, if reception ended at `now`.
fn figures(counter: &ByteCounter<'_>, now: Instant) -> (u64, u64, u64) {
    let ReceivedBytes { total_bytes, facts, .. } = counter.finish(EndedBy::Finished, 0, now);
    (total_bytes, facts.window_bytes, facts.window_ns)
}

#[test]
fn bytes_count_by_arrival_time() {
    let (plan, mut intervals) = (plan(), IntervalMeter::new(100 * MS));
    let mut counter = ByteCounter::new(&plan, at_us(1_000_000));
    assert_eq!(counter.quiet_ns(at_us(1_030_000)), 30 * MS);
    // Messages of 100 bytes: two are whole, then one more, then ten, then none.
    assert_eq!(counter.count(250, at_us(1_050_000), &mut intervals), 2);
    assert!(!counter.is_measuring(at_us(1_099_999)));
    assert!(counter.is_measuring(at_us(1_100_000)));
    assert_eq!(counter.count(50, at_us(1_100_000), &mut intervals), 1);
    assert_eq!(counter.count(1_000, at_us(2_099_999), &mut intervals), 10);
    assert_eq!(figures(&counter, at_us(2_099_999)).1, 1_050);
    assert_eq!(counter.count(7, at_us(2_100_000), &mut intervals), 0);
    assert_eq!(counter.quiet_ns(at_us(2_150_000)), 50 * MS);
    let found = IntervalMeter::merge(vec![intervals], true);
    assert_eq!(found.bytes, [250, 50, 0, 0, 0, 0, 0, 0, 0, 0, 1_000, 7]);
    assert_eq!(found.messages, [0; 12]);
    // Reception that ends early has a shorter window.
    assert_eq!(figures(&counter, at_us(1_500_000)), (1_307, 1_050, 400 * MS));
    assert_eq!(figures(&counter, at_us(3_000_000)), (1_307, 1_050, 1_000 * MS));
}

#[test]
fn a_stream_of_bytes_that_ends_too_early_was_closed_by_its_peer() {
    let (plan, mut intervals) = (plan(), IntervalMeter::new(100 * MS));
    let counter = ByteCounter::new(&plan, at_us(0));
    assert_eq!(counter.end_of_stream(at_us(1_099_999)), EndedBy::PeerClosed);
    assert_eq!(counter.end_of_stream(at_us(1_100_000)), EndedBy::Finished);
    assert_eq!([1_099_999, 1_100_000].map(|us| counter.has_amount(at_us(us))), [false, true]);

    let plan = Plan { amount: Amount::Messages(3), ..plan };
    let mut counter = ByteCounter::new(&plan, at_us(0));
    counter.count(299, at_us(400_000), &mut intervals);
    assert_eq!(counter.end_of_stream(at_us(9_000_000)), EndedBy::PeerClosed);
    counter.count(1, at_us(500_000), &mut intervals);
    assert_eq!(counter.end_of_stream(at_us(500_000)), EndedBy::Finished);
    // Its window ends with the last arrival.
    assert_eq!(figures(&counter, at_us(9_000_000)), (300, 300, 400 * MS));

    // Bytes that waited at the beginning belong to the amount.
    let mut counter = ByteCounter::new(&plan, at_us(0));
    counter.begin(100, at_us(200_000));
    for (bytes, has_amount) in [(299, false), (1, true)] {
        counter.count(bytes, at_us(400_000), &mut intervals);
        assert_eq!(counter.has_amount(at_us(400_000)), has_amount);
    }
    // They are not in the window, which begins when reception does.
    assert_eq!(figures(&counter, at_us(9_000_000)), (300, 200, 200 * MS));

    let plan = Plan { amount: Amount::Bytes(1), ..plan };
    assert_eq!(ByteCounter::new(&plan, at_us(0)).end_of_stream(at_us(0)), EndedBy::Finished);
}

#[test]
fn the_worst_end_of_the_flows_counts() {
    use EndedBy::{Cancelled, Failed, Finished, PeerClosed, Silence, Unconfirmed};
    let order = [Finished, Unconfirmed, Silence, PeerClosed, Failed, Cancelled];
    for (place, worst) in order.iter().enumerate() {
        let ends = order[..=place].iter().copied();
        assert_eq!([worst_end(ends.clone()), worst_end(ends.rev())], [*worst; 2]);
    }
    assert_eq!(worst_end([].into_iter()), Finished);
}

#[test]
fn the_window_of_a_self_ending_peer_ends_with_its_last_bytes() {
    let (plan, mut intervals) = (plan(), IntervalMeter::new(100 * MS));
    // Nothing arrived in the window, so there is no result.
    let mut counter = ByteCounter::new(&plan, at_us(0));
    counter.count(700, at_us(50_000), &mut intervals);
    assert_eq!(counter.end_of_peer(at_us(300_000)), EndedBy::PeerClosed);
    counter.count(300, at_us(350_000), &mut intervals);
    assert_eq!(counter.end_of_peer(at_us(900_000)), EndedBy::Finished);
    assert_eq!(figures(&counter, at_us(900_000)), (1_000, 300, 250 * MS));
    // A requested amount has not arrived in full.
    let plan = Plan { amount: Amount::Messages(3), ..plan };
    let mut counter = ByteCounter::new(&plan, at_us(0));
    counter.count(299, at_us(400_000), &mut intervals);
    assert_eq!(counter.end_of_peer(at_us(9_000_000)), EndedBy::PeerClosed);
}

#[test]
fn plan_times_follow_from_its_settings() {
    let start = at_us(5_000_000);
    let hour_ns = 3_600_000 * MS;
    let plan = plan();
    assert_eq!(plan.message_bytes, 100);
    assert_eq!(plan.warmup_end(start), at_us(5_100_000));
    assert_eq!((plan.end(start), plan.messages()), (Some(at_us(6_100_000)), None));
    // A second to measure, 50 ms for late messages, three seconds of silence over TCP, and an hour.
    assert_eq!(plan.latest_end(start), at_us(9_150_000).plus_nanos(hour_ns));
    let amount = Plan { amount: Amount::Messages(7), ..plan.clone() };
    assert_eq!((amount.end(start), amount.messages()), (None, Some(7)));
    assert_eq!(amount.latest_end(start), at_us(8_150_000).plus_nanos(25 * hour_ns));

    let alive_ms = |flows, silence_ms| {
        Plan { flows, silence_ns: silence_ms * MS, ..plan.clone() }.alive_ns() / MS
    };
    assert_eq!([alive_ms(1, 1_000), alive_ms(250, 1_000)], [50, 50]);
    // 0.2 ms for each flow, and a quarter of the silence at most.
    assert_eq!([alive_ms(1_000, 1_000), alive_ms(2_000, 1_000), alive_ms(1, 100)], [200, 250, 25]);

    let pace = Pace::from_message_rate(1_000.0);
    let paced = Plan { pace, shared_pace: pace, ..plan.clone() };
    assert_eq!([plan.first_slot(start, 3), paced.first_slot(start, 3)], [start, at_us(5_003_000)]);
    // Slots at 0, 1, 2 ms and so on.
    let slots = |us: u64| paced.slots(start, start.plus_nanos(us * 1_000));
    assert_eq!([slots(0), slots(1), slots(1_000), slots(1_001)], [0, 1, 1, 2]);
    assert_eq!(plan.slots(start, at_us(6_000_000)), 0);
}

/// A message each millisecond, 20 ms measured after a warm-up of 10 ms.
fn paced() -> Plan {
    let pace = Pace::from_message_rate(1_000.0);
    Plan { pace, warmup_ns: 10 * MS, amount: Amount::TimeNs(20 * MS), ..plan() }
}

/// Drive the schedule of `plan` from zero on with `act`; also returns the gaps.
fn scheduled(
    plan: &Plan,
    act: impl FnOnce(&mut Schedule, &mut SharedMeters<()>),
) -> (Sent, Vec<i64>, (u64, u64)) {
    let (progress, mut meters) = (Progress::default(), SharedMeters::default());
    let mut schedule = Schedule::new(plan, 0, &progress, at_us(0), 9);
    act(&mut schedule, &mut meters);
    let sent = schedule.sent;
    let gaps = meters.gap.finish();
    (sent, vec![gaps.samples.cast_signed(), gaps.min_ns, gaps.max_ns], progress.counted())
}

#[test]
fn unsent_warm_up_messages_are_not_sent_later() {
    let plan = paced();
    let (sent, gaps, counted) = scheduled(&plan, |schedule, meters| {
        assert!(schedule.has_schedule() && !schedule.is_measuring());
        assert_eq!(schedule.next(at_us(3), meters), Step::Send(1));
        schedule.took(1, 1, at_us(3), meters);
        assert_eq!(schedule.next(at_us(500), meters), Step::Wait(at_us(1_000)));
        // The schedule pauses until the warm-up is over.
        assert_eq!(schedule.next(at_us(10_000), meters), Step::Measure);
        assert!(schedule.is_measuring());
        assert_eq!(schedule.next(at_us(10_000), meters), Step::Send(1));
        schedule.took(1, 1, at_us(10_000), meters);
        assert_eq!(schedule.next(at_us(10_000), meters), Step::Wait(at_us(11_000)));
        // 1.5 ms late; the next gap makes up for 93.75 µs of it.
        assert_eq!(schedule.next(at_us(12_500), meters), Step::Send(1));
        schedule.took(1, 1, at_us(12_500), meters);
        let next = Instant::from_nanos(13_406_250);
        assert_eq!(schedule.next(at_us(12_500), meters), Step::Wait(next));
        // 1 ms does not count as late.
        schedule.took(1, 1, at_us(13_000), meters);
        schedule.close(at_us(15_000), meters);
    });
    assert_eq!((sent.start_skew_ns, sent.first_measured, sent.total_messages), (3_000, 1, 4));
    assert_eq!((sent.sent_messages, sent.late_messages, sent.max_lateness_ns), (3, 1, 1_500_000));
    // The messages due at 13 and 14 ms were not sent.
    assert_eq!((sent.unsent_messages, sent.offered_messages, sent.elapsed_ns), (2, 5, 5_000_000));
    assert_eq!((gaps, counted), (vec![2, 500_000, 2_500_000], (4, 400)));
}

#[test]
fn sizes_the_system_cannot_send_are_refused() {
    let plan = paced();
    let (sent, _, counted) = scheduled(&plan, |schedule, meters| {
        schedule.next(at_us(0), meters);
        schedule.took(3, 1, at_us(0), meters);
        schedule.refused();
        schedule.blocked(at_us(0));
        schedule.tries(at_us(5));
        schedule.paused(11);
        assert_eq!(schedule.next(at_us(10_000), meters), Step::Measure);
        schedule.took(5, 2, at_us(10_000), meters);
        schedule.refused();
        for _ in 0..2 {
            schedule.blocked(at_us(10_000));
            schedule.tries(at_us(10_007));
        }
        schedule.paused(11);
    });
    assert_eq!((sent.total_messages, sent.total_refused, sent.refused_retried), (3, 7, 1));
    assert_eq!((sent.offered_messages, sent.sent_messages, sent.refused_messages), (5, 2, 3));
    assert_eq!((sent.blocked_ns, sent.paused_ns, counted), (14_000, 22, (3, 300)));
}

#[test]
fn skipped_messages_count_as_due() {
    let plan = Plan { when_late: WhenLate::Skip, ..paced() };
    let (sent, ..) = scheduled(&plan, |schedule, meters| {
        assert_eq!(schedule.next(at_us(3_400), meters), Step::Send(1));
        schedule.took(1, 1, at_us(3_400), meters);
        assert_eq!(schedule.next(at_us(10_000), meters), Step::Measure);
        assert_eq!(schedule.next(at_us(10_000), meters), Step::Send(1));
        schedule.took(1, 1, at_us(10_000), meters);
        // 11 to 14 are skipped, 15 is sent.
        assert_eq!(schedule.next(at_us(15_400), meters), Step::Send(1));
        schedule.took(1, 1, at_us(15_400), meters);
    });
    assert_eq!((sent.skipped_messages, sent.offered_messages, sent.sent_messages), (4, 6, 2));
    assert_eq!((sent.total_messages, sent.max_lateness_ns), (3, 400_000));
}

#[test]
fn messages_are_back_to_back_within_a_tenth_of_their_distance() {
    let plan = Plan { warmup_ns: 0, ..paced() };
    let (sent, gaps, _) = scheduled(&plan, |schedule, meters| {
        assert_eq!(schedule.next(at_us(0), meters), Step::Measure);
        for us in [0, 100, 199, 250, 1_250] {
            schedule.took(1, 1, at_us(us), meters);
        }
    });
    assert_eq!((sent.back_to_back_messages, gaps), (2, vec![4, 51_000, 1_000_000]));
}

#[test]
fn the_last_message_has_its_share_of_the_time() {
    let plan = Plan { warmup_ns: 0, amount: Amount::TimeNs(2 * MS), ..paced() };
    let begin = |schedule: &mut Schedule, meters: &mut SharedMeters<()>| {
        assert_eq!(schedule.next(at_us(0), meters), Step::Measure);
        assert_eq!(schedule.next(at_us(0), meters), Step::Send(1));
        schedule.took(1, 1, at_us(0), meters);
    };
    scheduled(&plan, |schedule, meters| {
        begin(schedule, meters);
        schedule.took(1, 1, at_us(1_000), meters);
        assert_eq!(schedule.next(at_us(1_000), meters), Step::Wait(at_us(2_000)));
        assert_eq!(schedule.next(at_us(2_000), meters), Step::Over);
    });
    // A due message is sent up to a millisecond late, even after the end.
    scheduled(&plan, |schedule, meters| {
        begin(schedule, meters);
        assert_eq!(schedule.next(at_us(2_000), meters), Step::Send(1));
        assert_eq!(schedule.next(Instant::from_nanos(2_000_001), meters), Step::Over);
    });
    let amount = Plan { amount: Amount::Messages(2), ..plan };
    scheduled(&amount, |schedule, meters| {
        begin(schedule, meters);
        assert_eq!(schedule.next(at_us(9_000), meters), Step::Send(1));
        schedule.took(1, 1, at_us(1_000), meters);
        assert_eq!(schedule.next(at_us(1_999), meters), Step::Wait(at_us(2_000)));
        assert_eq!(schedule.next(at_us(2_000), meters), Step::Over);
    });
}

#[test]
fn a_group_ends_at_the_end_of_warm_up_and_of_the_amount() {
    let groups = |plan: &Plan| {
        let mut groups = Vec::new();
        scheduled(plan, |schedule, meters| {
            let mut now = at_us(0);
            loop {
                match schedule.next(now, meters) {
                    Step::Measure => groups.push(0),
                    Step::Send(messages) => {
                        groups.push(messages);
                        schedule.took(messages, messages, now, meters);
                    }
                    Step::Wait(until) => now = until,
                    Step::Over => break,
                }
            }
        });
        groups
    };
    let plan = Plan { group: 4, amount: Amount::TimeNs(18 * MS), ..paced() };
    assert_eq!(groups(&plan), [4, 4, 2, 0, 4, 4, 4, 4, 2]);
    let amount = Plan { amount: Amount::Messages(7), ..plan };
    assert_eq!(groups(&amount), [4, 4, 2, 0, 4, 3]);
    let unpaced = Plan { pace: None, warmup_ns: 0, ..amount };
    assert_eq!(groups(&unpaced), [0, 4, 3]);
}

#[test]
fn the_clock_is_read_per_message_except_small_unscheduled_ones() {
    let length = |plan: &Plan| {
        let mut length = 0;
        scheduled(plan, |schedule, meters| {
            schedule.next(at_us(0), meters);
            length = schedule.run_length();
        });
        length
    };
    let small = Plan { message_bytes: 4_096, warmup_ns: 0, ..plan() };
    let amount = Plan { amount: Amount::Messages(10), ..small.clone() };
    let large = Plan { message_bytes: 4_097, ..small.clone() };
    assert_eq!([length(&small), length(&amount), length(&large)], [16, 10, 1]);
    assert_eq!(length(&paced()), 1);
}
