//! Server side of bursts: executes each request once, and keeps its reply until the next one.

use lanlab_units::Instant;
use lanlab_wire::ncp::burst::{Accepted, Limits, Offer, Packet, flag};
use lanlab_wire::ncp::completion;

use super::Common;
use super::answerer::{Answerer, push};
use super::burst::{Burst, Taken};
use super::burst_states::{Answering, Stage};
use crate::carrier::NotSent;
use crate::ncp::{BURST, MOST_BURST, burst_packet_bytes};

impl Answerer {
    pub(super) fn take_offer(&mut self, offer: &[u8], common: &mut Common) {
        let (own, longest) = (u32::from(self.connection), burst_packet_bytes(self.client.framing));
        let Ok(offer) = Offer::parse(offer) else {
            return self.answer(completion::BAD_PACKET, &[], common);
        };
        let burst = Burst::new((own, offer.connection), offer.packet, longest);
        self.bursts = Some(Answering { burst, stage: Stage::Idle, next: 0 });
        let mut data = Vec::new();
        Accepted { connection: own, packet: offer.packet.min(longest) }.emit(&mut data);
        Limits { most_sent: MOST_BURST, most_taken: MOST_BURST }.emit(&mut data);
        self.answer(completion::OK, &data, common);
    }

    pub(super) fn works_on_burst(&self) -> bool {
        self.bursts.as_ref().is_some_and(|bursts| bursts.stage == Stage::Working)
    }

    /// The client sent another request, so it has the reply to its last burst.
    pub(super) fn end_burst(&mut self) {
        if let Some(bursts) = &mut self.bursts {
            bursts.burst.is_heard();
            bursts.burst.forget();
            bursts.stage = Stage::Idle;
        }
    }

    pub(super) fn has_burst(&self, packet: &Packet<'_>) -> bool {
        self.bursts.as_ref().is_some_and(|bursts| bursts.burst.is_of(packet))
    }

    pub(super) fn handle_burst(&mut self, now: Instant, packet: &Packet<'_>, common: &mut Common) {
        let (client, is_answered) = (self.client, self.is_answered());
        let Some(bursts) = &mut self.bursts else { return };
        let (number, header) = (bursts.numbers().0, packet.header);
        let is_last = header.burst == number && bursts.stage != Stage::Idle;
        if header.flags & flag::SYSTEM != 0 {
            if header.flags & flag::MISSING != 0 && is_last && bursts.stage == Stage::Answered {
                bursts.burst.keep_delay(header.delay);
                bursts.burst.send_missing(packet);
                return self.send_burst_due(now, common);
            }
            common.counts.discarded += 1;
            return;
        }
        let is_end = header.flags & flag::END != 0;
        if is_last && bursts.stage != Stage::Coming {
            // A late duplicate, or the reply was lost.
            common.counts.answered_again += u64::from(is_end);
            if is_end && bursts.stage == Stage::Working {
                bursts.burst.say_busy((number, number), |packet| push(client, packet, common));
            } else if is_end {
                bursts.burst.say_end();
                self.send_burst_due(now, common);
            }
            return;
        }
        let is_next = header.burst == bursts.next
            && bursts.stage != Stage::Coming
            && bursts.stage != Stage::Working
            && is_answered;
        if header.ack != header.burst || !(is_last || is_next) {
            common.counts.discarded += 1;
            return;
        }
        if is_next {
            bursts.burst.is_heard();
            bursts.next = bursts.next.wrapping_add(1);
            bursts.stage = Stage::Coming;
        }
        bursts.burst.keep_delay(header.delay);
        let numbers = (header.burst, header.burst);
        match bursts.burst.take(packet) {
            Taken::Whole(body) => {
                bursts.stage = Stage::Working;
                let mut message = common.memory();
                message.push(BURST);
                message.extend_from_slice(&body);
                self.report(message, common);
            }
            _ if is_end => {
                bursts.burst.ask_for_missing(numbers, |packet| push(client, packet, common));
            }
            Taken::More | Taken::Nothing => {}
        }
    }

    pub(super) fn answer_burst(
        &mut self,
        now: Instant,
        body: &[u8],
        common: &mut Common,
    ) -> Result<(), NotSent> {
        let Some(bursts) = &mut self.bursts else { return Err(NotSent::NoSession) };
        if body.len() > MOST_BURST as usize || body.is_empty() {
            return Err(NotSent::TooLong);
        }
        bursts.burst.begin(now, bursts.numbers(), body);
        bursts.stage = Stage::Answered;
        self.send_burst_due(now, common);
        Ok(())
    }

    pub(super) fn burst_due(&self) -> Option<Instant> {
        self.bursts.as_ref().and_then(|bursts| bursts.burst.due())
    }

    pub(super) fn send_burst_due(&mut self, now: Instant, common: &mut Common) {
        let client = self.client;
        if let Some(bursts) = &mut self.bursts {
            bursts.burst.send_due(now, |packet| push(client, packet, common));
        }
    }
}
