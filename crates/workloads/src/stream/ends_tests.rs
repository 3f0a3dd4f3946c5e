//! How a receiver handles datagrams and a sender control messages, with figures worked out by hand.

use lanlab_units::{Instant, Pace};
use lanlab_wire::session::{Kind, Message, Token};

use super::example::plan;
use super::*;
use crate::Progress;
use crate::handshake::Acceptor;
use crate::measure::IntervalMeter;
use crate::messages::{Amount, ClockRelation, EndedBy};

const MS: u64 = 1_000_000;
const TOKEN: Token = Token([7; 16]);
const OTHER: Token = Token([8; 16]);
const MOST: u64 = 1 << 62;

fn at_ms(ms: u64) -> Instant {
    Instant::from_nanos(ms * MS)
}

fn incoming(plan: &Plan) -> (Incoming<'_>, Meters<()>) {
    let acceptor = Acceptor::new(TOKEN, 0, 9);
    (Incoming::new(plan, TOKEN, 0, acceptor, at_ms(0)), Meters::new(plan, None))
}

fn message(plan: &Plan, token: Token, flow: u16, number: u64, sent: Instant) -> Vec<u8> {
    let progress = Progress::default();
    let mut message = vec![0; plan.message_bytes];
    Outgoing::new(plan, &progress, token, flow, at_ms(0), 9).write(number, sent, &mut message);
    message
}

fn word(token: Token, flow: u16, kind: Kind) -> Vec<u8> {
    Message { token, flow, kind }.emit().to_vec()
}

fn arrive(ends: &mut (Incoming, Meters<()>), datagrams: &[Vec<u8>], ms: u64) -> Vec<Heard> {
    let arrival = Arrival { at: at_ms(ms), drops: 0 };
    let take = |datagram: &Vec<u8>| ends.0.take(datagram, arrival, at_ms(ms), &mut ends.1);
    let heard = datagrams.iter().map(take).collect();
    ends.0.flush(&mut ends.1);
    heard
}

#[test]
fn messages_of_other_flows_are_foreign() {
    let plan = plan();
    let mut ends = incoming(&plan);
    let of = |token, flow, number| message(&plan, token, flow, number, at_ms(1));
    let datagrams = [of(TOKEN, 0, 0), of(OTHER, 0, 1), of(TOKEN, 1, 1), of(TOKEN, 0, MOST)];
    arrive(&mut ends, &datagrams, 10);
    arrive(&mut ends, &[of(TOKEN, 0, 1)[1..].to_vec()], 10);
    let counts = &ends.0.counter.counts;
    assert_eq!((counts.total_messages, counts.foreign_datagrams), (1, 4));
    arrive(&mut ends, &[of(TOKEN, 0, MOST - 1)], 10);
    assert_eq!(ends.0.counter.counts.total_messages, 2);
    assert_eq!(ends.0.counter.expected(), MOST);
}

#[test]
fn invalid_or_other_session_control_messages_are_foreign() {
    let plan = plan();
    let mark = |first_measured| Kind::Mark { first_measured };
    let finish = |first_measured, sent_messages| Kind::Finish { first_measured, sent_messages };
    let mut ends = incoming(&plan);
    let words = [
        word(OTHER, 0, mark(3)),
        word(TOKEN, 1, mark(3)),
        word(TOKEN, 0, mark(MOST)),
        word(TOKEN, 0, finish(4, 3)),
        word(TOKEN, 0, finish(3, MOST)),
    ];
    assert_eq!(arrive(&mut ends, &words, 10), [Heard::Counted; 5]);
    assert_eq!(ends.0.counter.counts.foreign_datagrams, 5);
    assert_eq!((ends.0.counter.counts.first_measured, ends.0.counter.finished_at), (None, None));
    assert_eq!(ends.0.closed(), Some(EndedBy::PeerClosed));
    let alive = word(TOKEN, 0, Kind::Alive { received_messages: 0 });
    assert_eq!(arrive(&mut ends, &[alive], 10), [Heard::Counted]);
    assert_eq!(ends.0.counter.counts.foreign_datagrams, 5);

    let words = [word(TOKEN, 0, mark(MOST - 1)), word(TOKEN, 0, finish(MOST - 1, MOST - 1))];
    let answers = [
        Heard::Said(Kind::Marked { first_measured: MOST - 1 }),
        Heard::SentAll(Kind::Finished { received_messages: 0 }),
    ];
    assert_eq!(arrive(&mut ends, &words, 20), answers);
    // The end is repeated, and answered again.
    let again = Heard::Said(Kind::Finished { received_messages: 0 });
    assert_eq!(arrive(&mut ends, &words[1..], 30), [again]);
    assert_eq!((ends.0.counter.finished_at, ends.0.closed()), (Some(at_ms(20)), None));
}

