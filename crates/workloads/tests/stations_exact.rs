//! What stations do and when, worked out by hand: a call takes 2 ms and 1 µs a byte, so that a block
//! of 750 bytes takes 2.75 ms.

#[path = "support/stations_spec.rs"]
mod example;
mod support;

use std::sync::Arc;

use example::spec;
use lanlab_messages::{
    Arrivals, BlockAccess, OpenLoop, OwnStations, StationOperation, StationSync, Stationed,
    StationsEnd, StationsSpec, StationsUntil,
};
use lanlab_units::{Clock, Instant};
use lanlab_workloads::stations::pattern::{Pattern, Place};
use lanlab_workloads::stations::readings::Reading;
use lanlab_workloads::stations::simulate;
use lanlab_workloads::virtual_time::VirtualTime;
use support::{Fails, Server, Service};

const MS: u64 = 1_000_000;
/// Of a block of 750 bytes.
const BLOCK_NS: u64 = 2_750_000;

struct Trial {
    stationed: Stationed,
    readings: Vec<Reading>,
    server: Server,
    /// When all was over, from the beginning.
    over: Instant,
}

fn trial(spec: &StationsSpec, fails: Fails) -> Trial {
    trial_at(spec, fails, false).expect("a trial")
}

/// With a server that moves whole files only, if `in_order`; or what the failure says.
fn trial_at(
    spec: &StationsSpec,
    fails: Fails,
    in_order: bool,
) -> std::result::Result<Trial, String> {
    let time = VirtualTime::new();
    let server = Server::with_order(&time, Service::Fixed, fails, 1, in_order);
    let pattern = Pattern::new(spec.seed);
    for station in spec.own.first..spec.own.first + spec.own.count {
        let mut content = vec![0; spec.file_size_bytes as usize];
        for (block, part) in (0..).zip(content.chunks_exact_mut(spec.message_size_bytes as usize)) {
            pattern.fill(Place { station, block, generation: 0 }, part);
            server.put(&format!("lanlab-test/files/s{station:05}-{block}.dat"), part.to_vec());
        }
        server.put(&format!("lanlab-test/files/s{station:05}.dat"), content);
    }
    let work = simulate(time.clone(), spec.clone(), server.clone(), Arc::default(), 1_000 * MS);
    let (stationed, kept) =
        time.run(work).expect("no deadlock").map_err(|failure| failure.message)?;
    let readings = kept.into_iter().flat_map(|thread| thread.all).collect();
    Ok(Trial { stationed, readings, server, over: time.now() })
}

/// Four blocks of 750 bytes each, `readings` of them one after another.
fn writing(readings: u32) -> StationsSpec {
    StationsSpec {
        operation: StationOperation::Write,
        file_size_bytes: 3_000,
        until: StationsUntil { readings_per_station: Some(readings), ..StationsUntil::default() },
        ..spec()
    }
}

fn timed(time_ns: u64) -> StationsUntil {
    StationsUntil { time_ns: Some(time_ns), ..StationsUntil::default() }
}

/// How often each block of a station's file was written, by what is in it.
fn generations(server: &Server, station: u32, block_bytes: usize) -> Vec<u32> {
    let pattern = Pattern::new(spec().seed);
    let content = server.file(&format!("lanlab-test/files/s{station:05}.dat")).expect("a file");
    let written = |(block, data): (u32, &[u8])| {
        (0..100).find(|generation| {
            pattern.check(Place { station, block, generation: *generation }, data).is_ok()
        })
    };
    (0..).zip(content.chunks(block_bytes)).map(|one| written(one).expect("a block")).collect()
}

