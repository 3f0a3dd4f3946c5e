//! Readings: one for each attempt at an operation, kept in memory that is there from the beginning.
//!
//! Where there are more than there is room for, they are thinned: of each station every second, fourth,
//! eighth operation and so on stays, and whatever was no first attempt that went well. What is dropped
//! makes room for the next one, so that no station ever waits for more than one reading to be kept.

use lanlab_files::Class;

use super::slices::Slices;
use crate::measure::DistributionMeter;

/// Readings in one line: their octets in Base64 stay below the bound of a line.
pub const READINGS_A_LINE: usize = 16_384;
/// Of a reading that is kept, however much others are thinned.
pub const ALWAYS: u8 = u8::MAX;
/// Octets of a reading, in memory and in a line.
pub const READING_BYTES: usize = 40;

/// How an operation went: the place of its name in [`OUTCOMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome(pub u8);

/// Names of outcomes. What is appended has a new number; none changes its own.
pub const OUTCOMES: [&str; 17] = [
    "ok",
    "timed_out",
    "reset",
    "refused",
    "protocol_error",
    "short_transfer",
    "wrong_data",
    "unreachable",
    "login",
    "certificate",
    "missing",
    "exists",
    "denied",
    "no_space",
    "name",
    "unsupported",
    "local",
];

impl Outcome {
    pub const OK: Self = Self(0);
    pub const WRONG_DATA: Self = Self(6);

    /// Of a fault.
    pub fn of(class: Class) -> Self {
        Self(match class {
            Class::TimedOut => 1,
            Class::Reset => 2,
            Class::Refused => 3,
            Class::Protocol => 4,
            Class::Length => 5,
            Class::Unreachable => 7,
            Class::Login => 8,
            Class::Certificate => 9,
            Class::Missing => 10,
            Class::Exists => 11,
            Class::Denied => 12,
            Class::NoSpace => 13,
            Class::Name => 14,
            Class::Unsupported => 15,
            Class::Local => 16,
        })
    }

    pub fn name(self) -> &'static str {
        OUTCOMES[usize::from(self.0)]
    }
}

/// One attempt at an operation; times from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    pub intended_ns: u64,
    pub start_ns: u64,
    pub end_ns: u64,
    pub station: u32,
    pub block: u32,
    pub bytes: u32,
    pub is_write: bool,
    pub outcome: Outcome,
    pub attempt: u8,
    /// It stays where of each station one of two to the power of this is kept; see [`level`].
    pub level: u8,
}

/// How often the number of an operation, from 0, can be halved: of so much thinning it is kept.
pub fn level(operation: u64) -> u8 {
    operation.trailing_zeros() as u8
}

impl Reading {
    /// Whether it is counted in slices: the first attempt, and well. Others are always kept.
    fn is_plain(&self) -> bool {
        self.is_ok() && self.attempt == 0
    }

    pub fn is_ok(&self) -> bool {
        self.outcome == Outcome::OK
    }

    /// From when it should have begun to its end.
    pub fn response_ns(&self) -> u64 {
        self.end_ns - self.intended_ns
    }

    fn to_octets(self) -> [u8; READING_BYTES] {
        let mut octets = [0; READING_BYTES];
        let times = [self.intended_ns, self.start_ns, self.end_ns];
        for (place, time_ns) in octets.chunks_exact_mut(8).zip(times) {
            place.copy_from_slice(&time_ns.to_le_bytes());
        }
        let numbers = [self.station, self.block, self.bytes];
        for (place, number) in octets[24..36].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        octets[36..].copy_from_slice(&[
            u8::from(self.is_write),
            self.outcome.0,
            self.attempt,
            self.level,
        ]);
        octets
    }
}

/// The readings of a thread's stations.
#[derive(Debug)]
pub struct Readings {
    all: Vec<Reading>,
    most: usize,
    /// Sums of all that are plain; absent where there is room for every reading.
    slices: Option<Slices>,
    /// One of two to the power of this is kept.
    thinned: u8,
    /// Before this place nothing is left to be dropped.
    place: usize,
    dropped: Dropped,
}

/// What was not kept, in sum.
#[derive(Debug)]
pub struct Dropped {
    pub readings: u64,
    pub bytes: u64,
    pub response: DistributionMeter,
    pub last_ns: u64,
}

