//! Sequence numbers modulo 128, and the unacknowledged I frames.

use std::collections::VecDeque;

use lanlab_wire::llc::MODULUS;

pub(super) const fn distance(from: u8, to: u8) -> u8 {
    to.wrapping_sub(from) % MODULUS
}

pub(super) const fn next(number: u8) -> u8 {
    (number + 1) % MODULUS
}

#[derive(Debug, Default)]
pub(super) struct SendQueue {
    frames: VecDeque<Vec<u8>>,
    acknowledged: u8,
    sent: u8,
    /// Maximum number of frames ever in flight. Frames after `sent` up to this number are resends.
    highest: u8,
    past: u8,
    spare: Vec<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Acknowledged {
    Frames(u8),
    Late,
    Never,
}

/// How far an old number may lie behind the expected one: half of all numbers, to distinguish it from a future one.
const MOST_PAST: u8 = MODULUS / 2 - 1;

pub(super) const fn is_past(number: u8, due: u8) -> bool {
    matches!(distance(number, due), 1..=MOST_PAST)
}

const MOST_SPARE: usize = 16;

impl SendQueue {
    pub(super) const fn next_number(&self) -> u8 {
        (self.acknowledged + self.sent) % MODULUS
    }

    pub(super) const fn on_their_way(&self) -> u8 {
        self.sent
    }

    pub(super) fn waiting(&self) -> usize {
        self.frames.len() - usize::from(self.sent)
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn push(&mut self) -> &mut Vec<u8> {
        let mut memory = self.spare.pop().unwrap_or_default();
        memory.clear();
        self.frames.push_back(memory);
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn send_next(&mut self) -> Option<(u8, &[u8], bool)> {
        let number = self.next_number();
        let is_again = self.sent < self.highest;
        let frame = self.frames.get(usize::from(self.sent))?;
        self.sent += 1;
        self.highest = self.highest.max(self.sent);
        Some((number, frame, is_again))
    }

    pub(super) fn acknowledge(&mut self, receive_number: u8) -> Acknowledged {
        let count = distance(self.acknowledged, receive_number);
        if count > self.highest {
            let is_late = distance(receive_number, self.acknowledged) <= self.past;
            return if is_late { Acknowledged::Late } else { Acknowledged::Never };
        }
        self.past = MOST_PAST.min(self.past + count);
        for _ in 0..count {
            if let Some(memory) = self.frames.pop_front()
                && self.spare.len() < MOST_SPARE
            {
                self.spare.push(memory);
            }
        }
        self.acknowledged = receive_number % MODULUS;
        self.sent = self.sent.saturating_sub(count);
        self.highest -= count;
        Acknowledged::Frames(count)
    }

    /// Resend from V(A) on. Returns whether there is anything to resend.
    pub(super) const fn go_back(&mut self) -> bool {
        let has_any = self.sent > 0;
        self.sent = 0;
        has_any
    }

    /// Restart at number zero. Drops either all unacknowledged frames, or only those already sent.
    pub(super) fn reset(&mut self, keeps_waiting: bool) {
        let gone = if keeps_waiting { usize::from(self.highest) } else { self.frames.len() };
        self.frames.drain(..gone.min(self.frames.len()));
        (self.acknowledged, self.sent, self.highest, self.past) = (0, 0, 0, 0);
    }

    /// Whether no frame was ever sent. V(A) does not show this, as it is 0 again after 128 frames.
    pub(super) const fn is_fresh(&self) -> bool {
        self.past == 0 && self.highest == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At this point, three frames are in flight and two wait.
    fn queue_after(count: u32) -> SendQueue {
        let mut queue = SendQueue::default();
        assert!(queue.is_fresh());
        for _ in 0..count {
            queue.push();
            queue.send_next();
            assert_eq!(queue.acknowledge(queue.next_number()), Acknowledged::Frames(1));
        }
        (0..5).for_each(|number| queue.push().push(number));
        assert_eq!(queue.is_fresh(), count == 0);
        (0..3).for_each(|_| assert!(queue.send_next().is_some_and(|(.., is_again)| !is_again)));
        assert!(!queue.is_fresh());
        queue
    }

    /// ISO/IEC 8802-2, 7.4.2: numbers are modulo 128.
    #[test]
    fn a_number_is_in_flight_late_or_never_sent() {
        for count in [0, 1, 62, 63, 64, 100, 125, 127, 128, 129, 300] {
            let first = (count % 128) as u8;
            for number in 0..128_u8 {
                let mut queue = queue_after(count);
                assert_eq!(queue.next_number(), (first + 3) % 128);
                let ahead = (0..=3).find(|ahead| (first + ahead) % 128 == number);
                let is_late = (1..=count.min(63))
                    .any(|behind| (u32::from(first) + 128 - behind) % 128 == u32::from(number));
                let expected = match ahead {
                    Some(frames) => Acknowledged::Frames(frames),
                    None if is_late => Acknowledged::Late,
                    None => Acknowledged::Never,
                };
                assert_eq!(queue.acknowledge(number), expected, "{number} after {count}");
                let left = 3 - ahead.unwrap_or(0);
                assert_eq!((queue.on_their_way(), queue.waiting()), (left, 2));
                assert_eq!(
                    (queue.len(), queue.next_number()),
                    (2 + usize::from(left), (first + 3) % 128)
                );
            }
        }
    }

    #[test]
    fn retransmissions_are_recognised_and_end_with_the_link() {
        let mut queue = queue_after(0);
        assert!(queue.go_back());
        let sent = |queue: &mut SendQueue| {
            queue.send_next().map(|(number, frame, is_again)| (number, frame[0], is_again))
        };
        let all: Vec<_> = (0..6).map_while(|_| sent(&mut queue)).collect();
        assert_eq!(all, [(0, 0, true), (1, 1, true), (2, 2, true), (3, 3, false), (4, 4, false)]);
        assert_eq!(queue.acknowledge(5), Acknowledged::Frames(5));
        assert!(!queue.go_back(), "nothing is on its way");
        for (keeps_waiting, left) in [(true, 2), (false, 0)] {
            let mut queue = queue_after(70);
            queue.go_back();
            queue.send_next();
            queue.reset(keeps_waiting);
            assert!(queue.is_fresh());
            assert_eq!((queue.on_their_way(), queue.len(), queue.next_number()), (0, left, 0));
            assert_eq!(queue.acknowledge(127), Acknowledged::Never);
        }
    }

    #[test]
    fn sixteen_frame_buffers_are_reused() {
        let mut queue = SendQueue::default();
        for _ in 0..20 {
            queue.push().reserve_exact(99);
            queue.send_next();
        }
        assert_eq!(queue.acknowledge(20), Acknowledged::Frames(20));
        let kept = (0..20).filter(|_| queue.push().capacity() == 99).count();
        assert_eq!(kept, 16);
    }
}
