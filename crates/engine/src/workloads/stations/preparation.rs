//! The directory of a trial at the service and its stations' files: created, marked as ours, and removed.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use lanlab_clients::{AnySession, connect_unless_refused};
use lanlab_files::{Access, Class, Entry, Fault, ServicePath, Session};
use lanlab_os as os;

use lanlab_workloads::Guard;
use lanlab_workloads::copy::{CopyError, lanes};
use lanlab_workloads::stations::pattern::{Pattern, Place};
use lanlab_workloads::stations::{blocks, paths};

use super::trial::of_station;
use crate::messages::{
    Failure, Outcome, StationSync, StationsEmptied, StationsPrepared, StationsSpec,
};
use crate::running::{Measured, Running};
use crate::workloads::copy::service_paths::{mark_path, path};
use crate::workloads::copy::trial_directory::{
    self, MARK_LINE, check_size, make_marked, not_ours, read_mark,
};
use crate::workloads::copy::{
    HELD_LOOK, HELD_WITHIN_NS, NotRemoved, RuntimeClock, connect_once, guard, held_open,
    is_refusal, remove_working, removed_directory, runtime,
};

const HANDS: u32 = 8;
/// Maximum bytes written at once, unless a message is longer.
const MOST_PIECE_BYTES: usize = 1 << 20;

/// Make the directory of a trial, and write the files of all stations.
pub fn prepare(spec: &StationsSpec, running: &Running) -> Measured {
    let start = os::monotonic();
    let work = || {
        let guard = guard(running);
        let work = guard.unless_stopped(make(spec, &guard, running));
        runtime()?.block_on(work).map_err(CopyError::into_failure)
    };
    let (prepared, _) = running.with_progress(start, start, work);
    let elapsed_ns = os::monotonic().nanos_since(start);
    let outcome =
        |(files, bytes)| Outcome::StationsPrepared(StationsPrepared { files, bytes, elapsed_ns });
    running.or_nothing(prepared.map(outcome), || outcome((0, 0)))
}

async fn make(
    spec: &StationsSpec,
    guard: &Guard<'_, RuntimeClock>,
    running: &Running,
) -> Result<(u64, u64), CopyError> {
    let service = of_station(&spec.service, 0);
    let session = connect_unless_refused(&service).await?;
    check_size(&session, "the file of a station", spec.file_size_bytes)?;
    let mark = format!("{MARK_LINE}{}\n", spec.token);
    make_marked(&session, &spec.working_name, mark.as_bytes(), running).await?;
    check_sync(spec.sync, session.capabilities().in_order)?;
    session.make_directory(&path(format!("{}/files", spec.working_name))?).await?;
    let pattern = Pattern::new(spec.seed);
    let next = Cell::new(0);
    let (files, bytes) = (Cell::new(0_u64), Cell::new(0_u64));
    let hand = async |session: AnySession| -> Result<(), CopyError> {
        let mut piece = Vec::new();
        while next.get() < spec.stations {
            let station = next.replace(next.get() + 1);
            for (number, path) in file_paths(spec, station, &session)?.iter().enumerate() {
                let first = number as u32;
                let written =
                    write(spec, &session, path, station, first, &pattern, &mut piece).await?;
                files.set(files.get() + 1);
                bytes.set(bytes.get() + written);
                guard.progress.count(1, written);
            }
        }
        Ok(session.end().await?)
    };
    by_hands(spec, session, hand).await?;
    Ok((files.get(), bytes.get()))
}

/// A service that moves whole files has no sync operation.
fn check_sync(sync: StationSync, in_order: bool) -> Result<(), Failure> {
    if sync == StationSync::Each && in_order {
        let allowed = "`none`, as this service has no word for that";
        return Err(Failure::value("sync", "each", allowed));
    }
    Ok(())
}

fn blocks_at_once(service_block_bytes: u32, message: usize) -> u32 {
    let blocks = (service_block_bytes as usize).min(MOST_PIECE_BYTES) / message;
    blocks.max(1) as u32
}

