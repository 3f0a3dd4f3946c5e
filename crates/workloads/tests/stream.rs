//! Both ends of a stream over a link in virtual time that loses, repeats and reorders datagrams.

use std::collections::{BTreeMap, BTreeSet};

use lanlab_messages::{Amount, Io, Receive, Timestamps, WhenLate};
use lanlab_units::{Instant, Pace};
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, Message, Token};
use lanlab_workloads::Progress;
use lanlab_workloads::handshake::{Acceptor, Initiator, InitiatorState, SETUP_NS};
use lanlab_workloads::stream::{
    Arrival, Counts, Heard, Incoming, Meters, Plan, Schedule, Sent, SharedMeters, Step,
};

const TOKEN: Token = Token([7; 16]);
const MS: u64 = 1_000_000;
/// A word of the session that is not answered is said again after this time.
const REPEAT_NS: u64 = 10 * MS;

/// 100 bytes 10,000 times a second for a second after a warm-up of 100 ms.
fn plan() -> Plan {
    let pace = Pace::from_message_rate(10_000.0);
    Plan {
        message_bytes: 100,
        amount: Amount::TimeNs(1_000 * MS),
        pace,
        shared_pace: pace,
        flows: 1,
        threads: None,
        io: Io::Single,
        io_choice: None,
        receive: Receive::Block,
        receive_choice: None,
        read_bytes: 1,
        when_late: WhenLate::CatchUp,
        timestamps: Timestamps::Program,
        drain_ns: 50 * MS,
        group: 1,
        warmup_ns: 100 * MS,
        interval_ns: 100 * MS,
        silence_ns: 1_000 * MS,
    }
}

/// What a link does to datagrams.
#[derive(Debug, Clone, Copy, Default)]
struct Faults {
    loss: f64,
    duplication: f64,
    /// The delay is between 1 ms and this much more.
    jitter_ns: u64,
    /// Nothing that is sent before arrives at the receiver.
    deaf_until_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum To {
    Sender,
    Receiver,
}

struct Link {
    faults: Faults,
    random: u64,
    /// Datagrams under way, by when they arrive and their number.
    under_way: BTreeMap<(Instant, u64), (To, Vec<u8>)>,
    sent: u64,
    /// Messages of the stream that arrive twice, and those that do not arrive.
    duplicated: u64,
    lost: BTreeSet<u64>,
}

impl Link {
    fn new(faults: Faults, seed: u64) -> Self {
        let (under_way, lost) = (BTreeMap::new(), BTreeSet::new());
        Self { faults, random: seed, under_way, sent: 0, duplicated: 0, lost }
    }

    fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn send(&mut self, to: To, datagram: &[u8], now: Instant) {
        let message = Layout::Full.parse(datagram).ok().map(|header| header.sequence);
        let is_deaf = to == To::Receiver && now.as_nanos() < self.faults.deaf_until_ns;
        if is_deaf || self.random() < self.faults.loss {
            self.lost.extend(message);
            return;
        }
        let is_twice = self.random() < self.faults.duplication;
        self.duplicated += u64::from(is_twice && message.is_some());
        for _ in 0..=u64::from(is_twice) {
            let delay_ns = MS + (self.random() * self.faults.jitter_ns as f64) as u64;
            self.sent += 1;
            let arrives = (now.plus_nanos(delay_ns), self.sent);
            self.under_way.insert(arrives, (to, datagram.to_vec()));
        }
    }

    fn say(&mut self, to: To, kind: Kind, now: Instant) {
        self.send(to, &Message { token: TOKEN, flow: 0, kind }.emit(), now);
    }