#[test]
fn blocks_are_written_in_turn_and_the_last_four_re_read() {
    let trial = trial(&writing(10), Fails::Never);
    let found = &trial.stationed;
    assert_eq!((found.readings, found.bytes, found.elapsed_ns), (10, 7_500, 10 * BLOCK_NS));
    assert_eq!((found.response.min_ns, found.response.max_ns), (2_750_000, 2_750_000));
    assert_eq!((found.ended_by, found.ended_stations), (StationsEnd::Readings, 0));
    assert_eq!((found.whole_files, found.blocks, found.threads), (false, 4, 1));
    let blocks: Vec<u32> = trial.readings.iter().map(|reading| reading.block).collect();
    assert_eq!(blocks, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
    assert!(trial.readings.iter().all(|reading| reading.is_write && reading.attempt == 0));
    let levels: Vec<u8> = trial.readings.iter().map(|reading| reading.level).collect();
    assert_eq!(levels, [64, 0, 1, 0, 2, 0, 1, 0, 3, 0]);
    assert_eq!(generations(&trial.server, 0, 750), [3, 3, 2, 2]);
    let checked = &found.checked;
    assert_eq!((checked.read_back, checked.read_back_wrong, checked.blocks), (4, 0, 4));
    // Connected for 4 ms, a second to the start, ten blocks and the next look at how far all are, which
    // is every 50 ms, four read again, and closed.
    let over_ns = 4 * MS + 1_000 * MS + 50 * MS + 4 * BLOCK_NS + 2 * MS;
    assert_eq!(trial.over.as_nanos(), over_ns);
}

#[test]
fn each_written_block_is_re_read_once() {
    let read_back = |spec: &StationsSpec| {
        let checked = trial(spec, Fails::Never).stationed.checked;
        (checked.read_back, checked.blocks)
    };
    assert_eq!(read_back(&writing(3)), (3, 3));
    assert_eq!(read_back(&StationsSpec { file_size_bytes: 1_500, ..writing(5) }), (2, 2));
    assert_eq!(read_back(&StationsSpec { verify: false, ..writing(5) }), (0, 0));
    let reading = StationsSpec { operation: StationOperation::Read, ..writing(5) };
    assert_eq!(read_back(&reading), (0, 5));
}

#[test]
fn changed_blocks_are_found_on_re_reading() {
    // The open is call 1, the writes are calls 2 to 6: the second block that is read again is wrong.
    let checked = trial(&writing(5), Fails::CorruptsEvery(8)).stationed.checked;
    assert_eq!((checked.read_back, checked.read_back_wrong, checked.corrupt), (4, 1, 1));
    let words = checked.first_wrong.expect("words");
    assert_eq!(words, "block 1 of station 0: octet 375 is not as it was written, 1 times by then");
}

#[test]
fn each_write_can_be_synced() {
    let spec = StationsSpec { sync: StationSync::Each, ..writing(3) };
    assert_eq!(trial(&spec, Fails::Never).stationed.elapsed_ns, 3 * (BLOCK_NS + 2 * MS));
    let reads = StationsSpec { operation: StationOperation::Read, ..spec };
    assert_eq!(trial(&reads, Fails::Never).stationed.elapsed_ns, 3 * BLOCK_NS);
}

#[test]
fn large_blocks_are_written_in_two_pieces() {
    for (bytes, calls) in [(16_383, 1), (16_384, 2)] {
        let spec = StationsSpec {
            message_size_bytes: bytes,
            file_size_bytes: 2 * u64::from(bytes),
            ..writing(3)
        };
        let trial = trial(&spec, Fails::Never);
        let block_ns = calls * 2 * MS + 1_000 * u64::from(bytes);
        assert_eq!(trial.stationed.elapsed_ns, 3 * block_ns, "{bytes}");
        assert_eq!(generations(&trial.server, 0, bytes as usize), [2, 1]);
        assert_eq!(trial.stationed.checked.read_back_wrong, 0);
    }
}

#[test]
fn a_service_of_whole_files_has_a_file_for_each_block() {
    for operation in [StationOperation::Read, StationOperation::Write] {
        let spec = StationsSpec { operation, file_size_bytes: 7_500, ..writing(10) };
        let trial = trial_at(&spec, Fails::Never, true).expect("a trial");
        let found = &trial.stationed;
        assert_eq!((found.whole_files, found.blocks, found.errors.len()), (true, 8, 0));
        // Opened, moved and closed, each.
        assert_eq!((found.readings, found.elapsed_ns), (10, 10 * (BLOCK_NS + 4 * MS)));
        let blocks: Vec<u32> = trial.readings.iter().map(|reading| reading.block).collect();
        assert_eq!(blocks, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]);
        let data = trial.server.file("lanlab-test/files/s00000-1.dat").expect("a file");
        let generation = if operation == StationOperation::Write { 2 } else { 0 };
        let place = Place { station: 0, block: 1, generation };
        assert_eq!(Pattern::new(1).check(place, &data), Ok(()));
        assert_eq!(found.checked.read_back_wrong, 0);
    }
}

