//! The datagram sender: message schedule, control messages, and agreement on the end.
//!
//! # Driving it
//!
//! Call [`next`](Departing::next) and do what it returns; report messages with [`took`](Departing::took),
//! [`blocked`](Departing::blocked) or [`no_room`](Departing::no_room), and events of the receiver with
//! [`heard`](Departing::heard) or [`closed`](Departing::closed); then repeat.

use lanlab_units::Instant;
use lanlab_wire::probe::{Header, Layout};
use lanlab_wire::session::{Kind, Message, Token};

use super::{CpuMeter, Plan, Quiet, Schedule, Sent, SharedMeters, Step};
use crate::messages::{EndedBy, Failure};
use crate::{Closing, ClosingStep, Progress, went_on_too_long};

/// Interval at which a sender checks for control messages and cancellation.
const CHECK_NS: u64 = 10_000_000;
const END_LOOK_NS: u64 = 500_000;
/// Time for a receiver to confirm the end, in units of the silence limit: on a slow link, queued messages arrive
/// first.
const CONFIRM_SILENCES: u64 = 20;
/// The mark is sent this many times per check; then a round trip passes before the next.
const QUICK_MARKS: u32 = 5;
/// Pause before a message without room is retried.
const REFUSED_PAUSE_NS: u64 = 50_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Send(u64),
    Say(Kind),
    Hear,
    Wait { until: Instant, exact: bool },
    Over,
}

/// The datagrams of one flow as its sender numbers them, and their schedule.
pub trait Departing {
    fn next(
        &mut self,
        now: Instant,
        meters: &mut SharedMeters<impl CpuMeter>,
    ) -> Result<Action, Failure>;

    /// Write the header of the message `index` places after the last sent one.
    fn write(&self, index: u64, now: Instant, message: &mut [u8]);

    fn took(&mut self, messages: u64, now: Instant, meters: &mut SharedMeters<impl CpuMeter>);

    fn blocked(&mut self, now: Instant);

    /// The system dropped a message for lack of room. Returns when to retry; `None`: not at all.
    fn no_room(
        &mut self,
        now: Instant,
        meters: &mut SharedMeters<impl CpuMeter>,
    ) -> Option<Instant>;

    /// A control message of the session arrived.
    fn heard(&mut self, _message: &Message, _now: Instant) {}

    /// The receiver closed its port.
    fn closed(&mut self) {}

    fn stop(&mut self, ended_by: EndedBy, now: Instant, meters: &mut SharedMeters<impl CpuMeter>);

    fn into_sent(self, send_buffer_bytes: u64) -> Sent;
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Sending,
    Closing(Closing),
    Over,
}

pub struct Outgoing<'a> {
    plan: &'a Plan,
    progress: &'a Progress,
    token: Token,
    flow: u16,
    layout: Layout,
    schedule: Schedule<'a>,
    phase: Phase,
    is_marked: bool,
    marks: u32,
    next_mark: Instant,
    has_heard: bool,
    is_closed: bool,
    next_check: Instant,
    last_heard: Instant,
    last_sent: Instant,
    quiet: Quiet,
    latest_end: Instant,
}

impl<'a> Outgoing<'a> {
    pub fn new(
        plan: &'a Plan,
        progress: &'a Progress,
        token: Token,
        flow: u16,
        start: Instant,
        local_port: u16,
    ) -> Self {
        Self {
            plan,
            progress,
            token,
            flow,
            layout: Layout::of(plan.message_bytes),
            schedule: Schedule::new(plan, flow, progress, start, local_port),
            phase: Phase::Sending,
            is_marked: false,
            marks: 0,
            next_mark: start,
            has_heard: false,
            is_closed: false,
            next_check: start.plus_nanos(CHECK_NS),
            last_heard: start,
            last_sent: start,
            quiet: Quiet::new(start, plan.round_trip_ns),
            latest_end: plan.latest_end(start),
        }
    }

