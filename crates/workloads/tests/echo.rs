//! Both ends of an echo over a link in virtual time that loses, repeats and reorders datagrams.

mod datagram_link;
mod echo_ends;

use datagram_link::{Faults, Link, MS, TOKEN, agree_within};
use echo_ends::{
    Pause, START_NS, closed_loop, finished, on_schedule, trial, trial_with, with_outstanding,
};
use lanlab_messages::{EchoAmount, EndedBy, Transport};
use lanlab_units::{Instant, Pace};
use lanlab_wire::probe::Layout;
use lanlab_workloads::Progress;
use lanlab_workloads::echo::{
    ClosedLoop, Handed, Heard, LastHeard, Next, Plan, RateListener, RateSchedule, ReplyReader,
    RequestWriter, Responder, Step,
};
use lanlab_workloads::handshake::SETUP_NS;

/// A millisecond as round trips have it.
const ROUND_TRIP_MS: i64 = 1_000_000;

#[test]
fn closed_loops_send_the_next_request_on_reply() {
    let trial = trial(&closed_loop(), Faults::default(), 1);
    let counts = &trial.counts;
    // A round trip takes 2 ms.
    assert_eq!((trial.requests.sent.len(), trial.answered), (550, 550));
    assert_eq!((counts.offered, counts.sent, counts.timeouts()), (500, 500, 0));
    let times = counts.round_trip.finish();
    assert_eq!(
        (times.samples, times.min_ns, times.max_ns),
        (500, 2 * ROUND_TRIP_MS, 2 * ROUND_TRIP_MS)
    );
    assert_eq!(counts.elapsed_ns(), 1_000 * MS);
    assert_eq!((counts.late, counts.duplicate, counts.foreign, trial.foreign), (0, 0, 0, 0));
    assert!(finished(&trial));
}

#[test]
fn scheduled_requests_are_sent_when_due() {
    let trial = trial(&on_schedule(), Faults::default(), 1);
    let due: Vec<(u64, u64)> = (0..1_100).map(|number| (number, number * MS)).collect();
    assert_eq!(trial.requests.sent, due);
    let counts = &trial.counts;
    assert_eq!((counts.offered, counts.sent, counts.timeouts()), (1_000, 1_000, 0));
    let times = counts.round_trip.finish();
    assert_eq!(
        (times.samples, times.min_ns, times.max_ns),
        (1_000, 2 * ROUND_TRIP_MS, 2 * ROUND_TRIP_MS)
    );
    // The last request leaves a period before the end, and its reply ends the trial.
    assert_eq!((trial.requester_ns, counts.elapsed_ns()), (1_101 * MS, 1_001 * MS));
    assert!(finished(&trial));
}

#[test]
fn an_amount_of_requests_is_kept_exactly() {
    for plan in [closed_loop(), with_outstanding(50), on_schedule()] {
        let plan = Plan { amount: EchoAmount::Requests(321), ..plan };
        let trial = trial(&plan, Faults { loss: 0.05, ..Faults::default() }, 1);
        assert_eq!((trial.counts.offered, trial.counts.sent), (321, 321));
        assert_eq!(trial.measured().count(), 321);
        assert_eq!(trial.counts.timeouts(), trial.missing_and_repeated().0);
        assert!(trial.counts.timeouts() > 5, "{}", trial.counts.timeouts());
    }
}

#[test]
fn each_lost_request_or_reply_is_one_time_out() {
    for plan in [closed_loop(), on_schedule()] {
        let trial = trial(&plan, Faults { loss: 0.05, ..Faults::default() }, 2);
        let (missing, _) = trial.missing_and_repeated();
        assert!(missing > 10, "{missing}");
        assert_eq!(trial.counts.timeouts(), missing);
        assert_eq!((trial.counts.late, trial.counts.duplicate), (0, 0));
        assert_eq!(trial.counts.round_trip.finish().max_ns, 2 * ROUND_TRIP_MS);
        assert!(finished(&trial));
    }
}

#[test]
fn duplicate_replies_count_once() {
    for plan in [closed_loop(), on_schedule()] {
        let trial = trial(&plan, Faults { duplication: 0.1, ..Faults::default() }, 3);
        let (missing, repeated) = trial.missing_and_repeated();
        assert!(repeated > 80, "{repeated}");
        assert_eq!((missing, trial.counts.timeouts()), (0, 0));
        assert_eq!(trial.counts.duplicate, repeated);
        assert!(finished(&trial));
    }
}

