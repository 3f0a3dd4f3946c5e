//! A session opened by another station: each numbered request is executed once, and its answer kept.

use std::collections::VecDeque;

use lanlab_units::Instant;
use lanlab_units::room::Standing;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::{packet_type, socket};
use lanlab_wire::smb1::command;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::status::{Status, error::Row};
use lanlab_wire::smb1::writer::Writer;

use super::connection::{NONE, Numbers, WORKING, next_sequence};
use super::parts::{Identity, Parts};
use super::{Common, facts};
use crate::carrier::{Event, NotSent, SessionId};
use crate::ipx::Place;

/// Maximum requests of a session being executed or queued.
const MOST_PENDING: usize = 8;
/// Maximum messages kept per answer. Echoes and transactions of old clients need more than one.
const MOST_KEPT: usize = 4;
/// A client silent for this long is dropped, ns. Clients send an echo after four minutes.
const LONGEST_SILENCE_NS: u64 = 600_000_000_000;
const LEAVING_NS: u64 = 10_000_000_000;
/// A repeated first request within this time of the second request is a duplicate; later it means that the client
/// restarted, ns.
const LATE_COPY_NS: u64 = 30_000_000_000;

#[derive(Debug, Default)]
struct Kept {
    identity: Option<Identity>,
    messages: Vec<Vec<u8>>,
}

impl Kept {
    fn begin(&mut self, identity: Identity, common: &mut Common) {
        self.identity = Some(identity);
        self.messages.drain(..).for_each(|memory| common.keep(memory));
    }

    fn add(&mut self, identity: Identity, message: &[u8], common: &mut Common) {
        if self.identity == Some(identity) && self.messages.len() < MOST_KEPT {
            let mut memory = common.memory();
            memory.extend_from_slice(message);
            self.messages.push(memory);
        }
    }
}

#[derive(Debug)]
pub(super) struct Answerer {
    pub(super) id: SessionId,
    pub(super) client: Place,
    pub(super) connection: u16,
    pub(super) deadline: Instant,
    pub(super) went_on: Option<Instant>,
    requests: u32,
    pub(super) heard: Instant,
    first_request: Vec<u8>,
    first: Kept,
    sequence: u16,
    last: Kept,
    pending: Vec<Identity>,
    parts: Parts,
    held: VecDeque<Vec<u8>>,
    is_paused: bool,
    is_leaving: bool,
}

impl Answerer {
    pub(super) fn new(id: SessionId, client: Place, connection: u16, now: Instant) -> Self {
        Self {
            id,
            client,
            connection,
            deadline: now.plus_nanos(LONGEST_SILENCE_NS),
            went_on: None,
            requests: 0,
            heard: now,
            first_request: Vec::new(),
            first: Kept::default(),
            sequence: 0,
            last: Kept::default(),
            pending: Vec::new(),
            parts: Parts::default(),
            held: VecDeque::new(),
            is_paused: false,
            is_leaving: false,
        }
    }

    pub(super) fn handle_first(&mut self, header: &Header, message: &[u8], common: &mut Common) {
        self.first_request.extend_from_slice(message);
        self.first.begin((header.pid, header.mid), common);
        self.deliver(header, message, common);
    }

    pub(super) fn handle_first_again(
        &mut self,
        now: Instant,
        header: &Header,
        message: &[u8],
        common: &mut Common,
    ) -> bool {
        let may_be_copy = self.went_on.is_none_or(|at| now.nanos_since(at) < LATE_COPY_NS);
        let is_again = may_be_copy && self.first_request == message;
        if is_again {
            self.answer_again(header, &self.first, common);
        }
        is_again
    }

    fn answer_again(&self, header: &Header, kept: &Kept, common: &mut Common) {
        common.counts.answered_again += 1;
        if kept.messages.is_empty() {
            refuse(self.client, header, WORKING, common);
        }
        for message in &kept.messages {
            common.push_answer(self.client, message);
        }
    }

