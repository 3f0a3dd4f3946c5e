//! What a receiver makes of the datagrams of one flow: which are messages, what is to be answered.
//! No socket here, and time is an argument.

use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, Message, Token};

use super::Plan;
use super::tally::{Arrival, Meters, Run, Tally};
use lanlab_workloads::handshake::Acceptor;

/// No flow has as many messages: at 100 million a second they take 1,400 years. Whoever says such a
/// number is no sender of ours, and numbers below can be added up.
const MOST_MESSAGES: u64 = 1 << 62;

/// What became of a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It is counted, and that is all.
    Counted,
    /// It is to be answered so.
    Said(Kind),
    /// The same, and it says that all has been sent.
    SentAll(Kind),
}

/// The datagrams of one flow.
pub struct Intake<'a> {
    plan: &'a Plan,
    token: Token,
    flow: u16,
    acceptor: Acceptor,
    layout: Layout,
    /// Messages that follow one another, sent together and arrived together, count as one.
    run: Option<Run>,
    last_heard: Instant,
    pub tally: Tally<'a>,
}

impl<'a> Intake<'a> {
    pub fn new(
        plan: &'a Plan,
        token: Token,
        flow: u16,
        acceptor: Acceptor,
        start: Instant,
    ) -> Self {
        Self {
            plan,
            token,
            flow,
            acceptor,
            layout: Layout::of(plan.message_bytes),
            run: None,
            last_heard: start,
            tally: Tally::new(plan, start),
        }
    }

    /// When something of the session came last.
    pub fn last_heard(&self) -> Instant {
        self.last_heard
    }

    /// Take in a datagram; after the last of a call, [`flush`](Self::flush).
    pub fn take(
        &mut self,
        datagram: &[u8],
        arrival: Arrival,
        now: Instant,
        meters: &mut Meters,
    ) -> Heard {
        let Some(single) = self.message_of(datagram, arrival) else {
            self.flush(meters);
            return self.take_other(datagram, now);
        };
        self.last_heard = now;
        match &mut self.run {
            Some(run) if run.is_continued_by(&single) => run.count += 1,
            other => {
                if let Some(ended) = other.replace(single) {
                    self.tally.count(ended, meters);
                }
            }
        }
        Heard::Counted
    }

    /// Count what has been taken in.
    pub fn flush(&mut self, meters: &mut Meters) {
        if let Some(run) = self.run.take() {
            self.tally.count(run, meters);
        }
    }

    /// Whether more has come than is to be measured. Numbers of a few bits are misjudged after long
    /// gaps: by them nobody is found out.
    pub fn is_more_than_asked(&self) -> bool {
        let counts = &self.tally.counts;
        !matches!(self.layout, Layout::Tiny(_))
            && counts.first_measured.is_some()
            && self
                .plan
                .messages()
                .is_some_and(|asked| counts.measured_messages + counts.overdue_messages > asked)
    }

    /// A datagram that is a message of this flow.
    fn message_of(&self, datagram: &[u8], arrival: Arrival) -> Option<Run> {
        if datagram.len() != self.plan.message_bytes {
            return None;
        }
        let header = self.layout.parse(datagram).ok().filter(|header| self.is_ours(header))?;
        let newest = self.tally.expected();
        let expected = self.run.map_or(newest, |run| newest.max(run.first + run.count));
        let first = self.layout.extend(header.sequence, expected);
        (first < MOST_MESSAGES).then_some(Run {
            first,
            count: 1,
            sent_ns: header.send_time_ns,
            arrival,
        })
    }

    fn is_ours(&self, header: &Header) -> bool {
        matches!(self.layout, Layout::Tiny(_))
            || (header.session == self.token.short() && header.flow == self.flow)
    }

    /// Take in a datagram that is no message of the stream.
    fn take_other(&mut self, datagram: &[u8], now: Instant) -> Heard {
        let ours = |message: &Message| {
            message.token.matches(&self.token)
                && message.flow == self.flow
                && is_sound(message.kind)
        };
        let Some(message) = Message::parse(datagram).ok().filter(ours) else {
            self.tally.counts.foreign_datagrams += 1;
            return Heard::Counted;
        };
        self.last_heard = now;
        match message.kind {
            Kind::Mark { first_measured } => {
                self.tally.mark(first_measured);
                Heard::Said(Kind::Marked { first_measured })
            }
            Kind::Finish { first_measured, sent_messages } => {
                self.tally.mark(first_measured);
                let received_messages = self.tally.counts.total_messages;
                let answer = Kind::Finished { received_messages };
                if self.tally.finish(sent_messages, now) {
                    Heard::SentAll(answer)
                } else {
                    Heard::Said(answer)
                }
            }
            Kind::Prove { .. } => match self.acceptor.handle_again(&message, now) {
                Some(reply) => Heard::Said(reply.kind),
                None => Heard::Counted,
            },
            _ => Heard::Counted,
        }
    }
}

/// Whether a sender can say so.
fn is_sound(kind: Kind) -> bool {
    match kind {
        Kind::Mark { first_measured } => first_measured < MOST_MESSAGES,
        Kind::Finish { first_measured, sent_messages } => {
            first_measured <= sent_messages && sent_messages < MOST_MESSAGES
        }
        _ => true,
    }
}
