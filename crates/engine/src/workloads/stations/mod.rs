//! `stations`: many clients of a file service, each with its own connection, user and file, that read or write
//! blocks in a closed loop or on a schedule.
//!
//! A trial is three requests: `stations_prepare`, `stations` and `stations_empty`. Only `stations` is timed. Every
//! attempt at an operation is a reading; an error is a result, not an end.

mod clock;
#[cfg(test)]
#[path = "../../../../workloads/tests/support/stations_spec.rs"]
mod example;
mod limits;
mod preparation;
#[cfg(test)]
mod tests;
mod timers;
mod trial;
mod workers;

use lanlab_files::ServiceKind;
use lanlab_workloads::stations::{blocks, may_be_thinned, pattern, readings, room, slices};

use super::copy::check_words;
use super::recorded;
use super::segment::check_target;
use super::setup::check_range;
use crate::cost::{Cost, METERS_BYTES, MOST_MEMORY_BYTES, OWN_THREADS};
use crate::messages::{Failure, StationOperation, StationsSpec};
use crate::running::{Measured, Running};
use crate::task::Task;

pub use preparation::{empty, prepare};
pub use trial::{failure, tell, work};

/// Maximum stations of a trial.
const MOST_STATIONS: u32 = 10_000;
const MOST_ALONE: u32 = 1_000;
/// Memory of a connection, its tasks and buffers, without the message.
const SESSION_BYTES: u64 = 48 << 10;
const THREAD_BYTES: u64 = 64 << 10;

pub fn task(
    spec: StationsSpec,
    step: fn(&StationsSpec, &Running) -> Measured,
) -> Result<Task, Failure> {
    Ok(Task::new(check(&spec)?, move |running| step(&spec, running)))
}

/// Check everything that needs no file or socket, and return the cost.
pub fn check(spec: &StationsSpec) -> Result<Cost, Failure> {
    let stations = u64::from(spec.stations);
    check_range("stations", stations, 1, MOST_STATIONS.into())?;
    check_target(&spec.service)?;
    recorded::begin_any(spec.service.link.as_ref())?;
    let own = spec.own;
    check_range("own.count", own.count.into(), 1, stations)?;
    check_range("own.first", own.first.into(), 0, stations - u64::from(own.count))?;
    check_range("message_size_bytes", spec.message_size_bytes.into(), 1, 64 << 20)?;
    let message = u64::from(spec.message_size_bytes);
    check_range("file_size_bytes", spec.file_size_bytes, message, 1 << 40)?;
    check_range("file_size_bytes", spec.file_size_bytes, message, message << 30)?;
    check_range("think_ns", spec.think_ns, 0, 3_600_000_000_000)?;
    check_range("most_readings", spec.most_readings.into(), 1, 1 << 24)?;
    check_range("retries", spec.retries.into(), 0, 100)?;
    check_range("connects_at_once", spec.connects_at_once.into(), 1, 1024)?;
    let ratio = spec.read_ratio;
    check_number("read_ratio", ratio, (0.0..=1.0).contains(&ratio), "0 to 1")?;
    if let Some(threads) = spec.threads {
        check_range("threads", threads.into(), 1, 64)?;
    }
    if let Some(open) = spec.open_loop {
        let rate = open.rate_per_s;
        let is_allowed = rate > 0.0 && rate <= 1e7;
        check_number("open_loop.rate_per_s", rate, is_allowed, "above 0, up to 10,000,000")?;
    }
    check_words(&spec.working_name, &spec.token)?;
    check_until(spec)?;
    let blocks = u64::from(blocks(spec, false));
    let own = u64::from(own.count);
    let alone = is_alone(spec);
    if alone {
        check_range("own.count", own, 1, MOST_ALONE.into())?;
    }
    let of_memory = if spec.service.service == ServiceKind::Memory {
        stations.saturating_mul(spec.file_size_bytes)
    } else {
        0
    };
    // Generation counts of all blocks.
    let counts = if spec.operation == StationOperation::Read { 0 } else { 4 * blocks };
    let sums = if may_be_thinned(spec) { slices::STATION_BYTES } else { 0 };
    let each = message + counts + sums + if alone { THREAD_BYTES } else { SESSION_BYTES };
    let readings = u64::from(room(spec)) * readings::READING_BYTES as u64;
    let memory_bytes = (own.saturating_mul(each))
        .saturating_add(readings)
        .saturating_add(of_memory)
        .saturating_add(pattern::Pattern::memory_bytes() + METERS_BYTES);
    check_memory(spec, memory_bytes, of_memory, readings)?;
    Ok(Cost { memory_bytes, threads: OWN_THREADS + threads(spec) })
}

