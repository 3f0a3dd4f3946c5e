//! How sessions begin: name queries and calls.

use lanlab_units::Instant;
use lanlab_wire::ipx::socket::{FIRST_DYNAMIC, LAST_DYNAMIC};
use lanlab_wire::xns::error_packet::number;
use lanlab_wire::xns::spp::{Header, NO_CONNECTION, NO_CONNECTION_OF_SPX};
use lanlab_wire::xns::{packet_type, pep, socket};

use super::interface::{Interface, Packet};
use super::session::Spp;
use super::station::Station;
use crate::carrier::{Peer, SessionId, Why};
use crate::netbios::NameCall;
use crate::responders::may_answer_on_xns;
use crate::sequenced::{Phase, Sessions};

const UNKNOWN: [u16; 2] = [NO_CONNECTION, NO_CONNECTION_OF_SPX];

impl Station {
    pub(super) fn call(&mut self, now: Instant, to: Peer) -> SessionId {
        if !self.sessions.has_room_to_call() {
            return self.sessions.refuse(Why::NoResources);
        }
        let called = match to {
            Peer::Name(name) => name,
            // A call by address needs no name query.
            Peer::Ipx(_) => self.sessions.name,
            Peer::Nearest => return self.sessions.refuse(Why::AddressFamily),
        };
        let call = NameCall::new([called, self.sessions.name]);
        let mut own = Spp::new(self.free_socket(), &self.sessions.profile);
        if !matches!(to, Peer::Ipx(_)) {
            self.last_question = self.last_question.wrapping_add(1);
            own.question = self.last_question;
        }
        let session = self.sessions.new_session(now, call, own);
        let (id, index) = (session.id, self.sessions.push(session));
        let (session, common) = (&mut self.sessions.all[index], &mut self.sessions.common);
        match to {
            Peer::Ipx(address) => {
                session.call_station(now, (Interface::place(address), false), common);
            }
            _ => session.ask(now, common),
        }
        id
    }

    fn free_socket(&mut self) -> u16 {
        loop {
            let is_last = self.last_socket >= LAST_DYNAMIC;
            self.last_socket = if is_last { FIRST_DYNAMIC } else { self.last_socket + 1 };
            if self.sessions.all.iter().all(|session| session.own.socket != self.last_socket) {
                return self.last_socket;
            }
        }
    }

    pub(super) fn handle_exchange(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some(header) = pep::Header::parse(packet.data).ok() else {
            self.sessions.common.interface.counts.like_ipx.unreadable_packets += 1;
            return;
        };
        let sessions = &mut self.sessions;
        let name = &packet.data[pep::HEADER_LEN..];
        if packet.socket() == socket::SMB {
            let is_asked = sessions.is_listening && name == sessions.name.0;
            if is_asked && may_answer_on_xns(packet.from.address.socket) {
                let (to, kind) = (packet.from, packet_type::EXCHANGE);
                sessions.common.interface.push(to, kind, socket::SMB, packet.data);
            }
            return;
        }
        let asker = sessions.all.iter_mut().find(|session| {
            let is_asked = session.phase == Phase::Finding && session.own.socket == packet.socket();
            is_asked && session.own.question == header.id && session.call.called.0 == *name
        });
        match asker {
            Some(session) => {
                session.call_station(now, (packet.from, true), &mut sessions.common);
            }
            // A duplicate that arrives after the session has moved on.
            None => sessions.common.counts.discarded += 1,
        }
    }

    pub(super) fn has_socket(&self, socket: u16) -> bool {
        let is_servers = socket == socket::SMB && self.sessions.is_listening;
        is_servers || self.sessions.all.iter().any(|session| session.own.socket == socket)
    }

    pub(super) fn handle_sequenced(&mut self, now: Instant, packet: &Packet<'_>) {
        let Sessions { all, common, is_listening, .. } = &mut self.sessions;
        let Ok((header, data)) = Header::split(packet.data) else {
            common.interface.counts.like_ipx.unreadable_packets += 1;
            return;
        };
        if let Some(session) = all.iter_mut().find(|one| one.is_of(packet, &header)) {
            session.handle_packet(now, (packet, &header, data), common);
        } else if UNKNOWN.contains(&header.destination)
            && packet.socket() == socket::SMB
            && *is_listening
        {
            self.handle_call(now, packet, &header, data);
        } else {
            common.counts.unknown_sessions += 1;
            // Report a missing connection as a missing socket.
            common.interface.push_error(packet, number::NO_SOCKET);
        }
    }

    fn handle_call(&mut self, now: Instant, packet: &Packet<'_>, header: &Header, data: &[u8]) {
        let (from, sessions) = (packet.from, &mut self.sessions);
        // A continuing connection has its number; a new one starts at zero.
        if header.source == NO_CONNECTION || header.sequence != 0 {
            sessions.common.counts.discarded += 1;
            return;
        }
        let known = sessions.all.iter().position(|session| {
            let is_from = session.place.is_some_and(|place| place.is_end(&from));
            !session.is_caller && is_from && session.remote == header.source
        });
        if known.is_some_and(|index| sessions.is_answered_again(now, index)) {
            return;
        }
        if sessions.make_room(now, from.mac).is_err() {
            sessions.common.counts.refused += 1;
            sessions.common.interface.push_error(packet, number::NO_RESOURCES);
            return;
        }
        let has_own = sessions.profile.xns.has_session_sockets;
        let socket = if has_own { self.free_socket() } else { socket::SMB };
        let sessions = &mut self.sessions;
        let (call, own) = (NameCall::new([sessions.name; 2]), Spp::new(socket, &sessions.profile));
        let mut session = sessions.new_session(now, call, own);
        session.accept(now, (from, header), &mut sessions.common);
        let ends = [Peer::Name(sessions.name), Peer::Ipx(from.address)];
        let index = sessions.accept(session, from.mac, ends);
        if header.is_numbered() {
            // A call may carry data.
            let packet = (packet, header, data);
            sessions.all[index].handle_packet(now, packet, &mut sessions.common);
        }
    }
}
