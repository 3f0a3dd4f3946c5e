//! `metadata`: operations on names at a file service. A trial is three requests:
//! `metadata_prepare`, `metadata` and `metadata_empty`. Only `metadata` is timed, and only its
//! operations; their results are compared in between.

#[cfg(test)]
mod tests;
mod trial;

use lanlab_clients::places;
use lanlab_files::{BadPath, ServicePath, Session};
use lanlab_os as os;
use lanlab_workloads::Guard;
use lanlab_workloads::copy::CopyError;
use lanlab_workloads::metadata::{Tree, directory_count};

use super::copy::removal::Written;
use super::copy::service_paths::{below_files, files_path};
use super::copy::trial_directory::{MARK_LINE, make_marked, remove_known};
use super::copy::{RuntimeClock, check_words, connect_once, guard, runtime};
use super::recorded;
use super::segment::check_target;
use super::setup::check_range;
use crate::cost::{Cost, METERS_BYTES, OWN_THREADS};
use crate::messages::{Failure, ListPlaces, MetadataPrepared, MetadataSpec, Outcome, PlacesListed};
use crate::running::{Measured, Running};
use crate::task::Task;

pub use trial::measure;

const MOST_FILES: u64 = 1_000_000;
const MOST_DIRECTORIES: u64 = 10_000;
/// Memory of a connection, its thread and its meters.
const CLIENT_BYTES: u64 = (1 << 20) + METERS_BYTES;
/// Memory of a name in a tree, its listing and its comparison.
const NAME_BYTES: u64 = 400;

pub fn task(
    spec: MetadataSpec,
    step: fn(&MetadataSpec, &Running) -> Measured,
) -> Result<Task, Failure> {
    Ok(Task::new(check(&spec)?, move |running| step(&spec, running)))
}

/// Check everything that needs no file or socket, and return the cost.
fn check(spec: &MetadataSpec) -> Result<Cost, Failure> {
    check_range("clients", spec.clients.into(), 1, 64)?;
    check_range("width", spec.width.into(), 1, 1_000)?;
    check_range("depth", spec.depth.into(), 0, 8)?;
    check_range("longest_ns", spec.longest_ns, 1_000_000, 366 * 86_400 * 1_000_000_000)?;
    let clients = u64::from(spec.clients);
    check_range("files", spec.files.into(), 1, MOST_FILES / clients)?;
    let each = directory_count(spec.width, spec.depth).unwrap_or(u64::MAX);
    let directories = each.saturating_mul(clients);
    if directories > MOST_DIRECTORIES {
        let found = format!("{directories} directories");
        return Err(Failure::value("depth", found, format!("at most {MOST_DIRECTORIES} in all")));
    }
    check_target(&spec.service)?;
    recorded::begin_any(spec.service.link.as_ref())?;
    check_words(&spec.working_name, &spec.token)?;
    let names = clients * u64::from(spec.files) + directories;
    Ok(Cost {
        memory_bytes: clients * CLIENT_BYTES + names * NAME_BYTES,
        threads: clients + OWN_THREADS,
    })
}

pub fn list_places(request: ListPlaces) -> Result<Task, Failure> {
    check_target(&request.service)?;
    let cost = Cost { memory_bytes: CLIENT_BYTES, threads: OWN_THREADS };
    Ok(Task::new(cost, move |running| {
        let guard = guard(running);
        let work = guard.unless_stopped(async { Ok(places(&request.service).await?) });
        let places = runtime()?.block_on(work).map_err(CopyError::into_failure)?;
        Ok(Outcome::PlacesListed(PlacesListed { places }))
    }))
}

pub fn bounded<'a>(spec: &MetadataSpec, running: &'a Running) -> Guard<'a, RuntimeClock> {
    Guard::within(RuntimeClock, &running.progress, Some(spec.longest_ns))
}

pub fn bad_name(bad: BadPath) -> Failure {
    Failure::new("copy.name", bad.message)
}

pub fn prepare(spec: &MetadataSpec, running: &Running) -> Measured {
    let start = os::monotonic();
    let guard = bounded(spec, running);
    let work = guard.unless_stopped(async {
        let session = connect_once(&spec.service, &guard).await?;
        let mark = format!("{MARK_LINE}{}\n", spec.token);
        make_marked(&session, &spec.working_name, mark.as_bytes(), running).await?;
        session.make_directory(&files_path(&spec.working_name)?).await?;
        Ok(session.end().await?)
    });
    let prepared = runtime()?.block_on(work).map_err(CopyError::into_failure);
    let elapsed_ns = os::monotonic().nanos_since(start);
    let outcome = || Outcome::MetadataPrepared(MetadataPrepared { elapsed_ns });
    running.or_nothing(prepared.map(|()| outcome()), outcome)
}

/// Remove what is left of a trial; after a successful one, only its directory.
pub fn empty(spec: &MetadataSpec, running: &Running) -> Measured {
    let written = written(spec)?;
    let guard = guard(running);
    let work = guard.unless_stopped(async {
        let session = connect_once(&spec.service, &guard).await?;
        let place = (spec.service.service, spec.working_name.as_str());
        remove_known(session, place, &spec.token, written).await
    });
    let emptied = runtime()?.block_on(work).map_err(CopyError::into_failure)?;
    Ok(Outcome::MetadataEmptied(emptied))
}

/// All names that a trial can have created, its working directory first.
fn written(spec: &MetadataSpec) -> Result<Written, Failure> {
    let below = |path: &ServicePath| below_files(&spec.working_name, path);
    let mut written = Written::default();
    for client in 0..spec.clients {
        let tree = Tree::new(spec, client).map_err(bad_name)?;
        for directory in tree.directories() {
            written.directories.push(below(directory)?);
        }
        for number in 0..tree.files {
            for is_renamed in [false, true] {
                written.files.push(below(&tree.file(number, is_renamed).map_err(bad_name)?)?);
            }
        }
    }
    Ok(written)
}