/// Write one file: all blocks of a station, or a single one on a whole-file service.
async fn write<S: Session>(
    spec: &StationsSpec,
    session: &S,
    path: &ServicePath,
    station: u32,
    first: u32,
    pattern: &Pattern,
    piece: &mut Vec<u8>,
) -> Result<u64, CopyError> {
    let manner = session.capabilities();
    let message = spec.message_size_bytes as usize;
    let count = if manner.in_order { 1 } else { blocks(spec, false) };
    let at_once = blocks_at_once(manner.block_bytes, message);
    let size_bytes = u64::from(count) * message as u64;
    let file = session.open(path, Access::Create { size_bytes }).await?;
    let mut done = 0;
    while done < count {
        let now = at_once.min(count - done);
        piece.resize(now as usize * message, 0);
        for (number, block) in piece.chunks_exact_mut(message).enumerate() {
            let block_number = first + done + number as u32;
            pattern.fill(Place { station, block: block_number, generation: 0 }, block);
        }
        session.write_at(&file, u64::from(done) * message as u64, piece).await?;
        done += now;
    }
    if spec.sync == StationSync::Each {
        session.sync(&file).await?;
    }
    session.close(file).await?;
    Ok(size_bytes)
}

fn file_paths(
    spec: &StationsSpec,
    station: u32,
    session: &AnySession,
) -> Result<Vec<ServicePath>, Failure> {
    let whole_files = session.capabilities().in_order;
    paths(spec, station, whole_files, blocks(spec, whole_files))
}

/// If the server accepts no more sessions, work with fewer.
async fn by_hands(
    spec: &StationsSpec,
    first: AnySession,
    hand: impl AsyncFn(AnySession) -> Result<(), CopyError>,
) -> Result<(), CopyError> {
    let first = RefCell::new(Some(first));
    let service = of_station(&spec.service, 0);
    let one = async || -> Result<(), CopyError> {
        let there = first.borrow_mut().take();
        let session = match there {
            Some(session) => session,
            None => match connect_unless_refused(&service).await {
                Err(fault) if fault.class.is_passing() => return Ok(()),
                connected => connected?,
            },
        };
        hand(session).await
    };
    lanes::all((0..HANDS.min(spec.stations)).map(|_| one()).collect()).await
}

pub fn empty(spec: &StationsSpec, running: &Running) -> Measured {
    let work = || {
        let guard = guard(running);
        let work = guard.unless_stopped(remove(spec, &guard));
        runtime()?.block_on(work).map_err(CopyError::into_failure)
    };
    Ok(Outcome::StationsEmptied(work()?))
}

async fn remove(
    spec: &StationsSpec,
    guard: &Guard<'_, RuntimeClock>,
) -> Result<StationsEmptied, CopyError> {
    let service = of_station(&spec.service, 0);
    let session = connect_once(&service, guard).await?;
    let mark_path = mark_path(&spec.working_name)?;
    let working = path(spec.working_name.clone())?;
    let mut not_removed = NotRemoved::default();
    let emptied = |removed_files: u64, not_removed: NotRemoved| {
        let is_gone = not_removed.is_none();
        StationsEmptied { removed_files, is_gone, left: not_removed.described() }
    };
    match read_mark(&session, &mark_path).await {
        Ok(mark) if trial_directory::is_of(&mark, &spec.token) => {}
        Ok(_) => return Err(not_ours(&mark_path).into()),
        // The mark was not written, or is gone: then the directory is empty, too.
        Err(CopyError::Service(fault)) if fault.class == Class::Missing => {
            remove_working(&session, &working, None, &mut not_removed).await?;
            session.end().await?;
            return Ok(emptied(0, not_removed));
        }
        Err(trouble) => return Err(trouble),
    }
    let next = Cell::new(0);
    let removed = Cell::new(0_u64);
    let said = RefCell::new(HashMap::new());
    let hand = async |session: AnySession| -> Result<(), CopyError> {
        while next.get() < spec.stations {
            let station = next.replace(next.get() + 1);
            for path in file_paths(spec, station, &session)? {
                match session.remove(&path).await {
                    Ok(()) => removed.set(removed.get() + 1),
                    Err(fault) => {
                        _ = said.borrow_mut().insert(path.name().to_owned(), lasting(fault)?);
                    }
                }
            }
        }
        Ok(session.end().await?)
    };
    by_hands(spec, session, hand).await?;
    let session = connect_once(&service, guard).await?;
    remove_files(spec, &session, &said.into_inner(), &mut not_removed).await?;
    if not_removed.has_refusal() {
        // The mark allows another attempt later.
        not_removed.kept(&mark_path);
        not_removed.kept(&working);
    } else {
        remove_working(&session, &working, Some(&mark_path), &mut not_removed).await?;
    }
    session.end().await?;
    Ok(emptied(removed.get(), not_removed))
}