    /// What arrives next, if that is not after `by`.
    fn next(&mut self, by: Instant) -> Option<(Instant, To, Vec<u8>)> {
        let first = self.under_way.first_entry().filter(|entry| entry.key().0 <= by)?;
        let ((at, _), (to, datagram)) = first.remove_entry();
        Some((at, to, datagram))
    }
}

/// Agree on a session; gives when, and the acceptor.
fn agree(link: &mut Link) -> Result<(Instant, Acceptor), Instant> {
    let mut now = Instant::ZERO;
    let mut initiator = Initiator::new(TOKEN, 0, 5, now);
    let mut acceptor = Acceptor::new(TOKEN, 0, 9);
    let sender = ([10, 0, 0, 1], 9).into();
    loop {
        initiator.handle_timeout(now);
        while let Some(message) = initiator.poll_transmit(now) {
            link.send(To::Receiver, &message.emit(), now);
        }
        match initiator.state() {
            InitiatorState::Accepted { .. } => return Ok((now, acceptor)),
            InitiatorState::GaveUp => return Err(now),
            InitiatorState::Asking => {}
        }
        let timeout = initiator.poll_timeout().expect("it is asking");
        let Some((at, to, datagram)) = link.next(timeout) else {
            now = timeout;
            continue;
        };
        now = at;
        let message = Message::parse(&datagram).expect("a word of the session");
        match to {
            To::Sender => initiator.handle(&message, now),
            To::Receiver => {
                if let Some(answer) = acceptor.handle(&message, sender, now) {
                    link.send(To::Sender, &answer.emit(), now);
                }
            }
        }
    }
}

struct Trial {
    sent: Sent,
    counts: Counts,
    one_way_delays: u64,
    link: Link,
    /// Messages that the receiver confirmed at the end.
    confirmed: u64,
}

/// Agree, start `ahead_ns` later, send all, and agree on the end.
fn trial(plan: &Plan, faults: Faults, seed: u64, ahead_ns: u64) -> Trial {
    let mut link = Link::new(faults, seed);
    let (agreed, acceptor) = agree(&mut link).expect("an agreement");
    let start = agreed.plus_nanos(ahead_ns);
    let progress = Progress::default();
    let mut schedule = Schedule::new(plan, 0, &progress, start, 9);
    let mut shared = SharedMeters::<()>::new();
    let clock = lanlab_messages::ClockRelation { offset_ns: 0, error_ns: 0 };
    let mut meters = Meters::<()>::new(plan, Some(clock));
    let mut incoming = Incoming::new(plan, TOKEN, 0, acceptor, start);
    let (mut now, mut wake) = (start, start);
    let mut datagram = vec![0; plan.message_bytes];
    // What is said until it is answered, and when next.
    let mut said: Option<(Kind, Instant)> = None;
    let (mut is_over, mut confirmed) = (false, None);
    while confirmed.is_none() {
        while now >= wake && !is_over {
            match schedule.next(now, &mut shared) {
                Step::Measure => {
                    let first_measured = schedule.sent.first_measured;
                    said = Some((Kind::Mark { first_measured }, now));
                }
                Step::Send(messages) => {
                    for index in 0..messages {
                        let sequence = schedule.sent.total_messages + index;
                        let session = TOKEN.short();
                        let send_time_ns = now.as_nanos();
                        let header = Header { flow: 0, session, sequence, send_time_ns };
                        Layout::Full.emit(&header, &mut datagram);
                        link.send(To::Receiver, &datagram, now);
                    }
                    schedule.took(messages, messages, now, &mut shared);
                }
                Step::Wait(until) => wake = until,
                Step::Over => {
                    schedule.close(now, &mut shared);
                    is_over = true;
                    let first_measured = schedule.sent.first_measured;
                    let sent_messages = schedule.sent.total_messages;
                    said = Some((Kind::Finish { first_measured, sent_messages }, now));
                }
            }
        }
        if let Some((kind, next)) = &mut said
            && now >= *next
        {
            *next = now.plus_nanos(REPEAT_NS);
            link.say(To::Receiver, *kind, now);
        }
        let sending = if is_over { Instant::FAR_FUTURE } else { wake };
        let by = said.map_or(sending, |(_, next)| next.min(sending));
        let Some((at, to, arrived)) = link.next(by) else {
            now = by;
            continue;
        };
        now = at;
        if to == To::Receiver {
            let arrival = Arrival { at: now, drops: 0 };
            let heard = incoming.take(&arrived, arrival, now, &mut meters);
            incoming.flush(&mut meters);
            if let Heard::Said(kind) | Heard::SentAll(kind) = heard {
                link.say(To::Sender, kind, now);
            }
            continue;
        }
        match Message::parse(&arrived).expect("a word of the session").kind {
            Kind::Marked { .. } if !is_over => said = None,
            Kind::Finished { received_messages } => confirmed = Some(received_messages),
            _ => {}
        }
    }
    // What is still under way arrives before the receiver closes its counts.
    while let Some((at, to, arrived)) = link.next(Instant::FAR_FUTURE) {
        now = at;
        if to == To::Receiver {
            incoming.take(&arrived, Arrival { at, drops: 0 }, at, &mut meters);
            incoming.flush(&mut meters);
        }
    }
    incoming.counter.close(now, Some(0), &mut meters);
    Trial {
        sent: schedule.sent,
        counts: incoming.counter.counts,
        one_way_delays: meters.one_way_delay.samples(),
        link,
        confirmed: confirmed.unwrap_or(0),
    }
}

const START_NS: u64 = 100 * MS;

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
    assert_eq!((trial.confirmed, trial.one_way_delays), (11_000, 10_000));
}

#[test]
fn what_is_lost_is_missing_and_nothing_else() {
    let trial = trial(&plan(), Faults { loss: 0.05, ..Faults::default() }, 2, START_NS);
    let lost = trial.link.lost.len() as u64;
    let measured_lost = trial.link.lost.range(trial.sent.first_measured..).count() as u64;
    assert!((400..700).contains(&lost), "{lost}");
    assert_eq!(trial.counts.total_messages, trial.sent.total_messages - lost);
    assert_eq!(trial.counts.measured_messages, trial.sent.sent_messages - measured_lost);
    assert_eq!((trial.counts.duplicate_messages, trial.counts.reordered_messages), (0, 0));
}

#[test]
fn what_comes_twice_counts_once() {
    let trial = trial(&plan(), Faults { duplication: 0.1, ..Faults::default() }, 3, START_NS);
    assert!(trial.link.duplicated > 900, "{}", trial.link.duplicated);
    assert_eq!(trial.counts.duplicate_messages, trial.link.duplicated);
    assert_eq!(trial.counts.total_messages, trial.sent.total_messages);
}

#[test]
fn what_overtakes_is_told_from_what_is_lost_or_comes_twice() {
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
fn what_arrives_after_the_drain_is_overdue() {
    let faults = Faults { jitter_ns: 200 * MS, ..Faults::default() };
    let trial = trial(&plan(), faults, 4, START_NS);
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
fn a_silent_receiver_is_given_up_and_one_that_starts_late_is_not() {
    let silent = Faults { deaf_until_ns: u64::MAX, ..Faults::default() };
    let gave_up = agree(&mut Link::new(silent, 1)).map(|agreed| agreed.0).unwrap_err();
    assert_eq!(gave_up.as_nanos(), SETUP_NS);
    let late = Faults { deaf_until_ns: SETUP_NS / 2, loss: 0.3, ..Faults::default() };
    let (agreed, acceptor) = agree(&mut Link::new(late, 1)).expect("an agreement");
    assert!((SETUP_NS / 2..SETUP_NS).contains(&agreed.as_nanos()), "{agreed}");
    assert!(acceptor.peer().is_some());
}
