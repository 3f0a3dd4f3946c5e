//! The carrier: the interface for its driver and the program above.

mod answerer;
mod answering_bursts;
mod burst;
mod burst_states;
mod caller;
mod calling_bursts;
mod connections;
mod finding;
mod requests;

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{packet_type, socket};
use lanlab_wire::ncp::watchdog;
use lanlab_wire::netbios_name::Name;
use lanlab_wire::sap;

use crate::carrier::{
    BadPeer, Carrier, Count, Event, NameEvent, NotSent, Peer, Readiness, SegmentFacts, SessionId,
    SessionIds, StationConfig, Stray, Why,
};
use crate::ipx::{Advertised, Interface, SessionCounts};
use crate::netbios;
use crate::profile::netware::NetWare;
use crate::responders::{ECHO_SOCKET, may_answer_on_ipx, may_echo_on_ipx};
use answerer::Answerer;
use caller::Caller;

type Common = crate::ipx::Common<SessionCounts>;

/// Range above the first dynamic socket for a station's first one; even: a session uses two.
const SOCKETS_AWAY: u64 = 0x2000;
/// Marks internal networks: administrators number cables from one on.
const INTERNAL: u32 = 0x4000_0000;

#[derive(Debug)]
pub struct Station {
    name: Name,
    netware: NetWare,
    ids: SessionIds,
    is_listening: bool,
    is_ready: bool,
    callers: Vec<Caller>,
    answerers: Vec<Answerer>,
    last_socket: u16,
    last_connection: u16,
    internal_network: u32,
    announces_at: Option<Instant>,
    watchdog: WatchdogCounts,
    now: Instant,
    common: Common,
}

/// Counters of this carrier only.
#[derive(Debug, Clone, Copy, Default)]
struct WatchdogCounts {
    questions_sent: u64,
    questions_answered: u64,
}

/// The internal network number of a station, derived from its address in 31 bits (FNV-1a).
fn internal_network(mac: Mac) -> u32 {
    let hash = |hash: u32, octet: u8| (hash ^ u32::from(octet)).wrapping_mul(0x0100_0193);
    mac.0.into_iter().fold(0x811c_9dc5, hash) >> 1 | INTERNAL
}

impl Station {
    fn check_ready(&mut self, now: Instant) {
        if self.is_ready || self.common.interface.known_at().is_some() {
            return;
        }
        self.is_ready = true;
        self.common.event(Event::Name(NameEvent::Claimed(self.name)));
        if self.is_listening {
            self.announces_at = Some(now);
        }
    }

    fn announce(&mut self, now: Instant) {
        if self.announces_at.is_none_or(|at| at > now) {
            return;
        }
        self.announces_at = Some(now.plus_nanos(self.netware.announcement_interval_ns));
        self.common.interface.announce(false);
    }

    fn handle_watchdog(&mut self, packet: &crate::ipx::Packet<'_>) {
        let Ok(watchdog) = watchdog::Watchdog::parse(packet.data) else {
            self.common.interface.counts.unreadable_packets += 1;
            return;
        };
        if watchdog::Sign::from_wire(watchdog.sign) != Some(watchdog::Sign::Question) {
            return;
        }
        let caller = self.callers.iter().find(|one| one.socket + 1 == packet.socket);
        if caller.is_some_and(|one| one.is_asked(watchdog.connection, &packet.from)) {
            let mut data = Vec::new();
            let sign = watchdog::Sign::Yes.to_wire();
            watchdog::Watchdog { sign, ..watchdog }.emit(&mut data);
            self.watchdog.questions_answered += 1;
            let interface = &mut self.common.interface;
            interface.push(packet.from, packet_type::EXCHANGE, packet.socket, &data);
        }
    }
}

impl Carrier for Station {
    fn is_on_ipx() -> bool {
        true
    }

    fn new(config: &StationConfig, now: Instant) -> Self {
        let interface = Interface::new(config, now);
        // A restarted client must not be mistaken for its predecessor.
        let away = now.as_nanos() / 1_000_000 % (SOCKETS_AWAY / 2) * 2;
        let mut station = Self {
            name: config.name,
            netware: config.netware,
            ids: SessionIds::default(),
            is_listening: false,
            is_ready: false,
            callers: Vec::new(),
            answerers: Vec::new(),
            last_socket: socket::FIRST_DYNAMIC + away as u16,
            last_connection: 0,
            internal_network: internal_network(config.mac),
            announces_at: None,
            watchdog: WatchdogCounts::default(),
            now,
            common: Common::new(interface),
        };
        station.handle_timeout(now);
        station
    }

