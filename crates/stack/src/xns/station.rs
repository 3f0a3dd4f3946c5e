//! A station: the interface for its driver and the program above.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Frame;
use lanlab_wire::ipx::Address;
use lanlab_wire::ipx::socket::FIRST_DYNAMIC;
use lanlab_wire::xns::error_packet::number;
use lanlab_wire::xns::{packet_type, socket};

use super::interface::Interface;
use super::session::Spp;
use crate::carrier::{
    BadPeer, Carrier, Count, Event, NameEvent, NotSent, Peer, Readiness, SessionId, StationConfig,
    Stray,
};
use crate::netbios;
use crate::profile::Profile;
use crate::sequenced::Sessions;

/// A station picks its first socket within this range above the first dynamic one.
const SOCKETS_AWAY: u64 = 0x2000;

#[derive(Debug)]
pub struct Station {
    pub(super) sessions: Sessions<Spp>,
    pub(super) last_socket: u16,
    pub(super) last_question: u32,
}

fn address_of(text: &str) -> Option<Address> {
    let is_hexadecimal = text.len() == 12 && text.bytes().all(|octet| octet.is_ascii_hexdigit());
    let number = u64::from_str_radix(text, 16).ok().filter(|_| is_hexadecimal)?;
    let [_, _, node @ ..] = number.to_be_bytes();
    Some(Address { network: 0, node, socket: socket::SMB })
}

impl Carrier for Station {
    fn new(config: &StationConfig, now: Instant) -> Self {
        // A restarted station must not be mistaken for its predecessor.
        let milliseconds = now.as_nanos() / 1_000_000;
        let mut sessions = Sessions::new(config, now, Interface::new(config));
        // XNS names are not claimed, only looked up.
        sessions.common.event(Event::Name(NameEvent::Claimed(config.name)));
        Self {
            sessions,
            last_socket: FIRST_DYNAMIC + (milliseconds % SOCKETS_AWAY) as u16,
            last_question: milliseconds as u32,
        }
    }

    fn server(name: &str) -> Result<Peer, BadPeer> {
        match address_of(name) {
            Some(address) => Ok(Peer::Ipx(address)),
            None => netbios::server(name),
        }
    }

    fn sessions(profile: &Profile) -> u16 {
        profile.xns.sessions
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    fn open(&mut self, now: Instant, to: Peer) -> SessionId {
        self.call(now, to)
    }

    fn listen(&mut self) {
        self.sessions.is_listening = true;
    }

    fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent> {
        self.sessions.send(now, to, message)
    }

    fn close(&mut self, now: Instant, id: SessionId) {
        self.sessions.close(now, id);
    }

    fn pause(&mut self, id: SessionId) {
        self.sessions.pause(id);
    }

    fn resume(&mut self, id: SessionId) {
        self.sessions.resume(id);
    }

    fn counts(&self) -> Vec<Count> {
        self.sessions.counts().chain(self.sessions.common.interface.counts.keyed()).collect()
    }

    fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
        let interface = &mut self.sessions.common.interface;
        let Some(packet) = interface.handle_frame(frame)? else { return Ok(()) };
        match packet.header.kind {
            packet_type::ERROR => self.handle_error(&packet),
            packet_type::EXCHANGE if self.has_socket(packet.socket()) => {
                self.handle_exchange(now, &packet);
            }
            packet_type::SEQUENCED if self.has_socket(packet.socket()) => {
                self.handle_sequenced(now, &packet);
            }
            _ => {
                self.sessions.common.interface.push_error(&packet, number::NO_SOCKET);
                return Err(Stray::UnknownSocket);
            }
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.sessions.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.sessions.poll_timeout()
    }

    fn poll_transmit(&mut self, _: Instant, into: &mut Vec<u8>) -> bool {
        self.sessions.common.interface.poll_transmit(into)
    }

    fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.sessions.common.poll_event(message)
    }
}
