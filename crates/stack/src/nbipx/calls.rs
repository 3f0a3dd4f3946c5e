//! How sessions begin and end, and how a station handles name packets.

use lanlab_units::Instant;
use lanlab_units::room::{Full, Places, Standing};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbipx::{
    NO_CONNECTION, NameCommand, NamePacket, Opening, SessionHeader, control, name_flag, stream,
};
use lanlab_wire::netbios_name::Name;

use super::names::NameOutput;
use super::session::{Phase, Session};
use super::station::Station;
use crate::carrier::{Event, Peer, SessionId, Why};
use crate::ipx::Packet;
use crate::netbios::{FACTS, NameCall, NameClaim, Outcome, QueryPace, Unanswered};

/// Limits on incoming sessions, in all and per station, and on outgoing ones.
const PLACES: Places = Places { all: 254, of_one: 127 };
const MOST_CALLS: usize = 254;
/// A repeated call within this time is a duplicate; later it means that the station restarted, ns.
const LATE_COPY_NS: u64 = 30_000_000_000;

impl Station {
    pub(super) fn call(&mut self, now: Instant, to: Peer) -> SessionId {
        let Peer::Name(called) = to else {
            let id = self.ids.next();
            self.common.event(Event::Ended(id, Why::AddressFamily));
            return id;
        };
        if self.sessions.iter().filter(|session| session.is_caller).count() >= MOST_CALLS {
            // A finished session makes room.
            let is_over = |one: &Session| one.is_caller && one.phase == Phase::Over;
            if let Some(index) = self.sessions.iter().position(is_over) {
                self.sessions.remove(index);
                return self.call(now, to);
            }
            let id = self.ids.next();
            self.common.event(Event::Ended(id, Why::NoResources));
            return id;
        }
        let id = self.ids.next();
        let call = NameCall::new([called, self.name]);
        let local = self.free_connection();
        // Data of the other end begins with number zero.
        self.sessions.push(Session::new(id, now, &self.profile, (call, local, 0)));
        self.query(now, self.sessions.len() - 1);
        id
    }

    fn query(&mut self, now: Instant, index: usize) {
        let session = &mut self.sessions[index];
        let mut output = NameOutput { interface: &mut self.common.interface, asker: None };
        output.find(session.call.called, session.call.is_again());
        session.query_at = Some(session.call.sent(now, QueryPace::of(&self.profile)));
    }

    fn free_connection(&mut self) -> u16 {
        loop {
            self.last_connection = self.last_connection.wrapping_add(1);
            let number = self.last_connection;
            let is_taken = self.sessions.iter().any(|session| session.local == number);
            if !matches!(number, 0 | NO_CONNECTION) && !is_taken {
                return number;
            }
        }
    }

    pub(super) fn handle_name(&mut self, now: Instant, packet: &Packet<'_>) {
        let Ok(NamePacket { flags, command, name }) = NamePacket::parse(packet.data) else {
            self.common.interface.counts.unreadable_packets += 1;
            return;
        };
        let (from, mut outcomes) = (packet.from, Vec::new());
        let interface = &mut self.common.interface;
        let mut output = NameOutput { interface, asker: Some(from) };
        match command {
            NameCommand::Claim => {
                let is_group = flags & name_flag::GROUP != 0;
                let claim = NameClaim { name, is_group, correlator: 0 };
                self.names.handle_claim(now, from.mac, claim, &mut output, &mut outcomes);
            }
            NameCommand::InUse => {
                self.names.handle_objection(now, from.mac, (name, 0), &mut outcomes);
            }
            NameCommand::Find => {
                if let Some(is_group) = self.names.registered(name) {
                    output.answer(NameCommand::Recognized, name, is_group);
                }
            }
            NameCommand::Recognized => self.handle_recognized(now, packet, name),
            NameCommand::Deregister => {}
        }
        self.report(&outcomes);
    }

    fn handle_recognized(&mut self, now: Instant, packet: &Packet<'_>, name: Name) {
        for session in &mut self.sessions {
            if session.phase == Phase::Finding && session.call.called == name {
                session.call_station(now, packet.from, &mut self.common);
            }
        }
    }

