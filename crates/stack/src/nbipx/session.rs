//! One session: its packets, its beginning and its end.

use lanlab_units::Instant;
use lanlab_units::room::Places;
use lanlab_wire::ipx::{framing, packet_type, socket};
use lanlab_wire::nbipx::{
    NO_CONNECTION, Opening, SESSION_HEADER_LEN, SessionHeader, control, stream,
};

use super::receiving::{Receiving, Taken};
use crate::carrier::{Event, Why};
use crate::ipx::{Interface, Place};
use crate::profile::{IpxProfile, Profile};
use crate::sequenced::{self, Part, Phase, Protocol, Sending, is_after};

/// Smallest packet data accepted, bytes: with less, a message could need more packets than there are numbers.
const LEAST_DATA: u16 = 128;
/// Limits on incoming sessions, in all and per station.
const PLACES: Places = Places { all: 254, of_one: 127 };

pub(super) type Session = sequenced::Session<Nbipx>;
pub(super) type Common = sequenced::Common<Nbipx>;

#[derive(Debug)]
pub(super) struct Nbipx {
    receiving: Receiving,
}

impl Nbipx {
    /// `first` is the first expected number.
    pub(super) const fn new(first: u16, profile: &Profile) -> Self {
        Self { receiving: Receiving::new(first, profile.ipx.window) }
    }
}

impl Protocol for Nbipx {
    type Header = SessionHeader;
    type Interface = Interface;
    type Waits = IpxProfile;

    const NO_CONNECTION: u16 = NO_CONNECTION;
    const TIMES_NEWEST: bool = true;
    const NOT_COUNTED: &'static [&'static str] =
        &["calls_refused", "attentions_received", "errors_received"];

    fn waits(profile: &Profile) -> &'static IpxProfile {
        profile.ipx
    }

    fn places(_: &Profile) -> Places {
        PLACES
    }

    fn header(control: u8, sequence: u16) -> SessionHeader {
        SessionHeader { control, stream: stream::DATA, sequence, ..Default::default() }
    }

    fn part_header(control: u8, part: &Part<'_>) -> SessionHeader {
        SessionHeader {
            total_bytes: part.total_bytes,
            offset: part.offset,
            data_bytes: part.data.len() as u16,
            ..Self::header(control, part.number)
        }
    }

    fn emit(session: &mut Session, mut header: SessionHeader, out: &mut Vec<u8>) {
        let receiving = &mut session.own.receiving;
        header.expected = receiving.next;
        header.window_end = receiving.grant(session.incoming.is_paused());
        receiving.unacknowledged = 0;
        (header.source, header.destination) = (session.local, session.remote);
        header.emit(out);
    }

    fn send(&self, to: Place, packet: &[u8], interface: &mut Interface) {
        interface.push(to, packet_type::EXCHANGE, socket::NETBIOS, packet);
    }

    fn ask(session: &mut Session, common: &mut Common) {
        let mut output = super::names::NameOutput { interface: &mut common.interface, asker: None };
        output.find(session.call.called, session.call.is_again());
    }

    fn push_call(session: &mut Session, common: &mut Common) {
        session.push_opening(control::ACKNOWLEDGE, common);
    }

    fn answer_call(session: &mut Session, common: &mut Common) {
        common.counts.system_sent += 1;
        session.push_opening(control::SYSTEM, common);
    }

    fn begin_end(session: &mut Session, now: Instant, common: &mut Common) {
        (session.phase, session.close_at, session.acknowledge_at) = (Phase::Ending, None, None);
        session.push_end(common);
        session.set_timer(now, true, true);
        common.event(Event::Ended(session.id, Why::Closed));
    }

    fn end_again(session: &mut Session, common: &mut Common) {
        common.counts.late += 1;
        session.push_end(common);
    }
}

impl Session {
    fn longest_data(&self) -> u16 {
        let own = self.profile.ipx.longest_data;
        self.place.map_or(own, |place| {
            own.min((framing::longest_data(place.framing) - SESSION_HEADER_LEN) as u16)
        })
    }