#[test]
fn messages_sent_and_received_together_form_a_run() {
    let at = |ms, drops| Arrival { at: at_ms(ms), drops };
    let run = Run { first: 5, count: 3, sent_ns: 7, arrival: at(1, 0) };
    let single = Run { first: 8, count: 1, ..run };
    assert!(run.is_continued_by(&single));
    assert!(!run.is_continued_by(&Run { first: 9, ..single }));
    assert!(!run.is_continued_by(&Run { sent_ns: 8, ..single }));
    assert!(!run.is_continued_by(&Run { arrival: at(2, 0), ..single }));
    assert!(!run.is_continued_by(&Run { arrival: at(1, 1), ..single }));
}

#[test]
fn wrapped_message_numbers_are_counted_in_full() {
    // Numbers of eight bits, 300 of which arrive together.
    let plan = Plan { message_bytes: 1, ..plan() };
    let mut ends = incoming(&plan);
    let datagrams: Vec<_> =
        (0..300).map(|number| message(&plan, TOKEN, 0, number, at_ms(1))).collect();
    arrive(&mut ends, &datagrams, 10);
    let counts = &ends.0.counter.counts;
    assert_eq!((counts.total_messages, ends.0.counter.expected()), (300, 300));
    assert_eq!((counts.duplicate_messages, counts.reordered_messages), (0, 0));
}

/// How long a receiver of these messages stays after the end message of `sent`, ms.
fn stays_ms(numbers: &[u64], sent_messages: u64) -> u64 {
    let plan = plan();
    let mut ends = incoming(&plan);
    for number in numbers {
        arrive(&mut ends, &[message(&plan, TOKEN, 0, *number, at_ms(1))], 10);
    }
    let finish = Kind::Finish { first_measured: 0, sent_messages };
    arrive(&mut ends, &[word(TOKEN, 0, finish)], 20);
    let is_over = |ms: &u64| ends.0.end(at_ms(20 + ms)).unwrap() == Some(EndedBy::Finished);
    (0..1_000).find(is_over).expect("it is over")
}

#[test]
fn a_receiver_stays_as_long_as_something_may_come() {
    assert_eq!(stays_ms(&[0, 1, 2], 3), 20);
    assert_eq!(stays_ms(&[0, 2], 3), 20);
    assert_eq!(stays_ms(&[1, 0, 2], 4), 200);
    assert_eq!(stays_ms(&[1, 0], 2), 20);
}

#[test]
fn a_late_message_makes_a_receiver_stay_longer() {
    let plan = plan();
    let mut ends = incoming(&plan);
    let finish = Kind::Finish { first_measured: 0, sent_messages: 3 };
    arrive(&mut ends, &[word(TOKEN, 0, finish)], 20);
    // This shows that the path reorders.
    arrive(&mut ends, &[message(&plan, TOKEN, 0, 0, at_ms(1))], 30);
    assert_eq!(ends.0.end(at_ms(229)), Ok(None));
    assert_eq!(ends.0.end(at_ms(230)), Ok(Some(EndedBy::Finished)));
    arrive(&mut ends, &[message(&plan, TOKEN, 0, 1, at_ms(1))], 100);
    assert_eq!(ends.0.end(at_ms(299)), Ok(None));
    // Nothing can follow the last missing message.
    arrive(&mut ends, &[message(&plan, TOKEN, 0, 2, at_ms(1))], 200);
    assert_eq!(ends.0.end(at_ms(219)), Ok(None));
    assert_eq!(ends.0.end(at_ms(220)), Ok(Some(EndedBy::Finished)));
}

