//! The two ends of a stream in virtual time, driven as an engine drives them.

#[path = "../support/stream_plan.rs"]
mod example;

use lanlab_messages::{ClockRelation, EndedBy};
use lanlab_units::{Instant, Pace};
use lanlab_wire::session::{Kind, Message};
use lanlab_workloads::Progress;
use lanlab_workloads::stream::{
    Action, Arrival, Counts, Departing as _, Heard, Incoming, Meters, Outgoing, Plan, Sent,
    SharedMeters,
};

use crate::datagram_link::{Faults, Link, MS, TOKEN, To, agree_within};

/// How often a receiver looks whether it is over.
const LOOK_NS: u64 = 10 * MS;
/// From the agreement to the start.
pub const START_NS: u64 = 100 * MS;

/// 100 bytes 10,000 times a second for a second after a warm-up of 100 ms.
pub fn plan() -> Plan {
    let pace = Pace::from_message_rate(10_000.0);
    Plan { pace, shared_pace: pace, silence_ns: 1_500 * MS, ..example::plan() }
}

pub struct Trial {
    pub sent: Sent,
    pub counts: Counts,
    pub received_by: EndedBy,
    pub one_way_delays: u64,
    pub link: Link,
    /// When the sender said each kind of message, after the start.
    pub said: Vec<(Kind, u64)>,
    /// When the last message left, and when each end was over, after the start.
    pub last_left_ns: u64,
    pub sender_ns: u64,
    pub receiver_ns: u64,
}

impl Trial {
    /// How often the sender said what `is_wanted` picks.
    pub fn times_said(&self, is_wanted: impl Fn(&Kind) -> bool) -> usize {
        self.said.iter().filter(|(kind, _)| is_wanted(kind)).count()
    }
}

/// Agree, start `ahead_ns` later, send all, and agree on the end. `broken_from_ns` counts
/// from the start.
pub fn trial(plan: &Plan, faults: Faults, seed: u64, ahead_ns: u64) -> Trial {
    let mut link = Link::new(Faults { broken_from_ns: None, ..faults }, seed);
    let (agreed, acceptor, round_trip_ns) =
        agree_within(&mut link, 60_000 * MS).expect("an agreement");
    let plan = &Plan { round_trip_ns, ..plan.clone() };
    let start = agreed.plus_nanos(ahead_ns);
    link.faults.broken_from_ns =
        faults.broken_from_ns.map(|from_ns| start.plus_nanos(from_ns).as_nanos());
    let progress = Progress::default();
    let clock = ClockRelation { offset_ns: 0, error_ns: 0 };
    let ends = Ends {
        plan,
        start,
        link,
        outgoing: Outgoing::new(plan, &progress, TOKEN, 0, start, 9),
        shared: SharedMeters::default(),
        inbox: Vec::new(),
        message: vec![0; plan.message_bytes],
        said: Vec::new(),
        last_left_ns: 0,
        sender_ns: None,
        incoming: Incoming::new(plan, TOKEN, 0, acceptor, start),
        meters: Meters::new(plan, Some(clock)),
        next_alive: start,
        next_look: start,
        received: None,
    };
    ends.run()
}

struct Ends<'a> {
    plan: &'a Plan,
    start: Instant,
    link: Link,
    outgoing: Outgoing<'a>,
    shared: SharedMeters<()>,
    /// What has come to the sender, which has not looked yet.
    inbox: Vec<Message>,
    message: Vec<u8>,
    said: Vec<(Kind, u64)>,
    last_left_ns: u64,
    sender_ns: Option<u64>,
    incoming: Incoming<'a>,
    meters: Meters<()>,
    next_alive: Instant,
    next_look: Instant,
    received: Option<(EndedBy, u64)>,
}

impl Ends<'_> {
    fn run(mut self) -> Trial {
        let (mut now, mut wake) = (self.start, self.start);
        while self.sender_ns.is_none() || self.received.is_none() {
            if now >= wake {
                wake = self.send(now);
            }
            self.look(now);
            let by = wake.min(self.next_look);
            if let Some((at, to, datagram)) = self.link.next(by) {
                now = at;
                self.arrive(to, &datagram, now);
            } else {
                now = by;
            }
        }
        let (received_by, receiver_ns) = self.received.expect("it is over");
        Trial {
            sent: self.outgoing.into_sent(0),
            counts: self.incoming.counter.counts,
            received_by,
            one_way_delays: self.meters.one_way_delay.samples(),
            link: self.link,
            said: self.said,
            last_left_ns: self.last_left_ns,
            sender_ns: self.sender_ns.expect("it is over"),
            receiver_ns,
        }
    }

    fn since_start_ns(&self, now: Instant) -> u64 {
        now.nanos_since(self.start)
    }

    /// Let the sender do what is due; gives when something is due again.
    fn send(&mut self, now: Instant) -> Instant {
        loop {
            match self.outgoing.next(now, &mut self.shared).expect("it ends in time") {
                Action::Send(messages) => {
                    for index in 0..messages {
                        self.outgoing.write(index, now, &mut self.message);
                        self.link.send(To::Receiver, &self.message, now);
                    }
                    self.outgoing.took(messages, now, &mut self.shared);
                    self.last_left_ns = self.since_start_ns(now);
                }
                Action::Say(kind) => {
                    self.said.push((kind, self.since_start_ns(now)));
                    self.link.say(To::Receiver, kind, now);
                }
                Action::Hear => {
                    for message in self.inbox.drain(..) {
                        self.outgoing.heard(&message, now);
                    }
                }
                Action::Wait { until, .. } => return until,
                Action::Over => {
                    self.sender_ns = Some(self.since_start_ns(now));
                    return Instant::FAR_FUTURE;
                }
            }
        }
    }

    fn look(&mut self, now: Instant) {
        if self.received.is_some() || now < self.next_look {
            return;
        }
        self.next_look = now.plus_nanos(LOOK_NS);
        if let Some(ended_by) = self.incoming.end(now).expect("it ends in time") {
            self.incoming.counter.close(now, Some(0), &mut self.meters);
            self.received = Some((ended_by, self.since_start_ns(now)));
            self.next_look = Instant::FAR_FUTURE;
        } else if now >= self.next_alive && self.incoming.counter.finished_at.is_none() {
            self.next_alive = now.plus_nanos(self.plan.alive_ns());
            let received_messages = self.incoming.counter.counts.total_messages;
            self.link.say(To::Sender, Kind::Alive { received_messages }, now);
        }
    }

    fn arrive(&mut self, to: To, datagram: &[u8], now: Instant) {
        if to == To::Sender {
            self.inbox.push(Message::parse(datagram).expect("a message of the session"));
        } else if self.received.is_none() {
            let arrival = Arrival { at: now, drops: 0 };
            let heard = self.incoming.take(datagram, arrival, now, &mut self.meters);
            self.incoming.flush(&mut self.meters);
            if let Heard::Said(kind) | Heard::SentAll(kind) = heard {
                self.link.say(To::Sender, kind, now);
            }
        }
    }
}
