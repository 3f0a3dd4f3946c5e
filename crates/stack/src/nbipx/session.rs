//! One session, once the other station is found.

use lanlab_units::Instant;
use lanlab_wire::ipx::{framing, packet_type, socket};
use lanlab_wire::nbipx::{
    NO_CONNECTION, Opening, SESSION_HEADER_LEN, SessionHeader, control, stream,
};

use super::Common;
use super::receiving::{Receiving, Taken};
use crate::carrier::{Event, SessionId, Why};
use crate::ipx::Place;
use crate::netbios::NameCall;
use crate::profile::Profile;
use crate::sequenced::{Acknowledged, Sending, Timer, Wait, is_after};

/// Smallest packet data accepted, bytes: with less, a message could need more packets than there are numbers.
const LEAST_DATA: u16 = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Finding,
    Calling,
    Open,
    Ending,
    Over,
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) phase: Phase,
    pub(super) is_caller: bool,
    pub(super) call: NameCall,
    pub(super) query_at: Option<Instant>,
    pub(super) place: Option<Place>,
    pub(super) local: u16,
    pub(super) remote: u16,
    pub(super) called_at: Instant,
    /// Packets after the call that show progress.
    pub(super) went_on: u32,
    pub(super) heard: Instant,
    pub(super) timer: Timer,
    pub(super) acknowledge_at: Option<Instant>,
    pub(super) close_at: Option<Instant>,
    pub(super) sending: Sending,
    pub(super) receiving: Receiving,
    profile: Profile,
    /// A packet whose acknowledgement was requested: the number after it, and when it was sent.
    timed: Option<(u16, Instant)>,
}

impl Session {
    /// A session with a local number; `first` is the first expected number.
    pub(super) fn new(
        id: SessionId,
        now: Instant,
        profile: &Profile,
        (call, local, first): (NameCall, u16, u16),
    ) -> Self {
        Self {
            id,
            phase: Phase::Finding,
            is_caller: true,
            call,
            query_at: None,
            place: None,
            local,
            remote: NO_CONNECTION,
            called_at: now,
            went_on: 0,
            heard: now,
            timer: Timer::new(now),
            acknowledge_at: None,
            close_at: None,
            sending: Sending::new(0, 0, usize::from(LEAST_DATA)),
            receiving: Receiving::new(first, profile.ipx.window.value),
            profile: *profile,
            timed: None,
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let all = [self.query_at, self.timer.deadline, self.acknowledge_at, self.close_at];
        all.into_iter().flatten().min()
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open) && self.close_at.is_none()
    }

    fn longest_data(&self) -> u16 {
        let own = self.profile.ipx.longest_data.value;
        self.place.map_or(own, |place| {
            own.min((framing::longest_data(place.framing) - SESSION_HEADER_LEN) as u16)
        })
    }

    fn push(&mut self, mut header: SessionHeader, data: &[u8], common: &mut Common) {
        let Some(place) = self.place else { return };
        header.expected = self.receiving.next;
        header.window_end = self.receiving.grant();
        (header.source, header.destination) = (self.local, self.remote);
        self.acknowledge_at = None;
        self.receiving.unacknowledged = 0;
        let mut packet = common.memory();
        header.emit(&mut packet);
        packet.extend_from_slice(data);
        common.interface.push(place, packet_type::EXCHANGE, socket::NETBIOS, &packet);
        common.keep(packet);
    }

    fn push_system(&mut self, bits: u8, kind: u8, common: &mut Common) {
        common.counts.system_sent += 1;
        let sequence = self.sending.next();
        let control = control::SYSTEM | bits;
        let header = SessionHeader { control, stream: kind, sequence, ..Default::default() };
        self.push(header, &[], common);
    }

    fn acknowledge(&mut self, common: &mut Common) {
        self.push_system(0, stream::DATA, common);
    }

