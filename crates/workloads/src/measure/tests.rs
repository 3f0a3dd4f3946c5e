//! Results of the meters, worked out by hand: edge cases, and counts that all differ.

use lanlab_units::{Instant, Pace};

use super::*;

fn spread(runs: &[(i64, u64)]) -> DistributionMeter {
    let mut meter = DistributionMeter::default();
    for (time_ns, count) in runs {
        meter.record_run(*time_ns, *count);
    }
    meter
}

fn printed(meter: &DistributionMeter) -> String {
    format!("{:?}", meter.finish())
}

#[test]
fn percentiles_and_spread_of_the_first_thousand_numbers() {
    let mut meter = DistributionMeter::default();
    for time_ns in (1..=1000).rev() {
        meter.record(time_ns);
    }
    let found = meter.finish();
    assert_eq!((found.samples, found.min_ns, found.max_ns), (1000, 1, 1000));
    assert_eq!((found.p1_ns, found.p50_ns, found.p90_ns), (10, 500, 900));
    assert_eq!((found.p99_ns, found.p999_ns), (990, 999));
    // 500.5, and the root of n(n+1)/12 = 83,416.7.
    assert_eq!((found.mean_ns, found.sd_ns), (500, 288));
}

#[test]
fn times_of_either_sign_keep_their_mean_and_spread() {
    let found = spread(&[(-3, 1), (5, 1)]).finish();
    assert_eq!((found.min_ns, found.max_ns, found.mean_ns, found.sd_ns), (-3, 5, 1, 5));
    assert_eq!(found.p1_ns, 0);
    let one = spread(&[(700, 1)]).finish();
    assert_eq!((one.samples, one.mean_ns, one.sd_ns), (1, 700, 0));
    let weighted = spread(&[(100, 3), (500, 1)]).finish();
    assert_eq!((weighted.mean_ns, weighted.sd_ns), (200, 200));
    let long = spread(&[(120_000_000_000, 1)]).finish();
    assert_eq!((long.min_ns, long.max_ns), (120_000_000_000, 120_000_000_000));
    assert!(long.p50_ns.abs_diff(60_000_000_000) < 60_000_000, "{}", long.p50_ns);
}

#[test]
fn merging_an_empty_meter_changes_nothing() {
    let (mut filled, empty) = (spread(&[(100, 3), (500, 1)]), DistributionMeter::default());
    filled.add(&empty);
    assert_eq!(printed(&filled), printed(&spread(&[(100, 3), (500, 1)])));
    let mut sum = DistributionMeter::default();
    sum.add(&filled);
    assert_eq!(printed(&sum), printed(&filled));
    sum.add(&spread(&[(-40, 2)]));
    assert_eq!(printed(&sum), printed(&spread(&[(-40, 2), (100, 3), (500, 1)])));
    assert_eq!(sum.samples(), 6);
    assert_eq!(printed(&empty), format!("{:?}", crate::messages::Distribution::default()));
}

/// Delays that grow by 1, 2, … 100 ns.
#[test]
fn percentiles_are_right_for_growing_variation() {
    let (mut meter, mut flow) = (DelayVariationMeter::default(), LastDelay::default());
    let mut delay_ns = 5000;
    meter.record(&mut flow, 0, 0, delay_ns);
    for number in 1..=100 {
        delay_ns += number;
        meter.record(&mut flow, number, 1000 * number, 1000 * number + delay_ns);
    }
    let found = DelayVariationMeter::merge([&meter].into_iter()).unwrap();
    assert_eq!((found.samples, found.mean_ns, found.max_ns), (100, 50, 100));
    assert_eq!((found.p50_ns, found.p90_ns, found.p99_ns), (50, 90, 99));
}

