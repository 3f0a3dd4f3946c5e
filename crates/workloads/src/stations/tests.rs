//! Parts of the stations, with figures worked out by hand.

use std::sync::atomic::Ordering;

use lanlab_files::{Class, Fault};

use super::context::{Counts, MOST_ENDED, count};
use super::example::spec;
use super::interval::IntervalRule;
use super::pattern::{Place, Wrong};
use super::readings::{Outcome, Reading};
use super::*;
use crate::messages::{
    CpuTime, OpenLoop, OwnStations, StationEnded, StationOperation, Stationed, StationsEnd,
    StationsUntil,
};

fn for_each(readings: u32, count: u32, most_readings: u32) -> StationsSpec {
    StationsSpec {
        own: OwnStations { first: 0, count },
        until: StationsUntil { readings_per_station: Some(readings), ..StationsUntil::default() },
        most_readings,
        ..spec()
    }
}

#[test]
fn room_for_readings_covers_all_stations_up_to_a_bound() {
    let bounds = |spec: &StationsSpec| (room(spec), may_be_thinned(spec));
    assert_eq!(bounds(&for_each(100, 3, 1_000)), (300, false));
    assert_eq!(bounds(&for_each(100, 3, 300)), (300, false));
    assert_eq!(bounds(&for_each(100, 3, 299)), (299, true));
    assert_eq!(bounds(&for_each(u32::MAX, 2, 7)), (7, true));
    let time = StationsSpec { until: StationsUntil::default(), ..for_each(1, 1, 50) };
    assert_eq!(bounds(&time), (50, true));
}

#[test]
fn the_first_reason_to_stop_counts() {
    let ends = [StationsEnd::Interval, StationsEnd::Full, StationsEnd::Cancelled];
    for end in ends {
        let job = Job::new(&spec());
        assert_eq!(job.stopped(), None);
        job.stop(end);
        assert_eq!(job.stopped(), Some(end));
        let is_cancelled = end == StationsEnd::Cancelled;
        assert_eq!(job.is_dropped.load(Ordering::Relaxed), is_cancelled);
        job.stop(StationsEnd::Cancelled);
        job.stop(StationsEnd::Interval);
        assert_eq!(job.stopped(), Some(end));
        assert!(job.is_dropped.load(Ordering::Relaxed));
    }
    let job = Job::new(&spec());
    job.stop(StationsEnd::Time);
    assert_eq!(job.stopped(), None, "a time that is over stops no other station");
}

#[test]
fn only_read_jobs_write_nothing() {
    let writes = |operation| Job::new(&StationsSpec { operation, ..spec() }).writes();
    let all = [StationOperation::Read, StationOperation::Write, StationOperation::Mix];
    assert_eq!(all.map(writes), [false, true, true]);
}

#[test]
fn a_station_has_one_file_or_one_for_each_block() {
    let names = |whole_files| -> Vec<String> {
        let paths = paths(&spec(), 42, whole_files, 3).unwrap();
        paths.iter().map(|path| path.as_str().to_owned()).collect()
    };
    assert_eq!(names(false), ["lanlab-test/files/s00042.dat"]);
    let each = [0, 1, 2].map(|block| format!("lanlab-test/files/s00042-{block}.dat"));
    assert_eq!(names(true), each);
}

#[test]
fn each_sample_reports_work_since_the_last() {
    let job = Job::new(&spec());
    let mut watch = Watch::new(&job);
    let threads = [ThreadTotals::default(), ThreadTotals::default()];
    threads[0].store(5, 100, 1_000);
    threads[1].store(2, 30, 7_000);
    assert_eq!(watch.look(&job, &threads), [7, 130]);
    threads[1].store(6, 90, 9_000);
    assert_eq!(watch.look(&job, &threads), [4, 60]);
    assert_eq!(threads[1].load(), [6, 90, 9_000]);
    // Without a stopping rule, nothing ends the trial.
    assert!((0..100).all(|_| watch.look(&job, &threads) == [0, 0]));
    assert_eq!(job.stopped(), None);
}

#[test]
fn a_narrow_interval_of_the_response_time_stops_a_job() {
    let until = StationsUntil { interval_ratio: Some(0.01), ..StationsUntil::default() };
    let job = Job::new(&StationsSpec { until, ..spec() });
    let (mut watch, threads) = (Watch::new(&job), [ThreadTotals::default()]);
    for look in 1..=21 {
        assert_eq!(job.stopped(), None, "{look}");
        // The bytes vary, the response time does not.
        threads[0].store(10 * look, look * look, 5_000 * look);
        watch.look(&job, &threads);
    }
    assert_eq!(job.stopped(), Some(StationsEnd::Interval));
}

