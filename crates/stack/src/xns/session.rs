//! One session, once the other station is found.

mod ending;
mod opening;

use lanlab_units::Instant;
use lanlab_wire::xns::packet_type;
use lanlab_wire::xns::spp::{Header, NO_CONNECTION, control, stream};

use super::Common;
use super::interface::Packet;
use super::receiving::{Receiving, Taken, When};
use crate::carrier::{Event, SessionId, Why};
use crate::ipx::Place;
use crate::netbios::{FACTS, NameCall};
use crate::profile::Profile;
use crate::sequenced::{Acknowledged, Sending, Timer, Wait, is_after};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Finding,
    Calling,
    Open,
    Ending,
    /// The other end has ended it and we have answered, but the answer is unacknowledged.
    Replying,
    Over,
}

impl Phase {
    pub(super) const fn is_reported(self) -> bool {
        matches!(self, Self::Finding | Self::Calling | Self::Open)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    GoesOn,
    Over(Why),
}

#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: SessionId,
    pub(super) phase: Phase,
    pub(super) is_caller: bool,
    pub(super) call: NameCall,
    pub(super) query_at: Option<Instant>,
    pub(super) query: (u32, u32),
    pub(super) place: Option<Place>,
    is_heard: bool,
    pub(super) socket: u16,
    pub(super) local: u16,
    pub(super) remote: u16,
    pub(super) called_at: Instant,
    /// Packets after the call that show progress.
    pub(super) went_on: u32,
    pub(super) heard: Instant,
    pub(super) timer: Timer,
    acknowledge_at: Option<Instant>,
    close_at: Option<Instant>,
    pub(super) sending: Sending,
    pub(super) receiving: Receiving,
    profile: Profile,
    /// A packet whose acknowledgement is timed: the number after it, and when it was sent.
    timed: Option<(u16, Instant)>,
    same_acks: u32,
    last: u16,
}

