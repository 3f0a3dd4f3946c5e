//! Combined result of a host's stations.

use std::collections::BTreeMap;

use lanlab_files::{Facts, TransferCapabilities};

use super::context::Counts;
use super::job::Job;
use super::readings::{Dropped, KeptReadings, OUTCOMES};
use super::schedule::blocks;
use crate::measure::DistributionMeter;
use crate::messages::{CpuTime, HostWindow, StationSetup, Stationed, StationsEnd, Thinned};

pub struct Times {
    pub setup_ns: u64,
    pub elapsed_ns: u64,
    pub host: Option<HostWindow>,
    pub is_cpu_known: bool,
}

pub struct Worked {
    pub readings: KeptReadings,
    pub counts: Counts,
    pub cpu: CpuTime,
}

pub fn joined(job: &Job, threads: Vec<Worked>, times: Times) -> (Stationed, Vec<KeptReadings>) {
    let thread_count = threads.len() as u32;
    let mut counts = Counts::default();
    let mut cpu = CpuTime::default();
    let mut busiest_ns = 0;
    let mut readings = Vec::with_capacity(threads.len());
    for thread in threads {
        counts.add(thread.counts);
        busiest_ns = busiest_ns.max(thread.cpu.user_ns + thread.cpu.system_ns);
        cpu = cpu.plus(thread.cpu);
        readings.push(thread.readings);
    }
    let thinned = alike(&mut readings);
    let summed = Summed::of(&readings, job.spec.own.first, job.spec.own.count);
    let (facts, manner) = counts.agreed.clone().unwrap_or_else(nothing_agreed);
    let is_known = times.is_cpu_known && times.elapsed_ns > 0;
    let stationed = Stationed {
        stations: job.spec.own.count,
        threads: thread_count,
        elapsed_ns: summed.last_ns,
        start_skew_ns: summed.start_skew_ns(job.spec.open_loop.is_some()),
        ended_by: ended_by(job, &counts),
        readings: summed.readings,
        thinned,
        bytes: summed.bytes,
        outcomes: OUTCOMES.map(str::to_owned).to_vec(),
        errors: summed.errors,
        retries: summed.retries,
        unstarted: counts.unstarted,
        response: summed.response.finish(),
        own_lateness: counts.own_lateness.finish(),
        setup: StationSetup {
            connect: counts.connect.finish(),
            elapsed_ns: times.setup_ns,
            errors: counts.setup_errors,
        },
        checked: counts.checked,
        reconnects: counts.reconnects,
        reconnect_errors: counts.reconnect_errors,
        ended: counts.ended,
        ended_stations: counts.ended_stations,
        facts,
        carrier: None,
        manner,
        whole_files: manner.in_order,
        blocks: blocks(&job.spec, manner.in_order),
        cpu,
        busiest_thread_ratio: is_known.then(|| busiest_ns as f64 / times.elapsed_ns as f64),
        host: times.host,
    };
    (stationed, readings)
}

/// Thin all threads' readings to the level of the most thinned one, and equalise their slice widths; `None` if no
/// thread thinned.
fn alike(threads: &mut [KeptReadings]) -> Option<Thinned> {
    let most = threads.iter().map(|thread| thread.thinned).max().filter(|most| *most > 0)?;
    let width =
        threads.iter().filter_map(|thread| thread.slices.as_ref()).map(|slices| slices.width).max();
    let width = width.unwrap_or(0);
    for thread in threads.iter_mut() {
        thread.thin_to(most);
        if let Some(slices) = &mut thread.slices {
            slices.widen_to(width);
        }
    }
    Some(Thinned {
        kept: threads.iter().map(|thread| thread.all.len() as u64).sum(),
        every: 1_u64.checked_shl(most.into()).unwrap_or(u64::MAX),
        slice_ns: 1 << width,
    })
}

fn ended_by(job: &Job, counts: &Counts) -> StationsEnd {
    if counts.ended_stations == job.spec.own.count {
        return StationsEnd::NoStation;
    }
    match job.stopped() {
        Some(end) => end,
        None if counts.late_stations > 0 => StationsEnd::Time,
        None => StationsEnd::Readings,
    }
}

fn nothing_agreed() -> (Facts, TransferCapabilities) {
    let none = || "none".to_owned();
    let facts =
        Facts { protocol: none(), protection: none(), server: None, no_delay: None, tcp: None };
    (facts, TransferCapabilities::default())
}

#[derive(Default)]
struct Summed {
    readings: u64,
    bytes: u64,
    errors: BTreeMap<String, u64>,
    retries: u64,
    response: DistributionMeter,
    last_ns: u64,
    first: Vec<Option<(u64, u64)>>,
}

impl Summed {
    fn of(threads: &[KeptReadings], first_station: u32, stations: u32) -> Self {
        let mut summed = Self { first: vec![None; stations as usize], ..Self::default() };
        let mut outcomes = [0_u64; OUTCOMES.len()];
        let mut dropped = Dropped::default();
        for thread in threads {
            dropped.add(&thread.dropped);
        }
        for reading in threads.iter().flat_map(|thread| &thread.all) {
            summed.readings += 1;
            summed.last_ns = summed.last_ns.max(reading.end_ns);
            summed.retries += u64::from(reading.attempt > 0);
            outcomes[usize::from(reading.outcome.0)] += 1;
            if reading.is_ok() {
                summed.bytes += u64::from(reading.bytes);
                summed.response.record(reading.response_ns().cast_signed());
            }
            let place = (reading.station - first_station) as usize;
            let first = summed.first[place].get_or_insert((reading.intended_ns, reading.start_ns));
            if reading.start_ns < first.1 {
                *first = (reading.intended_ns, reading.start_ns);
            }
        }
        summed.readings += dropped.readings;
        summed.bytes += dropped.bytes;
        summed.response.add(&dropped.response);
        summed.last_ns = summed.last_ns.max(dropped.last_ns);
        let failed = OUTCOMES.iter().zip(outcomes).skip(1).filter(|(_, count)| *count > 0);
        summed.errors = failed.map(|(name, count)| ((*name).to_owned(), count)).collect();
        summed
    }

    fn start_skew_ns(&self, is_open: bool) -> i64 {
        let known = || self.first.iter().flatten();
        let skew_ns = if is_open {
            known().map(|(intended_ns, start_ns)| start_ns - intended_ns).max()
        } else {
            let starts = || known().map(|(_, start_ns)| *start_ns);
            starts().max().zip(starts().min()).map(|(last, first)| last - first)
        };
        skew_ns.unwrap_or(0).cast_signed()
    }
}
