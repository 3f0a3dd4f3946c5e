//! Outgoing messages of a session, split into numbered packets that are kept until acknowledged.

use std::collections::VecDeque;

use super::is_after;
use crate::carrier::NotSent;
use crate::spare::keep;

/// Maximum messages queued, including the one being sent.
const MOST_MESSAGES: usize = 4;
/// Maximum bytes queued, unless there is only one message. A long window is not idle between two messages of 60 KiB.
const MOST_BYTES: usize = 96 << 10;
const MOST_BYTES_OF_LONG_WINDOW: usize = 128 << 10;
/// Maximum packets in flight, even if the other end allows more.
const MOST_ON_THEIR_WAY: u16 = 32;
/// From this many packets in flight on, acknowledgement is also requested halfway, so that sending does not stop.
const LONG_WINDOW: u16 = 8;

#[derive(Debug)]
struct Message {
    octets: Vec<u8>,
    first: u16,
}

#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) number: u16,
    pub(crate) total_bytes: u16,
    pub(crate) offset: u16,
    pub(crate) data: &'a [u8],
    pub(crate) is_last: bool,
    pub(crate) is_again: bool,
    /// Whether further data must wait, now or soon, for the acknowledgement of this packet.
    pub(crate) is_blocking: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    pub(crate) is_valid: bool,
    pub(crate) is_ahead: bool,
    pub(crate) is_new: bool,
    pub(crate) messages: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Sending {
    messages: VecDeque<Message>,
    spare: Vec<Vec<u8>>,
    bytes: usize,
    part_bytes: usize,
    /// The first unacknowledged number, the next to send, the one after the highest sent, and the one after all
    /// queued.
    pub(crate) acknowledged: u16,
    next: u16,
    sent: u16,
    end: u16,
    window_end: u16,
    /// Whether a time-out occurred: one packet at a time is sent until something is acknowledged.
    is_doubtful: bool,
    repeats_first: bool,
}

impl Sending {
    pub(crate) fn new(first: u16, window_end: u16, part_bytes: usize) -> Self {
        let [acknowledged, next, sent, end] = [first; 4];
        Self { part_bytes, acknowledged, next, sent, end, window_end, ..Self::default() }
    }

    /// Queue a message.
    pub(crate) fn offer(&mut self, message: &[u8]) -> Result<(), NotSent> {
        if !self.has_room(message) {
            return Err(NotSent::Full);
        }
        self.push(message);
        Ok(())
    }

    fn has_room(&self, message: &[u8]) -> bool {
        let is_long = self.room() >= LONG_WINDOW;
        let most_bytes = if is_long { MOST_BYTES_OF_LONG_WINDOW } else { MOST_BYTES };
        let fits = self.messages.is_empty() || self.bytes + message.len() <= most_bytes;
        fits && self.messages.len() < MOST_MESSAGES
    }

    /// Packets that the other end has granted and that may be in flight.
    fn room(&self) -> u16 {
        let granted = self.window_end.wrapping_add(1).wrapping_sub(self.acknowledged);
        granted.min(MOST_ON_THEIR_WAY)
    }

    fn push(&mut self, message: &[u8]) {
        let mut octets = self.spare.pop().unwrap_or_default();
        octets.extend_from_slice(message);
        self.bytes += octets.len();
        let parts = octets.len().div_ceil(self.part_bytes).max(1);
        let first = self.end;
        self.end = first.wrapping_add(parts as u16);
        self.messages.push_back(Message { octets, first });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(crate) const fn is_shut(&self) -> bool {
        is_after(self.acknowledged, self.window_end)
    }

    pub(crate) const fn next(&self) -> u16 {
        self.next
    }

    pub(crate) const fn sent(&self) -> u16 {
        self.sent
    }

    pub(crate) const fn window_end(&self) -> u16 {
        self.window_end
    }

    fn may_send(&self, number: u16) -> bool {
        let on_their_way = number.wrapping_sub(self.acknowledged);
        let most = if self.is_doubtful { 1 } else { MOST_ON_THEIR_WAY };
        number != self.end && on_their_way < most && !is_after(number, self.window_end)
    }

    pub(crate) fn next_part(&mut self) -> Option<Part<'_>> {
        if std::mem::take(&mut self.repeats_first) && self.acknowledged != self.next {
            return self.part(self.acknowledged);
        }
        let number = self.next;
        if !self.may_send(number) {
            return None;
        }
        self.next = number.wrapping_add(1);
        self.part(number)
    }

