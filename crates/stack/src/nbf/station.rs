//! A station: what its driver and the program above it call.

use std::collections::VecDeque;

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader, permanent_name, value};
use lanlab_wire::netbios_name::Name;

use super::names::{Names, Outcome};
use super::output::{Correlators, Output};
use super::peers::Peers;
use super::questions::{Kind, Questions};
use super::session::{Phase, Session};
use super::status_parts::StatusParts;
use super::{LONGEST_DATAGRAM, LONGEST_MESSAGE, Why};
use crate::llc;
use crate::node::{Event, NotSent, QuestionId, SessionId, SessionIds};
use crate::profile::Profile;

/// What a station has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Frames sent.
    pub sent_frames: u64,
    /// Frames received for this station.
    pub received_frames: u64,
    /// Frames for other stations.
    pub foreign_frames: u64,
    /// Frames that are shorter than they say, or have no length.
    pub malformed_frames: u64,
    /// LLC frames for a SAP that is not here.
    pub unknown_sap_frames: u64,
    /// NetBIOS frames that make no sense.
    pub unknown_frames: u64,
    /// NetBIOS frames for a session that is not open.
    pub unknown_session_frames: u64,
    /// Answers that were thrown away because the driver had not sent those before.
    pub dropped_answers: u64,
    /// How often another station said that a name of ours is another's, too.
    pub name_disputes: u64,
    /// How often another station had a name that we claimed, or had.
    pub name_conflicts: u64,
    /// Links and calls of stations that had not gone on with them, ended for others.
    pub crowded_out: u64,
}

/// A station that speaks NetBIOS frames. See the [module](super).
#[derive(Debug)]
pub struct Station {
    pub(super) mac: Mac,
    pub(super) name: Name,
    pub(super) profile: Profile,
    pub(super) started: Instant,
    pub(super) correlators: Correlators,
    pub(super) output: Output,
    pub(super) names: Names,
    pub(super) questions: Questions,
    pub(super) status_parts: StatusParts,
    pub(super) peers: Peers,
    pub(super) sessions: Vec<Session>,
    pub(super) ids: SessionIds,
    pub(super) is_listening: bool,
    pub(super) last_number: u8,
    pub(super) events: VecDeque<(Event, Option<Vec<u8>>)>,
    /// Memory of messages.
    pub(super) spare: Vec<Vec<u8>>,
    pub(super) counts: Counts,
    pub(super) ended_links: llc::Counts,
    /// Where feeding goes on: each session has its turn.
    turn: usize,
}

impl Station {
    /// A station that claims its name.
    pub fn new(now: Instant, mac: Mac, name: Name, profile: &Profile, ids: SessionIds) -> Self {
        let mut station = Self {
            mac,
            name,
            profile: *profile,
            started: now,
            correlators: Correlators::default(),
            output: Output::new(mac),
            names: Names::new(mac),
            questions: Questions::default(),
            status_parts: StatusParts::default(),
            peers: Peers::default(),
            sessions: Vec::new(),
            ids,
            is_listening: false,
            last_number: 0,
            events: VecDeque::new(),
            spare: Vec::new(),
            counts: Counts::default(),
            ended_links: llc::Counts::default(),
            turn: 0,
        };
        station.claim(now, name, false);
        station
    }

    /// Claim another name. False if the station has it already, or has too many.
    pub fn claim(&mut self, now: Instant, name: Name, is_group: bool) -> bool {
        let is_begun = self.names.claim(now, name, is_group, &mut self.correlators);
        self.handle_timeout(now);
        is_begun
    }

    /// Give up a name. Sessions go on.
    pub fn release(&mut self, name: Name) {
        self.names.release(name);
    }

    /// Take calls for every name of the station that is not one of a group.
    pub const fn listen(&mut self) {
        self.is_listening = true;
    }

    /// Call a name. [`Event::Opened`] or [`Event::Ended`] follows.
    pub fn open(&mut self, now: Instant, to: Name) -> SessionId {
        let id = self.ids.next();
        let mut session = Session::new(id, now, &self.profile, [to, self.name]);
        let Some(number) = self.free_number() else {
            self.event(Event::Ended(id, Why::NoResources));
            return id;
        };
        session.local_number = number;
        session.query_correlator = self.correlators.next();
        session.phase =
            if self.profile.finds_first.value { Phase::Finding } else { Phase::Calling };
        self.sessions.push(session);
        self.query(now, self.sessions.len() - 1);
        id
    }

