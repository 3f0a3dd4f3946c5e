//! How two engines agree on a session over UDP: sans-IO, one state machine for each end.
//!
//! The messages are those of [`lanlab_wire::session`]. A driver calls `poll_transmit` until it gives
//! `None`, waits for a datagram or for `poll_timeout`, hands either in, and begins again.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::SocketAddr;

use lanlab_units::Instant;
use lanlab_wire::session::{Kind, Message, Token};

/// Time between two attempts, as long as nothing is heard: often at first, as a datagram may be lost,
/// and more rarely on a path that is as long as [`SETUP_NS`].
const RETRY_NS: u64 = 50_000_000;
const RARE_RETRY_NS: u64 = 500_000_000;
const OFTEN_NS: u64 = SETUP_NS;
/// The end that connects gives up after this time, unless it is more patient.
pub const SETUP_NS: u64 = 5_000_000_000;
/// Low bits of a nonce in which an attempt to prove the address is numbered, so that its answer is the
/// answer to this one, however many are on their way (Karn's problem). Rare attempts of ten minutes
/// are no more.
const ATTEMPT_BITS: u32 = 12;
/// Mean time between answers of a flow, and most answers at once: five times what a sender asks that
/// hears nothing, and no use to an attacker who sends a flood to have it answered.
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
    /// Questions without a cookie, and how long the answer to a single one took.
    hellos: u32,
    hello_ns: u64,
    proved_at: Vec<Instant>,
    state: InitiatorState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitiatorState {
    Asking,
    Accepted {
        /// The shorter of both exchanges, each from a question to the answer to that one.
        round_trip_ns: u64,
    },
    GaveUp,
}

impl Initiator {
    /// Ask from `now` on; `nonce` is a number that cannot be guessed.
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

    /// Give up after this time, where it is more than [`SETUP_NS`].
    #[must_use]
    pub fn patient_for(mut self, patience_ns: u64) -> Self {
        self.deadline = self.began.plus_nanos(patience_ns.max(SETUP_NS));
        self
    }

    pub fn state(&self) -> InitiatorState {
        self.state
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

    /// Take in a message from the peer. Messages of other sessions are ignored.
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
                // One that was never made: a guess.
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

    /// Take in a message that came from `from` and give the one answer to it, if any: shorter than
    /// what came, and to where it came from. Until an address is proved only the cookie is sent
    /// there, which is good for that address and port alone.
    pub fn handle(&mut self, message: &Message, from: SocketAddr, now: Instant) -> Option<Message> {
        if !message.token.matches(&self.token) || message.flow != self.flow {
            return None;
        }
        let kind = match message.kind {
            Kind::Hello { .. } if self.peer.is_none() => {
                Kind::Challenge { cookie: self.cookie_for(from) }
            }
            Kind::Prove { cookie, nonce } if cookie == self.cookie_for(from) => {
                // The first to prove itself has the session; the answer may be lost and asked again.
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

    /// Nothing is kept of those who ask: a cookie is made anew of the address that brings it back
    /// (RFC 9000, section 8.1.4). The hash is a keyed one (`SipHash`), the key random.
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
