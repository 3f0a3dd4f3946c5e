//! A station driven by hand, without a medium: a test hands in packets, and reads what the station sends.

use std::marker::PhantomData;

use lanlab_stack::node::{CarrierKind, Event, Node, NodeConfig, SessionId, Why};
use lanlab_stack::profile::{Profile, WINDOWS_NT};
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};

use crate::segment::{mac, name};

pub const CLIENT: Mac = Mac([2, 0, 0, 0, 0, 77]);
pub const OTHER: Mac = Mac([2, 0, 0, 0, 0, 78]);

/// How the packets of a carrier are read.
pub trait Carried {
    const KIND: CarrierKind;
    type Packet;

    /// `None`: the test does not look at it.
    fn read(frame: &Frame<'_>) -> Option<Self::Packet>;
}

pub struct Hand<C> {
    pub node: Node,
    pub now: Instant,
    pub events: Vec<Event>,
    pub sessions: Vec<SessionId>,
    pub received: Vec<Vec<u8>>,
    /// The session of the last message.
    pub asked: Option<SessionId>,
    pub ended: Vec<Why>,
    carried: PhantomData<C>,
}

impl<C: Carried> Hand<C> {
    /// A station that has its name and listens.
    pub fn new() -> Self {
        Self::with(&WINDOWS_NT)
    }

    pub fn with(profile: &Profile) -> Self {
        let config = NodeConfig::new(mac(0), name(0), *profile, C::KIND);
        let mut hand = Self::of(Node::new(&config, Instant::ZERO), Instant::ZERO);
        hand.node.listen();
        hand.pass(10_000);
        hand.sent();
        hand
    }

    pub fn of(node: Node, now: Instant) -> Self {
        let (events, sessions, received, ended) = (vec![], vec![], vec![], vec![]);
        let (asked, carried) = (None, PhantomData);
        Self { node, now, events, sessions, received, asked, ended, carried }
    }

    pub fn drain(&mut self) {
        let mut message = vec![];
        while let Some(event) = self.node.poll_event(&mut message) {
            match &event {
                Event::Accepted { session, .. } | Event::Opened(session, _) => {
                    self.sessions.push(*session);
                }
                Event::Message(session) => {
                    self.received.push(message.clone());
                    self.asked = Some(*session);
                }
                Event::Ended(_, why) => self.ended.push(*why),
                _ => {}
            }
            self.events.push(event);
        }
    }

    /// Let time pass, with one call without need at its end; what is sent stays with the node.
    pub fn pass(&mut self, milliseconds: u64) {
        let until = self.now.plus_nanos(milliseconds * 1_000_000);
        while let Some(at) = self.node.poll_timeout().filter(|at| *at <= until) {
            self.now = at;
            self.node.handle_timeout(at);
            self.drain();
        }
        self.now = until;
        self.node.handle_timeout(until);
        self.drain();
    }

    /// What is sent from now on, each packet with its time after now, ns.
    pub fn until(&mut self, milliseconds: u64) -> Vec<(u64, C::Packet)> {
        let (begin, end) = (self.now, self.now.plus_nanos(milliseconds * 1_000_000));
        let mut all = vec![];
        loop {
            let at_ns = self.now.nanos_since(begin);
            all.extend(self.sent().into_iter().map(|packet| (at_ns, packet)));
            match self.node.poll_timeout().filter(|at| *at <= end) {
                Some(at) => self.now = at,
                None => break,
            }
            self.node.handle_timeout(self.now);
        }
        self.now = end;
        all
    }

    pub fn counted(&self, key: &str) -> u64 {
        self.node.counts().iter().find(|(known, _)| *known == key).unwrap().1
    }

    pub fn sent(&mut self) -> Vec<C::Packet> {
        self.drain();
        let (mut all, mut octets) = (vec![], vec![]);
        while self.node.poll_transmit(self.now, &mut octets) {
            all.extend(C::read(&Frame::parse(&octets).unwrap()));
        }
        all
    }

    pub fn hear_frame(&mut self, frame: &[u8]) -> Vec<C::Packet> {
        self.node.handle_frame(self.now, frame);
        self.sent()
    }
}