    pub(super) fn free_number(&mut self) -> Option<u8> {
        for _ in 0..value::LAST_SESSION_NUMBER {
            self.last_number = self.last_number % value::LAST_SESSION_NUMBER + 1;
            let number = self.last_number;
            if !self.sessions.iter().any(|session| session.local_number == number) {
                return Some(number);
            }
        }
        None
    }

    fn session(&mut self, id: SessionId) -> Option<&mut Session> {
        let session = self.sessions.iter_mut().find(|session| session.id == id)?;
        (session.phase != Phase::Ending).then_some(session)
    }

    /// Send a whole message.
    ///
    /// # Errors
    /// [`NotSent`] says why it cannot be taken.
    pub fn send(&mut self, now: Instant, id: SessionId, message: &[u8]) -> Result<(), NotSent> {
        if message.len() > LONGEST_MESSAGE {
            return Err(NotSent::TooLong);
        }
        let session = self.session(id).filter(|session| session.phase == Phase::Open);
        let session = session.filter(|session| !session.is_closing).ok_or(NotSent::NoSession)?;
        if !session.sending.has_room() {
            return Err(NotSent::Full);
        }
        session.sending.push(message);
        session.last_traffic = now;
        Ok(())
    }

    /// Have messages of a session acknowledged by the link alone (SEND NO ACK). False if the other end
    /// does not understand that.
    pub fn set_no_ack(&mut self, id: SessionId, needs_no_ack: bool) -> bool {
        self.session(id).is_some_and(|session| session.set_no_ack(needs_no_ack))
    }

    /// Take no more data of a session: the sender gets `NO_RECEIVE`.
    pub fn pause(&mut self, id: SessionId) {
        if let Some(session) = self.session(id) {
            session.pause();
        }
    }

    /// Take data of a session again: the sender gets `RECEIVE_OUTSTANDING`.
    pub fn resume(&mut self, id: SessionId) {
        if let Some(session) = self.session(id) {
            session.resume();
        }
    }

    /// End a session, once what waits is sent and acknowledged. [`Event::Ended`] follows.
    pub fn close(&mut self, now: Instant, id: SessionId) {
        let wait_ns = self.profile.session_wait_ns.value;
        let Some(session) = self.session(id) else { return };
        if session.phase == Phase::Open {
            session.is_closing = true;
            session.deadline = Some(now.plus_nanos(wait_ns));
            self.settle(now);
        } else {
            self.drop_session(now, id, Why::Closed);
        }
    }

    /// Ask who has a name. [`Event::Found`] for each answer, then [`Event::Asked`]. `None` if too many
    /// questions are open.
    pub fn find(&mut self, now: Instant, name: Name) -> Option<QuestionId> {
        self.ask(now, Kind::Find, name)
    }

    /// Ask for the state of the adapter that has a name; of every one by [`Name::ANY`].
    /// [`Event::Status`] for each answer, put together of several frames where one does not hold all names, then
    /// [`Event::Asked`].
    pub fn ask_status(&mut self, now: Instant, name: Name) -> Option<QuestionId> {
        self.ask(now, Kind::Status, name)
    }

    fn ask(&mut self, now: Instant, kind: Kind, name: Name) -> Option<QuestionId> {
        let id = self.questions.ask(now, kind, name, &mut self.correlators);
        self.handle_timeout(now);
        id
    }

    /// Send a datagram to a name, or to every station.
    ///
    /// # Errors
    /// [`NotSent::TooLong`] above 512 octets.
    pub fn send_datagram(&mut self, to: Option<Name>, data: &[u8]) -> Result<(), NotSent> {
        if data.len() > LONGEST_DATAGRAM {
            return Err(NotSent::TooLong);
        }
        let command = match to {
            Some(_) => NameCommand::Datagram,
            None => NameCommand::DatagramBroadcast,
        };
        let header = NameHeader {
            command,
            data1: 0,
            data2: 0,
            transmit_correlator: 0,
            response_correlator: 0,
            destination: to.unwrap_or(NO_NAME),
            source: self.name,
        };
        self.output.push(Mac::NETBIOS_GROUP, header, data);
        Ok(())
    }

