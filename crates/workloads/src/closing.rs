//! Agreement on the end of a transfer over UDP: one end repeats its last message until the other confirms it.

use lanlab_units::Instant;

use crate::messages::EndedBy;

/// The end is sent this many times in quick succession, then at growing intervals: the other end closes soon after
/// receiving it, and its reply may be lost.
const QUICK_TIMES: u32 = 10;
const QUICK_PAUSE_NS: u64 = 5_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosingStep {
    Say,
    Listen(Instant),
    Over(EndedBy),
}

#[derive(Debug, Clone, Copy)]
pub struct Closing {
    said: u32,
    next: Instant,
    pause_ns: u64,
    longest_pause_ns: u64,
    silence_ns: u64,
    last_heard: Instant,
    give_up_at: Instant,
    is_confirmed: bool,
}

impl Closing {
    /// Everything has been sent by `now`. The end stays unconfirmed if the other end is silent for
    /// `silence_ns`, or has not confirmed it after `longest_ns` despite other messages.
    pub fn new(now: Instant, silence_ns: u64, longest_ns: u64, longest_pause_ns: u64) -> Self {
        Self {
            said: 0,
            next: now,
            pause_ns: QUICK_PAUSE_NS,
            longest_pause_ns,
            silence_ns,
            last_heard: now,
            give_up_at: now.plus_nanos(longest_ns),
            is_confirmed: false,
        }
    }

    pub fn heard(&mut self, now: Instant) {
        self.last_heard = now;
    }

    pub fn confirm(&mut self) {
        self.is_confirmed = true;
    }

    pub fn next(&mut self, now: Instant) -> ClosingStep {
        if self.is_confirmed {
            return ClosingStep::Over(EndedBy::Finished);
        }
        if now.nanos_since(self.last_heard) > self.silence_ns || now > self.give_up_at {
            return ClosingStep::Over(EndedBy::Unconfirmed);
        }
        if now < self.next {
            return ClosingStep::Listen(self.next);
        }
        self.next = now.plus_nanos(self.pause_ns);
        self.said += 1;
        if self.said >= QUICK_TIMES {
            self.pause_ns = (2 * self.pause_ns).min(self.longest_pause_ns);
        }
        ClosingStep::Say
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Times (ms) at which the end is sent, and when sending stops, if the other end sends something every
    /// `heard_ms` but never confirms.
    fn said(heard_ms: u64) -> (Vec<u64>, u64) {
        let mut closing = Closing::new(at_ms(0), 1_000_000_000, 3_000_000_000, 50_000_000);
        let mut said = Vec::new();
        for ms in 0.. {
            if ms % heard_ms == 0 {
                closing.heard(at_ms(ms));
            }
            match closing.next(at_ms(ms)) {
                ClosingStep::Say => said.push(ms),
                ClosingStep::Listen(until) => assert!(until > at_ms(ms)),
                ClosingStep::Over(ended_by) => {
                    assert_eq!(ended_by, EndedBy::Unconfirmed);
                    return (said, ms);
                }
            }
        }
        unreachable!("it is given up")
    }

    #[test]
    fn the_end_is_sent_ten_times_quickly_then_slowly() {
        let (said, _) = said(100);
        assert_eq!(said[..10], [0, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
        assert_eq!(said[10..16], [50, 60, 80, 120, 170, 220]);
    }

    #[test]
    fn an_unconfirmed_end_times_out() {
        assert_eq!(said(u64::MAX).1, 1_001, "silent");
        assert_eq!(said(100).1, 3_001, "says something else");
    }

    #[test]
    fn a_confirmed_end_is_final() {
        let mut closing = Closing::new(at_ms(0), 1_000_000_000, 3_000_000_000, 50_000_000);
        assert_eq!(closing.next(at_ms(0)), ClosingStep::Say);
        assert_eq!(closing.next(at_ms(1)), ClosingStep::Listen(at_ms(5)));
        closing.confirm();
        assert_eq!(closing.next(at_ms(1)), ClosingStep::Over(EndedBy::Finished));
        assert_eq!(closing.next(at_ms(60_000)), ClosingStep::Over(EndedBy::Finished));
    }
}
