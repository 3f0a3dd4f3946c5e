//! What has been fed to a fuzz target once is fed to it by every test run.

#[path = "../../../../fuzz/seeds.rs"]
mod seeds;

use crate::hostile;

/// Feed every seed of `target` to `feed`.
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
    feed_all("probe", hostile::probe);
}

#[test]
fn session() {
    feed_all("session", hostile::session);
}

#[test]
fn engine_line() {
    feed_all("engine_line", hostile::engine_line);
}

#[test]
fn session_machines() {
    feed_all("session_machines", hostile::session_machines);
}

#[test]
fn tally() {
    feed_all("tally", hostile::tally);
}

#[test]
fn host_texts() {
    feed_all("host_texts", hostile::host_texts);
}
