//! The contract of a carrier: what moves whole messages of sessions between two stations.
//!
//! A carrier is a folder with a machine that implements [`Carrier`], and a row in the table of
//! `node`, which makes the carriers that its configuration names. The methods are called in
//! the order that the node's documentation gives; times do not go back.
//!
//! A node calls its carriers through an `enum`, not through `dyn Carrier`: there are few of them, a frame then
//! costs one predictable branch, and a machine is made by its row alone.

use std::fmt;

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Mac};
use lanlab_wire::ipx;
use lanlab_wire::nbf::AdapterStatus;
use lanlab_wire::netbios_name::Name;

use crate::llc;
use crate::ncp::NetWare;
use crate::profile::Profile;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarrierFacts {
    pub longest_message: u32,
    /// Whether it keeps the length of messages that have no header of their own: raw data.
    pub keeps_raw: bool,
    pub is_one_at_a_time: bool,
}

impl CarrierFacts {
    /// Whether each message is a packet of its own, as SMB's multiplexed reads and writes take it.
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
    /// Framing of carriers that know more than one; `None`: the one in use is found.
    pub framing: Option<Framing>,
    /// Network of carriers that have such numbers; `None`: it is learnt from routers and servers.
    pub network: Option<u32>,
    pub ipx_part: IpxPart,
}

/// What a carrier does for its station on IPX, which several carriers of a node may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IpxPart {
    /// It asks for framing and network, counts packets that are for no carrier, and says where its server is.
    First,
    Second,
    Silent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub u32);

impl SessionId {
    /// Place in the table of the carrier that has given the number.
    pub(crate) const fn carrier_index(self) -> usize {
        (self.0 % SessionIds::STEP) as usize
    }
}

/// Numbers of the sessions of one carrier. Each carrier counts in steps, so that a number says whose it is.
#[derive(Debug, Clone, Copy)]
pub struct SessionIds {
    next: u32,
}

impl SessionIds {
    pub(crate) const STEP: u32 = 16;

    pub(crate) const fn new(index: u32) -> Self {
        Self { next: index }
    }

    pub const fn next(&mut self) -> SessionId {
        let id = SessionId(self.next);
        self.next = self.next.wrapping_add(Self::STEP);
        id
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryId(pub u32);

/// Address of an end of a session, by the families of addresses that carriers have.
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
    /// [`Event::Room`] says when there is room again.
    Full,
    NoSession,
    TooLong,
}

/// Why a session has ended, or was never there.
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
    /// The other end sent a frame whose header is wrong, and with it lost a message.
    MalformedFrame,
    NameInConflict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Readiness {
    Ready,
    Waiting,
    NameInConflict,
}

/// Why a carrier does not take a frame, the reason that says least first: a frame that no carrier of a node
/// takes is counted by the last of their reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stray {
    Foreign,
    UnknownSap,
    UnknownSocket,
    Malformed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentFacts {
    /// The framing that it sends in; `None`: the one of each other station.
    pub framing: Option<Framing>,
    /// The number of its network; `None`: no one has said it.
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
    /// Another message of the session may be handed in: one has been sent and acknowledged.
    Room(SessionId),
    Ended(SessionId, Why),
    Claimed(Name),
    /// This station says that a name of ours is another's, too: it is claimed again, and used meanwhile.
    /// [`Event::Claimed`] or [`Event::Conflict`] follows.
    Disputed(Name, Mac),
    /// The name is that of another station. A new one is given up; one that was ours is claimed again from
    /// time to time, and [`Event::Claimed`] says when it is ours again.
    Conflict(Name, Mac),
    Found {
        query: QueryId,
        name: Name,
        station: Mac,
        is_group: bool,
    },
    Status {
        query: QueryId,
        station: Mac,
        status: Box<AdapterStatus>,
    },
    QueryFinished(QueryId),
    /// A datagram is in the buffer of [`Carrier::poll_event`].
    Datagram {
        from: Name,
        /// Name of ours that it is for; absent: for every station.
        to: Option<Name>,
        station: Mac,
    },
}

/// A machine that carries messages of sessions in frames.
///
/// Where messages flow, it allocates no memory for a frame or message: the buffers that are handed in and out
/// are exchanged.
pub trait Carrier {
    /// Type of the server, by which it is looked for on IPX; `None`: the carrier does not go over IPX.
    const SERVER_TYPE: Option<u16> = None;

    /// Begin to claim the name, or to learn the network: [`readiness`](Self::readiness) says how far it is.
    /// Sessions get numbers of `ids`.
    fn new(config: &StationConfig, now: Instant, ids: SessionIds) -> Self;

    /// Where a file server is called that people know by this name.
    ///
    /// # Errors
    /// The carrier has no such names.
    fn server(name: &str) -> Result<Peer, BadPeer>;

    /// Where a file server is called whose name is not known; `None`: servers are found by their names only.
    fn nearest() -> Option<Peer> {
        None
    }

    /// The segment of the station; `None`: the carrier does not go over IPX.
    fn segment(&self) -> Option<SegmentFacts> {
        None
    }

    /// Whether sessions can be opened. It changes with events only.
    fn readiness(&self) -> Readiness;

    /// Call another station. [`Event::Opened`] or [`Event::Ended`] follows, with [`Why::AddressFamily`] for
    /// an address of another family.
    fn open(&mut self, now: Instant, to: Peer) -> SessionId;

    /// Take calls. [`Event::Accepted`] says of each.
    fn listen(&mut self);

    /// The station goes: say so to those that may still look for it.
    fn leave(&mut self) {}

    /// Send a whole message.
    ///
    /// # Errors
    /// [`NotSent`] says why it cannot be taken.
    fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent>;

    /// End a session, once what waits is sent and acknowledged. [`Event::Ended`] follows.
    fn close(&mut self, now: Instant, session: SessionId);

    /// Take no more messages of a session until [`resume`](Self::resume).
    fn pause(&mut self, session: SessionId);

    /// Take messages of a session again.
    fn resume(&mut self, session: SessionId);

    /// What was counted, over all sessions, in the order in which results have it.
    fn counts(&self) -> Vec<Count>;

    /// Take a frame of the medium, of any framing and for any station.
    ///
    /// # Errors
    /// [`Stray`] says why it is none of this carrier; the node counts it.
    fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray>;

    /// Do what is due. Calls without need do nothing.
    fn handle_timeout(&mut self, now: Instant);

    /// When something is to be done next.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Write the next frame into `into`, in place of what it holds. False if there is none.
    fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool;

    /// What happened. A message or datagram is in `message`, whose memory is exchanged.
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

    #[test]
    fn session_numbers_name_their_carrier() {
        let mut ids = SessionIds::new(3);
        let given = [(); 3].map(|()| ids.next());
        assert_eq!(given, [SessionId(3), SessionId(19), SessionId(35)]);
        assert_eq!(given.map(SessionId::carrier_index), [3; 3]);
    }
}
