//! How a server handles packets of clients.

use lanlab_units::Instant;
use lanlab_units::room::{Full, GRACE_NS, Places};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::{Address, packet_type};
use lanlab_wire::ncp::burst;
use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::envelope::{Envelope, NO_CONNECTION, kind, status};
use lanlab_wire::ncp::watchdog::{self, Sign, Watchdog};

use super::Station;
use super::answerer::{Answerer, push_reply};
use crate::carrier::{Event, Peer, Why};
use crate::ipx::{Packet, Place};
use crate::ncp::facts;

/// Limits on incoming sessions, in all and per station.
const PLACES: Places = Places { all: 254, of_one: 127 };

impl Station {
    pub(super) fn handle_request(&mut self, now: Instant, packet: &Packet<'_>) {
        if packet.data.starts_with(&kind::BURST.to_be_bytes()) {
            return self.handle_burst(now, packet);
        }
        let Ok((envelope, data)) = Envelope::parse(packet.data) else {
            self.common.interface.counts.unreadable_packets += 1;
            return;
        };
        if !self.is_listening {
            self.common.counts.discarded += 1;
            return;
        }
        match envelope.kind {
            kind::CREATE => self.create(now, packet.from, envelope),
            kind::REQUEST | kind::DESTROY => self.of_connection(now, packet.from, envelope, data),
            _ => self.common.counts.discarded += 1,
        }
    }

    fn create(&mut self, now: Instant, from: Place, envelope: Envelope) {
        let known = self.answerers.iter().position(|one| one.client.address == from.address);
        if let Some(index) = known {
            if self.answerers[index].is_first_again(now, envelope, &mut self.common) {
                return;
            }
            // A restarted client loses its earlier state.
            let id = self.answerers.remove(index).id;
            self.common.event(Event::Ended(id, Why::ByPeer));
        }
        let reply = Envelope { kind: kind::REPLY, ..envelope };
        if self.make_room(now, from.mac).is_err() {
            push_reply(from, reply, (completion::OUT_OF_MEMORY, 0), &mut self.common);
            return;
        }
        let id = self.ids.next();
        let connection = self.free_connection();
        let called = self.common.interface.server_address(lanlab_wire::ipx::socket::NCP);
        self.common.event(Event::Accepted {
            session: id,
            facts: facts(from.framing),
            station: from.mac,
            called: Peer::Ipx(called),
            calling: Peer::Ipx(from.address),
        });
        let deadline = now.plus_nanos(self.netware.watchdog_after_ns);
        let asked = (envelope, now, deadline, self.netware.has_bursts);
        let session = Answerer::begin(id, from, connection, asked, &mut self.common);
        self.answerers.push(session);
    }

    fn of_connection(&mut self, now: Instant, from: Place, envelope: Envelope, data: &[u8]) {
        let found = self.answerers.iter().position(|session| {
            session.connection == envelope.connection && session.client.address == from.address
        });
        let reply = Envelope { kind: kind::REPLY, ..envelope };
        let Some(index) = found else {
            self.common.counts.unknown_connections += 1;
            // A repeated disconnect succeeds although its session is gone.
            let is_end = envelope.kind == kind::DESTROY;
            let bad = (completion::FAILED, status::BAD_CONNECTION);
            let codes = if is_end { (completion::OK, 0) } else { bad };
            push_reply(from, reply, codes, &mut self.common);
            return;
        };
        if envelope.kind == kind::DESTROY {
            push_reply(from, reply, (completion::OK, 0), &mut self.common);
            let id = self.answerers.remove(index).id;
            self.common.event(Event::Ended(id, Why::ByPeer));
            return;
        }
        self.is_there(now, index, from);
        self.answerers[index].handle_request(now, (envelope, data), &mut self.common);
    }

    fn handle_burst(&mut self, now: Instant, packet: &Packet<'_>) {
        let Ok(burst) = burst::Packet::parse(packet.data) else {
            self.common.interface.counts.unreadable_packets += 1;
            return;
        };
        let of_session = |session: &Answerer| {
            session.has_burst(&burst) && session.client.address == packet.from.address
        };
        match self.answerers.iter().position(of_session) {
            Some(index) => {
                self.is_there(now, index, packet.from);
                self.answerers[index].handle_burst(now, &burst, &mut self.common);
            }
            None => self.common.counts.unknown_connections += 1,
        }
    }

