//! Stations in a closed loop in virtual time: the loop of the product, held to exact theory, and a
//! server that fails in every way.

#[path = "support/stations_spec.rs"]
mod example;
mod support;

use std::sync::Arc;

use example::spec;
use lanlab_messages::{OwnStations, Stationed, StationsEnd, StationsSpec, StationsUntil};
use lanlab_units::Instant;
use lanlab_workloads::stations::pattern::{Pattern, Place};
use lanlab_workloads::stations::{KeptReadings, readings, simulate};
use lanlab_workloads::virtual_time::VirtualTime;
use support::{Fails, Server, Service, TIMEOUT_NS, service_ns};

const SECOND_NS: u64 = 1_000_000_000;
const THINK_NS: u64 = 20_000_000;

fn stations(count: u32, time_ns: u64) -> StationsSpec {
    StationsSpec {
        stations: count,
        own: OwnStations { first: 0, count },
        think_ns: THINK_NS,
        until: StationsUntil { time_ns: Some(time_ns), ..StationsUntil::default() },
        most_readings: 100_000,
        ..spec()
    }
}

struct Trial {
    stationed: Stationed,
    /// All readings that were kept, as the bytes that the driver is sent.
    bytes: Vec<u8>,
    kept: Vec<KeptReadings>,
    server: Server,
}

fn trial(spec: &StationsSpec, service: Service, fails: Fails, seed: u64) -> Trial {
    late_trial(spec, service, fails, seed, SECOND_NS)
}

fn late_trial(
    spec: &StationsSpec,
    service: Service,
    fails: Fails,
    seed: u64,
    start_ns: u64,
) -> Trial {
    let time = VirtualTime::new();
    let server = Server::new(&time, service, fails, seed);
    let pattern = Pattern::new(spec.seed);
    let block_bytes = spec.message_size_bytes as usize;
    for station in 0..spec.stations {
        let mut content = vec![0; spec.file_size_bytes as usize];
        for (block, part) in (0..).zip(content.chunks_exact_mut(block_bytes)) {
            pattern.fill(Place { station, block, generation: 0 }, part);
        }
        server.put(&format!("{}/files/s{station:05}.dat", spec.working_name), content);
    }
    let work = simulate(time.clone(), spec.clone(), server.clone(), Arc::default(), start_ns);
    let (stationed, kept) = time.run(work).expect("no deadlock").expect("a trial");
    let lines = kept.iter().flat_map(|thread| readings::lines(&thread.all));
    let bytes = lines.flat_map(|(_, bytes)| bytes).collect();
    Trial { stationed, bytes, kept, server }
}

/// Throughput (1/s) and mean response time (s) of `stations` by exact mean value analysis of one
/// queue and a delay (Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing
/// networks", Journal of the ACM 27, 1980).
fn mean_value_analysis(stations: u32, service_s: f64, think_s: f64) -> (f64, f64) {
    let (mut queue, mut throughput, mut response_s) = (0.0, 0.0, 0.0);
    for number in 1..=stations {
        response_s = service_s * (1.0 + queue);
        throughput = f64::from(number) / (think_s + response_s);
        queue = throughput * response_s;
    }
    (throughput, response_s)
}

fn assert_within(found: f64, expected: f64, ratio: f64, what: &str) {
    let error = found / expected - 1.0;
    assert!(error.abs() < ratio, "{what}: found {found}, expected {expected}, {error:+.5}");
}

/// Throughput and mean response time as the trial has them.
fn measured(stationed: &Stationed) -> (f64, f64) {
    let throughput = stationed.readings as f64 / (stationed.elapsed_ns as f64 / 1e9);
    (throughput, stationed.response.mean_ns as f64 / 1e9)
}

/// With exponential service times the mean values are exact for first come, first served; the think
/// time may have any distribution (Baskett, Chandy, Muntz and Palacios, 1975), so also the constant
/// one of the product.
#[test]
fn exponential_service_agrees_with_mean_value_analysis() {
    for count in [1, 2, 7, 15] {
        let spec = stations(count, 10_000 * SECOND_NS);
        let trial = trial(&spec, Service::Exponential, Fails::Never, u64::from(count));
        let service_s = service_ns(750) as f64 / 1e9;
        let (throughput, response_s) = mean_value_analysis(count, service_s, THINK_NS as f64 / 1e9);
        let (found_throughput, found_response_s) = measured(&trial.stationed);
        assert_within(found_throughput, throughput, 0.005, &format!("throughput of {count}"));
        assert_within(found_response_s, response_s, 0.005, &format!("response time of {count}"));
        assert_eq!(trial.stationed.errors.len(), 0);
        assert_eq!(trial.stationed.checked.blocks, trial.stationed.readings);
    }
}

/// With constant service and think times mean value analysis is not exact, and theory is simpler: once
/// the stations have fallen into step, no station waits below saturation, and above it the server never
/// rests. Throughput is min(N / (Z + S), 1 / S), and response time N / throughput − Z.
#[test]
fn constant_service_agrees_with_the_bounds_that_it_reaches() {
    for count in [1, 2, 7, 15] {
        let spec = stations(count, 1_000 * SECOND_NS);
        let trial = trial(&spec, Service::Fixed, Fails::Never, 1);
        let (service_s, think_s) = (service_ns(750) as f64 / 1e9, THINK_NS as f64 / 1e9);
        let throughput = (f64::from(count) / (think_s + service_s)).min(1.0 / service_s);
        let response_s = f64::from(count) / throughput - think_s;
        let (found_throughput, found_response_s) = measured(&trial.stationed);
        assert_within(found_throughput, throughput, 0.0005, &format!("throughput of {count}"));
        assert_within(found_response_s, response_s, 0.0005, &format!("response time of {count}"));
    }
}

