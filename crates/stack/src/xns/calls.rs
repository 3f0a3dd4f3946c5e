//! How sessions begin: name queries and calls.

use lanlab_units::Instant;
use lanlab_units::room::{Full, Places, Standing};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::socket::{FIRST_DYNAMIC, LAST_DYNAMIC};
use lanlab_wire::xns::error_packet::number;
use lanlab_wire::xns::spp::{Header, NO_CONNECTION, NO_CONNECTION_OF_SPX};
use lanlab_wire::xns::{packet_type, pep, socket};

use super::interface::{Interface, Packet};
use super::session::{Outcome, Phase, Session};
use super::station::Station;
use crate::carrier::{Event, Peer, SessionId, Why};
use crate::netbios::{FACTS, NameCall, QueryPace, Unanswered};
use crate::responders::may_answer_on_xns;

/// Maximum outgoing sessions, and maximum ended sessions that still answer.
const MOST_CALLS: usize = 254;
const MOST_OVER: usize = 254;
const UNKNOWN: [u16; 2] = [NO_CONNECTION, NO_CONNECTION_OF_SPX];
/// A repeated call within this time is a duplicate; later it means that the station restarted, ns.
const LATE_COPY_NS: u64 = 30_000_000_000;

impl Station {
    pub(super) fn call(&mut self, now: Instant, to: Peer) -> SessionId {
        let id = self.ids.next();
        let callers = self.sessions.iter().filter(|one| one.is_caller && one.phase.is_reported());
        if callers.count() >= MOST_CALLS {
            self.common.event(Event::Ended(id, Why::NoResources));
            return id;
        }
        let called = match to {
            Peer::Name(name) => name,
            // A call by address needs no name query.
            Peer::Ipx(_) => self.name,
            Peer::Nearest => {
                self.common.event(Event::Ended(id, Why::AddressFamily));
                return id;
            }
        };
        let call = NameCall::new([called, self.name]);
        let (socket, local) = (self.free_socket(), self.free_connection());
        self.push_session(Session::new(id, now, &self.profile, (call, socket, local)));
        if let Peer::Ipx(address) = to {
            let place = (Interface::place(address), false);
            if let Some(session) = self.sessions.last_mut() {
                session.call_station(now, place, &mut self.common);
            }
        } else {
            self.last_question = self.last_question.wrapping_add(1);
            let index = self.sessions.len() - 1;
            self.sessions[index].query.0 = self.last_question;
            self.ask(now, index);
        }
        id
    }

    fn push_session(&mut self, session: Session) {
        let is_over = |one: &Session| !one.phase.is_reported();
        if self.sessions.iter().filter(|one| is_over(one)).count() >= MOST_OVER
            && let Some(index) = self.sessions.iter().position(is_over)
        {
            self.sessions.remove(index);
        }
        self.sessions.push(session);
    }

    fn ask(&mut self, now: Instant, index: usize) {
        let session = &mut self.sessions[index];
        session.query_at = Some(session.call.sent(now, QueryPace::of(&self.profile)));
        let (id, attempt) = session.query;
        session.query.1 += 1;
        let mut data = Vec::new();
        pep::Header { id, client: 0 }.emit(&mut data);
        data.extend_from_slice(&session.call.called.0);
        let interface = &mut self.common.interface;
        let mut to = interface.everybody(socket::SMB);
        to.framing = interface.framing_of_attempt(attempt);
        interface.push(to, packet_type::EXCHANGE, session.socket, &data);
    }

    fn free_socket(&mut self) -> u16 {
        loop {
            let is_last = self.last_socket >= LAST_DYNAMIC;
            self.last_socket = if is_last { FIRST_DYNAMIC } else { self.last_socket + 1 };
            if self.sessions.iter().all(|session| session.socket != self.last_socket) {
                return self.last_socket;
            }
        }
    }

    fn free_connection(&mut self) -> u16 {
        loop {
            self.last_connection = self.last_connection.wrapping_add(1);
            let number = self.last_connection;
            let is_taken = self.sessions.iter().any(|session| session.local == number);
            if !UNKNOWN.contains(&number) && !is_taken {
                return number;
            }
        }
    }

    pub(super) fn handle_exchange(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some(header) = pep::Header::parse(packet.data).ok() else {
            self.common.interface.counts.like_ipx.unreadable_packets += 1;
            return;
        };
        let name = &packet.data[pep::HEADER_LEN..];
        if packet.socket() == socket::SMB {
            let is_asked = self.is_listening && name == self.name.0;
            if is_asked && may_answer_on_xns(packet.from.address.socket) {
                let (to, kind) = (packet.from, packet_type::EXCHANGE);
                self.common.interface.push(to, kind, socket::SMB, packet.data);
            }
            return;
        }
        let asker = self.sessions.iter_mut().find(|session| {
            let is_asked = session.phase == Phase::Finding && session.socket == packet.socket();
            is_asked && session.query.0 == header.id && session.call.called.0 == *name
        });
        match asker {
            Some(session) => {
                session.call_station(now, (packet.from, true), &mut self.common);
            }
            // A duplicate that arrives after the session has moved on.
            None => self.common.counts.discarded += 1,
        }
    }

