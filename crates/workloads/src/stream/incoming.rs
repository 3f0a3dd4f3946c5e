//! How a receiver handles the datagrams of one flow: messages, control messages and replies. No socket here, and
//! time is an argument.

use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, Message, Token};

use super::Plan;
use super::counter::{Arrival, Counter, Meters, Run};
use crate::handshake::Acceptor;
use crate::messages::{EndedBy, Failure};
use crate::went_on_too_long;

/// No flow has as many messages: at 100 million a second they take 1,400 years. A larger number is not from our
/// sender, and smaller ones cannot overflow sums.
const MOST_MESSAGES: u64 = 1 << 62;

/// How long a receiver stays after the sender's last message, in case its answer was lost.
const TAIL_NS: u64 = 20_000_000;
/// A receiver stays longer if messages are missing and others arrived out of order, as late ones
/// still count. The sender's last message follows all others, so none follows it on an
/// order-preserving path.
const DISORDERED_TAIL_NS: u64 = 200_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    Counted,
    Said(Kind),
    SentAll(Kind),
}

pub struct Incoming<'a> {
    plan: &'a Plan,
    token: Token,
    flow: u16,
    acceptor: Acceptor,
    layout: Layout,
    run: Option<Run>,
    last_heard: Instant,
    is_overtaken: bool,
    latest_end: Instant,
    pub counter: Counter<'a>,
}

impl<'a> Incoming<'a> {
    /// Initial state; the sender has proved itself to `acceptor`.
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
            last_heard: plan.arrivals_from(start),
            is_overtaken: false,
            latest_end: plan.latest_end(start),
            counter: Counter::new(plan, start),
        }
    }

    /// Handle a datagram; call [`flush`](Self::flush) after the last of a batch.
    pub fn take<U>(
        &mut self,
        datagram: &[u8],
        arrival: Arrival,
        now: Instant,
        meters: &mut Meters<U>,
    ) -> Heard {
        let Some(single) = self.message_of(datagram, arrival) else {
            self.flush(meters);
            return self.take_other(datagram, now);
        };
        self.last_heard = now;
        self.is_overtaken |= self.counter.finished_at.is_some();
        match &mut self.run {
            Some(run) if run.is_continued_by(&single) => run.count += 1,
            other => {
                if let Some(ended) = other.replace(single) {
                    self.counter.count(ended, meters);
                }
            }
        }
        Heard::Counted
    }

    pub fn flush<U>(&mut self, meters: &mut Meters<U>) {
        if let Some(run) = self.run.take() {
            self.counter.count(run, meters);
        }
    }

    /// Whether the flow has ended at `now`, and why; call it at least ten times a second.
    pub fn end(&self, now: Instant) -> Result<Option<EndedBy>, Failure> {
        if now > self.latest_end {
            return Err(went_on_too_long());
        }
        if let Some(finished_at) = self.counter.finished_at {
            let quiet_ns = now.nanos_since(finished_at.max(self.last_heard));
            return Ok((quiet_ns >= self.tail_ns()).then_some(EndedBy::Finished));
        }
        if self.is_more_than_asked() {
            return Err(Failure::new(
                "peer.too_much",
                "the other host sent more messages than the amount to be measured",
            )
            .hint("check that it is lanlab's engine, in the same trial"));
        }
        let is_silent = now.nanos_since(self.last_heard) > self.plan.longest_silence_ns();
        Ok(is_silent.then_some(EndedBy::Silence))
    }

    /// The sender closed its port. Returns the reason if the flow has ended.
    pub fn closed(&self) -> Option<EndedBy> {
        self.counter.finished_at.is_none().then_some(EndedBy::PeerClosed)
    }

    fn tail_ns(&self) -> u64 {
        let is_orderly = self.counter.counts.reordered_messages == 0 && !self.is_overtaken;
        if self.counter.is_complete() || is_orderly { TAIL_NS } else { DISORDERED_TAIL_NS }
    }

    fn is_more_than_asked(&self) -> bool {
        let counts = &self.counter.counts;
        !matches!(self.layout, Layout::Tiny(_))
            && counts.first_measured.is_some()
            && self
                .plan
                .messages()
                .is_some_and(|asked| counts.measured_messages + counts.overdue_messages > asked)
    }

    fn message_of(&self, datagram: &[u8], arrival: Arrival) -> Option<Run> {
        if datagram.len() != self.plan.message_bytes {
            return None;
        }
        let header = self.layout.parse(datagram).ok().filter(|header| self.is_ours(header))?;
        let newest = self.counter.expected();
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

    fn take_other(&mut self, datagram: &[u8], now: Instant) -> Heard {
        let ours = |message: &Message| {
            message.token.matches(&self.token)
                && message.flow == self.flow
                && is_sound(message.kind)
        };
        let Some(message) = Message::parse(datagram).ok().filter(ours) else {
            self.counter.counts.foreign_datagrams += 1;
            return Heard::Counted;
        };
        self.last_heard = now;
        match message.kind {
            Kind::Mark { first_measured } => {
                self.counter.mark(first_measured);
                Heard::Said(Kind::Marked { first_measured })
            }
            Kind::Finish { first_measured, sent_messages } => {
                self.counter.mark(first_measured);
                let received_messages = self.counter.counts.total_messages;
                let answer = Kind::Finished { received_messages };
                if self.counter.finish(sent_messages, now) {
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

fn is_sound(kind: Kind) -> bool {
    match kind {
        Kind::Mark { first_measured } => first_measured < MOST_MESSAGES,
        Kind::Finish { first_measured, sent_messages } => {
            first_measured <= sent_messages && sent_messages < MOST_MESSAGES
        }
        _ => true,
    }
}