/// RFC 3550: 30, 20 and 0 ms give 1.875, 3.007 812 5 and 2.819 824 218 75 ms.
#[test]
fn smoothed_variation_is_the_largest_of_all_flows() {
    let varied = |delays_ms: &[u64]| {
        let (mut meter, mut flow) = (DelayVariationMeter::default(), LastDelay::default());
        for (number, delay_ms) in (0..).zip(delays_ms) {
            meter.record(&mut flow, number, 0, delay_ms * 1_000_000);
        }
        meter.end(&flow);
        meter
    };
    let (much, little) = (varied(&[100, 130, 110, 110]), varied(&[7, 8, 8]));
    for meters in [[&much, &little], [&little, &much]] {
        let found = DelayVariationMeter::merge(meters.into_iter()).unwrap();
        assert_eq!(found.smoothed_ns, 2_819_824);
        // 50 ms and 1 ms over five pairs.
        assert_eq!((found.samples, found.mean_ns), (5, 10_200_000));
    }
    // Two flows of one meter.
    let (mut meter, mut flow) = (much, LastDelay::default());
    meter.record(&mut flow, 0, 0, 1_000_000);
    meter.record(&mut flow, 1, 0, 2_000_000);
    meter.end(&flow);
    assert_eq!(DelayVariationMeter::merge([&meter].into_iter()).unwrap().smoothed_ns, 2_819_824);
}

#[test]
fn a_run_of_one_message_forms_no_pair() {
    let (mut meter, mut flow) = (DelayVariationMeter::default(), LastDelay::default());
    meter.record_run(&mut flow, 4, 1, 0, 100);
    assert!(DelayVariationMeter::merge([&meter].into_iter()).is_none());
    meter.record_run(&mut flow, 5, 2, 0, 160);
    meter.record_run(&mut flow, 7, 3, 0, 130);
    // 60, 0, 30, 0, 0.
    let found = DelayVariationMeter::merge([&meter].into_iter()).unwrap();
    assert_eq!((found.samples, found.mean_ns, found.max_ns), (5, 18, 60));
    assert_eq!((found.p50_ns, found.p90_ns), (0, 60));
    // Numbers wrap after the largest one.
    meter.record(&mut flow, u64::MAX, 0, 130);
    meter.record(&mut flow, 0, 0, 130);
    assert_eq!(DelayVariationMeter::merge([&meter].into_iter()).unwrap().samples, 6);
}

#[test]
fn the_sequence_window_is_65536_numbers() {
    let mut window = SequenceWindow::default();
    assert_eq!((window.next, window.arrived_since(0)), (0, Some(0)));
    assert_eq!(window.observe(65_536), Seen::InOrder);
    assert_eq!(window.next, 65_537);
    assert_eq!(window.arrived_since(0), None);
    assert_eq!(window.arrived_since(1), Some(1));
    assert_eq!(window.observe(0), Seen::Stale);
    assert_eq!(window.observe(1), Seen::Reordered);
    assert_eq!(window.observe(1), Seen::Duplicate);
    assert_eq!(window.arrived_since(1), Some(2));
    assert_eq!(window.arrived_since(2), Some(1));
    assert_eq!(window.arrived_since(65_537), Some(0));
    assert_eq!(window.arrived_since(70_000), Some(0));
    // A new number replaces only the one that leaves the window.
    assert_eq!(window.observe(65_537), Seen::InOrder);
    assert_eq!(window.observe(1), Seen::Stale);
    assert_eq!(window.observe(65_536), Seen::Duplicate);
    assert_eq!(window.observe(64), Seen::Reordered);
    assert_eq!(window.observe(128), Seen::Reordered);
    assert_eq!(window.observe(64), Seen::Duplicate);
    // One fewer than the window enters at once: its oldest is still known.
    assert_eq!(window.observe(65_537 + 65_535), Seen::InOrder);
    assert_eq!(window.observe(65_537), Seen::Duplicate);
    window.observe_run(200_000, 3);
    assert_eq!((window.next, window.arrived_since(200_000)), (200_003, Some(3)));
    assert_eq!(window.observe(200_002), Seen::Duplicate);
    assert_eq!(window.observe(199_999), Seen::Reordered);
}

