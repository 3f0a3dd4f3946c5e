//! Times of messages: DOS date and time, LAN Manager seconds, Windows NT ticks.
//!
//! Source: [MS-CIFS] 2.2.1.4; [MS-DTYP] 2.3.3. DOS and LAN Manager times are in the server's time
//! zone, Windows NT times in UTC. The caller converts between zones.

use chrono::{DateTime as ChronoDateTime, Datelike, NaiveDate, Timelike};

use crate::fields::fields;

/// Ticks of 100 ns from 1601 to 1970.
const TICKS_1601_TO_1970: u64 = 116_444_736_000_000_000;
const TICKS_PER_S: u64 = 10_000_000;
/// Base year of DOS dates, which cover 127 more years.
const FIRST_YEAR: i32 = 1980;
const LAST_YEAR: i32 = FIRST_YEAR + 127;

fields! {
    #[derive(PartialOrd, Ord)]
    DateTime, Little => {
        /// Years since 1980 in the high 7 bits, month in 4, day in 5. Zero is not a date.
        date: u16,
        /// Hour in the high 5 bits, minute in 6, half the seconds in 5.
        time: u16,
    }
}

impl DateTime {
    const MIN: Self = Self::packed([0, 1, 1], [0, 0, 0]);
    const MAX: Self = Self::packed([127, 12, 31], [23, 59, 58]);

    /// Years since 1980, month and day; hour, minute and second.
    const fn packed([years, month, day]: [u32; 3], [hour, minute, second]: [u32; 3]) -> Self {
        Self {
            date: (years << 9 | month << 5 | day) as u16,
            time: (hour << 11 | minute << 5 | (second / 2)) as u16,
        }
    }

    /// The time at or before `since_1970_s`, in seconds in the server's zone. Years before 1980 and
    /// after 2107 become the first and the last possible time.
    pub fn from_unix(since_1970_s: i64) -> Self {
        let Some(found) = ChronoDateTime::from_timestamp_secs(since_1970_s) else {
            return if since_1970_s < 0 { Self::MIN } else { Self::MAX };
        };
        let year = found.year();
        if year < FIRST_YEAR {
            return Self::MIN;
        }
        if year > LAST_YEAR {
            return Self::MAX;
        }
        let date = [(year - FIRST_YEAR) as u32, found.month(), found.day()];
        Self::packed(date, [found.hour(), found.minute(), found.second()])
    }

    /// Seconds since 1970 in the server's zone. `None` for an invalid date or time.
    pub fn to_unix(self) -> Option<i64> {
        let (date, time) = (u32::from(self.date), u32::from(self.time));
        let year = FIRST_YEAR + (date >> 9).cast_signed();
        let date = NaiveDate::from_ymd_opt(year, date >> 5 & 15, date & 31)?;
        let moment = date.and_hms_opt(time >> 11, time >> 5 & 63, 2 * (time & 31))?;
        Some(moment.and_utc().timestamp())
    }
}

/// Windows NT ticks (100 ns since 1601, UTC) of a time in ns since 1970, limited to their range.
pub const fn ticks_from_unix_ns(since_1970_ns: i128) -> u64 {
    let ticks = since_1970_ns.div_euclid(100) + TICKS_1601_TO_1970 as i128;
    if ticks < 0 {
        0
    } else if ticks > i64::MAX as i128 {
        i64::MAX as u64
    } else {
        ticks as u64
    }
}

/// Convert Windows NT ticks to ns since 1970. `None` (no time) for zero, and for values with the
/// highest bit set.
pub const fn ticks_to_unix_ns(ticks: u64) -> Option<i128> {
    if ticks == 0 || ticks > i64::MAX as u64 {
        return None;
    }
    Some((ticks as i128 - TICKS_1601_TO_1970 as i128) * 100)
}

/// Windows NT ticks of whole seconds since 1970 in UTC.
pub const fn ticks_from_unix(since_1970_s: u32) -> u64 {
    since_1970_s as u64 * TICKS_PER_S + TICKS_1601_TO_1970
}

