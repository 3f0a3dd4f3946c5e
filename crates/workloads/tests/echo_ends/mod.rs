//! The two ends of an echo in virtual time, driven as an engine drives them.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::collections::BTreeMap;

use lanlab_messages::{EchoAmount, EndedBy, Receive, Timestamps, Transport};
use lanlab_units::{Instant, Pace};
use lanlab_wire::session::{Kind, Message};
use lanlab_workloads::echo::{
    Asked, ClosedLoop, Counts, Due, Handed, Heard, LastHeard, Next, Plan, RateListener,
    RateSchedule, RateSender, ReplyReader, RequestWriter, Responder, Step,
};
use lanlab_workloads::{Closing, ClosingStep, Progress};

use crate::datagram_link::{Faults, Link, MS, TOKEN, To, agree_within};

/// An end that hears nothing looks after this time whether it is over.
const TICK_NS: u64 = 20 * MS;
/// From the agreement to the start.
pub const START_NS: u64 = 100 * MS;

/// 100 bytes for a second after a warm-up of 100 ms; a reply is overdue after 50 ms.
pub fn closed_loop() -> Plan {
    Plan {
        transport: Transport::Udp,
        message_bytes: 100,
        amount: EchoAmount::TimeNs(1_000 * MS),
        pace: None,
        outstanding_requests: 1,
        receive: Receive::Block,
        timestamps: Timestamps::Program,
        timeout_ns: 50 * MS,
        warmup_ns: 100 * MS,
        silence_ns: 1_500 * MS,
        timeout_follows_path: false,
        round_trip_ns: 0,
    }
}

/// The same with 1,000 requests a second.
pub fn on_schedule() -> Plan {
    Plan { pace: Pace::from_message_rate(1_000.0), ..closed_loop() }
}

pub fn with_outstanding(outstanding_requests: usize) -> Plan {
    Plan { outstanding_requests, ..closed_loop() }
}

/// How long a requester stands still, and from when on; counted from the start.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pause {
    pub from_ns: u64,
    pub time_ns: u64,
}

pub struct Trial {
    pub counts: Counts,
    /// How the requester ended before it sent its end to the responder, and after.
    pub ended_by: EndedBy,
    pub agreed_by: EndedBy,
    pub responder_ended_by: EndedBy,
    /// From the start to when the requester and the responder ended.
    pub requester_ns: u64,
    pub responder_ns: u64,
    pub answered: u64,
    pub foreign: u64,
    pub requests: Requests,
    /// How often a reply to each request reached the requester before its end.
    replies: BTreeMap<u64, u64>,
}

impl Trial {
    pub fn measured(&self) -> impl Iterator<Item = u64> {
        let numbers = self.requests.sent.iter().map(|(number, _)| *number);
        numbers.filter(|number| self.counts.is_measured(*number))
    }

    pub fn missing_and_repeated(&self) -> (u64, u64) {
        let came = |number| self.replies.get(&number).copied().unwrap_or(0);
        let missing = self.measured().filter(|&number| came(number) == 0).count();
        let repeated = self.measured().map(|number| came(number).saturating_sub(1)).sum();
        (missing as u64, repeated)
    }
}

pub fn finished(trial: &Trial) -> bool {
    [trial.ended_by, trial.agreed_by, trial.responder_ended_by] == [EndedBy::Finished; 3]
}

pub fn trial(plan: &Plan, faults: Faults, seed: u64) -> Trial {
    trial_with(plan, faults, seed, START_NS, Pause::default())
}

