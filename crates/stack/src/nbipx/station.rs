//! A station: the interface for its driver and the program above.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Frame;
use lanlab_wire::ipx::{packet_type, socket};
use lanlab_wire::nbipx::is_session;

use super::names::NameOutput;
use super::session::Nbipx;
use crate::carrier::{
    BadPeer, Carrier, Count, Event, NotSent, Peer, Readiness, SegmentFacts, SessionId,
    StationConfig, Stray,
};
use crate::ipx::{Advertised, Interface};
use crate::netbios::{self, Correlators, OwnName, QueryPace};
use crate::sequenced::Sessions;

#[derive(Debug)]
pub struct Station {
    correlators: Correlators,
    pub(super) own_name: OwnName,
    pub(super) sessions: Sessions<Nbipx>,
}

impl Carrier for Station {
    fn is_on_ipx() -> bool {
        true
    }

    fn new(config: &StationConfig, now: Instant) -> Self {
        let interface = Interface::new(config, now);
        // Claims are sent in the detected framing.
        let claims_at = interface.known_at().unwrap_or(now);
        let mut correlators = Correlators::NONE;
        let own_name = OwnName::new(config.mac, config.name, claims_at, &mut correlators);
        let sessions = Sessions::new(config, now, interface);
        let mut station = Self { correlators, own_name, sessions };
        station.handle_timeout(now);
        station
    }

    fn server(name: &str) -> Result<Peer, BadPeer> {
        netbios::server(name)
    }

    fn segment(&self) -> Option<SegmentFacts> {
        Some(self.sessions.common.interface.facts())
    }

    fn readiness(&self) -> Readiness {
        self.own_name.readiness()
    }

    fn open(&mut self, now: Instant, to: Peer) -> SessionId {
        self.call(now, to)
    }

    fn listen(&mut self) {
        self.sessions.is_listening = true;
        let advertised = Advertised::windows(self.sessions.name, socket::NETBIOS);
        self.sessions.common.interface.advertise(advertised);
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
        let Some(packet) = interface.handle_frame(now, frame)? else { return Ok(()) };
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
        let interface = &mut self.sessions.common.interface;
        interface.handle_timeout(now);
        let mut output = NameOutput { interface, asker: None };
        let mut outcomes = Vec::new();
        let sending = (&mut output, &mut self.correlators);
        let pace = QueryPace::of(&self.sessions.profile);
        self.own_name.handle_timeout(now, pace, sending, &mut outcomes);
        self.report(&outcomes);
        self.sessions.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let interface = self.sessions.common.interface.poll_timeout();
        Instant::earliest([interface, self.own_name.poll_timeout(), self.sessions.poll_timeout()])
    }

    fn poll_transmit(&mut self, _: Instant, into: &mut Vec<u8>) -> bool {
        self.sessions.common.interface.poll_transmit(into)
    }

    fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.sessions.common.poll_event(message)
    }
}
