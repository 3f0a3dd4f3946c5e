//! State shared by all stations of a trial: work, stop flag and progress.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use lanlab_files::ServicePath;

use super::pattern::Pattern;
use crate::messages::{Failure, StationOperation, StationsEnd, StationsSpec};

const STOPS: [StationsEnd; 3] = [StationsEnd::Interval, StationsEnd::Full, StationsEnd::Cancelled];

#[derive(Debug)]
pub struct Job {
    pub spec: StationsSpec,
    pub pattern: Pattern,
    /// Index of the stop reason in [`STOPS`] plus one; zero: running.
    stopped: AtomicU8,
    pub is_dropped: AtomicBool,
}

impl Job {
    pub fn new(spec: &StationsSpec) -> Self {
        Self {
            spec: spec.clone(),
            pattern: Pattern::new(spec.seed),
            stopped: AtomicU8::new(0),
            is_dropped: AtomicBool::new(false),
        }
    }

    pub fn stop(&self, end: StationsEnd) {
        let place = STOPS.iter().position(|stop| *stop == end).map_or(0, |place| place as u8 + 1);
        let _ = self.stopped.compare_exchange(0, place, Ordering::Relaxed, Ordering::Relaxed);
        if end == StationsEnd::Cancelled {
            self.is_dropped.store(true, Ordering::Relaxed);
        }
    }

    pub fn stopped(&self) -> Option<StationsEnd> {
        let place = self.stopped.load(Ordering::Relaxed);
        STOPS.get(usize::from(place).wrapping_sub(1)).copied()
    }

    pub fn writes(&self) -> bool {
        self.spec.operation != StationOperation::Read
    }
}

/// Progress of one thread's stations: written by that thread, read by others.
#[derive(Debug, Default)]
pub struct ThreadTotals {
    pub operations: AtomicU64,
    pub bytes: AtomicU64,
    pub response_ns: AtomicU64,
}

impl ThreadTotals {
    pub fn store(&self, operations: u64, bytes: u64, response_ns: u64) {
        self.operations.store(operations, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
        self.response_ns.store(response_ns, Ordering::Relaxed);
    }

    pub fn load(&self) -> [u64; 3] {
        [&self.operations, &self.bytes, &self.response_ns]
            .map(|counter| counter.load(Ordering::Relaxed))
    }
}

/// The files of a station: one, or several on a service that moves whole files only.
pub fn paths(
    spec: &StationsSpec,
    station: u32,
    whole_files: bool,
    blocks: u32,
) -> Result<Vec<ServicePath>, Failure> {
    let folder = format!("{}/files", spec.working_name);
    let path = |name: String| {
        ServicePath::new(name).map_err(|bad| Failure::new("stations.name", bad.message))
    };
    if whole_files {
        let name = |number| path(format!("{folder}/s{station:05}-{number}.dat"));
        return (0..blocks).map(name).collect();
    }
    Ok(vec![path(format!("{folder}/s{station:05}.dat"))?])
}
