//! A station: the interface for its driver and the program above.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Frame;
use lanlab_wire::ipx::socket;
use lanlab_wire::netbios_name::Name;

use super::Common;
use super::answerer::Answerer;
use super::caller::Caller;
use super::names::NameOutput;
use crate::carrier::{
    BadPeer, Carrier, Count, Event, NotSent, Peer, Readiness, SegmentFacts, SessionId, SessionIds,
    StationConfig, Stray, Why,
};
use crate::ipx::{Advertised, Interface};
use crate::netbios::{self, Correlators, OwnName, QueryPace};
use crate::profile::Profile;
use crate::responders::may_answer_on_ipx;

/// A station picks its first socket within this range above the first dynamic one.
const SOCKETS_AWAY: u64 = 0x2000;

#[derive(Debug)]
pub struct Station {
    pub(super) name: Name,
    pub(super) profile: Profile,
    pub(super) correlators: Correlators,
    pub(super) own_name: OwnName,
    pub(super) ids: SessionIds,
    pub(super) is_listening: bool,
    pub(super) callers: Vec<Caller>,
    pub(super) answerers: Vec<Answerer>,
    pub(super) last_socket: u16,
    pub(super) last_connection: u16,
    now: Instant,
    pub(super) common: Common,
}

impl Carrier for Station {
    fn is_on_ipx() -> bool {
        true
    }

    fn new(config: &StationConfig, now: Instant) -> Self {
        let interface = Interface::new(config, now);
        // Claims are sent in the detected framing.
        let claims_at = interface.known_at().unwrap_or(now);
        // A restarted client must not be mistaken for its predecessor.
        let away = now.as_nanos() / 1_000_000 % SOCKETS_AWAY;
        let mut correlators = Correlators::default();
        let mut station = Self {
            own_name: OwnName::new(config.mac, config.name, claims_at, &mut correlators),
            name: config.name,
            profile: config.profile,
            correlators,
            ids: SessionIds::default(),
            is_listening: false,
            callers: Vec::new(),
            answerers: Vec::new(),
            last_socket: socket::FIRST_DYNAMIC + away as u16,
            last_connection: 0,
            now,
            common: Common::new(interface),
        };
        station.handle_timeout(now);
        station
    }

    fn server(name: &str) -> Result<Peer, BadPeer> {
        netbios::server_of(name, "name of a station")
    }

    fn segment(&self) -> Option<SegmentFacts> {
        Some(self.common.interface.facts())
    }

    fn readiness(&self) -> Readiness {
        self.own_name.readiness()
    }

    fn open(&mut self, now: Instant, to: Peer) -> SessionId {
        self.call(now, to)
    }

    fn listen(&mut self) {
        self.is_listening = true;
        let own = Advertised::windows(self.name, socket::SMB_SERVER);
        self.common.interface.advertise(own);
    }

    fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent> {
        self.now = now;
        if let Some(caller) = self.callers.iter_mut().find(|one| one.id == to) {
            return caller.send(now, message, &mut self.common);
        }
        let answerer = self.answerers.iter_mut().find(|one| one.id == to);
        answerer.ok_or(NotSent::NoSession)?.send(message, &mut self.common)
    }

    fn close(&mut self, _: Instant, session: SessionId) {
        if let Some(index) = self.callers.iter().position(|one| one.id == session) {
            let caller = &mut self.callers[index];
            if caller.server.is_none() || caller.close(&mut self.common) {
                self.end_caller(index, Why::Closed);
            }
        } else if let Some(index) = self.answerers.iter().position(|one| one.id == session) {
            self.answerers.remove(index);
            self.common.event(Event::Ended(session, Why::Closed));
        }
    }

    fn pause(&mut self, session: SessionId) {
        if let Some(caller) = self.callers.iter_mut().find(|one| one.id == session) {
            caller.pause();
        } else if let Some(one) = self.answerers.iter_mut().find(|one| one.id == session) {
            one.pause();
        }
    }

    fn resume(&mut self, session: SessionId) {
        if let Some(caller) = self.callers.iter_mut().find(|one| one.id == session) {
            caller.resume(self.now, &mut self.common);
        } else if let Some(one) = self.answerers.iter_mut().find(|one| one.id == session) {
            one.resume(&mut self.common);
        }
    }

    fn counts(&self) -> Vec<Count> {
        let sessions = self.common.counts.keyed().into_iter();
        sessions.chain(self.common.interface.counts.keyed()).collect()
    }

    fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
        self.now = now;
        let Some(packet) = self.common.interface.handle_frame(now, frame)? else { return Ok(()) };
        match packet.socket {
            socket::SMB_SERVER
                if may_answer_on_ipx(packet.from.address.socket, packet.is_to_all) =>
            {
                self.handle_request(now, &packet);
            }
            socket::SMB_SERVER => self.common.counts.discarded += 1,
            socket::SMB_NAMES => self.handle_names(now, &packet),
            _ if self.handle_answer(now, &packet) => {}
            _ => return Err(Stray::UnknownSocket),
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        self.common.interface.handle_timeout(now);
        let interface = &mut self.common.interface;
        let mut output = NameOutput { interface, own: self.name, asker: None };
        let mut outcomes = Vec::new();
        let sending = (&mut output, &mut self.correlators);
        let pace = QueryPace::of(&self.profile);
        self.own_name.handle_timeout(now, pace, sending, &mut outcomes);
        self.report(&outcomes);
        self.handle_caller_timeouts(now);
        for index in (0..self.answerers.len()).rev() {
            if self.answerers[index].is_forgotten(now) {
                let session = self.answerers.remove(index);
                let why = if session.is_leaving() { Why::ByPeer } else { Why::NoAnswer };
                self.common.event(Event::Ended(session.id, why));
            }
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let callers = self.callers.iter().filter_map(|caller| caller.deadline);
        let answerers = self.answerers.iter().map(|session| session.deadline);
        let others = [self.common.interface.poll_timeout(), self.own_name.poll_timeout()];
        callers.chain(answerers).chain(others.into_iter().flatten()).min()
    }

    fn poll_transmit(&mut self, _: Instant, into: &mut Vec<u8>) -> bool {
        self.common.interface.poll_transmit(into)
    }

    fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.common.poll_event(message)
    }
}
