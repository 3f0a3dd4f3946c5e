//! How sessions begin and end: queries, links and timers.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{NameCommand, NameHeader, value};

use super::FACTS;
use super::session::{Phase, Session};
use super::station::Station;
use crate::carrier::{Event, Peer, SessionId, Why};
use crate::llc;
use crate::netbios::{QueryPace, Unanswered};

/// Lifetime of a link that the other station set up but uses for no session, ns.
const IDLE_LINK_NS: u64 = 10_000_000_000;

impl Station {
    pub(super) fn query(&mut self, now: Instant, index: usize) {
        let session = &mut self.sessions[index];
        session.deadline = Some(session.call.sent(now, QueryPace::of(&self.profile)));
        let is_call = session.phase == Phase::Calling;
        let header = NameHeader {
            // Our name is unique, not a group: the high byte is zero.
            data2: if is_call { u16::from(session.local_number) } else { 0 },
            response_correlator: session.call.correlator,
            ..NameHeader::new(NameCommand::NameQuery, session.call.called, session.call.calling)
        };
        let to =
            if session.station == Mac::BROADCAST { Mac::NETBIOS_GROUP } else { session.station };
        self.common.interface.push(to, header, &[]);
    }

    pub(super) fn handle_recognized(&mut self, now: Instant, from: Mac, header: &NameHeader) {
        let index = self.sessions.iter().position(|session| {
            session.is_caller
                && session.call.correlator == header.transmit_correlator
                && session.call.called == header.source
                && session.call.calling == header.destination
        });
        let Some(index) = index else {
            self.common.counts.unknown_frames += 1;
            return;
        };
        let [number, _] = header.data2.to_le_bytes();
        let session = &mut self.sessions[index];
        match session.phase {
            Phase::Finding => {
                session.station = from;
                session.phase = Phase::Calling;
                session.call.begin_anew(self.correlators.next());
                self.query(now, index);
            }
            Phase::Calling if number == 0 => {
                let (is_over, id) = (session.call.is_refused(), session.id);
                if is_over {
                    self.drop_session(now, id, Why::NotListening);
                }
            }
            Phase::Calling if number == value::NO_RESOURCES => {
                let id = session.id;
                self.drop_session(now, id, Why::NoResources);
            }
            Phase::Calling => {
                session.station = from;
                session.remote_number = number;
                session.answer_correlator = header.response_correlator;
                session.phase = Phase::Linking;
                session.deadline = None;
                self.link_up(now, index);
            }
            // A second station has the same name: notify both.
            _ if session.station != from => {
                let own = lanlab_wire::nbf::permanent_name(self.mac);
                let conflict = NameHeader::new(NameCommand::NameInConflict, header.source, own);
                self.common.interface.push(Mac::NETBIOS_GROUP, conflict, &[]);
            }
            _ => {}
        }
    }

    fn link_up(&mut self, now: Instant, index: usize) {
        let session = &mut self.sessions[index];
        let station = session.station;
        self.make_room_for_link(station);
        let session = &mut self.sessions[index];
        let Some(peer) = self.peers.get(session.station, &self.profile.link) else {
            let id = session.id;
            self.drop_session(now, id, Why::NoResources);
            return;
        };
        peer.idle_until = None;
        match peer.link.state() {
            llc::State::Opened => session.initialize(now, &self.profile, &mut self.correlators),
            llc::State::Disconnected => peer.link.connect(now),
            // A new link is set up once this one has ended.
            llc::State::FrameRejectSent => peer.link.disconnect(now),
            llc::State::Opening | llc::State::Disconnecting => {}
        }
    }

    /// A station calls a name of ours, with its session number.
    pub(super) fn handle_call(&mut self, now: Instant, from: Mac, header: &NameHeader) {
        let [number, _] = header.data2.to_le_bytes();
        let same = self.sessions.iter().position(|session| {
            !session.is_caller && session.station == from && session.remote_number == number
        });
        if let Some(index) = same {
            let session = &self.sessions[index];
            if session.call.correlator == header.response_correlator {
                let (local, correlator) = (session.local_number, session.answer_correlator);
                self.recognize(from, header, local, correlator);
                return;
            }
            // The station reuses the number: its earlier session is over.
            let (id, is_known) = (session.id, session.phase != Phase::Recognized);
            self.sessions.remove(index);
            if is_known {
                self.common.event(Event::Ended(id, Why::ByPeer));
            }
        }
        if !self.is_listening {
            self.recognize(from, header, 0, 0);
            return;
        }
        let Some(local) = self.number_for_call(now, from) else {
            self.recognize(from, header, value::NO_RESOURCES, 0);
            return;
        };
        let names = [header.destination, header.source];
        let mut session = Session::new(self.ids.next(), now, &self.profile, names);
        session.is_caller = false;
        session.phase = Phase::Recognized;
        session.station = from;
        session.local_number = local;
        session.remote_number = number;
        session.call.correlator = header.response_correlator;
        session.answer_correlator = self.correlators.next();
        session.deadline = Some(now.plus_nanos(self.profile.session_wait_ns));
        let correlator = session.answer_correlator;
        self.sessions.push(session);
        self.recognize(from, header, local, correlator);
    }

    pub(super) fn recognize(
        &mut self,
        to: Mac,
        query: &NameHeader,
        number: u8,
        response_correlator: u16,
    ) {
        let answer = NameHeader {
            data2: u16::from(number),
            transmit_correlator: query.response_correlator,
            response_correlator,
            ..NameHeader::new(NameCommand::NameRecognized, query.source, query.destination)
        };
        self.common.interface.push(to, answer, &[]);
    }

