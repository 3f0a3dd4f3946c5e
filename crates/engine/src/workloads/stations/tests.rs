//! Stations against hostile servers, and the results.

mod hostile_server;
mod trial;

use std::sync::atomic::Ordering;

use lanlab_files::{ServiceKind, Target};
use lanlab_os as os;
use lanlab_workloads::stations::pattern::Pattern;
use lanlab_workloads::stations::slices;

use super::example::spec;
use crate::cost::{Cost, OWN_THREADS};
use crate::messages::{
    Arrivals, BlockAccess, OpenLoop, OwnStations, StationOperation, StationsEnd, StationsSpec,
    StationsUntil,
};
use hostile_server::Malice;
use trial::{Reading, Trial, cancelled_at_once, plain_trial, timed_trial, trial, trial_until};

fn with_stations(stations: u32, spec: StationsSpec) -> StationsSpec {
    StationsSpec { stations, own: OwnStations { first: 0, count: stations }, ..spec }
}

fn of<'a>(trial: &'a Trial, outcome: &'a str) -> impl Iterator<Item = &'a Reading> {
    trial.readings.iter().filter(move |reading| reading.outcome == outcome)
}

#[test]
fn readings_of_a_station_never_overlap() {
    let trial = trial("plain", Malice::None, with_stations(7, spec()));
    assert_eq!((trial.code, trial.stationed.ended_by), (None, StationsEnd::Readings));
    assert_eq!((trial.readings.len(), trial.stationed.errors.len()), (700, 0));
    assert_eq!(trial.stationed.bytes, 700 * 750);
    assert_eq!(trial.stationed.checked.blocks, 700);
    assert_eq!(trial.stationed.response.samples, 700);
    assert_eq!(trial.stationed.setup.connect.samples, 7);
    for station in 0..7 {
        let own: Vec<_> =
            trial.readings.iter().filter(|reading| reading.station == station).collect();
        assert_eq!(own.len(), 100);
        assert!(own.iter().enumerate().all(|(number, reading)| {
            reading.block as usize == number
                && reading.intended_ns == reading.start_ns
                && reading.start_ns < reading.end_ns
                && (reading.bytes, reading.attempt, reading.is_write) == (750, 0, false)
        }));
        assert!(own.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns));
    }
    let last_ns = trial.readings.iter().map(|reading| reading.end_ns).max().unwrap();
    assert_eq!(trial.stationed.elapsed_ns, last_ns);
}

#[test]
fn a_wrong_block_is_caught_and_named() {
    let trial = trial("wrong block", Malice::WrongBlock, spec());
    assert_eq!(trial.stationed.errors.get("wrong_data"), Some(&91));
    assert_eq!(of(&trial, "wrong_data").map(|reading| reading.bytes).sum::<u32>(), 0);
    let checked = &trial.stationed.checked;
    assert_eq!((checked.misplaced, checked.stale, checked.corrupt), (91, 0, 0));
    let first = checked.first_wrong.as_deref().unwrap();
    assert_eq!(first, "block 9 of station 0: found block 10 of station 0");
}

#[test]
fn unwritten_blocks_are_found_at_the_next_read_or_the_end() {
    let mix = StationsSpec {
        operation: StationOperation::Mix,
        access: BlockAccess::Random,
        file_size_bytes: 7500,
        ..spec()
    };
    let trial = trial("stale", Malice::Stale, mix);
    let checked = &trial.stationed.checked;
    let wrong = trial.stationed.errors["wrong_data"];
    assert!(wrong > 10, "{wrong}");
    assert_eq!(checked.stale, wrong + checked.read_back_wrong);
    assert_eq!((checked.misplaced, checked.corrupt), (0, 0));
    assert!(checked.read_back_wrong > 0 && checked.read_back_wrong == checked.read_back);

    let writes = StationsSpec { operation: StationOperation::Write, ..spec() };
    let trial = self::trial("lost writes", Malice::Stale, writes.clone());
    assert_eq!(trial.stationed.errors.len(), 0, "each was confirmed");
    let checked = &trial.stationed.checked;
    assert_eq!((checked.read_back, checked.read_back_wrong), (4, 4));
    let trial = self::trial("kept writes", Malice::None, writes);
    let checked = &trial.stationed.checked;
    assert_eq!((checked.read_back, checked.read_back_wrong), (4, 0));
}