/// Refuse a trial that exceeds the memory limit, naming its largest part.
fn check_memory(spec: &StationsSpec, all: u64, files: u64, readings: u64) -> Result<(), Failure> {
    const MIB: u64 = 1 << 20;
    if all <= MOST_MEMORY_BYTES {
        return Ok(());
    }
    let rest = all.saturating_sub(files).saturating_sub(readings);
    let (what, hint) = if files >= rest.max(readings) {
        ("files in memory", "give smaller files, as by `--file-size`, or ask for fewer stations")
    } else if readings >= rest {
        ("readings", "ask for fewer `--readings`, or leave them out and give a `--time`")
    } else {
        ("buffers and connections", "ask for smaller messages, as by `--size`, or fewer stations")
    };
    let message = format!(
        "{} stations take {} MiB of memory, {} MiB of it for {what}; allowed: {} MiB",
        spec.stations,
        all.div_ceil(MIB),
        files.max(readings).max(rest).div_ceil(MIB),
        MOST_MEMORY_BYTES / MIB
    );
    Err(Failure::new("request.too_large", message).hint(hint))
}

fn check_number(name: &str, found: f64, is_allowed: bool, allowed: &str) -> Result<(), Failure> {
    if is_allowed { Ok(()) } else { Err(Failure::value(name, found, allowed)) }
}

fn check_until(spec: &StationsSpec) -> Result<(), Failure> {
    let until = spec.until;
    if until.readings_per_station.is_none() && until.time_ns.is_none() {
        let allowed = "`readings_per_station` or `time_ns`, so that it has an end";
        return Err(Failure::value("until", "neither", allowed));
    }
    if let Some(readings) = until.readings_per_station {
        check_range("until.readings_per_station", readings.into(), 1, 10_000_000)?;
    }
    if let Some(time_ns) = until.time_ns {
        check_range("until.time_ns", time_ns, 1, 86_400_000_000_000)?;
    }
    if let Some(ratio) = until.interval_ratio {
        let is_allowed = ratio > 0.0 && ratio < 1.0;
        check_number("until.interval_ratio", ratio, is_allowed, "above 0, below 1")?;
    }
    Ok(())
}

fn is_alone(spec: &StationsSpec) -> bool {
    spec.service.service == ServiceKind::Directory
}

fn threads(spec: &StationsSpec) -> u64 {
    let own = u64::from(spec.own.count);
    if is_alone(spec) {
        return own;
    }
    let processors = || std::thread::available_parallelism().map_or(1, usize::from) as u64;
    spec.threads
        .map_or_else(|| usual_threads(spec.service.service, processors()), u64::from)
        .min(own)
}

/// One thread per processor; one per two processors where calls cost the client little (NFS, SMB,
/// SMB 1, NCP): two threads that share two processors with a server poll their stations unevenly.
fn usual_threads(service: ServiceKind, processors: u64) -> u64 {
    use ServiceKind::{Ncp, Nfs, Nfs4, Smb, Smb1};
    let is_light = matches!(service, Nfs | Nfs4 | Smb | Smb1 | Ncp);
    let threads = if is_light { processors / 2 } else { processors };
    threads.clamp(1, 64)
}

#[cfg(test)]
mod default_threads {
    use super::*;

    #[test]
    fn stations_whose_calls_cost_little_share_fewer_threads() {
        for (processors, threads) in [(1, 1), (2, 1), (3, 1), (4, 2), (200, 64)] {
            assert_eq!(usual_threads(ServiceKind::Nfs, processors), threads, "{processors}");
        }
        assert_eq!(usual_threads(ServiceKind::Sftp, 2), 2);
        assert_eq!(usual_threads(ServiceKind::Memory, 200), 64);
    }
}
