//! Detection of calls that wait for a timer, which shows as a mode in their times.
//!
//! Two ends that each wait for the other, one by Nagle's algorithm (RFC 896) and one by a delayed acknowledgement
//! (RFC 9293 section 3.8.6.3), lose a fixed time per exchange, so measurements show the timer instead of the
//! service.

use super::DistributionMeter;
use crate::messages::Stall;

/// Range of call durations that indicates a known timer, or several expiries of one.
struct Wait {
    time_ns: u64,
    below_ns: u64,
    likely: &'static str,
}

const MS: u64 = 1_000_000;
/// Timers count in ticks, so a call may end earlier by this fraction.
const EARLIER_PART: u64 = 20;
const WAITS: [Wait; 5] = [
    Wait {
        time_ns: 40 * MS,
        below_ns: 50 * MS,
        likely: "a delayed acknowledgement of Linux (40 ms) that the other end's Nagle algorithm \
                 waits for",
    },
    Wait {
        time_ns: 80 * MS,
        below_ns: 95 * MS,
        likely: "two delayed acknowledgements of Linux (40 ms each), one after the other, that the \
                 other end's Nagle algorithm waits for",
    },
    Wait {
        time_ns: 100 * MS,
        below_ns: 115 * MS,
        likely: "a delayed acknowledgement of macOS (100 ms) that the other end's Nagle algorithm \
                 waits for",
    },
    Wait {
        time_ns: 120 * MS,
        below_ns: 140 * MS,
        likely: "three delayed acknowledgements of Linux (40 ms each), one after the other, that \
                 the other end's Nagle algorithm waits for",
    },
    Wait {
        time_ns: 200 * MS,
        below_ns: 250 * MS,
        likely: "a delayed acknowledgement of Windows, or the least retransmission time-out of \
                 Linux (both 200 ms)",
    },
];

const LEAST_CALLS: u64 = 3;
const ONE_IN: u64 = 200;
/// A mode has at least this many times the calls of its neighbourhood.
const STANDS_OUT: u64 = 4;
/// A call of fewer bytes does not take 40 ms on any link above 3 Mbit/s.
const SMALL_CALL_BYTES: u64 = 16 << 10;
/// A larger call counts as a timer wait only above this multiple of the calls' mean time, because on a full link
/// calls wait for each other's data.
const LEAST_MEANS: u128 = 4;

/// Modes of one kind of call that a timer explains.
///
/// Large calls are first compared with the speed of the link. Stream writes (`is_stream`) are never reported: they
/// wait for buffer room, as long as the link needs.
pub fn find_stalls(
    operation: &str,
    times: &DistributionMeter,
    bytes: u64,
    is_stream: bool,
) -> Vec<Stall> {
    let all = times.samples();
    if all == 0 {
        return Vec::new();
    }
    let time_ns: u128 =
        times.times().map(|(value, count)| u128::from(value) * u128::from(count)).sum();
    WAITS
        .iter()
        .filter_map(|wait| {
            let (from, to) = (wait.time_ns - wait.time_ns / EARLIER_PART, wait.below_ns);
            let around = to - from;
            let (mut quick, mut nearby, mut calls, mut stalled_ns) = (0, 0, 0_u64, 0_u128);
            let mut mode = (0, 0);
            for (value, count) in times.times() {
                if value < wait.time_ns / 4 {
                    quick += count;
                } else if (from..to).contains(&value) {
                    calls += count;
                    stalled_ns += u128::from(value) * u128::from(count);
                    mode = mode.max((count, value));
                } else if (from - around..to + around).contains(&value) {
                    nearby += count;
                }
            }
            let is_mode = calls >= LEAST_CALLS
                && calls >= all.div_ceil(ONE_IN)
                && calls >= STANDS_OUT * nearby;
            let is_rare = u128::from(mode.1) * u128::from(all) >= LEAST_MEANS * time_ns;
            let is_no_link = bytes / all < SMALL_CALL_BYTES
                || (!is_stream && is_rare && quick >= all.div_ceil(20));
            (is_mode && is_no_link).then(|| Stall {
                operation: operation.to_owned(),
                mode_ns: mode.1,
                calls,
                calls_ratio: calls as f64 / all as f64,
                time_ratio: stalled_ns as f64 / time_ns.max(1) as f64,
                likely: wait.likely.to_owned(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(runs: &[(i64, u64)]) -> DistributionMeter {
        let mut meter = DistributionMeter::default();
        for (time_ns, count) in runs {
            meter.record_run(*time_ns, *count);
        }
        meter
    }

    #[test]
    fn waiting_for_a_delayed_acknowledgement_is_named() {
        let times = meter(&[(300_000, 900), (41_000_000, 90), (43_900_000, 10)]);
        let stalls = find_stalls("read", &times, 1000 << 18, false);
        assert_eq!(stalls.len(), 1);
        assert_eq!((stalls[0].calls, stalls[0].operation.as_str()), (100, "read"));
        assert!(stalls[0].mode_ns.abs_diff(41_000_000) < 50_000, "{}", stalls[0].mode_ns);
        assert!((stalls[0].time_ratio - 0.94).abs() < 0.01, "{}", stalls[0].time_ratio);
    }

    #[test]
    fn waiting_more_than_once_is_named() {
        let waits_of = |times: &[(i64, u64)]| find_stalls("open", &meter(times), 0, false);
        let twice = waits_of(&[(88_100_000, 30), (87_200_000, 20), (1_000_000, 50)]);
        assert_eq!((twice.len(), twice[0].calls), (1, 50));
        assert!(twice[0].likely.starts_with("two "), "{}", twice[0].likely);
        let thrice = waits_of(&[(131_000_000, 40)]);
        assert!(thrice.len() == 1 && thrice[0].likely.starts_with("three "), "{thrice:?}");
        let other = waits_of(&[(102_000_000, 40)]);
        assert!(other.len() == 1 && other[0].likely.contains("macOS"), "{other:?}");
    }

    /// As measured with libunftp's own listener: 44 ms for every small file.
    #[test]
    fn small_calls_that_all_wait_are_named() {
        let stalls = find_stalls("write", &meter(&[(44_000_000, 200)]), 200 * 6000, true);
        assert_eq!((stalls.len(), stalls[0].calls), (1, 200));
    }

    /// 256 KiB take 22 ms at 100 Mbit/s; writes return at once, or after two blocks are sent.
    #[test]
    fn writes_that_fill_the_link_are_not_stalls() {
        let times = meter(&[(60_000, 120), (22_000_000, 60), (44_000_000, 100)]);
        assert!(find_stalls("write", &times, 280 << 18, true).is_empty());
        // Blocks in flight together wait for each other.
        assert!(find_stalls("write", &times, 280 << 18, false).is_empty());
    }

    #[test]
    fn slow_links_are_not_reported_as_timers() {
        // 64 KiB at 12.5 Mbit/s each, widely spread.
        assert!(find_stalls("write", &meter(&[(42_000_000, 500)]), 500 << 16, false).is_empty());
        let spread: Vec<(i64, u64)> = (1..100).map(|ms| (ms * 1_000_000, 10)).collect();
        assert!(find_stalls("write", &meter(&spread), 990 << 10, false).is_empty());
        // One call that the scheduler delayed.
        assert!(
            find_stalls("read", &meter(&[(100_000, 5000), (41_000_000, 2)]), 0, false).is_empty()
        );
        assert!(find_stalls("read", &DistributionMeter::default(), 0, false).is_empty());
    }
}