    pub(super) fn has_socket(&self, socket: u16) -> bool {
        let is_servers = socket == socket::SMB && self.is_listening;
        is_servers || self.sessions.iter().any(|session| session.socket == socket)
    }

    pub(super) fn handle_sequenced(&mut self, now: Instant, packet: &Packet<'_>) {
        let Ok((header, data)) = Header::split(packet.data) else {
            self.common.interface.counts.like_ipx.unreadable_packets += 1;
            return;
        };
        if let Some(index) = self.sessions.iter().position(|one| one.is_of(packet, &header)) {
            self.handle_packet(now, index, (packet, &header, data));
        } else if UNKNOWN.contains(&header.destination)
            && packet.socket() == socket::SMB
            && self.is_listening
        {
            self.handle_call(now, packet, &header, data);
        } else {
            self.common.counts.unknown_sessions += 1;
            // Report a missing connection as a missing socket.
            self.common.interface.push_error(packet, number::NO_SOCKET);
        }
    }

    fn handle_packet(&mut self, now: Instant, index: usize, packet: (&Packet<'_>, &Header, &[u8])) {
        let outcome = self.sessions[index].handle_packet(now, packet, &mut self.common);
        self.finish(index, outcome);
    }

    /// Drop an ended session, and report its end unless the program never saw it.
    pub(super) fn finish(&mut self, index: usize, outcome: Outcome) {
        let Outcome::Over(why) = outcome else { return };
        let session = self.sessions.remove(index);
        if session.phase.is_reported() {
            self.common.event(Event::Ended(session.id, why));
        }
    }

    fn handle_call(&mut self, now: Instant, packet: &Packet<'_>, header: &Header, data: &[u8]) {
        let from = packet.from;
        // A continuing connection has its number; a new one starts at zero.
        if header.source == NO_CONNECTION || header.sequence != 0 {
            self.common.counts.discarded += 1;
            return;
        }
        let known = self.sessions.iter().position(|session| {
            let is_from = session.place.is_some_and(|place| place.is_end(&from));
            !session.is_caller && is_from && session.remote == header.source
        });
        if let Some(index) = known {
            let session = &mut self.sessions[index];
            let may_be_copy =
                session.went_on == 0 || now.nanos_since(session.called_at) < LATE_COPY_NS;
            if may_be_copy {
                if session.phase == Phase::Open {
                    self.common.counts.answered_again += 1;
                    session.answer_call(&mut self.common);
                }
                return;
            }
            // A restarted station loses its earlier state.
            self.finish(index, Outcome::Over(Why::ByPeer));
        }
        if self.make_room(now, from.mac).is_err() {
            self.common.counts.refused += 1;
            self.common.interface.push_error(packet, number::NO_RESOURCES);
            return;
        }
        let call = NameCall::new([self.name; 2]);
        let has_own = self.profile.xns.has_session_sockets.value;
        let socket = if has_own { self.free_socket() } else { socket::SMB };
        let (id, local) = (self.ids.next(), self.free_connection());
        let mut session = Session::new(id, now, &self.profile, (call, socket, local));
        session.accept(now, (from, header), &mut self.common);
        self.push_session(session);
        self.common.event(Event::Accepted {
            session: id,
            facts: FACTS,
            station: from.mac,
            called: Peer::Name(self.name),
            calling: Peer::Ipx(from.address),
        });
        if header.is_numbered() {
            // A call may carry data.
            self.handle_packet(now, self.sessions.len() - 1, (packet, header, data));
        }
    }

    /// Make room for a session of a station: drop one that was only called.
    fn make_room(&mut self, now: Instant, station: Mac) -> Result<(), Full> {
        let all = usize::from(self.profile.xns.sessions.value);
        let is_called = |one: &Session| !one.is_caller && one.phase.is_reported();
        let called = self.sessions.iter().enumerate().filter(|(_, session)| is_called(session));
        let mac = |one: &Session| one.place.map(|place| place.mac);
        let called = called.map(|(index, one)| {
            (index, Standing::of(mac(one), one.went_on, now.nanos_since(one.heard)))
        });
        let places = Places { all, of_one: all };
        let Some(index) = places.room(&Some(station), called)? else { return Ok(()) };
        self.common.counts.crowded_out += 1;
        self.finish(index, Outcome::Over(Why::NoResources));
        Ok(())
    }

    pub(super) fn handle_session_timeouts(&mut self, now: Instant) {
        for index in (0..self.sessions.len()).rev() {
            let session = &mut self.sessions[index];
            if session.deadline().is_none_or(|at| at > now) {
                continue;
            }
            let outcome = if session.phase == Phase::Finding {
                match session.call.handle_timeout(QueryPace::of(&self.profile)) {
                    Unanswered::Again => {
                        self.ask(now, index);
                        Outcome::GoesOn
                    }
                    Unanswered::NameNotFound | Unanswered::NotListening => {
                        Outcome::Over(Why::NameNotFound)
                    }
                }
            } else {
                session.handle_timeout(now, &mut self.common)
            };
            self.finish(index, outcome);
        }
    }
}
