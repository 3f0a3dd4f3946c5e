//! Both ends of a stream over a link in virtual time that loses, repeats and reorders datagrams.

mod datagram_link;
mod stream_ends;

use datagram_link::{Faults, Link, MS, agree_within};
use lanlab_messages::{Amount, EndedBy};
use lanlab_units::{Instant, Pace};
use lanlab_wire::session::Kind;
use lanlab_workloads::Progress;
use lanlab_workloads::handshake::SETUP_NS;
use lanlab_workloads::stream::{Action, Departing as _, Incoming, Outgoing, Plan, SharedMeters};
use stream_ends::{START_NS, plan, trial};

#[test]
fn a_clean_link_delivers_every_message_once_and_in_time() {
    let trial = trial(&plan(), Faults::default(), 1, START_NS);
    let (sent, counts) = (&trial.sent, &trial.counts);
    assert_eq!((sent.total_messages, sent.first_measured), (11_000, 1_000));
    assert_eq!((sent.sent_messages, sent.offered_messages), (10_000, 10_000));
    assert_eq!((sent.max_lateness_ns, sent.late_messages, sent.start_skew_ns), (0, 0, 0));
    assert_eq!((counts.total_messages, counts.measured_messages), (11_000, 10_000));
    assert_eq!((counts.duplicate_messages, counts.reordered_messages), (0, 0));
    // Messages take 1 ms: ten of the warm-up arrive in the window, and the last ten after it.
    assert_eq!((counts.window_messages, counts.window_ns), (10_000, 1_000 * MS));
    assert_eq!(trial.one_way_delays, 10_000);
    assert_eq!((trial.sent.ended_by, trial.received_by), (EndedBy::Finished, EndedBy::Finished));
    // A look comes before the mark is confirmed, and after 10 ms another; the end is confirmed at
    // once.
    assert_eq!(trial.times_said(|kind| matches!(kind, Kind::Mark { .. })), 2);
    assert_eq!(trial.times_said(|kind| matches!(kind, Kind::Finish { .. })), 1);
}

#[test]
fn exactly_the_lost_messages_are_missing() {
    let trial = trial(&plan(), Faults { loss: 0.05, ..Faults::default() }, 2, START_NS);
    let lost = trial.link.lost.len() as u64;
    let measured_lost = trial.link.lost.range(trial.sent.first_measured..).count() as u64;
    assert!((400..700).contains(&lost), "{lost}");
    assert_eq!(trial.counts.total_messages, trial.sent.total_messages - lost);
    assert_eq!(trial.counts.measured_messages, trial.sent.sent_messages - measured_lost);
    assert_eq!((trial.counts.duplicate_messages, trial.counts.reordered_messages), (0, 0));
}

#[test]
fn duplicate_messages_count_once() {
    let trial = trial(&plan(), Faults { duplication: 0.1, ..Faults::default() }, 3, START_NS);
    assert!(trial.link.duplicated > 900, "{}", trial.link.duplicated);
    assert_eq!(trial.counts.duplicate_messages, trial.link.duplicated);
    assert_eq!(trial.counts.total_messages, trial.sent.total_messages);
}

#[test]
fn reordered_messages_are_distinguished_from_lost_and_duplicate_ones() {
    let faults = Faults { loss: 0.05, duplication: 0.05, jitter_ns: 2 * MS, ..Faults::default() };
    for seed in 1..10 {
        let trial = trial(&plan(), faults, seed, START_NS);
        let (counts, lost) = (&trial.counts, trial.link.lost.len() as u64);
        assert!(counts.reordered_messages > 1_000, "{}", counts.reordered_messages);
        assert_eq!(counts.total_messages, trial.sent.total_messages - lost, "{seed}");
        assert_eq!(counts.duplicate_messages, trial.link.duplicated, "{seed}");
        let measured_lost = trial.link.lost.range(trial.sent.first_measured..).count() as u64;
        assert_eq!(counts.measured_messages, trial.sent.sent_messages - measured_lost, "{seed}");
        assert_eq!((counts.stale_messages, counts.foreign_datagrams), (0, 0));
    }
}

#[test]
fn arrivals_after_the_drain_are_overdue() {
    let faults = Faults { jitter_ns: 200 * MS, ..Faults::default() };
    let trial = trial(&plan(), faults, 4, START_NS);
    // Messages came out of order: the receiver stays until 200 ms have brought none.
    let counts = &trial.counts;
    // Of the last 150 ms some three eighths: (150 / 200) / 2.
    assert!((400..720).contains(&counts.overdue_messages), "{}", counts.overdue_messages);
    assert_eq!(counts.measured_messages + counts.overdue_messages, trial.sent.sent_messages);
}

