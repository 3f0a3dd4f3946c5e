//! A station: the interface for its driver and the program above.

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::nbf::value;
use lanlab_wire::netbios_name::Name;

use super::LONGEST_MESSAGE;
use super::output::Output;
use super::peers::Peers;
use super::session::{Phase, Session};
use crate::carrier::{
    BadPeer, Carrier, Count, Event, NameEvent, NotSent, Peer, Readiness, SessionId, SessionIds,
    StationConfig, Stray, Why,
};
use crate::common::Common;
use crate::counts::counts;
use crate::llc;
use crate::netbios::{self, Correlators, OwnName, QueryPace};
use crate::profile::Profile;

counts! {
    pub struct Counts {
        sent_frames,
        received_frames,
        unknown_frames: "unknown_frames",
        unknown_session_frames: "unknown_session_frames",
        /// Answers dropped because the driver had not sent earlier ones.
        dropped_answers: "dropped_answers",
        name_disputes: "name_disputes",
        name_conflicts: "name_conflicts",
        /// Unfinished links and calls of other stations, evicted for new ones.
        crowded_out: "crowded_out",
    }
}

#[derive(Debug)]
pub struct Station {
    pub(super) mac: Mac,
    pub(super) name: Name,
    pub(super) profile: Profile,
    pub(super) started: Instant,
    pub(super) correlators: Correlators,
    pub(super) common: Common<Counts, Output>,
    pub(super) own_name: OwnName,
    pub(super) peers: Peers,
    pub(super) sessions: Vec<Session>,
    pub(super) ids: SessionIds,
    pub(super) is_listening: bool,
    pub(super) last_number: u8,
    pub(super) ended_links: llc::Counts,
    turn: usize,
}

impl Station {
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

    pub fn station_counts(&self) -> Counts {
        Counts { dropped_answers: self.common.interface.dropped, ..self.common.counts }
    }

    pub fn link_counts(&self) -> llc::Counts {
        self.peers.all.iter().fold(self.ended_links, |sum, peer| sum + peer.link.counts())
    }

    pub(super) fn report(&mut self, outcomes: &[NameEvent]) {
        for outcome in outcomes {
            self.common.counts.name_disputes +=
                u64::from(matches!(outcome, NameEvent::Disputed(..)));
            self.common.counts.name_conflicts += u64::from(outcome.is_conflict());
            self.common.event(Event::Name(*outcome));
        }
    }
}

impl Carrier for Station {
    fn new(config: &StationConfig, now: Instant) -> Self {
        let &StationConfig { mac, name, profile, .. } = config;
        let mut correlators = Correlators::default();
        let mut station = Self {
            own_name: OwnName::new(mac, name, now, &mut correlators),
            mac,
            name,
            profile,
            started: now,
            correlators,
            common: Common::new(Output::new(mac)),
            peers: Peers::default(),
            sessions: Vec::new(),
            ids: SessionIds::default(),
            is_listening: false,
            last_number: 0,
            ended_links: llc::Counts::default(),
            turn: 0,
        };
        station.handle_timeout(now);
        station
    }

    fn server(name: &str) -> Result<Peer, BadPeer> {
        netbios::server(name)
    }

    fn readiness(&self) -> Readiness {
        self.own_name.readiness()
    }

    fn open(&mut self, now: Instant, to: Peer) -> SessionId {
        let id = self.ids.next();
        let Peer::Name(to) = to else {
            self.common.event(Event::Ended(id, Why::AddressFamily));
            return id;
        };
        let mut session = Session::new(id, now, &self.profile, [to, self.name]);
        let Some(number) = self.free_number() else {
            self.common.event(Event::Ended(id, Why::NoResources));
            return id;
        };
        session.local_number = number;
        session.call.correlator = self.correlators.next();
        session.phase =
            if self.profile.queries_name_first { Phase::Finding } else { Phase::Calling };
        self.sessions.push(session);
        self.query(now, self.sessions.len() - 1);
        id
    }

    fn listen(&mut self) {
        self.is_listening = true;
    }

    fn send(&mut self, now: Instant, id: SessionId, message: &[u8]) -> Result<(), NotSent> {
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

    fn close(&mut self, now: Instant, id: SessionId) {
        let wait_ns = self.profile.session_wait_ns;
        let Some(session) = self.session(id) else { return };
        if session.phase == Phase::Open {
            session.is_closing = true;
            session.deadline = Some(now.plus_nanos(wait_ns));
            self.settle(now);
        } else {
            self.drop_session(now, id, Why::Closed);
        }
    }

    fn pause(&mut self, id: SessionId) {
        if let Some(session) = self.session(id) {
            session.pause();
        }
    }

    fn resume(&mut self, id: SessionId) {
        if let Some(session) = self.session(id) {
            session.resume();
        }
    }

    fn counts(&self) -> Vec<Count> {
        let station = self.station_counts().keyed().into_iter();
        station.chain(self.link_counts().keyed()).collect()
    }

    fn handle_frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), Stray> {
        self.take_frame(now, frame)
    }

    fn handle_timeout(&mut self, now: Instant) {
        let mut outcomes = Vec::new();
        let sending = (&mut self.common.interface, &mut self.correlators);
        let pace = QueryPace::of(&self.profile);
        self.own_name.handle_timeout(now, pace, sending, &mut outcomes);
        self.report(&outcomes);
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

    fn poll_timeout(&self) -> Option<Instant> {
        let alive_ns = self.profile.alive_ns;
        let others = Instant::earliest([self.own_name.poll_timeout(), self.peers.poll_timeout()]);
        self.sessions.iter().fold(others, |first, session| {
            let held = session.receiving.held.map(|(_, at)| at);
            let may_be_silent = alive_ns > 0 && session.phase == Phase::Open;
            let alive = may_be_silent.then(|| session.last_traffic.plus_nanos(alive_ns));
            Instant::earliest([first, session.deadline, held, alive])
        })
    }

    fn poll_transmit(&mut self, now: Instant, into: &mut Vec<u8>) -> bool {
        if self.common.interface.poll_transmit(into) {
            self.common.counts.sent_frames += 1;
            return true;
        }
        let Self { sessions, correlators, turn, .. } = self;
        let has_frame = |session: &Session| {
            session.phase.uses_link() && session.phase != Phase::Recognized && session.has_frame()
        };
        // Found in a single pass, so that many links do not each search all sessions.
        let ready: Vec<_> =
            sessions.iter().filter(|one| has_frame(one)).map(|one| one.station).collect();
        let is_sent = self.peers.poll_transmit(now, self.mac, into, |station, link| {
            while ready.contains(&station) && link.has_room() {
                let count = sessions.len();
                let ready = (0..count).map(|step| (*turn + step) % count).find(|index| {
                    sessions[*index].station == station && has_frame(&sessions[*index])
                });
                let Some(index) = ready else { break };
                *turn = index + 1;
                sessions[index].next_frame(now, correlators, link.send());
            }
        });
        if !ready.is_empty() {
            self.settle(now);
        }
        if is_sent {
            self.common.counts.sent_frames += 1;
            return true;
        }
        if self.hang_up_unused(now) {
            return self.poll_transmit(now, into);
        }
        for peer in self.peers.tidy() {
            self.ended_links = self.ended_links + peer.link.counts();
        }
        false
    }

    fn poll_event(&mut self, message: &mut Vec<u8>) -> Option<Event> {
        self.common.poll_event(message)
    }
}