#[test]
fn mixed_reads_and_writes_verify_throughout() {
    let mix = StationsSpec {
        operation: StationOperation::Mix,
        access: BlockAccess::Random,
        file_size_bytes: 7500,
        ..spec()
    };
    let trial = trial("mixed", Malice::None, with_stations(3, mix));
    assert_eq!(trial.stationed.errors.len(), 0, "{:?}", trial.stationed.checked);
    let writes = trial.readings.iter().filter(|reading| reading.is_write).count();
    assert!((90..210).contains(&writes), "{writes}");
    assert_eq!(trial.stationed.checked.blocks as usize, 300 - writes + 12);
}

#[test]
fn damaged_and_truncated_files_are_distinguished() {
    let damaged = trial("corrupt", Malice::Corrupt, spec());
    assert_eq!(damaged.stationed.checked.corrupt, 100);
    assert_eq!(damaged.stationed.errors["wrong_data"], 100);
    let cut = trial("short", Malice::Short, spec());
    assert_eq!(cut.stationed.errors["short_transfer"], 100);
    assert_eq!(cut.stationed.reconnects, 100 - 1);
    // A hundred errors in a row end a station: one that only fails measures nothing.
    assert_eq!(cut.code, Some("stations.none_left"));
    assert!(cut.stationed.ended[0].message.contains("100 operations in a row failed"));
}

#[test]
fn resets_are_counted_and_retried() {
    let patient = StationsSpec { retries: 2, ..spec() };
    let trial = trial("resets", Malice::Resets, patient);
    // Nine of ten calls of a connection are answered: 100 readings hold ten resets.
    assert_eq!(trial.stationed.errors.get("reset"), Some(&10));
    assert_eq!(trial.stationed.ended_by, StationsEnd::Readings);
    assert_eq!((trial.readings.len(), trial.stationed.reconnects), (100, 10));
    assert_eq!(trial.stationed.retries, 9, "the last reading was one that failed");
    for (failed, again) in trial.readings.iter().zip(&trial.readings[1..]) {
        if failed.outcome == "reset" {
            assert_eq!((again.attempt, again.block), (1, failed.block));
            assert!(again.start_ns - failed.end_ns >= 100_000_000, "without a pause");
        }
    }
}

#[test]
fn without_retries_the_next_operation_follows() {
    let trial = trial("resets once", Malice::Resets, spec());
    assert_eq!(trial.stationed.errors["reset"], 10);
    assert_eq!(trial.stationed.retries, 0);
    assert!(trial.readings.iter().enumerate().all(|(n, reading)| reading.block as usize == n));
}

#[test]
fn a_silent_server_times_out_and_the_time_is_accounted_for() {
    let until = StationsUntil { readings_per_station: Some(30), ..StationsUntil::default() };
    let trial = trial("silent", Malice::Silent, StationsSpec { until, ..spec() });
    // Three calls get no reply; on a busy host, more time out.
    assert!((3..30).contains(&trial.stationed.errors["timed_out"]));
    for reading in of(&trial, "timed_out") {
        assert!(reading.end_ns - reading.start_ns >= 30_000_000);
        assert_eq!(reading.bytes, 0);
    }
}

#[test]
fn a_dying_server_keeps_results_and_names_failed_stations() {
    let patient = StationsSpec { retries: 1, ..spec() };
    let trial = trial("dies", Malice::Dies, with_stations(3, patient));
    assert_eq!(trial.code, Some("stations.none_left"));
    let stationed = &trial.stationed;
    assert_eq!((stationed.ended_by, stationed.ended_stations), (StationsEnd::NoStation, 3));
    let good = of(&trial, "ok").count();
    assert_eq!(good, 8, "what the server answered before it died");
    assert_eq!(stationed.errors["reset"], 3);
    // Each station tried twice to connect.
    assert_eq!(stationed.reconnect_errors["refused"], 6);
    let mut named: Vec<u32> = stationed.ended.iter().map(|ended| ended.station).collect();
    named.sort_unstable();
    assert_eq!(named, [0, 1, 2]);
    assert!(stationed.ended.iter().all(|ended| ended.code == "service.refused"));
}

