//! A station: the interface for its driver and the program above.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Frame;
use lanlab_wire::ipx::Address;
use lanlab_wire::ipx::socket::FIRST_DYNAMIC;
use lanlab_wire::netbios_name::Name;
use lanlab_wire::xns::error_packet::number;
use lanlab_wire::xns::{packet_type, socket};

use super::Common;
use super::interface::Interface;
use super::session::{Phase, Session};
use crate::carrier::{
    BadPeer, Carrier, Count, Event, NotSent, Peer, Readiness, SessionId, SessionIds, StationConfig,
    Stray, Why,
};
use crate::netbios::{self, LONGEST_MESSAGE};
use crate::profile::Profile;

/// A station picks its first socket within this range above the first dynamic one.
const SOCKETS_AWAY: u64 = 0x2000;

#[derive(Debug)]
pub struct Station {
    pub(super) name: Name,
    pub(super) profile: Profile,
    pub(super) ids: SessionIds,
    pub(super) is_listening: bool,
    pub(super) sessions: Vec<Session>,
    pub(super) last_connection: u16,
    pub(super) last_socket: u16,
    pub(super) last_question: u32,
    pub(super) common: Common,
}

impl Station {
    fn open_session(&mut self, id: SessionId) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|session| session.id == id && session.phase == Phase::Open)
    }
}

fn address_of(text: &str) -> Option<Address> {
    let is_hexadecimal = text.len() == 12 && text.bytes().all(|octet| octet.is_ascii_hexdigit());
    let number = u64::from_str_radix(text, 16).ok().filter(|_| is_hexadecimal)?;
    let [_, _, node @ ..] = number.to_be_bytes();
    Some(Address { network: 0, node, socket: socket::SMB })
}

impl Carrier for Station {
    fn new(config: &StationConfig, now: Instant, ids: SessionIds) -> Self {
        // A restarted station must not be mistaken for its predecessor.
        let milliseconds = now.as_nanos() / 1_000_000;
        let mut common = Common::new(Interface::new(config));
        // XNS names are not claimed, only looked up.
        common.event(Event::Claimed(config.name));
        Self {
            name: config.name,
            profile: config.profile,
            ids,
            is_listening: false,
            sessions: Vec::new(),
            last_connection: milliseconds as u16,
            last_socket: FIRST_DYNAMIC + (milliseconds % SOCKETS_AWAY) as u16,
            last_question: milliseconds as u32,
            common,
        }
    }

    fn server(name: &str) -> Result<Peer, BadPeer> {
        match address_of(name) {
            Some(address) => Ok(Peer::Ipx(address)),
            None => netbios::server(name),
        }
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    fn open(&mut self, now: Instant, to: Peer) -> SessionId {
        self.call(now, to)
    }

    fn listen(&mut self) {
        self.is_listening = true;
    }

    fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent> {
        if message.len() > LONGEST_MESSAGE {
            return Err(NotSent::TooLong);
        }
        let session = self.sessions.iter_mut().find(|session| session.id == to);
        let session = session.filter(|session| session.is_open()).ok_or(NotSent::NoSession)?;
        session.sending.offer(message)?;
        session.go_on(now, false, false, &mut self.common);
        Ok(())
    }

    fn close(&mut self, now: Instant, id: SessionId) {
        let Some(index) = self.sessions.iter().position(|session| session.id == id) else { return };
        match self.sessions[index].phase {
            Phase::Open => self.sessions[index].close(now, &mut self.common),
            Phase::Finding | Phase::Calling => {
                self.sessions.remove(index);
                self.common.event(Event::Ended(id, Why::Closed));
            }
            Phase::Ending | Phase::Replying | Phase::Over => {}
        }
    }

    fn pause(&mut self, id: SessionId) {
        if let Some(session) = self.open_session(id) {
            session.pause();
        }
    }

    fn resume(&mut self, id: SessionId) {
        let session = self.sessions.iter_mut().find(|session| session.id == id);
        let is_waiting =
            |session: &&mut Session| session.is_open() && session.receiving.incoming.is_paused();
        if let Some(session) = session.filter(is_waiting) {
            session.resume(&mut self.common);
        }
    }

    fn counts(&self) -> Vec<Count> {
        let sessions = self.common.counts.keyed().into_iter();
        sessions.chain(self.common.interface.counts.keyed()).collect()
    }

    fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
        let Some(packet) = self.common.interface.handle_frame(frame)? else { return Ok(()) };
        match packet.header.kind {
            packet_type::ERROR => self.handle_error(&packet),
            packet_type::EXCHANGE if self.has_socket(packet.socket()) => {
                self.handle_exchange(now, &packet);
            }
            packet_type::SEQUENCED if self.has_socket(packet.socket()) => {
                self.handle_sequenced(now, &packet);
            }
            _ => {
                self.common.interface.push_error(&packet, number::NO_SOCKET);
                return Err(Stray::UnknownSocket);
            }
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.handle_session_timeouts(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.sessions.iter().filter_map(Session::deadline).min()
    }

    fn poll_transmit(&mut self, _: Instant, into: &mut Vec<u8>) -> bool {
        self.common.interface.poll_transmit(into)
    }

    fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.common.poll_event(message)
    }
}
