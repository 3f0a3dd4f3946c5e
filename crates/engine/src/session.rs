//! How two engines agree on a session over UDP: sans-IO, one state machine for each end.
//!
//! The messages are those of [`lanlab_wire::session`]. A driver calls `poll_transmit` until it gives
//! `None`, waits for a datagram or for `poll_timeout`, hands either in, and begins again.

use lanlab_units::Instant;
use lanlab_wire::session::{Kind, Message, Token};

/// Time between two attempts, as long as nothing is heard.
const RETRY_NS: u64 = 50_000_000;
/// The end that connects gives up after so long.
pub const SETUP_NS: u64 = 5_000_000_000;

/// The end that sends the bulk traffic, and speaks first.
#[derive(Debug)]
pub struct Initiator {
    token: Token,
    flow: u16,
    nonce: u64,
    cookie: Option<u64>,
    transmit_at: Instant,
    first_sent_at: Option<Instant>,
    deadline: Instant,
    state: InitiatorState,
}

/// Where an [`Initiator`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitiatorState {
    /// No answer yet.
    Asking,
    /// Both ends have shown that they receive.
    Accepted {
        /// From the last message sent to its answer.
        round_trip_ns: u64,
    },
    /// Nobody answered in time.
    GaveUp,
}

impl Initiator {
    pub fn new(token: Token, flow: u16, nonce: u64, now: Instant) -> Self {
        Self {
            token,
            flow,
            nonce,
            cookie: None,
            transmit_at: now,
            first_sent_at: None,
            deadline: now.plus_nanos(SETUP_NS),
            state: InitiatorState::Asking,
        }
    }

    pub fn state(&self) -> InitiatorState {
        self.state
    }

    /// The message to send now, if any.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Message> {
        if self.state != InitiatorState::Asking || now < self.transmit_at {
            return None;
        }
        self.transmit_at = now.plus_nanos(RETRY_NS);
        self.first_sent_at = Some(now);
        let kind = match self.cookie {
            None => Kind::Hello { nonce: self.nonce },
            Some(cookie) => Kind::Prove { cookie, nonce: self.nonce },
        };
        Some(Message { token: self.token, flow: self.flow, kind })
    }

    /// When `handle_timeout` wants to be called.
    pub fn poll_timeout(&self) -> Option<Instant> {
        (self.state == InitiatorState::Asking).then(|| self.transmit_at.min(self.deadline))
    }

    /// Let time pass.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.state == InitiatorState::Asking && now >= self.deadline {
            self.state = InitiatorState::GaveUp;
        }
    }

    /// Take in a message from the peer. Whatever is not of this session is not looked at.
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
            }
            Kind::Accept { nonce } if nonce == self.nonce => {
                let sent_at = self.first_sent_at.unwrap_or(now);
                self.state = InitiatorState::Accepted { round_trip_ns: now.nanos_since(sent_at) };
            }
            _ => {}
        }
    }
}

/// The end that receives the bulk traffic, or answers it.
#[derive(Debug)]
pub struct Acceptor {
    token: Token,
    flow: u16,
    cookie: u64,
    nonce: Option<u64>,
}

impl Acceptor {
    pub fn new(token: Token, flow: u16, cookie: u64) -> Self {
        Self { token, flow, cookie, nonce: None }
    }

    /// Whether a peer has proved its address.
    pub fn is_proved(&self) -> bool {
        self.nonce.is_some()
    }

    /// Take in a message and give the one answer to it, if any: never more than came.
    pub fn handle(&mut self, message: &Message) -> Option<Message> {
        if !message.token.matches(&self.token) || message.flow != self.flow {
            return None;
        }
        let kind = match message.kind {
            Kind::Hello { .. } if self.nonce.is_none() => Kind::Challenge { cookie: self.cookie },
            Kind::Prove { cookie, nonce } if cookie == self.cookie => {
                // The first to prove itself has the session; the answer may be lost and asked again.
                if *self.nonce.get_or_insert(nonce) != nonce {
                    return None;
                }
                Kind::Accept { nonce }
            }
            _ => return None,
        };
        Some(Message { token: self.token, flow: self.flow, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TOKEN: Token = Token([7; 16]);

    fn message(kind: Kind) -> Message {
        Message { token: TOKEN, flow: 0, kind }
    }

    /// Both ends over a link that loses the messages whose turn in `lost` is true, 1 ms each way.
    fn run(lost: &[bool]) -> (InitiatorState, bool) {
        let mut lost = lost.iter().copied().chain(std::iter::repeat(false));
        let mut now = Instant::ZERO;
        let mut initiator = Initiator::new(TOKEN, 0, 1, now);
        let mut acceptor = Acceptor::new(TOKEN, 0, 2);
        while initiator.state() == InitiatorState::Asking {
            while let Some(request) = initiator.poll_transmit(now) {
                if lost.next() == Some(false)
                    && let Some(reply) = acceptor.handle(&request)
                    && lost.next() == Some(false)
                {
                    now = now.plus_nanos(2_000_000);
                    initiator.handle(&reply, now);
                }
            }
            if let Some(timeout) = initiator.poll_timeout() {
                now = now.max(timeout);
                initiator.handle_timeout(now);
            }
        }
        (initiator.state(), acceptor.is_proved())
    }

    #[test]
    fn two_round_trips_make_a_session() {
        let accepted = InitiatorState::Accepted { round_trip_ns: 2_000_000 };
        assert_eq!(run(&[]), (accepted, true));
    }

    #[test]
    fn a_dead_peer_is_given_up_after_five_seconds() {
        assert_eq!(run(&[true; 200]), (InitiatorState::GaveUp, false));
    }

    #[test]
    fn a_stranger_gets_no_answer() {
        let mut acceptor = Acceptor::new(TOKEN, 0, 2);
        let stranger = Message { token: Token([8; 16]), ..message(Kind::Hello { nonce: 1 }) };
        assert_eq!(acceptor.handle(&stranger), None);
        let other_flow = Message { flow: 1, ..message(Kind::Hello { nonce: 1 }) };
        assert_eq!(acceptor.handle(&other_flow), None);
        assert_eq!(acceptor.handle(&message(Kind::Prove { cookie: 3, nonce: 1 })), None);
        assert!(!acceptor.is_proved());
    }

    #[test]
    fn only_the_first_to_prove_itself_has_the_session() {
        let mut acceptor = Acceptor::new(TOKEN, 0, 2);
        let prove = |nonce| message(Kind::Prove { cookie: 2, nonce });
        assert_eq!(acceptor.handle(&prove(1)), Some(message(Kind::Accept { nonce: 1 })));
        assert_eq!(acceptor.handle(&prove(9)), None);
        assert_eq!(acceptor.handle(&prove(1)), Some(message(Kind::Accept { nonce: 1 })));
        assert_eq!(acceptor.handle(&message(Kind::Hello { nonce: 9 })), None);
    }

    proptest! {
        #[test]
        fn any_loss_short_of_all_is_survived(lost in prop::collection::vec(any::<bool>(), 0..40)) {
            let (state, proved) = run(&lost);
            let accepted = matches!(state, InitiatorState::Accepted { .. });
            prop_assert!(accepted);
            prop_assert!(proved);
        }
    }
}
