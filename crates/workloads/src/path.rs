//! What a long path changes of a trial's times.

/// Round trips that an end waits for beyond its patience with a silent peer: a message and its answer take
/// one, and over TCP what is lost is first sent again after three, as nothing else is known then (RFC
/// 6298, section 2).
pub const ROUND_TRIPS_OF_SILENCE: u64 = 3;
/// One-way delays up to this are of no account: a window that lies within the time in which a stream
/// arrives is not moved for an estimate that the machine's own delays may have made.
const NEAR_NS: u64 = 20_000_000;

/// How much later than at its sender a stream is counted at its receiver: half a round trip, less what
/// the warm-up leaves for a path that is shorter in one direction, or measured as too long.
pub fn shift_ns(round_trip_ns: u64, warmup_ns: u64) -> u64 {
    let one_way_ns = round_trip_ns / 2;
    if one_way_ns <= NEAR_NS { 0 } else { one_way_ns - NEAR_NS.min(warmup_ns / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_window_is_moved_by_the_path_and_lies_within_what_arrives() {
        let shift = |one_way_ms: u64, warmup_ms: u64| shift_ns(2 * one_way_ms * MS, warmup_ms * MS);
        // A path of a few milliseconds lies within the warm-up.
        assert_eq!([0, 1, 20].map(|ms| shift(ms, 200)), [0; 3]);
        assert_eq!([28, 600, 10_000].map(|ms| shift(ms, 200) / MS), [8, 580, 9_980]);
        assert_eq!((shift(600, 10) / MS, shift(600, 0) / MS), (595, 600));
    }
}