/// Ask and answer from `ahead_ns` after the agreement on. `broken_from_ns` counts from the start.
pub fn trial_with(plan: &Plan, faults: Faults, seed: u64, ahead_ns: u64, pause: Pause) -> Trial {
    let mut link = Link::new(Faults { broken_from_ns: None, ..faults }, seed);
    let (agreed, acceptor, round_trip_ns) =
        agree_within(&mut link, 60_000 * MS).expect("an agreement");
    let plan = &plan.on_path(round_trip_ns).expect("a time-out that the path allows");
    let start = agreed.plus_nanos(ahead_ns);
    link.faults.broken_from_ns =
        faults.broken_from_ns.map(|from_ns| start.plus_nanos(from_ns).as_nanos());
    let (asking, answering) = (Progress::default(), Progress::default());
    let last_heard = LastHeard::new(start);
    let requester = match plan.pace {
        None => Requester::ClosedLoop(Box::new(ClosedLoop::new(plan, &asking, start))),
        Some(pace) => {
            let schedule = RateSchedule::new(plan, pace, start);
            Requester::OnSchedule(
                Box::new(RateSender::new(plan, &asking, &last_heard, schedule)),
                Box::new(RateListener::new(plan, &asking, &last_heard, schedule)),
            )
        }
    };
    let ends = Ends {
        link,
        requester,
        responder: Responder::new(plan, &answering, TOKEN, acceptor, start),
        requests: Requests {
            start,
            confirm_ns: plan.confirm_ns(),
            writer: RequestWriter::new(plan, TOKEN),
            message: vec![0; plan.message_bytes],
            sent: Vec::new(),
            said_alive: Vec::new(),
        },
        reader: ReplyReader::new(plan, TOKEN),
        replies: BTreeMap::new(),
        closing: None,
        ended: None,
        agreed: None,
        responder_ended: None,
    };
    ends.run(pause)
}

/// The two ways of asking.
enum Requester<'a> {
    ClosedLoop(Box<ClosedLoop<'a>>),
    OnSchedule(Box<RateSender<'a>>, Box<RateListener<'a>>),
}

pub struct Requests {
    confirm_ns: u64,
    start: Instant,
    writer: RequestWriter,
    message: Vec<u8>,
    /// Numbers of all requests, in order, and when they left after the start.
    pub sent: Vec<(u64, u64)>,
    /// When a requester on schedule said that it is there, after the start.
    pub said_alive: Vec<u64>,
}

impl Requests {
    fn send(&mut self, number: u64, now: Instant, link: &mut Link) {
        self.writer.write(number, now, &mut self.message);
        link.send(To::Receiver, &self.message, now);
        self.sent.push((number, now.nanos_since(self.start)));
    }
}

/// Why an end is over, and when after the start.
type Ended = (EndedBy, u64);

struct Ends<'a> {
    link: Link,
    requester: Requester<'a>,
    responder: Responder<'a>,
    requests: Requests,
    reader: ReplyReader,
    replies: BTreeMap<u64, u64>,
    closing: Option<Closing>,
    ended: Option<Ended>,
    agreed: Option<EndedBy>,
    responder_ended: Option<Ended>,
}