#[test]
fn data_stays_correct_across_connection_resets() {
    let spec = StationsSpec {
        operation: StationOperation::Mix,
        access: BlockAccess::Random,
        ..writing(2_000)
    };
    let trial = trial(&spec, Fails::ResetsEvery(7));
    let found = &trial.stationed;
    assert_eq!(found.errors.keys().collect::<Vec<_>>(), ["reset"]);
    assert_eq!((found.checked.read_back_wrong, found.ended_by), (0, StationsEnd::Readings));
    let (reads, bytes): (Vec<&Reading>, Vec<u64>) = trial
        .readings
        .iter()
        .filter(|reading| !reading.is_write && reading.is_ok())
        .map(|reading| (reading, u64::from(reading.bytes)))
        .unzip();
    assert!(bytes.iter().all(|bytes| *bytes == 750));
    // A block whose last write failed is not compared, all others are.
    let mut is_open = [false; 4];
    let mut compared = 0;
    for reading in &trial.readings {
        if reading.is_write {
            is_open[reading.block as usize] = !reading.is_ok();
        } else if reading.is_ok() && !is_open[reading.block as usize] {
            compared += 1;
        }
    }
    let again = found.checked.read_back;
    assert!(compared < reads.len() as u64 && again > 0, "{compared} {again}");
    assert!((compared..=compared + again).contains(&found.checked.blocks));
}

#[test]
fn operations_of_an_open_loop_begin_when_they_are_due() {
    let open_loop = Some(OpenLoop { rate_per_s: 100.0, arrivals: Arrivals::Fixed });
    let own = OwnStations { first: 5, count: 2 };
    let spec = StationsSpec { stations: 7, own, open_loop, until: timed(1_000 * MS), ..spec() };
    let trial = trial(&spec, Fails::Never);
    // Station 5 at 50, 120, 190 … 960 ms, station 6 at 60, 130 … 970 ms.
    let first: Vec<(u32, u64)> =
        trial.readings.iter().take(4).map(|reading| (reading.station, reading.start_ns)).collect();
    assert_eq!(first, [(5, 50 * MS), (6, 60 * MS), (5, 120 * MS), (6, 130 * MS)]);
    let found = &trial.stationed;
    assert_eq!((found.stations, found.readings, found.unstarted), (2, 28, 0));
    assert_eq!((found.elapsed_ns, found.start_skew_ns), (970 * MS + BLOCK_NS, 0));
    assert_eq!((found.own_lateness.samples, found.own_lateness.max_ns), (28, 0));
    assert_eq!(found.ended_by, StationsEnd::Time);
}

#[test]
fn open_loop_operations_not_started_are_counted() {
    let open_loop = Some(OpenLoop { rate_per_s: 1_000.0, arrivals: Arrivals::Fixed });
    let spec = StationsSpec { open_loop, until: timed(100 * MS), ..spec() };
    let found = trial(&spec, Fails::Never).stationed;
    // One each 2.75 ms, the last at 99 ms, of those due at 0 to 99 ms.
    assert_eq!((found.readings, found.unstarted), (37, 63));
    assert_eq!(found.elapsed_ns, 37 * BLOCK_NS);
    let response = &found.response;
    assert_eq!(
        (response.min_ns, response.max_ns, response.mean_ns),
        (2_750_000, 65_750_000, 34_250_000,)
    );
    assert_eq!((found.own_lateness.samples, found.start_skew_ns), (0, 0));
    // Of an amount of readings nothing is left.
    let spec = StationsSpec { until: writing(3).until, ..spec };
    let found = trial(&spec, Fails::Never).stationed;
    assert_eq!((found.readings, found.unstarted, found.ended_by), (3, 0, StationsEnd::Readings));
}

