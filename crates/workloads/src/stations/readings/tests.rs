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
fn a_reading_takes_forty_bytes_in_memory_and_in_messages() {
    assert_eq!(size_of::<Reading>(), READING_BYTES);
    let octets = READING.to_octets();
    assert_eq!(octets[..8], [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(octets[8..16], [0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11]);
    assert_eq!(octets[16..24], [0xff; 8]);
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
fn readings_without_room_are_not_kept() {
    let mut readings = Readings::new(2, None);
    assert!(readings.push(READING));
    assert!(!readings.push(READING));
    assert!(!readings.push(READING));
    assert_eq!(readings.into_kept().all.len(), 2);
}

/// Operation `number` of a station, which takes `1000 + number` ns.
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
fn excess_readings_are_thinned_and_sums_stay_complete() {
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
    // 20,000 readings in room for 1,000: one of 32 is kept, and all failures.
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
    assert_eq!(kept.dropped.bytes, 750 * kept.dropped.readings);
    // The very last one is not a 32nd.
    assert_eq!(kept.dropped.last_ns, 999_900_000 + 10_999);
    let mut response = kept.dropped.response;
    for reading in kept.all.iter().filter(|reading| reading.is_ok()) {
        response.record(reading.response_ns().cast_signed());
    }
    let response = response.finish();
    assert_eq!((response.samples, response.min_ns, response.max_ns), (20_000, 1000, 10_999));
    assert_eq!(response.mean_ns, 1000 + 4999);
}

#[test]
fn failed_readings_are_never_dropped_and_end_a_full_trial() {
    let mut readings = Readings::new(3, Some(Slices::new(0, 1, 1, None)));
    let kept: Vec<bool> = (0..5).map(|_| readings.push(READING_THAT_FAILED)).collect();
    assert_eq!(kept, [true, true, true, false, false]);
    assert_eq!(readings.into_kept().dropped.readings, 0);
}

const READING_THAT_FAILED: Reading = Reading { end_ns: 0x1112_1314_1516_1719, ..READING };

#[test]
fn the_thinning_level_is_the_power_of_two_in_a_number() {
    assert_eq!([1, 2, 3, 4, 12, 1 << 40].map(level), [0, 1, 0, 2, 2, 40]);
}

#[test]
fn one_operation_may_thin_by_more_than_one_level() {
    let mut readings = Readings::new(1, Some(Slices::new(0, 1, 1, None)));
    assert!(readings.push(plain(0, 0)));
    // Number 4 can be halved twice, number 0 for ever.
    assert!(readings.push(plain(0, 4)));
    let kept = readings.into_kept();
    assert_eq!((kept.thinned, kept.all[0].level, kept.dropped.readings), (3, 64, 1));
}

#[test]
fn retried_readings_are_always_kept() {
    let mut readings = Readings::new(2, Some(Slices::new(0, 1, 1, None)));
    readings.push(Reading { attempt: 1, ..plain(0, 1) });
    for number in 1..4 {
        readings.push(plain(0, number));
    }
    let kept = readings.into_kept();
    // Number 2 is the only plain one that can be halved.
    let found: Vec<_> = kept.all.iter().map(|one| (one.attempt, one.level)).collect();
    assert_eq!((found, kept.thinned), (vec![(1, ALWAYS), (0, 1)], 1));
    assert_eq!((kept.dropped.readings, kept.slices.unwrap().operations()), (2, 3));
}

#[test]
fn dropped_readings_of_threads_add_up() {
    let (mut one, mut other) = (Dropped::default(), Dropped::default());
    one.take(&Reading { bytes: 10, ..plain(0, 7) });
    other.take(&Reading { bytes: 20, ..plain(0, 3) });
    other.take(&Reading { bytes: 30, ..plain(0, 4) });
    one.add(&other);
    assert_eq!((one.readings, one.bytes, one.last_ns), (3, 60, 701_007));
    assert_eq!((one.response.samples(), one.response.finish().max_ns), (3, 1_007));
}

#[test]
fn outcomes_have_the_names_of_results() {
    let names = [Class::TimedOut, Class::Length, Class::Protocol, Class::Local, Class::Unreachable]
        .map(|class| Outcome::of(class).name());
    assert_eq!(names, ["timed_out", "short_transfer", "protocol_error", "local", "unreachable"]);
    assert_eq!([Outcome::OK.name(), Outcome::WRONG_DATA.name()], ["ok", "wrong_data"]);
}

#[test]
fn every_class_has_its_own_outcome() {
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
