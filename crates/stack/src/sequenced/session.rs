//! One session: its numbers and timers, from the search for the other station to the end.

use std::fmt;

use lanlab_units::Instant;
use lanlab_units::room::Places;
use lanlab_wire::nbipx;
use lanlab_wire::xns::spp::control;

use super::sending::Acknowledged;
use super::timer::Timer;
use super::{Counts, Incoming, Part, Sending, Wait, Waits};
use crate::carrier::{Event, SessionId, Why};
use crate::ipx::{Common as StationCommon, Place};
use crate::netbios::{NameCall, QueryPace};
use crate::profile::Profile;

pub(crate) type Common<P> = StationCommon<Counts, <P as Protocol>::Interface>;

const _: () = assert!(
    control::SYSTEM == nbipx::control::SYSTEM
        && control::ACKNOWLEDGE == nbipx::control::ACKNOWLEDGE
        && control::END_OF_MESSAGE == nbipx::control::END_OF_MESSAGE
);

/// The packets of a carrier, and how its sessions begin and end. Implemented by the part of a session that only
/// this carrier has.
pub(crate) trait Protocol: fmt::Debug + Sized {
    type Header;
    type Interface: fmt::Debug;
    type Waits: Waits + 'static;

    /// Value for the other end's connection while it is unknown.
    const NO_CONNECTION: u16;
    /// Whether the newest packet that requests its acknowledgement is timed; otherwise one after another.
    const TIMES_NEWEST: bool;
    /// Counters that this carrier does not have.
    const NOT_COUNTED: &'static [&'static str];

    fn waits(profile: &Profile) -> &'static Self::Waits;

    /// Limits on incoming sessions.
    fn places(profile: &Profile) -> Places;

    /// The header of a packet without data.
    fn header(control: u8, sequence: u16) -> Self::Header;

    /// The header of a part of a message.
    fn part_header(control: u8, part: &Part<'_>) -> Self::Header;

    /// Whether to request the acknowledgement of each packet, or of each packet sent again.
    fn asks(_profile: &Profile, _is_again: bool) -> bool {
        false
    }

    /// Write a header with the numbers of the session.
    fn emit(session: &mut Session<Self>, header: Self::Header, out: &mut Vec<u8>);

    fn send(&self, to: Place, packet: &[u8], interface: &mut Self::Interface);

    fn ask(session: &mut Session<Self>, common: &mut Common<Self>);

    fn push_call(session: &mut Session<Self>, common: &mut Common<Self>);

    fn answer_call(session: &mut Session<Self>, common: &mut Common<Self>);

    /// An acknowledgement is late.
    fn is_late(&mut self) {}

    /// The program has closed the session: end it.
    fn begin_end(session: &mut Session<Self>, now: Instant, common: &mut Common<Self>);

    fn end_again(session: &mut Session<Self>, common: &mut Common<Self>);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Finding,
    Calling,
    Open,
    Ending,
    /// The other end has ended it and we have answered, but the answer is unacknowledged.
    Replying,
    Over,
}

impl Phase {
    /// Whether the program has not been told that the session has ended.
    pub(crate) const fn is_reported(self) -> bool {
        matches!(self, Self::Finding | Self::Calling | Self::Open)
    }
}

#[derive(Debug)]
pub(crate) struct Session<P: Protocol> {
    pub(crate) id: SessionId,
    pub(crate) phase: Phase,
    pub(crate) is_caller: bool,
    pub(crate) call: NameCall,
    pub(crate) query_at: Option<Instant>,
    pub(crate) place: Option<Place>,
    pub(crate) local: u16,
    pub(crate) remote: u16,
    pub(super) called_at: Instant,
    /// Packets after the call that show progress.
    pub(super) went_on: u32,
    pub(super) heard: Instant,
    pub(crate) timer: Timer,
    pub(crate) acknowledge_at: Option<Instant>,
    pub(crate) close_at: Option<Instant>,
    pub(crate) sending: Sending,
    pub(crate) incoming: Incoming,
    pub(crate) profile: Profile,
    pub(crate) own: P,
}

impl<P: Protocol> Session<P> {
    pub(super) fn new(
        id: SessionId,
        now: Instant,
        profile: &Profile,
        (call, local): (NameCall, u16),
        own: P,
    ) -> Self {
        Self {
            id,
            phase: Phase::Finding,
            is_caller: true,
            call,
            query_at: None,
            place: None,
            local,
            remote: P::NO_CONNECTION,
            called_at: now,
            went_on: 0,
            heard: now,
            timer: Timer::new(now),
            acknowledge_at: None,
            close_at: None,
            sending: Sending::new(0, 0, 1),
            incoming: Incoming::new(),
            profile: *profile,
            own,
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let all = [self.query_at, self.timer.deadline, self.acknowledge_at, self.close_at];
        all.into_iter().flatten().min()
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open) && self.close_at.is_none()
    }

    pub(crate) fn ask(&mut self, now: Instant, common: &mut Common<P>) {
        P::ask(self, common);
        self.query_at = Some(self.call.sent(now, QueryPace::of(&self.profile)));
    }

    pub(crate) fn push(&mut self, header: P::Header, data: &[u8], common: &mut Common<P>) {
        let Some(place) = self.place else { return };
        self.acknowledge_at = None;
        let mut packet = common.memory();
        P::emit(self, header, &mut packet);
        packet.extend_from_slice(data);
        self.own.send(place, &packet, &mut common.interface);
        common.keep(packet);
    }

    pub(crate) fn push_system(&mut self, bits: u8, common: &mut Common<P>) {
        common.counts.system_sent += 1;
        self.push(P::header(control::SYSTEM | bits, self.sending.next()), &[], common);
    }

    pub(crate) fn acknowledge(&mut self, common: &mut Common<P>) {
        self.push_system(0, common);
    }

