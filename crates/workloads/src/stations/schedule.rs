//! Next operation of a station and its time: no clock and no service here.

use crate::dataset::mix;
use crate::messages::{Arrivals, BlockAccess, StationOperation, StationsSpec};

/// The golden ratio in 64 bits.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// Maximum files per station on a service that moves whole files only.
const MOST_FILES: u64 = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    pub is_write: bool,
    pub block: u32,
    /// Due time after the start; `None` in a closed loop: once the station is free.
    pub due_ns: Option<u64>,
}

#[derive(Debug)]
pub struct Schedule {
    random: Random,
    /// Random numbers for gaps, separate so that operations do not depend on their times.
    gaps: Random,
    blocks: u32,
    next_block: u32,
    is_random: bool,
    read_ratio: f64,
    arrivals: Option<Due>,
}

#[derive(Debug)]
enum Due {
    /// The station's next arrival number, its position among all stations, and their gap.
    Fixed {
        next: u64,
        station: u64,
        stations: u64,
        gap_ns: f64,
    },
    Poisson {
        at_ns: f64,
        gap_ns: f64,
    },
}

impl Schedule {
    pub fn new(spec: &StationsSpec, station: u32, blocks: u32) -> Self {
        let key = mix(spec.seed ^ mix(u64::from(station).wrapping_add(STEP)));
        let stations = f64::from(spec.stations);
        let arrivals = spec.open_loop.map(|open| match open.arrivals {
            Arrivals::Fixed => Due::Fixed {
                next: 0,
                station: station.into(),
                stations: spec.stations.into(),
                gap_ns: 1e9 / open.rate_per_s,
            },
            Arrivals::Poisson => {
                Due::Poisson { at_ns: 0.0, gap_ns: 1e9 * stations / open.rate_per_s }
            }
        });
        Self {
            random: Random(key),
            gaps: Random(!key),
            blocks,
            next_block: 0,
            is_random: spec.access == BlockAccess::Random,
            read_ratio: match spec.operation {
                StationOperation::Read => 1.0,
                StationOperation::Write => 0.0,
                StationOperation::Mix => spec.read_ratio,
            },
            arrivals,
        }
    }

    pub fn next(&mut self) -> Turn {
        let block = if self.is_random {
            self.random.below(self.blocks)
        } else {
            let block = self.next_block;
            self.next_block = (block + 1) % self.blocks;
            block
        };
        let is_write = match self.read_ratio {
            1.0.. => false,
            ratio if ratio <= 0.0 => true,
            ratio => self.random.ratio() >= ratio,
        };
        let due_ns = self.arrivals.as_mut().map(|due| match due {
            Due::Fixed { next, station, stations, gap_ns } => {
                let number = *next * *stations + *station;
                *next += 1;
                (number as f64 * *gap_ns) as u64
            }
            Due::Poisson { at_ns, gap_ns } => {
                // Above 0, so its logarithm is finite.
                *at_ns -= (1.0 - self.gaps.ratio()).ln() * *gap_ns;
                *at_ns as u64
            }
        });
        Turn { is_write, block, due_ns }
    }

    /// Number of further operations due before a time, starting with `next`.
    pub fn due_before(mut self, end_ns: u64, next: Turn) -> u64 {
        let mut count = 0;
        let mut due_ns = next.due_ns;
        while due_ns.is_some_and(|due_ns| due_ns < end_ns) {
            count += 1;
            due_ns = self.next().due_ns;
        }
        count
    }
}

/// Blocks per station, or files on a service that moves whole ones only.
pub fn blocks(spec: &StationsSpec, whole_files: bool) -> u32 {
    let blocks = (spec.file_size_bytes / u64::from(spec.message_size_bytes)).max(1);
    (if whole_files { blocks.min(MOST_FILES) } else { blocks }) as u32
}

