//! A sender that no longer hears its receiver.

use lanlab_units::Instant;

/// A sender pauses after this silence plus a round trip, until it hears its receiver again.
const DEAD_MAN_NS: u64 = 900_000_000;
/// Longest interval between checks that counts as silence: if the sender itself was paused, the receiver may have
/// been, too.
const LONGEST_LOOK_NS: u64 = 100_000_000;

#[derive(Debug)]
pub struct Quiet {
    last_look: Instant,
    quiet_ns: u64,
    longest_ns: u64,
}

impl Quiet {
    pub fn new(start: Instant, round_trip_ns: u64) -> Self {
        Self { last_look: start, quiet_ns: 0, longest_ns: DEAD_MAN_NS + round_trip_ns }
    }

    pub fn since_look_ns(&self, now: Instant) -> u64 {
        now.nanos_since(self.last_look)
    }

    pub fn look(&mut self, now: Instant) {
        self.quiet_ns += self.since_look_ns(now).min(LONGEST_LOOK_NS);
        self.last_look = now;
    }

    pub fn end(&mut self) {
        self.quiet_ns = 0;
    }

    pub fn is_too_long(&self) -> bool {
        self.quiet_ns > self.longest_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_ms(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn silence_counts_only_while_polling() {
        let mut quiet = Quiet::new(at_ms(0), 0);
        for ms in (10..=900).step_by(10) {
            quiet.look(at_ms(ms));
            assert!(!quiet.is_too_long(), "{ms} ms");
        }
        quiet.look(at_ms(910));
        assert!(quiet.is_too_long());
        quiet.end();
        assert!(!quiet.is_too_long());
    }

    #[test]
    fn a_paused_sender_does_not_count_silence() {
        let mut quiet = Quiet::new(at_ms(0), 0);
        assert_eq!(quiet.since_look_ns(at_ms(60_000)), 60_000_000_000);
        quiet.look(at_ms(60_000));
        assert!(!quiet.is_too_long());
    }

    #[test]
    fn a_one_second_path_is_not_silence() {
        let mut quiet = Quiet::new(at_ms(0), 2_000_000_000);
        for ms in (10..=2_900).step_by(10) {
            quiet.look(at_ms(ms));
        }
        assert!(!quiet.is_too_long());
        quiet.look(at_ms(2_910));
        assert!(quiet.is_too_long());
    }
}
