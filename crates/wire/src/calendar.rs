//! Date formats of protocols, in UTC.

use chrono::{DateTime, NaiveDateTime, Utc};

const BASIC: &str = "%Y%m%dT%H%M%SZ";
const HTTP: &str = "%a, %d %b %Y %H:%M:%S GMT";
const TIME_VAL: &str = "%Y%m%d%H%M%S";

fn date(since_1970_s: u64) -> DateTime<Utc> {
    i64::try_from(since_1970_s).ok().and_then(DateTime::from_timestamp_secs).unwrap_or_default()
}

fn read(text: &str, form: &str) -> Option<u64> {
    let found = NaiveDateTime::parse_from_str(text, form).ok()?.and_utc();
    let since_1970_s = u64::try_from(found.timestamp()).ok()?;
    // Reject other forms, such as one with fewer zeros or a leap second.
    (date(since_1970_s).format(form).to_string() == text).then_some(since_1970_s)
}

/// The basic form of ISO 8601, used in signatures: `20261121T100000Z`.
pub fn basic(since_1970_s: u64) -> String {
    date(since_1970_s).format(BASIC).to_string()
}

/// Parse the output of [`basic`]. `None` if `text` has another form.
pub fn parse_basic(text: &str) -> Option<u64> {
    read(text, BASIC)
}

/// The extended form of ISO 8601 with milliseconds, used in S3 replies: `2026-11-21T10:00:00.250Z`.
pub fn extended(since_1970_ms: u64) -> String {
    let date = date(since_1970_ms / 1000);
    format!("{}.{:03}Z", date.format("%Y-%m-%dT%H:%M:%S"), since_1970_ms % 1000)
}

/// The form of HTTP (RFC 9110, section 5.6.7): `Sat, 21 Nov 2026 10:00:00 GMT`.
pub fn http_date(since_1970_s: u64) -> String {
    date(since_1970_s).format(HTTP).to_string()
}

/// Parse the output of [`http_date`]. `None` for other forms, including those older than RFC 9110.
pub fn parse_http_date(text: &str) -> Option<u64> {
    read(text, HTTP)
}

/// The form of MLSD and MDTM (RFC 3659 section 2.3): `20261121100000`.
pub fn time_val(since_1970_s: u64) -> String {
    date(since_1970_s).format(TIME_VAL).to_string()
}

/// Parse the output of [`time_val`], without fractions of a second. `None` if `text` has another
/// form.
pub fn parse_time_val(text: &str) -> Option<u64> {
    read(text, TIME_VAL)
}

/// The form of `ls -l`: `Nov 21 10:00`, or `Nov 21  2025` for dates in the future or more than half
/// a year ago.
pub fn ls_time(since_1970_s: u64, now_s: u64) -> String {
    const RECENT_S: u64 = 15_778_476;
    let is_recent = (now_s.saturating_sub(RECENT_S)..=now_s).contains(&since_1970_s);
    let form = if is_recent { "%b %e %H:%M" } else { "%b %e  %Y" };
    date(since_1970_s).format(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dates_follow_the_calendar() {
        // From `date -u -d @…`.
        assert_eq!(time_val(0), "19700101000000");
        assert_eq!(time_val(951_782_400), "20000229000000");
        assert_eq!(time_val(1_795_255_200), "20261121100000");
        assert_eq!(time_val(4_107_542_399), "21000228235959");
        // From `TZ=0 ls -l` of files with these times, on Nov 28 2026.
        assert_eq!(ls_time(1_795_255_200, 1_795_860_000), "Nov 21 10:00");
        assert_eq!(ls_time(1_795_860_001, 1_795_860_000), "Nov 28  2026");
        assert_eq!(ls_time(951_782_400, 1_795_860_000), "Feb 29  2000");
        assert_eq!(basic(1_795_255_200), "20261121T100000Z");
        assert_eq!(extended(1_795_255_200_250), "2026-11-21T10:00:00.250Z");
        assert_eq!(http_date(1_795_255_200), "Sat, 21 Nov 2026 10:00:00 GMT");
        // The example of RFC 9110, section 5.6.7.
        assert_eq!(http_date(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
    }

    #[test]
    fn invalid_dates_are_rejected() {
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
        fn written_data_is_read_back(since_1970_s in 0_u64..250_000_000_000) {
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