#[test]
fn receivers_time_out_silent_senders() {
    let plan = plan();
    let mut ends = incoming(&plan);
    assert_eq!(ends.0.end(at_ms(1_000)), Ok(None));
    assert_eq!(ends.0.end(at_ms(1_001)), Ok(Some(EndedBy::Silence)));
    arrive(&mut ends, &[word(TOKEN, 0, Kind::Alive { received_messages: 0 })], 500);
    assert_eq!(ends.0.end(at_ms(1_500)), Ok(None));
    assert_eq!(ends.0.end(at_ms(1_501)), Ok(Some(EndedBy::Silence)));
}

#[test]
fn excess_messages_are_an_error_unless_numbers_are_short() {
    for (message_bytes, code) in [(100, Some("peer.too_much")), (1, None)] {
        let amount = Amount::Messages(2);
        let plan = Plan { amount, warmup_ns: 0, message_bytes, ..plan() };
        let mut ends = incoming(&plan);
        let next = |number| vec![message(&plan, TOKEN, 0, number, at_ms(1))];
        arrive(&mut ends, &next(0), 10);
        arrive(&mut ends, &next(1), 11);
        assert_eq!(ends.0.end(at_ms(12)), Ok(None));
        arrive(&mut ends, &next(2), 12);
        assert_eq!(ends.0.end(at_ms(12)).err().map(|failure| failure.code), code);
    }
}

fn run(first: u64, count: u64, sent_ns: u64, arrived_ms: u64) -> Run {
    let arrival = Arrival { at: at_ms(arrived_ms), drops: 0 };
    Run { first, count, sent_ns, arrival }
}

#[test]
fn the_first_message_of_an_amount_opens_the_window() {
    let plan = Plan { amount: Amount::Messages(10), warmup_ns: 0, ..plan() };
    let (mut counter, mut meters) = (Counter::new(&plan, at_ms(0)), Meters::<()>::new(&plan, None));
    counter.count(run(0, 4, 0, 30), &mut meters);
    counter.count(run(4, 2, 0, 70), &mut meters);
    assert_eq!(counter.expected(), 6);
    assert!(!counter.is_complete());
    assert!(counter.finish(8, at_ms(100)));
    assert!(!counter.finish(6, at_ms(120)));
    // Up to 50 ms after the sender's message, not more.
    counter.count(run(6, 1, 0, 150), &mut meters);
    assert!(!counter.is_complete());
    counter.count(run(7, 1, 0, 151), &mut meters);
    assert!(counter.is_complete());
    counter.close(at_ms(200), Some(3), &mut meters);
    let counts = &counter.counts;
    assert_eq!((counts.window_messages, counts.window_bytes), (6, 600));
    assert_eq!((counts.window_ns, counts.overdue_messages), (120 * MS, 1));
    assert_eq!((counts.measured_messages, counts.socket_dropped), (7, Some(3)));
}

#[test]
fn a_trial_cut_short_has_a_shorter_window() {
    let plan = plan();
    let window = |ms| {
        let (mut counter, mut meters) =
            (Counter::new(&plan, at_ms(0)), Meters::<()>::new(&plan, None));
        counter.count(run(0, 3, 0, 99), &mut meters);
        counter.count(run(3, 3, 0, 100), &mut meters);
        counter.count(run(6, 5, 0, 1_100), &mut meters);
        counter.close(at_ms(ms), None, &mut meters);
        let counts = counter.counts;
        assert_eq!(
            (counts.window_messages, counts.window_bytes, counts.socket_dropped),
            (3, 300, None)
        );
        // Without a mark, everything is measured.
        assert_eq!(counts.measured_messages, 11);
        counts.window_ns / MS
    };
    assert_eq!([window(400), window(1_100), window(9_000)], [300, 1_000, 1_000]);
}

