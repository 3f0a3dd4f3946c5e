//! The sessions of a station, and their beginning and end.

use lanlab_units::Instant;
use lanlab_units::room::{Full, Standing};
use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::Name;

use super::session::{Common, Phase, Protocol, Session};
use crate::carrier::{Count, Event, NotSent, Peer, SessionId, SessionIds, StationConfig, Why};
use crate::netbios::{FACTS, LONGEST_MESSAGE, NameCall, QueryPace, Unanswered};
use crate::profile::Profile;

/// Maximum outgoing sessions, and maximum ended sessions that still answer.
const MOST_CALLS: usize = 254;
const MOST_OVER: usize = 254;
/// A repeated call within this time is a duplicate; later it means that the station restarted, ns.
const LATE_COPY_NS: u64 = 30_000_000_000;

#[derive(Debug)]
pub(crate) struct Sessions<P: Protocol> {
    pub(crate) name: Name,
    pub(crate) profile: Profile,
    ids: SessionIds,
    pub(crate) is_listening: bool,
    pub(crate) all: Vec<Session<P>>,
    last_connection: u16,
    pub(crate) common: Common<P>,
}

impl<P: Protocol> Sessions<P> {
    pub(crate) fn new(config: &StationConfig, now: Instant, interface: P::Interface) -> Self {
        Self {
            name: config.name,
            profile: config.profile,
            ids: SessionIds::default(),
            is_listening: false,
            all: Vec::new(),
            // A restarted station must not be mistaken for its predecessor.
            last_connection: (now.as_nanos() / 1_000_000) as u16,
            common: Common::<P>::new(interface),
        }
    }

    /// A call that fails at once.
    pub(crate) fn refuse(&mut self, why: Why) -> SessionId {
        let id = self.ids.next();
        self.common.event(Event::Ended(id, why));
        id
    }

    pub(crate) fn has_room_to_call(&self) -> bool {
        let callers = self.all.iter().filter(|one| one.is_caller && one.phase.is_reported());
        callers.count() < MOST_CALLS
    }

    fn free_connection(&mut self) -> u16 {
        loop {
            self.last_connection = self.last_connection.wrapping_add(1);
            let number = self.last_connection;
            let is_taken = self.all.iter().any(|session| session.local == number);
            // Both mean "unknown" in some stacks.
            if !matches!(number, 0 | u16::MAX) && !is_taken {
                return number;
            }
        }
    }

    pub(crate) fn new_session(&mut self, now: Instant, call: NameCall, own: P) -> Session<P> {
        let (id, local) = (self.ids.next(), self.free_connection());
        Session::new(id, now, &self.profile, (call, local), own)
    }

    /// Keep a session; returns its index.
    pub(crate) fn push(&mut self, session: Session<P>) -> usize {
        let is_over = |one: &Session<P>| !one.phase.is_reported();
        if self.all.iter().filter(|one| is_over(one)).count() >= MOST_OVER
            && let Some(index) = self.all.iter().position(is_over)
        {
            self.all.remove(index);
        }
        self.all.push(session);
        self.all.len() - 1
    }

    /// Keep a session of another station, whose call was answered; returns its index.
    pub(crate) fn accept(
        &mut self,
        session: Session<P>,
        station: Mac,
        [called, calling]: [Peer; 2],
    ) -> usize {
        let (session, index) = (session.id, self.push(session));
        self.common.event(Event::Accepted { session, facts: FACTS, station, called, calling });
        index
    }

    /// A call of a known session: answer it again if it is a duplicate. Otherwise its station has restarted and
    /// lost its earlier state, so the session has ended.
    pub(crate) fn is_answered_again(&mut self, now: Instant, index: usize) -> bool {
        let session = &mut self.all[index];
        let is_copy = session.went_on == 0 || now.nanos_since(session.called_at) < LATE_COPY_NS;
        if !is_copy {
            self.finish(index, Some(Why::ByPeer));
        } else if session.phase == Phase::Open {
            self.common.counts.answered_again += 1;
            P::answer_call(session, &mut self.common);
        }
        is_copy
    }

    /// Make room for a session of a station: drop one that was only called.
    pub(crate) fn make_room(&mut self, now: Instant, station: Mac) -> Result<(), Full> {
        let is_called = |one: &Session<P>| !one.is_caller && one.phase.is_reported();
        let called = self.all.iter().enumerate().filter(|(_, session)| is_called(session));
        let mac = |one: &Session<P>| one.place.map(|place| place.mac);
        let called = called.map(|(index, one)| {
            (index, Standing::of(mac(one), one.went_on, now.nanos_since(one.heard)))
        });
        let places = P::places(&self.profile);
        let Some(index) = places.room(&Some(station), called)? else { return Ok(()) };
        self.common.counts.crowded_out += 1;
        self.finish(index, Some(Why::NoResources));
        Ok(())
    }

    /// Drop a session if it has ended, and report its end unless the program knows it.
    pub(crate) fn finish(&mut self, index: usize, ended: Option<Why>) {
        let Some(why) = ended else { return };
        let session = self.all.remove(index);
        if session.phase.is_reported() {
            self.common.event(Event::Ended(session.id, why));
        }
    }

    pub(crate) fn send(
        &mut self,
        now: Instant,
        to: SessionId,
        message: &[u8],
    ) -> Result<(), NotSent> {
        if message.len() > LONGEST_MESSAGE {
            return Err(NotSent::TooLong);
        }
        let session = self.all.iter_mut().find(|session| session.id == to);
        let session = session.filter(|session| session.is_open()).ok_or(NotSent::NoSession)?;
        session.sending.offer(message)?;
        session.go_on(now, false, false, &mut self.common);
        Ok(())
    }

    pub(crate) fn close(&mut self, now: Instant, id: SessionId) {
        let Some(index) = self.all.iter().position(|session| session.id == id) else { return };
        match self.all[index].phase {
            Phase::Open => self.all[index].close(now, &mut self.common),
            Phase::Finding | Phase::Calling => self.finish(index, Some(Why::Closed)),
            Phase::Ending | Phase::Replying | Phase::Over => {}
        }
    }

    pub(crate) fn pause(&mut self, id: SessionId) {
        let session = self.all.iter_mut().find(|session| session.id == id);
        if let Some(session) = session.filter(|session| session.phase.is_reported()) {
            session.incoming.pause();
        }
    }

    pub(crate) fn resume(&mut self, id: SessionId) {
        let session = self.all.iter_mut().find(|session| session.id == id);
        if let Some(session) = session.filter(|session| session.incoming.is_paused()) {
            session.resume(&mut self.common);
        }
    }

    pub(crate) fn counts(&self) -> impl Iterator<Item = Count> {
        let counts = self.common.counts.keyed().into_iter();
        counts.filter(|(key, _)| !P::NOT_COUNTED.contains(key))
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        for index in (0..self.all.len()).rev() {
            let session = &mut self.all[index];
            if session.deadline().is_none_or(|at| at > now) {
                continue;
            }
            let ended = if session.phase == Phase::Finding {
                match session.call.handle_timeout(QueryPace::of(&self.profile)) {
                    Unanswered::Again => {
                        session.ask(now, &mut self.common);
                        None
                    }
                    Unanswered::NameNotFound | Unanswered::NotListening => Some(Why::NameNotFound),
                }
            } else {
                session.handle_timeout(now, &mut self.common)
            };
            self.finish(index, ended);
        }
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.all.iter().filter_map(Session::deadline).min()
    }
}
