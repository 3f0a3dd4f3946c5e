//! How sessions begin, and how a station handles name packets.

use lanlab_units::Instant;
use lanlab_wire::nbipx::{
    NO_CONNECTION, NameCommand, NamePacket, Opening, SessionHeader, control, stream,
};
use lanlab_wire::netbios_name::Name;

use super::names::NameOutput;
use super::session::Nbipx;
use super::station::Station;
use crate::carrier::{Event, NameEvent, Peer, SessionId, Why};
use crate::ipx::Packet;
use crate::netbios::NameCall;
use crate::sequenced::Phase;

impl Station {
    pub(super) fn call(&mut self, now: Instant, to: Peer) -> SessionId {
        let sessions = &mut self.sessions;
        let Peer::Name(called) = to else { return sessions.refuse(Why::AddressFamily) };
        if !sessions.has_room_to_call() {
            return sessions.refuse(Why::NoResources);
        }
        // Data of the other end begins with number zero.
        let (call, own) =
            (NameCall::new([called, sessions.name]), Nbipx::new(0, &sessions.profile));
        let session = sessions.new_session(now, call, own);
        let (id, index) = (session.id, sessions.push(session));
        sessions.all[index].ask(now, &mut sessions.common);
        id
    }

    pub(super) fn handle_name(&mut self, now: Instant, packet: &Packet<'_>) {
        let interface = &mut self.sessions.common.interface;
        let Ok(NamePacket { command, name, .. }) = NamePacket::parse(packet.data) else {
            interface.counts.unreadable_packets += 1;
            return;
        };
        let (from, mut outcomes) = (packet.from, Vec::new());
        let mut output = NameOutput { interface, asker: Some(from) };
        match command {
            NameCommand::Claim => {
                self.own_name.handle_claim(now, from.mac, (name, 0), &mut output, &mut outcomes);
            }
            NameCommand::InUse => {
                self.own_name.handle_objection(now, from.mac, (name, 0), &mut outcomes);
            }
            NameCommand::Find => {
                if self.own_name.is(name) {
                    output.answer(NameCommand::Recognized, name);
                }
            }
            NameCommand::Recognized => self.handle_recognized(now, packet, name),
            NameCommand::Deregister => {}
        }
        self.report(&outcomes);
    }

    fn handle_recognized(&mut self, now: Instant, packet: &Packet<'_>, name: Name) {
        for session in &mut self.sessions.all {
            if session.phase == Phase::Finding && session.call.called == name {
                session.begin_call(now, packet.from, 1, &mut self.sessions.common);
            }
        }
    }

    pub(super) fn handle_session(&mut self, now: Instant, packet: &Packet<'_>) {
        let Ok((header, data)) = SessionHeader::split(packet.data) else {
            self.sessions.common.interface.counts.unreadable_packets += 1;
            return;
        };
        let is_call = header.control & (control::CONNECT | control::SYSTEM) == control::CONNECT;
        if is_call && header.stream == stream::DATA && header.destination == NO_CONNECTION {
            self.handle_call(now, packet, &header, data);
            return;
        }
        let index = self.sessions.all.iter().position(|session| {
            let node = session.place.map(|place| place.address.node);
            session.local == header.destination
                && node == Some(packet.from.address.node)
                && (session.remote == header.source || session.phase == Phase::Calling)
        });
        let Some(index) = index else {
            self.sessions.common.counts.unknown_sessions += 1;
            return;
        };
        let session = &mut self.sessions.all[index];
        if let Some(place) = &mut session.place {
            place.follow(&packet.from);
        }
        let ended = session.handle_packet(now, (&header, data), &mut self.sessions.common);
        self.sessions.finish(index, ended);
    }

    fn handle_call(
        &mut self,
        now: Instant,
        packet: &Packet<'_>,
        header: &SessionHeader,
        data: &[u8],
    ) {
        let (from, sessions) = (packet.from, &mut self.sessions);
        let opening = Opening::parse(data).ok();
        let opening = opening.filter(|opening| {
            let is_called = self.own_name.is(Name(opening.destination));
            sessions.is_listening && is_called && header.sequence == 0
        });
        let Some(opening) = opening else {
            sessions.common.counts.discarded += 1;
            return;
        };
        let known = sessions.all.iter().position(|session| {
            let node = session.place.map(|place| place.address.node);
            !session.is_caller && node == Some(from.address.node) && session.remote == header.source
        });
        if known.is_some_and(|index| sessions.is_answered_again(now, index)) {
            return;
        }
        if sessions.make_room(now, from.mac).is_err() {
            sessions.common.counts.discarded += 1;
            return;
        }
        let names = [Name(opening.destination), Name(opening.source)];
        // The call had number zero.
        let own = Nbipx::new(1, &sessions.profile);
        let mut session = sessions.new_session(now, NameCall::new(names), own);
        if session.accept(now, (from, header, &opening), &mut sessions.common) {
            sessions.accept(session, from.mac, names.map(Peer::Name));
        } else {
            sessions.common.counts.discarded += 1;
        }
    }

    pub(super) fn report(&mut self, outcomes: &[NameEvent]) {
        for outcome in outcomes {
            self.sessions.common.counts.name_conflicts += u64::from(outcome.is_conflict());
            self.sessions.common.event(Event::Name(*outcome));
        }
    }
}