/// `SplitMix64` random numbers, as in datasets.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Uniform from 0 to below `end`, to within 2⁻³².
    fn below(&mut self, end: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u32
    }

    /// Uniform from 0 to below 1.
    fn ratio(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::example::spec;
    use super::*;
    use crate::messages::OpenLoop;

    fn turns(schedule: &mut Schedule, count: usize) -> Vec<Turn> {
        (0..count).map(|_| schedule.next()).collect()
    }

    #[test]
    fn sequential_blocks_wrap_around() {
        let mut schedule = Schedule::new(&spec(), 3, 4);
        let found: Vec<u32> = turns(&mut schedule, 10).iter().map(|turn| turn.block).collect();
        assert_eq!(found, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
    }

    #[test]
    fn random_blocks_are_uniform_and_the_read_share_is_kept() {
        let spec = StationsSpec {
            access: BlockAccess::Random,
            operation: StationOperation::Mix,
            read_ratio: 0.7,
            ..spec()
        };
        let found = turns(&mut Schedule::new(&spec, 0, 10), 100_000);
        let reads = found.iter().filter(|turn| !turn.is_write).count();
        // Six standard deviations of a binomial with n = 100,000, and p = 0.7 and 0.1.
        assert!((69_130..70_870).contains(&reads), "{reads}");
        for block in 0..10 {
            let count = found.iter().filter(|turn| turn.block == block).count();
            assert!((9_431..10_569).contains(&count), "{block}: {count}");
        }
        assert_eq!(found, turns(&mut Schedule::new(&spec, 0, 10), 100_000));
        assert_ne!(found, turns(&mut Schedule::new(&spec, 1, 10), 100_000));
    }

    /// Computed by a separate program that follows the description of `SplitMix64`.
    #[test]
    fn station_schedules_never_change_between_versions() {
        let spec = StationsSpec {
            access: BlockAccess::Random,
            open_loop: Some(OpenLoop { rate_per_s: 1000.0, arrivals: Arrivals::Poisson }),
            stations: 4,
            ..spec()
        };
        let found = turns(&mut Schedule::new(&spec, 3, 10), 8);
        let blocks: Vec<u32> = found.iter().map(|turn| turn.block).collect();
        assert_eq!(blocks, [1, 3, 3, 3, 8, 3, 9, 6]);
        let due: Vec<u64> = found.iter().take(4).filter_map(|turn| turn.due_ns).collect();
        assert_eq!(due, [158_260, 3_325_016, 9_216_074, 11_130_948]);
        let mix = StationsSpec { operation: StationOperation::Mix, read_ratio: 0.5, ..spec };
        let found = turns(&mut Schedule::new(&mix, 3, 10), 8);
        let found: Vec<(u32, bool)> =
            found.iter().map(|turn| (turn.block, turn.is_write)).collect();
        let (reads, writes) = ([1, 3, 8], [9, 9]);
        assert_eq!(found[..3], reads.map(|block| (block, false)));
        assert_eq!(found[3..5], writes.map(|block| (block, true)));
        assert_eq!(found[5..], [(4, false), (4, true), (2, false)]);
    }

    #[test]
    fn read_only_and_write_only_mixes_draw_no_random_number() {
        let turns_of = |read_ratio| {
            let (operation, access) = (StationOperation::Mix, BlockAccess::Random);
            let spec = StationsSpec { operation, access, read_ratio, ..spec() };
            turns(&mut Schedule::new(&spec, 3, 10), 8)
        };
        for (read_ratio, is_write) in [(1.0, false), (0.0, true)] {
            let found = turns_of(read_ratio);
            assert!(found.iter().all(|turn| turn.is_write == is_write));
            let blocks: Vec<u32> = found.iter().map(|turn| turn.block).collect();
            assert_eq!(blocks, [1, 3, 3, 3, 8, 3, 9, 6]);
        }
    }

    #[test]
    fn fixed_arrivals_of_all_stations_are_even() {
        let open_loop = Some(OpenLoop { rate_per_s: 1000.0, arrivals: Arrivals::Fixed });
        let spec = StationsSpec { stations: 4, open_loop, ..spec() };
        let mut due: Vec<u64> = (0..4)
            .flat_map(|station| turns(&mut Schedule::new(&spec, station, 1), 25))
            .filter_map(|turn| turn.due_ns)
            .collect();
        due.sort_unstable();
        let even: Vec<u64> = (0..100).map(|number| number * 1_000_000).collect();
        assert_eq!(due, even);
    }

    #[test]
    fn poisson_arrivals_have_the_right_mean_and_variance() {
        let open_loop = Some(OpenLoop { rate_per_s: 1000.0, arrivals: Arrivals::Poisson });
        let spec = StationsSpec { stations: 4, open_loop, ..spec() };
        let due: Vec<u64> = turns(&mut Schedule::new(&spec, 2, 1), 100_000)
            .iter()
            .filter_map(|turn| turn.due_ns)
            .collect();
        let gaps: Vec<f64> = due.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 4e6).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>();
        let sd = (squares / gaps.len() as f64).sqrt();
        // An exponential distribution has mean and deviation 1; both within six standard errors.
        assert!((mean - 1.0).abs() < 0.019 && (sd - 1.0).abs() < 0.027, "{mean} {sd}");
        // Memoryless: the share beyond one mean is 1/e.
        let beyond = gaps.iter().filter(|gap| **gap > 1.0).count() as f64 / gaps.len() as f64;
        assert!((beyond - (-1.0_f64).exp()).abs() < 0.01, "{beyond}");
    }

    #[test]
    fn due_operations_not_started_are_counted() {
        let open_loop = Some(OpenLoop { rate_per_s: 1000.0, arrivals: Arrivals::Fixed });
        let spec = StationsSpec { stations: 1, open_loop, ..spec() };
        let mut schedule = Schedule::new(&spec, 0, 1);
        turns(&mut schedule, 40);
        let next = schedule.next();
        assert_eq!(schedule.due_before(100_000_000, next), 60);
        // An operation due exactly at the end is not due before it.
        let mut schedule = Schedule::new(&spec, 0, 1);
        let next = schedule.next();
        assert_eq!(schedule.due_before(3_000_000, next), 3);
    }

    #[test]
    fn a_file_has_as_many_blocks_as_whole_messages_fit() {
        let spec = StationsSpec { file_size_bytes: 30_500, message_size_bytes: 750, ..spec() };
        assert_eq!((blocks(&spec, false), blocks(&spec, true)), (40, 8));
        let small = StationsSpec { file_size_bytes: 6000, message_size_bytes: 6000, ..spec };
        assert_eq!((blocks(&small, false), blocks(&small, true)), (1, 1));
    }
}
