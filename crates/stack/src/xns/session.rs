//! One session, once the other station is found.

mod ending;
mod opening;

use lanlab_units::Instant;
use lanlab_units::room::Places;
use lanlab_wire::xns::spp::{Header, NO_CONNECTION, control, stream};
use lanlab_wire::xns::{packet_type, pep, socket};

use super::interface::{Interface, Packet};
use super::receiving::{Receiving, Taken, When};
use crate::carrier::{Event, Why};
use crate::ipx::Place;
use crate::netbios::FACTS;
use crate::profile::Profile;
use crate::profile::xns::XnsProfile;
use crate::sequenced::{self, Part, Phase, Protocol, is_after};

pub(super) type Session = sequenced::Session<Spp>;
pub(super) type Common = sequenced::Common<Spp>;

#[derive(Debug)]
pub(super) struct Spp {
    pub(super) socket: u16,
    pub(super) question: u32,
    questions_sent: u32,
    /// Whether the framing of the other station is known.
    is_heard: bool,
    receiving: Receiving,
    same_acks: u32,
    last: u16,
}

impl Spp {
    pub(super) const fn new(socket: u16, profile: &Profile) -> Self {
        Self {
            socket,
            question: 0,
            questions_sent: 0,
            is_heard: false,
            receiving: Receiving::new(profile.xns.window),
            same_acks: 0,
            last: 0,
        }
    }
}

impl Protocol for Spp {
    type Header = Header;
    type Interface = Interface;
    type Waits = XnsProfile;

    const NO_CONNECTION: u16 = NO_CONNECTION;
    const TIMES_NEWEST: bool = false;
    const NOT_COUNTED: &'static [&'static str] =
        &["rejects_sent", "rejects_received", "name_conflicts"];

    fn waits(profile: &Profile) -> &'static XnsProfile {
        profile.xns
    }

    fn places(profile: &Profile) -> Places {
        let all = usize::from(profile.xns.sessions);
        Places { all, of_one: all }
    }

    fn header(control: u8, sequence: u16) -> Header {
        Header { control, sequence, ..Default::default() }
    }

    fn part_header(control: u8, part: &Part<'_>) -> Header {
        Self::header(control, part.number)
    }

    fn asks(profile: &Profile, is_again: bool) -> bool {
        is_again || profile.xns.asks_each
    }

    fn emit(session: &mut Session, mut header: Header, out: &mut Vec<u8>) {
        header.expected = session.own.receiving.next;
        header.allocation = session.own.receiving.grant(session.incoming.is_paused());
        (header.source, header.destination) = (session.local, session.remote);
        header.emit(out);
    }

    fn send(&self, to: Place, packet: &[u8], interface: &mut Interface) {
        interface.push(to, packet_type::SEQUENCED, self.socket, packet);
    }

    fn ask(session: &mut Session, common: &mut Common) {
        let (own, interface) = (&mut session.own, &mut common.interface);
        let mut data = Vec::new();
        pep::Header { id: own.question, client: 0 }.emit(&mut data);
        data.extend_from_slice(&session.call.called.0);
        let mut to = interface.everybody(socket::SMB);
        to.framing = interface.framing_of_attempt(own.questions_sent);
        own.questions_sent += 1;
        interface.push(to, packet_type::EXCHANGE, own.socket, &data);
    }

    fn push_call(session: &mut Session, common: &mut Common) {
        let framing = common.interface.framing_of_attempt(session.timer.tries());
        if let Some(place) = session.place.as_mut().filter(|_| !session.own.is_heard) {
            place.framing = framing;
        }
        session.push_system(control::ACKNOWLEDGE, common);
    }

    fn answer_call(session: &mut Session, common: &mut Common) {
        session.acknowledge(common);
    }

    fn is_late(&mut self) {
        self.same_acks = 0;
    }

    fn begin_end(session: &mut Session, now: Instant, common: &mut Common) {
        session.disconnect(now, Why::Closed, common);
    }

    fn end_again(session: &mut Session, common: &mut Common) {
        session.push_last(common);
    }
}

