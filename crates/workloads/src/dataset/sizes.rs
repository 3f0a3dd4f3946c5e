//! File sizes of a dataset, computed in integers so that they are the same on every system.

use super::content::mix;
use crate::messages::{DatasetSpec, Failure, FileGroup};

pub const MOST_FILES: usize = 100_000;
/// Largest file: 16 TiB, the limit of common file systems.
const MOST_FILE_BYTES: u64 = 1 << 44;
const MOST_BYTES: u128 = 1 << 50;
const UNIT: u64 = 1 << 32;

pub fn sizes(spec: &DatasetSpec) -> Result<Vec<u64>, Failure> {
    if !(0.0..=1.0).contains(&spec.compressible_ratio) {
        let found = spec.compressible_ratio;
        return Err(Failure::value("compressible_ratio", found, "0 to 1"));
    }
    let count: u64 = spec.groups.iter().map(|group| u64::from(group.count)).sum();
    if spec.groups.len() > MOST_FILES || !(1..=MOST_FILES as u64).contains(&count) {
        return Err(Failure::value(
            "groups",
            format!("{count} files"),
            format!("1 to {MOST_FILES}"),
        ));
    }
    let mut sizes = Vec::with_capacity(count as usize);
    for (place, group) in spec.groups.iter().enumerate() {
        add_group(spec.seed, place as u64, group, &mut sizes)?;
    }
    let total: u128 = sizes.iter().copied().map(u128::from).sum();
    if total > MOST_BYTES {
        return Err(Failure::value("groups", format!("{total} octets"), format!("{MOST_BYTES}")));
    }
    Ok(sizes)
}

fn add_group(
    seed: u64,
    place: u64,
    group: &FileGroup,
    sizes: &mut Vec<u64>,
) -> Result<(), Failure> {
    let (least, most) = (group.least_bytes, group.most_bytes);
    if least > most || most > MOST_FILE_BYTES || (least == 0 && most > 0) {
        return Err(Failure::value(
            "groups",
            format!("sizes from {least} to {most}"),
            format!("from 1, or both 0, to {MOST_FILE_BYTES}"),
        ));
    }
    let first = sizes.len();
    for number in 0..u64::from(group.count) {
        let drawn = mix(mix(seed ^ place.wrapping_mul(0xa076_1d64_78bd_642f)).wrapping_add(number));
        sizes.push(draw(least, most, drawn));
    }
    match group.total_bytes {
        None => Ok(()),
        Some(total) => move_to(&mut sizes[first..], total),
    }
}

/// A log-uniform size between `least` and `most`: choose an octave by its width, then a size within it uniformly.
fn draw(least: u64, most: u64, drawn: u64) -> u64 {
    if least == most {
        return least;
    }
    let weight = |from: u64| {
        let width = u128::from(most.min(from.saturating_mul(2)) - from);
        (width * u128::from(UNIT) / u128::from(from)) as u64
    };
    let octaves = || {
        std::iter::successors(Some(least), |from| from.checked_mul(2))
            .take_while(|from| *from < most)
    };
    let all: u64 = octaves().map(weight).sum();
    let mut chosen = ((u128::from(drawn) * u128::from(all)) >> 64) as u64;
    for from in octaves() {
        let weight = weight(from);
        if chosen < weight {
            return from + (u128::from(from) * u128::from(chosen) / u128::from(UNIT)) as u64;
        }
        chosen -= weight;
    }
    most
}

