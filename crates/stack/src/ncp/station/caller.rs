//! A session opened by this station: one request at a time, resent until answered.

use lanlab_units::Instant;
use lanlab_wire::ipx::{Address, packet_type};
use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::envelope::{Envelope, NO_CONNECTION, Reply, kind, status};
use lanlab_wire::ncp::function::LOG_IN_KEYED;
use lanlab_wire::netbios_name::Name;

use super::Common;
use super::burst_states::Calling;
use crate::carrier::{Event, NotSent, Peer, SessionId, Why};
use crate::ipx::{Exchange, Place};
use crate::ncp::{BURST, facts};

const MOST_GOODBYES: u32 = 3;
const TASK: u8 = 1;
/// Shortest wait for a request to the bindery, ns. `mars_nwe` 0.99pl23 needs 180 ms for a login, executes a repeated
/// request again, and so loses the login.
const BINDERY_WAIT_NS: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Looking,
    Routing,
    Creating,
    Open,
    Ending,
}

#[derive(Debug)]
pub(super) struct Caller {
    pub(super) id: SessionId,
    pub(super) socket: u16,
    pub(super) stage: Stage,
    /// Name of the server to find; `None`: the nearest one.
    pub(super) name: Option<Name>,
    pub(super) wanted: Option<Address>,
    pub(super) server: Option<Place>,
    pub(super) searches: u32,
    pub(super) deadline: Option<Instant>,
    most_tries: u32,
    pub(super) connection: u16,
    sequence: u8,
    pub(super) exchange: Exchange<()>,
    pub(super) bursts: Calling,
}

impl Caller {
    pub(super) fn new(id: SessionId, socket: u16, to: Peer, most_tries: u32) -> Self {
        let name = match to {
            Peer::Name(name) => Some(name),
            Peer::Ipx(_) | Peer::Nearest => None,
        };
        Self {
            id,
            socket,
            stage: Stage::Looking,
            name,
            wanted: None,
            server: None,
            searches: 0,
            deadline: None,
            most_tries,
            connection: NO_CONNECTION,
            sequence: 0,
            exchange: Exchange::default(),
            bursts: Calling::default(),
        }
    }

    pub(super) const fn goes_to(&mut self, address: Address) {
        (self.wanted, self.stage, self.searches) = (Some(address), Stage::Routing, 0);
    }

    pub(super) const fn is_searching(&self) -> bool {
        matches!(self.stage, Stage::Looking | Stage::Routing)
    }

    pub(super) fn is_asked(&self, connection: u8, from: &Place) -> bool {
        let is_server = self.server.is_some_and(|server| server.address.node == from.address.node);
        is_server && self.connection as u8 == connection && self.connection != NO_CONNECTION
    }

    pub(super) fn found(&mut self, now: Instant, server: Place, common: &mut Common) {
        self.server = Some(server);
        self.stage = Stage::Creating;
        // Followed by one unused byte, as shells send it.
        self.begin(now, kind::CREATE, &[0], common);
    }

    pub(super) fn send(
        &mut self,
        now: Instant,
        message: &[u8],
        common: &mut Common,
    ) -> Result<(), NotSent> {
        let is_open = self.stage == Stage::Open && !self.exchange.is_closing();
        let Some(server) = self.server.filter(|_| is_open) else {
            return Err(NotSent::NoSession);
        };
        let longest = match message.first() {
            Some(&BURST) => self.bursts.longest_message(),
            _ => facts(server.framing).longest_message,
        };
        self.exchange.put(message, longest, common)?;
        self.begin_next(now, common);
        Ok(())
    }

    fn begin_next(&mut self, now: Instant, common: &mut Common) {
        if let Some(mut message) = self.exchange.next() {
            if message.first() == Some(&BURST) {
                self.begin_burst(now, &message[1..], common);
                common.keep(message);
                return;
            }
            self.put_offer(&mut message);
            self.sequence = self.sequence.wrapping_add(1);
            self.begin(now, kind::REQUEST, &message, common);
            common.keep(message);
        } else if self.exchange.is_ready()
            && self.exchange.is_closing()
            && self.stage == Stage::Open
        {
            self.stage = Stage::Ending;
            self.sequence = self.sequence.wrapping_add(1);
            self.begin(now, kind::DESTROY, &[], common);
        }
    }