#[test]
fn a_late_start_changes_no_count() {
    let faults = Faults { loss: 0.05, duplication: 0.05, jitter_ns: 2 * MS, ..Faults::default() };
    let counts = |ahead_ns| format!("{:?}", trial(&plan(), faults, 5, ahead_ns).counts);
    assert_eq!(counts(START_NS), counts(600_000 * MS));
}

#[test]
fn silent_receivers_time_out_and_late_ones_do_not() {
    let silent = Faults { deaf_until_ns: u64::MAX, ..Faults::default() };
    let gave_up =
        agree_within(&mut Link::new(silent, 1), SETUP_NS).map(|agreed| agreed.0).unwrap_err();
    assert_eq!(gave_up.as_nanos(), SETUP_NS);
    let late = Faults { deaf_until_ns: SETUP_NS / 2, loss: 0.3, ..Faults::default() };
    let (agreed, acceptor, _) =
        agree_within(&mut Link::new(late, 1), SETUP_NS).expect("an agreement");
    assert!((SETUP_NS / 2..SETUP_NS).contains(&agreed.as_nanos()), "{agreed}");
    assert!(acceptor.peer().is_some());
}

/// The lengths of stay of a receiver after the sender's end arrived, ms: a look is every 10 ms.
fn stay_ms(faults: Faults, seed: u64) -> u64 {
    let trial = trial(&plan(), faults, seed, START_NS);
    let end = trial.said.iter().find(|(kind, _)| matches!(kind, Kind::Finish { .. })).unwrap();
    (trial.receiver_ns - end.1) / MS
}

#[test]
fn receivers_wait_for_late_messages_if_needed() {
    let fine = stay_ms(Faults::default(), 1);
    let lossy = stay_ms(Faults { loss: 0.01, ..Faults::default() }, 1);
    let mixed = stay_ms(Faults { loss: 0.01, jitter_ns: 2 * MS, ..Faults::default() }, 1);
    assert!((20..40).contains(&fine), "{fine}");
    assert!((20..40).contains(&lossy), "{lossy}");
    assert!((200..220).contains(&mixed), "{mixed}");
}

#[test]
fn marks_and_ends_are_resent_until_confirmed() {
    for seed in 1..50 {
        let faults = Faults { loss: 0.5, ..Faults::default() };
        let trial = trial(&plan(), faults, seed, START_NS);
        let counts = &trial.counts;
        assert_eq!(trial.received_by, EndedBy::Finished, "{seed}");
        assert_eq!(counts.first_measured, Some(1_000), "{seed}");
        let lost = trial.link.lost.range(1_000..).count() as u64;
        // Of those that arrive before the mark, the receiver remembers which they are.
        assert_eq!(counts.measured_messages, 10_000 - lost, "{seed}");
    }
}

#[test]
fn a_stream_stops_after_a_second_of_silence() {
    let plan = Plan { amount: Amount::TimeNs(60_000 * MS), ..plan() };
    let faults = Faults { broken_from_ns: Some(500 * MS), ..Faults::default() };
    let trial = trial(&plan, faults, 1, START_NS);
    // The last message that it received was sent at 450 to 500 ms.
    assert!((1_350 * MS..1_420 * MS).contains(&trial.last_left_ns), "{}", trial.last_left_ns);
    assert_eq!((trial.sent.ended_by, trial.received_by), (EndedBy::Silence, EndedBy::Silence));
    for ended_ns in [trial.sender_ns, trial.receiver_ns] {
        assert!((1_950 * MS..=2_020 * MS).contains(&ended_ns), "{ended_ns}");
    }
    // Meanwhile it sends keep-alives, and counts how long it has sent nothing.
    let alive = trial.times_said(|kind| matches!(kind, Kind::Alive { .. }));
    assert!((8..=13).contains(&alive), "{alive}");
    let paused_ns = trial.sent.paused_ns;
    assert!((550 * MS..=620 * MS).contains(&paused_ns), "{paused_ns}");
}

#[test]
fn an_end_without_a_reply_is_unconfirmed_after_the_idle_timeout() {
    // Broken between the last message and the end.
    let faults = Faults { broken_from_ns: Some(1_099_950_000), ..Faults::default() };
    let trial = trial(&plan(), faults, 1, START_NS);
    assert_eq!((trial.sent.ended_by, trial.received_by), (EndedBy::Unconfirmed, EndedBy::Silence));
    assert_eq!((trial.sent.sent_messages, trial.counts.measured_messages), (10_000, 10_000));
    assert!((2_600 * MS..=2_608 * MS).contains(&trial.sender_ns), "{}", trial.sender_ns);
    let ends = trial.times_said(|kind| matches!(kind, Kind::Finish { .. }));
    assert!((35..=45).contains(&ends), "{ends}");
}

