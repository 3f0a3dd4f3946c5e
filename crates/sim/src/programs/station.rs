//! The station of a simulated host: a node with a frame carrier, and received messages of its
//! sessions.

use std::collections::{BTreeMap, VecDeque};

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::node::{Event, Node as Stack, NodeConfig, NotSent, Peer};
use lanlab_stack::node::{Readiness, SessionId, Why};
use lanlab_units::Instant;

use super::keys::{STATION, session_key};
use crate::node::{Key, Node};

/// Limit of messages that wait for a session's program; beyond it the peer is held back.
const MANY_WAITING: usize = 16;

pub struct Station {
    node: Stack,
    sessions: BTreeMap<SessionId, Inbox>,
    accepted: VecDeque<(SessionId, CarrierFacts)>,
    message: Vec<u8>,
    unused: Vec<Vec<u8>>,
}

#[derive(Debug, Default)]
struct Inbox {
    messages: VecDeque<Vec<u8>>,
    facts: Option<CarrierFacts>,
    ended: Option<Why>,
    is_paused: bool,
}

impl Station {
    /// A station that starts to claim its name. With `listens`, it accepts calls.
    pub fn new(config: &NodeConfig, listens: bool) -> Self {
        let mut node = Stack::new(config, Instant::ZERO);
        if listens {
            node.listen();
        }
        Self {
            node,
            sessions: BTreeMap::new(),
            accepted: VecDeque::new(),
            message: Vec::new(),
            unused: Vec::new(),
        }
    }

    pub const fn node(&self) -> &Stack {
        &self.node
    }

    pub fn is_ready(&self) -> bool {
        self.node.readiness() == Readiness::Ready
    }

    pub fn open(&mut self, now: Instant, to: Peer) -> SessionId {
        let session = self.node.open(now, to);
        self.sessions.insert(session, Inbox::default());
        session
    }

    pub fn opened(&self, session: SessionId) -> Option<Result<CarrierFacts, Why>> {
        let inbox = self.sessions.get(&session)?;
        match (inbox.ended, inbox.facts) {
            (Some(why), _) => Some(Err(why)),
            (None, facts) => facts.map(Ok),
        }
    }

    pub fn accept(&mut self) -> Option<(SessionId, CarrierFacts)> {
        self.accepted.pop_front()
    }

    /// Send a whole message.
    ///
    /// # Errors
    /// [`NotSent`] says why. The session's key signals when there is room.
    pub fn send(
        &mut self,
        now: Instant,
        session: SessionId,
        message: &[u8],
    ) -> Result<(), NotSent> {
        self.node.send(now, session, message)
    }

    /// The next message of a session, replacing the content of `into`; or why no more will arrive.
    pub fn receive(&mut self, session: SessionId, into: &mut Vec<u8>) -> Option<Result<(), Why>> {
        let inbox = self.sessions.get_mut(&session)?;
        let Some(message) = inbox.messages.pop_front() else {
            return inbox.ended.map(Err);
        };
        self.unused.push(std::mem::replace(into, message));
        if inbox.messages.is_empty() && std::mem::replace(&mut inbox.is_paused, false) {
            self.node.resume(session);
        }
        Some(Ok(()))
    }

    pub fn close(&mut self, now: Instant, session: SessionId) {
        self.sessions.remove(&session);
        self.node.close(now, session);
    }

    fn keep(&mut self, session: SessionId) {
        let Some(inbox) = self.sessions.get_mut(&session) else { return };
        let unused = self.unused.pop().unwrap_or_default();
        inbox.messages.push_back(std::mem::replace(&mut self.message, unused));
        if inbox.messages.len() >= MANY_WAITING && !std::mem::replace(&mut inbox.is_paused, true) {
            self.node.pause(session);
        }
    }
}

impl Node for Station {
    fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
        self.node.handle_frame(now, frame);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.node.handle_timeout(now);
    }

    fn poll_timeout(&mut self) -> Option<Instant> {
        self.node.poll_timeout()
    }

    fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        self.node.poll_transmit(now, into)
    }

    fn poll_event(&mut self) -> Option<Key> {
        let event = self.node.poll_event(&mut self.message)?;
        Some(match event {
            Event::Opened(session, facts) => {
                self.sessions.entry(session).or_default().facts = Some(facts);
                session_key(session)
            }
            Event::Accepted { session, facts, .. } => {
                self.sessions.insert(session, Inbox::default());
                self.accepted.push_back((session, facts));
                STATION
            }
            Event::Message(session) => {
                self.keep(session);
                session_key(session)
            }
            Event::Room(session) => session_key(session),
            Event::Ended(session, why) => {
                if let Some(inbox) = self.sessions.get_mut(&session) {
                    inbox.ended = Some(why);
                }
                session_key(session)
            }
            Event::Name(_) => STATION,
        })
    }
}