#[test]
fn one_way_delays_use_the_corrected_sender_clock() {
    let plan = Plan { warmup_ns: 0, ..plan() };
    // The sender's clock is 400 ns ahead.
    let clock = ClockRelation { offset_ns: 400, error_ns: 0 };
    let (mut counter, mut meters) =
        (Counter::new(&plan, at_ms(0)), Meters::<()>::new(&plan, Some(clock)));
    counter.count(run(0, 1, 10 * MS - 600, 10), &mut meters);
    counter.count(run(1, 2, 20 * MS - 2_600, 20), &mut meters);
    let found = meters.one_way_delay.finish();
    assert_eq!((found.samples, found.min_ns, found.max_ns), (3, 1_000, 3_000));
    // 2000 ns in the first pair, a sixteenth of that smoothed, and no change in the second.
    assert_eq!(counter.delay_variation_ns(), 125 * 15 / 16);
    counter.close(at_ms(30), None, &mut meters);
    let variation =
        crate::measure::DelayVariationMeter::merge([&meters.delay_variation].into_iter());
    assert_eq!(variation.map(|found| (found.samples, found.smoothed_ns)), Some((2, 117)));
}

#[test]
fn values_beyond_the_window_are_stale() {
    let plan = Plan { warmup_ns: 0, ..plan() };
    let (mut counter, mut meters) = (Counter::new(&plan, at_ms(0)), Meters::<()>::new(&plan, None));
    for first in [70_000, 0, 69_999, 70_000] {
        counter.count(run(first, 1, 0, 10), &mut meters);
    }
    let counts = &counter.counts;
    assert_eq!((counts.stale_messages, counts.reordered_messages), (1, 1));
    assert_eq!((counts.duplicate_messages, counts.total_messages), (1, 2));
    let lost = IntervalMeter::merge(vec![meters.intervals], true).lost_messages;
    assert_eq!(lost, [70_000 - 1]);
}

/// A sender of one message each millisecond from zero on, that has heard nothing.
fn sending<'a>(plan: &'a Plan, progress: &'a Progress) -> (Outgoing<'a>, SharedMeters<()>) {
    (Outgoing::new(plan, progress, TOKEN, 0, at_ms(0), 9), SharedMeters::default())
}

fn paced(amount: Amount, warmup_ms: u64) -> Plan {
    let pace = Pace::from_message_rate(1_000.0);
    Plan { pace, amount, warmup_ns: warmup_ms * MS, ..plan() }
}

fn says(kind: Kind) -> Message {
    Message { token: TOKEN, flow: 0, kind }
}

#[test]
fn the_mark_is_repeated_until_the_right_one_is_confirmed() {
    let (plan, progress) = (paced(Amount::TimeNs(100 * MS), 3), Progress::default());
    let (mut sender, mut meters) = sending(&plan, &progress);
    for ms in 0..3 {
        assert_eq!(sender.next(at_ms(ms), &mut meters), Ok(Action::Send(1)));
        sender.took(1, at_ms(ms), &mut meters);
    }
    let mark = Action::Say(Kind::Mark { first_measured: 3 });
    assert_eq!(sender.next(at_ms(3), &mut meters), Ok(mark));
    for ms in 3..10 {
        assert_eq!(sender.next(at_ms(ms), &mut meters), Ok(Action::Send(1)));
        sender.took(1, at_ms(ms), &mut meters);
    }
    let marked = |first_measured| says(Kind::Marked { first_measured });
    let wrong = [
        marked(2),
        Message { token: OTHER, ..marked(3) },
        Message { flow: 1, ..marked(3) },
        says(Kind::Finished { received_messages: 3 }),
    ];
    for (look, word) in wrong.iter().enumerate() {
        let now = at_ms(10 + 10 * look as u64);
        assert_eq!(sender.next(now, &mut meters), Ok(Action::Hear));
        sender.heard(word, now);
        assert_eq!(sender.next(now, &mut meters), Ok(mark), "{word:?}");
    }
    assert_eq!(sender.next(at_ms(50), &mut meters), Ok(Action::Hear));
    sender.heard(&marked(3), at_ms(50));
    assert_eq!(sender.next(at_ms(50), &mut meters), Ok(Action::Send(1)));
}