#[test]
fn a_full_server_is_counted_and_not_retried() {
    let writes = StationsSpec { operation: StationOperation::Write, retries: 3, ..spec() };
    let trial = trial("full", Malice::Full, writes);
    assert_eq!(trial.stationed.errors["no_space"], 100);
    assert_eq!((trial.stationed.retries, trial.stationed.reconnects), (0, 0));
}

#[test]
fn connections_ramp_up_and_early_refusals_are_counted_apart() {
    let careful = StationsSpec { connects_at_once: 4, threads: Some(2), ..spec() };
    let trial = trial("reluctant", Malice::Reluctant, with_stations(50, careful));
    assert_eq!(trial.stationed.setup.errors["refused"], 3);
    assert_eq!(trial.stationed.setup.connect.samples, 50);
    assert_eq!((trial.stationed.errors.len(), trial.readings.len()), (0, 5000));
    assert!(trial.memory.most_open.load(Ordering::Relaxed) <= 4);
}

#[test]
fn an_open_loop_starts_operations_on_schedule() {
    let spec = StationsSpec {
        open_loop: Some(OpenLoop { rate_per_s: 2000.0, arrivals: Arrivals::Fixed }),
        until: StationsUntil { time_ns: Some(200_000_000), ..StationsUntil::default() },
        ..with_stations(4, spec())
    };
    let trial = trial("open loop", Malice::None, spec);
    assert_eq!(trial.stationed.ended_by, StationsEnd::Time);
    assert_eq!(trial.readings.len() as u64 + trial.stationed.unstarted, 400);
    let mut due: Vec<u64> = trial.readings.iter().map(|reading| reading.intended_ns).collect();
    due.sort_unstable();
    // If stations were delayed, one may lack its last operation.
    assert!(due.iter().all(|due| due.is_multiple_of(500_000) && *due < 200_000_000));
    assert!(due.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(trial.readings.iter().all(|reading| reading.start_ns >= reading.intended_ns));
    assert!(trial.stationed.own_lateness.samples > 0);
}

#[test]
fn open_loop_delays_count_towards_response_time() {
    let spec = StationsSpec {
        open_loop: Some(OpenLoop { rate_per_s: 1000.0, arrivals: Arrivals::Fixed }),
        until: StationsUntil { readings_per_station: Some(30), ..StationsUntil::default() },
        ..spec()
    };
    let trial = trial("coordinated", Malice::Silent, spec);
    // The tenth takes 30 ms: the eleventh was due 1 ms after it.
    let (slow, behind) = (&trial.readings[9], &trial.readings[10]);
    assert_eq!(slow.outcome, "timed_out");
    assert_eq!(behind.intended_ns, slow.intended_ns + 1_000_000);
    assert!(behind.end_ns - behind.intended_ns >= 29_000_000);
}

#[test]
fn no_operation_begins_after_the_time() {
    let (time_ns, trial) = timed_trial("timed", &with_stations(3, spec()), 3);
    assert_eq!(trial.stationed.ended_by, StationsEnd::Time);
    assert!(trial.readings.iter().all(|reading| reading.start_ns < time_ns));
}

#[test]
fn excess_readings_are_thinned_but_fully_summed() {
    let small = StationsSpec { most_readings: 300, threads: Some(2), ..spec() };
    let (_, trial) = timed_trial("small", &with_stations(5, small), 300);
    let stationed = trial.stationed;
    let thinned = stationed.thinned.unwrap();
    assert_eq!(stationed.ended_by, StationsEnd::Time);
    assert!((1..=300).contains(&thinned.kept) && thinned.every.is_power_of_two());
    assert_eq!(trial.summed, stationed.readings);
    assert_eq!(stationed.response.samples, stationed.readings);
    assert_eq!(stationed.bytes, 750 * stationed.readings);
    // Each station's readings are its first operation, and then every n-th block.
    for station in 0..5 {
        let blocks: Vec<u64> = (trial.readings.iter())
            .filter(|reading| reading.station == station)
            .map(|reading| reading.block.into())
            .collect();
        let expected = (0..blocks.len() as u64).map(|number| number * thinned.every % 100);
        assert_eq!(blocks, expected.collect::<Vec<_>>());
    }
}

#[test]
fn memory_refusals_name_their_cause() {
    let hint = |spec: StationsSpec| super::check(&spec).unwrap_err().hint.unwrap();
    let many = with_stations(1000, spec());
    let files = StationsSpec { file_size_bytes: 1 << 20, ..many.clone() };
    assert!(hint(files).contains("--file-size"));
    let message = 4 << 20;
    let buffers = StationsSpec {
        message_size_bytes: message,
        file_size_bytes: message.into(),
        service: Target { service: ServiceKind::Nfs, ..many.service.clone() },
        ..many
    };
    assert!(hint(buffers).contains("--size"));
}

#[test]
fn request_limits_are_inclusive() {
    type Change = fn(&mut StationsSpec);
    let until = |until| StationsSpec { until, ..spec() };
    let ratio = |ratio| StationsUntil { interval_ratio: Some(ratio), ..spec().until };
    let time = |ns| StationsUntil { time_ns: Some(ns), ..StationsUntil::default() };
    let readings =
        |each| StationsUntil { readings_per_station: Some(each), ..StationsUntil::default() };
    let rate = |rate_per_s| StationsSpec {
        open_loop: Some(OpenLoop { rate_per_s, arrivals: Arrivals::Fixed }),
        ..spec()
    };
    let day_ns = 86_400_000_000_000;
    for (name, good, bad) in [
        ("interval_ratio", until(ratio(0.999)), until(ratio(1.0))),
        ("interval_ratio", until(ratio(1e-9)), until(ratio(0.0))),
        ("time_ns", until(time(day_ns)), until(time(day_ns + 1))),
        ("time_ns", until(time(1)), until(time(0))),
        ("readings_per_station", until(readings(1)), until(readings(0))),
        ("readings_per_station", until(readings(10_000_000)), until(readings(10_000_001))),
        ("until", until(readings(1)), until(StationsUntil::default())),
        ("rate_per_s", rate(1e7), rate(1e7 + 1.0)),
        ("rate_per_s", rate(1e-3), rate(0.0)),
    ] {
        assert!(super::check(&good).is_ok(), "{name}: {good:?}");
        assert!(super::check(&bad).unwrap_err().message.contains(name), "{bad:?}");
    }
    let changes: [(&str, Change, Change); 11] = [
        ("read_ratio", |spec| spec.read_ratio = 1.0, |spec| spec.read_ratio = 1.01),
        ("read_ratio", |spec| spec.read_ratio = 0.0, |spec| spec.read_ratio = -0.01),
        ("retries", |spec| spec.retries = 100, |spec| spec.retries = 101),
        (
            "think_ns",
            |spec| spec.think_ns = 3_600_000_000_000,
            |spec| spec.think_ns += 3_600_000_000_001,
        ),
        ("connects_at_once", |spec| spec.connects_at_once = 1024, |spec| spec.connects_at_once = 0),
        ("threads", |spec| spec.threads = Some(64), |spec| spec.threads = Some(65)),
        ("file_size_bytes", |spec| spec.file_size_bytes = 750, |spec| spec.file_size_bytes = 749),
        ("own.first", |spec| spec.own.first = 0, |spec| spec.own.first = 1),
        ("own.count", |spec| spec.own.count = 1, |spec| spec.own.count = 2),
        ("stations", |spec| spec.stations = 10_000, |spec| spec.stations = 10_001),
        ("token", |spec| spec.token = "f".repeat(32), |spec| spec.token = "g".repeat(32)),
    ];
    for (name, good, bad) in changes {
        let (mut last, mut beyond) = (spec(), spec());
        good(&mut last);
        bad(&mut beyond);
        assert!(super::check(&last).is_ok(), "{name}: {:?}", super::check(&last));
        assert!(super::check(&beyond).unwrap_err().message.contains(name), "{name}");
    }
}

#[test]
fn a_cancelled_trial_keeps_its_readings() {
    let until = StationsUntil { time_ns: Some(60_000_000_000), ..StationsUntil::default() };
    let thinks = StationsSpec { until, think_ns: 1_000_000, ..spec() };
    let began = os::monotonic();
    let trial = trial_until("cancelled", Malice::None, with_stations(5, thinks), Some(50));
    assert_eq!(trial.code, Some("cancelled"));
    assert_eq!(trial.stationed.ended_by, StationsEnd::Cancelled);
    assert!(!trial.readings.is_empty());
    assert!(os::monotonic().nanos_since(began) < 10_000_000_000);
}

#[test]
fn directory_stations_have_their_own_threads() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = with_stations(3, StationsSpec { think_ns: 500_000, ..spec() });
    spec.service.service = ServiceKind::Directory;
    spec.service.directory = folder.path().to_str().unwrap().to_owned();
    let trial = plain_trial(&spec);
    assert_eq!((trial.code, trial.stationed.ended_by), (None, StationsEnd::Readings));
    assert_eq!((trial.readings.len(), trial.stationed.errors.len()), (300, 0));
    assert_eq!(trial.stationed.checked.blocks, 300);
    for station in 0..3 {
        let own: Vec<_> =
            trial.readings.iter().filter(|reading| reading.station == station).collect();
        assert_eq!(own.len(), 100);
        assert!(own.windows(2).all(|pair| pair[1].start_ns >= pair[0].end_ns + 500_000));
    }
}

