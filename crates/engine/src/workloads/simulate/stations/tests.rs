//! Stations on simulated machines: results and refusals.

use super::*;
use crate::messages::{RoleOutcome, Simulate, SimulatedFacts};
use crate::workloads::simulate::check::check;
use crate::workloads::simulate::check::tests::{changed, run};

/// Two stations that read 20 blocks of 750 bytes each, with `changes` of the request.
fn request(changes: &[(&str, &str)]) -> Simulate {
    let request = serde_json::json!({
        "type": "simulate", "seed": 1,
        "world": {
            "medium": {"topology": "bus", "rate_bps": 10_000_000},
            "machines": [{}, {}, {}],
            "bounds": {}
        },
        "work": {"workload": "stations", "spec": {
            "service": {
                "service": "smb1", "carrier": "nbf", "options": {"smb1": {"dialect": "core"}},
                "timeout_ns": 30_000_000_000_u64
            },
            "working_name": "00000000.lab", "token": "0".repeat(32),
            "stations": 2, "own": {"first": 0, "count": 2},
            "operation": "read", "read_ratio": 0.5, "access": "sequential",
            "message_size_bytes": 750, "file_size_bytes": 7_500, "think_ns": 0,
            "sync": "none", "until": {"readings_per_station": 20},
            "most_readings": 1_000, "retries": 0, "seed": 1, "verify": true,
            "connects_at_once": 2
        }}
    });
    changed(request, changes)
}

fn simulated(changes: &[(&str, &str)]) -> (Stationed, SimulatedFacts) {
    let found = run(&request(changes)).unwrap();
    let mut outcomes = found.outcomes.into_iter();
    let Some(RoleOutcome::Stationed(stationed)) = outcomes.next() else { panic!("no stations") };
    (*stationed, found.world)
}

fn refused(changes: &[(&str, &str)]) -> String {
    check(&request(changes)).unwrap_err().message
}

const SERVICE: &str = "/work/spec/service/service";
const OPTIONS: &str = "/work/spec/service/options";
const CARRIER: &str = "/work/spec/service/carrier";
const OPERATION: &str = "/work/spec/operation";
const SERVER: &str = "/world/machines/2";