#[test]
fn bins_double_only_when_there_are_more_than_1200() {
    let mut meter = IntervalMeter::new(10);
    meter.record(0, 2, 7);
    meter.record(9, 3, 11);
    meter.record(10, 4, 13);
    meter.record(11_999, 5, 17);
    let kept = IntervalMeter::merge(vec![meter.clone()], true);
    assert_eq!((kept.interval_ns, kept.messages.len(), kept.bytes.len()), (10, 1200, 1200));
    assert_eq!((kept.messages[0], kept.messages[1], kept.messages[1199]), (5, 4, 5));
    assert_eq!((kept.bytes[0], kept.bytes[1], kept.bytes[1199]), (18, 13, 17));
    meter.record(12_000, 6, 19);
    let joined = IntervalMeter::merge(vec![meter], true);
    assert_eq!((joined.interval_ns, joined.messages.len()), (20, 601));
    assert_eq!((joined.messages[0], joined.messages[599], joined.messages[600]), (9, 5, 6));
    assert_eq!((joined.bytes[0], joined.bytes[599], joined.bytes[600]), (31, 17, 19));
}

#[test]
fn flows_add_up_bin_by_bin_at_the_widest_width() {
    let (mut narrow, mut wide) = (IntervalMeter::new(10), IntervalMeter::new(40));
    for (offset_ns, messages) in [(0, 1), (10, 2), (20, 4), (30, 8), (40, 16)] {
        narrow.record(offset_ns, messages, 10 * messages);
    }
    wide.record(0, 32, 3);
    wide.record(80, 64, 5);
    for flows in [vec![narrow.clone(), wide.clone()], vec![wide, narrow]] {
        let sum = IntervalMeter::merge(flows, true);
        assert_eq!(sum.interval_ns, 40);
        assert_eq!(sum.messages, [47, 16, 64]);
        assert_eq!(sum.bytes, [153, 160, 5]);
    }
    assert_eq!(IntervalMeter::merge(Vec::new(), true).interval_ns, 0);
    let mut least = IntervalMeter::new(0);
    least.record(3, 1, 1);
    assert_eq!(IntervalMeter::merge(vec![least], true).messages, [0, 0, 0, 1]);
}