    fn push_opening(&mut self, bits: u8, common: &mut Common) {
        let names = [self.call.calling.0, self.call.called.0];
        let [source, destination] = if self.is_caller { names } else { [names[1], names[0]] };
        let (longest_data, times) = (self.longest_data(), self.profile.ipx.times.value);
        let mut data = common.memory();
        Opening { source, destination, longest_data, times }.emit(&mut data);
        let length = data.len() as u16;
        let header = SessionHeader {
            control: control::CONNECT | bits,
            stream: stream::DATA,
            total_bytes: length,
            data_bytes: length,
            ..Default::default()
        };
        self.push(header, &data, common);
        common.keep(data);
    }

    pub(super) fn call_station(&mut self, now: Instant, place: Place, common: &mut Common) {
        (self.phase, self.place, self.query_at) = (Phase::Calling, Some(place), None);
        self.timed = Some((1, now));
        self.timer.begin(now, Wait::Answer, true, self.profile.ipx);
        self.push_opening(control::ACKNOWLEDGE, common);
    }

    /// The other end has called: the session is open. False if its parameters are unacceptable.
    pub(super) fn accept(
        &mut self,
        now: Instant,
        (header, opening): (&SessionHeader, &Opening),
        common: &mut Common,
    ) -> bool {
        self.is_caller = false;
        if !self.agree(header, opening, 0) {
            return false;
        }
        self.answer_call(common);
        self.set_timer(now, true, true);
        true
    }

    pub(super) fn answer_call(&mut self, common: &mut Common) {
        common.counts.system_sent += 1;
        self.push_opening(control::SYSTEM, common);
    }

    fn agree(&mut self, header: &SessionHeader, opening: &Opening, first: u16) -> bool {
        let part_bytes = self.longest_data().min(opening.longest_data);
        if part_bytes < LEAST_DATA || header.source == NO_CONNECTION {
            return false;
        }
        self.remote = header.source;
        self.sending = Sending::new(first, header.window_end, usize::from(part_bytes));
        self.phase = Phase::Open;
        true
    }

    /// Handle a packet of the other end. Returns the reason if the session has ended.
    pub(super) fn handle_packet(
        &mut self,
        now: Instant,
        (header, data): (&SessionHeader, &[u8]),
        common: &mut Common,
    ) -> Option<Why> {
        match self.phase {
            Phase::Finding => None,
            Phase::Calling => self.handle_answer(now, header, data, common),
            Phase::Open => self.handle_open(now, (header, data), common),
            Phase::Ending | Phase::Over => {
                if header.stream == stream::END {
                    self.push_system(0, stream::END_ACKNOWLEDGED, common);
                    self.end(now);
                }
                let is_answer = header.stream == stream::END_ACKNOWLEDGED;
                (is_answer && self.phase == Phase::Ending).then_some(Why::Closed)
            }
        }
    }

    fn handle_answer(
        &mut self,
        now: Instant,
        header: &SessionHeader,
        data: &[u8],
        common: &mut Common,
    ) -> Option<Why> {
        let needed = control::SYSTEM | control::CONNECT;
        let is_answer = header.control & needed == needed && header.expected == 1;
        let opening = Opening::parse(data).ok().filter(|_| is_answer);
        let Some(opening) = opening.filter(|opening| opening.source == self.call.called.0) else {
            common.counts.discarded += 1;
            return None;
        };
        if !self.agree(header, &opening, 1) {
            return Some(Why::Protocol);
        }
        self.measure(now, 1);
        self.set_timer(now, true, true);
        common.event(Event::Opened(self.id, crate::netbios::FACTS));
        None
    }

    fn measure(&mut self, now: Instant, expected: u16) {
        if let Some((_, sent_at)) = self.timed.take_if(|(number, _)| *number == expected) {
            self.timer.measure(now.nanos_since(sent_at));
        }
    }