    fn is_there(&mut self, now: Instant, index: usize, from: Place) {
        let session = &mut self.answerers[index];
        // The client may have moved to another router or adapter.
        session.client = from;
        (session.questions, session.heard) = (0, now);
        session.deadline = now.plus_nanos(self.netware.watchdog_after_ns);
    }

    fn free_connection(&mut self) -> u16 {
        loop {
            // Watchdog packets have one byte for the connection number.
            self.last_connection = self.last_connection % PLACES.all as u16 + 1;
            let number = self.last_connection;
            let is_taken = self.answerers.iter().any(|session| session.connection == number);
            if number != NO_CONNECTION && !is_taken {
                return number;
            }
        }
    }

    /// Make room for a session of a station: drop a client that has done little, or fails to answer the watchdog.
    fn make_room(&mut self, now: Instant, station: Mac) -> Result<(), Full> {
        let interval_ns = self.netware.watchdog_interval_ns;
        let standing = |session: &Answerer| {
            let asked_at =
                Instant::from_nanos(session.deadline.as_nanos().saturating_sub(interval_ns));
            session.standing(now, asked_at)
        };
        let clients = self.answerers.iter().map(standing).enumerate();
        let found = PLACES.room(&station, clients);
        if found.is_err() {
            // Probe silent clients: their answers arrive before the new client's next attempt.
            for session in self.answerers.iter_mut().filter(|one| one.questions == 0) {
                let is_silent = now.nanos_since(session.heard) >= GRACE_NS;
                session.deadline = if is_silent { now } else { session.deadline };
            }
        }
        let Some(index) = found? else { return Ok(()) };
        let id = self.answerers.remove(index).id;
        self.common.counts.crowded_out += 1;
        self.common.event(Event::Ended(id, Why::NoResources));
        Ok(())
    }

    pub(super) fn handle_presence(&mut self, now: Instant, packet: &Packet<'_>) {
        let Ok(watchdog) = Watchdog::parse(packet.data) else {
            self.common.interface.counts.unreadable_packets += 1;
            return;
        };
        let said = Sign::from_wire(watchdog.sign) == Some(Sign::Yes);
        let known = self.answerers.iter_mut().find(|session| {
            let Address { node, socket, .. } = session.client.address;
            said && session.connection as u8 == watchdog.connection
                && (node, socket.wrapping_add(1))
                    == (packet.from.address.node, packet.from.address.socket)
        });
        match known {
            Some(session) => {
                (session.questions, session.heard) = (0, now);
                session.deadline = now.plus_nanos(self.netware.watchdog_after_ns);
            }
            None => self.common.counts.discarded += 1,
        }
    }

    /// Probe silent clients, and end sessions of those that do not answer.
    pub(super) fn handle_answerer_timeouts(&mut self, now: Instant) {
        for index in (0..self.answerers.len()).rev() {
            if self.answerers[index].deadline > now {
                continue;
            }
            if self.answerers[index].questions >= self.netware.watchdog_questions {
                let id = self.answerers.remove(index).id;
                self.common.event(Event::Ended(id, Why::NoAnswer));
                continue;
            }
            let session = &mut self.answerers[index];
            session.questions += 1;
            session.deadline = now.plus_nanos(self.netware.watchdog_interval_ns);
            let mut to = session.client;
            to.address.socket = to.address.socket.wrapping_add(1);
            let (connection, sign) = (session.connection as u8, Sign::Question.to_wire());
            let mut data = Vec::new();
            Watchdog { connection, sign }.emit(&mut data);
            self.watchdog.questions_sent += 1;
            let interface = &mut self.common.interface;
            let from = interface.server_address(watchdog::SERVER_SOCKET);
            interface.push_from(from, to, packet_type::EXCHANGE, &data);
        }
    }
}
