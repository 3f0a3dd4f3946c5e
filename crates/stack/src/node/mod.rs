//! A station with its carriers: frames below, whole messages of sessions above.
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

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::netbios_name::Name;

use crate::carrier::Carrier;
use crate::counts::counts;
use crate::nbf;
use crate::profile::Profile;
use crate::profile::netware::NETWARE_3;

pub use crate::carrier::{
    BadPeer, Count, Event, IpxPart, NotSent, Peer, Readiness, SegmentFacts, SessionId,
    StationConfig, Stray, Why,
};
use carriers::CarrierSet;
pub use carriers::{CarrierKind, CarrierKinds};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeConfig {
    pub station: StationConfig,
    pub carriers: CarrierKinds,
}

impl NodeConfig {
    pub const fn new(mac: Mac, name: Name, profile: Profile, carriers: CarrierKinds) -> Self {
        let netware = NETWARE_3;
        let (framing, network, ipx_part) = (None, None, IpxPart::First);
        let station = StationConfig { mac, name, profile, netware, framing, network, ipx_part };
        Self { station, carriers }
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
    carriers: CarrierSet,
    strays: StrayCounts,
}

impl Node {
    /// Create a station, which begins to claim its name and learn its network; [`readiness`](Self::readiness)
    /// reports progress.
    pub fn new(config: &NodeConfig, now: Instant) -> Self {
        Self { carriers: CarrierSet::new(config, now), strays: StrayCounts::default() }
    }

    /// Whether every carrier can open sessions. Changes only together with an event.
    pub fn readiness(&self) -> Readiness {
        self.carriers.readiness()
    }

    /// The segment of a carrier. `None` if it does not use IPX, or the node does not have it.
    pub fn segment(&mut self, carrier: CarrierKind) -> Option<SegmentFacts> {
        self.carriers.get(carrier)?.segment()
    }

    /// Call another station. [`Event::Opened`] or [`Event::Ended`] follows. `None` if the node does not have
    /// the carrier.
    pub fn open(&mut self, now: Instant, carrier: CarrierKind, to: Peer) -> Option<SessionId> {
        self.carriers.get(carrier).map(|machine| machine.open(now, to))
    }

    /// Accept calls over every carrier. Each causes [`Event::Accepted`].
    pub fn listen(&mut self) {
        self.carriers.listen();
    }

    /// Shut down: queue goodbye messages. Afterwards only [`poll_transmit`](Self::poll_transmit) may be called.
    pub fn leave(&mut self) {
        self.carriers.leave();
    }

    /// Send a whole message.
    ///
    /// # Errors [`NotSent`] gives the reason.
    pub fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent> {
        self.carriers.of(to).ok_or(NotSent::NoSession)?.send(now, to, message)
    }

    /// Close a session once queued messages are sent and acknowledged. [`Event::Ended`] follows.
    pub fn close(&mut self, now: Instant, session: SessionId) {
        if let Some(machine) = self.carriers.of(session) {
            machine.close(now, session);
        }
    }

    /// Stop accepting messages of a session until [`resume`](Self::resume).
    pub fn pause(&mut self, session: SessionId) {
        if let Some(machine) = self.carriers.of(session) {
            machine.pause(session);
        }
    }

    pub fn resume(&mut self, session: SessionId) {
        if let Some(machine) = self.carriers.of(session) {
            machine.resume(session);
        }
    }

    /// The machine of a carrier, for its specific functions: names, datagrams. `None` if the node does not have it.
    pub fn machine<C: Carrier>(&mut self) -> Option<&mut C> {
        self.carriers.machine()
    }

    /// The carrier with NetBIOS frames: names, datagrams, queries. `None` if the node does not have it.
    pub fn nbf(&mut self) -> Option<&mut nbf::Station> {
        self.machine()
    }

    pub const fn stray_counts(&self) -> StrayCounts {
        self.strays
    }

    /// Counters by their key in results: stray frames, then those of each carrier. Equal keys are added up.
    pub fn counts(&self) -> Vec<Count> {
        let mut counts = self.strays.keyed();
        counts.extend(self.carriers.counts());
        counts
    }

    pub fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
        let taken = match Frame::parse(frame) {
            Ok(frame) => self.carriers.handle_frame(now, &frame),
            Err(_) => Err(Stray::Malformed),
        };
        if let Err(stray) = taken {
            self.strays.count(stray);
        }
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        self.carriers.handle_timeout(now);
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        self.carriers.poll_timeout()
    }

    /// Write the next frame to `into`, replacing its content. False if there is none.
    pub fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        self.carriers.poll_transmit(now, into)
    }

    pub fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.carriers.poll_event(message)
    }
}
