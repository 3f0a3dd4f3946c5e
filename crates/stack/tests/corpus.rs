//! What has been fed to the fuzz targets of redirector and server once is fed to them by every test
//! run, and some of anything else.

#[path = "../../../fuzz/tests/seeds.rs"]
mod seeds;
#[path = "../../../fuzz/tests/smb1_client.rs"]
mod smb1_client;
#[path = "../../../fuzz/tests/smb1_server.rs"]
mod smb1_server;

use proptest::prelude::*;

/// Cuts of one seed that are fed, too; it is another seed then.
const CUTS: usize = 48;

fn feed(target: &str, with: fn(&[u8])) {
    for octets in seeds::seeds(target) {
        with(&octets);
        for length in (0..octets.len()).step_by(1 + octets.len() / CUTS) {
            with(&octets[..length]);
        }
    }
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..600))| {
        with(&octets);
    });
}

#[test]
fn smb1_client() {
    feed("smb1_client", smb1_client::smb1_client);
}

#[test]
fn smb1_server() {
    feed("smb1_server", |octets| {
        smb1_server::smb1_server(octets);
    });
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
