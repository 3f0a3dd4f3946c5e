use crate::Instant;

/// An even sending schedule: message `k` is due at `start + k × period`.
///
/// The period is kept as a fraction, so that no rounding accumulates: the error of any slot is
/// below one nanosecond, however long the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    period_numerator_ns: u128,
    period_denominator: u128,
}

impl Pace {
    /// Messages of `message_size_bytes` that carry `rate_bps` of payload. `None` if either is zero.
    pub fn from_bit_rate(rate_bps: u64, message_size_bytes: u32) -> Option<Self> {
        (rate_bps > 0 && message_size_bytes > 0).then(|| Self {
            period_numerator_ns: u128::from(message_size_bytes) * 8 * 1_000_000_000,
            period_denominator: u128::from(rate_bps),
        })
    }

    /// Messages per second, rounded to a thousandth. `None` unless at least 0.001 and finite.
    pub fn from_message_rate(messages_per_s: f64) -> Option<Self> {
        let per_1000_s = (messages_per_s * 1000.0).round();
        (per_1000_s >= 1.0 && per_1000_s.is_finite()).then_some(Self {
            period_numerator_ns: 1_000_000_000_000,
            period_denominator: per_1000_s as u128,
        })
    }

    #[must_use]
    pub fn shared_by(self, flows: u16) -> Self {
        let period_numerator_ns = self.period_numerator_ns * u128::from(flows.max(1));
        Self { period_numerator_ns, ..self }
    }

    pub fn slot(&self, start: Instant, index: u64) -> Instant {
        let offset_ns = u128::from(index) * self.period_numerator_ns / self.period_denominator;
        start.plus_nanos(u64::try_from(offset_ns).unwrap_or(u64::MAX))
    }

    pub fn slots_within(&self, span_ns: u64) -> u64 {
        let slots =
            (u128::from(span_ns) * self.period_denominator).div_ceil(self.period_numerator_ns);
        u64::try_from(slots).unwrap_or(u64::MAX)
    }

    pub fn period_ns(&self) -> u64 {
        u64::try_from(self.period_numerator_ns / self.period_denominator).unwrap_or(u64::MAX)
    }

    pub fn messages_per_s(&self) -> f64 {
        self.period_denominator as f64 * 1e9 / self.period_numerator_ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_do_not_drift() {
        // 500 bytes at 3 Mbit/s take 4,000,000/3 ns, which is not an integer.
        let pace = Pace::from_bit_rate(3_000_000, 500).unwrap();
        let start = Instant::from_nanos(7);
        assert_eq!(pace.slot(start, 0), start);
        assert_eq!(pace.slot(start, 3_000_000), start.plus_nanos(4_000_000_000_000));
        assert_eq!(pace.period_ns(), 1_333_333);
    }

    #[test]
    fn a_span_holds_the_slots_before_its_end() {
        let pace = Pace::from_message_rate(1000.0).unwrap();
        assert_eq!(pace.slots_within(0), 0);
        assert_eq!(pace.slots_within(1), 1);
        assert_eq!(pace.slots_within(1_000_000), 1);
        assert_eq!(pace.slots_within(1_000_001), 2);
        assert_eq!(pace.slots_within(1_000_000_000), 1000);
    }

    #[test]
    fn impossible_rates_are_refused() {
        assert_eq!(Pace::from_bit_rate(0, 500), None);
        assert_eq!(Pace::from_bit_rate(1, 0), None);
        assert_eq!(Pace::from_message_rate(0.0001), None);
        assert_eq!(Pace::from_message_rate(f64::NAN), None);
        assert_eq!(Pace::from_message_rate(f64::INFINITY), None);
    }
}