#[test]
fn replies_out_of_order_are_distinguished_from_lost_and_repeated_ones() {
    let faults = Faults { loss: 0.05, duplication: 0.05, jitter_ns: 10 * MS, ..Faults::default() };
    // With numbers of 64, 32, 16 and 8 bits.
    for (message_bytes, seed) in
        [100, 12, 2, 1].into_iter().flat_map(|bytes| (1..8).map(move |seed| (bytes, seed)))
    {
        for plan in [with_outstanding(12), on_schedule()] {
            let trial = trial(&Plan { message_bytes, ..plan }, faults, seed);
            let (missing, repeated) = trial.missing_and_repeated();
            assert!(missing > 40 && repeated > 40, "{missing} {repeated}");
            assert_eq!(trial.counts.timeouts(), missing, "{message_bytes} {seed}");
            assert_eq!(trial.counts.duplicate, repeated, "{message_bytes} {seed}");
            assert_eq!((trial.counts.late, trial.counts.foreign), (0, 0));
            assert!(finished(&trial));
        }
    }
}

#[test]
fn a_late_reply_counts_as_a_late_time_out() {
    let faults = Faults { jitter_ns: 10 * MS, ..Faults::default() };
    for plan in [closed_loop(), with_outstanding(4), on_schedule()] {
        let trial = trial(&Plan { timeout_ns: 15 * MS, ..plan }, faults, 4);
        let counts = &trial.counts;
        // Of two delays between 0 and 10 ms an eighth of a half is above 13 ms in all.
        assert!((counts.sent / 20..counts.sent / 3).contains(&counts.late), "{}", counts.late);
        assert!(counts.round_trip.finish().max_ns <= 15 * ROUND_TRIP_MS);
        // What is late comes all the same, but for what is under way at the end.
        assert!((counts.late..counts.late + 20).contains(&counts.timeouts()));
        assert_eq!(counts.duplicate, 0);
    }
}

#[test]
fn a_closed_loop_sends_the_next_request_at_the_time_out() {
    let broken = Faults { broken_from_ns: Some(500 * MS), ..Faults::default() };
    let trial = trial(&closed_loop(), broken, 1);
    let unanswered: Vec<u64> = trial
        .requests
        .sent
        .iter()
        .map(|(_, at_ns)| *at_ns)
        .filter(|at_ns| *at_ns >= 500 * MS)
        .collect();
    assert!(unanswered.windows(2).all(|pair| pair[1] - pair[0] == 50 * MS), "{unanswered:?}");
    // The last one is overdue at the end of the time.
    assert_eq!(trial.counts.elapsed_ns(), 1_000 * MS);
    assert_eq!(trial.counts.timeouts(), 12);
    // It has waited for no confirmation longer than it may.
    assert_eq!(trial.agreed_by, EndedBy::Unconfirmed);
    assert_eq!(trial.responder_ended_by, EndedBy::Silence);
}

#[test]
fn a_silent_peer_times_out() {
    let broken = Faults { broken_from_ns: Some(500 * MS), ..Faults::default() };
    for plan in [closed_loop(), on_schedule()] {
        let plan = Plan { amount: EchoAmount::TimeNs(10_000 * MS), ..plan };
        let trial = trial(&plan, broken, 1);
        assert_eq!((trial.ended_by, trial.agreed_by), (EndedBy::Silence, EndedBy::Silence));
        assert_eq!(trial.responder_ended_by, EndedBy::Silence);
        for ended_ns in [trial.requester_ns, trial.responder_ns] {
            let silence_ns = ended_ns - 500 * MS;
            assert!((1_500 * MS..=1_552 * MS).contains(&silence_ns), "{silence_ns}");
        }
    }
}

#[test]
fn schedules_send_only_keep_alives_to_a_silent_peer() {
    let broken = Faults { broken_from_ns: Some(500 * MS), ..Faults::default() };
    let plan = Plan { amount: EchoAmount::TimeNs(10_000 * MS), ..on_schedule() };
    let trial = trial(&plan, broken, 1);
    let (_, last_ns) = trial.requests.sent.last().copied().unwrap();
    // What came last came at 500 ms, or a millisecond later.
    assert!((1_400 * MS..=1_402 * MS).contains(&last_ns), "{last_ns}");
    let said: Vec<u64> =
        trial.requests.said_alive.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(said.len() > 8, "{said:?}");
    assert!(said.iter().all(|gap_ns| (50 * MS..=61 * MS).contains(gap_ns)), "{said:?}");
}