impl Dropped {
    pub fn new() -> Self {
        Self { readings: 0, bytes: 0, response: DistributionMeter::new(), last_ns: 0 }
    }

    fn take(&mut self, reading: &Reading) {
        self.readings += 1;
        self.bytes += u64::from(reading.bytes);
        self.response.record(reading.response_ns().cast_signed());
        self.last_ns = self.last_ns.max(reading.end_ns);
    }

    pub fn add(&mut self, other: &Self) {
        self.readings += other.readings;
        self.bytes += other.bytes;
        self.response.add(&other.response);
        self.last_ns = self.last_ns.max(other.last_ns);
    }
}

/// What a thread has of its readings in the end.
pub struct KeptReadings {
    pub all: Vec<Reading>,
    pub thinned: u8,
    pub dropped: Dropped,
    pub slices: Option<Slices>,
}

impl KeptReadings {
    /// Thin further, to what another thread has.
    pub fn thin_to(&mut self, thinned: u8) {
        self.thinned = self.thinned.max(thinned);
        let (least, dropped) = (self.thinned, &mut self.dropped);
        self.all.retain(|reading| {
            let stays = reading.level >= least;
            if !stays {
                dropped.take(reading);
            }
            stays
        });
    }
}

impl Readings {
    /// Room for so many. It is taken from the system page by page as it is first used, which costs
    /// time after an operation and none of an operation.
    pub fn new(most: usize, slices: Option<Slices>) -> Self {
        Self {
            all: Vec::with_capacity(most),
            most,
            slices,
            thinned: 0,
            place: 0,
            dropped: Dropped::new(),
        }
    }

    /// Take in a reading, of which `level` is to be that of its operation; whether there is room for
    /// another.
    pub fn push(&mut self, mut reading: Reading) -> bool {
        if !reading.is_plain() {
            reading.level = ALWAYS;
        } else if let Some(slices) = &mut self.slices {
            slices.record(reading.station, reading.end_ns, reading.response_ns());
        }
        if self.all.len() < self.most {
            self.all.push(reading);
            return self.slices.is_some() || self.all.len() < self.most;
        }
        self.slices.is_some() && self.replace(reading)
    }

    /// Keep a reading in the place of one that is thinned out, or drop it; false if there was nothing
    /// to be dropped.
    fn replace(&mut self, reading: Reading) -> bool {
        let mut begun_anew = false;
        while reading.level >= self.thinned {
            let left = self.all[self.place..].iter().position(|old| old.level < self.thinned);
            if let Some(further) = left {
                self.place += further;
                let old = std::mem::replace(&mut self.all[self.place], reading);
                self.dropped.take(&old);
                self.place += 1;
                return true;
            }
            if self.thinned >= 64 && begun_anew {
                return false;
            }
            begun_anew = true;
            self.thinned = (self.thinned + 1).min(65);
            self.place = 0;
        }
        self.dropped.take(&reading);
        true
    }

    pub fn into_kept(self) -> KeptReadings {
        let Self { all, slices, thinned, dropped, .. } = self;
        KeptReadings { all, thinned, dropped, slices }
    }
}

