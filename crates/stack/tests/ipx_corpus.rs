//! What has been fed to the fuzz target of IPX and XNS once is fed to it by every test run, and some of anything else.

#[path = "../../../fuzz/tests/ipx_station.rs"]
mod ipx_station;
#[path = "../../../fuzz/tests/seeds.rs"]
mod seeds;

use proptest::prelude::*;

#[test]
fn ipx_station() {
    for octets in seeds::seeds("ipx_station") {
        ipx_station::ipx_station(&octets);
    }
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..1500))| {
        ipx_station::ipx_station(&octets);
    });
}

/// Seeded random octets, as many times as `EXECUTIONS` says; `EXECUTIONS_SEED` is the first.
#[test]
#[ignore = "long: it takes as long as it is asked for"]
fn random_bytes() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (first, count) = (number("EXECUTIONS_SEED", 1), number("EXECUTIONS", 100_000));
    let mut state = first;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let starts: Vec<Vec<u8>> = seeds::seeds("ipx_station").collect();
    for _ in 0..count {
        // A conversation of the corpus with some octets of its own, and more behind it.
        let mut octets = starts[next() as usize % starts.len()].clone();
        for _ in 0..=next() % 8 {
            let at = next() as usize % octets.len();
            octets[at] = next() as u8;
        }
        for _ in 0..next() % 16 {
            octets.extend_from_slice(&next().to_le_bytes());
        }
        ipx_station::ipx_station(&octets);
    }
    println!("{count} conversations");
}