/// The changes for a service that the carrier has.
fn over(carrier: &str) -> [(&'static str, &str); 3] {
    let (smb1, core) = (r#""smb1""#, r#"{"smb1": {"dialect": "core"}}"#);
    let is_ncp = carrier == r#""ncp""#;
    let (service, options) = if is_ncp { (carrier, r#""none""#) } else { (smb1, core) };
    [(SERVICE, service), (OPTIONS, options), (CARRIER, carrier)]
}

#[test]
fn stations_work_over_every_carrier_with_verified_data() {
    for carrier in [r#""tcp""#, r#""nbf""#, r#""ipx""#, r#""ncp""#] {
        for (operation, blocks) in [(r#""read""#, 40), (r#""write""#, 8)] {
            let changes = [&over(carrier)[..], &[(OPERATION, operation)]].concat();
            let (stationed, world) = simulated(&changes);
            let what = format!("{carrier} {operation}");
            assert_eq!((stationed.readings, stationed.bytes), (40, 30_000), "{what}");
            assert_eq!((stationed.checked.blocks, stationed.errors.len()), (blocks, 0), "{what}");
            let read_back = if blocks == 8 { 8 } else { 0 };
            assert_eq!(stationed.checked.read_back, read_back, "{what}");
            assert_eq!(stationed.checked.read_back_wrong, 0, "{what}");
            // At least the time of the bytes on the bus, and less than four times that.
            let wire_ns = 30_000 * 8 * 100;
            let elapsed_ns = stationed.elapsed_ns;
            assert!((wire_ns..4 * wire_ns).contains(&elapsed_ns), "{what} {elapsed_ns}");
            assert_eq!(world.hosts.len(), 3);
        }
    }
}

/// Two stations. The server takes 10 ms of disk time per block, and 5 ms of processor time to send
/// a reply, in one frame. Four of 40 reads are of two blocks.
#[test]
fn a_sequential_server_replies_before_its_next_call() {
    let elapsed_ms = |overlaps: bool| {
        let server = serde_json::json!({
            "transmit": {"each_ns": 5_000_000},
            "store": {"overlaps": overlaps, "disk": {"overhead_ns": 10_000_000}}
        });
        let server = server.to_string();
        let (stationed, _) = simulated(&[(CARRIER, r#""ipx""#), (SERVER, &server)]);
        stationed.elapsed_ns as f64 / 1e6
    };
    let [overlapped, one_by_one] = [true, false].map(elapsed_ms);
    assert!((440.0..450.0).contains(&overlapped), "{overlapped}");
    assert!((640.0..690.0).contains(&one_by_one), "{one_by_one}");
}

/// A frozen server receives no more frames: a late reply is an error of its station. A station that
/// cannot reconnect ends the trial, and is named.
#[test]
fn a_frozen_server_fails_each_station_or_ends_the_trial() {
    let freeze = r#"{"freeze": {"after_ns": 20000000, "for_ns": 3600000000000}}"#;
    for carrier in [r#""tcp""#, r#""nbf""#, r#""ipx""#, r#""ncp""#] {
        let changes = [&over(carrier)[..], &[(SERVER, freeze)]].concat();
        match run(&request(&changes)) {
            Ok(found) => {
                let RoleOutcome::Stationed(stationed) = &found.outcomes[0] else { panic!() };
                assert_eq!(stationed.errors.values().sum::<u64>(), 2, "{carrier}");
                // The freeze is recorded, but is not processor time.
                let [_, _, server] = &found.world.hosts[..] else { panic!("{carrier}") };
                assert!(server.frozen_ns > Some(20_000_000), "{carrier}: {server:?}");
                assert_eq!(server.interrupt_ns, 0, "{carrier}");
            }
            Err(failed) => assert!(failed.message.starts_with("station "), "{carrier}: {failed:?}"),
        }
    }
    let short = r#"{"freeze": {"after_ns": 1000000000, "for_ns": 500000000}}"#;
    let (stationed, world) = simulated(&[(SERVER, short)]);
    assert_eq!((stationed.readings, stationed.errors.len()), (40, 0));
    let frozen: Vec<_> = world.hosts.iter().map(|host| host.frozen_ns).collect();
    assert_eq!(frozen, [None, None, Some(500_000_000)]);
    assert_eq!(
        refused(&[(SERVER, r#"{"freeze": {"after_ns": 0, "for_ns": 0}}"#)]),
        "`freeze.for_ns`: found 0; allowed: 1 to 3600000000000"
    );
}

/// A server that takes 200 ms for each read. A station that gives up after 150 ms retries over a
/// new session; a patient one gets each late reply over its session.
#[test]
fn patient_stations_count_late_calls_without_retrying() {
    let slow = r#"{"store": {"read": {"each_ns": 200000000}}}"#;
    for (carrier, service) in [(r#""nbf""#, "smb1"), (r#""ncp""#, "ncp")] {
        let counted = |waits_on: bool| {
            let options = format!(r#"{{"{service}": {{"waits_on": {waits_on}}}}}"#);
            let own = [
                (SERVER, slow),
                ("/work/spec/service/timeout_ns", "150000000"),
                ("/work/spec/service/options", &options),
            ];
            let (stationed, _) = simulated(&[&over(carrier)[..], &own].concat());
            let late = stationed.errors.get("timed_out").copied().unwrap_or(0);
            assert_eq!(late, stationed.errors.values().sum::<u64>(), "{carrier}");
            (stationed.checked.blocks, late, stationed.reconnects)
        };
        let (blocks, late, reconnects) = counted(true);
        assert!(blocks > 0 && late > 0, "{carrier}: {blocks} {late}");
        assert_eq!((blocks + late, reconnects), (40, 0), "{carrier}");
        let (blocks, late, reconnects) = counted(false);
        assert_eq!((blocks, late), (0, 40), "{carrier}");
        assert!(reconnects > 0, "{carrier}");
    }
}

#[test]
fn the_same_request_gives_the_same_readings_to_the_nanosecond() {
    let run = || {
        let (stationed, world) = simulated(&[(
            SERVER,
            r#"{"jitter_ratio": 0.1,
            "send_call": {"each_ns": 10000, "per_byte_ps": 100000}}"#,
        )]);
        (stationed.elapsed_ns, stationed.response.max_ns, world)
    };
    assert_eq!(run(), run());
}

/// A server that takes 10 ms for each read and does one thing at a time serves two stations no faster than
/// one: 40 reads are 400 ms.
#[test]
fn stations_queue_at_a_single_threaded_server() {
    let store = |overlaps: bool| {
        format!(r#"{{"store": {{"read": {{"each_ns": 10000000}}, "overlaps": {overlaps}}}}}"#)
    };
    let (stationed, world) = simulated(&[(SERVER, &store(false))]);
    assert!((400_000_000..450_000_000).contains(&stationed.elapsed_ns), "{stationed:?}");
    assert!(stationed.response.mean_ns > 18_000_000, "{}", stationed.response.mean_ns);
    let facts = world.hosts[2].store.unwrap();
    assert!(facts.disk_accesses >= 40, "{facts:?}");
}

#[test]
fn a_lossy_bus_delays_stations_and_damages_nothing() {
    let (plain, _) = simulated(&[]);
    let (stationed, world) = simulated(&[("/world/medium/loss_ratio", "0.05")]);
    assert_eq!((stationed.readings, stationed.checked.blocks), (40, 40));
    assert!(world.medium.iter().any(|port| port.lost_chance_frames > 0));
    assert!(stationed.elapsed_ns > plain.elapsed_ns);
}

#[test]
fn impossible_requests_are_refused_before_running() {
    let full = r#"{"store": {"disk": {"cylinders": 1, "heads": 1, "sectors_per_track": 17}}}"#;
    for (changes, message) in [
        (
            [(SERVICE, r#""s3""#)],
            "`work.spec.service`: found s3; allowed: smb1, ncp or ftp on simulated machines",
        ),
        (
            [("/work/spec/stations", "3")],
            "`work.spec.stations`: found 3; allowed: 2, one for each machine but the server",
        ),
        (
            [("/work/profile", r#""os2""#)],
            "`work.profile`: found os2; allowed: lanlab, ibm, nt, win9x, wfw, dos, linux",
        ),
    ] {
        assert_eq!(refused(&changes), message);
    }
    let request = request(&[(SERVER, full), ("/work/spec/file_size_bytes", "7500")]);
    assert_eq!(run(&request).unwrap_err().message, "files of 15000 bytes on a disk of 8704 bytes");
}
