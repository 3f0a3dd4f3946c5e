//! What has been fed to a fuzz target once is fed to it by every test run.

#[path = "../../../../fuzz/tests/seeds.rs"]
mod seeds;

use crate::fuzz_checks;

fn feed_all(target: &str, feed: fn(&[u8])) {
    for octets in seeds::seeds(target) {
        feed(&octets);
        // Cut anywhere it is another seed.
        for length in 0..octets.len().min(256) {
            feed(&octets[..length]);
        }
    }
}

#[test]
fn probe() {
    feed_all("probe", fuzz_checks::probe);
}

#[test]
fn session() {
    feed_all("session", fuzz_checks::session);
}

#[test]
fn engine_line() {
    feed_all("engine_line", fuzz_checks::engine_line);
}

#[test]
fn session_machines() {
    feed_all("session_machines", fuzz_checks::session_machines);
}

#[test]
fn tally() {
    feed_all("tally", fuzz_checks::tally);
}

#[test]
fn ip_frames() {
    feed_all("ip_frames", fuzz_checks::ip_frames);
}

#[test]
fn iperf3_dialogue() {
    feed_all("iperf3_dialogue", fuzz_checks::iperf3_dialogue);
}

#[test]
fn host_texts() {
    feed_all("host_texts", fuzz_checks::host_texts);
}
