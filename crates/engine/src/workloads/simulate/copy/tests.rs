//! Copies between simulated machines: results and refusals.

use super::*;
use crate::messages::{RoleOutcome, Simulate, SimulatedFacts};
use crate::workloads::simulate::check::check;
use crate::workloads::simulate::check::tests::{changed, run};

/// A copy of three files of 20 kB, with `changes`: paths in the request, and their new JSON.
fn request(changes: &[(&str, &str)]) -> Simulate {
    let request = serde_json::json!({
        "type": "simulate", "seed": 1,
        "world": {
            "medium": {"topology": "cable", "rate_bps": 10_000_000},
            "machines": [{"tcp": {"nagle": false}}, {"tcp": {"nagle": false}}],
            "bounds": {}
        },
        "work": {"workload": "copy", "spec": {
            "service": {"service": "smb1", "carrier": "nbf", "timeout_ns": 30_000_000_000_u64},
            "working_name": "00000000.lab", "token": "0".repeat(32),
            "direction": "upload",
            "files": {"dataset": {"seed": 1, "groups": [
                {"count": 3, "least_bytes": 20_000, "most_bytes": 20_000}
            ]}},
            "client": "memory", "parallel_files": 1, "depth": 1, "block_bytes": 4096,
            "sync": "none", "verify": "content", "retries": 0
        }}
    });
    changed(request, changes)
}

fn simulated(changes: &[(&str, &str)]) -> (Copied, SimulatedFacts) {
    let found = run(&request(changes)).unwrap();
    let mut outcomes = found.outcomes.into_iter();
    let Some(RoleOutcome::Copied(copied)) = outcomes.next() else { panic!("no copy") };
    (*copied, found.world)
}

fn refused(changes: &[(&str, &str)]) -> String {
    check(&request(changes)).unwrap_err().message
}

const SERVICE: &str = "/work/spec/service/service";
const CARRIER: &str = "/work/spec/service/carrier";
const DIRECTION: &str = "/work/spec/direction";