#[test]
fn idle_senders_send_keep_alives() {
    let pace = Pace::from_message_rate(1.0);
    let plan = Plan { pace, warmup_ns: 0, amount: Amount::TimeNs(5_000 * MS), ..plan() };
    let progress = Progress::default();
    let (mut sender, mut meters) = sending(&plan, &progress);
    assert_eq!(sender.next(at_ms(0), &mut meters), Ok(Action::Send(1)));
    sender.took(1, at_ms(0), &mut meters);
    let look = |ms| Ok(Action::Wait { until: at_ms(ms), exact: false });
    assert_eq!(sender.next(at_ms(0), &mut meters), look(10));
    let mut said = Vec::new();
    for ms in (10..=990).step_by(10) {
        assert_eq!(sender.next(at_ms(ms), &mut meters), Ok(Action::Hear));
        sender.heard(&says(Kind::Alive { received_messages: 1 }), at_ms(ms));
        let mut next = sender.next(at_ms(ms), &mut meters);
        if next == Ok(Action::Say(Kind::Alive { received_messages: 0 })) {
            said.push(ms);
            next = sender.next(at_ms(ms), &mut meters);
        }
        let is_exact = ms == 990;
        assert_eq!(next, Ok(Action::Wait { until: at_ms(ms + 10), exact: is_exact }));
    }
    // More than 50 ms after the last message sent.
    assert_eq!(said[..3], [60, 120, 180]);
}

#[test]
fn a_sender_ends_by_silence_and_by_its_driver() {
    let (plan, progress) = (paced(Amount::TimeNs(9_000 * MS), 0), Progress::default());
    let ends = |ms| {
        let (mut sender, mut meters) = sending(&plan, &progress);
        assert_eq!(sender.next(at_ms(ms), &mut meters), Ok(Action::Hear));
        let next = sender.next(at_ms(ms), &mut meters);
        (next == Ok(Action::Over), sender.sent().ended_by)
    };
    assert!(!ends(1_000).0);
    assert_eq!(ends(1_001), (true, EndedBy::Silence));
    progress.cancel();
    assert_eq!(ends(10), (true, EndedBy::Cancelled));
}

/// How a sender of three messages of this size ends if its receiver replies with `kind`.
fn confirmed(message_bytes: usize, kind: Kind) -> Option<EndedBy> {
    let plan = Plan { message_bytes, ..paced(Amount::Messages(3), 0) };
    let progress = Progress::default();
    let (mut sender, mut meters) = sending(&plan, &progress);
    for ms in 0..3 {
        assert_eq!(sender.next(at_ms(ms), &mut meters), Ok(Action::Send(1)));
        sender.took(1, at_ms(ms), &mut meters);
    }
    assert_eq!(sender.next(at_ms(3), &mut meters), Ok(Action::Hear));
    let finish = Kind::Finish { first_measured: 0, sent_messages: 3 };
    assert_eq!(sender.next(at_ms(3), &mut meters), Ok(Action::Say(finish)));
    let until = Instant::from_nanos(3_500_000);
    assert_eq!(sender.next(at_ms(3), &mut meters), Ok(Action::Wait { until, exact: false }));
    assert_eq!(sender.next(until, &mut meters), Ok(Action::Hear));
    sender.heard(&says(kind), until);
    let is_over = sender.next(until, &mut meters) == Ok(Action::Over);
    let sent = sender.into_sent(77);
    assert_eq!((sent.send_buffer_bytes, sent.local_port), (77, 9));
    is_over.then_some(sent.ended_by)
}

#[test]
fn an_end_is_confirmed_if_no_more_arrived_than_was_sent() {
    let finished = |received_messages| Kind::Finished { received_messages };
    assert_eq!(confirmed(100, finished(3)), Some(EndedBy::Finished));
    assert_eq!(confirmed(100, finished(0)), Some(EndedBy::Finished));
    assert_eq!(confirmed(100, finished(4)), None);
    // Short numbers may be extended wrongly.
    assert_eq!(confirmed(1, finished(4)), Some(EndedBy::Finished));
    assert_eq!(confirmed(100, Kind::Alive { received_messages: 3 }), None);
}
