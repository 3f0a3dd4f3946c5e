//! How client sessions begin and end, and how a station handles name packets.

use lanlab_units::Instant;
use lanlab_wire::ipx::{Address, socket};
use lanlab_wire::netbios_name::Name;
use lanlab_wire::nmpi::Command;
use lanlab_wire::smb1::header::Header;

use super::caller::Caller;
use super::names::{NameOutput, is_same_machine, read};
use super::station::Station;
use crate::carrier::{Event, NameEvent, Peer, SessionId, Why};
use crate::ipx::Packet;
use crate::netbios::{NameCall, QueryPace, Unanswered};

const MOST_CALLERS: usize = 254;

impl Station {
    pub(super) fn call(&mut self, now: Instant, to: Peer) -> SessionId {
        let id = self.ids.next();
        if self.callers.len() >= MOST_CALLERS {
            self.common.event(Event::Ended(id, Why::NoResources));
            return id;
        }
        let socket = self.free_socket();
        let called = match to {
            Peer::Name(name) => name,
            Peer::Ipx(_) => self.name,
            Peer::Nearest => {
                self.common.event(Event::Ended(id, Why::AddressFamily));
                return id;
            }
        };
        let mut session = Caller::new(id, socket, NameCall::new([called, self.name]));
        if let Peer::Ipx(address) = to {
            let address = Address { socket: socket::SMB_SERVER, ..address };
            let server = self.common.interface.neighbour(address);
            session.found(server, &mut self.common);
            self.callers.push(session);
        } else {
            session.call.correlator = self.correlators.next();
            self.callers.push(session);
            self.query(now, self.callers.len() - 1);
        }
        id
    }

    fn free_socket(&mut self) -> u16 {
        loop {
            self.last_socket = match self.last_socket {
                socket::LAST_DYNAMIC => socket::FIRST_DYNAMIC,
                last => last + 1,
            };
            let number = self.last_socket;
            if !self.callers.iter().any(|caller| caller.socket == number) {
                return number;
            }
        }
    }

    fn query(&mut self, now: Instant, index: usize) {
        let caller = &mut self.callers[index];
        let NameCall { called, correlator, .. } = caller.call;
        let is_again = caller.call.is_again();
        caller.deadline = Some(caller.call.sent(now, QueryPace::of(&self.profile)));
        self.names_of(None).query(called, correlator, is_again);
    }

    pub(super) fn names_of(&mut self, asker: Option<crate::ipx::Place>) -> NameOutput<'_> {
        NameOutput { interface: &mut self.common.interface, own: self.name, asker }
    }

    pub(super) fn handle_names(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some(header) = read(packet) else {
            self.common.interface.counts.unreadable_packets += 1;
            return;
        };
        let mut outcomes = Vec::new();
        let from = packet.from;
        match header.command {
            Command::Claim => {
                let claim = (header.name, header.message);
                let interface = &mut self.common.interface;
                let mut output = NameOutput { interface, own: self.name, asker: Some(from) };
                self.own_name.handle_claim(now, from.mac, claim, &mut output, &mut outcomes);
            }
            Command::Query => {
                let is_asked = self.is_listening
                    && is_same_machine(header.name, self.name)
                    && self.own_name.is(self.name);
                if is_asked {
                    let name = self.name;
                    self.names_of(Some(from)).found(from, header.kind, name, header.message);
                }
            }
            Command::Found => {
                let answered = (header.name, header.message);
                self.own_name.handle_objection(now, from.mac, answered, &mut outcomes);
                self.handle_found(packet, header.name, header.message);
            }
            _ => {}
        }
        self.report(&outcomes);
    }

    fn handle_found(&mut self, packet: &Packet<'_>, name: Name, message: u16) {
        let address = Address { socket: socket::SMB_SERVER, ..packet.from.address };
        let server = crate::ipx::Place { address, ..packet.from };
        let caller = self.callers.iter_mut().find(|caller| {
            caller.server.is_none()
                && caller.call.correlator == message
                && is_same_machine(caller.call.called, name)
        });
        if let Some(caller) = caller {
            caller.found(server, &mut self.common);
        }
    }

    /// Handle a packet for the socket of a session. False if there is no such session.
    pub(super) fn handle_answer(&mut self, now: Instant, packet: &Packet<'_>) -> bool {
        let Some(index) = self.callers.iter().position(|one| one.socket == packet.socket) else {
            return false;
        };
        let caller = &mut self.callers[index];
        let is_server = caller.server.as_mut().is_some_and(|server| server.follow(&packet.from));
        let Some(header) = Header::parse(packet.data).ok().filter(|_| is_server) else {
            self.common.counts.discarded += 1;
            return true;
        };
        let over = caller.handle_answer(now, &header, packet.data, &mut self.common);
        if let Some(why) = over {
            self.end_caller(index, why);
        }
        true
    }

    pub(super) fn end_caller(&mut self, index: usize, why: Why) {
        let id = self.callers.remove(index).id;
        self.common.event(Event::Ended(id, why));
    }

    pub(super) fn handle_caller_timeouts(&mut self, now: Instant) {
        let is_due = |caller: &Caller| caller.deadline.is_some_and(|at| at <= now);
        for index in (0..self.callers.len()).rev() {
            if !is_due(&self.callers[index]) {
                continue;
            }
            let why = if self.callers[index].server.is_some() {
                self.callers[index].handle_timeout(now, &mut self.common)
            } else {
                match self.callers[index].call.handle_timeout(QueryPace::of(&self.profile)) {
                    Unanswered::Again => {
                        self.query(now, index);
                        None
                    }
                    Unanswered::NameNotFound => Some(Why::NameNotFound),
                    Unanswered::NotListening => Some(Why::NotListening),
                }
            };
            if let Some(why) = why {
                self.end_caller(index, why);
            }
        }
    }

    pub(super) fn report(&mut self, outcomes: &[NameEvent]) {
        for outcome in outcomes {
            self.common.counts.name_conflicts += u64::from(outcome.is_conflict());
            self.common.event(Event::Name(*outcome));
        }
    }
}
