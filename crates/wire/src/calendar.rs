//! Dates as protocols write them, in UTC.

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Year, month, day, hour, minute, second of a moment, seconds since 1970.
fn civil(since_1970_s: u64) -> (u64, u64, u64, u64, u64, u64) {
    let (days, second) = (since_1970_s / 86_400, since_1970_s % 86_400);
    // Days since 0000-03-01 in eras of 400 years, so that a leap day ends a year
    // (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    (year, month, day, second / 3600, second / 60 % 60, second % 60)
}

/// The other way around, for what [`basic`] writes.
fn since_1970_s(year: u64, month: u64, day: u64, of_day_s: u64) -> Option<u64> {
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let of_year = (153 * month + 2) / 5 + day.checked_sub(1)?;
    let (era, of_era) = (year / 400, year % 400);
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    Some(days.checked_sub(719_468)? * 86_400 + of_day_s)
}

/// The basic form of ISO 8601, as signatures have it: `20261121T100000Z`.
pub fn basic(since_1970_s: u64) -> String {
    let (year, month, day, hour, minute, second) = civil(since_1970_s);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// Read what [`basic`] writes. `None` if it is no such date.
pub fn parse_basic(text: &str) -> Option<u64> {
    let is_digit = |at: usize| text.as_bytes()[at].is_ascii_digit();
    if text.len() != 16 || !(0..8).chain(9..15).all(is_digit) {
        return None;
    }
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<u64>().ok();
    let of_day_s = number(9, 11)? * 3600 + number(11, 13)? * 60 + number(13, 15)?;
    let found = since_1970_s(number(0, 4)?, number(4, 6)?, number(6, 8)?, of_day_s)?;
    // A 31st of February would come out as another day.
    (basic(found) == text).then_some(found)
}

/// The extended form of ISO 8601 with milliseconds, as the answers of S3 have it:
/// `2026-11-21T10:00:00.250Z`.
pub fn extended(since_1970_ms: u64) -> String {
    let (year, month, day, hour, minute, second) = civil(since_1970_ms / 1000);
    let ms = since_1970_ms % 1000;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// As HTTP has it (RFC 9110, section 5.6.7): `Sat, 21 Nov 2026 10:00:00 GMT`.
pub fn http_date(since_1970_s: u64) -> String {
    // The first of January 1970 was a Thursday.
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let (year, month, day, hour, minute, second) = civil(since_1970_s);
    let (name, month) = (DAYS[(since_1970_s / 86_400 % 7) as usize], MONTHS[month as usize - 1]);
    format!("{name}, {day:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Read what [`http_date`] writes. `None` if it is no such date: forms older than RFC 9110 are none.
pub fn parse_http_date(text: &str) -> Option<u64> {
    let [_, day, month, year, time, "GMT"] = text.split(' ').collect::<Vec<_>>()[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let time: String = time.split(':').collect();
    let found = parse_basic(&format!("{year}{month:02}{day}T{time}Z"))?;
    (http_date(found) == text).then_some(found)
}

/// Read what [`time_val`] writes, without a part of a second. `None` if it is no such date.
pub fn parse_time_val(text: &str) -> Option<u64> {
    let (day, time) = text.split_at_checked(8)?;
    parse_basic(&format!("{day}T{time}Z"))
}

/// As MLSD and MDTM have it (RFC 3659 section 2.3): `20261121100000`.
pub fn time_val(since_1970_s: u64) -> String {
    let (year, month, day, hour, minute, second) = civil(since_1970_s);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// As `ls -l` has it for what is recent: `Nov 21 10:00`.
pub fn ls_time(since_1970_s: u64) -> String {
    let (_, month, day, hour, minute, _) = civil(since_1970_s);
    format!("{} {day:2} {hour:02}:{minute:02}", MONTHS[month as usize - 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // From `date -u -d @…`.
        assert_eq!(time_val(0), "19700101000000");
        assert_eq!(time_val(951_782_400), "20000229000000");
        assert_eq!(time_val(1_795_255_200), "20261121100000");
        assert_eq!(time_val(4_107_542_399), "21000228235959");
        assert_eq!(ls_time(1_795_255_200), "Nov 21 10:00");
        assert_eq!(basic(1_795_255_200), "20261121T100000Z");
        assert_eq!(extended(1_795_255_200_250), "2026-11-21T10:00:00.250Z");
        assert_eq!(http_date(1_795_255_200), "Sat, 21 Nov 2026 10:00:00 GMT");
        // The example of RFC 9110, section 5.6.7.
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn what_is_no_date_is_not_read() {
        assert_eq!(parse_basic("20130524T000000Z"), Some(1_369_353_600));
        let odd = ["", "20130524", "20130231T000000Z", "20130524T240000Z", "20130524T000060Z"];
        let odder = ["20130524 000000Z", "00000000T000000Z", "+0130524T000000Z", "2013052éT00000Z"];
        for text in odd.into_iter().chain(odder) {
            assert_eq!(parse_basic(text), None, "{text}");
            assert_eq!(parse_time_val(text), None, "{text}");
        }
        for text in ["Sun Nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT", "0"] {
            assert_eq!(parse_http_date(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(since_1970_s in 0_u64..250_000_000_000) {
            prop_assert_eq!(parse_basic(&basic(since_1970_s)), Some(since_1970_s));
            prop_assert_eq!(parse_time_val(&time_val(since_1970_s)), Some(since_1970_s));
            prop_assert_eq!(parse_http_date(&http_date(since_1970_s)), Some(since_1970_s));
        }

        #[test]
        fn reading_never_panics(text in ".*") {
            let _ = parse_basic(&text);
            let _ = parse_time_val(&text);
            let _ = parse_http_date(&text);
        }
    }
}
