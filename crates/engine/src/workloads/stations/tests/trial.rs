//! A whole trial against a hostile server, and the lines that its driver receives.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lanlab_os as os;
use lanlab_workloads::stations::readings::{OUTCOMES, READING_BYTES};
use lanlab_workloads::stations::slices::CELL_BYTES;
use parking_lot::Mutex;

use super::hostile_server::{Hostile, Malice, Memory};
use crate::messages::{Outcome, Stationed, StationsSpec, StationsUntil};
use crate::output::Output;
use crate::running::{Measured, Running};
use crate::workloads::stations::{prepare, trial as whole_trial};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(octets);
        Ok(octets.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub intended_ns: u64,
    pub start_ns: u64,
    pub end_ns: u64,
    pub station: u32,
    pub block: u32,
    pub bytes: u32,
    pub is_write: bool,
    pub outcome: &'static str,
    pub attempt: u8,
}

pub struct Trial {
    pub stationed: Stationed,
    pub readings: Vec<Reading>,
    pub summed: u64,
    pub code: Option<&'static str>,
    pub memory: Arc<Memory>,
}

/// Prepare and run a trial, under its own name in the memory shared by all tests.
pub fn trial(name: &str, malice: Malice, spec: StationsSpec) -> Trial {
    trial_until(name, malice, spec, None)
}

pub fn trial_until(
    name: &str,
    malice: Malice,
    mut spec: StationsSpec,
    cancel: Option<u64>,
) -> Trial {
    spec.service.directory = name.to_owned();
    let memory = Arc::<Memory>::default();
    let hostile = Hostile { target: spec.service.clone(), malice, memory: Arc::clone(&memory) };
    let work = |running: &Running| whole_trial::work_with(&spec, running, &hostile);
    run(&spec, cancel, memory, work)
}

pub fn plain_trial(spec: &StationsSpec) -> Trial {
    run(spec, None, Arc::default(), |running| whole_trial::work(spec, running))
}

/// A trial long enough for more than `least` operations, and its duration: on a busy machine,
/// stations may get no processor for a while.
pub fn timed_trial(name: &str, spec: &StationsSpec, least: u64) -> (u64, Trial) {
    for time_ns in [100_000_000, 1_000_000_000, 10_000_000_000, 60_000_000_000] {
        let until = StationsUntil { time_ns: Some(time_ns), ..StationsUntil::default() };
        let spec = StationsSpec { until, ..spec.clone() };
        let trial = trial(&format!("{name} {time_ns}"), Malice::None, spec);
        if trial.stationed.readings > least {
            return (time_ns, trial);
        }
    }
    panic!("{least} operations took a minute");
}

pub fn cancelled_at_once(name: &str, malice: Malice, mut spec: StationsSpec) -> Measured {
    spec.service.directory = name.to_owned();
    let running = Running::new(1, Output::new(std::io::sink()));
    let memory = Arc::<Memory>::default();
    let hostile = Hostile { target: spec.service.clone(), malice, memory: Arc::clone(&memory) };
    thread::scope(|scope| {
        let working = scope.spawn(|| whole_trial::work_with(&spec, &running, &hostile));
        while memory.connects.load(Ordering::Relaxed) == 0 && !working.is_finished() {
            thread::sleep(Duration::from_millis(2));
        }
        running.cancel();
        working.join().unwrap()
    })
}

fn run(
    spec: &StationsSpec,
    cancel: Option<u64>,
    memory: Arc<Memory>,
    work: impl FnOnce(&Running) -> Measured + Send,
) -> Trial {
    let lines = Lines::default();
    let running = Running::new(1, Output::new(lines.clone()));
    assert!(prepare(spec, &running).is_ok());
    let measured: Measured = thread::scope(|scope| {
        let working = scope.spawn(|| work(&running));
        let deadline = os::monotonic().plus_nanos(20_000_000_000);
        while !working.is_finished() && os::monotonic() < deadline {
            let now = os::monotonic();
            if running.arm(now.plus_nanos(20_000_000), now, 0).is_ok() {
                break;
            }
            // The work does not signal that it is ready to be armed.
            thread::sleep(Duration::from_millis(2));
        }
        if let Some(calls) = cancel {
            while memory.calls.load(Ordering::Relaxed) < calls && !working.is_finished() {
                thread::sleep(Duration::from_millis(2));
            }
            running.cancel();
        }
        working.join().unwrap()
    });
    let (outcome, code) = match measured {
        Ok(outcome) => (Some(outcome), None),
        Err(failed) => (failed.outcome, Some(failed.failure.code)),
    };
    let Some(Outcome::Stationed(stationed)) = outcome else { panic!("{code:?}") };
    let (readings, summed) = {
        let lines = lines.0.lock();
        (readings(&lines), summed(&lines))
    };
    let kept = stationed.thinned.map_or(stationed.readings, |thinned| thinned.kept);
    assert_eq!(readings.len() as u64, kept);
    Trial { stationed: *stationed, readings, summed, code, memory }
}

fn readings(lines: &[u8]) -> Vec<Reading> {
    let mut found = Vec::new();
    for line in lines.split(|octet| *octet == b'\n').filter(|line| !line.is_empty()) {
        let line: serde_json::Value = serde_json::from_slice(line).unwrap();
        if line["type"] != "station_readings" {
            continue;
        }
        let octets = BASE64_STANDARD.decode(line["octets"].as_str().unwrap()).unwrap();
        assert_eq!(octets.len() as u64, line["readings"].as_u64().unwrap() * 40);
        for reading in octets.chunks_exact(READING_BYTES) {
            let long = |at: usize| u64::from_le_bytes(reading[at..at + 8].try_into().unwrap());
            let short = |at: usize| u32::from_le_bytes(reading[at..at + 4].try_into().unwrap());
            found.push(Reading {
                intended_ns: long(0),
                start_ns: long(8),
                end_ns: long(16),
                station: short(24),
                block: short(28),
                bytes: short(32),
                is_write: reading[36] == 1,
                outcome: OUTCOMES[usize::from(reading[37])],
                attempt: reading[38],
            });
        }
    }
    found.sort_by_key(|reading| reading.start_ns);
    found
}

fn summed(lines: &[u8]) -> u64 {
    let mut operations = 0;
    for line in lines.split(|octet| *octet == b'\n').filter(|line| !line.is_empty()) {
        let line: serde_json::Value = serde_json::from_slice(line).unwrap();
        if line["type"] == "station_slices" {
            let octets = BASE64_STANDARD.decode(line["octets"].as_str().unwrap()).unwrap();
            assert_eq!(octets.len() as u64, line["slices"].as_u64().unwrap() * 48);
            let of = |cell: &[u8]| u64::from_le_bytes(cell[8..16].try_into().unwrap());
            operations += octets.chunks_exact(CELL_BYTES).map(of).sum::<u64>();
        }
    }
    operations
}