#[test]
fn a_station_thinks_after_each_operation() {
    let spec = StationsSpec { think_ns: 20 * MS, until: timed(100 * MS), ..spec() };
    let trial = trial(&spec, Fails::Never);
    let starts: Vec<u64> = trial.readings.iter().map(|reading| reading.start_ns).collect();
    assert_eq!(starts, [0, 22_750_000, 45_500_000, 68_250_000, 91_000_000]);
    assert!(trial.readings.iter().all(|reading| reading.intended_ns == reading.start_ns));
    let found = &trial.stationed;
    assert_eq!((found.own_lateness.samples, found.unstarted), (4, 0));
    assert_eq!((found.elapsed_ns, found.ended_by), (93_750_000, StationsEnd::Time));
}

#[test]
fn operations_are_retried_after_growing_pauses() {
    // Every second call fails: each read, and no open. To connect and to open takes 4 ms.
    let spec = StationsSpec {
        retries: 3,
        until: StationsUntil { readings_per_station: Some(6), ..StationsUntil::default() },
        ..spec()
    };
    let trial = trial(&spec, Fails::ResetsEvery(2));
    let attempts: Vec<(u64, u8)> =
        trial.readings.iter().map(|reading| (reading.start_ns / MS, reading.attempt)).collect();
    assert_eq!(attempts, [(0, 0), (104, 1), (308, 2), (712, 3), (716, 0), (820, 1)]);
    let found = &trial.stationed;
    assert_eq!((found.retries, found.reconnects, found.errors["reset"]), (4, 6, 6));
    assert_eq!((found.bytes, found.response.samples, found.readings), (0, 0, 6));
    assert_eq!((found.ended_by, found.ended_stations), (StationsEnd::Readings, 0));
}

#[test]
fn a_hundred_consecutive_failures_end_a_station() {
    // The open is call 1; three reads are right.
    let spec = StationsSpec { retries: 5, until: timed(100 * MS), ..spec() };
    let found = trial(&spec, Fails::DeniesFrom(5)).stationed;
    assert_eq!((found.readings, found.errors["denied"], found.retries), (103, 100, 0));
    assert_eq!((found.ended_by, found.ended_stations), (StationsEnd::NoStation, 1));
    let ended = &found.ended[0];
    assert_eq!((ended.station, ended.at_ns, ended.readings), (0, 3 * BLOCK_NS + 10 * MS, 103));
    assert_eq!(ended.code, "service.denied");
    assert_eq!(ended.message, "100 operations in a row failed: not allowed");
    // One that is right in between begins the count anew.
    let spec = StationsSpec { until: writing(400).until, ..spec };
    let found = trial(&spec, Fails::DeniesEvery(2)).stationed;
    assert_eq!((found.readings, found.errors["denied"], found.ended_stations), (400, 200, 0));
}

#[test]
fn a_trial_ends_when_errors_fill_its_readings() {
    let spec = StationsSpec { most_readings: 20, until: timed(100 * MS), ..spec() };
    let found = trial(&spec, Fails::DeniesFrom(2)).stationed;
    assert_eq!((found.readings, found.ended_by), (20, StationsEnd::Full));
}

#[test]
fn readings_are_thinned_when_room_runs_out() {
    let spec = StationsSpec { most_readings: 100, until: timed(1_000 * MS), ..spec() };
    let trial = trial(&spec, Fails::Never);
    let found = &trial.stationed;
    // 364 in a second, of which the fourths are 91; 64 slices of 2²⁴ ns are longer than a second.
    assert_eq!((found.readings, found.bytes), (364, 364 * 750));
    assert_eq!((found.response.samples, found.elapsed_ns), (364, 364 * BLOCK_NS));
    let thinned = found.thinned.as_ref().expect("thinned");
    assert_eq!((thinned.kept, thinned.every, thinned.slice_ns), (91, 4, 1 << 24));
    assert!(trial.readings.iter().all(|reading| reading.start_ns % (4 * BLOCK_NS) == 0));
    let all = StationsSpec { most_readings: 100, until: writing(100).until, ..spec };
    assert!(self::trial(&all, Fails::Never).stationed.thinned.is_none());
}