#[test]
fn files_are_copied_both_ways_over_every_carrier_and_compared() {
    let (smb1, ncp, ftp, tcp) = (r#""smb1""#, r#""ncp""#, r#""ftp""#, r#""tcp""#);
    for (service, carrier, protocol) in [
        (smb1, tcp, "NT LM 0.12"),
        (smb1, r#""nbf""#, "NT LM 0.12"),
        (smb1, r#""ipx""#, "multiplexed"),
        (smb1, r#""nbipx""#, "NT LM 0.12"),
        (ftp, tcp, "FTP"),
        (ncp, ncp, "NetWare 2.15"),
    ] {
        for direction in [r#""upload""#, r#""download""#] {
            let changes = [(SERVICE, service), (CARRIER, carrier), (DIRECTION, direction)];
            let (copied, world) = simulated(&changes);
            let counted = (copied.copied_files, copied.copied_bytes, copied.retries);
            assert_eq!(counted, (3, 60_000, 0), "{service} {carrier} {direction}");
            let Verified { how, files, bytes } = copied.verified;
            assert_eq!((how, files, bytes), (CopyVerify::Content, 3, 60_000));
            // At least the time of the bytes on the wire, and less than four times that.
            let wire_ns = 60_000 * 8 * 100;
            assert!((wire_ns..4 * wire_ns).contains(&copied.elapsed_ns), "{}", copied.elapsed_ns);
            assert!(world.hosts.iter().all(|host| host.store.is_none()));
            assert!(copied.facts.protocol.contains(protocol), "{}", copied.facts.protocol);
        }
    }
}

/// Connecting does not count; a file twice as large adds only the traffic of its second half.
#[test]
fn traffic_of_each_machine_is_counted_during_the_timed_copy() {
    const BYTES: &str = "/work/spec/files/dataset/groups/0";
    let sent = |files: u64, bytes: u64| {
        let group =
            format!(r#"{{"count": {files}, "least_bytes": {bytes}, "most_bytes": {bytes}}}"#);
        let (_, world) = simulated(&[(BYTES, &group)]);
        let total = |of: fn(&SimulatedSent) -> u64| world.timed.iter().map(of).sum::<u64>();
        let (frames, bytes) = (total(|sent| sent.frames), total(|sent| sent.bytes));
        let all: u64 = world.medium.iter().map(|port| port.offered_frames).sum();
        assert!(frames < all && world.timed.len() == 2, "{frames} of {all}");
        (frames, bytes)
    };
    let (one, two, many) = (sent(1, 1_000_000), sent(1, 2_000_000), sent(2, 500_000));
    // Blocks of 4096 bytes, each of three parts of up to 1480 bytes.
    let blocks = 1_000_000 / 4096;
    assert!((3 * blocks..6 * blocks).contains(&(two.0 - one.0)), "{one:?} {two:?}");
    assert!((1_030_000..1_100_000).contains(&(two.1 - one.1)), "{one:?} {two:?}");
    // The second file adds only its opening and closing.
    assert!((4..20).contains(&(many.0 - one.0)), "{one:?} {many:?}");
}

#[test]
fn the_same_request_gives_the_same_copy_to_the_nanosecond() {
    let run = || {
        let (copied, world) = simulated(&[(
            "/world/machines/0",
            r#"{"jitter_ratio": 0.1,
            "send_call": {"each_ns": 10000, "per_byte_ps": 100000}}"#,
        )]);
        (copied.elapsed_ns, world)
    };
    assert_eq!(run(), run());
}

#[test]
fn lost_frames_are_resent_and_content_is_intact() {
    for (service, carrier) in
        [(r#""smb1""#, r#""tcp""#), (r#""smb1""#, r#""nbf""#), (r#""ncp""#, r#""ncp""#)]
    {
        let lossy = ("/world/medium/loss_ratio", "0.05");
        let (copied, world) = simulated(&[(SERVICE, service), (CARRIER, carrier), lossy]);
        assert_eq!((copied.copied_files, copied.verified.bytes), (3, 60_000), "{carrier}");
        assert!(world.medium.iter().any(|port| port.lost_chance_frames > 0));
    }
}

/// Each file call of the server takes 1 ms: opening, writing five blocks, closing.
#[test]
fn copy_time_includes_the_cost_of_file_calls() {
    let cost = r#"{"each_ns": 1000000}"#;
    let store =
        format!(r#"{{"store": {{"open_ns": 1000000, "write": {cost}, "close_ns": 1000000}}}}"#);
    let (plain, _) = simulated(&[]);
    let (costly, world) = simulated(&[("/world/machines/1", &store)]);
    let more_ns = costly.elapsed_ns - plain.elapsed_ns;
    // Minus the time of the client's acknowledgements, sent meanwhile.
    assert!((20_800_000..22_000_000).contains(&more_ns), "{more_ns}");
    assert!(world.hosts[1].program_ns >= 21_000_000);
    let disk = world.hosts[1].store.unwrap();
    assert_eq!((disk.disk_accesses, disk.disk_sectors), (15, 3 * 40));
}

#[test]
fn disk_rotation_delays_copies_at_both_ends() {
    let disk = r#"{"turn_ns": 16000000, "cylinders": 600, "heads": 4, "sectors_per_track": 17}"#;
    let store = format!(r#"{{"store": {{"disk": {disk}}}}}"#);
    let (plain, _) = simulated(&[]);
    for (place, other) in [("/world/machines/0", 1), ("/world/machines/1", 0)] {
        let (slow, world) = simulated(&[(place, &store)]);
        let facts = world.hosts[1 - other].store.unwrap();
        assert!(world.hosts[other].store.is_none());
        assert!(slow.elapsed_ns - plain.elapsed_ns > 15 * 8_000_000, "{facts:?}");
        assert!(slow.elapsed_ns - plain.elapsed_ns <= facts.disk_busy_ns + 1_000_000);
    }
}

#[test]
fn unsupported_simulated_copies_are_refused_with_alternatives() {
    let store = |text: &str| format!(r#"{{"store": {text}}}"#);
    let machine = "/world/machines/1";
    let cases = [
        (
            SERVICE,
            r#""s3""#.to_owned(),
            "`work.spec.service`: found s3; allowed: smb1, ncp or ftp on simulated machines",
        ),
        (
            "/work/profile",
            r#""os2""#.to_owned(),
            "`work.profile`: found os2; allowed: lanlab, ibm, nt, win9x, wfw, dos, linux",
        ),
        (
            "/work/spec/files",
            r#"{"tree": "/tmp"}"#.to_owned(),
            "`client`: found elsewhere; allowed: where the tree is",
        ),
        (
            machine,
            store(r#"{"disk": {"sectors_per_track": 0}}"#),
            "`store.disk.sectors_per_track`: found 0; allowed: 1 to 4096",
        ),
        (
            machine,
            store(r#"{"block_bytes": 1000}"#),
            "`store.block_bytes`: found 1000; allowed: whole sectors of 512",
        ),
        (
            machine,
            store(r#"{"cache_blocks": 2, "write_behind_blocks": 3}"#),
            "`store.write_behind_blocks`: found 3; allowed: 0 to 2",
        ),
        (
            machine,
            store(r#"{"name_sectors": 1025}"#),
            "`store.name_sectors`: found 1025; allowed: 0 to 1024",
        ),
        (
            machine,
            store(r#"{"change_sectors": 1025}"#),
            "`store.change_sectors`: found 1025; allowed: 0 to 1024",
        ),
        (
            machine,
            store(r#"{"read_ahead_blocks": 1025}"#),
            "`store.read_ahead_blocks`: found 1025; allowed: 0 to 1024",
        ),
    ];
    for (path, value, expected) in cases {
        assert_eq!(refused(&[(path, &value)]), expected);
    }
}

#[test]
fn a_dataset_larger_than_the_disk_is_an_error() {
    let disk = r#"{"store": {"disk": {"cylinders": 1, "heads": 1, "sectors_per_track": 100}}}"#;
    for direction in [r#""upload""#, r#""download""#] {
        let request = request(&[("/world/machines/1", disk), (DIRECTION, direction)]);
        let message = run(&request).unwrap_err().message;
        assert_eq!(message, "files of 60000 bytes on a disk of 51200 bytes");
    }
}