fn at_us(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// A thousand messages a second in groups, from 7 ms on.
fn groups(group: u64) -> Pacer {
    Pacer::new(Pace::from_message_rate(1000.0).unwrap(), at_us(7000), group)
}

#[test]
fn late_groups_shorten_the_next_gap_partially() {
    // (late, gap to the next group), µs: a 32nd of the 4 ms, a 16th of the lateness, half of 4 ms.
    for (late, gap) in [
        (0, 4000),
        (100, 3900),
        (1000, 3875),
        (2000, 3875),
        (10_000, 3375),
        (31_984, 2001),
        (32_000, 2000),
        (100_000, 2000),
    ] {
        let mut pacer = groups(4);
        assert_eq!(pacer.group_ns(), 4_000_000);
        pacer.took(4, at_us(7000 + late));
        assert_eq!((pacer.taken, pacer.next_slot()), (4, at_us(11_000)));
        let next = at_us(7000 + late + gap);
        assert_eq!(pacer.turn(at_us(7000 + late), 100), Turn::Wait(next), "{late} µs late");
        assert_eq!(pacer.turn(next, 100), Turn::Send(4));
    }
}

#[test]
fn nothing_is_sent_before_the_start_and_at_least_one_after() {
    let pacer = groups(0);
    assert_eq!(pacer.turn(at_us(6999), 100), Turn::Wait(at_us(7000)));
    assert_eq!(pacer.turn(at_us(7000), 100), Turn::Send(1));
    assert_eq!(pacer.turn(at_us(7000), 0), Turn::Send(1));
    assert_eq!(groups(4).turn(at_us(7000), 4), Turn::Send(4));
    assert_eq!(groups(4).turn(at_us(7000), 3), Turn::Send(3));
}

#[test]
fn a_group_is_left_out_when_the_next_is_due() {
    // (time, left out): messages 1 to 4 are the newest whole group when message 4 is due.
    for (us, left_out) in [(10_999, 0), (11_000, 1), (11_999, 1), (12_000, 2), (17_400, 7)] {
        let mut pacer = groups(4);
        assert_eq!(pacer.skip_overdue(at_us(us), 100), left_out, "at {us} µs");
        assert_eq!(pacer.taken, left_out);
        assert_eq!(pacer.turn(at_us(us), 100), Turn::Send(4));
    }
    let mut pacer = groups(4);
    assert_eq!(pacer.skip_overdue(at_us(50_000), 20), 19);
    assert_eq!(pacer.skip_overdue(at_us(60_000), 20), 0);
    assert_eq!(groups(4).skip_overdue(at_us(50_000), 0), 0);
}

mod stall {
    use super::*;

    fn stalls(runs: &[(f64, u64)], bytes: u64) -> usize {
        let runs: Vec<_> = runs.iter().map(|(ms, count)| ((ms * 1e6) as i64, *count)).collect();
        find_stalls("read", &spread(&runs), bytes, false).len()
    }

    #[test]
    fn a_mode_needs_three_calls_and_half_a_percent() {
        assert_eq!(stalls(&[(41.0, 2)], 0), 0);
        assert_eq!(stalls(&[(41.0, 3)], 0), 1);
        assert_eq!(stalls(&[(41.0, 3), (1.0, 597)], 0), 1);
        assert_eq!(stalls(&[(41.0, 3), (1.0, 598)], 0), 0);
    }

    #[test]
    fn a_mode_needs_four_times_its_neighbours() {
        // 38 to 50 ms is the mode; 26 to 62 ms its neighbourhood.
        for (nearby, is_there) in
            [(25.8, true), (26.2, false), (37.8, false), (50.3, false), (61.7, false), (62.3, true)]
        {
            assert_eq!(stalls(&[(41.0, 7), (nearby, 2)], 0), usize::from(is_there), "{nearby} ms");
            assert_eq!(stalls(&[(41.0, 8), (nearby, 2)], 0), 1, "{nearby} ms");
        }
    }

    #[test]
    fn each_timer_has_its_range() {
        let ranges = [(38.0, 50.0), (76.0, 95.0), (95.0, 115.0), (114.0, 140.0), (190.0, 250.0)];
        for (from, to) in ranges {
            for ms in [from + 0.4, to - 0.4] {
                assert!(stalls(&[(ms, 40)], 0) > 0, "{ms} ms");
            }
        }
        for ms in [37.6, 50.5, 75.5, 141.0, 189.4, 251.0] {
            assert_eq!(stalls(&[(ms, 40)], 0), 0, "{ms} ms");
        }
    }

    #[test]
    fn large_calls_are_timer_stalls_only_if_a_minority_waits() {
        // 41 ms are four times the mean of 10.25 ms.
        assert_eq!(stalls(&[(41.0, 25), (0.0, 75)], 100 << 20), 1);
        assert_eq!(stalls(&[(41.0, 26), (0.0, 74)], 100 << 20), 0);
        assert_eq!(stalls(&[(41.0, 20)], 20 * 16_384), 0);
        assert_eq!(stalls(&[(41.0, 20)], 20 * 16_384 - 1), 1);
    }

    #[test]
    fn stalls_report_their_share_of_calls_and_time() {
        // 3 x 41 + 1 x 45 of 168 + 396 x 1 ms.
        let found = find_stalls(
            "open",
            &spread(&[(1_000_000, 396), (41_000_000, 3), (45_000_000, 1)]),
            0,
            false,
        );
        let [stall] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((stall.operation.as_str(), stall.calls), ("open", 4));
        assert!((stall.calls_ratio - 0.01).abs() < 1e-12, "{}", stall.calls_ratio);
        assert!((stall.time_ratio - 168.0 / 564.0).abs() < 1e-3, "{}", stall.time_ratio);
        assert!(stall.mode_ns.abs_diff(41_000_000) < 50_000, "{}", stall.mode_ns);
    }
}