/// The server's error about a file, if a retry cannot change it.
fn lasting(fault: Fault) -> Result<Fault, Fault> {
    if fault.class.is_passing() { Err(fault) } else { Ok(fault) }
}

/// Remove the directory of the files; those in `said` were refused by the server. A server may delay the removal of
/// open files until it notices that their client is gone; the mark is then kept for another attempt.
async fn remove_files(
    spec: &StationsSpec,
    session: &AnySession,
    said: &HashMap<String, Fault>,
    not_removed: &mut NotRemoved,
) -> Result<(), CopyError> {
    let directory = path(format!("{}/files", spec.working_name))?;
    let until = os::monotonic().plus_nanos(HELD_WITHIN_NS);
    let mut ours = HashSet::new();
    loop {
        let Some(fault) = removed_directory(session, &directory).await? else {
            // Even without directories, files may exist.
            for (name, fault) in said.iter().filter(|(_, fault)| is_refusal(fault)) {
                not_removed.refused(&path(format!("{directory}/{name}"))?, fault);
            }
            return Ok(());
        };
        if ours.is_empty() {
            for station in 0..spec.stations {
                let paths = file_paths(spec, station, session)?;
                ours.extend(paths.iter().map(|path| path.name().to_owned()));
            }
        }
        let entries = match session.list(Some(&directory)).await {
            // Files are removed by name without a listing.
            Err(listing) if !listing.class.is_passing() => {
                not_removed.stays(&directory, false, &fault);
                return Ok(());
            }
            entries => entries?,
        };
        let is_late = os::monotonic() >= until;
        match why_it_stays(first_held(&entries, &ours, said), entries.is_empty(), is_late) {
            Stays::Awhile => {}
            Stays::Held(name) => return Err(held_open(&format!("{directory}/{name}")).into()),
            Stays::ForOthers => {
                for entry in &entries {
                    if let Some(fault) = said.get(&entry.name) {
                        not_removed.refused(&path(format!("{directory}/{}", entry.name))?, fault);
                    }
                }
                not_removed.stays(&directory, entries.is_empty(), &fault);
                return Ok(());
            }
        }
        tokio::time::sleep(HELD_LOOK).await;
    }
}

/// The first of our files that exists although the server reported no error about it.
fn first_held<'a>(
    entries: &'a [Entry],
    ours: &HashSet<String>,
    said: &HashMap<String, Fault>,
) -> Option<&'a str> {
    let mut names = entries.iter().map(|entry| entry.name.as_str());
    names.find(|name| ours.contains(*name) && !said.contains_key(*name))
}

#[derive(Debug, PartialEq, Eq)]
enum Stays<'a> {
    Awhile,
    Held(&'a str),
    ForOthers,
}

fn why_it_stays(held: Option<&str>, is_empty: bool, is_late: bool) -> Stays<'_> {
    match held {
        Some(name) if is_late => Stays::Held(name),
        None if is_late || !is_empty => Stays::ForOthers,
        _ => Stays::Awhile,
    }
}

#[cfg(test)]
mod tests;
