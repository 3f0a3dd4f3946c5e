//! The seeds of the fuzz targets, for the tests that feed them.

use std::fs;
use std::path::Path;

/// Every seed of a target.
///
/// # Panics
/// If they cannot be read, or are too few or too many to be all and only those.
pub fn seeds(target: &str) -> impl Iterator<Item = Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let seeds: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!((8..=100).contains(&seeds.len()), "{} seeds of {target}", seeds.len());
    seeds.into_iter().map(|seed| {
        // Said if what it is fed to panics.
        println!("{}", seed.display());
        fs::read(&seed).unwrap()
    })
}