    fn handle_open(
        &mut self,
        now: Instant,
        (header, data): (&SessionHeader, &[u8]),
        common: &mut Common,
    ) -> Option<Why> {
        let Acknowledged { is_valid, is_ahead, is_new, messages } =
            self.sending.acknowledge(header.expected, header.window_end);
        common.counts.acknowledged_unsent += u64::from(is_ahead);
        for _ in 0..messages {
            common.event(Event::Room(self.id));
        }
        if is_new {
            self.measure(now, header.expected);
        }
        self.went_on = self.went_on.saturating_add((is_new || header.is_numbered()).into());
        self.heard = now;
        if is_valid && header.control & control::RESEND != 0 {
            common.counts.resends_heard += 1;
            self.timed = None;
            self.sending.go_back();
        }
        if header.stream == stream::END && !is_after(header.sequence, self.receiving.next) {
            self.receiving.next = header.sequence.wrapping_add(1);
            self.push_system(0, stream::END_ACKNOWLEDGED, common);
            self.end(now);
            return Some(Why::ByPeer);
        }
        if header.is_numbered() {
            let why = self.handle_numbered(now, header, data, common);
            if why.is_some() {
                self.push_end(common);
                return why;
            }
        } else if header.control & control::ACKNOWLEDGE != 0 {
            self.acknowledge(common);
        }
        self.go_on(now, is_new, true, common);
        None
    }

    fn handle_numbered(
        &mut self,
        now: Instant,
        header: &SessionHeader,
        data: &[u8],
        common: &mut Common,
    ) -> Option<Why> {
        // If earlier packets are missing, an end is requested again like data.
        let is_data = header.stream == stream::DATA;
        let taken = if is_data { self.receiving.handle_data(header, data) } else { Taken::Gap };
        match taken {
            Taken::Part | Taken::Whole => common.counts.received += 1,
            Taken::Gap if self.receiving.is_to_ask() => {
                common.counts.resends_asked += 1;
                self.push_system(control::RESEND, stream::DATA, common);
            }
            Taken::Again | Taken::Closed => self.acknowledge(common),
            Taken::Gap => {}
            Taken::Senseless => return Some(Why::Protocol),
        }
        if !matches!(taken, Taken::Part | Taken::Whole) {
            common.counts.discarded += 1;
            return None;
        }
        if taken == Taken::Whole {
            self.receiving.incoming.deliver(self.id, common);
        }
        let ipx = self.profile.ipx;
        let waits_for_data = taken == Taken::Whole && self.profile.piggybacks.value;
        let is_slow = |mean_ns| mean_ns >= ipx.slow_ns.value;
        let is_enough = self.timer.round_trip_ns().is_some_and(is_slow)
            && self.receiving.unacknowledged >= ipx.ack_window.value
            || self.receiving.is_used_up();
        let is_asked = header.control & control::ACKNOWLEDGE != 0;
        if is_asked || !waits_for_data && (taken == Taken::Whole || is_enough) {
            self.acknowledge(common);
        } else if self.acknowledge_at.is_none() {
            self.acknowledge_at = Some(now.plus_nanos(ipx.ack_delay_ns.value));
        }
        None
    }

    /// Send what the window allows, and set the timers.
    pub(super) fn go_on(
        &mut self,
        now: Instant,
        is_new: bool,
        was_heard: bool,
        common: &mut Common,
    ) {
        while self.phase == Phase::Open && self.push_next(now, common) {}
        if self.close_at.is_some() && self.sending.is_empty() {
            self.begin_end(now, common);
        } else {
            self.set_timer(now, is_new, was_heard);
        }
    }