#[test]
fn concurrent_connection_attempts_are_limited() {
    let own = OwnStations { first: 0, count: 3 };
    for (connects_at_once, last_ms, all_ms) in [(16, 8, 8), (1, 4, 12)] {
        let spec = StationsSpec { stations: 3, own, connects_at_once, ..spec() };
        let setup = trial(&spec, Fails::Never).stationed.setup;
        // To connect takes 2 ms, and to open 2 ms, one after another.
        assert_eq!((setup.connect.samples, setup.connect.min_ns), (3, 4_000_000));
        assert_eq!((setup.connect.max_ns, setup.elapsed_ns), (last_ms * 1_000_000, all_ms * MS));
    }
}

#[test]
fn a_missing_server_fails_after_seven_attempts() {
    let never = Fails::StartsAt(Instant::FAR_FUTURE);
    let failure = trial_at(&spec(), never, false).map(|_| ()).unwrap_err();
    assert_eq!(failure, "station 0: connect: refused");
    let at = |ms| Fails::StartsAt(Instant::from_nanos(ms * MS));
    // Pauses of 0.1, 0.2, 0.4, 0.8, 1.6 and 3.2 s, and six refusals of 0.1 ms each.
    assert!(trial_at(&spec(), at(6_300), false).is_ok());
    assert!(trial_at(&spec(), at(6_301), false).is_err());
}

#[test]
fn reconnect_pauses_grow_to_five_seconds() {
    let spec = StationsSpec { retries: 8, until: timed(60_000 * MS), ..spec() };
    let found = trial(&spec, Fails::DeadFrom(2)).stationed;
    // 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5 and 5 s, and nine refusals of 0.1 ms each.
    assert_eq!((found.reconnect_errors["refused"], found.ended[0].at_ns), (9, 16_300_900_000));
    assert_eq!((found.readings, found.reconnects), (1, 0));
}

#[test]
fn messages_due_at_the_end_are_not_awaited() {
    let open_loop = Some(OpenLoop { rate_per_s: 100.0, arrivals: Arrivals::Fixed });
    let spec = StationsSpec { open_loop, until: timed(100 * MS), ..spec() };
    let found = trial(&spec, Fails::Never).stationed;
    // The first begins when it is due; those of 10 to 90 ms are waited for.
    assert_eq!((found.readings, found.own_lateness.samples, found.unstarted), (10, 9, 0));
}

#[test]
fn split_blocks_are_read_whole() {
    let spec = StationsSpec { until: writing(4).until, ..spec() };
    let found = trial(&spec, Fails::AnswersTooMuchFrom(u64::MAX)).stationed;
    // 750 bytes as 375, 188, 94, 47, 23, 12, 6, 3, 1 and 1, asked for as 750, 375, 187 and so on.
    let asked: [u64; 10] = [750, 375, 187, 93, 46, 23, 11, 5, 2, 1];
    let block_ns = 10 * 2 * MS + 1_000 * asked.iter().sum::<u64>();
    assert_eq!((found.readings, found.errors.len(), found.checked.blocks), (4, 0, 4));
    assert_eq!(found.elapsed_ns, 4 * block_ns);
}

#[test]
fn excess_or_missing_data_is_an_error() {
    // The open is call 1. The second part of the first block is one byte too long: that costs the
    // connection, and nothing is tried again.
    let spec = StationsSpec { retries: 3, until: writing(1).until, ..spec() };
    let found = trial(&spec, Fails::AnswersTooMuchFrom(3)).stationed;
    assert_eq!((found.readings, found.errors["short_transfer"]), (1, 1));
    assert_eq!((found.reconnects, found.retries, found.bytes), (1, 0, 0));
    // A file of four blocks and a half.
    let spec = StationsSpec { file_size_bytes: 3_375, until: writing(5).until, ..spec };
    let found = trial(&StationsSpec { message_size_bytes: 750, ..spec.clone() }, Fails::Never);
    assert_eq!((found.stationed.blocks, found.stationed.errors.len()), (4, 0));
}

#[test]
fn an_interval_narrow_after_21_samples_ends_a_trial() {
    let until = StationsUntil { interval_ratio: Some(0.01), ..timed(60_000 * MS) };
    let found = trial(&StationsSpec { until, ..spec() }, Fails::Never).stationed;
    // Each look is 50 ms after the one before; the block under way at 1,050 ms is the 382nd.
    assert_eq!((found.ended_by, found.readings), (StationsEnd::Interval, 382));
    assert_eq!(found.elapsed_ns, 382 * BLOCK_NS);
}
