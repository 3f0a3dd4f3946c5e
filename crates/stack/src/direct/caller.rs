//! A session that this station has called: one request at a time, sent until it is answered.

use std::collections::VecDeque;

use lanlab_units::Instant;
use lanlab_wire::ipx::packet_type;
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::echo::Echo;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::writer::Writer;

use super::connection::{
    NEVER, NONE, Numbers, OTHER_NAME, UNKNOWN_CONNECTION, WORKING, is_repeatable, next_sequence,
};
use super::round_trip::RoundTrip;
use super::{Common, facts};
use crate::carrier::{Event, NotSent, SessionId, Why};
use crate::ipx::Place;
use crate::netbios::NameCall;

/// Requests that may wait behind the one that is being answered.
const MOST_WAITING: usize = 4;
/// How often a request is sent before the session is given up.
const MOST_TRIES: u32 = 10;
/// Time without traffic after which the server is asked whether it is there, ns.
const ECHO_AFTER_NS: u64 = 240_000_000_000;
/// Process of these questions, of which no redirector is.
const ECHO_PROCESS: u32 = 0xfffe;

/// A request that is not answered yet.
#[derive(Debug)]
struct Request {
    message: Vec<u8>,
    /// Process and number that its answer has.
    identity: (u32, u16),
    sent_at: Instant,
    tries: u32,
    wait_ns: u64,
    /// Whether the time until its answer says something of the round trip.
    is_measured: bool,
}

