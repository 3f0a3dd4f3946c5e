//! What has been fed to the fuzz targets of NetBEUI once is fed to them by every test run, and some of
//! anything else.

#[path = "../../../fuzz/tests/nbf_frames.rs"]
mod nbf_frames;
#[path = "../../../fuzz/tests/nbf_station.rs"]
mod nbf_station;
#[path = "../../../fuzz/tests/seeds.rs"]
mod seeds;

use proptest::prelude::*;

#[test]
fn nbf_frames() {
    for octets in seeds::seeds("nbf_frames") {
        for length in 0..octets.len() {
            nbf_frames::nbf_frames(&octets[..length]);
        }
        nbf_frames::nbf_frames(&octets);
    }
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..400))| {
        nbf_frames::nbf_frames(&octets);
    });
}

#[test]
fn nbf_station() {
    for octets in seeds::seeds("nbf_station") {
        nbf_station::nbf_station(&octets);
    }
    proptest!(|(octets in prop::collection::vec(any::<u8>(), 0..1500))| {
        nbf_station::nbf_station(&octets);
    });
}

/// Seeded random octets, as many times as `EXECUTIONS` says for each target; `EXECUTIONS_SEED` is the first.
#[test]
#[ignore = "takes as long as it is asked for: bench/results/reliability.md has the results"]
fn random_bytes() {
    let number = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (first, count) = (number("EXECUTIONS_SEED", 1), number("EXECUTIONS", 100_000));
    let frames = number("FRAMES", 10);
    let mut octets = vec![];
    let mut state = first;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let starts: Vec<Vec<u8>> = seeds::seeds("nbf_frames").collect();
    for execution in 0..count {
        let len = 8 + next() as usize % 300;
        octets.clear();
        while octets.len() < len {
            octets.extend_from_slice(&next().to_le_bytes());
        }
        nbf_station::nbf_station(&octets);
        for _ in 0..frames {
            // A frame of the corpus with some octets of its own.
            let mut frame = starts[next() as usize % starts.len()].clone();
            for _ in 0..=next() % 4 {
                let at = next() as usize % frame.len();
                frame[at] = next() as u8;
            }
            nbf_frames::nbf_frames(&frame);
        }
        if execution % 1_000_000 == 0 {
            println!("{execution} of the station, {} of frames", execution * frames);
        }
    }
    println!("{count} of the station, {} of frames", count * frames);
}
