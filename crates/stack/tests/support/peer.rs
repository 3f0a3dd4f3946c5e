//! A program of the tests: it records what happens, and sends messages while there is room.

use std::collections::{BTreeMap, VecDeque};

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::node::{Event, Node, NotSent, SessionId, Why};
use lanlab_units::Instant;

use crate::segment::Program;

#[derive(Default)]
pub struct Peer {
    pub events: Vec<(Instant, Event)>,
    pub sessions: Vec<SessionId>,
    pub facts: Option<CarrierFacts>,
    pub received: Vec<Vec<u8>>,
    pub to_send: VecDeque<Vec<u8>>,
    pub ended: BTreeMap<SessionId, Why>,
    /// Messages are answered by the same message.
    pub echoes: bool,
    /// Messages that were taken, but not acknowledged.
    pub unacknowledged: i64,
    pub keeps_events: bool,
}

impl Peer {
    pub fn sending(messages: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self { to_send: messages.into_iter().collect(), keeps_events: true, ..Self::default() }
    }

    pub fn echoing() -> Self {
        Self { echoes: true, keeps_events: true, ..Self::default() }
    }

    pub fn pump(&mut self, now: Instant, node: &mut Node) {
        let Some(session) = self.sessions.last().copied() else { return };
        while let Some(message) = self.to_send.front() {
            match node.send(now, session, message) {
                Ok(()) => {
                    self.to_send.pop_front();
                    self.unacknowledged += 1;
                }
                Err(NotSent::Full | NotSent::NoSession) => return,
                Err(NotSent::TooLong) => panic!("too long"),
            }
        }
    }
}

impl Program for Peer {
    fn handle(&mut self, now: Instant, node: &mut Node, event: Event, message: &mut Vec<u8>) {
        match &event {
            Event::Opened(session, facts) | Event::Accepted { session, facts, .. } => {
                self.sessions.push(*session);
                self.facts = Some(*facts);
            }
            Event::Message(_) => {
                if self.echoes {
                    self.to_send.push_back(message.clone());
                }
                self.received.push(message.clone());
            }
            Event::Room(_) => self.unacknowledged -= 1,
            Event::Ended(session, why) => {
                self.ended.insert(*session, *why);
            }
            Event::Name(_) => {}
        }
        if self.keeps_events {
            self.events.push((now, event));
        }
        self.pump(now, node);
    }
}
