//! When the next message is due.

use lanlab_units::{Instant, Pace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Send(u64),
    Wait(Instant),
}

/// Fraction of a group's time by which the next may start early, so that small delays are made up at once.
const FREE_SHARE: u64 = 32;
/// Fraction of its delay that a sender makes up per group.
const GAINED_SHARE: u64 = 16;

/// An even schedule without bursts: a late sender makes its gaps shorter, by a small fraction of its delay and
/// never below half, or skips overdue messages. So a late wake-up makes one gap too long and none much too short.
///
/// By default each message is sent alone. At rates too high for a system call per message, one call sends a group.
#[derive(Debug)]
pub struct Pacer {
    pace: Pace,
    start: Instant,
    group: u64,
    /// Messages whose turn has come so far: the index of the next slot.
    pub taken: u64,
    not_before: Instant,
    half_group_ns: u64,
}

impl Pacer {
    pub fn new(pace: Pace, start: Instant, group: u64) -> Self {
        let group = group.max(1);
        let group_ns = pace.slot(Instant::ZERO, group).as_nanos();
        Self { pace, start, group, taken: 0, not_before: start, half_group_ns: group_ns / 2 }
    }

    /// The next step at `now`, if slots up to `limit` may be used.
    pub fn turn(&self, now: Instant, limit: u64) -> Turn {
        let last = (self.taken + self.group).min(limit.max(self.taken + 1)) - 1;
        // A group is sent when its first message is due, so none is late and the burst is the group.
        let due = self.pace.slot(self.start, self.taken).max(self.not_before);
        if now < due { Turn::Wait(due) } else { Turn::Send(last + 1 - self.taken) }
    }

    pub fn took(&mut self, messages: u64, now: Instant) {
        let lateness_ns = now.nanos_since(self.next_slot());
        let group_ns = self.group_ns();
        let gained_ns = (lateness_ns / GAINED_SHARE).max(group_ns / FREE_SHARE);
        self.taken += messages;
        self.not_before = now.plus_nanos(group_ns - gained_ns.min(self.half_group_ns));
    }

    pub fn skip_to(&mut self, index: u64) {
        self.taken = self.taken.max(index);
    }

    /// Skip messages before slot `limit` whose successor is also due, and return their number.
    pub fn skip_overdue(&mut self, now: Instant, limit: u64) -> u64 {
        let before = self.taken;
        if now >= self.pace.slot(self.start, self.taken + self.group) {
            // The newest due slot.
            let newest = self.pace.slots_within(now.nanos_since(self.start).saturating_add(1)) - 1;
            self.skip_to((newest + 1).saturating_sub(self.group).min(limit.saturating_sub(1)));
        }
        self.taken - before
    }

    pub fn group_ns(&self) -> u64 {
        2 * self.half_group_ns
    }

    pub fn next_slot(&self) -> Instant {
        self.pace.slot(self.start, self.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_us(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    fn every_millisecond(group: u64) -> Pacer {
        Pacer::new(Pace::from_message_rate(1000.0).unwrap(), at_us(0), group)
    }

    #[test]
    fn a_sender_on_time_follows_the_schedule() {
        let mut pacer = every_millisecond(1);
        for k in 0..5 {
            assert_eq!(pacer.turn(at_us(1000 * k), 100), Turn::Send(1));
            pacer.took(1, at_us(1000 * k));
            assert_eq!(pacer.turn(at_us(1000 * k + 1), 100), Turn::Wait(at_us(1000 * (k + 1))));
        }
    }

    #[test]
    fn a_late_sender_catches_up_without_a_burst() {
        let sent_at = sent_by_a_sender_late_until(10_000);
        // Ten behind: as fast as allowed, which is twice the rate.
        assert_eq!(&sent_at[..4], [10_000, 10_500, 11_000, 11_500]);
        let gaps: Vec<u64> = sent_at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| (500..=1000).contains(gap)), "{gaps:?}");
        // Then the gaps grow until the sender is on time; times are rounded to a µs here.
        assert!(gaps.windows(2).all(|pair| pair[0] <= pair[1] + 1), "{gaps:?}");
        assert_eq!(sent_at.last(), Some(&99_000));
    }

    #[test]
    fn a_message_late_by_less_than_a_period_shortens_no_gap_by_much() {
        let sent_at = sent_by_a_sender_late_until(700);
        let shortest = sent_at.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap();
        assert!(shortest >= 950, "{shortest} µs");
        // A message late by a hundredth of the period is followed by one on time.
        assert_eq!(&sent_by_a_sender_late_until(10)[..3], [10, 1000, 2000]);
    }

    /// Send times of the 100 messages of a schedule, in µs, if the first is blocked until `us`.
    fn sent_by_a_sender_late_until(us: u64) -> Vec<u64> {
        let mut pacer = every_millisecond(1);
        let mut now = at_us(us);
        let mut sent_at = Vec::new();
        while sent_at.len() < 100 {
            match pacer.turn(now, 100) {
                Turn::Send(messages) => {
                    pacer.took(messages, now);
                    sent_at.push(now.as_nanos() / 1000);
                }
                Turn::Wait(until) => now = until,
            }
        }
        sent_at
    }

    #[test]
    fn skipped_messages_are_not_caught_up() {
        let mut pacer = every_millisecond(1);
        pacer.skip_to(10);
        assert_eq!(pacer.turn(at_us(9_000), 100), Turn::Wait(at_us(10_000)));
        pacer.skip_to(3);
        assert_eq!(pacer.taken, 10);
    }

    #[test]
    fn a_sender_that_skips_is_late_by_less_than_a_period() {
        let mut pacer = every_millisecond(1);
        assert_eq!(pacer.skip_overdue(at_us(999), 100), 0);
        assert_eq!(pacer.skip_overdue(at_us(10_400), 100), 10);
        assert_eq!(pacer.turn(at_us(10_400), 100), Turn::Send(1));
        pacer.took(1, at_us(10_400));
        assert_eq!(pacer.skip_overdue(at_us(11_000), 100), 0);
        let Turn::Wait(until) = pacer.turn(at_us(10_500), 100) else { panic!("sent at once") };
        assert!((at_us(11_000)..at_us(11_400)).contains(&until), "{until:?}");
    }

    #[test]
    fn the_last_message_is_never_skipped() {
        let mut pacer = every_millisecond(1);
        assert_eq!(pacer.skip_overdue(at_us(50_000), 20), 19);
        assert_eq!(pacer.turn(at_us(50_000), 20), Turn::Send(1));
    }

    #[test]
    fn groups_are_sent_together_up_to_the_limit() {
        let mut pacer = every_millisecond(4);
        assert_eq!(pacer.turn(at_us(0), 6), Turn::Send(4));
        pacer.took(4, at_us(0));
        assert_eq!(pacer.turn(at_us(1), 6), Turn::Wait(at_us(4000)));
        assert_eq!(pacer.turn(at_us(4000), 6), Turn::Send(2));
    }
}