#[test]
fn a_schedule_waits_for_the_last_reply_until_it_is_overdue() {
    let broken = Faults { broken_from_ns: Some(1_050 * MS), ..Faults::default() };
    let trial = trial(&on_schedule(), broken, 1);
    assert_eq!((trial.ended_by, trial.counts.timeouts()), (EndedBy::Finished, 51));
    // The last request was due at 1,099 ms; its time-out is part of what is measured.
    assert!((1_149 * MS..=1_170 * MS).contains(&trial.requester_ns), "{}", trial.requester_ns);
    assert_eq!(trial.counts.elapsed_ns(), trial.requester_ns - 100 * MS);
}

#[test]
fn connection_requests_need_no_keep_alive() {
    let broken = Faults { broken_from_ns: Some(500 * MS), ..Faults::default() };
    let plan = Plan { amount: EchoAmount::TimeNs(10_000 * MS), ..on_schedule() };
    let trial = trial(&Plan { transport: Transport::Tcp, ..plan }, broken, 1);
    assert!(trial.requests.said_alive.is_empty());
    assert!(trial.requests.sent.last().unwrap().1 > 1_990 * MS, "until it gives the peer up");
}

#[test]
fn slow_schedules_send_keep_alives_and_do_not_time_out() {
    let pace = Pace::from_message_rate(2.0);
    let plan = Plan { pace, amount: EchoAmount::TimeNs(4_900 * MS), ..on_schedule() };
    let trial = trial(&plan, Faults::default(), 1);
    assert_eq!((trial.requests.sent.len(), trial.counts.sent, trial.counts.timeouts()), (10, 9, 0));
    assert!(
        (60..=100).contains(&trial.requests.said_alive.len()),
        "{}",
        trial.requests.said_alive.len()
    );
    assert!(finished(&trial));
}

#[test]
fn a_paused_requester_counts_from_the_due_time() {
    let pause = Pause { from_ns: 500 * MS, time_ns: 40 * MS };
    let trial = trial_with(&on_schedule(), Faults::default(), 1, START_NS, pause);
    let counts = &trial.counts;
    assert_eq!((counts.sent, counts.timeouts()), (1_000, 0));
    // The request that was due first waited for all of it.
    assert_eq!(counts.round_trip.finish().max_ns, 42 * ROUND_TRIP_MS);
    // What was missed is caught up with, but never at more than twice the rate.
    let gaps: Vec<u64> = trial.requests.sent.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
    let shortest_ns = gaps.iter().min().copied().unwrap();
    assert!((MS / 2..MS).contains(&shortest_ns), "{shortest_ns}");
}

#[test]
fn a_late_closed_loop_is_measured_for_the_remaining_time() {
    let pause = Pause { from_ns: 0, time_ns: 600 * MS };
    let trial = trial_with(&closed_loop(), Faults::default(), 1, START_NS, pause);
    // The warm-up is over when it begins: all is measured, from its beginning on.
    assert_eq!((trial.counts.sent, trial.requests.sent[0].1), (250, 600 * MS));
    assert_eq!(trial.counts.elapsed_ns(), 500 * MS);
}

#[test]
fn a_late_start_changes_no_count() {
    let faults = Faults { loss: 0.05, duplication: 0.05, jitter_ns: 10 * MS, ..Faults::default() };
    for plan in [closed_loop(), on_schedule()] {
        let figures = |ahead_ns| {
            let trial = trial_with(&plan, faults, 5, ahead_ns, Pause::default());
            let counts = &trial.counts;
            let figures = (counts.sent, counts.timeouts(), counts.late, counts.duplicate);
            (figures, counts.elapsed_ns(), trial.requests.sent, trial.requester_ns)
        };
        assert_eq!(figures(START_NS), figures(600_000 * MS));
    }
}

#[test]
fn the_end_is_agreed_on_over_a_link_that_loses_a_third() {
    let plan = Plan { amount: EchoAmount::TimeNs(100 * MS), ..on_schedule() };
    let ends = (1..200).map(|seed| {
        let trial = trial(&plan, Faults { loss: 0.33, ..Faults::default() }, seed);
        assert_eq!(trial.ended_by, EndedBy::Finished, "{seed}");
        (trial.agreed_by, trial.responder_ended_by)
    });
    let unconfirmed = ends.filter(|ends| *ends != (EndedBy::Finished, EndedBy::Finished)).count();
    // Each time the end is sent it is confirmed with 4 in 9; the responder stays for 20 ms.
    assert!(unconfirmed < 10, "{unconfirmed}");
}