    /// Send the next part of a message if the window allows.
    fn push_next(&mut self, now: Instant, common: &mut Common) -> bool {
        let Some(part) = self.sending.next_part() else { return false };
        let mut control = if part.is_last { control::END_OF_MESSAGE } else { 0 };
        if part.is_blocking {
            control |= control::ACKNOWLEDGE;
        }
        if part.is_again {
            common.counts.sent_again += 1;
            self.timed = None;
        } else {
            common.counts.sent += 1;
            if part.is_blocking {
                self.timed = Some((part.number.wrapping_add(1), now));
            }
        }
        let header = SessionHeader {
            control,
            stream: stream::DATA,
            sequence: part.number,
            total_bytes: part.total_bytes,
            offset: part.offset,
            data_bytes: part.data.len() as u16,
            ..Default::default()
        };
        // The packet is written at once, so the part need not be kept.
        let mut data = common.memory();
        data.extend_from_slice(part.data);
        self.push(header, &data, common);
        common.keep(data);
        true
    }

    fn set_timer(&mut self, now: Instant, is_new: bool, was_heard: bool) {
        let (wait, begins) = match self.phase {
            Phase::Finding => (Wait::Nothing, false),
            Phase::Calling => (Wait::Answer, false),
            Phase::Over => (Wait::Oblivion, is_new),
            Phase::Open if self.sending.is_empty() => (Wait::Alive, was_heard),
            Phase::Open if self.sending.is_shut() => (Wait::Room, was_heard),
            Phase::Ending | Phase::Open => (Wait::Acknowledgement, is_new),
        };
        self.timer.begin(now, wait, begins, self.profile.ipx);
    }

    /// Do everything that is due. Returns the reason if the session has ended; expired sessions are dropped.
    pub(super) fn handle_timeout(&mut self, now: Instant, common: &mut Common) -> Option<Why> {
        if self.acknowledge_at.is_some_and(|at| at <= now) {
            self.acknowledge(common);
        }
        if self.close_at.is_some_and(|at| at <= now) {
            // Unsent data is dropped.
            self.begin_end(now, common);
            return None;
        }
        if self.timer.deadline.is_none_or(|at| at > now) {
            return None;
        }
        self.timed = None;
        match self.timer.expire(now, self.profile.ipx) {
            None | Some(Wait::Nothing | Wait::Oblivion) => return Some(Why::NoAnswer),
            Some(Wait::Answer) => self.push_opening(control::ACKNOWLEDGE, common),
            Some(Wait::Room | Wait::Alive) => {
                self.push_system(control::ACKNOWLEDGE, stream::DATA, common);
            }
            Some(Wait::Acknowledgement | Wait::End) => {
                common.counts.late += 1;
                if self.phase == Phase::Ending {
                    self.push_end(common);
                } else {
                    self.sending.doubt();
                    self.push_next(now, common);
                }
            }
        }
        None
    }

    pub(super) fn close(&mut self, now: Instant, common: &mut Common) {
        self.close_at = Some(now.plus_nanos(self.profile.session_wait_ns.value));
        self.receiving.incoming.drop_held();
        self.go_on(now, false, false, common);
    }

    fn begin_end(&mut self, now: Instant, common: &mut Common) {
        (self.phase, self.close_at, self.acknowledge_at) = (Phase::Ending, None, None);
        self.push_end(common);
        self.set_timer(now, true, true);
        common.event(Event::Ended(self.id, Why::Closed));
    }

    fn push_end(&mut self, common: &mut Common) {
        let (control, sequence) = (control::ACKNOWLEDGE, self.sending.acknowledged);
        let header = SessionHeader { control, stream: stream::END, sequence, ..Default::default() };
        self.push(header, &[], common);
    }

    fn end(&mut self, now: Instant) {
        (self.phase, self.acknowledge_at, self.close_at) = (Phase::Over, None, None);
        self.sending = Sending::new(self.sending.next(), 0, usize::from(LEAST_DATA));
        self.receiving.incoming.clear();
        self.set_timer(now, false, false);
    }

    pub(super) const fn pause(&mut self) {
        self.receiving.incoming.pause();
    }

    pub(super) fn resume(&mut self, common: &mut Common) {
        self.receiving.incoming.resume(self.id, common);
        if self.phase == Phase::Open {
            // Let the other end resume.
            self.acknowledge(common);
        }
    }
}
