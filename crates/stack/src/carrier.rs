//! The contract of a carrier, which moves whole session messages between two stations.
//!
//! A carrier is a folder with a type that implements [`Carrier`], and a row in the table of `node`.
//! The node's documentation gives the order of calls; times never decrease.

use std::any::Any;
use std::fmt;

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Mac};
use lanlab_wire::ipx;
use lanlab_wire::netbios_name::Name;

use crate::llc;
use crate::profile::Profile;
use crate::profile::netware::NetWare;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarrierFacts {
    pub longest_message: u32,
    /// Whether messages without a header (raw data) keep their length.
    pub keeps_raw: bool,
    pub is_one_at_a_time: bool,
}

impl CarrierFacts {
    /// Whether each message is one packet, as SMB's multiplexed reads and writes require.
    pub const fn is_connectionless(self) -> bool {
        self.is_one_at_a_time && !self.keeps_raw
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StationConfig {
    pub mac: Mac,
    pub name: Name,
    pub profile: Profile,
    pub netware: NetWare,
    /// Framing, for carriers that know more than one; `None` detects the one in use.
    pub framing: Option<Framing>,
    /// Network number, for carriers that have one; `None` learns it from routers and servers.
    pub network: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u32);

/// Session numbers of a station.
#[derive(Debug, Clone, Copy, Default)]
pub struct SessionIds(u32);

impl SessionIds {
    pub const fn next(&mut self) -> SessionId {
        let id = SessionId(self.0);
        self.0 = self.0.wrapping_add(1);
        id
    }
}

/// Address of a session's endpoint, by address family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    Name(Name),
    Ipx(ipx::Address),
    Nearest,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(&name.text()),
            Self::Ipx(address) => address.fmt(f),
            Self::Nearest => f.write_str("the nearest server"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadPeer {
    pub message: String,
    pub hint: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// [`Event::Room`] reports when there is room again.
    Full,
    NoSession,
    TooLong,
}

/// Why a session ended or failed to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    Closed,
    ByPeer,
    ByPeerAbnormally,
    AddressFamily,
    NameNotFound,
    NotListening,
    NoResources,
    NoAnswer,
    Link(llc::Ended),
    Protocol,
    /// The other end sent a malformed frame, so a message was lost.
    MalformedFrame,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    Ready,
    Waiting,
    NameInConflict,
}

/// Why a carrier rejects a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stray {
    Foreign,
    UnknownSap,
    UnknownSocket,
    Malformed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentFacts {
    /// The framing in use for sending; `None` uses the framing of each destination.
    pub framing: Option<Framing>,
    /// The network number; `None` if still unknown.
    pub network: Option<u32>,
}

pub type Count = (&'static str, u64);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Opened(SessionId, CarrierFacts),
    Accepted {
        session: SessionId,
        facts: CarrierFacts,
        station: Mac,
        called: Peer,
        calling: Peer,
    },
    /// A whole message of a session is in the buffer of [`Carrier::poll_event`].
    Message(SessionId),
    /// The session can accept another message: one was sent and acknowledged.
    Room(SessionId),
    Ended(SessionId, Why),
    Name(NameEvent),
}

/// What becomes of a station's claim to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameEvent {
    Claimed(Name),
    /// Another station claims one of our names. We claim it again and keep using it;
    /// [`NameEvent::Claimed`] or [`NameEvent::Conflict`] follows.
    Disputed(Name, Mac),
    /// Another station holds the name. A new name is given up; one that was ours is claimed again
    /// periodically, and [`NameEvent::Claimed`] reports success.
    Conflict(Name, Mac),
}

impl NameEvent {
    pub(crate) const fn is_conflict(self) -> bool {
        matches!(self, Self::Conflict(..))
    }
}

/// Carries session messages in frames.
///
/// It allocates no memory per frame or message: callers and carrier exchange buffers.
pub trait Carrier: Any + fmt::Debug + Send {
    /// Whether it uses IPX packets, so that its station has a framing and a network.
    fn is_on_ipx() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Begin to claim the name or to learn the network; [`readiness`](Self::readiness) reports progress.
    fn new(config: &StationConfig, now: Instant) -> Self
    where
        Self: Sized;

    /// The address of the file server with this name.
    fn server(name: &str) -> Result<Peer, BadPeer>
    where
        Self: Sized;

    /// The address of the nearest file server; `None` if servers can be found only by name.
    fn nearest() -> Option<Peer>
    where
        Self: Sized,
    {
        None
    }

    /// Maximum incoming sessions of a station with this profile.
    fn sessions(profile: &Profile) -> u16
    where
        Self: Sized,
    {
        profile.sessions
    }

    /// The segment of the station; `None` for carriers that do not use IPX.
    fn segment(&self) -> Option<SegmentFacts> {
        None
    }

    /// Whether sessions can be opened. Changes only together with an event.
    fn readiness(&self) -> Readiness;

    /// Call another station. [`Event::Opened`] or [`Event::Ended`] follows, with [`Why::AddressFamily`] for
    /// an address of another family.
    fn open(&mut self, now: Instant, to: Peer) -> SessionId;

    /// Accept calls. Each causes [`Event::Accepted`].
    fn listen(&mut self);

    /// Shut down: notify stations that may still look for this one.
    fn leave(&mut self) {}

    /// Send a whole message.
    fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent>;

    /// Close a session once queued messages are sent and acknowledged. [`Event::Ended`] follows.
    fn close(&mut self, now: Instant, session: SessionId);

    /// Stop accepting messages of a session until [`resume`](Self::resume).
    fn pause(&mut self, session: SessionId);

    /// Accept messages of a session again.
    fn resume(&mut self, session: SessionId);

    /// Counters of all sessions, in the order in which results list them.
    fn counts(&self) -> Vec<Count>;

    /// Handle a frame from the medium, of any framing and for any station.
    fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray>;

    /// Do everything that is due. Spurious calls do nothing.
    fn handle_timeout(&mut self, now: Instant);

    /// Time of the next call to [`handle_timeout`](Self::handle_timeout).
    fn poll_timeout(&self) -> Option<Instant>;

    /// Write the next frame to `into`, replacing its content. False if there is none.
    fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool;

    /// The next event. A message or datagram is placed in `message` by exchanging buffers.
    fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event>;
}

#[cfg(test)]
mod tests {
    use lanlab_wire::netbios_name::suffix;

    use super::*;

    #[test]
    fn request_reply_carriers_send_one_packet_per_message() {
        for (keeps_raw, is_one_at_a_time, expected) in
            [(false, true, true), (true, true, false), (false, false, false), (true, false, false)]
        {
            let facts = CarrierFacts { longest_message: 1, keeps_raw, is_one_at_a_time };
            assert_eq!(facts.is_connectionless(), expected);
        }
    }

    #[test]
    fn peers_are_written_by_name_or_address() {
        let name = Peer::Name(Name::new("SERVER", suffix::SERVER).unwrap());
        let address = ipx::Address { network: 0x17, node: [2, 0, 0, 0, 0, 1], socket: 0x451 };
        let said = [name, Peer::Ipx(address), Peer::Nearest].map(|peer| peer.to_string());
        assert_eq!(said, ["SERVER", &address.to_string(), "the nearest server"]);
    }
}
