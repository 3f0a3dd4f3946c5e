//! A session opened by this station: one request at a time, resent until answered.

use lanlab_units::Instant;
use lanlab_wire::ipx::packet_type;
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::echo::Echo;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::writer::Writer;

use super::connection::{
    NEVER, NONE, Numbers, OTHER_NAME, UNKNOWN_CONNECTION, WORKING, is_repeatable, next_sequence,
};
use super::multiplexed::{Multiplexed, Progress};
use super::{Common, facts};
use crate::carrier::{Event, NotSent, SessionId, Why};
use crate::ipx::{Exchange, Place};
use crate::netbios::NameCall;

const MOST_TRIES: u32 = 10;
/// Idle time after which the server is probed with an echo, ns.
const ECHO_AFTER_NS: u64 = 240_000_000_000;
const ECHO_PROCESS: u32 = 0xfffe;

#[derive(Debug)]
pub(super) struct Caller {
    pub(super) id: SessionId,
    /// The session's own socket, by which the server distinguishes it from others of this station.
    pub(super) socket: u16,
    pub(super) call: NameCall,
    /// The server's address; `None` while it is being looked up.
    pub(super) server: Option<Place>,
    pub(super) deadline: Option<Instant>,
    connection: u16,
    sequence: u16,
    exchange: Exchange<(u32, u16)>,
    multiplexed: Option<Multiplexed>,
}

impl Caller {
    pub(super) fn new(id: SessionId, socket: u16, call: NameCall) -> Self {
        Self {
            id,
            socket,
            call,
            server: None,
            deadline: None,
            connection: NONE,
            sequence: 0,
            exchange: Exchange::default(),
            multiplexed: None,
        }
    }

    pub(super) fn found(&mut self, server: Place, common: &mut Common) {
        self.server = Some(server);
        self.deadline = None;
        common.event(Event::Opened(self.id, facts(server.framing)));
    }

    pub(super) fn send(
        &mut self,
        now: Instant,
        message: &[u8],
        common: &mut Common,
    ) -> Result<(), NotSent> {
        let Some(server) = self.server.filter(|_| !self.exchange.is_closing()) else {
            return Err(NotSent::NoSession);
        };
        let is_cut = Header::parse(message).is_ok_and(|one| one.command == command::WRITE_MPX);
        let one_packet = facts(server.framing).longest_message;
        let longest = if is_cut { u32::from(u16::MAX) } else { one_packet };
        self.exchange.put(message, longest, common)?;
        self.begin_next(now, common);
        Ok(())
    }

    fn begin_next(&mut self, now: Instant, common: &mut Common) {
        while let Some(message) = self.exchange.next() {
            // Without a header there is no place for the numbers; `facts` promises no raw data.
            if let Ok(header) = Header::parse(&message) {
                self.begin(now, &header, message, common);
            }
        }
        if self.exchange.packet().is_none() && self.connection != NONE {
            self.deadline = Some(now.plus_nanos(ECHO_AFTER_NS));
        }
    }

    fn begin(&mut self, now: Instant, header: &Header, mut message: Vec<u8>, common: &mut Common) {
        // A cancel request gets no reply.
        let is_answered = header.command != command::NT_CANCEL;
        let longest = self.server.map_or(0, |server| facts(server.framing).longest_message);
        self.multiplexed = Multiplexed::begin(header, &message, longest);
        if let Some(Multiplexed::Write(_)) = self.multiplexed {
            common.keep(message);
            self.write_parts(now, header, false, common);
            return;
        }
        let mut sequence = 0;
        if is_answered && !is_repeatable(header, &message) {
            self.sequence = next_sequence(self.sequence);
            sequence = self.sequence;
        }
        Numbers { connection: self.connection, sequence }.put(&mut message);
        common.counts.requests_sent += 1;
        self.push(&message, common);
        if is_answered {
            let identity = (header.pid, header.mid);
            self.deadline = Some(self.exchange.begin(now, message, identity, 0));
        } else {
            common.keep(message);
            common.event(Event::Room(self.id));
        }
    }

    /// Send the missing packets of a write; only the last one is numbered.
    fn write_parts(&mut self, now: Instant, header: &Header, is_again: bool, common: &mut Common) {
        let Some(Multiplexed::Write(writing)) = &self.multiplexed else { return };
        self.sequence = next_sequence(self.sequence);
        let (connection, mut parts) = (self.connection, writing.missing().peekable());
        while let Some(part) = parts.next() {
            let mut packet = common.memory();
            writing.emit(part, &mut packet);
            let sequence = if parts.peek().is_none() { self.sequence } else { 0 };
            Numbers { connection, sequence }.put(&mut packet);
            let counts = &mut common.counts;
            *(if is_again { &mut counts.sent_again } else { &mut counts.requests_sent }) += 1;
            self.push(&packet, common);
            if sequence == 0 {
                common.keep(packet);
            } else {
                let identity = (header.pid, header.mid);
                self.deadline = Some(self.exchange.begin(now, packet, identity, 0));
            }
        }
    }