    pub(super) fn handle_session(&mut self, now: Instant, packet: &Packet<'_>) {
        let Ok((header, data)) = SessionHeader::split(packet.data) else {
            self.common.interface.counts.unreadable_packets += 1;
            return;
        };
        let is_call = header.control & (control::CONNECT | control::SYSTEM) == control::CONNECT;
        if is_call && header.stream == stream::DATA && header.destination == NO_CONNECTION {
            self.handle_call(now, packet, &header, data);
            return;
        }
        let index = self.sessions.iter().position(|session| {
            let node = session.place.map(|place| place.address.node);
            session.local == header.destination
                && node == Some(packet.from.address.node)
                && (session.remote == header.source || session.phase == Phase::Calling)
        });
        let Some(index) = index else {
            self.common.counts.unknown_sessions += 1;
            return;
        };
        let session = &mut self.sessions[index];
        if let Some(place) = &mut session.place {
            place.follow(&packet.from);
        }
        let why = session.handle_packet(now, (&header, data), &mut self.common);
        self.finish(index, why);
    }

    /// Report that a session has ended, and drop it unless it still has to answer the other end.
    fn finish(&mut self, index: usize, why: Option<Why>) {
        let Some(why) = why else { return };
        let session = &self.sessions[index];
        let (id, phase) = (session.id, session.phase);
        if phase != Phase::Over {
            self.sessions.remove(index);
        }
        if phase != Phase::Ending {
            self.common.event(Event::Ended(id, why));
        }
    }

    fn handle_call(
        &mut self,
        now: Instant,
        packet: &Packet<'_>,
        header: &SessionHeader,
        data: &[u8],
    ) {
        let from = packet.from;
        let opening = Opening::parse(data).ok();
        let opening = opening.filter(|opening| {
            // A session has one station at each end, so it cannot be called by group name.
            let called = self.names.registered(Name(opening.destination));
            self.is_listening && called == Some(false) && header.sequence == 0
        });
        let Some(opening) = opening else {
            self.common.counts.discarded += 1;
            return;
        };
        let known = self.sessions.iter().position(|session| {
            let node = session.place.map(|place| place.address.node);
            !session.is_caller && node == Some(from.address.node) && session.remote == header.source
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
            let session = self.sessions.remove(index);
            if session.phase == Phase::Open {
                self.common.event(Event::Ended(session.id, Why::ByPeer));
            }
        }
        if self.make_room(now, from.mac).is_err() {
            self.common.counts.discarded += 1;
            return;
        }
        let (called, calling) = (Name(opening.destination), Name(opening.source));
        let (id, local) = (self.ids.next(), self.free_connection());
        // The call had number zero.
        let call = NameCall::new([called, calling]);
        let mut session = Session::new(id, now, &self.profile, (call, local, 1));
        session.place = Some(from);
        if !session.accept(now, (header, &opening), &mut self.common) {
            self.common.counts.discarded += 1;
            return;
        }
        self.sessions.push(session);
        self.common.event(Event::Accepted {
            session: id,
            facts: FACTS,
            station: from.mac,
            called: Peer::Name(called),
            calling: Peer::Name(calling),
        });
    }

    /// Make room for a session of a station: drop one that has ended or was only called.
    fn make_room(&mut self, now: Instant, station: Mac) -> Result<(), Full> {
        let called = self.sessions.iter().enumerate().filter(|(_, session)| !session.is_caller);
        let mac = |one: &Session| one.place.map(|place| place.mac);
        let called = called.map(|(index, one)| {
            let went_on = if one.phase == Phase::Over { 0 } else { one.went_on };
            (index, Standing::of(mac(one), went_on, now.nanos_since(one.heard)))
        });
        let Some(index) = PLACES.room(&Some(station), called)? else { return Ok(()) };
        let session = self.sessions.remove(index);
        if session.phase == Phase::Open {
            self.common.counts.crowded_out += 1;
            self.common.event(Event::Ended(session.id, Why::NoResources));
        }
        Ok(())
    }

    pub(super) fn handle_session_timeouts(&mut self, now: Instant) {
        for index in (0..self.sessions.len()).rev() {
            let session = &mut self.sessions[index];
            if session.deadline().is_none_or(|at| at > now) {
                continue;
            }
            let why = if session.phase == Phase::Finding {
                match session.call.handle_timeout(QueryPace::of(&self.profile)) {
                    Unanswered::Again => {
                        self.query(now, index);
                        None
                    }
                    Unanswered::NameNotFound | Unanswered::NotListening => Some(Why::NameNotFound),
                }
            } else {
                session.handle_timeout(now, &mut self.common)
            };
            if why.is_some() && self.sessions[index].phase == Phase::Over {
                self.sessions.remove(index);
            } else {
                self.finish(index, why);
            }
        }
    }

    pub(super) fn report(&mut self, outcomes: &[Outcome]) {
        for outcome in outcomes {
            self.common.counts.name_conflicts += u64::from(outcome.is_conflict());
            self.common.event((*outcome).into());
        }
    }
}
