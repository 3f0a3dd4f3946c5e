//! Dates as FTP writes them, in UTC.

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

/// As MLSD and MDTM have it (RFC 3659 section 2.3): `20261121100000`.
pub fn time_val(since_1970_s: u64) -> String {
    let (year, month, day, hour, minute, second) = civil(since_1970_s);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}")
}

/// As `ls -l` has it for what is recent: `Nov 21 10:00`.
pub fn ls_time(since_1970_s: u64) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, month, day, hour, minute, _) = civil(since_1970_s);
    format!("{} {day:2} {hour:02}:{minute:02}", MONTHS[month as usize - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // From `date -u -d @…`.
        assert_eq!(time_val(0), "19700101000000");
        assert_eq!(time_val(951_782_400), "20000229000000");
        assert_eq!(time_val(1_795_255_200), "20261121100000");
        assert_eq!(time_val(4_107_542_399), "21000228235959");
        assert_eq!(ls_time(1_795_255_200), "Nov 21 10:00");
    }
}