    fn take_part(
        &mut self,
        now: Instant,
        header: &Header,
        message: &[u8],
        common: &mut Common,
    ) -> Result<bool, Why> {
        let Some(multiplexed) = &mut self.multiplexed else { return Ok(true) };
        if !header.status.is_success() {
            return Ok(true);
        }
        let block = Block::first(header, message).map_err(|_| Why::Protocol)?;
        let progress = multiplexed.take(&block).map_err(|_| Why::Protocol)?;
        let is_read = matches!(multiplexed, Multiplexed::Read(_));
        match progress {
            Progress::Whole => return Ok(true),
            Progress::Nothing => {}
            Progress::More => self.deadline = self.exchange.is_worked_on(now, true),
            Progress::Again if is_read => {
                self.deadline = self.exchange.is_worked_on(now, true);
                self.push_again(common);
            }
            Progress::Again => {
                self.exchange.answered(now, common);
                self.write_parts(now, header, true, common);
            }
        }
        Ok(false)
    }

    fn push_again(&mut self, common: &mut Common) {
        let connection = self.connection;
        if let (Some(Multiplexed::Read(reading)), Some(packet)) =
            (&mut self.multiplexed, self.exchange.packet_mut())
        {
            reading.ask(packet);
            Numbers { connection, sequence: 0 }.put(packet);
        }
        common.counts.sent_again += 1;
        if let Some(packet) = self.exchange.packet() {
            self.push(packet, common);
        }
    }

    fn push(&self, message: &[u8], common: &mut Common) {
        if let Some(server) = self.server {
            common.interface.push(server, packet_type::EXCHANGE, self.socket, message);
        }
    }

    /// Handle a message from the server. Returns the reason if the session has ended.
    pub(super) fn handle_answer(
        &mut self,
        now: Instant,
        header: &Header,
        message: &[u8],
        common: &mut Common,
    ) -> Option<Why> {
        let numbers = Numbers::of(header);
        let is_new = self.connection == NONE;
        let is_ours = header.is_response()
            && self.exchange.identity() == Some(&(header.pid, header.mid))
            && (is_new || numbers.connection == self.connection);
        if !is_ours {
            common.counts.discarded += 1;
            return None;
        }
        if header.status.is(WORKING) {
            common.counts.working_received += 1;
            self.deadline = self.exchange.is_worked_on(now, true);
            return None;
        }
        if header.status.is(UNKNOWN_CONNECTION) {
            return Some(Why::ByPeerAbnormally);
        }
        if header.status.is(OTHER_NAME) {
            return Some(Why::NameNotFound);
        }
        if is_new && header.status.is_success() {
            if matches!(numbers.connection, NONE | NEVER) {
                return Some(Why::Protocol);
            }
            self.connection = numbers.connection;
        }
        match self.take_part(now, header, message, common) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(why) => return Some(why),
        }
        self.exchange.answered(now, common);
        if header.pid != ECHO_PROCESS {
            let mut answer = common.memory();
            match self.multiplexed.take().filter(|_| header.status.is_success()) {
                Some(multiplexed) => multiplexed.answer(header, &mut answer),
                None => answer.extend_from_slice(message),
            }
            Numbers { connection: NONE, sequence: 0 }.put(&mut answer);
            self.exchange.deliver(self.id, answer, common);
            common.event(Event::Room(self.id));
        }
        self.begin_next(now, common);
        self.is_over().then_some(Why::Closed)
    }

    /// Do everything that is due. Returns the reason if the session has ended.
    pub(super) fn handle_timeout(&mut self, now: Instant, common: &mut Common) -> Option<Why> {
        if self.exchange.packet().is_none() {
            let echo = echo(common.memory());
            if let Ok(header) = Header::parse(&echo) {
                self.begin(now, &header, echo, common);
            }
            return None;
        }
        let Some(deadline) = self.exchange.send_again(now, MOST_TRIES) else {
            return Some(Why::NoAnswer);
        };
        self.deadline = Some(deadline);
        self.push_again(common);
        None
    }

    pub(super) const fn pause(&mut self) {
        self.exchange.pause();
    }

    pub(super) fn resume(&mut self, now: Instant, common: &mut Common) {
        self.exchange.resume(self.id, common);
        self.begin_next(now, common);
    }

    pub(super) fn close(&mut self, common: &mut Common) -> bool {
        self.exchange.close(common);
        self.is_over()
    }

    fn is_over(&self) -> bool {
        self.exchange.is_closing() && self.exchange.is_idle()
    }
}

fn echo(mut memory: Vec<u8>) -> Vec<u8> {
    let header = Header { pid: ECHO_PROCESS, ..Header::request(command::ECHO, 0, 0) };
    Echo { number: 1, data: &[] }.emit(&mut Writer::begin(&mut memory, &header));
    memory
}
