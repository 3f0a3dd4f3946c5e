//! What has been fed to a fuzz target once is fed to it by every test run.

use std::fs;
use std::path::Path;

use lanlab_engine::hostile;

/// Feed every seed of `target` to `feed`.
fn feed_all(target: &str, feed: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let seeds: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!((8..=50).contains(&seeds.len()), "{} seeds of {target}", seeds.len());
    for seed in seeds {
        let octets = fs::read(&seed).unwrap();
        // Said if it panics.
        println!("{}", seed.display());
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