impl Session {
    pub(super) fn new(
        id: SessionId,
        now: Instant,
        profile: &Profile,
        (call, socket, local): (NameCall, u16, u16),
    ) -> Self {
        Self {
            id,
            phase: Phase::Finding,
            is_caller: true,
            call,
            query_at: None,
            query: (0, 0),
            place: None,
            is_heard: false,
            socket,
            local,
            remote: NO_CONNECTION,
            called_at: now,
            went_on: 0,
            heard: now,
            timer: Timer::new(now),
            acknowledge_at: None,
            close_at: None,
            sending: Sending::new(0, u16::MAX, usize::from(profile.xns.packet_bytes.value)),
            receiving: Receiving::new(profile.xns.window.value),
            profile: *profile,
            timed: None,
            same_acks: 0,
            last: 0,
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        let all = [self.query_at, self.timer.deadline, self.acknowledge_at, self.close_at];
        all.into_iter().flatten().min()
    }

    pub(super) const fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open) && self.close_at.is_none()
    }

    pub(super) fn is_of(&self, packet: &Packet<'_>, header: &Header) -> bool {
        let has_ids = self.local == header.destination && self.socket == packet.socket();
        // A server may answer from a separate socket for this session.
        has_ids
            && self.place.is_some_and(|place| match self.phase {
                Phase::Calling => place.address.node == packet.from.address.node,
                _ => place.is_end(&packet.from) && self.remote == header.source,
            })
    }

    fn push(&mut self, mut header: Header, data: &[u8], common: &mut Common) {
        let Some(place) = self.place else { return };
        header.expected = self.receiving.next;
        header.allocation = self.receiving.grant();
        (header.source, header.destination) = (self.local, self.remote);
        self.acknowledge_at = None;
        let mut packet = common.memory();
        header.emit(&mut packet);
        packet.extend_from_slice(data);
        common.interface.push(place, packet_type::SEQUENCED, self.socket, &packet);
        common.keep(packet);
    }

    fn push_system(&mut self, bits: u8, common: &mut Common) {
        common.counts.system_sent += 1;
        let (control, sequence) = (control::SYSTEM | bits, self.sending.next());
        self.push(Header { control, sequence, ..Default::default() }, &[], common);
    }

    fn acknowledge(&mut self, common: &mut Common) {
        self.push_system(0, common);
    }

    fn push_call(&mut self, common: &mut Common) {
        let framing = common.interface.framing_of_attempt(self.timer.tries());
        if let Some(place) = self.place.as_mut().filter(|_| !self.is_heard) {
            place.framing = framing;
        }
        self.push_system(control::ACKNOWLEDGE, common);
    }

    pub(super) fn handle_packet(
        &mut self,
        now: Instant,
        (packet, header, data): (&Packet<'_>, &Header, &[u8]),
        common: &mut Common,
    ) -> Outcome {
        match self.phase {
            Phase::Finding => {}
            Phase::Calling if header.source == NO_CONNECTION => common.counts.discarded += 1,
            Phase::Calling => {
                (self.place, self.is_heard) = (Some(packet.from), true);
                self.agree(header);
                self.measure(now, 0);
                common.event(Event::Opened(self.id, FACTS));
                return self.handle_open(now, (header, data), common);
            }
            Phase::Open => return self.handle_open(now, (header, data), common),
            Phase::Ending | Phase::Replying | Phase::Over => {
                self.handle_late(now, header, common);
            }
        }
        Outcome::GoesOn
    }

    fn measure(&mut self, now: Instant, expected: u16) {
        if let Some((_, sent_at)) = self.timed.take_if(|(number, _)| *number == expected) {
            self.timer.measure(now.nanos_since(sent_at));
        }
    }

    /// Handle an acknowledgement. Returns whether it reports progress.
    fn handle_acknowledgement(
        &mut self,
        now: Instant,
        header: &Header,
        common: &mut Common,
    ) -> bool {
        let first = self.sending.acknowledged;
        let is_wider = is_after(header.allocation, self.sending.window_end());
        // A window is never taken back: a packet with a smaller one is late.
        let window_end = if is_wider { header.allocation } else { self.sending.window_end() };
        let is_same = !header.is_numbered() && !is_wider && header.expected == first;
        let Acknowledged { is_new, is_ahead, messages, .. } =
            self.sending.acknowledge(header.expected, window_end);
        common.counts.acknowledged_unsent += u64::from(is_ahead);
        for _ in 0..messages {
            common.event(Event::Room(self.id));
        }
        if is_new {
            self.measure(now, header.expected);
            self.same_acks = 0;
        } else if is_same && self.sending.sent() != first {
            self.same_acks += 1;
            if self.same_acks == self.profile.xns.same_acks.value {
                self.timed = None;
                self.sending.repeat_first();
            }
        }
        is_new
    }

    fn handle_open(
        &mut self,
        now: Instant,
        (header, data): (&Header, &[u8]),
        common: &mut Common,
    ) -> Outcome {
        let is_new = self.handle_acknowledgement(now, header, common);
        self.went_on = self.went_on.saturating_add((is_new || header.is_numbered()).into());
        self.heard = now;
        if header.is_numbered() {
            self.handle_numbered(now, header, data, common);
        } else if header.control & control::ACKNOWLEDGE != 0 {
            self.acknowledge(common);
        }
        if self.phase == Phase::Open {
            self.go_on(now, is_new, true, common);
        }
        Outcome::GoesOn
    }

    fn handle_numbered(&mut self, now: Instant, header: &Header, data: &[u8], common: &mut Common) {
        // A disconnect may reuse a number if its sender has dropped unsent data.
        if header.stream == stream::END && !is_after(header.sequence, self.receiving.next) {
            self.handle_end(now, header, common);
            return;
        }
        match self.receiving.when(header) {
            When::Now => {}
            When::Early => {
                self.receiving.keep(header, data);
                common.counts.received += 1;
                // The acknowledgement shows what is missing.
                self.acknowledge(common);
                return;
            }
            When::Again | When::Beyond => {
                common.counts.discarded += 1;
                self.acknowledge(common);
                return;
            }
        }
        common.counts.received += 1;
        let mut taken = self.take(now, header, data, common);
        while self.phase == Phase::Open
            && let Some((header, data)) = self.receiving.take_kept()
        {
            taken = self.take(now, &header, &data, common);
        }
        if self.phase != Phase::Open {
            return;
        }
        let waits_for_data = taken == Taken::Whole && self.profile.piggybacks.value;
        let is_asked = header.control & control::ACKNOWLEDGE != 0;
        if is_asked || !waits_for_data && (taken == Taken::Whole || self.receiving.is_used_up()) {
            self.acknowledge(common);
        } else if self.acknowledge_at.is_none() {
            let at = now.plus_nanos(self.profile.xns.ack_delay_ns.value);
            self.acknowledge_at = Some(at);
        }
    }

    fn take(&mut self, now: Instant, header: &Header, data: &[u8], common: &mut Common) -> Taken {
        let taken = self.receiving.take(header, data);
        match taken {
            Taken::Part => {}
            Taken::Whole => self.receiving.incoming.deliver(self.id, common),
            Taken::Attention => common.counts.attentions += 1,
            Taken::End => self.handle_end(now, header, common),
            // The other end answers a disconnect that was never sent.
            Taken::EndReply | Taken::TooLong => self.begin_end(now, Why::Protocol, common),
        }
        taken
    }

    /// Send what the window allows, and set the timers.
    pub(super) fn go_on(
        &mut self,
        now: Instant,
        is_new: bool,
        was_heard: bool,
        common: &mut Common,
    ) {
        while self.push_next(now, common) {}
        if self.close_at.is_some() && self.sending.is_empty() {
            self.begin_end(now, Why::Closed, common);
        } else {
            self.set_timer(now, is_new, was_heard);
        }
    }

    /// Send the next part of a message if the window allows.
    fn push_next(&mut self, now: Instant, common: &mut Common) -> bool {
        let Some(part) = self.sending.next_part() else { return false };
        let mut control = if part.is_last { control::END_OF_MESSAGE } else { 0 };
        if part.is_blocking || part.is_again || self.profile.xns.asks_each.value {
            control |= control::ACKNOWLEDGE;
        }
        if part.is_again {
            common.counts.sent_again += 1;
            self.timed = None;
        } else {
            common.counts.sent += 1;
            if control & control::ACKNOWLEDGE != 0 && self.timed.is_none() {
                self.timed = Some((part.number.wrapping_add(1), now));
            }
        }
        let header = Header { control, sequence: part.number, ..Default::default() };
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
            Phase::Ending | Phase::Replying => (Wait::End, is_new),
            Phase::Over => (Wait::Oblivion, is_new),
            Phase::Open if self.sending.is_empty() => (Wait::Alive, was_heard),
            Phase::Open if self.sending.is_shut() => (Wait::Room, was_heard),
            Phase::Open => (Wait::Acknowledgement, is_new),
        };
        self.timer.begin(now, wait, begins, self.profile.xns);
    }

    pub(super) fn handle_timeout(&mut self, now: Instant, common: &mut Common) -> Outcome {
        if self.acknowledge_at.is_some_and(|at| at <= now) {
            self.acknowledge(common);
        }
        if self.close_at.is_some_and(|at| at <= now) {
            // Unsent data is dropped.
            self.begin_end(now, Why::Closed, common);
            return Outcome::GoesOn;
        }
        if self.timer.deadline.is_none_or(|at| at > now) {
            return Outcome::GoesOn;
        }
        self.timed = None;
        match self.timer.expire(now, self.profile.xns) {
            None | Some(Wait::Nothing | Wait::Oblivion) => return Outcome::Over(Why::NoAnswer),
            Some(Wait::Answer) => self.push_call(common),
            Some(Wait::Room | Wait::Alive) => self.push_system(control::ACKNOWLEDGE, common),
            Some(Wait::End) => self.push_last(common),
            Some(Wait::Acknowledgement) => {
                common.counts.late += 1;
                self.same_acks = 0;
                self.sending.doubt();
                self.push_next(now, common);
            }
        }
        Outcome::GoesOn
    }

    pub(super) const fn pause(&mut self) {
        self.receiving.incoming.pause();
    }

    pub(super) fn resume(&mut self, common: &mut Common) {
        self.receiving.incoming.resume(self.id, common);
        // Let the other end resume.
        self.acknowledge(common);
    }

    pub(super) fn close(&mut self, now: Instant, common: &mut Common) {
        self.close_at = Some(now.plus_nanos(self.profile.session_wait_ns.value));
        self.receiving.incoming.drop_held();
        self.go_on(now, false, false, common);
    }
}