    pub fn sent(&self) -> &Sent {
        &self.schedule.sent
    }

    fn next_of_sending(
        &mut self,
        now: Instant,
        meters: &mut SharedMeters<impl CpuMeter>,
    ) -> Result<Action, Failure> {
        self.schedule.tries(now);
        if now >= self.next_check {
            if !std::mem::replace(&mut self.has_heard, true) {
                if self.quiet.is_too_long() {
                    self.schedule.paused(self.quiet.since_look_ns(now));
                }
                self.quiet.look(now);
                return Ok(Action::Hear);
            }
            self.has_heard = false;
            self.next_check = now.plus_nanos(CHECK_NS);
            if let Some(ended_by) = self.end_before_all_is_sent(now)? {
                self.stop(ended_by, now, meters);
                return Ok(Action::Over);
            }
            if let Some(kind) = self.word_due(now) {
                return Ok(Action::Say(kind));
            }
        }
        Ok(match self.schedule.next(now, meters) {
            Step::Measure => {
                // Without a warm-up the first message is the first measured one: no mark is needed.
                self.is_marked = self.plan.warmup_ns == 0;
                if self.is_marked {
                    return self.next_of_sending(now, meters);
                }
                Action::Say(self.mark(now))
            }
            Step::Over => {
                self.schedule.close(now, meters);
                let (silence_ns, alive_ns) = (self.plan.longest_silence_ns(), self.plan.alive_ns());
                let longest_ns = silence_ns.saturating_mul(CONFIRM_SILENCES);
                self.phase = Phase::Closing(Closing::new(now, silence_ns, longest_ns, alive_ns));
                self.has_heard = true;
                Action::Hear
            }
            // Check for control messages regularly, however slow the rate.
            Step::Wait(until) if until > self.next_check => {
                Action::Wait { until: self.next_check, exact: false }
            }
            Step::Wait(until) => Action::Wait { until, exact: true },
            Step::Send(_) if self.quiet.is_too_long() => {
                Action::Wait { until: self.next_check, exact: false }
            }
            Step::Send(messages) => Action::Send(messages),
        })
    }

    fn end_before_all_is_sent(&self, now: Instant) -> Result<Option<EndedBy>, Failure> {
        if self.progress.is_cancelled() {
            return Ok(Some(EndedBy::Cancelled));
        }
        if self.is_closed {
            return Ok(Some(EndedBy::PeerClosed));
        }
        if now > self.latest_end {
            return Err(went_on_too_long());
        }
        let is_silent = now.nanos_since(self.last_heard) > self.plan.longest_silence_ns();
        Ok(is_silent.then_some(EndedBy::Silence))
    }

    /// The due control message: the mark until it is confirmed, or a keep-alive.
    fn word_due(&mut self, now: Instant) -> Option<Kind> {
        if self.schedule.is_measuring() && !self.is_marked && now >= self.next_mark {
            return Some(self.mark(now));
        }
        if now.nanos_since(self.last_sent) > self.plan.alive_ns() {
            self.last_sent = now;
            return Some(Kind::Alive { received_messages: 0 });
        }
        None
    }

    /// Send the mark: a few times at once, because it may be lost, then again when its answer is overdue, so that it
    /// does not displace the stream on a long path.
    fn mark(&mut self, now: Instant) -> Kind {
        self.marks += 1;
        let pause_ns = if self.marks < QUICK_MARKS { 0 } else { self.plan.round_trip_ns };
        self.next_mark = now.plus_nanos(pause_ns);
        Kind::Mark { first_measured: self.schedule.sent.first_measured }
    }

