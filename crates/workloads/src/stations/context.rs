//! State shared by the stations of one thread: readings, counts and clock.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use lanlab_files::{Facts, Fault, Result, Session, TransferCapabilities};
use lanlab_units::{Clock, Instant};

use super::job::{Job, ThreadTotals};
use super::pattern::{Place, Wrong};
use super::readings::{Outcome, Reading, Readings};
use crate::measure::DistributionMeter;
use crate::messages::{BlockCheck, StationEnded, StationsEnd};

/// Interval of updates to the totals that other threads read.
const TELL_NS: u64 = 10_000_000;
/// Stations that ended early whose reason is kept.
pub const MOST_ENDED: usize = 64;

/// Provides sessions to stations.
pub trait Connector: 'static {
    type Session: Session<File: 'static> + 'static;

    fn connect(&self, station: u32) -> impl Future<Output = Result<Self::Session>>;
}

#[derive(Debug, Default)]
pub struct Counts {
    pub connect: DistributionMeter,
    pub setup_errors: BTreeMap<String, u64>,
    pub reconnects: u64,
    pub reconnect_errors: BTreeMap<String, u64>,
    /// The first stations that ended early, with reasons.
    pub ended: Vec<StationEnded>,
    pub ended_stations: u32,
    /// Open-loop operations that were due and not started.
    pub unstarted: u64,
    pub own_lateness: DistributionMeter,
    pub checked: BlockCheck,
    pub agreed: Option<(Facts, TransferCapabilities)>,
    /// Stations that reached their number of readings, and those whose time ended.
    pub full_stations: u32,
    pub late_stations: u32,
}

impl Counts {
    pub fn add(&mut self, other: Self) {
        self.connect.add(&other.connect);
        self.own_lateness.add(&other.own_lateness);
        for (own, more) in [
            (&mut self.setup_errors, other.setup_errors),
            (&mut self.reconnect_errors, other.reconnect_errors),
        ] {
            for (class, count) in more {
                *own.entry(class).or_default() += count;
            }
        }
        self.reconnects += other.reconnects;
        self.ended.extend(other.ended);
        self.ended.sort_by_key(|ended| (ended.at_ns, ended.station));
        self.ended.truncate(MOST_ENDED);
        self.ended_stations += other.ended_stations;
        self.unstarted += other.unstarted;
        self.full_stations += other.full_stations;
        self.late_stations += other.late_stations;
        let (own, more) = (&mut self.checked, other.checked);
        own.blocks += more.blocks;
        own.read_back += more.read_back;
        own.read_back_wrong += more.read_back_wrong;
        own.stale += more.stale;
        own.misplaced += more.misplaced;
        own.corrupt += more.corrupt;
        own.first_wrong = own.first_wrong.take().or(more.first_wrong);
        self.agreed = self.agreed.take().or(other.agreed);
    }

    pub fn wrong(&mut self, wrong: Wrong, place: Place) {
        let checked = &mut self.checked;
        match wrong {
            Wrong::Stale { .. } => checked.stale += 1,
            Wrong::Misplaced { .. } => checked.misplaced += 1,
            Wrong::Corrupt { .. } => checked.corrupt += 1,
        }
        checked.first_wrong.get_or_insert_with(|| wrong.words(place));
    }
}

pub struct Context<C, K> {
    pub job: Arc<Job>,
    pub connector: C,
    pub clock: K,
    pub readings: RefCell<Readings>,
    pub counts: RefCell<Counts>,
    totals: Arc<ThreadTotals>,
    done: Cell<[u64; 3]>,
    told_at_ns: Cell<u64>,
    pub start: Cell<Instant>,
}

impl<C: Connector, K: Clock> Context<C, K> {
    pub fn new(
        job: Arc<Job>,
        connector: C,
        clock: K,
        readings: Readings,
        totals: Arc<ThreadTotals>,
    ) -> Self {
        Self {
            job,
            connector,
            clock,
            readings: RefCell::new(readings),
            counts: RefCell::new(Counts::default()),
            totals,
            done: Cell::new([0; 3]),
            told_at_ns: Cell::new(0),
            start: Cell::new(Instant::ZERO),
        }
    }

    /// Keep a reading; when there is no room for another, all stations end.
    pub fn keep(&self, reading: Reading) {
        if !self.readings.borrow_mut().push(reading) && super::may_be_thinned(&self.job.spec) {
            self.job.stop(StationsEnd::Full);
        }
        let [mut operations, mut bytes, mut response_ns] = self.done.get();
        if reading.outcome == Outcome::OK {
            operations += 1;
            bytes += u64::from(reading.bytes);
            response_ns += reading.response_ns();
            self.done.set([operations, bytes, response_ns]);
        }
        if reading.end_ns >= self.told_at_ns.get() + TELL_NS {
            self.told_at_ns.set(reading.end_ns);
            self.totals.store(operations, bytes, response_ns);
        }
    }

    pub async fn wait_until(&self, at: Instant) {
        self.clock.wait_until(at, || self.job.stopped().is_some()).await;
    }

    /// Wait for `pause_ns`, or until the job is stopped.
    pub async fn pause(&self, pause_ns: u64) {
        self.wait_until(self.clock.now().plus_nanos(pause_ns)).await;
    }

    pub fn since_start_ns(&self, at: Instant) -> u64 {
        at.nanos_since(self.start.get())
    }
}

pub fn count(errors: &mut BTreeMap<String, u64>, fault: &Fault) {
    *errors.entry(Outcome::of(fault.class).name().to_owned()).or_default() += 1;
}
