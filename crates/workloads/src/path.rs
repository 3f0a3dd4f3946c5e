//! How a long path changes a trial's times.

/// Round trips added to the patience with a silent peer: a message and its answer take one, and TCP resends a lost
/// segment after three before it knows the path (RFC 6298, section 2).
pub const ROUND_TRIPS_OF_SILENCE: u64 = 3;
/// TCP's first retransmission timeout before it knows the path (RFC 6298, section 2).
const FIRST_RETRY_NS: u64 = 1_000_000_000;

/// How long TCP may be silent on a path that is interrupted for up to `silence_ns`: its retry intervals double (RFC
/// 6298, section 5.5), so the next attempt can be as far away as the interruption was long.
pub fn tcp_silence_ns(silence_ns: u64, round_trip_ns: u64) -> u64 {
    let outage_ns = silence_ns.saturating_mul(2).saturating_add(FIRST_RETRY_NS);
    outage_ns.saturating_add(ROUND_TRIPS_OF_SILENCE * round_trip_ns)
}

/// One-way delays up to this are ignored: a window within a stream's arrivals is not moved for an estimate that may
/// reflect the machine's own delays.
const NEAR_NS: u64 = 20_000_000;

/// How much later a stream is counted at the receiver than at the sender: half a round trip, minus what the warm-up
/// leaves for an asymmetric or overestimated path.
pub fn shift_ns(round_trip_ns: u64, warmup_ns: u64) -> u64 {
    let one_way_ns = round_trip_ns / 2;
    if one_way_ns <= NEAR_NS { 0 } else { one_way_ns - NEAR_NS.min(warmup_ns / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn tcp_may_be_silent_until_its_next_retry_after_an_outage() {
        // Linux retries first after 200 ms, then twice as long each time.
        for outage_ms in [500, 2_000, 3_000] {
            let retries = (1..20).map(|retry| 200 * ((1 << retry) - 1));
            let resumes_ms = retries.into_iter().find(|at_ms| *at_ms >= outage_ms).unwrap();
            assert!(tcp_silence_ns(outage_ms * MS, 0) > resumes_ms * MS, "{outage_ms}");
        }
        assert_eq!(tcp_silence_ns(3_000 * MS, 500 * MS), 8_500 * MS);
    }

    #[test]
    fn windows_shift_with_path_delay_within_the_arrivals() {
        let shift = |one_way_ms: u64, warmup_ms: u64| shift_ns(2 * one_way_ms * MS, warmup_ms * MS);
        // A path of a few milliseconds lies within the warm-up.
        assert_eq!([0, 1, 20].map(|ms| shift(ms, 200)), [0; 3]);
        assert_eq!([28, 600, 10_000].map(|ms| shift(ms, 200) / MS), [8, 580, 9_980]);
        assert_eq!((shift(600, 10) / MS, shift(600, 0) / MS), (595, 600));
    }
}
