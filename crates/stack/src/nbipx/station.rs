//! A station: the interface for its driver and the program above.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Frame;
use lanlab_wire::ipx::{packet_type, socket};
use lanlab_wire::nbipx::is_session;
use lanlab_wire::netbios_name::Name;
use lanlab_wire::sap;

use super::Common;
use super::names::NameOutput;
use super::session::{Phase, Session};
use crate::carrier::{
    BadPeer, Carrier, Count, Event, NotSent, Peer, Readiness, SegmentFacts, SessionId, SessionIds,
    StationConfig, Stray, Why,
};
use crate::ipx::{Advertised, Interface};
use crate::netbios::{self, Correlators, LONGEST_MESSAGE, Names, QueryPace};
use crate::profile::Profile;

#[derive(Debug)]
pub struct Station {
    pub(super) name: Name,
    pub(super) profile: Profile,
    correlators: Correlators,
    pub(super) names: Names,
    pub(super) ids: SessionIds,
    pub(super) is_listening: bool,
    pub(super) sessions: Vec<Session>,
    pub(super) last_connection: u16,
    now: Instant,
    pub(super) common: Common,
}

impl Station {
    fn session(&mut self, id: SessionId) -> Option<&mut Session> {
        let session = self.sessions.iter_mut().find(|session| session.id == id)?;
        (!matches!(session.phase, Phase::Ending | Phase::Over)).then_some(session)
    }
}

impl Carrier for Station {
    fn server_type() -> Option<u16> {
        Some(sap::WINDOWS_SERVER)
    }

    fn new(config: &StationConfig, now: Instant, ids: SessionIds) -> Self {
        let interface = Interface::new(config, now);
        // Claims are sent in the detected framing.
        let claims_at = interface.known_at().unwrap_or(now);
        let mut station = Self {
            name: config.name,
            profile: config.profile,
            correlators: Correlators::NONE,
            names: Names::new(config.mac),
            ids,
            is_listening: false,
            sessions: Vec::new(),
            // A restarted station must not be mistaken for its predecessor.
            last_connection: (now.as_nanos() / 1_000_000) as u16,
            now,
            common: Common::new(interface),
        };
        station.names.claim(claims_at, config.name, false, &mut station.correlators);
        station.handle_timeout(now);
        station
    }

    fn server(name: &str) -> Result<Peer, BadPeer> {
        netbios::server(name)
    }

    fn segment(&self) -> Option<SegmentFacts> {
        Some(self.common.interface.facts())
    }

    fn readiness(&self) -> Readiness {
        self.names.readiness(self.name)
    }

    fn open(&mut self, now: Instant, to: Peer) -> SessionId {
        self.now = now;
        self.call(now, to)
    }

    fn listen(&mut self) {
        self.is_listening = true;
        self.common.interface.advertise(Advertised::windows(self.name, socket::NETBIOS));
    }

    fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent> {
        self.now = now;
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
        self.now = now;
        let Some(index) = self.sessions.iter().position(|session| session.id == id) else { return };
        match self.sessions[index].phase {
            Phase::Open => self.sessions[index].close(now, &mut self.common),
            Phase::Finding | Phase::Calling => {
                self.sessions.remove(index);
                self.common.event(Event::Ended(id, Why::Closed));
            }
            Phase::Ending | Phase::Over => {}
        }
    }

    fn pause(&mut self, id: SessionId) {
        if let Some(session) = self.session(id) {
            session.pause();
        }
    }

    fn resume(&mut self, id: SessionId) {
        let session = self.sessions.iter_mut().find(|session| session.id == id);
        if let Some(session) = session.filter(|session| session.receiving.incoming.is_paused()) {
            session.resume(&mut self.common);
        }
    }

    fn counts(&self) -> Vec<Count> {
        let sessions = self.common.counts.keyed().into_iter();
        sessions.chain(self.common.interface.counted().keyed()).collect()
    }

    fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
        self.now = now;
        let Some(packet) = self.common.interface.handle_frame(now, frame)? else { return Ok(()) };
        if packet.socket != socket::NETBIOS {
            return Err(Stray::UnknownSocket);
        }
        if packet.kind != packet_type::PROPAGATED && is_session(packet.data) {
            self.handle_session(now, &packet);
        } else {
            self.handle_name(now, &packet);
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        self.common.interface.handle_timeout(now);
        let mut output = NameOutput { interface: &mut self.common.interface, asker: None };
        let mut outcomes = Vec::new();
        let sending = (&mut output, &mut self.correlators);
        self.names.handle_timeout(now, QueryPace::of(&self.profile), sending, &mut outcomes);
        self.report(&outcomes);
        self.handle_session_timeouts(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let sessions = self.sessions.iter().filter_map(Session::deadline);
        let others = [self.common.interface.poll_timeout(), self.names.poll_timeout()];
        sessions.chain(others.into_iter().flatten()).min()
    }

    fn poll_transmit(&mut self, _: Instant, into: &mut Vec<u8>) -> bool {
        self.common.interface.poll_transmit(into)
    }

    fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.common.poll_event(message)
    }
}