/// The sample, of ten operations each, at which batch means are known to `ratio`; `None` if they
/// never are.
fn enough_at(ratio: f64, means_ns: impl IntoIterator<Item = u64>) -> Option<usize> {
    let (mut rule, mut operations, mut time_ns) = (IntervalRule::new(ratio), 0, 0);
    let mut means_ns = means_ns.into_iter();
    let found = means_ns.position(|mean_ns| {
        operations += 10;
        time_ns += 10 * mean_ns;
        rule.look(operations, time_ns)
    });
    found.map(|place| place + 1)
}

#[test]
fn an_interval_is_that_of_the_batches_after_the_first() {
    // Ten of 900 and ten of 1100: 2.093 · √(20 · 100² / 19 / 20) = 48.02 of 1000.
    let means = || [1_000_000].into_iter().chain([900, 1_100].into_iter().cycle().take(20));
    assert_eq!(enough_at(0.0481, means()), Some(21));
    assert_eq!(enough_at(0.0480, means()), None);
}

#[test]
fn forty_batches_become_twenty_of_twice_the_length() {
    // For single samples the interval is ±17 %; all pairs have the same mean.
    assert_eq!(enough_at(0.1, [500, 1_500].into_iter().cycle().take(100)), Some(42));
    // The same for pairs: ±16 % after 40 samples; after 80, all groups of four have the same mean.
    let pairs = [500, 500, 1_500, 1_500];
    assert_eq!(enough_at(0.1, pairs.into_iter().cycle().take(200)), Some(84));
}

#[test]
fn samples_without_operations_make_no_batch() {
    let mut rule = IntervalRule::new(0.5);
    for look in 1..=21 {
        assert_eq!(rule.look(look, 100 * look), look == 21);
        assert!(!rule.look(look, 100 * look));
    }
}

type CellRead = (u32, u32, [u64; 2], f64, [u64; 2]);

fn cells(slices: &Slices) -> Vec<CellRead> {
    let number = |octets: &[u8]| u64::from_le_bytes(octets.try_into().unwrap());
    let short = |octets: &[u8]| u32::from_le_bytes(octets.try_into().unwrap());
    let octets = slices.octets();
    octets
        .chunks(48)
        .map(|cell| {
            (
                short(&cell[..4]),
                short(&cell[4..8]),
                [number(&cell[8..16]), number(&cell[16..24])],
                f64::from_bits(number(&cell[24..32])),
                [number(&cell[32..40]), number(&cell[40..])],
            )
        })
        .collect()
}

#[test]
fn slices_sum_the_operations_that_ended_in_them() {
    // Slices of 2²³ ns: 8.39 ms. Stations 3 and 5.
    let mut slices = Slices::new(3, 2, 2, None);
    slices.record(5, 20_000_000, 7);
    slices.record(5, 17_000_000, 3);
    slices.record(5, 18_000_000, 9);
    slices.record(3, (1 << 23) - 1, 4);
    slices.record(3, 1 << 23, 6);
    slices.record(3, (64 << 23) - 1, 2);
    assert_eq!(slices.width, 23);
    let three = [(3, 0, [1, 4], 16.0, [4, 4]), (3, 1, [1, 6], 36.0, [6, 6])];
    let five = (5, 2, [3, 19], 139.0, [3, 9]);
    let last = (3, 63, [1, 2], 4.0, [2, 2]);
    assert_eq!(cells(&slices), [three[0], three[1], last, five]);
    slices.record(5, 64 << 23, 1);
    assert_eq!(slices.width, 24);
    let joined = [
        (3, 0, [2, 10], 52.0, [4, 6]),
        (3, 31, [1, 2], 4.0, [2, 2]),
        (5, 1, [3, 19], 139.0, [3, 9]),
        (5, 32, [1, 1], 1.0, [1, 1]),
    ];
    assert_eq!(cells(&slices), joined);
    slices.widen_to(24);
    assert_eq!(slices.width, 24);
    assert_eq!(Slices::new(0, 1, 1, Some(64 << 23)).width, 24);
    assert_eq!(Slices::new(0, 1, 1, Some((64 << 23) - 1)).width, 23);
    assert_eq!(slices::STATION_BYTES, 64 * 40);
}

/// A read of 750 bytes from `start_ms` to `end_ms` that was due a millisecond before.
fn reading(station: u32, start_ms: u64, end_ms: u64) -> Reading {
    Reading {
        intended_ns: (start_ms - 1) * 1_000_000,
        start_ns: start_ms * 1_000_000,
        end_ns: end_ms * 1_000_000,
        station,
        block: 0,
        bytes: 750,
        is_write: false,
        outcome: Outcome::OK,
        attempt: 0,
        level: 0,
    }
}