impl Ends<'_> {
    fn run(mut self, pause: Pause) -> Trial {
        let start = self.requests.start;
        let paused = pause.from_ns..pause.from_ns + pause.time_ns;
        let (mut now, mut next_look) = (start, start);
        while self.agreed.is_none() || self.responder_ended.is_none() {
            let mut wake = next_look;
            if paused.contains(&now.nanos_since(start)) {
                wake = wake.min(start.plus_nanos(paused.end));
            } else if self.ended.is_none() {
                wake = wake.min(self.ask(now));
            }
            wake = wake.min(self.close(now));
            self.answer(now);
            if let Some((at, to, datagram)) = self.link.next(wake) {
                now = at;
                self.arrive(to, &datagram, now);
            } else {
                now = wake;
                if now >= next_look {
                    self.responder.idle(now);
                    next_look = now.plus_nanos(TICK_NS);
                }
            }
        }
        let (ended_by, requester_ns) = self.ended.expect("it is over");
        let (responder_ended_by, responder_ns) = self.responder_ended.expect("it is over");
        Trial {
            counts: match self.requester {
                Requester::ClosedLoop(requester) => requester.counts,
                Requester::OnSchedule(_, listener) => listener.counts,
            },
            ended_by,
            agreed_by: self.agreed.expect("it is over"),
            responder_ended_by,
            requester_ns,
            responder_ns,
            answered: self.responder.answered,
            foreign: self.responder.foreign,
            requests: self.requests,
            replies: self.replies,
        }
    }

    /// Send what is due; gives when something is due again.
    fn ask(&mut self, now: Instant) -> Instant {
        let (link, requests) = (&mut self.link, &mut self.requests);
        let mut wake = Instant::FAR_FUTURE;
        let ended = match &mut self.requester {
            Requester::ClosedLoop(requester) => loop {
                match requester.next(now).expect("it ends in time") {
                    Step::Measure => {}
                    Step::Send(number) => {
                        requests.send(number, now, link);
                        requester.handed(Handed::Sent, now);
                    }
                    Step::Listen(until) | Step::Wait(until) => {
                        wake = until;
                        break None;
                    }
                    Step::Over(ended_by) => break Some(ended_by),
                }
            },
            Requester::OnSchedule(sender, listener) => {
                let all_sent = loop {
                    match sender.next(now) {
                        Due::Send(number) => {
                            requests.send(number, now, link);
                            sender.handed(Handed::Sent, now);
                        }
                        Due::SayAlive => requests.said_alive.push(now.nanos_since(requests.start)),
                        Due::Wait(until) | Due::Rest(until) => {
                            wake = until;
                            break false;
                        }
                        Due::Over => break true,
                    }
                };
                let end = listener.end(now, all_sent).expect("it ends in time");
                end.map(|ended_by| listener.close(sender, ended_by, now))
            }
        };
        self.ended = ended.map(|ended_by| (ended_by, now.nanos_since(self.requests.start)));
        match ended {
            Some(EndedBy::Finished) => {
                let confirm_ns = self.requests.confirm_ns;
                self.closing = Some(Closing::new(now, confirm_ns, confirm_ns, confirm_ns));
            }
            Some(_) => self.agreed = ended,
            None => {}
        }
        wake
    }

    /// Send the end to the responder, if it is over; gives when to do so again.
    fn close(&mut self, now: Instant) -> Instant {
        let Some(closing) = self.closing.as_mut().filter(|_| self.agreed.is_none()) else {
            return Instant::FAR_FUTURE;
        };
        loop {
            match closing.next(now) {
                ClosingStep::Say => {
                    let kind = Kind::Finish { first_measured: 0, sent_messages: 0 };
                    self.link.say(To::Receiver, kind, now);
                }
                ClosingStep::Listen(until) => return until,
                ClosingStep::Over(ended_by) => {
                    self.agreed = Some(ended_by);
                    return Instant::FAR_FUTURE;
                }
            }
        }
    }

    fn answer(&mut self, now: Instant) {
        while self.responder_ended.is_none() {
            match self.responder.next(now).expect("it ends in time") {
                Next::Say(kind) => self.link.say(To::Sender, kind, now),
                Next::Listen => break,
                Next::Over(ended_by) => {
                    self.responder_ended = Some((ended_by, now.nanos_since(self.requests.start)));
                }
            }
        }
    }

    fn arrive(&mut self, to: To, datagram: &[u8], now: Instant) {
        match to {
            To::Receiver if self.responder_ended.is_none() => {
                match self.responder.take(datagram, now) {
                    Asked::Echo => {
                        self.link.send(To::Sender, datagram, now);
                        self.responder.handed(Handed::Sent);
                    }
                    Asked::Say(kind) => self.link.say(To::Sender, kind, now),
                    Asked::Nothing => {}
                }
            }
            To::Receiver => {}
            To::Sender if self.ended.is_none() => {
                let heard = self.reader.read(datagram);
                if let Heard::Reply(number) = heard {
                    *self.replies.entry(number).or_insert(0) += 1;
                }
                match &mut self.requester {
                    Requester::ClosedLoop(requester) => {
                        requester.heard(heard, now);
                    }
                    Requester::OnSchedule(_, listener) => listener.heard(heard, now),
                }
            }
            To::Sender => {
                if let Ok(Message { kind: Kind::Finished { .. }, .. }) = Message::parse(datagram)
                    && let Some(closing) = &mut self.closing
                {
                    closing.confirm();
                }
            }
        }
    }
}