/// A session.
#[derive(Debug)]
pub(super) struct Caller {
    pub(super) id: SessionId,
    /// Socket of this session alone, by which the server tells it from others of this station.
    pub(super) socket: u16,
    pub(super) call: NameCall,
    /// Where the server is; `None`: it is looked for.
    pub(super) server: Option<Place>,
    /// When a query or request is late, or the server is asked whether it is there.
    pub(super) deadline: Option<Instant>,
    connection: u16,
    sequence: u16,
    waiting: VecDeque<Vec<u8>>,
    request: Option<Request>,
    round_trip: RoundTrip,
    /// An answer that waits until the session goes on.
    held: Option<Vec<u8>>,
    is_paused: bool,
    is_closing: bool,
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
            waiting: VecDeque::new(),
            request: None,
            round_trip: RoundTrip::default(),
            held: None,
            is_paused: false,
            is_closing: false,
        }
    }

    /// The server is found.
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
        let Some(server) = self.server.filter(|_| !self.is_closing) else {
            return Err(NotSent::NoSession);
        };
        if message.len() > facts(server.framing).longest_message as usize {
            return Err(NotSent::TooLong);
        }
        if self.waiting.len() >= MOST_WAITING {
            return Err(NotSent::Full);
        }
        let mut memory = common.memory();
        memory.extend_from_slice(message);
        self.waiting.push_back(memory);
        self.begin_next(now, common);
        Ok(())
    }

    /// Send the next request, if none is being answered.
    fn begin_next(&mut self, now: Instant, common: &mut Common) {
        while self.request.is_none() && self.held.is_none() && !self.is_paused {
            let Some(message) = self.waiting.pop_front() else { break };
            // What has no header has no place for its numbers, and no facts promise to carry it.
            if let Ok(header) = Header::parse(&message) {
                self.begin(now, &header, message, common);
            }
        }
        if self.request.is_none() && self.connection != NONE {
            self.deadline = Some(now.plus_nanos(ECHO_AFTER_NS));
        }
    }

    fn begin(&mut self, now: Instant, header: &Header, mut message: Vec<u8>, common: &mut Common) {
        // Nothing answers a request to cancel another one.
        let is_answered = header.command != command::NT_CANCEL;
        let mut sequence = 0;
        if is_answered && !is_repeatable(header, &message) {
            self.sequence = next_sequence(self.sequence);
            sequence = self.sequence;
        }
        Numbers { connection: self.connection, sequence }.put(&mut message);
        let wait_ns = self.round_trip.timeout_ns();
        let identity = (header.pid, header.mid);
        let (tries, is_measured) = (1, true);
        common.counts.requests_sent += 1;
        self.push(&message, common);
        if is_answered {
            self.deadline = Some(now.plus_nanos(wait_ns));
            self.request =
                Some(Request { message, identity, sent_at: now, tries, wait_ns, is_measured });
        } else {
            common.keep(message);
            common.event(Event::Room(self.id));
        }
    }

    fn push(&self, message: &[u8], common: &mut Common) {
        if let Some(server) = self.server {
            common.interface.push(server, packet_type::EXCHANGE, self.socket, message);
        }
    }

    /// Take a message of the server. Gives why the session is over, if it is.
    pub(super) fn handle_answer(
        &mut self,
        now: Instant,
        header: &Header,
        message: &[u8],
        common: &mut Common,
    ) -> Option<Why> {
        let numbers = Numbers::of(header);
        let is_new = self.connection == NONE;
        let Some(request) = self.request.as_mut().filter(|request| {
            header.is_response()
                && request.identity == (header.pid, header.mid)
                && (is_new || numbers.connection == self.connection)
        }) else {
            common.counts.discarded += 1;
            return None;
        };
        if header.status.is(WORKING) {
            common.counts.working_received += 1;
            // It has the request: what is lost now is the answer, if anything.
            (request.tries, request.is_measured) = (1, false);
            self.deadline = Some(now.plus_nanos(request.wait_ns));
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
        if request.is_measured {
            self.round_trip.measure(now.nanos_since(request.sent_at));
        }
        if let Some(request) = self.request.take() {
            common.keep(request.message);
        }
        if header.pid != ECHO_PROCESS {
            let mut answer = common.memory();
            answer.extend_from_slice(message);
            Numbers { connection: NONE, sequence: 0 }.put(&mut answer);
            if self.is_paused {
                self.held = Some(answer);
            } else {
                common.message(self.id, answer);
            }
            common.event(Event::Room(self.id));
        }
        self.begin_next(now, common);
        self.is_over().then_some(Why::Closed)
    }

    /// Do what is due. Gives why the session is over, if it is.
    pub(super) fn handle_timeout(&mut self, now: Instant, common: &mut Common) -> Option<Why> {
        let Some(request) = &mut self.request else {
            let echo = echo(common.memory());
            if let Ok(header) = Header::parse(&echo) {
                self.begin(now, &header, echo, common);
            }
            return None;
        };
        if request.tries >= MOST_TRIES {
            return Some(Why::NoAnswer);
        }
        request.tries += 1;
        request.is_measured = false;
        request.wait_ns = RoundTrip::longer_ns(request.wait_ns);
        self.deadline = Some(now.plus_nanos(request.wait_ns));
        common.counts.sent_again += 1;
        if let (Some(server), Some(request)) = (self.server, &self.request) {
            common.interface.push(server, packet_type::EXCHANGE, self.socket, &request.message);
        }
        None
    }

    pub(super) const fn pause(&mut self) {
        self.is_paused = true;
    }

    pub(super) fn resume(&mut self, now: Instant, common: &mut Common) {
        self.is_paused = false;
        if let Some(answer) = self.held.take() {
            common.message(self.id, answer);
        }
        self.begin_next(now, common);
    }

    /// End the session once all is answered. Whether it is over at once.
    pub(super) fn close(&mut self, common: &mut Common) -> bool {
        self.is_closing = true;
        // Its program takes no more answers.
        self.is_paused = false;
        if let Some(answer) = self.held.take() {
            common.keep(answer);
        }
        self.is_over()
    }

    fn is_over(&self) -> bool {
        self.is_closing && self.request.is_none() && self.waiting.is_empty()
    }
}

/// The question whether the server is there.
fn echo(mut memory: Vec<u8>) -> Vec<u8> {
    let header = Header { pid: ECHO_PROCESS, ..Header::request(command::ECHO, 0, 0) };
    Echo { number: 1, data: &[] }.emit(&mut Writer::begin(&mut memory, &header));
    memory
}