/// LAN Manager seconds: `since_1970_s` (UTC) in a zone that is `timezone_min` behind UTC, limited
/// to 32 bits. Zero and all ones: no time.
pub const fn seconds_in_zone(since_1970_s: i64, timezone_min: i16) -> u32 {
    let local = since_1970_s.saturating_sub(timezone_min as i64 * 60);
    if local < 1 {
        1
    } else if local > u32::MAX as i64 - 1 {
        u32::MAX - 1
    } else {
        local as u32
    }
}

/// Convert LAN Manager seconds to seconds since 1970 in UTC. `None`: no time.
pub const fn seconds_to_utc(seconds: u32, timezone_min: i16) -> Option<i64> {
    if seconds == 0 || seconds == u32::MAX {
        return None;
    }
    Some(seconds as i64 + timezone_min as i64 * 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// 1994-11-23 15:42:30 UTC by `date -u +%s`.
    const MOMENT_S: i64 = 785_605_350;

    #[test]
    fn dos_times_have_the_specified_bits() {
        let moment = DateTime::from_unix(MOMENT_S);
        // 14 years, month 11, day 23; 15 hours, 42 minutes, 15 times two seconds.
        assert_eq!(format!("{:016b}", moment.date), ["0001110", "1011", "10111"].concat());
        assert_eq!(format!("{:016b}", moment.time), ["01111", "101010", "01111"].concat());
        assert_eq!(moment.to_unix(), Some(MOMENT_S));
        assert_eq!(DateTime::from_unix(MOMENT_S + 1), moment);
    }

    #[test]
    fn times_outside_the_dos_range_are_clamped() {
        for (since_1970_s, expected) in [
            (i64::MIN, DateTime::MIN),
            (0, DateTime::MIN),
            (5_000_000_000, DateTime::MAX),
            (i64::MAX, DateTime::MAX),
        ] {
            assert_eq!(DateTime::from_unix(since_1970_s), expected, "{since_1970_s}");
        }
        assert_eq!(DateTime::MAX.to_unix(), Some(4_354_819_198));
    }

    #[test]
    fn invalid_dates_and_times_are_rejected() {
        assert_eq!(DateTime::default().to_unix(), None);
        for (date, time) in [
            ([14, 2, 30], [0, 0, 0]),
            ([0, 13, 1], [0, 0, 0]),
            ([0, 1, 1], [24, 0, 0]),
            ([0, 1, 1], [0, 60, 0]),
            ([0, 1, 1], [0, 0, 60]),
        ] {
            assert_eq!(DateTime::packed(date, time).to_unix(), None, "{date:?} {time:?}");
        }
    }

    #[test]
    fn ticks_are_counted_from_1601() {
        assert_eq!(ticks_from_unix_ns(0), 116_444_736_000_000_000);
        assert_eq!(ticks_from_unix(1), 116_444_736_010_000_000);
        assert_eq!(ticks_from_unix_ns(i128::MIN), 0);
        assert_eq!(ticks_from_unix_ns(i128::MAX), i64::MAX as u64);
        assert_eq!(ticks_to_unix_ns(1), Some(-11_644_473_599_999_999_900));
        assert_eq!((ticks_to_unix_ns(0), ticks_to_unix_ns(u64::MAX)), (None, None));
    }

    #[test]
    fn lan_manager_seconds_are_local_time() {
        // Central European Time is 60 minutes ahead of UTC.
        assert_eq!(seconds_in_zone(MOMENT_S, -60), MOMENT_S as u32 + 3600);
        assert_eq!(seconds_to_utc(MOMENT_S as u32 + 3600, -60), Some(MOMENT_S));
        assert_eq!((seconds_in_zone(0, 720), seconds_in_zone(i64::MAX, 0)), (1, u32::MAX - 1));
        assert_eq!((seconds_to_utc(0, 0), seconds_to_utc(u32::MAX, 0)), (None, None));
    }

    proptest! {
        #[test]
        fn dates_and_times_round_trip(date: u16, time: u16) {
            let moment = DateTime { date, time };
            if let Some(since_1970_s) = moment.to_unix() {
                prop_assert_eq!(DateTime::from_unix(since_1970_s), moment);
            }
        }

        #[test]
        fn ticks_round_trip(ticks in 1..=i64::MAX as u64) {
            prop_assert_eq!(ticks_to_unix_ns(ticks).map(ticks_from_unix_ns), Some(ticks));
        }
    }
}