    fn server(name: &str) -> Result<Peer, BadPeer> {
        netbios::server_of(name, "name of a server")
    }

    fn nearest() -> Option<Peer> {
        Some(Peer::Nearest)
    }

    fn segment(&self) -> Option<SegmentFacts> {
        Some(self.common.interface.facts())
    }

    fn readiness(&self) -> Readiness {
        if self.is_ready { Readiness::Ready } else { Readiness::Waiting }
    }

    fn open(&mut self, now: Instant, to: Peer) -> SessionId {
        self.now = now;
        self.call(now, to)
    }

    fn listen(&mut self) {
        self.is_listening = true;
        if self.netware.has_internal_network {
            self.common.interface.have_internal(self.internal_network);
        }
        let (kind, name, socket) = (sap::FILE_SERVER, self.name, socket::NCP);
        self.common.interface.advertise(Advertised { kind, name, socket });
        if self.is_ready {
            self.announces_at = Some(self.now);
        }
    }

    fn leave(&mut self) {
        // Before the first announcement no client looks for it.
        if self.announces_at.is_some() {
            self.common.interface.announce(true);
        }
    }

    fn send(&mut self, now: Instant, to: SessionId, message: &[u8]) -> Result<(), NotSent> {
        self.now = now;
        if let Some(caller) = self.callers.iter_mut().find(|one| one.id == to) {
            return caller.send(now, message, &mut self.common);
        }
        let answerer = self.answerers.iter_mut().find(|one| one.id == to);
        answerer.ok_or(NotSent::NoSession)?.send(now, message, &mut self.common)
    }

    fn close(&mut self, now: Instant, session: SessionId) {
        self.now = now;
        if let Some(index) = self.callers.iter().position(|one| one.id == session) {
            if self.callers[index].close(now, &mut self.common) {
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
        let own = [
            ("watchdog_questions_sent", self.watchdog.questions_sent),
            ("watchdog_questions_answered", self.watchdog.questions_answered),
        ];
        let sessions = self.common.counts.keyed().into_iter().chain(own);
        sessions.chain(self.common.interface.counts.keyed()).collect()
    }

    fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
        self.now = now;
        let packet = self.common.interface.handle_frame(now, frame)?;
        while let Some(found) = self.common.interface.discovery.poll() {
            self.handle_found(now, &found);
        }
        let Some(packet) = packet else { return Ok(()) };
        match packet.socket {
            socket::NCP if may_answer_on_ipx(packet.from.address.socket, packet.is_to_all) => {
                self.handle_request(now, &packet);
            }
            socket::NCP => self.common.counts.discarded += 1,
            watchdog::SERVER_SOCKET if self.is_listening => self.handle_presence(now, &packet),
            ECHO_SOCKET
                if self.is_listening
                    && may_echo_on_ipx(packet.from.address.socket, packet.is_to_all) =>
            {
                let interface = &mut self.common.interface;
                let from = interface.server_address(ECHO_SOCKET);
                interface.push_from(from, packet.from, packet.kind, packet.data);
            }
            _ if self.handle_reply(now, &packet) => {}
            number if self.callers.iter().any(|one| one.socket + 1 == number) => {
                self.handle_watchdog(&packet);
            }
            _ => return Err(Stray::UnknownSocket),
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
        self.common.interface.handle_timeout(now);
        self.check_ready(now);
        self.announce(now);
        self.handle_caller_timeouts(now);
        self.handle_answerer_timeouts(now);
        for caller in &mut self.callers {
            caller.send_burst_due(now, &mut self.common);
        }
        for answerer in &mut self.answerers {
            answerer.send_burst_due(now, &mut self.common);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let callers = self.callers.iter().filter_map(|caller| caller.deadline);
        let answerers = self.answerers.iter().map(|session| session.deadline);
        let bursts = self.callers.iter().filter_map(Caller::burst_due);
        let bursts = bursts.chain(self.answerers.iter().filter_map(Answerer::burst_due));
        let others = [self.common.interface.poll_timeout(), self.announces_at];
        callers.chain(answerers).chain(bursts).chain(others.into_iter().flatten()).min()
    }

    fn poll_transmit(&mut self, _: Instant, into: &mut Vec<u8>) -> bool {
        self.common.interface.poll_transmit(into)
    }

    fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.common.poll_event(message)
    }
}
