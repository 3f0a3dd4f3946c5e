//! The directory of a trial at the service and its stations' files: created, marked as ours, and removed.

use std::cell::{Cell, RefCell};

use lanlab_clients::{AnySession, connect_unless_refused};
use lanlab_files::{Access, ServicePath, Session};
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
use crate::workloads::copy::removal::Written;
use crate::workloads::copy::service_paths::{below_files, mark_path, path, remote_path};
use crate::workloads::copy::trial_directory::{
    MARK_LINE, check_size, is_of, make_marked, read_mark, remove_known,
};
use crate::workloads::copy::{RuntimeClock, connect_once, guard, runtime};

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
    let guard = guard(running);
    let work = guard.unless_stopped(remove(spec, &guard));
    let emptied = runtime()?.block_on(work).map_err(CopyError::into_failure)?;
    Ok(Outcome::StationsEmptied(emptied))
}

async fn remove(
    spec: &StationsSpec,
    guard: &Guard<'_, RuntimeClock>,
) -> Result<StationsEmptied, CopyError> {
    let service = of_station(&spec.service, 0);
    let mut session = connect_once(&service, guard).await?;
    let mut written = Written::default();
    for station in 0..spec.stations {
        for path in file_paths(spec, station, &session)? {
            written.files.push(below_files(&spec.working_name, &path)?);
        }
    }
    let (next, removed) = (Cell::new(0), Cell::new(0));
    let hand = async |session: AnySession| -> Result<(), CopyError> {
        while let Some(file) = written.files.get(next.replace(next.get() + 1)) {
            match session.remove(&remote_path(&spec.working_name, file)?).await {
                Ok(()) => removed.set(removed.get() + 1),
                Err(fault) if fault.class.is_passing() => return Err(fault.into()),
                // Removed, or reported, below.
                Err(_) => {}
            }
        }
        Ok(session.end().await?)
    };
    let mark = read_mark(&session, &mark_path(&spec.working_name)?).await;
    if mark.is_ok_and(|mark| is_of(&mark, &spec.token)) {
        by_hands(spec, session, hand).await?;
        session = connect_once(&service, guard).await?;
    }
    let place = (service.service, spec.working_name.as_str());
    let count = written.files.len() as u64;
    let emptied = remove_known(session, place, &spec.token, written).await?;
    // A service without listings may report the removal of a file twice.
    let removed_files = (removed.get() + emptied.removed_files).min(count);
    Ok(StationsEmptied { removed_files, is_gone: emptied.is_gone, left: emptied.left })
}

#[cfg(test)]
mod tests;