fn worked(all: &[Reading], counts: Counts, cpu: CpuTime) -> Worked {
    let mut readings = Readings::new(all.len(), None);
    for reading in all {
        readings.push(*reading);
    }
    Worked { readings: readings.into_kept(), counts, cpu }
}

fn ended(station: u32, at_ns: u64) -> StationEnded {
    StationEnded { station, at_ns, readings: 1, code: "c".to_owned(), message: "m".to_owned() }
}

fn two_threads(spec: &StationsSpec) -> Stationed {
    let (mut one, mut other) = (Counts::default(), Counts::default());
    one.connect.record(3_000);
    other.connect.record(5_000);
    one.own_lateness.record(10);
    other.own_lateness.record(20);
    one.setup_errors = [("refused".to_owned(), 1)].into();
    other.setup_errors = [("refused".to_owned(), 2), ("reset".to_owned(), 4)].into();
    other.reconnect_errors = [("reset".to_owned(), 8)].into();
    (one.reconnects, other.reconnects) = (1, 2);
    (one.unstarted, other.unstarted) = (10, 20);
    (one.ended_stations, other.ended_stations) = (1, 1);
    one.ended.push(ended(10, 9));
    other.ended.push(ended(12, 4));
    let place = Place { station: 11, block: 2, generation: 3 };
    one.checked.blocks = 100;
    one.wrong(Wrong::Stale { found: 1 }, place);
    one.wrong(Wrong::Corrupt { at: 5 }, place);
    other.checked.blocks = 200;
    (other.checked.read_back, other.checked.read_back_wrong) = (40, 2);
    other.wrong(Wrong::Misplaced { station: 1, block: 1 }, place);
    let cpu = |user_ns, system_ns| CpuTime { user_ns, system_ns, ..CpuTime::default() };
    let failed = Reading { outcome: Outcome::WRONG_DATA, attempt: 2, ..reading(12, 3, 20) };
    let threads = vec![
        worked(&[reading(10, 8, 9), reading(10, 2, 4)], one, cpu(1_000, 200)),
        worked(&[reading(11, 5, 8), failed, reading(12, 6, 7)], other, cpu(3_000, 500)),
    ];
    let times = Times { setup_ns: 77, elapsed_ns: 10_000, host: None, is_cpu_known: true };
    joined(&Job::new(spec), threads, times).0
}

#[test]
fn the_threads_of_a_trial_add_up() {
    let spec = StationsSpec { own: OwnStations { first: 10, count: 3 }, ..spec() };
    let found = two_threads(&spec);
    assert_eq!((found.stations, found.threads, found.readings, found.bytes), (3, 2, 5, 3_000));
    assert_eq!((found.elapsed_ns, found.retries, found.errors["wrong_data"]), (20_000_000, 1, 1));
    // Responses of 2, 3, 4 and 2 ms; the stations began at 2, 5 and 3 ms.
    let response = &found.response;
    assert_eq!((response.samples, response.mean_ns, response.max_ns), (4, 2_750_000, 4_000_000));
    assert_eq!(found.start_skew_ns, 3_000_000);
    assert_eq!((found.setup.connect.samples, found.setup.connect.max_ns), (2, 5_000));
    assert_eq!((found.setup.elapsed_ns, found.setup.errors["refused"]), (77, 3));
    assert_eq!((found.setup.errors["reset"], found.reconnect_errors["reset"]), (4, 8));
    assert_eq!((found.own_lateness.samples, found.own_lateness.mean_ns), (2, 15));
    assert_eq!((found.reconnects, found.unstarted, found.ended_stations), (3, 30, 2));
    let order: Vec<u32> = found.ended.iter().map(|ended| ended.station).collect();
    assert_eq!(order, [12, 10]);
    let checked = &found.checked;
    assert_eq!((checked.blocks, checked.read_back, checked.read_back_wrong), (300, 40, 2));
    assert_eq!((checked.stale, checked.misplaced, checked.corrupt), (1, 1, 1));
    let words = "block 2 of station 11: found what it was after 1 writes; 3 were confirmed";
    assert_eq!(checked.first_wrong.as_deref(), Some(words));
    // The busier thread took 3.5 of 10 µs.
    assert_eq!((found.cpu.user_ns, found.cpu.system_ns), (4_000, 700));
    assert_eq!(found.busiest_thread_ratio, Some(0.35));
    assert_eq!((found.ended_by, found.thinned.is_none()), (StationsEnd::Readings, true));
    assert_eq!((found.facts.protocol.as_str(), found.manner.depth), ("none", 0));
}

