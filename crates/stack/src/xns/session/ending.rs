//! How a session ends: one end sends a disconnect, the other answers, and the first confirms.

use lanlab_units::Instant;
use lanlab_wire::xns::spp::{Header, control, stream};

use super::{Common, Session};
use crate::carrier::{Event, Why};
use crate::sequenced::{Phase, is_after};

impl Session {
    pub(super) fn disconnect(&mut self, now: Instant, why: Why, common: &mut Common) {
        self.own.last = self.sending.acknowledged;
        self.leave(now, Phase::Ending, common);
        common.event(Event::Ended(self.id, why));
    }

    pub(super) fn handle_end(&mut self, now: Instant, header: &Header, common: &mut Common) {
        self.own.receiving.next = header.sequence.wrapping_add(1);
        self.own.last = self.sending.acknowledged;
        self.leave(now, Phase::Replying, common);
        common.event(Event::Ended(self.id, Why::ByPeer));
    }

    fn leave(&mut self, now: Instant, phase: Phase, common: &mut Common) {
        (self.phase, self.close_at, self.timer.timed) = (phase, None, None);
        self.own.receiving.clear();
        self.incoming.clear();
        self.push_last(common);
        self.acknowledge_at = None;
        self.set_timer(now, true, true);
    }

    pub(super) fn push_last(&mut self, common: &mut Common) {
        let is_end = self.phase == Phase::Ending;
        let kind = if is_end { stream::END } else { stream::END_REPLY };
        self.push_end(kind, self.own.last, common);
    }

    fn push_end(&mut self, stream: u8, sequence: u16, common: &mut Common) {
        let control = if stream == stream::END { control::ACKNOWLEDGE } else { 0 };
        self.push(Header { control, stream, sequence, ..Default::default() }, &[], common);
    }

    pub(super) fn handle_late(&mut self, now: Instant, header: &Header, common: &mut Common) {
        let is_reply = header.stream == stream::END_REPLY;
        if !header.is_numbered() || !is_reply && header.stream != stream::END {
            return;
        }
        self.own.receiving.next = header.sequence.wrapping_add(1);
        match self.phase {
            Phase::Ending if is_reply => {
                (self.phase, self.own.last) = (Phase::Over, self.own.last.wrapping_add(1));
                self.push_last(common);
            }
            // Both ends disconnected at once: each answers, and waits for an answer.
            Phase::Ending => {
                self.push_end(stream::END_REPLY, self.own.last.wrapping_add(1), common);
            }
            Phase::Replying if is_reply => self.phase = Phase::Over,
            // The peer has not seen our disconnect; if it had, both would answer each other forever.
            _ if !is_after(header.expected, self.own.last) => self.push_last(common),
            _ => {}
        }
        self.set_timer(now, self.phase == Phase::Over, true);
    }
}
