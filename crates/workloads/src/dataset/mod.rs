//! Datasets: number, sizes and content of files.

mod content;
mod sizes;

use crate::messages::DatasetSpec;

pub use content::{Content, first_difference, mix};
pub use sizes::{MOST_FILES, sizes};

pub fn file_name(number: u64) -> String {
    format!("f{number:06}.dat")
}

pub fn content(spec: &DatasetSpec, number: u64) -> Content {
    Content::new(spec.seed, number, spec.compressible_ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_and_content_of_a_file_follow_from_its_number() {
        assert_eq!(file_name(42), "f000042.dat");
        let groups = Vec::new();
        let spec = DatasetSpec { seed: 5, groups, compressible_ratio: 0.25 };
        let (mut found, mut expected) = ([0; 4096], [0; 4096]);
        content(&spec, 3).fill(0, &mut found);
        Content::new(5, 3, 0.25).fill(0, &mut expected);
        assert_eq!(found, expected);
    }
}
