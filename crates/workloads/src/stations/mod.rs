//! `stations`: many clients of a file service, each with its own connection and file, that read or write blocks in
//! a closed loop or on a schedule.
//!
//! Every attempt at an operation is a reading; an error is a result, not an end.

mod context;
#[cfg(test)]
#[path = "../../tests/support/stations_spec.rs"]
mod example;
mod interval;
mod job;
pub mod pattern;
pub mod readings;
mod schedule;
mod simulation;
pub mod slices;
mod station;
mod totals;
mod watch;

use crate::messages::StationsSpec;

pub use context::{Connector, Context, Counts};
pub use job::{Job, ThreadTotals, paths};
pub use readings::{KeptReadings, Readings};
pub use schedule::blocks;
pub use simulation::simulate;
pub use slices::Slices;
pub use station::Station;
pub use totals::{Times, Worked, joined};
pub use watch::Watch;

pub fn room(spec: &StationsSpec) -> u32 {
    match spec.until.readings_per_station {
        Some(readings) => readings.saturating_mul(spec.own.count).min(spec.most_readings),
        None => spec.most_readings,
    }
}

pub fn may_be_thinned(spec: &StationsSpec) -> bool {
    let all = |readings: u32| u64::from(readings) * u64::from(spec.own.count);
    spec.until.readings_per_station.is_none_or(|each| all(each) > spec.most_readings.into())
}

#[cfg(test)]
mod tests;