impl Session {
    pub(super) fn is_of(&self, packet: &Packet<'_>, header: &Header) -> bool {
        let has_ids = self.local == header.destination && self.own.socket == packet.socket();
        // A server may answer from a separate socket for this session.
        has_ids
            && self.place.is_some_and(|place| match self.phase {
                Phase::Calling => place.address.node == packet.from.address.node,
                _ => place.is_end(&packet.from) && self.remote == header.source,
            })
    }

    pub(super) fn handle_packet(
        &mut self,
        now: Instant,
        (packet, header, data): (&Packet<'_>, &Header, &[u8]),
        common: &mut Common,
    ) {
        match self.phase {
            Phase::Finding => {}
            Phase::Calling if header.source == NO_CONNECTION => common.counts.discarded += 1,
            Phase::Calling => {
                (self.place, self.own.is_heard) = (Some(packet.from), true);
                self.agree(header);
                self.timer.measure(now, 0);
                common.event(Event::Opened(self.id, FACTS));
                self.handle_open(now, (header, data), common);
            }
            Phase::Open => self.handle_open(now, (header, data), common),
            Phase::Ending | Phase::Replying | Phase::Over => self.handle_late(now, header, common),
        }
    }

    /// Handle an acknowledgement. Returns whether it reports progress.
    fn handle_expected(&mut self, now: Instant, header: &Header, common: &mut Common) -> bool {
        let (first, window_end) = (self.sending.acknowledged, self.sending.window_end());
        // A window is never taken back: a packet with a smaller one is late.
        let is_wider = is_after(header.allocation, window_end);
        let window_end = if is_wider { header.allocation } else { window_end };
        let is_same = !header.is_numbered() && !is_wider && header.expected == first;
        let is_new = self.handle_acknowledgement(now, header.expected, window_end, common).is_new;
        if is_new {
            self.own.same_acks = 0;
        } else if is_same && self.sending.sent() != first {
            self.own.same_acks += 1;
            if self.own.same_acks == self.profile.xns.same_acks {
                self.timer.timed = None;
                self.sending.repeat_first();
            }
        }
        is_new
    }

    fn handle_open(&mut self, now: Instant, (header, data): (&Header, &[u8]), common: &mut Common) {
        let is_new = self.handle_expected(now, header, common);
        self.hear(now, is_new || header.is_numbered());
        if header.is_numbered() {
            self.handle_numbered(now, header, data, common);
        } else if header.control & control::ACKNOWLEDGE != 0 {
            self.acknowledge(common);
        }
        if self.phase == Phase::Open {
            self.go_on(now, is_new, true, common);
        }
    }

    fn handle_numbered(&mut self, now: Instant, header: &Header, data: &[u8], common: &mut Common) {
        // A disconnect may reuse a number if its sender has dropped unsent data.
        if header.stream == stream::END && !is_after(header.sequence, self.own.receiving.next) {
            self.handle_end(now, header, common);
            return;
        }
        match self.own.receiving.when(header) {
            When::Now => {}
            When::Early => {
                self.own.receiving.keep(header, data);
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
            && let Some((header, data)) = self.own.receiving.take_kept()
        {
            taken = self.take(now, &header, &data, common);
        }
        if self.phase == Phase::Open {
            let come = (taken == Taken::Whole, self.own.receiving.is_used_up());
            let delay_ns = self.profile.xns.ack_delay_ns;
            self.acknowledge_packet(now, header.control, come, delay_ns, common);
        }
    }

    fn take(&mut self, now: Instant, header: &Header, data: &[u8], common: &mut Common) -> Taken {
        let taken = self.own.receiving.take(header, data, &mut self.incoming.buffer);
        match taken {
            Taken::Part => {}
            Taken::Whole => self.incoming.deliver(self.id, common),
            Taken::Attention => common.counts.attentions += 1,
            Taken::End => self.handle_end(now, header, common),
            // The other end answers a disconnect that was never sent.
            Taken::EndReply | Taken::TooLong => self.disconnect(now, Why::Protocol, common),
        }
        taken
    }
}
