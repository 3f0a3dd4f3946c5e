//! A link in virtual time that loses, repeats and reorders datagrams, and an agreement over it.

use std::collections::{BTreeMap, BTreeSet};

use lanlab_units::Instant;
use lanlab_wire::probe::Layout;
use lanlab_wire::session::{Kind, Message, Token};
use lanlab_workloads::handshake::{Acceptor, Initiator, InitiatorState};

pub const TOKEN: Token = Token([7; 16]);
pub const MS: u64 = 1_000_000;

/// What a link does to datagrams.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// The share of datagrams that does not arrive.
    pub loss: f64,
    /// The share that arrives twice.
    pub duplication: f64,
    /// The delay is 1 ms and this time,
    pub delay_ns: u64,
    /// and up to this much more.
    pub jitter_ns: u64,
    /// Nothing that is sent before arrives at the receiver.
    pub deaf_until_ns: u64,
    /// Nothing that is sent from then on arrives at either end.
    pub broken_from_ns: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum To {
    Sender,
    Receiver,
}

pub struct Link {
    pub faults: Faults,
    random: u64,
    /// Datagrams under way, by when they arrive and their number.
    under_way: BTreeMap<(Instant, u64), (To, Vec<u8>)>,
    /// Datagrams that arrive.
    sent: u64,
    /// Messages, by their full header, that arrive twice, and those that do not arrive.
    pub duplicated: u64,
    pub lost: BTreeSet<u64>,
}

impl Link {
    pub fn new(faults: Faults, seed: u64) -> Self {
        let (under_way, lost) = (BTreeMap::new(), BTreeSet::new());
        Self { faults, random: seed, under_way, sent: 0, duplicated: 0, lost }
    }

    fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn send(&mut self, to: To, datagram: &[u8], now: Instant) {
        let message = Layout::Full.parse(datagram).ok().map(|header| header.sequence);
        let now_ns = now.as_nanos();
        let is_deaf = to == To::Receiver && now_ns < self.faults.deaf_until_ns;
        let is_broken = self.faults.broken_from_ns.is_some_and(|from_ns| now_ns >= from_ns);
        if is_deaf || is_broken || self.random() < self.faults.loss {
            self.lost.extend(message);
            return;
        }
        let is_twice = self.random() < self.faults.duplication;
        self.duplicated += u64::from(is_twice && message.is_some());
        for _ in 0..=u64::from(is_twice) {
            let delay_ns =
                MS + self.faults.delay_ns + (self.random() * self.faults.jitter_ns as f64) as u64;
            self.sent += 1;
            let arrives = (now.plus_nanos(delay_ns), self.sent);
            self.under_way.insert(arrives, (to, datagram.to_vec()));
        }
    }

    pub fn say(&mut self, to: To, kind: Kind, now: Instant) {
        self.send(to, &Message { token: TOKEN, flow: 0, kind }.emit(), now);
    }

    pub fn next(&mut self, by: Instant) -> Option<(Instant, To, Vec<u8>)> {
        let first = self.under_way.first_entry().filter(|entry| entry.key().0 <= by)?;
        let ((at, _), (to, datagram)) = first.remove_entry();
        Some((at, to, datagram))
    }
}

/// Agree on a session; gives when, the acceptor and the round trip that was measured, or when the initiator
/// gave up, which is patient for this time.
pub fn agree_within(
    link: &mut Link,
    patience_ns: u64,
) -> Result<(Instant, Acceptor, u64), Instant> {
    let mut now = Instant::ZERO;
    let mut initiator = Initiator::new(TOKEN, 0, 5, now).patient_for(patience_ns);
    let mut acceptor = Acceptor::new(TOKEN, 0, 9);
    let sender = ([10, 0, 0, 1], 9).into();
    loop {
        initiator.handle_timeout(now);
        while let Some(message) = initiator.poll_transmit(now) {
            link.send(To::Receiver, &message.emit(), now);
        }
        match initiator.state {
            InitiatorState::Accepted { round_trip_ns } => {
                return Ok((now, acceptor, round_trip_ns));
            }
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