    pub(super) fn handle_request(
        &mut self,
        now: Instant,
        header: &Header,
        message: &[u8],
        common: &mut Common,
    ) {
        self.went_on.get_or_insert(now);
        (self.requests, self.heard) = (self.requests.saturating_add(1), now);
        let leaves = matches!(header.command, command::LOGOFF_ANDX | command::TREE_DISCONNECT);
        self.is_leaving = leaves;
        let silence_ns = if leaves { LEAVING_NS } else { LONGEST_SILENCE_NS };
        self.deadline = now.plus_nanos(silence_ns);
        let identity = (header.pid, header.mid);
        let sequence = Numbers::of(header).sequence;
        let is_part = header.command == command::WRITE_MPX;
        if sequence != 0 {
            if sequence == self.sequence {
                self.answer_again(header, &self.last, common);
                return;
            }
            if sequence != next_sequence(self.sequence) {
                common.counts.discarded += 1;
                return;
            }
        } else if self.pending.contains(&identity)
            && !is_part
            && header.command != command::NT_CANCEL
        {
            common.counts.answered_again += 1;
            refuse(self.client, header, WORKING, common);
            return;
        }
        if self.pending.len() >= MOST_PENDING || self.held.len() >= MOST_PENDING {
            common.counts.discarded += 1;
            return;
        }
        if is_part && !self.parts.take(identity, sequence != 0) {
            common.counts.discarded += 1;
            return;
        }
        if sequence != 0 {
            self.sequence = sequence;
            self.last.begin(identity, common);
            if !is_part {
                self.parts.go_on(None);
            }
        }
        self.deliver(header, message, common);
    }

    fn deliver(&mut self, header: &Header, message: &[u8], common: &mut Common) {
        // Only the last part of these requests is answered, or none.
        let is_first_part =
            header.command == command::WRITE_MPX && Numbers::of(header).sequence == 0;
        let has_answer = !is_first_part
            && !matches!(
                header.command,
                command::NT_CANCEL
                    | command::TRANSACTION_SECONDARY
                    | command::TRANSACTION2_SECONDARY
                    | command::NT_TRANSACT_SECONDARY
            );
        if has_answer {
            self.pending.push((header.pid, header.mid));
        }
        let mut memory = common.memory();
        memory.extend_from_slice(message);
        Numbers { connection: NONE, sequence: 0 }.put(&mut memory);
        if self.is_paused {
            self.held.push_back(memory);
        } else {
            common.message(self.id, memory);
        }
    }

    pub(super) fn send(&mut self, message: &[u8], common: &mut Common) -> Result<(), NotSent> {
        if message.len() > facts(self.client.framing).longest_message as usize {
            return Err(NotSent::TooLong);
        }
        let Ok(header) = Header::parse(message) else { return Err(NotSent::NoSession) };
        let identity = (header.pid, header.mid);
        let mut memory = common.memory();
        memory.extend_from_slice(message);
        if header.command == command::WRITE_MPX && !self.parts.answer(&header, &mut memory) {
            common.keep(memory);
            common.event(Event::Room(self.id));
            return Ok(());
        }
        self.pending.retain(|pending| *pending != identity);
        let is_last = self.last.identity == Some(identity);
        let sequence = if is_last { self.sequence } else { 0 };
        Numbers { connection: self.connection, sequence }.put(&mut memory);
        common.push_answer(self.client, &memory);
        self.last.add(identity, &memory, common);
        if self.went_on.is_none() {
            self.first.add(identity, &memory, common);
        }
        common.keep(memory);
        common.event(Event::Room(self.id));
        Ok(())
    }

    /// Whether the session has expired: the client was silent for long and no request is being executed.
    pub(super) fn is_forgotten(&mut self, now: Instant) -> bool {
        let is_silent = self.deadline <= now;
        if is_silent && !self.pending.is_empty() {
            self.deadline = now.plus_nanos(LONGEST_SILENCE_NS);
            return false;
        }
        is_silent
    }

    pub(super) fn standing(&self, now: Instant) -> Standing<Mac> {
        let requests = if self.is_leaving { 0 } else { self.requests };
        Standing::of(self.client.mac, requests, now.nanos_since(self.heard))
    }

    pub(super) const fn is_leaving(&self) -> bool {
        self.is_leaving
    }

    pub(super) const fn pause(&mut self) {
        self.is_paused = true;
    }

    pub(super) fn resume(&mut self, common: &mut Common) {
        self.is_paused = false;
        for message in self.held.drain(..) {
            common.message(self.id, message);
        }
    }
}

pub(super) fn refuse(client: Place, header: &Header, error: Row, common: &mut Common) {
    let mut message = common.memory();
    let numbers = Numbers::of(header);
    let header = header.response(Status::of(error, header.flags2));
    Writer::begin(&mut message, &header).empty();
    numbers.put(&mut message);
    common.push_answer(client, &message);
    common.keep(message);
}

impl Common {
    fn push_answer(&mut self, client: Place, message: &[u8]) {
        self.interface.push(client, packet_type::EXCHANGE, socket::SMB_SERVER, message);
    }
}
