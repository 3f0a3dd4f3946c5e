//! Client side of bursts: a request is sent as one burst, and its reply arrives as one.

use lanlab_units::Instant;
use lanlab_wire::ipx::packet_type;
use lanlab_wire::ncp::burst::{Accepted, Offer, Packet, flag};
use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::function::{self, Function};

use super::Common;
use super::burst::{Burst, Taken};
use super::caller::Caller;
use crate::carrier::Why;
use crate::ncp::burst_packet_bytes;

impl Caller {
    pub(super) fn put_offer(&mut self, message: &mut Vec<u8>) {
        let Ok((function::OFFER_BURST, offer)) = Function::parse(message) else { return };
        let Ok(offer) = Offer::parse(offer) else { return };
        self.bursts.offered = Some(offer.packet);
        message.truncate(1);
        Offer { connection: self.own_number(), socket: self.socket, ..offer }.emit(message);
    }

    fn own_number(&self) -> u32 {
        u32::from(self.socket) << 16 | u32::from(self.connection)
    }

    pub(super) fn take_offer(&mut self, code: u8, data: &[u8]) {
        let (Some(offered), Some(server)) = (self.bursts.offered.take(), self.server) else {
            return;
        };
        if let (completion::OK, Ok(accepted)) = (code, Accepted::parse(data)) {
            let (ends, longest) =
                ((self.own_number(), accepted.connection), burst_packet_bytes(server.framing));
            let packet = accepted.packet.min(offered);
            self.bursts.burst = Some(Burst::new(ends, packet, longest));
        }
    }

    pub(super) fn begin_burst(&mut self, now: Instant, body: &[u8], common: &mut Common) {
        let Some(burst) = &mut self.bursts.burst else { return };
        let number = self.bursts.next;
        burst.adapt_delay();
        burst.forget();
        burst.begin(now, (number, number), body);
        self.bursts.next = number.wrapping_add(1);
        self.bursts.is_under_way = true;
        common.counts.requests_sent += 1;
        let none = common.memory();
        self.deadline = Some(self.exchange.begin(now, none, (), 0));
        self.send_burst_due(now, common);
    }

    pub(super) fn burst_due(&self) -> Option<Instant> {
        self.bursts.burst.as_ref().and_then(Burst::due)
    }

    pub(super) fn send_burst_due(&mut self, now: Instant, common: &mut Common) {
        let (Some(burst), Some(server)) = (&mut self.bursts.burst, self.server) else { return };
        let socket = self.socket;
        burst.send_due(now, |packet| {
            common.interface.push(server, packet_type::NCP, socket, packet);
        });
    }

    pub(super) fn send_burst_again(&mut self, now: Instant, common: &mut Common) {
        if self.bursts.burst.as_ref().is_some_and(Burst::has_begun) {
            self.ask_for_missing(common);
        } else if let Some(burst) = &mut self.bursts.burst {
            burst.say_end();
            self.send_burst_due(now, common);
        }
    }

    fn ask_for_missing(&mut self, common: &mut Common) {
        let (number, socket) = (self.bursts.number(), self.socket);
        let (Some(burst), Some(server)) = (&mut self.bursts.burst, self.server) else { return };
        burst.ask_for_missing((number, number), |packet| {
            common.interface.push(server, packet_type::NCP, socket, packet);
        });
    }

    /// Handle a burst packet of the server. Returns the reason if the session has ended.
    pub(super) fn handle_burst(
        &mut self,
        now: Instant,
        packet: &[u8],
        common: &mut Common,
    ) -> Option<Why> {
        let Ok(packet) = Packet::parse(packet) else {
            common.interface.counts.unreadable_packets += 1;
            return None;
        };
        let (number, flags) = (self.bursts.number(), packet.header.flags);
        let is_ours = self.bursts.is_under_way && packet.header.burst == number;
        let burst = self.bursts.burst.as_mut().filter(|one| is_ours && one.is_of(&packet));
        let Some(burst) = burst.filter(|_| self.exchange.packet().is_some()) else {
            common.counts.discarded += 1;
            return None;
        };
        if flags & flag::ABORT != 0 {
            return Some(Why::ByPeerAbnormally);
        }
        if flags & flag::SYSTEM != 0 {
            if flags & flag::MISSING != 0 {
                burst.send_missing(&packet);
            } else {
                common.counts.working_received += 1;
            }
            self.deadline = self.exchange.is_worked_on(now, !self.exchange.is_closing());
            self.send_burst_due(now, common);
            return None;
        }
        if packet.header.ack != number.wrapping_add(1) {
            common.counts.discarded += 1;
            return None;
        }
        // A reply implies that the server has the whole request.
        burst.is_heard();
        match burst.take(&packet) {
            Taken::Whole(body) => {
                self.bursts.is_under_way = false;
                self.exchange.answered(now, common);
                self.deadline = None;
                self.report(now, body, common);
            }
            Taken::Nothing => common.counts.discarded += 1,
            Taken::More => {
                self.deadline = self.exchange.is_worked_on(now, true);
                if flags & flag::END != 0 {
                    self.ask_for_missing(common);
                }
            }
        }
        None
    }
}
