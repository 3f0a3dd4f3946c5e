//! A session opened by another station: each request is executed once, and its reply kept.

use lanlab_units::Instant;
use lanlab_units::room::{GRACE_NS, Standing};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::packet_type;
use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::envelope::{Envelope, Reply, kind};
use lanlab_wire::ncp::function::{self, Function};

use super::Common;
use super::burst_states::Answering;
use crate::carrier::{Event, NotSent, SessionId};
use crate::ipx::Place;
use crate::ncp::{BURST, facts};

/// A connection request within this time of the first request may be a duplicate, ns.
const LATE_COPY_NS: u64 = 10_000_000_000;

#[derive(Debug)]
pub(super) struct Answerer {
    pub(super) id: SessionId,
    pub(super) client: Place,
    pub(super) connection: u16,
    pub(super) deadline: Instant,
    pub(super) questions: u32,
    pub(super) went_on: Option<Instant>,
    requests: u32,
    pub(super) heard: Instant,
    sequence: u8,
    task: u8,
    reply: Option<Vec<u8>>,
    held: Option<Vec<u8>>,
    is_paused: bool,
    offers_bursts: bool,
    pub(super) bursts: Option<Answering>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    Next,
    Again,
    Other,
}

impl Answerer {
    /// A session with a client whose connection request is being confirmed.
    pub(super) fn begin(
        id: SessionId,
        client: Place,
        connection: u16,
        (asked, now, deadline, offers_bursts): (Envelope, Instant, Instant, bool),
        common: &mut Common,
    ) -> Self {
        let mut session = Self {
            id,
            client,
            connection,
            deadline,
            questions: 0,
            went_on: None,
            requests: 0,
            heard: now,
            sequence: asked.sequence,
            task: asked.task,
            reply: None,
            held: None,
            is_paused: false,
            offers_bursts,
            bursts: None,
        };
        session.answer(completion::OK, &[], common);
        // The first request is number 1, however often the connection request was sent.
        session.sequence = 0;
        session
    }

    /// Whether a connection request repeats the one that began the session, and needs the same answer.
    pub(super) fn is_first_again(
        &self,
        now: Instant,
        asked: Envelope,
        common: &mut Common,
    ) -> bool {
        let may_be_copy = self.went_on.is_none_or(|at| now.nanos_since(at) < LATE_COPY_NS);
        if may_be_copy {
            common.counts.answered_again += 1;
            let envelope = Envelope { kind: kind::REPLY, connection: self.connection, ..asked };
            push_reply(self.client, envelope, (completion::OK, 0), common);
        }
        may_be_copy
    }

    fn turn(&self, envelope: Envelope) -> Turn {
        if envelope.sequence == self.sequence && self.went_on.is_some() {
            return Turn::Again;
        }
        let is_next = envelope.sequence == self.sequence.wrapping_add(1);
        // The previous request must be answered first.
        if is_next && self.is_answered() { Turn::Next } else { Turn::Other }
    }

    /// How useful the session is; a client that ignored the watchdog may be forged.
    pub(super) fn standing(&self, now: Instant, asked_at: Instant) -> Standing<Mac> {
        let silent_ns = now.nanos_since(self.heard);
        let mut standing = Standing::of(self.client.mac, self.requests, silent_ns);
        let is_missing = self.questions > 0 && now.nanos_since(asked_at) >= GRACE_NS;
        standing.is_served &= !is_missing;
        standing
    }

    pub(super) fn is_answered(&self) -> bool {
        self.reply.is_some() && !self.works_on_burst()
    }

    pub(super) fn handle_request(
        &mut self,
        now: Instant,
        (envelope, data): (Envelope, &[u8]),
        common: &mut Common,
    ) {
        match self.turn(envelope) {
            Turn::Other => common.counts.discarded += 1,
            Turn::Again => {
                common.counts.answered_again += 1;
                if let Some(reply) = &self.reply {
                    push(self.client, reply, common);
                } else {
                    let busy = Envelope { kind: kind::BUSY, ..envelope };
                    push_reply(self.client, busy, (completion::OK, 0), common);
                }
            }
            Turn::Next => {
                self.went_on.get_or_insert(now);
                self.requests = self.requests.saturating_add(1);
                (self.sequence, self.task) = (envelope.sequence, envelope.task);
                if let Some(reply) = self.reply.take() {
                    common.keep(reply);
                }
                self.end_burst();
                match Function::parse(data) {
                    Ok((function::OFFER_BURST, offer)) if self.offers_bursts => {
                        self.take_offer(offer, common);
                    }
                    Ok((function::OFFER_BURST | Function { number: BURST, .. }, _)) => {
                        self.answer(completion::UNSUPPORTED, &[], common);
                    }
                    Ok((function, asked))
                        if let Some(said) = self.of_connection(function, asked) =>
                    {
                        match said {
                            Ok(said) => self.answer(completion::OK, &said, common),
                            Err(refused) => self.answer(refused, &[], common),
                        }
                    }
                    _ => {
                        let mut message = common.memory();
                        message.extend_from_slice(data);
                        self.report(message, common);
                    }
                }
            }
        }
    }

    pub(super) fn report(&mut self, message: Vec<u8>, common: &mut Common) {
        if self.is_paused {
            self.held = Some(message);
        } else {
            common.message(self.id, message);
        }
    }

    pub(super) fn send(
        &mut self,
        now: Instant,
        message: &[u8],
        common: &mut Common,
    ) -> Result<(), NotSent> {
        if self.works_on_burst() {
            self.answer_burst(now, message, common)?;
            common.event(Event::Room(self.id));
            return Ok(());
        }
        if message.len() > facts(self.client.framing).longest_message as usize {
            return Err(NotSent::TooLong);
        }
        let (Some((&completion, data)), None) = (message.split_first(), &self.reply) else {
            return Err(NotSent::NoSession);
        };
        self.answer(completion, data, common);
        common.event(Event::Room(self.id));
        Ok(())
    }

    pub(super) fn answer(&mut self, completion: u8, data: &[u8], common: &mut Common) {
        let Self { sequence, connection, task, .. } = *self;
        let envelope = Envelope { kind: kind::REPLY, sequence, connection, task };
        let mut packet = common.memory();
        Reply { envelope, completion, status: 0 }.emit(&mut packet);
        packet.extend_from_slice(data);
        push(self.client, &packet, common);
        self.reply = Some(packet);
    }

    pub(super) const fn pause(&mut self) {
        self.is_paused = true;
    }

    pub(super) fn resume(&mut self, common: &mut Common) {
        self.is_paused = false;
        if let Some(message) = self.held.take() {
            common.message(self.id, message);
        }
    }
}

pub(super) fn push_reply(
    client: Place,
    envelope: Envelope,
    (completion, status): (u8, u8),
    common: &mut Common,
) {
    let mut packet = common.memory();
    Reply { envelope, completion, status }.emit(&mut packet);
    push(client, &packet, common);
    common.keep(packet);
}

pub(super) fn push(client: Place, packet: &[u8], common: &mut Common) {
    let from = common.interface.server_address(lanlab_wire::ipx::socket::NCP);
    common.interface.push_from(from, client, packet_type::NCP, packet);
}
