//! A station with its carriers: frames in, frames out, whole messages of sessions above.
//!
//! # Driving it
//!
//! A [`Node`] knows neither a clock nor a medium. Its driver hands in frames and times, and after each
//! call drains it:
//!
//! 1. change it by one call: [`handle_frame`](Node::handle_frame) with a frame of the medium (any frame: it
//!    picks its own, and cuts them to their length), [`handle_timeout`](Node::handle_timeout) once
//!    [`poll_timeout`](Node::poll_timeout) is reached, or a call of the program above
//!    ([`open`](Node::open), [`send`](Node::send), [`close`](Node::close) …);
//! 2. while [`poll_event`](Node::poll_event) gives an event, handle it; a handler may call the node again;
//! 3. while [`poll_transmit`](Node::poll_transmit) gives a frame, send it; then 2 again, until there is
//!    neither;
//! 4. wait for a frame or for the time of `poll_timeout`.
//!
//! A driver may send later than it is told, and stop sending while its adapter has no room: what is
//! due then goes out when `poll_transmit` is called next, with the numbers of that time. All calls have
//! times that do not go back.
//!
//! Where messages flow, no memory is allocated for a frame or message: the buffers that are handed in and out
//! are exchanged.

mod carriers;

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::AdapterStatus;
use lanlab_wire::netbios_name::Name;

use crate::carrier::CarrierFacts;
use crate::llc;
use crate::nbf::{self, Why};
use crate::profile::Profile;

pub use carriers::Carrier;
use carriers::Machines;

/// A session, by its number, which no other one of the node ever has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u32);

/// A question, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub u32);

/// Numbers of sessions. Each carrier counts in steps, so that a number says whose it is.
#[derive(Debug, Clone, Copy)]
pub struct SessionIds {
    next: u32,
}

impl SessionIds {
    /// Numbers of the carrier at `index`.
    pub const fn new(index: u32) -> Self {
        Self { next: index }
    }

    /// A number that was not given before.
    pub const fn next(&mut self) -> SessionId {
        let id = SessionId(self.next);
        self.next = self.next.wrapping_add(carriers::COUNT);
        id
    }
}

/// What a station is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeConfig {
    /// Address of its adapter.
    pub mac: Mac,
    /// Its NetBIOS name, which it claims.
    pub name: Name,
    /// Timers and windows.
    pub profile: Profile,
}

/// Who is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A NetBIOS name.
    Name(Name),
}

/// Why a message is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// [`Event::Room`] says when there is room again.
    Full,
    /// The session is not open.
    NoSession,
    /// The carrier has no messages as long.
    TooLong,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The name is ours.
    Claimed(Name),
    /// This station says that a name of ours is another's, too: it is claimed again, and used meanwhile.
    /// [`Event::Claimed`] or [`Event::Conflict`] follows.
    Disputed(Name, Mac),
    /// The name is that of another station. A new one is given up; one that was ours is claimed again from
    /// time to time, and [`Event::Claimed`] says when it is ours again.
    Conflict(Name, Mac),
    /// A session that we called is open.
    Opened(SessionId, CarrierFacts),
    /// A session that another station called is open.
    Accepted {
        /// Its number.
        session: SessionId,
        /// What it can do.
        facts: CarrierFacts,
        /// Address of the other station.
        station: Mac,
        /// Name of ours that was called.
        called: Name,
        /// Name of the caller.
        calling: Name,
    },
    /// A whole message of a session is in the buffer of [`Node::poll_event`].
    Message(SessionId),
    /// Another message of the session may be handed in: one has been sent and acknowledged.
    Room(SessionId),
    /// A session is over, or did not come to be.
    Ended(SessionId, Why),
    /// A station has a name that was asked for.
    Found {
        /// Which question.
        question: QuestionId,
        /// The name.
        name: Name,
        /// Who has it.
        station: Mac,
        /// Whether it is the name of a group.
        is_group: bool,
    },
    /// The state of an adapter that was asked for.
    Status {
        /// Which question.
        question: QuestionId,
        /// Whose.
        station: Mac,
        /// The state.
        status: Box<AdapterStatus>,
    },
    /// A question has been asked as often as it is; no more answers come.
    Asked(QuestionId),
    /// A datagram is in the buffer of [`Node::poll_event`].
    Datagram {
        /// Name of the sender.
        from: Name,
        /// Name of ours that it is for; absent: for every station.
        to: Option<Name>,
        /// Address of the sender.
        station: Mac,
    },
}

/// A station. The [module](self) says how to drive it.
#[derive(Debug)]
pub struct Node {
    machines: Machines,
}

impl Node {
    /// A station that claims its name: [`Event::Claimed`] or [`Event::Conflict`] follows.
    pub fn new(config: &NodeConfig, now: Instant) -> Self {
        Self { machines: Machines::new(config, now) }
    }

    /// Call another station. [`Event::Opened`] or [`Event::Ended`] follows.
    pub fn open(&mut self, now: Instant, carrier: Carrier, to: Peer) -> SessionId {
        match (carrier, to) {
            (Carrier::Nbf, Peer::Name(name)) => self.machines.nbf.open(now, name),
        }
    }

    /// Take calls. [`Event::Accepted`] says of each.
    pub fn listen(&mut self, carrier: Carrier) {
        match carrier {
            Carrier::Nbf => self.machines.nbf.listen(),
        }
    }

    /// Send a whole message.
    ///
    /// # Errors
    /// [`NotSent`] says why it cannot be taken.
    pub fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent> {
        self.machines.send(now, to, message)
    }

    /// End a session, once what waits is sent and acknowledged. [`Event::Ended`] follows.
    pub fn close(&mut self, now: Instant, session: SessionId) {
        self.machines.close(now, session);
    }

    /// Take no more messages of a session until [`resume`](Self::resume).
    pub fn pause(&mut self, session: SessionId) {
        self.machines.pause(session);
    }

    /// Take messages of a session again.
    pub fn resume(&mut self, session: SessionId) {
        self.machines.resume(session);
    }

    /// The carrier with NetBIOS frames: names, datagrams, questions, counts.
    pub const fn nbf(&mut self) -> &mut nbf::Station {
        &mut self.machines.nbf
    }

    /// What the links of the carrier with NetBIOS frames have counted, ended ones included.
    pub fn link_counts(&self) -> llc::Counts {
        self.machines.nbf.link_counts()
    }

    /// Take a frame of the medium.
    pub fn handle_frame(&mut self, now: Instant, frame: &[u8]) {
        self.machines.handle_frame(now, frame);
    }

    /// Do what is due. Calls without need do nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.machines.handle_timeout(now);
    }

    /// When something is to be done next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.machines.poll_timeout()
    }

    /// Write the next frame into `into`, in place of what it holds. False if there is none.
    pub fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        self.machines.poll_transmit(now, into)
    }

    /// What happened. The message or datagram is in `message`, whose memory is exchanged.
    pub fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.machines.poll_event(message)
    }
}