    fn push_opening(&mut self, bits: u8, common: &mut Common) {
        let names = [self.call.calling.0, self.call.called.0];
        let [source, destination] = if self.is_caller { names } else { [names[1], names[0]] };
        let (longest_data, times) = (self.longest_data(), self.profile.ipx.times);
        let mut data = common.memory();
        Opening { source, destination, longest_data, times }.emit(&mut data);
        let length = data.len() as u16;
        let header = SessionHeader {
            total_bytes: length,
            data_bytes: length,
            ..Nbipx::header(control::CONNECT | bits, 0)
        };
        self.push(header, &data, common);
        common.keep(data);
    }

    /// The other end has called: the session is open. False if its parameters are unacceptable.
    pub(super) fn accept(
        &mut self,
        now: Instant,
        (from, header, opening): (Place, &SessionHeader, &Opening),
        common: &mut Common,
    ) -> bool {
        (self.is_caller, self.place) = (false, Some(from));
        if !self.agree(header, opening, 0) {
            return false;
        }
        Nbipx::answer_call(self, common);
        self.set_timer(now, true, true);
        true
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
            Phase::Ending | Phase::Replying | Phase::Over => {
                if header.stream == stream::END {
                    self.answer_end(now, common);
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
        self.timer.measure(now, 1);
        self.set_timer(now, true, true);
        common.event(Event::Opened(self.id, crate::netbios::FACTS));
        None
    }

    fn handle_open(
        &mut self,
        now: Instant,
        (header, data): (&SessionHeader, &[u8]),
        common: &mut Common,
    ) -> Option<Why> {
        let found = self.handle_acknowledgement(now, header.expected, header.window_end, common);
        self.hear(now, found.is_new || header.is_numbered());
        if found.is_valid && header.control & control::RESEND != 0 {
            common.counts.resends_heard += 1;
            self.timer.timed = None;
            self.sending.go_back();
        }
        let receiving = &mut self.own.receiving;
        if header.stream == stream::END && !is_after(header.sequence, receiving.next) {
            receiving.next = header.sequence.wrapping_add(1);
            self.answer_end(now, common);
            common.event(Event::Ended(self.id, Why::ByPeer));
            return None;
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
        self.go_on(now, found.is_new, true, common);
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
        let (receiving, buffer) = (&mut self.own.receiving, &mut self.incoming.buffer);
        let taken = if is_data { receiving.handle_data(header, data, buffer) } else { Taken::Gap };
        match taken {
            Taken::Part | Taken::Whole => common.counts.received += 1,
            Taken::Gap if receiving.is_to_ask() => {
                common.counts.resends_asked += 1;
                self.push_system(control::RESEND, common);
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
            self.incoming.deliver(self.id, common);
        }
        let (ipx, receiving) = (self.profile.ipx, &self.own.receiving);
        let is_slow = |mean_ns| mean_ns >= ipx.slow_ns;
        let is_enough = self.timer.round_trip_ns().is_some_and(is_slow)
            && receiving.unacknowledged >= ipx.ack_window
            || receiving.is_used_up();
        let come = (taken == Taken::Whole, is_enough);
        self.acknowledge_packet(now, header.control, come, ipx.ack_delay_ns, common);
        None
    }

    fn push_end(&mut self, common: &mut Common) {
        let header = Nbipx::header(control::ACKNOWLEDGE, self.sending.acknowledged);
        self.push(SessionHeader { stream: stream::END, ..header }, &[], common);
    }

    fn answer_end(&mut self, now: Instant, common: &mut Common) {
        common.counts.system_sent += 1;
        let header = Nbipx::header(control::SYSTEM, self.sending.next());
        self.push(SessionHeader { stream: stream::END_ACKNOWLEDGED, ..header }, &[], common);
        (self.phase, self.acknowledge_at, self.close_at) = (Phase::Over, None, None);
        self.sending = Sending::new(self.sending.next(), 0, usize::from(LEAST_DATA));
        self.incoming.clear();
        self.set_timer(now, false, false);
    }
}