    fn part(&mut self, number: u16) -> Option<Part<'_>> {
        let is_again = is_after(self.sent, number);
        if !is_again {
            self.sent = self.next;
        }
        let (room, sent) = (self.room(), self.next.wrapping_sub(self.acknowledged));
        let is_halfway = room >= LONG_WINDOW && sent == room / 2;
        let is_blocking = self.next != self.end && (is_halfway || !self.may_send(self.next));
        let of_it = |message: &&Message| !is_after(message.first, number);
        let message = self.messages.iter().rev().find(of_it)?;
        let offset = usize::from(number.wrapping_sub(message.first)) * self.part_bytes;
        let rest = message.octets.get(offset..)?;
        let is_last = rest.len() <= self.part_bytes;
        let data = if is_last { rest } else { &rest[..self.part_bytes] };
        let (total_bytes, offset) = (message.octets.len() as u16, offset as u16);
        Some(Part { number, total_bytes, offset, data, is_last, is_again, is_blocking })
    }

    /// The other end expects this number next, and accepts packets up to `window_end`. Some stacks acknowledge one
    /// packet more than they have seen, which, as in 4.3BSD, counts as everything sent.
    pub(crate) fn acknowledge(&mut self, expected: u16, window_end: u16) -> Acknowledged {
        let is_ahead = is_after(expected, self.sent);
        let expected = if is_ahead { self.sent } else { expected };
        if is_after(self.acknowledged, expected) {
            return Acknowledged::default();
        }
        let was_shut = self.is_shut();
        let is_new = expected != self.acknowledged;
        self.window_end = window_end;
        self.acknowledged = expected;
        if was_shut && !self.is_shut() {
            // Packets sent beyond the old window were dropped.
            self.go_back();
        }
        if is_after(expected, self.next) {
            self.next = expected;
        }
        self.is_doubtful &= !is_new;
        self.repeats_first &= !is_new;
        let mut messages = 0;
        while let Some(message) = self.messages.front() {
            let parts = message.octets.len().div_ceil(self.part_bytes).max(1);
            if is_after(message.first.wrapping_add(parts as u16), expected) {
                break;
            }
            if let Some(message) = self.messages.pop_front() {
                self.bytes -= message.octets.len();
                keep(&mut self.spare, message.octets);
                messages += 1;
            }
        }
        Acknowledged { is_valid: true, is_ahead, is_new, messages }
    }

    pub(crate) const fn go_back(&mut self) {
        self.next = self.acknowledged;
    }

    /// Resend only the first unacknowledged packet.
    pub(crate) const fn repeat_first(&mut self) {
        self.repeats_first = true;
    }

    pub(crate) const fn doubt(&mut self) {
        self.is_doubtful = true;
        self.go_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(sending: &mut Sending) -> Vec<(u16, u16, usize, bool)> {
        let mut all = vec![];
        while let Some(part) = sending.next_part() {
            all.push((part.number, part.offset, part.data.len(), part.is_last));
        }
        all
    }

    #[test]
    fn parts_fill_the_window_across_sequence_wraparound() {
        let mut sending = Sending::new(0xfffe, 0x0001, 100);
        sending.push(&[0; 250]);
        sending.push(&[]);
        sending.push(&[0; 101]);
        let expected = [
            (0xfffe, 0, 100, false),
            (0xffff, 100, 100, false),
            (0, 200, 50, true),
            (1, 0, 0, true),
        ];
        assert_eq!(parts(&mut sending), expected);
        let acknowledged = sending.acknowledge(1, 9);
        let whole = Acknowledged { is_valid: true, is_ahead: false, is_new: true, messages: 1 };
        assert_eq!(acknowledged, whole);
        assert_eq!(parts(&mut sending), [(2, 0, 100, false), (3, 100, 1, true)]);
        // These numbers were acknowledged long ago.
        for number in [0, 0xfff0] {
            assert_eq!(sending.acknowledge(number, 99), Acknowledged::default(), "{number}");
        }
        sending.repeat_first();
        assert_eq!(parts(&mut sending), [(1, 0, 0, true)]);
        sending.go_back();
        assert_eq!(parts(&mut sending)[0], (1, 0, 0, true));
        sending.doubt();
        assert_eq!(parts(&mut sending), [(1, 0, 0, true)]);
        assert_eq!(sending.acknowledge(4, 9).messages, 2);
        assert!(sending.is_empty() && parts(&mut sending).is_empty());
    }

    fn numbers(sending: &mut Sending) -> Vec<u16> {
        parts(sending).iter().map(|one| one.0).collect()
    }

    #[test]
    fn up_to_96_kib_or_one_message_may_wait_and_128_kib_for_eight_packets_in_flight() {
        let fits = |window: u16, octets: &[usize]| {
            let mut sending = Sending::new(0, window - 1, 1_000);
            octets.iter().all(|count| sending.offer(&vec![0; *count]).is_ok())
        };
        for window in [1, 4, 7] {
            assert!(fits(window, &[65_535, 32_769]) && !fits(window, &[65_535, 32_770]));
        }
        for window in [8, 16, 100] {
            assert!(fits(window, &[65_535, 65_537]) && !fits(window, &[65_535, 65_538]));
            assert!(fits(window, &[0, 0, 0, 0]) && !fits(window, &[0, 0, 0, 0, 0]));
        }
        // An acknowledgement makes room.
        let mut sending = Sending::new(0, 3, 60_000);
        assert_eq!(sending.offer(&vec![0; 60_000]), Ok(()));
        assert_eq!(sending.offer(&vec![0; 60_000]), Err(NotSent::Full));
        assert_eq!(numbers(&mut sending), [0]);
        assert_eq!(sending.acknowledge(1, 4).messages, 1);
        assert_eq!(sending.offer(&vec![0; 60_000]), Ok(()));
        assert_eq!(sending.offer(&vec![0; 38_304]), Ok(()));
        assert_eq!(sending.offer(&[]), Ok(()));
        assert_eq!(sending.offer(&[0]), Err(NotSent::Full));
    }

    #[test]
    fn at_most_32_packets_are_in_flight_and_the_sixteenth_and_last_are_marked() {
        let mut sending = Sending::new(5, 200, 10);
        sending.push(&[0; 360]);
        let mut blocking = vec![];
        while let Some(part) = sending.next_part() {
            assert_eq!((part.total_bytes, part.is_again), (360, false));
            assert_eq!(part.offset, (part.number - 5) * 10);
            blocking.push(part.is_blocking);
        }
        assert_eq!(blocking, [[false; 15].as_slice(), &[true]].concat().repeat(2));
        assert_eq!((sending.next(), sending.sent(), sending.window_end()), (37, 37, 200));
        // Two acknowledgements allow two more packets.
        assert!(sending.acknowledge(7, 200).is_new);
        assert_eq!(numbers(&mut sending), [37, 38]);
        assert!(sending.acknowledge(9, 200).is_new);
        let last = [0; 2].map(|_| sending.next_part().map(|part| (part.number, part.is_blocking)));
        assert_eq!(last, [Some((39, false)), Some((40, false))]);
        // In doubt, one packet is resent; the rest follows after a new acknowledgement.
        sending.doubt();
        let again = sending.next_part().map(|part| (part.number, part.is_again, part.is_blocking));
        assert_eq!((again, sending.next_part().is_none()), (Some((9, true, true)), true));
        assert_eq!(
            sending.acknowledge(9, 200),
            Acknowledged { is_valid: true, ..Default::default() }
        );
        assert!(sending.next_part().is_none());
        assert!(sending.acknowledge(10, 200).is_new);
        assert_eq!(numbers(&mut sending), (10..41).collect::<Vec<_>>());
        assert_eq!((sending.next(), sending.sent()), (41, 41));
    }

    #[test]
    fn a_reopened_window_resends_its_contents() {
        let mut sending = Sending::new(0, 1, 10);
        sending.push(&[0; 50]);
        assert!(!sending.is_shut());
        assert_eq!(numbers(&mut sending), [0, 1]);
        // The window closes over packets in flight, then over unsent ones.
        assert!(sending.acknowledge(1, 0).is_new && sending.is_shut());
        assert_eq!(numbers(&mut sending), [] as [u16; 0]);
        assert!(!sending.acknowledge(1, 0).is_new && sending.is_shut());
        assert!(!sending.acknowledge(1, 3).is_new && !sending.is_shut());
        assert_eq!(numbers(&mut sending), [1, 2, 3]);
        // An open window causes no resends.
        sending.acknowledge(2, 4);
        assert_eq!(numbers(&mut sending), [4]);
        // Only the first packet is repeated; sending then continues with the next one.
        sending.repeat_first();
        assert_eq!(numbers(&mut sending), [2]);
        sending.repeat_first();
        sending.acknowledge(3, 9);
        assert_eq!(numbers(&mut sending), [] as [u16; 0], "it is acknowledged");
        sending.acknowledge(5, 9);
        sending.repeat_first();
        assert_eq!(numbers(&mut sending), [] as [u16; 0], "nothing is on its way");
        assert!(sending.is_empty());
    }
}