    fn next_of_closing(&mut self, mut closing: Closing, now: Instant) -> Action {
        if !std::mem::replace(&mut self.has_heard, true) {
            return Action::Hear;
        }
        let step = match closing.next(now) {
            ClosingStep::Over(EndedBy::Finished) => ClosingStep::Over(EndedBy::Finished),
            _ if self.is_closed => ClosingStep::Over(EndedBy::PeerClosed),
            _ if self.progress.is_cancelled() => ClosingStep::Over(EndedBy::Cancelled),
            step => step,
        };
        self.phase = Phase::Closing(closing);
        match step {
            ClosingStep::Say => Action::Say(Kind::Finish {
                first_measured: self.schedule.sent.first_measured,
                sent_messages: self.schedule.sent.total_messages,
            }),
            ClosingStep::Listen(until) => {
                self.has_heard = false;
                Action::Wait { until: until.min(now.plus_nanos(END_LOOK_NS)), exact: false }
            }
            ClosingStep::Over(ended_by) => {
                self.end(ended_by);
                Action::Over
            }
        }
    }

    fn end(&mut self, ended_by: EndedBy) {
        self.schedule.sent.ended_by = ended_by;
        self.phase = Phase::Over;
    }
}

impl Departing for Outgoing<'_> {
    #[inline]
    fn next(
        &mut self,
        now: Instant,
        meters: &mut SharedMeters<impl CpuMeter>,
    ) -> Result<Action, Failure> {
        match self.phase {
            Phase::Sending => self.next_of_sending(now, meters),
            Phase::Closing(closing) => Ok(self.next_of_closing(closing, now)),
            Phase::Over => Ok(Action::Over),
        }
    }

    #[inline]
    fn write(&self, index: u64, now: Instant, message: &mut [u8]) {
        let header = Header {
            flow: self.flow,
            session: self.token.short(),
            sequence: self.schedule.sent.total_messages + index,
            send_time_ns: now.as_nanos(),
        };
        self.layout.emit(&header, message);
    }

    #[inline]
    fn took(&mut self, messages: u64, now: Instant, meters: &mut SharedMeters<impl CpuMeter>) {
        self.schedule.took(messages, messages, now, meters);
        self.last_sent = now;
    }

    fn blocked(&mut self, now: Instant) {
        self.schedule.blocked(now);
    }

    fn no_room(
        &mut self,
        now: Instant,
        meters: &mut SharedMeters<impl CpuMeter>,
    ) -> Option<Instant> {
        if self.schedule.has_schedule() {
            // The message's slot has passed.
            self.schedule.took(1, 0, now, meters);
            return None;
        }
        self.schedule.refused();
        Some(now.plus_nanos(REFUSED_PAUSE_NS))
    }

    /// A peer cannot confirm unsent messages, nor report more than were
    /// sent, unless short numbers were extended wrongly.
    fn heard(&mut self, message: &Message, now: Instant) {
        if !message.token.matches(&self.token) || message.flow != self.flow {
            return;
        }
        self.last_heard = now;
        self.quiet.end();
        let sent = &self.schedule.sent;
        match (&mut self.phase, message.kind) {
            (Phase::Sending, Kind::Marked { first_measured }) => {
                self.is_marked |=
                    self.schedule.is_measuring() && first_measured == sent.first_measured;
            }
            (Phase::Closing(closing), kind) => {
                closing.heard(now);
                let tiny = matches!(self.layout, Layout::Tiny(_));
                if let Kind::Finished { received_messages } = kind
                    && (tiny || received_messages <= sent.total_messages)
                {
                    closing.confirm();
                }
            }
            _ => {}
        }
    }

    fn closed(&mut self) {
        self.is_closed = true;
    }

    fn stop(&mut self, ended_by: EndedBy, now: Instant, meters: &mut SharedMeters<impl CpuMeter>) {
        match self.phase {
            Phase::Sending => self.schedule.close(now, meters),
            Phase::Closing(_) => {}
            Phase::Over => return,
        }
        self.end(ended_by);
    }

    fn into_sent(self, send_buffer_bytes: u64) -> Sent {
        Sent { send_buffer_bytes, ..self.schedule.sent }
    }
}