    /// The other end expects this number next, and accepts packets up to `window_end`.
    pub(crate) fn handle_acknowledgement(
        &mut self,
        now: Instant,
        expected: u16,
        window_end: u16,
        common: &mut Common<P>,
    ) -> Acknowledged {
        let found = self.sending.acknowledge(expected, window_end);
        common.counts.acknowledged_unsent += u64::from(found.is_ahead);
        for _ in 0..found.messages {
            common.event(Event::Room(self.id));
        }
        if found.is_new {
            self.timer.measure(now, expected);
        }
        found
    }

    pub(crate) const fn hear(&mut self, now: Instant, shows_progress: bool) {
        self.went_on = self.went_on.saturating_add(shows_progress as u32);
        self.heard = now;
    }

    /// A numbered packet has arrived in order: acknowledge it now, or wait for data to carry the acknowledgement.
    pub(crate) fn acknowledge_packet(
        &mut self,
        now: Instant,
        bits: u8,
        (is_whole, is_enough): (bool, bool),
        delay_ns: u64,
        common: &mut Common<P>,
    ) {
        let waits_for_data = is_whole && self.profile.piggybacks;
        let is_asked = bits & control::ACKNOWLEDGE != 0;
        if is_asked || !waits_for_data && (is_whole || is_enough) {
            self.acknowledge(common);
        } else if self.acknowledge_at.is_none() {
            self.acknowledge_at = Some(now.plus_nanos(delay_ns));
        }
    }

    /// Send what the window allows, and set the timers.
    pub(crate) fn go_on(
        &mut self,
        now: Instant,
        is_new: bool,
        was_heard: bool,
        common: &mut Common<P>,
    ) {
        while self.phase == Phase::Open && self.push_next(now, common) {}
        if self.close_at.is_some() && self.sending.is_empty() {
            P::begin_end(self, now, common);
        } else {
            self.set_timer(now, is_new, was_heard);
        }
    }

    /// Send the next part of a message if the window allows.
    fn push_next(&mut self, now: Instant, common: &mut Common<P>) -> bool {
        let Some(part) = self.sending.next_part() else { return false };
        let mut bits = if part.is_last { control::END_OF_MESSAGE } else { 0 };
        if part.is_blocking || P::asks(&self.profile, part.is_again) {
            bits |= control::ACKNOWLEDGE;
        }
        if part.is_again {
            common.counts.sent_again += 1;
            self.timer.timed = None;
        } else {
            common.counts.sent += 1;
            let is_timed = P::TIMES_NEWEST || self.timer.timed.is_none();
            if is_timed && bits & control::ACKNOWLEDGE != 0 {
                self.timer.timed = Some((part.number.wrapping_add(1), now));
            }
        }
        let header = P::part_header(bits, &part);
        // The packet is written at once, so the part need not be kept.
        let mut data = common.memory();
        data.extend_from_slice(part.data);
        self.push(header, &data, common);
        common.keep(data);
        true
    }

    pub(crate) fn set_timer(&mut self, now: Instant, is_new: bool, was_heard: bool) {
        let (wait, begins) = match self.phase {
            Phase::Finding => (Wait::Nothing, false),
            Phase::Calling => (Wait::Answer, false),
            Phase::Ending | Phase::Replying => (Wait::End, is_new),
            Phase::Over => (Wait::Oblivion, is_new),
            Phase::Open if self.sending.is_empty() => (Wait::Alive, was_heard),
            Phase::Open if self.sending.is_shut() => (Wait::Room, was_heard),
            Phase::Open => (Wait::Acknowledgement, is_new),
        };
        self.timer.begin(now, wait, begins, P::waits(&self.profile));
    }

    /// The station is known: call it. `timed` is the number that acknowledges the call.
    pub(crate) fn begin_call(
        &mut self,
        now: Instant,
        place: Place,
        timed: u16,
        common: &mut Common<P>,
    ) {
        (self.phase, self.place, self.query_at) = (Phase::Calling, Some(place), None);
        self.timer.timed = Some((timed, now));
        self.timer.begin(now, Wait::Answer, true, P::waits(&self.profile));
        P::push_call(self, common);
    }

    /// Do everything that is due. Returns the reason if the session has ended.
    pub(super) fn handle_timeout(&mut self, now: Instant, common: &mut Common<P>) -> Option<Why> {
        if self.acknowledge_at.is_some_and(|at| at <= now) {
            self.acknowledge(common);
        }
        if self.close_at.is_some_and(|at| at <= now) {
            // Unsent data is dropped.
            P::begin_end(self, now, common);
            return None;
        }
        if self.timer.deadline.is_none_or(|at| at > now) {
            return None;
        }
        self.timer.timed = None;
        match self.timer.expire(now, P::waits(&self.profile)) {
            None | Some(Wait::Nothing | Wait::Oblivion) => return Some(Why::NoAnswer),
            Some(Wait::Answer) => P::push_call(self, common),
            Some(Wait::Room | Wait::Alive) => self.push_system(control::ACKNOWLEDGE, common),
            Some(Wait::End) => P::end_again(self, common),
            Some(Wait::Acknowledgement) => {
                common.counts.late += 1;
                self.own.is_late();
                self.sending.doubt();
                self.push_next(now, common);
            }
        }
        None
    }

    pub(super) fn close(&mut self, now: Instant, common: &mut Common<P>) {
        self.close_at = Some(now.plus_nanos(self.profile.session_wait_ns));
        self.incoming.drop_held();
        self.go_on(now, false, false, common);
    }

    pub(super) fn resume(&mut self, common: &mut Common<P>) {
        self.incoming.resume(self.id, common);
        if self.phase == Phase::Open {
            // Let the other end resume.
            self.acknowledge(common);
        }
    }
}