#[test]
fn no_peer_can_prolong_a_trial_forever() {
    let progress = Progress::default();
    for plan in [closed_loop(), on_schedule()] {
        let plan = Plan { amount: EchoAmount::Requests(1 << 32), ..plan };
        let start = Instant::from_nanos(START_NS);
        let (latest, after) = (plan.latest_end(start), plan.latest_end(start).plus_nanos(1));
        let (_, acceptor, _) =
            agree_within(&mut Link::new(Faults::default(), 1), SETUP_NS).expect("an agreement");
        let mut responder = Responder::new(&plan, &progress, TOKEN, acceptor, start);
        assert!(responder.next(latest).is_ok());
        assert_eq!(responder.next(after).unwrap_err().code, "peer.too_long");
        let mut requester = ClosedLoop::new(&plan, &progress, start);
        assert_eq!(requester.next(start).unwrap(), Step::Send(0));
        requester.handed(Handed::Sent, latest);
        assert!(requester.heard(Heard::Reply(0), latest) || plan.warmup_ns > 0);
        assert!(requester.next(latest).is_ok());
        requester.heard(Heard::Reply(0), after);
        assert_eq!(requester.next(after).unwrap_err().code, "peer.too_long");
    }
}

#[test]
fn unrequested_replies_are_ignored() {
    let (progress, start) = (Progress::default(), Instant::from_nanos(START_NS));
    let plan = Plan { warmup_ns: 0, ..closed_loop() };
    let mut requester = ClosedLoop::new(&plan, &progress, start);
    assert_eq!(requester.next(start).unwrap(), Step::Measure);
    assert_eq!(requester.next(start).unwrap(), Step::Send(0));
    requester.handed(Handed::Sent, start);
    assert!(!requester.heard(Heard::Reply(1), start.plus_nanos(MS)));
    assert!(requester.heard(Heard::Reply(0), start.plus_nanos(2 * MS)));
    // The next has not been sent yet.
    requester.heard(Heard::Reply(1), start.plus_nanos(2 * MS));
    assert_eq!((requester.counts.foreign, requester.counts.late), (2, 0));

    let plan = Plan { warmup_ns: 0, ..on_schedule() };
    let heard = LastHeard::new(start);
    let schedule = RateSchedule::new(&plan, plan.pace.unwrap(), start);
    let mut listener = RateListener::new(&plan, &progress, &heard, schedule);
    for number in [3, 1_000, 1 << 61] {
        listener.heard(Heard::Reply(number), start.plus_nanos(2 * MS));
    }
    listener.heard(Heard::Reply(2), start.plus_nanos(2 * MS));
    assert_eq!((listener.counts.foreign, listener.counts.round_trip.samples()), (3, 1));

    // Numbers that no requester reaches, and other sessions.
    let mut reader = ReplyReader::new(&plan, TOKEN);
    let mut message = vec![0; plan.message_bytes];
    RequestWriter::new(&plan, TOKEN).write(u64::MAX, start, &mut message);
    assert_eq!(reader.read(&message), Heard::Foreign);
    RequestWriter::new(&plan, TOKEN).write(5, start, &mut message);
    assert_eq!(reader.read(&message), Heard::Reply(5));
    assert_eq!(reader.read(&message[1..]), Heard::Foreign);
    let mut header = Layout::Full.parse(&message).unwrap();
    header.session ^= 1;
    Layout::Full.emit(&header, &mut message);
    assert_eq!(reader.read(&message), Heard::Foreign);
}

#[test]
fn requests_without_room_are_retried_after_a_millisecond() {
    let (progress, start) = (Progress::default(), Instant::from_nanos(START_NS));
    let plan = Plan { warmup_ns: 0, ..closed_loop() };
    let mut requester = ClosedLoop::new(&plan, &progress, start);
    requester.next(start).unwrap();
    assert_eq!(requester.next(start).unwrap(), Step::Send(0));
    requester.handed(Handed::Refused, start);
    let next = start.plus_nanos(MS);
    assert_eq!(requester.next(start).unwrap(), Step::Wait(next));
    assert_eq!(requester.next(next).unwrap(), Step::Send(1));
    let counts = &requester.counts;
    assert_eq!((counts.offered, counts.refused, counts.sent), (2, 1, 0));
}

#[test]
fn responders_to_schedules_send_keep_alives_every_50_ms() {
    let (progress, start) = (Progress::default(), Instant::from_nanos(START_NS));
    let (_, acceptor, _) =
        agree_within(&mut Link::new(Faults::default(), 1), SETUP_NS).expect("an agreement");
    let plan = on_schedule();
    let mut responder = Responder::new(&plan, &progress, TOKEN, acceptor, start);
    let said: Vec<u64> = (0..=200)
        .filter(|ms| responder.next(start.plus_nanos(ms * MS)).unwrap() != Next::Listen)
        .collect();
    assert_eq!(said, [0, 50, 100, 150, 200]);
}