    fn begin(&mut self, now: Instant, kind: u16, message: &[u8], common: &mut Common) {
        let (sequence, connection, task) = (self.sequence, self.connection, TASK);
        let mut packet = common.memory();
        Envelope { kind, sequence, connection, task }.emit(&mut packet);
        packet.extend_from_slice(message);
        self.bursts.is_under_way = false;
        common.counts.requests_sent += 1;
        let is_bindery = message.first() == Some(&LOG_IN_KEYED.number);
        let shortest_ns = if is_bindery { BINDERY_WAIT_NS } else { 0 };
        self.deadline = Some(self.exchange.begin(now, packet, (), shortest_ns));
        self.push(common);
    }

    fn push(&self, common: &mut Common) {
        if let (Some(server), Some(packet)) = (self.server, self.exchange.packet()) {
            common.interface.push(server, packet_type::NCP, self.socket, packet);
        }
    }

    /// Handle a packet of the server. Returns the reason if the session has ended.
    pub(super) fn handle_reply(
        &mut self,
        now: Instant,
        packet: &[u8],
        common: &mut Common,
    ) -> Option<Why> {
        if packet.starts_with(&kind::BURST.to_be_bytes()) {
            return self.handle_burst(now, packet, common);
        }
        let Ok((reply, data)) = Reply::parse(packet) else {
            common.interface.counts.unreadable_packets += 1;
            return None;
        };
        let is_ours = reply.envelope.sequence == self.sequence
            && (self.stage == Stage::Creating || reply.envelope.connection == self.connection);
        if !is_ours || self.exchange.packet().is_none() || self.bursts.is_under_way {
            common.counts.discarded += 1;
            return None;
        }
        if reply.envelope.kind == kind::BUSY {
            common.counts.working_received += 1;
            // How long a server may be busy is up to the program, which closes the session when it stops waiting.
            self.deadline = self.exchange.is_worked_on(now, !self.exchange.is_closing());
            return None;
        }
        if self.stage == Stage::Ending {
            return Some(Why::Closed);
        }
        if reply.status & (status::BAD_CONNECTION | status::GOING_DOWN) != 0 {
            return Some(Why::ByPeerAbnormally);
        }
        self.take_offer(reply.completion, data);
        self.exchange.answered(now, common);
        self.deadline = None;
        if self.stage == Stage::Creating {
            return self.created(now, reply, common);
        }
        let mut message = common.memory();
        message.push(reply.completion);
        message.extend_from_slice(data);
        self.report(now, message, common);
        None
    }

    pub(super) fn report(&mut self, now: Instant, message: Vec<u8>, common: &mut Common) {
        if self.exchange.is_closing() {
            common.keep(message);
        } else {
            self.exchange.deliver(self.id, message, common);
        }
        common.event(Event::Room(self.id));
        self.begin_next(now, common);
    }

    fn created(&mut self, now: Instant, reply: Reply, common: &mut Common) -> Option<Why> {
        let number = reply.envelope.connection;
        if reply.completion != completion::OK {
            return Some(Why::NoResources);
        }
        if number == NO_CONNECTION {
            return Some(Why::Protocol);
        }
        self.connection = number;
        self.stage = Stage::Open;
        if let Some(server) = self.server {
            common.event(Event::Opened(self.id, facts(server.framing)));
        }
        self.begin_next(now, common);
        None
    }

    /// A reply is late. Returns the reason if the session has ended.
    pub(super) fn handle_timeout(&mut self, now: Instant, common: &mut Common) -> Option<Why> {
        let most_tries = if self.stage == Stage::Ending { MOST_GOODBYES } else { self.most_tries };
        if self.exchange.packet().is_none() {
            self.deadline = None;
            return None;
        }
        let Some(deadline) = self.exchange.send_again(now, most_tries) else {
            let is_end = self.stage == Stage::Ending;
            return Some(if is_end { Why::Closed } else { Why::NoAnswer });
        };
        self.deadline = Some(deadline);
        common.counts.sent_again += 1;
        if self.bursts.is_under_way {
            self.send_burst_again(now, common);
        } else {
            self.push(common);
        }
        None
    }

    pub(super) const fn pause(&mut self) {
        self.exchange.pause();
    }

    pub(super) fn resume(&mut self, now: Instant, common: &mut Common) {
        self.exchange.resume(self.id, common);
        self.begin_next(now, common);
    }

    pub(super) fn close(&mut self, now: Instant, common: &mut Common) -> bool {
        self.exchange.close(common);
        if self.is_searching() {
            return true;
        }
        self.begin_next(now, common);
        false
    }
}