/// Scale sizes until their sum is `total`.
fn move_to(sizes: &mut [u64], total: u64) -> Result<(), Failure> {
    let sum: u128 = sizes.iter().copied().map(u128::from).sum();
    if sum == 0 {
        return Err(Failure::value("total_bytes", total, "none for files without content"));
    }
    if u128::from(total) > MOST_BYTES {
        return Err(Failure::value("total_bytes", total, MOST_BYTES));
    }
    for size in sizes.iter_mut() {
        *size = (u128::from(*size) * u128::from(total) / sum) as u64;
    }
    let missing = total - sizes.iter().sum::<u64>();
    // Rounding lost less than one byte per file.
    for size in sizes.iter_mut().take(missing as usize) {
        *size += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(count: u32, least_bytes: u64, most_bytes: u64, total_bytes: Option<u64>) -> FileGroup {
        FileGroup { count, least_bytes, most_bytes, total_bytes }
    }

    fn spec(groups: Vec<FileGroup>) -> DatasetSpec {
        DatasetSpec { seed: 5, groups, compressible_ratio: 0.0 }
    }

    #[test]
    fn size_groups_follow_in_order() {
        let spec = spec(vec![group(1, 623, 623, None), group(2, 0, 0, None)]);
        assert_eq!(sizes(&spec).unwrap(), [623, 0, 0]);
    }

    #[test]
    fn a_total_is_met_to_the_byte() {
        let found = sizes(&spec(vec![group(198, 10_000, 20_000_000, Some(472_000_000))])).unwrap();
        assert_eq!((found.len(), found.iter().sum::<u64>()), (198, 472_000_000));
    }

    #[test]
    fn sizes_never_change_between_versions() {
        let groups = vec![group(4, 1_000, 5_000, None), group(5, 1, 100, None)];
        let found = sizes(&spec(groups)).unwrap();
        assert_eq!(found, [4_156, 2_375, 2_890, 1_482, 1, 3, 1, 12, 50]);
        // Proportional; rounding loses three bytes, which the first three files get.
        let groups = vec![group(4, 1_000, 5_000, None), group(5, 1, 100, Some(1_001))];
        assert_eq!(sizes(&spec(groups)).unwrap()[4..], [15, 45, 15, 179, 747]);
    }

    #[test]
    fn bounds_are_inclusive_and_values_beyond_are_refused() {
        let is_allowed = |groups| sizes(&spec(groups)).is_ok();
        let bounds = [
            (vec![group(100_000, 1, 1, None)], vec![group(100_001, 1, 1, None)]),
            (vec![group(1, 1, 1 << 44, None)], vec![group(1, 1, (1 << 44) + 1, None)]),
            (vec![group(64, 1 << 44, 1 << 44, None)], vec![group(65, 1 << 44, 1 << 44, None)]),
            (vec![group(1, 1, 1, Some(1 << 50))], vec![group(1, 1, 1, Some((1 << 50) + 1))]),
            (vec![group(1, 0, 0, None)], vec![group(1, 0, 1, None)]),
            (vec![group(1, 7, 7, None)], vec![group(1, 8, 7, None)]),
            (vec![group(1, 1, 1, None), group(0, 1, 1, None)], vec![group(0, 1, 1, None)]),
        ];
        for (allowed, beyond) in bounds {
            assert!(is_allowed(allowed.clone()), "{allowed:?}");
            assert!(!is_allowed(beyond.clone()), "{beyond:?}");
        }
        let with_ratio = |compressible_ratio| {
            sizes(&DatasetSpec { compressible_ratio, ..spec(vec![group(1, 1, 1, None)]) }).is_ok()
        };
        assert_eq!([-0.01, 0.0, 1.0, 1.01].map(with_ratio), [false, true, true, false]);
    }

    #[test]
    fn each_doubling_is_as_likely_as_any_other() {
        let found = sizes(&spec(vec![group(80_000, 1 << 10, 1 << 18, None)])).unwrap();
        for octave in 10..18 {
            let within = (1 << octave)..(1 << (octave + 1));
            let count = found.iter().filter(|size| within.contains(*size)).count();
            assert!((9_500..10_500).contains(&count), "octave {octave}: {count}");
        }
        assert!(found.iter().all(|size| (1 << 10..=1 << 18).contains(size)));
    }

    #[test]
    fn impossible_sizes_are_refused() {
        let none = spec(vec![]);
        let many = spec(vec![group(60_000, 1, 1, None), group(40_001, 1, 1, None)]);
        let upside_down = spec(vec![group(1, 2, 1, None)]);
        let huge = spec(vec![group(1, 1, 1 << 45, None)]);
        let nothing = spec(vec![group(3, 0, 0, Some(5))]);
        let mut ratio = spec(vec![group(1, 1, 1, None)]);
        ratio.compressible_ratio = f64::NAN;
        for wrong in [none, many, upside_down, huge, nothing, ratio] {
            assert_eq!(sizes(&wrong).unwrap_err().code, "request.value", "{wrong:?}");
        }
    }
}