#[test]
fn slow_connections_are_waited_for() {
    let trial = trial("slow", Malice::Slow, with_stations(2, spec()));
    assert_eq!((trial.code, trial.readings.len()), (None, 200));
    assert!(trial.stationed.setup.elapsed_ns >= 200_000_000, "{:?}", trial.stationed.setup);
}

#[test]
fn a_trial_is_cancelled_while_it_connects() {
    let ended = cancelled_at_once("deaf", Malice::Deaf, with_stations(2, spec())).unwrap_err();
    assert_eq!(ended.failure.code, "cancelled");
    assert!(ended.outcome.is_none());
}

#[test]
fn a_trial_is_cancelled_while_its_stations_think() {
    let until = StationsUntil { time_ns: Some(86_400_000_000_000), ..StationsUntil::default() };
    let thinks = StationsSpec { until, think_ns: 3_600_000_000_000, ..spec() };
    let thinking = trial_until("thinking", Malice::None, with_stations(3, thinks), Some(3));
    assert_eq!(thinking.code, Some("cancelled"));
    assert_eq!(thinking.stationed.ended_by, StationsEnd::Cancelled);
}

#[test]
fn memory_and_threads_cover_stations_readings_and_files() {
    let fixed_bytes = Pattern::memory_bytes() + 1_048_576;
    let cost = |spec: &StationsSpec| super::check(spec).unwrap();
    // A message and a connection of 48 KiB, 100 readings of 40 bytes, and the file itself.
    let taken = 750 + 49_152 + 4_000 + 75_000 + fixed_bytes;
    assert_eq!(cost(&spec()), Cost { memory_bytes: taken, threads: OWN_THREADS + 1 });
    // This host has three of the ten stations, each with sums, and a count for each of ten blocks.
    let mut far = StationsSpec {
        stations: 10,
        own: OwnStations { first: 4, count: 3 },
        operation: StationOperation::Write,
        message_size_bytes: 1_000,
        file_size_bytes: 10_000,
        most_readings: 500,
        until: StationsUntil { time_ns: Some(1_000_000_000), ..StationsUntil::default() },
        threads: Some(2),
        ..spec()
    };
    far.service.service = ServiceKind::Nfs;
    let each = 1_000 + 40 + slices::STATION_BYTES + 49_152;
    let taken = 3 * each + 20_000 + fixed_bytes;
    assert_eq!(cost(&far), Cost { memory_bytes: taken, threads: OWN_THREADS + 2 });
    far.threads = Some(64);
    assert_eq!(cost(&far).threads, OWN_THREADS + 3);
    // If each station has a thread, 64 KiB of its stack are used.
    far.service.service = ServiceKind::Directory;
    let taken = 3 * (each - 49_152 + 65_536) + 20_000 + fixed_bytes;
    assert_eq!(cost(&far), Cost { memory_bytes: taken, threads: OWN_THREADS + 3 });
}
