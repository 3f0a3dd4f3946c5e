//! Every test run feeds the fuzz targets their stored inputs, and some random ones.

#[path = "../../../fuzz/tests/ipx_station.rs"]
mod ipx_station;
#[path = "support/memory_files.rs"]
mod memory_files;
#[path = "../../../fuzz/tests/nbf_frames.rs"]
mod nbf_frames;
#[path = "../../../fuzz/tests/nbf_station.rs"]
mod nbf_station;
#[path = "../../../fuzz/tests/ncp_station.rs"]
mod ncp_station;
#[path = "../../../fuzz/tests/seeds.rs"]
mod seeds;
#[path = "../../../fuzz/tests/smb1_client.rs"]
mod smb1_client;
#[path = "../../../fuzz/tests/smb1_server.rs"]
mod smb1_server;

use proptest::prelude::*;

/// Seeds are also fed truncated: short ones at every byte, longer ones at about this many places.
const CUTS: usize = 48;
const SHORT_BYTES: usize = 200;

fn feed_made_up<T>(below: usize, with: fn(&[u8]) -> T) {
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..below))| {
        with(&octets);
    });
}

fn feed<T>(target: &str, below: usize, with: fn(&[u8]) -> T) {
    for octets in seeds::seeds(target) {
        with(&octets);
        let step = 1 + octets.len().saturating_sub(SHORT_BYTES) / CUTS;
        for length in (0..octets.len()).step_by(step) {
            with(&octets[..length]);
        }
    }
    feed_made_up(below, with);
}

/// Whole conversations; cut, each is the beginning of itself.
fn feed_station<T>(target: &str, with: fn(&[u8]) -> T) -> Vec<T> {
    let reached = seeds::seeds(target).map(|octets| with(&octets)).collect();
    feed_made_up(1500, with);
    reached
}

#[test]
fn smb1_client() {
    feed("smb1_client", 600, smb1_client::smb1_client);
}

#[test]
fn smb1_server() {
    feed("smb1_server", 600, smb1_server::smb1_server);
}

#[test]
fn nbf_frames() {
    feed("nbf_frames", 400, nbf_frames::nbf_frames);
}

#[test]
fn nbf_station() {
    feed_station("nbf_station", nbf_station::nbf_station);
}

#[test]
fn ipx_station() {
    feed_station("ipx_station", ipx_station::ipx_station);
}

#[test]
fn ncp_station() {
    let all = feed_station("ncp_station", ncp_station::ncp_station);
    assert!(all.iter().any(|one| one.opens) && all.iter().any(|one| one.is_served));
    assert!([0, 1].iter().all(|end| all.iter().any(|one| one.bursts[*end])));
}

/// How many of the seeds whose name begins so came as far as `is_there` says.
fn reached(name: &str, is_there: fn(smb1_server::Reached) -> bool) -> usize {
    let folder = format!("{}/../../fuzz/corpus/smb1_server", env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(name));
    let octets = named.map(|entry| std::fs::read(entry.path()).unwrap());
    octets.filter(|octets| is_there(smb1_server::smb1_server(octets))).count()
}

#[test]
fn fuzz_seeds_reach_lock_waits_and_token_logins() {
    assert_eq!(reached("wait-", |reached| reached.waits), 6);
    assert_eq!(reached("token-proved", |reached| reached.logins), 2);
}