#[test]
fn the_same_seed_gives_the_same_readings_byte_for_byte() {
    let spec = stations(7, 100 * SECOND_NS);
    let run = |seed| trial(&spec, Service::Exponential, Fails::ResetsEvery(1000), seed).bytes;
    let first = run(3);
    assert!(first.len() > 100_000, "{}", first.len());
    assert_eq!(first, run(3));
    assert_ne!(first, run(4));
}

#[test]
fn reset_connections_are_reopened_without_losing_readings() {
    let spec = StationsSpec { retries: 2, ..stations(3, 10 * SECOND_NS) };
    let trial = trial(&spec, Service::Fixed, Fails::ResetsEvery(50), 1);
    let resets = trial.stationed.errors["reset"];
    assert!(resets > 10, "{resets}");
    assert_eq!(trial.stationed.reconnects, resets);
    assert_eq!(trial.stationed.retries, resets, "each was tried again at once");
    assert_eq!(trial.stationed.readings, trial.kept[0].all.len() as u64);
}

#[test]
fn a_silent_server_times_out_each_station_and_the_trial_ends_on_time() {
    let trial = trial(&stations(2, 10 * SECOND_NS), Service::Fixed, Fails::SilentFrom(200), 1);
    let stationed = &trial.stationed;
    assert!(stationed.errors["timed_out"] >= 2, "{:?}", stationed.errors);
    // The file cannot be opened anew, so that no station is left, long before the time.
    assert_eq!((stationed.ended_by, stationed.ended_stations), (StationsEnd::NoStation, 2));
    assert!(stationed.elapsed_ns < 10 * SECOND_NS + TIMEOUT_NS);
}

#[test]
fn a_dying_server_ends_every_station_with_its_reason() {
    let spec = StationsSpec { retries: 3, ..stations(4, 100 * SECOND_NS) };
    let trial = trial(&spec, Service::Fixed, Fails::DeadFrom(500), 1);
    assert_eq!(trial.stationed.ended_by, StationsEnd::NoStation);
    assert!(trial.stationed.ended.iter().all(|ended| ended.code == "service.refused"));
    // An attempt and three retries each: 100, 200 and 400 ms apart.
    assert_eq!(trial.stationed.reconnect_errors["refused"], 4 * 4);
    let ended_ns = trial.stationed.ended.iter().map(|ended| ended.at_ns).max().unwrap();
    let last_ns = trial.stationed.elapsed_ns;
    assert!((700_000_000..710_000_000).contains(&(ended_ns - last_ns)), "{}", ended_ns - last_ns);
}

#[test]
fn a_server_that_starts_late_is_waited_for_before_the_start() {
    let spec = stations(3, SECOND_NS);
    let at = Instant::from_nanos(2 * SECOND_NS);
    let trial = trial(&spec, Service::Fixed, Fails::StartsAt(at), 1);
    // 100, 200, 400, 800 and 1600 ms apart: the sixth attempt is the first after two seconds.
    assert_eq!(trial.stationed.setup.errors["refused"], 3 * 5);
    assert_eq!(trial.server.connects(), 3 * 6);
    assert_eq!(trial.stationed.errors.len(), 0);
    assert!(trial.stationed.readings > 100);
}

#[test]
fn a_damaged_block_is_found() {
    let trial = trial(&stations(2, 10 * SECOND_NS), Service::Fixed, Fails::CorruptsEvery(100), 1);
    let wrong = trial.stationed.errors["wrong_data"];
    assert!(wrong > 5, "{wrong}");
    assert_eq!(trial.stationed.checked.corrupt, wrong);
    assert_eq!(trial.stationed.reconnects, 0);
}

#[test]
fn the_start_may_be_long_after_the_connections() {
    let spec = stations(5, 10 * SECOND_NS);
    let soon = late_trial(&spec, Service::Fixed, Fails::Never, 1, SECOND_NS);
    let late = late_trial(&spec, Service::Fixed, Fails::Never, 1, 3_600 * SECOND_NS);
    assert_eq!(soon.bytes, late.bytes, "times are from the start");
    assert_eq!(late.stationed.start_skew_ns, 0);
}

#[test]
fn a_narrow_interval_ends_a_trial_and_a_narrower_one_later() {
    let elapsed_ns = |ratio| {
        let until = StationsUntil {
            time_ns: Some(10_000 * SECOND_NS),
            interval_ratio: Some(ratio),
            ..StationsUntil::default()
        };
        let spec = StationsSpec { until, ..stations(7, SECOND_NS) };
        let trial = trial(&spec, Service::Exponential, Fails::Never, 1);
        assert_eq!(trial.stationed.ended_by, StationsEnd::Interval);
        trial.stationed.elapsed_ns
    };
    let (wide_ns, narrow_ns) = (elapsed_ns(0.1), elapsed_ns(0.01));
    assert!(wide_ns > 20 * 50_000_000, "fewer than twenty batches of 50 ms");
    assert!(narrow_ns > 4 * wide_ns, "{wide_ns} {narrow_ns}");
}