    pub(super) fn drop_session(&mut self, now: Instant, id: SessionId, why: Why) {
        let Some(index) = self.sessions.iter().position(|session| session.id == id) else { return };
        let session = self.sessions.remove(index);
        // Sessions in `Ending` were already reported; recognized ones never were.
        if !matches!(session.phase, Phase::Ending | Phase::Recognized) {
            self.common.event(Event::Ended(id, why));
        }
        self.leave_link(now, session.station);
    }

    pub(super) fn finish(&mut self, index: usize, reason: u16, why: Why) {
        let session = &mut self.sessions[index];
        session.end(reason);
        let id = session.id;
        self.common.event(Event::Ended(id, why));
    }

    pub(super) fn handle_link_events(&mut self, now: Instant, index: usize) {
        while let Some(event) = self.peers.all[index].link.poll_event() {
            let station = self.peers.all[index].mac;
            match event {
                llc::Event::Opened => {
                    for session in &mut self.sessions {
                        if session.station == station && session.phase == Phase::Linking {
                            session.initialize(now, &self.profile, &mut self.correlators);
                        }
                    }
                }
                llc::Event::Ended(why) => self.link_ended(now, index, station, why),
            }
        }
    }

    fn link_ended(&mut self, now: Instant, index: usize, station: Mac, why: llc::Ended) {
        let mut reconnects = false;
        let mut ended = Vec::new();
        for session in self.sessions.iter().filter(|session| session.station == station) {
            match session.phase {
                // The other station is restarting the link: these sessions belong to the new one.
                Phase::Finding | Phase::Calling | Phase::Recognized => {}
                Phase::Linking if why == llc::Ended::Closed => reconnects = true,
                Phase::Linking | Phase::Initializing | Phase::Open | Phase::Ending => {
                    ended.push(session.id);
                }
            }
        }
        for id in ended {
            self.drop_session(now, id, Why::Link(why));
        }
        if reconnects {
            self.peers.all[index].link.connect(now);
        }
    }

    pub(super) fn handle_session_timeouts(&mut self, now: Instant) {
        let mut index = 0;
        while index < self.sessions.len() {
            let session = &mut self.sessions[index];
            let id = session.id;
            if session.receiving.held.is_some_and(|(_, at)| at <= now) {
                session.release_held();
            }
            let alive_ns = self.profile.alive_ns;
            if alive_ns > 0
                && session.phase == Phase::Open
                && now.nanos_since(session.last_traffic) >= alive_ns
            {
                session.last_traffic = now;
                session.ask_alive();
            }
            if session.deadline.is_some_and(|at| at <= now) {
                session.deadline = None;
                match session.phase {
                    Phase::Finding | Phase::Calling => {
                        match session.call.handle_timeout(QueryPace::of(&self.profile)) {
                            Unanswered::Again => self.query(now, index),
                            Unanswered::NotListening => {
                                self.drop_session(now, id, Why::NotListening);
                            }
                            Unanswered::NameNotFound => {
                                self.drop_session(now, id, Why::NameNotFound);
                            }
                        }
                    }
                    Phase::Initializing => {
                        self.finish(index, value::ABNORMAL_END, Why::NoAnswer);
                    }
                    Phase::Recognized => self.drop_session(now, id, Why::NoAnswer),
                    // Data queued before the close could not be sent.
                    Phase::Open => self.finish(index, value::ABNORMAL_END, Why::Closed),
                    Phase::Linking | Phase::Ending => {}
                }
            }
            if self.sessions.get(index).is_some_and(|session| session.id == id) {
                index += 1;
            }
        }
    }

    /// End closed sessions that have sent everything; drop those whose end was reported.
    pub(super) fn settle(&mut self, now: Instant) {
        let mut index = 0;
        while index < self.sessions.len() {
            let session = &self.sessions[index];
            if session.is_over {
                let station = session.station;
                self.sessions.remove(index);
                self.leave_link(now, station);
                if let Some(peer) = self.peers.find(station) {
                    peer.hangs_up = true;
                }
                continue;
            }
            if session.phase == Phase::Open && session.is_closing && session.sending.is_empty() {
                self.finish(index, value::HANG_UP, Why::Closed);
            }
            index += 1;
        }
    }

    pub(super) fn is_used(&self, station: Mac) -> bool {
        self.sessions.iter().any(|session| session.station == station && session.phase.uses_link())
    }

    pub(super) fn leave_link(&mut self, now: Instant, station: Mac) {
        if self.is_used(station) {
            return;
        }
        if let Some(peer) = self.peers.find(station) {
            peer.idle_until = Some(now.plus_nanos(IDLE_LINK_NS));
        }
    }

    /// End links without sessions of ours once all is acknowledged. Returns whether any ended.
    pub(super) fn hang_up_unused(&mut self, now: Instant) -> bool {
        let mut is_any = false;
        for index in 0..self.peers.all.len() {
            let peer = &self.peers.all[index];
            let is_over = peer.hangs_up
                && peer.link.state() == llc::State::Opened
                && peer.link.is_drained()
                && !self.is_used(peer.mac);
            if is_over {
                let peer = &mut self.peers.all[index];
                peer.hangs_up = false;
                peer.idle_until = None;
                peer.link.disconnect(now);
                is_any = true;
            }
        }
        is_any
    }

    pub(super) fn announce(&mut self, index: usize) {
        let session = &self.sessions[index];
        let event = if session.is_caller {
            Event::Opened(session.id, FACTS)
        } else {
            Event::Accepted {
                session: session.id,
                facts: FACTS,
                station: session.station,
                called: Peer::Name(session.call.called),
                calling: Peer::Name(session.call.calling),
            }
        };
        self.common.event(event);
    }
}
