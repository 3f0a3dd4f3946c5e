//! The responder over UDP, which sends requests back.
//!
//! # Driving it
//!
//! Call [`next`](Responder::next). When it says to listen, pass the received datagram to [`take`](Responder::take),
//! or call [`idle`](Responder::idle) or [`closed`](Responder::closed) if there is none; then repeat.

use lanlab_units::Instant;
use lanlab_wire::probe::Layout;
use lanlab_wire::session::{Kind, Message, Token};

use super::datagrams::is_probe_of;
use super::{Handed, Plan};
use crate::Progress;
use crate::handshake::Acceptor;
use crate::messages::{EndedBy, Failure};
use crate::peer_failure::went_on_too_long;

const ALIVE_NS: u64 = 50_000_000;
/// How long a responder stays after the requester's last message, in case its answer was lost.
const TAIL_NS: u64 = 20_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Say(Kind),
    Listen,
    Over(EndedBy),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// It is a request: send it back unchanged, and report the outcome by [`handed`](Responder::handed).
    Echo,
    Say(Kind),
    Nothing,
}

pub struct Responder<'a> {
    plan: &'a Plan,
    progress: &'a Progress,
    token: Token,
    acceptor: Acceptor,
    layout: Layout,
    latest_end: Instant,
    last_heard: Instant,
    next_alive: Instant,
    is_finished: bool,
    is_closed: bool,
    ended_by: Option<EndedBy>,
    pub answered: u64,
    pub refused: u64,
    pub foreign: u64,
}

impl<'a> Responder<'a> {
    pub fn new(
        plan: &'a Plan,
        progress: &'a Progress,
        token: Token,
        acceptor: Acceptor,
        start: Instant,
    ) -> Self {
        Self {
            plan,
            progress,
            token,
            acceptor,
            layout: Layout::of(plan.message_bytes),
            latest_end: plan.latest_end(start),
            last_heard: start,
            next_alive: start,
            is_finished: false,
            is_closed: false,
            ended_by: None,
            answered: 0,
            refused: 0,
            foreign: 0,
        }
    }

    #[inline]
    pub fn next(&mut self, now: Instant) -> Result<Next, Failure> {
        if let Some(ended_by) = self.ended_by {
            return Ok(Next::Over(ended_by));
        }
        if self.progress.is_cancelled() {
            return Ok(Next::Over(EndedBy::Cancelled));
        }
        if now > self.latest_end {
            return Err(went_on_too_long());
        }
        // A scheduled requester continues without replies while the responder is present.
        if self.plan.pace.is_some() && !self.is_finished && now >= self.next_alive {
            self.next_alive = now.plus_nanos(ALIVE_NS);
            return Ok(Next::Say(Kind::Alive { received_messages: self.answered }));
        }
        Ok(Next::Listen)
    }

    #[inline]
    pub fn take(&mut self, datagram: &[u8], now: Instant) -> Asked {
        if datagram.len() == self.plan.message_bytes
            && is_probe_of(self.layout, datagram, self.token)
        {
            self.last_heard = now;
            return Asked::Echo;
        }
        let ours = |message: &Message| message.token.matches(&self.token) && message.flow == 0;
        let Some(message) = Message::parse(datagram).ok().filter(ours) else {
            self.foreign += 1;
            return Asked::Nothing;
        };
        self.last_heard = now;
        if let Kind::Finish { .. } = message.kind {
            self.is_finished = true;
            return Asked::Say(Kind::Finished { received_messages: self.answered });
        }
        let reply = self.acceptor.handle_again(&message, now);
        reply.map_or(Asked::Nothing, |reply| Asked::Say(reply.kind))
    }

    #[inline]
    pub fn handed(&mut self, handed: Handed) {
        match handed {
            Handed::Sent => self.answered += 1,
            // Do not wait for a requester that does not read.
            Handed::Refused => self.refused += 1,
            // The next receive reports it.
            Handed::Closed => {}
        }
        self.progress.count(1, self.plan.message_bytes as u64);
    }

    pub fn idle(&mut self, now: Instant) {
        let quiet_ns = now.nanos_since(self.last_heard);
        if self.is_finished && (self.is_closed || quiet_ns > TAIL_NS) {
            self.ended_by = Some(EndedBy::Finished);
        } else if self.is_closed {
            self.ended_by = Some(EndedBy::PeerClosed);
        } else if quiet_ns > self.plan.longest_silence_ns() {
            self.ended_by = Some(EndedBy::Silence);
        }
    }

    /// The requester closed its port; its last messages may still wait to be read.
    pub fn closed(&mut self) {
        self.is_closed = true;
    }
}