#[test]
fn open_loop_skew_is_the_latest_first_operation() {
    let open_loop = Some(OpenLoop { rate_per_s: 1.0, arrivals: crate::messages::Arrivals::Fixed });
    let spec = StationsSpec { own: OwnStations { first: 10, count: 3 }, open_loop, ..spec() };
    assert_eq!(two_threads(&spec).start_skew_ns, 1_000_000);
}

#[test]
fn a_trial_ends_by_its_stations_then_by_a_stop_then_by_its_time() {
    let ended_by = |ended_stations, late_stations, stop: Option<StationsEnd>| {
        let mut counts = Counts::default();
        (counts.ended_stations, counts.late_stations) = (ended_stations, late_stations);
        let job = Job::new(&StationsSpec { own: OwnStations { first: 0, count: 2 }, ..spec() });
        if let Some(end) = stop {
            job.stop(end);
        }
        let times = Times { setup_ns: 0, elapsed_ns: 0, host: None, is_cpu_known: true };
        let found = joined(&job, vec![worked(&[], counts, CpuTime::default())], times).0;
        // Without a duration there is no ratio.
        assert_eq!(found.busiest_thread_ratio, None);
        found.ended_by
    };
    assert_eq!(ended_by(2, 1, Some(StationsEnd::Full)), StationsEnd::NoStation);
    assert_eq!(ended_by(1, 1, Some(StationsEnd::Full)), StationsEnd::Full);
    assert_eq!(ended_by(1, 1, None), StationsEnd::Time);
    assert_eq!(ended_by(1, 0, None), StationsEnd::Readings);
}

#[test]
fn only_the_first_ended_stations_are_listed() {
    let (mut one, mut other) = (Counts::default(), Counts::default());
    one.ended = (0..40).map(|station| ended(station, 2 * u64::from(station) + 1)).collect();
    other.ended = (0..40).map(|station| ended(station, 2 * u64::from(station))).collect();
    (one.ended_stations, other.ended_stations) = (40, 40);
    (one.full_stations, other.full_stations) = (3, 4);
    (one.late_stations, other.late_stations) = (5, 6);
    one.add(other);
    assert_eq!((one.ended.len(), one.ended_stations), (MOST_ENDED, 80));
    assert!((0..64).eq(one.ended.iter().map(|ended| ended.at_ns)));
    assert_eq!((one.full_stations, one.late_stations), (7, 11));
}

#[test]
fn faults_are_counted_by_class() {
    let mut errors = std::collections::BTreeMap::new();
    for class in [Class::Reset, Class::TimedOut, Class::Reset] {
        count(&mut errors, &Fault::new(class, "x"));
    }
    assert_eq!(errors, [("reset".to_owned(), 2), ("timed_out".to_owned(), 1)].into());
}

#[test]
fn threads_thin_readings_equally() {
    let spec = StationsSpec { own: OwnStations { first: 10, count: 2 }, ..spec() };
    let thread = |station: u32, count: u64, most: usize| {
        let mut readings = Readings::new(most, Some(Slices::new(station, 1, 1, None)));
        for number in 0..count {
            let level = readings::level(number);
            readings.push(Reading { level, ..reading(station, number + 1, number + 3) });
        }
        Worked {
            readings: readings.into_kept(),
            counts: Counts::default(),
            cpu: CpuTime::default(),
        }
    };
    let times = Times { setup_ns: 0, elapsed_ns: 1, host: None, is_cpu_known: false };
    // Every fourth of 16 readings in room for 4, and of the other thread's 8, too.
    let threads = vec![thread(10, 16, 4), thread(11, 8, 100)];
    let (found, kept) = joined(&Job::new(&spec), threads, times);
    let thinned = found.thinned.expect("thinned");
    assert_eq!((thinned.kept, thinned.every, thinned.slice_ns), (6, 4, 1 << 23));
    assert_eq!((found.readings, found.bytes, found.response.samples), (24, 24 * 750, 24));
    // The very last reading was not kept.
    assert_eq!((found.elapsed_ns, found.response.mean_ns), (18_000_000, 3_000_000));
    let starts = |thread: &KeptReadings| -> Vec<u64> {
        let mut starts: Vec<u64> =
            thread.all.iter().map(|reading| reading.start_ns / 1_000_000).collect();
        starts.sort_unstable();
        starts
    };
    assert_eq!((starts(&kept[0]), starts(&kept[1])), (vec![1, 5, 9, 13], vec![1, 5]));
    assert_eq!((kept[1].dropped.readings, kept[1].dropped.last_ns), (6, 10_000_000));
}