/// Readings as the bytes of lines, each with how many readings are in it.
pub fn lines(readings: &[Reading]) -> impl Iterator<Item = (u32, Vec<u8>)> {
    readings.chunks(READINGS_A_LINE).map(|part| {
        (part.len() as u32, part.iter().flat_map(|reading| reading.to_octets()).collect())
    })
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;

    use super::*;
    use crate::messages::{MAX_REPLY_BYTES, Reply, StationReadings};

    const READING: Reading = Reading {
        intended_ns: 0x0102_0304_0506_0708,
        start_ns: 0x1112_1314_1516_1718,
        end_ns: u64::MAX,
        station: 9_999,
        block: 0x2122_2324,
        bytes: 750,
        is_write: true,
        outcome: Outcome::WRONG_DATA,
        attempt: 3,
        level: 5,
    };

    #[test]
    fn a_reading_is_forty_octets_here_and_in_a_line() {
        assert_eq!(size_of::<Reading>(), READING_BYTES);
        let octets = READING.to_octets();
        assert_eq!(octets[..8], [8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(octets[24..36], [0x0f, 0x27, 0, 0, 0x24, 0x23, 0x22, 0x21, 0xee, 2, 0, 0]);
        assert_eq!(octets[36..], [1, 6, 3, 5]);
    }

    #[test]
    fn a_line_of_readings_is_within_its_bound() {
        let readings = vec![READING; READINGS_A_LINE + 1];
        let lines: Vec<_> = lines(&readings).collect();
        assert_eq!(lines.iter().map(|(count, _)| *count).collect::<Vec<_>>(), [16_384, 1]);
        for (readings, octets) in lines {
            let octets = BASE64_STANDARD.encode(octets);
            let reply = Reply::StationReadings(StationReadings { id: u64::MAX, readings, octets });
            let text = serde_json::to_vec(&reply).unwrap();
            assert!(text.len() < MAX_REPLY_BYTES, "{} bytes", text.len());
        }
    }

    #[test]
    fn what_has_no_room_is_not_kept() {
        let mut readings = Readings::new(2, None);
        assert!(readings.push(READING));
        assert!(!readings.push(READING));
        assert!(!readings.push(READING));
        assert_eq!(readings.into_kept().all.len(), 2);
    }

    /// Operation `number` of a station, as it takes `1000 + number` ns.
    fn plain(station: u32, number: u64) -> Reading {
        let start_ns = 100_000 * number;
        Reading {
            intended_ns: start_ns,
            start_ns,
            end_ns: start_ns + 1000 + number,
            station,
            outcome: Outcome::OK,
            attempt: 0,
            level: level(number),
            ..READING
        }
    }

    #[test]
    fn of_more_than_there_is_room_for_every_few_are_kept_and_nothing_is_lost_from_the_sums() {
        let mut readings = Readings::new(1000, Some(Slices::new(0, 1, 2, None)));
        for number in 0..10_000 {
            assert!(readings.push(plain(0, number)) && readings.push(plain(1, number)));
            if number % 1000 == 7 {
                assert!(readings.push(READING_THAT_FAILED));
            }
        }
        let mut kept = readings.into_kept();
        assert!(kept.all.len() <= 1000, "{}", kept.all.len());
        let least = kept.thinned;
        kept.thin_to(least);
        // 20,000 in room for 1,000: one of 32, and all that failed.
        assert_eq!(least, 5);
        let of_one: Vec<u64> = kept
            .all
            .iter()
            .filter(|reading| reading.station == 0 && reading.is_plain())
            .map(|reading| reading.start_ns / 100_000)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect();
        assert_eq!(of_one, (0..10_000).step_by(32).collect::<Vec<_>>());
        let failed = kept.all.iter().filter(|reading| !reading.is_plain()).count();
        assert_eq!(failed, 10);
        assert_eq!(kept.dropped.readings + kept.all.len() as u64, 20_010);
        assert_eq!(kept.slices.unwrap().operations(), 20_000);
        let mut response = kept.dropped.response;
        for reading in kept.all.iter().filter(|reading| reading.is_ok()) {
            response.record(reading.response_ns().cast_signed());
        }
        let response = response.finish();
        assert_eq!((response.samples, response.min_ns, response.max_ns), (20_000, 1000, 10_999));
        assert_eq!(response.mean_ns, 1000 + 4999);
    }

    #[test]
    fn what_failed_is_never_dropped_and_ends_the_trial_where_it_fills_the_room() {
        let mut readings = Readings::new(3, Some(Slices::new(0, 1, 1, None)));
        let kept: Vec<bool> = (0..5).map(|_| readings.push(READING_THAT_FAILED)).collect();
        assert_eq!(kept, [true, true, true, false, false]);
        assert_eq!(readings.into_kept().dropped.readings, 0);
    }

    const READING_THAT_FAILED: Reading = Reading { end_ns: 0x1112_1314_1516_1719, ..READING };

    #[test]
    fn every_class_has_an_outcome_of_its_own() {
        let classes = [
            Class::Refused,
            Class::Unreachable,
            Class::TimedOut,
            Class::Reset,
            Class::Login,
            Class::Certificate,
            Class::Missing,
            Class::Exists,
            Class::Denied,
            Class::NoSpace,
            Class::Name,
            Class::Unsupported,
            Class::Length,
            Class::Protocol,
            Class::Local,
        ];
        let outcomes: std::collections::BTreeSet<_> =
            classes.iter().map(|class| Outcome::of(*class)).collect();
        assert_eq!(outcomes.len(), classes.len());
        assert!(!outcomes.contains(&Outcome::OK) && !outcomes.contains(&Outcome::WRONG_DATA));
    }
}