    /// What was counted.
    pub fn counts(&self) -> Counts {
        Counts { dropped_answers: self.output.dropped, ..self.counts }
    }

    /// What the links have counted, those that have ended included.
    pub fn link_counts(&self) -> llc::Counts {
        self.peers.all.iter().fold(self.ended_links, |sum, peer| sum.plus(peer.link.counts()))
    }

    /// When something is to be done next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let alive_ns = self.profile.alive_ns.value;
        let sessions = self.sessions.iter().flat_map(|session| {
            let held = session.receiving.held.map(|(_, at)| at);
            let may_be_silent = alive_ns > 0 && session.phase == Phase::Open;
            let alive = may_be_silent.then(|| session.last_traffic.plus_nanos(alive_ns));
            [session.deadline, held, alive]
        });
        let others =
            [self.names.poll_timeout(), self.questions.poll_timeout(), self.peers.poll_timeout()];
        sessions.chain(others).flatten().min()
    }

    /// Do what is due.
    pub fn handle_timeout(&mut self, now: Instant) {
        let mut outcomes = Vec::new();
        let sending = (&mut self.output, &mut self.correlators);
        self.names.handle_timeout(now, &self.profile, sending, &mut outcomes);
        self.report(&outcomes);
        let (events, parts) = (&mut self.events, &mut self.status_parts);
        let about = (&self.profile, permanent_name(self.mac));
        self.questions.handle_timeout(now, about, &mut self.output, |id| {
            events.extend(parts.end(id).map(|event| (event, None)));
            events.push_back((Event::Asked(id), None));
        });
        for index in 0..self.peers.all.len() {
            let peer = &mut self.peers.all[index];
            peer.link.handle_timeout(now);
            if peer.idle_until.is_some_and(|at| at <= now) {
                peer.idle_until = None;
                peer.link.disconnect(now);
            }
            self.handle_link_events(now, index);
        }
        self.handle_session_timeouts(now);
        self.settle(now);
    }

    pub(super) fn report(&mut self, outcomes: &[Outcome]) {
        for outcome in outcomes {
            match *outcome {
                Outcome::Claimed(name) => self.event(Event::Claimed(name)),
                Outcome::Disputed(name, station) => {
                    self.counts.name_disputes += 1;
                    self.event(Event::Disputed(name, station));
                }
                Outcome::Conflict(name, station) => {
                    self.counts.name_conflicts += 1;
                    self.event(Event::Conflict(name, station));
                }
            }
        }
    }

    pub(super) fn event(&mut self, event: Event) {
        self.events.push_back((event, None));
    }

    /// Write the next frame into `into`.
    pub fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        if self.output.poll_transmit(into) {
            self.counts.sent_frames += 1;
            return true;
        }
        let Self { sessions, correlators, events, turn, .. } = self;
        let is_sent = self.peers.poll_transmit(now, self.mac, into, |station, link| {
            while link.has_room() {
                let count = sessions.len();
                let ready = (0..count).map(|step| (*turn + step) % count).find(|index| {
                    let session = &sessions[*index];
                    session.station == station
                        && session.phase.uses_link()
                        && session.phase != Phase::Recognized
                        && session.has_frame()
                });
                let Some(index) = ready else { break };
                *turn = index + 1;
                let session = &mut sessions[index];
                if session.next_frame(now, correlators, link.send()) {
                    events.push_back((Event::Room(session.id), None));
                }
            }
        });
        self.settle(now);
        if is_sent {
            self.counts.sent_frames += 1;
            return true;
        }
        if self.hang_up_unused(now) {
            return self.poll_transmit(now, into);
        }
        for peer in &self.peers.all {
            if peer.link.state() == llc::State::Disconnected {
                self.ended_links = self.ended_links.plus(peer.link.counts());
            }
        }
        self.peers.tidy();
        false
    }

    /// What happened; a message or datagram is in `message`, whose memory is exchanged.
    pub fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        let (event, memory) = self.events.pop_front()?;
        if let Some(mut memory) = memory {
            std::mem::swap(message, &mut memory);
            memory.clear();
            self.spare.push(memory);
        }
        Some(event)
    }
}
