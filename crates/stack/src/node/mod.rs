//! A station with its carrier: frames below, whole messages of sessions above. Carriers on the same adapter are
//! nodes of their own.
//!
//! # Driving it
//!
//! A [`Node`] has neither a clock nor a medium. Its driver passes in frames and times, and drains it after
//! each call:
//!
//! 1. change it by one call: [`handle_frame`](Node::handle_frame) with any frame of the medium (the node
//!    ignores foreign frames and removes padding), [`handle_timeout`](Node::handle_timeout) once
//!    [`poll_timeout`](Node::poll_timeout) is reached, or a call of the program above ([`open`](Node::open),
//!    [`send`](Node::send), [`close`](Node::close) …);
//! 2. while [`poll_event`](Node::poll_event) returns an event, handle it; a handler may call the node again;
//! 3. while [`poll_transmit`](Node::poll_transmit) returns a frame, send it; repeat from 2 until both return
//!    nothing;
//! 4. wait for a frame or for the time of `poll_timeout`.
//!
//! A driver may send late, or stop while its adapter has no room: due frames are then written by the next
//! `poll_transmit`, with current numbers. Times never decrease.
//!
//! Frames and messages cause no allocation: callers and node exchange buffers.

mod carriers;
#[cfg(test)]
#[path = "tests/toy.rs"]
mod toy;

use std::any::Any;

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::netbios_name::Name;

use crate::carrier::Carrier;
use crate::counts::counts;
use crate::nbf;
use crate::profile::Profile;
use crate::profile::netware::NETWARE_3;

pub use crate::carrier::{
    BadPeer, Count, Event, NameEvent, NotSent, Peer, Readiness, SegmentFacts, SessionId,
    StationConfig, Stray, Why,
};
pub use carriers::CarrierKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeConfig {
    pub station: StationConfig,
    pub carrier: CarrierKind,
}

impl NodeConfig {
    pub const fn new(mac: Mac, name: Name, profile: Profile, carrier: CarrierKind) -> Self {
        let (netware, framing, network) = (NETWARE_3, None, None);
        let station = StationConfig { mac, name, profile, netware, framing, network };
        Self { station, carrier }
    }
}

counts! {
    pub struct StrayCounts {
        foreign_frames: "foreign_frames",
        malformed_frames: "malformed_frames",
        unknown_sap_frames: "unknown_sap_frames",
        unknown_socket_packets: "unknown_socket_packets",
    }
}

impl StrayCounts {
    const fn count(&mut self, stray: Stray) {
        match stray {
            Stray::Foreign => self.foreign_frames += 1,
            Stray::Malformed => self.malformed_frames += 1,
            Stray::UnknownSap => self.unknown_sap_frames += 1,
            Stray::UnknownSocket => self.unknown_socket_packets += 1,
        }
    }
}

#[derive(Debug)]
pub struct Node {
    machine: Box<dyn Carrier>,
    strays: StrayCounts,
    /// Nothing to send before this time, unless a call changes the carrier. `None`: unknown.
    idle_until: Option<Instant>,
}

impl Node {
    /// Create a station, which begins to claim its name and learn its network; [`readiness`](Self::readiness)
    /// reports progress.
    pub fn new(config: &NodeConfig, now: Instant) -> Self {
        let machine = config.carrier.begin(&config.station, now);
        Self { machine, strays: StrayCounts::default(), idle_until: None }
    }

    fn carrier(&mut self) -> &mut (dyn Carrier + 'static) {
        self.idle_until = None;
        &mut *self.machine
    }

    pub fn readiness(&self) -> Readiness {
        self.machine.readiness()
    }

    pub fn segment(&self) -> Option<SegmentFacts> {
        self.machine.segment()
    }

    pub fn open(&mut self, now: Instant, to: Peer) -> SessionId {
        self.carrier().open(now, to)
    }

    pub fn listen(&mut self) {
        self.carrier().listen();
    }

    /// Shut down: queue goodbye messages. Afterwards only [`poll_transmit`](Self::poll_transmit) may be called.
    pub fn leave(&mut self) {
        self.carrier().leave();
    }

    pub fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent> {
        self.carrier().send(now, to, message)
    }

    pub fn close(&mut self, now: Instant, session: SessionId) {
        self.carrier().close(now, session);
    }

    pub fn pause(&mut self, session: SessionId) {
        self.carrier().pause(session);
    }

    pub fn resume(&mut self, session: SessionId) {
        self.carrier().resume(session);
    }

    /// The carrier's machine, for its specific functions: names, datagrams. `None` if it is another one.
    pub fn machine<C: Carrier>(&mut self) -> Option<&mut C> {
        (self.carrier() as &mut dyn Any).downcast_mut()
    }

    /// The carrier with NetBIOS frames: names, datagrams, queries. `None` if it is another one.
    pub fn nbf(&mut self) -> Option<&mut nbf::Station> {
        self.machine()
    }

    pub const fn stray_counts(&self) -> StrayCounts {
        self.strays
    }

    /// Counters by their key in results: stray frames, then those of the carrier.
    pub fn counts(&self) -> Vec<Count> {
        let mut counts = self.strays.keyed();
        counts.extend(self.machine.counts());
        counts
    }

    pub fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
        let taken = match Frame::parse(frame) {
            Ok(frame) => self.carrier().handle_frame(now, &frame),
            Err(_) => Err(Stray::Malformed),
        };
        if let Err(stray) = taken {
            self.strays.count(stray);
        }
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        self.carrier().handle_timeout(now);
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let until = self.idle_until.or_else(|| self.machine.poll_timeout());
        until.filter(|until| *until < Instant::FAR_FUTURE)
    }

    pub fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        if self.idle_until.is_some_and(|until| now < until) {
            return false;
        }
        let is_sent = self.carrier().poll_transmit(now, into);
        let until = || self.poll_timeout().unwrap_or(Instant::FAR_FUTURE);
        self.idle_until = (!is_sent).then(until);
        is_sent
    }

    pub fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.machine.poll_event(message)
    }
}
