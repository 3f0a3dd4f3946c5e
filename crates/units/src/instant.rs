use core::fmt;
use core::ops::{Add, Sub};
use core::time::Duration;

/// A point in time, in whole nanoseconds: of the host's monotonic clock in the engine, of the
/// virtual clock in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

impl Instant {
    pub const ZERO: Self = Self(0);
    /// 584 years: later than any time that a run reaches.
    pub const FAR_FUTURE: Self = Self(u64::MAX);

    pub const fn from_nanos(nanoseconds: u64) -> Self {
        Self(nanoseconds)
    }

    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    pub fn earliest<const N: usize>(times: [Option<Self>; N]) -> Option<Self> {
        let times = times.map(|at| at.unwrap_or(Self::FAR_FUTURE));
        times.into_iter().min().filter(|at| *at < Self::FAR_FUTURE)
    }

    pub const fn nanos_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    pub const fn signed_nanos_from(self, reference: Self) -> i64 {
        self.0.wrapping_sub(reference.0).cast_signed()
    }

    /// `nanoseconds` later, or [`Self::FAR_FUTURE`].
    #[must_use]
    pub const fn plus_nanos(self, nanoseconds: u64) -> Self {
        Self(self.0.saturating_add(nanoseconds))
    }

    /// `nanoseconds` earlier, or [`Self::ZERO`].
    #[must_use]
    pub const fn minus_nanos(self, nanoseconds: u64) -> Self {
        Self(self.0.saturating_sub(nanoseconds))
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        self.plus_nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.nanos_since(earlier))
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_never_wrap() {
        let (early, late) = (Instant::from_nanos(5), Instant::from_nanos(9));
        assert_eq!(late.nanos_since(early), 4);
        assert_eq!(early.nanos_since(late), 0);
        assert_eq!(early.signed_nanos_from(late), -4);
        assert_eq!(Instant::FAR_FUTURE.plus_nanos(1), Instant::FAR_FUTURE);
        assert_eq!(early.minus_nanos(6), Instant::ZERO);
    }
}
