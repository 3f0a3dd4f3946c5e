//! Readings, one per attempt at an operation, in preallocated memory.
//!
//! When room runs out, they are thinned: every second, fourth, eighth operation of each station is kept, and all
//! failures and retries. Each new reading replaces one dropped reading, so no station waits for a clean-up.

use lanlab_files::Class;

use super::slices::Slices;
use crate::measure::DistributionMeter;

/// Readings per line, so that their Base64 stays below the limit of a line.
pub const READINGS_A_LINE: usize = 16_384;
pub const ALWAYS: u8 = u8::MAX;
pub const READING_BYTES: usize = 40;

/// Outcome of an operation: an index into [`OUTCOMES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome(pub u8);

/// Names of outcomes. Append only: numbers must not change.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// Due time, ns.
    pub intended_ns: u64,
    /// Start time, ns.
    pub start_ns: u64,
    pub end_ns: u64,
    pub station: u32,
    pub block: u32,
    pub bytes: u32,
    pub is_write: bool,
    pub outcome: Outcome,
    /// Number of the attempt at the operation, from 0.
    pub attempt: u8,
    /// Thinning level up to which the reading is kept, one operation in 2^level; see [`level`].
    pub level: u8,
}

/// How often an operation's number, from 0, can be halved: it is kept up to this level of thinning.
pub fn level(operation: u64) -> u8 {
    operation.trailing_zeros() as u8
}

impl Reading {
    fn is_plain(&self) -> bool {
        self.is_ok() && self.attempt == 0
    }

    pub fn is_ok(&self) -> bool {
        self.outcome == Outcome::OK
    }

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

#[derive(Debug)]
pub struct Readings {
    all: Vec<Reading>,
    most: usize,
    /// Sums of all plain operations; absent if every reading fits.
    slices: Option<Slices>,
    thinned: u8,
    place: usize,
    dropped: Dropped,
}

#[derive(Debug, Default)]
pub struct Dropped {
    pub readings: u64,
    pub bytes: u64,
    pub response: DistributionMeter,
    /// End of the last plain operation, ns after the start.
    pub last_ns: u64,
}

impl Dropped {
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

pub struct KeptReadings {
    pub all: Vec<Reading>,
    pub thinned: u8,
    pub dropped: Dropped,
    pub slices: Option<Slices>,
}

impl KeptReadings {
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
    /// Room for `most` readings. The system provides pages on first use, which costs time between operations, not
    /// within them.
    pub fn new(most: usize, slices: Option<Slices>) -> Self {
        Self {
            all: Vec::with_capacity(most),
            most,
            slices,
            thinned: 0,
            place: 0,
            dropped: Dropped::default(),
        }
    }

    /// Store a reading with its operation's `level`; returns whether there is room for another.
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

    /// Replace a thinned-out reading, or drop the new one; false if nothing could be dropped.
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

pub fn lines(readings: &[Reading]) -> impl Iterator<Item = (u32, Vec<u8>)> {
    readings.chunks(READINGS_A_LINE).map(|part| {
        (part.len() as u32, part.iter().flat_map(|reading| reading.to_octets()).collect())
    })
}

#[cfg(test)]
mod tests;