#[test]
fn slow_rates_send_keep_alives() {
    let pace = Pace::from_message_rate(2.0);
    let slow = Plan { pace, shared_pace: pace, amount: Amount::Messages(6), ..plan() };
    let trial = trial(&slow, Faults::default(), 1, START_NS);
    assert_eq!((trial.sent.ended_by, trial.received_by), (EndedBy::Finished, EndedBy::Finished));
    assert_eq!((trial.sent.sent_messages, trial.counts.measured_messages), (6, 6));
    assert_eq!(trial.sent.paused_ns, 0);
    assert!(trial.times_said(|kind| matches!(kind, Kind::Alive { .. })) > 40);
}

/// A sender without a schedule that may send 100 messages, and has begun to measure.
fn unpaced(plan: &Plan, act: impl FnOnce(&mut Outgoing, &mut SharedMeters<()>, Instant)) {
    let (progress, start) = (Progress::default(), Instant::from_nanos(START_NS));
    let mut outgoing = Outgoing::new(plan, &progress, datagram_link::TOKEN, 0, start, 9);
    let mut meters = SharedMeters::default();
    assert_eq!(outgoing.next(start, &mut meters).unwrap(), Action::Send(1));
    act(&mut outgoing, &mut meters, start);
}

#[test]
fn unscheduled_messages_without_room_are_retried() {
    let amount = Amount::Messages(100);
    let plan = Plan { pace: None, shared_pace: None, warmup_ns: 0, amount, ..plan() };
    unpaced(&plan, |outgoing, meters, now| {
        let again = outgoing.no_room(now, meters).expect("a pause");
        assert_eq!(again.nanos_since(now), 50_000);
        assert_eq!(outgoing.next(again, meters).unwrap(), Action::Send(1));
        outgoing.blocked(again);
        assert_eq!(outgoing.next(again.plus_nanos(MS), meters).unwrap(), Action::Send(1));
        let sent = outgoing.sent();
        assert_eq!((sent.refused_retried, sent.blocked_ns, sent.offered_messages), (1, MS, 0));
    });
    // With a schedule its turn has gone.
    let plan = Plan { warmup_ns: 0, amount, ..self::plan() };
    unpaced(&plan, |outgoing, meters, now| {
        assert_eq!(outgoing.no_room(now, meters), None);
        let sent = outgoing.sent();
        assert_eq!((sent.refused_messages, sent.offered_messages), (1, 1));
        assert_eq!(sent.refused_retried, 0);
    });
}

#[test]
fn stopped_flows_close_their_counts_once() {
    let amount = Amount::Messages(1);
    let plan = Plan { pace: None, shared_pace: None, warmup_ns: 0, amount, ..plan() };
    unpaced(&plan, |outgoing, meters, now| {
        outgoing.took(1, now, meters);
        let ended = now.plus_nanos(MS);
        assert_eq!(outgoing.next(ended, meters).unwrap(), Action::Hear);
        let later = now.plus_nanos(500 * MS);
        outgoing.stop(EndedBy::Cancelled, later, meters);
        outgoing.stop(EndedBy::Silence, later, meters);
        let sent = outgoing.sent();
        assert_eq!((sent.elapsed_ns, sent.ended_by), (MS, EndedBy::Cancelled));
        assert_eq!(outgoing.next(later, meters).unwrap(), Action::Over);
    });
}

#[test]
fn a_receiver_that_closes_its_port_ends_the_stream() {
    let plan = Plan { warmup_ns: 0, amount: Amount::Messages(1), ..plan() };
    unpaced(&plan, |outgoing, meters, now| {
        outgoing.took(1, now, meters);
        // All is sent when the last message has had its share of the time.
        let over = now.plus_nanos(MS / 10);
        outgoing.next(over, meters).unwrap();
        outgoing.closed();
        while outgoing.next(over, meters).unwrap() != Action::Over {}
        assert_eq!(outgoing.sent().ended_by, EndedBy::PeerClosed);
    });
}

#[test]
fn endless_senders_are_stopped_an_hour_after_their_deadline() {
    let plan = plan();
    let (_, acceptor, _) =
        agree_within(&mut Link::new(Faults::default(), 1), SETUP_NS).expect("an agreement");
    let start = Instant::from_nanos(START_NS);
    let incoming = Incoming::new(&plan, datagram_link::TOKEN, 0, acceptor, start);
    let latest = plan.latest_end(start);
    assert!(incoming.end(latest).is_ok());
    assert_eq!(incoming.end(latest.plus_nanos(1)).unwrap_err().code, "peer.too_long");
    // And so is a sender that is kept from ending.
    let (progress, mut meters) = (Progress::default(), SharedMeters::<()>::default());
    let mut outgoing = Outgoing::new(&plan, &progress, datagram_link::TOKEN, 0, start, 9);
    let after = latest.plus_nanos(1);
    assert_eq!(outgoing.next(after, &mut meters).unwrap(), Action::Hear);
    assert_eq!(outgoing.next(after, &mut meters).unwrap_err().code, "peer.too_long");
}
