//! Readings: one for each attempt at an operation, kept in memory that is there from the beginning.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lanlab_services::Class;

/// Readings in one line: their octets in Base64 stay below the bound of a line.
pub const READINGS_A_LINE: usize = 16_384;
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
}

impl Reading {
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
        octets[36..].copy_from_slice(&[u8::from(self.is_write), self.outcome.0, self.attempt, 0]);
        octets
    }
}

/// The readings of a thread's stations, in the order of their ends.
#[derive(Debug)]
pub struct Readings {
    all: Vec<Reading>,
    most: usize,
}

impl Readings {
    /// Room for so many. It is taken from the system page by page as it is first used, which costs
    /// time after an operation and none of an operation.
    pub fn new(most: usize) -> Self {
        Self { all: Vec::with_capacity(most), most }
    }

    /// Keep a reading; whether there is room for another.
    pub fn push(&mut self, reading: Reading) -> bool {
        if self.all.len() < self.most {
            self.all.push(reading);
        }
        self.all.len() < self.most
    }

    pub fn into_all(self) -> Vec<Reading> {
        self.all
    }
}

/// Readings as the octets of lines.
pub fn lines(readings: &[Reading]) -> impl Iterator<Item = (u32, String)> {
    readings.chunks(READINGS_A_LINE).map(|part| {
        let octets: Vec<u8> = part.iter().flat_map(|reading| reading.to_octets()).collect();
        (part.len() as u32, BASE64_STANDARD.encode(octets))
    })
}

#[cfg(test)]
mod tests {
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
    };

    #[test]
    fn a_reading_is_forty_octets_here_and_in_a_line() {
        assert_eq!(size_of::<Reading>(), READING_BYTES);
        let octets = READING.to_octets();
        assert_eq!(octets[..8], [8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!(octets[24..36], [0x0f, 0x27, 0, 0, 0x24, 0x23, 0x22, 0x21, 0xee, 2, 0, 0]);
        assert_eq!(octets[36..], [1, 6, 3, 0]);
    }

    #[test]
    fn a_line_of_readings_is_within_its_bound() {
        let readings = vec![READING; READINGS_A_LINE + 1];
        let lines: Vec<_> = lines(&readings).collect();
        assert_eq!(lines.iter().map(|(count, _)| *count).collect::<Vec<_>>(), [16_384, 1]);
        for (readings, octets) in lines {
            let reply = Reply::StationReadings(StationReadings { id: u64::MAX, readings, octets });
            let text = serde_json::to_vec(&reply).unwrap();
            assert!(text.len() < MAX_REPLY_BYTES, "{} bytes", text.len());
        }
    }

    #[test]
    fn what_has_no_room_is_not_kept() {
        let mut readings = Readings::new(2);
        assert!(readings.push(READING));
        assert!(!readings.push(READING));
        assert!(!readings.push(READING));
        assert_eq!(readings.into_all().len(), 2);
    }

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
