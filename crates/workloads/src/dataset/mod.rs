//! Datasets: which files there are, how large each is and what is in it.

mod content;
mod sizes;

use crate::messages::DatasetSpec;

pub use content::{Content, first_difference, mix};
pub use sizes::{MOST_FILES, sizes};

/// The name of a file of a dataset, the same at this host and at a service.
pub fn file_name(number: u64) -> String {
    format!("f{number:06}.dat")
}

/// The content of a file of a dataset.
pub fn content(spec: &DatasetSpec, number: u64) -> Content {
    Content::new(spec.seed, number, spec.compressible_ratio)
}
