//! Session set-up between two engines over UDP: sans-IO, one state machine per end.
//!
//! The messages are those of [`lanlab_wire::session`]. A driver calls `poll_transmit` until it returns `None`,
//! waits for a datagram or for `poll_timeout`, hands either in, and repeats.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

use lanlab_units::Instant;
use lanlab_wire::session::{Kind, Message, Token};

/// Interval between attempts, as datagrams may be lost: within [`SETUP_NS`], and later.
const RETRY_NS: u64 = 50_000_000;
const RARE_RETRY_NS: u64 = 500_000_000;
const OFTEN_NS: u64 = SETUP_NS;
/// Time-out of the connecting end, unless it is configured to be more patient.
pub const SETUP_NS: u64 = 5_000_000_000;
/// Low bits of a nonce that number the attempts to prove the address, so that an answer identifies its attempt
/// among all in flight (Karn's problem). Ten minutes of slow attempts need no more.
const ATTEMPT_BITS: u32 = 12;
/// Mean interval of answers per flow, and largest burst: five times the rate of a sender that hears nothing, and
/// useless for flood amplification.
const ANSWER_INTERVAL_NS: u64 = 10_000_000;
const ANSWERS_AT_ONCE: u64 = 20;

#[derive(Debug)]
pub struct Initiator {
    token: Token,
    flow: u16,
    nonce: u64,
    cookie: Option<u64>,
    transmit_at: Instant,
    began: Instant,
    deadline: Instant,
    /// Questions sent without a cookie, and the round trip of a single one.
    hellos: u32,
    hello_ns: u64,
    proved_at: Vec<Instant>,
    pub state: InitiatorState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitiatorState {
    Asking,
    Accepted {
        /// The shorter round trip of both exchanges, each from a question to its own answer.
        round_trip_ns: u64,
    },
    GaveUp,
}

impl Initiator {
    /// Start asking at `now`; `nonce` must be unguessable.
    pub fn new(token: Token, flow: u16, nonce: u64, now: Instant) -> Self {
        Self {
            token,
            flow,
            nonce: nonce >> ATTEMPT_BITS << ATTEMPT_BITS,
            cookie: None,
            transmit_at: now,
            began: now,
            deadline: now.plus_nanos(SETUP_NS),
            hellos: 0,
            hello_ns: u64::MAX,
            proved_at: Vec::new(),
            state: InitiatorState::Asking,
        }
    }

    /// Use this time-out if it exceeds [`SETUP_NS`].
    #[must_use]
    pub fn patient_for(mut self, patience_ns: u64) -> Self {
        self.deadline = self.began.plus_nanos(patience_ns.max(SETUP_NS));
        self
    }

    pub fn poll_transmit(&mut self, now: Instant) -> Option<Message> {
        let due = (self.transmit_at..self.deadline).contains(&now);
        if self.state != InitiatorState::Asking || !due {
            return None;
        }
        let is_often = now.nanos_since(self.began) < OFTEN_NS;
        self.transmit_at = now.plus_nanos(if is_often { RETRY_NS } else { RARE_RETRY_NS });
        let kind = match self.cookie {
            None => {
                self.hellos += 1;
                Kind::Hello { nonce: self.nonce }
            }
            Some(cookie) => {
                let attempt = self.proved_at.len() as u64 % (1 << ATTEMPT_BITS);
                self.proved_at.push(now);
                Kind::Prove { cookie, nonce: self.nonce + attempt }
            }
        };
        Some(Message { token: self.token, flow: self.flow, kind })
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        (self.state == InitiatorState::Asking).then(|| self.transmit_at.min(self.deadline))
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        if self.state == InitiatorState::Asking && now >= self.deadline {
            self.state = InitiatorState::GaveUp;
        }
    }

    /// Handle a message from the peer. Messages of other sessions are ignored.
    pub fn handle(&mut self, message: &Message, now: Instant) {
        if self.state != InitiatorState::Asking
            || !message.token.matches(&self.token)
            || message.flow != self.flow
        {
            return;
        }
        match message.kind {
            Kind::Challenge { cookie } if self.cookie.is_none() => {
                self.cookie = Some(cookie);
                self.transmit_at = now;
                if self.hellos == 1 {
                    self.hello_ns = now.nanos_since(self.began);
                }
            }
            Kind::Accept { nonce } if is_same_peer(nonce, self.nonce) => {
                let attempt = (nonce - self.nonce) as usize;
                // The peer guessed an attempt that was never made.
                let Some(sent_at) = self.proved_at.get(attempt) else { return };
                let round_trip_ns = self.hello_ns.min(now.nanos_since(*sent_at));
                self.state = InitiatorState::Accepted { round_trip_ns };
            }
            _ => {}
        }
    }
}

fn is_same_peer(one: u64, other: u64) -> bool {
    one >> ATTEMPT_BITS == other >> ATTEMPT_BITS
}

#[derive(Debug)]
pub struct Acceptor {
    token: Token,
    flow: u16,
    secret: u64,
    peer: Option<(SocketAddr, u64)>,
    next_answer: Instant,
}

impl Acceptor {
    pub fn new(token: Token, flow: u16, secret: u64) -> Self {
        Self { token, flow, secret, peer: None, next_answer: Instant::ZERO }
    }

    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer.map(|(address, _)| address)
    }

    /// Handle a message from `from` and return the answer, if any: never longer than the message, and sent to its
    /// source. An unproved address gets only a cookie, which is valid for that address and port alone.
    pub fn handle(&mut self, message: &Message, from: SocketAddr, now: Instant) -> Option<Message> {
        if !message.token.matches(&self.token) || message.flow != self.flow {
            return None;
        }
        let kind = match message.kind {
            Kind::Hello { .. } if self.peer.is_none() => {
                Kind::Challenge { cookie: self.cookie_for(from) }
            }
            Kind::Prove { cookie, nonce } if cookie == self.cookie_for(from) => {
                // The first to prove itself gets the session; it may repeat its request if the answer is lost.
                let (address, first) = *self.peer.get_or_insert((from, nonce));
                if address != from || !is_same_peer(first, nonce) {
                    return None;
                }
                Kind::Accept { nonce }
            }
            _ => return None,
        };
        self.may_answer(now).then_some(Message { token: self.token, flow: self.flow, kind })
    }

    pub fn handle_again(&mut self, message: &Message, now: Instant) -> Option<Message> {
        self.handle(message, self.peer()?, now)
    }

    /// No state is kept for unproved addresses: the cookie is recomputed from the address that returns it (RFC
    /// 9000, section 8.1.4), as a keyed hash (`SipHash`) with a random key.
    fn cookie_for(&self, address: SocketAddr) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.secret, self.token.0, self.flow, address).hash(&mut hasher);
        hasher.finish()
    }

    fn may_answer(&mut self, now: Instant) -> bool {
        let due = self.next_answer.max(now);
        if due.nanos_since(now) > (ANSWERS_AT_ONCE - 1) * ANSWER_INTERVAL_NS {
            return false;
        }
        self.next_answer = due.plus_nanos(ANSWER_INTERVAL_NS);
        true
    }
}

#[cfg(test)]
mod tests;
