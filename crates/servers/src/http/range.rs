//! Byte ranges of requests (RFC 9110, section 14.1.2).

/// First and last byte of a range; the last is before the first if it is outside the file. `None`:
/// not a single byte range, which is ignored.
pub fn octets_asked(range: &str, size_bytes: u64) -> Option<(u64, u64)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let Some(end) = size_bytes.checked_sub(1) else { return Some((1, 0)) };
    let (first, last) = match (first, last) {
        ("", last) => (size_bytes.saturating_sub(last.parse().ok()?), end),
        (first, "") => (first.parse().ok()?, end),
        (first, last) => (first.parse().ok()?, last.parse::<u64>().ok()?.min(end)),
    };
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed_as_in_rfc_9110() {
        assert_eq!(octets_asked("bytes=0-0", 10), Some((0, 0)));
        assert_eq!(octets_asked("bytes=3-", 10), Some((3, 9)));
        assert_eq!(octets_asked("bytes=-3", 10), Some((7, 9)));
        assert_eq!(octets_asked("bytes=-30", 10), Some((0, 9)));
        assert_eq!(octets_asked("bytes=3-99", 10), Some((3, 9)));
        assert_eq!(octets_asked("bytes=10-12", 10), Some((10, 9)), "none such");
        assert_eq!(octets_asked("bytes=0-0", 0), Some((1, 0)), "none such");
        for odd in ["lines=1-2", "bytes=1-2,4-5", "bytes=x-", "bytes=5", "bytes=-"] {
            assert_eq!(octets_asked(odd, 10), None, "{odd}");
        }
    }
}
