//! Points in time and lengths of frames, exact to a fraction of a nanosecond.
//!
//! At 3 Mbit/s a bit takes 333 1/3 ns. A sum of rounded bit times would drift away from the wire, so
//! times are kept as whole nanoseconds and a fraction whose denominator follows from the rate.

use lanlab_units::Instant;

const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

/// A point in time or a span: `nanoseconds + part / denominator`, with the denominator of the
/// [`BitClock`] that made it. Sorted by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Exact {
    nanoseconds: u64,
    part: u64,
}

impl Exact {
    pub(crate) const ZERO: Self = Self { nanoseconds: 0, part: 0 };

    pub(crate) const fn from_nanos(nanoseconds: u64) -> Self {
        Self { nanoseconds, part: 0 }
    }

    pub(crate) const fn rounded_up(self) -> Instant {
        let up = if self.part > 0 { 1 } else { 0 };
        Instant::from_nanos(self.nanoseconds.saturating_add(up))
    }

    pub(crate) const fn whole_nanos(self) -> u64 {
        self.nanoseconds
    }
}

impl From<Instant> for Exact {
    fn from(instant: Instant) -> Self {
        Self::from_nanos(instant.as_nanos())
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct BitClock {
    numerator_ns: u64,
    denominator: u64,
}

impl BitClock {
    /// The clock of a medium with `rate_bps`; without a rate, nothing takes time.
    pub(crate) fn new(rate_bps: Option<u64>) -> Self {
        match rate_bps {
            Some(rate_bps) => {
                let divisor = greatest_common_divisor(rate_bps, NANOSECONDS_PER_SECOND);
                Self {
                    numerator_ns: NANOSECONDS_PER_SECOND / divisor,
                    denominator: rate_bps / divisor,
                }
            }
            None => Self { numerator_ns: 0, denominator: 1 },
        }
    }

    pub(crate) fn bits(self, bits: u64) -> Exact {
        // Nearly all values fit the faster 64-bit division.
        if let Some(total) = bits.checked_mul(self.numerator_ns) {
            let (nanoseconds, part) = (total / self.denominator, total % self.denominator);
            return Exact { nanoseconds, part };
        }
        let total = u128::from(bits) * u128::from(self.numerator_ns);
        let denominator = u128::from(self.denominator);
        Exact { nanoseconds: (total / denominator) as u64, part: (total % denominator) as u64 }
    }

    pub(crate) fn bytes(self, bytes: u32) -> Exact {
        self.bits(u64::from(bytes) * 8)
    }

    pub(crate) fn after(self, at: Exact, span: Exact) -> Exact {
        let part = at.part + span.part;
        let carry = u64::from(part >= self.denominator);
        Exact {
            nanoseconds: at.nanoseconds.saturating_add(span.nanoseconds).saturating_add(carry),
            part: part - carry * self.denominator,
        }
    }

    pub(crate) fn between(self, earlier: Exact, later: Exact) -> Exact {
        if later <= earlier {
            return Exact::ZERO;
        }
        let borrow = u64::from(later.part < earlier.part);
        Exact {
            nanoseconds: later.nanoseconds - earlier.nanoseconds - borrow,
            part: later.part + borrow * self.denominator - earlier.part,
        }
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_rates_add_up_over_an_hour_without_drift() {
        // 7,654,321 and 10^9 have no common factor: 1000 bytes take 8·10^12 / 7,654,321 ns.
        let clock = BitClock::new(Some(7_654_321));
        let frame = clock.bytes(1000);
        let frames = 3600 * 957_u64;
        assert_eq!((frames * 8000).checked_mul(clock.numerator_ns), None, "the longer division");
        let end = (0..frames).fold(Exact::ZERO, |at, _| clock.after(at, frame));
        let expected = u128::from(frames) * 8000 * 1_000_000_000;
        assert_eq!(u128::from(end.whole_nanos()), expected / 7_654_321);
        assert_eq!(end, clock.bits(frames * 8000));
    }

    #[test]
    fn bit_times_of_common_rates_are_whole_nanoseconds() {
        for (rate_bps, bit_ns) in
            [(1_000, 1_000_000), (2_000_000, 500), (10_000_000, 100), (100_000_000, 10)]
        {
            assert_eq!(BitClock::new(Some(rate_bps)).bits(1), Exact::from_nanos(bit_ns));
        }
    }

    #[test]
    fn fractions_round_up_to_the_next_nanosecond() {
        let clock = BitClock::new(Some(3_000_000));
        assert_eq!(clock.bits(1).rounded_up(), Instant::from_nanos(334));
        assert_eq!(clock.bits(3).rounded_up(), Instant::from_nanos(1000));
    }

    #[test]
    fn spans_are_differences_of_their_ends() {
        let clock = BitClock::new(Some(3_000_000));
        let (one, four) = (clock.bits(1), clock.bits(5));
        assert_eq!(clock.after(one, clock.between(one, four)), four);
        assert_eq!(clock.between(four, one), Exact::ZERO);
        // From 666 2/3 to 1,333 1/3 ns.
        assert_eq!(clock.between(clock.bits(2), clock.bits(4)), clock.bits(2));
        assert_eq!(clock.between(clock.bits(1), clock.bits(4)), clock.bits(3));
    }

    #[test]
    fn without_a_rate_nothing_takes_time() {
        assert_eq!(BitClock::new(None).bytes(1526), Exact::ZERO);
    }
}
