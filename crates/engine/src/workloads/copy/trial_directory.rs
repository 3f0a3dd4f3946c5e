//! The directory of a trial at the service: created, marked as ours, and emptied. Nothing else is touched.

use lanlab_files::{Access, Class, ServiceKind, ServicePath, Session};
use lanlab_os as os;

use super::clock::{RuntimeClock, bounded, guard};
use super::files::Files;
use super::not_removed::{NotRemoved, remove_working};
use super::removal::{Written, remove_written};
use super::service_paths::{files_path, mark_path, path, remote_path};
use super::workers::{connect_once, local_place, runtime};
use crate::messages::{
    CopiedFiles, CopyEmptied, CopyPrepared, CopySpec, CopySync, Direction, Failure, LeftOut,
    Outcome,
};
use crate::running::{Measured, Running};
use crate::workloads::dataset;
use lanlab_workloads::Guard;
use lanlab_workloads::copy::{CopyError, Meters, Transfer, capabilities};

pub const MARK_LINE: &str = "made by lanlab, which removes it: ";
/// Longest mark, which lists the files of a tree.
const MOST_MARK_BYTES: usize = 16 << 20;
/// Size of the pieces in which a mark is read, bytes.
const PIECE_BYTES: usize = 1 << 16;

/// Make the directory of a trial and, for a download, upload its files.
pub fn prepare(spec: &CopySpec, running: &Running) -> Measured {
    let start = os::monotonic();
    let work = || -> Result<CopyPrepared, Failure> {
        let files = Files::find(&spec.files, running)?;
        let mark = mark(spec, &files)?;
        let guard = bounded(spec, running);
        let work = guard.unless_stopped(make(spec, &files, &mark, &guard, running));
        runtime()?.block_on(work).map_err(CopyError::into_failure)?;
        Ok(CopyPrepared {
            files: files.entries.len() as u64,
            bytes: files.bytes(),
            left_out: files.left_out,
            files_digest: files.digest(),
        })
    };
    let (prepared, _) = running.with_progress(start, start, work);
    running.or_nothing(prepared.map(Outcome::CopyPrepared), || {
        let (left_out, files_digest) = (LeftOut::default(), String::new());
        Outcome::CopyPrepared(CopyPrepared { files: 0, bytes: 0, left_out, files_digest })
    })
}

/// Content of the mark: the trial's token and, for a tree, the files and directories written: the tree may
/// change before they are removed.
fn mark(spec: &CopySpec, files: &Files) -> Result<Vec<u8>, Failure> {
    let mut text = format!("{MARK_LINE}{}\n", spec.token);
    if matches!(spec.files, CopiedFiles::Tree(_)) {
        for entry in &files.entries {
            text.extend(["f ", entry.path.as_str(), "\n"]);
        }
        for directory in &files.directories {
            text.extend(["d ", directory.as_str(), "\n"]);
        }
    }
    check_mark(text.len())?;
    Ok(text.into_bytes())
}

pub fn check_mark(bytes: usize) -> Result<(), Failure> {
    if bytes <= MOST_MARK_BYTES {
        return Ok(());
    }
    let message = format!("names of {bytes} octets; allowed: {MOST_MARK_BYTES}");
    Err(Failure::new("copy.too_many", message))
}

async fn make(
    spec: &CopySpec,
    files: &Files,
    mark: &[u8],
    guard: &Guard<'_, RuntimeClock>,
    running: &Running,
) -> Result<(), CopyError> {
    let session = connect_once(&spec.service, guard).await?;
    // In either direction: downloads are uploaded first.
    if let Some(largest) = files.entries.iter().max_by_key(|entry| entry.bytes) {
        check_size(&session, largest.path.as_str(), largest.bytes)?;
    }
    make_marked(&session, &spec.working_name, mark, running).await?;
    session.make_directory(&files_path(&spec.working_name)?).await?;
    for directory in &files.directories {
        session.make_directory(&remote_path(&spec.working_name, directory)?).await?;
    }
    if let Some(place) = local_place(spec)? {
        place.make(files)?;
    }
    if spec.direction == Direction::Download {
        let transfer =
            Transfer::new(capabilities(spec, session.capabilities())?, CopySync::None, guard);
        for (number, entry) in files.entries.iter().enumerate() {
            let truth = files.truth(number)?;
            let path = remote_path(&spec.working_name, &entry.path)?;
            transfer.upload(&session, &path, entry.bytes, &truth).await?;
            guard.progress.count(1, 0);
        }
        // Uploads before a download belong to no trial, so they are not counted.
        transfer.meters.replace(Meters::default());
    }
    Ok(session.end().await?)
}

/// Refuse a file too large for the service, before anything is written.
pub fn check_size(session: &impl Session, name: &str, bytes: u64) -> Result<(), Failure> {
    let largest = session.largest_file_bytes();
    if bytes <= largest {
        return Ok(());
    }
    let protocol = session.facts().protocol;
    let message =
        format!("`{name}`: {bytes} bytes; allowed: {largest} at this service ({protocol})");
    Err(Failure::new("copy.too_large", message).hint(
        "copy smaller files, or use a service or dialect that supports them, e.g. `--dialect nt1`",
    ))
}

/// Make the directory of a trial, and mark it. If the service refuses the directory, nothing is left there.
pub async fn make_marked(
    session: &impl Session,
    working_name: &str,
    mark: &[u8],
    running: &Running,
) -> Result<(), CopyError> {
    running.writing();
    let made = session.make_directory(&path(working_name.to_owned())?).await;
    running.refused_to_write(made.as_ref().is_err_and(|fault| !fault.class.is_passing()));
    made?;
    let size_bytes = mark.len() as u64;
    let file = session.open(&mark_path(working_name)?, Access::Create { size_bytes }).await?;
    for (place, piece) in mark.chunks(PIECE_BYTES).enumerate() {
        session.write_at(&file, (place * PIECE_BYTES) as u64, piece).await?;
    }
    Ok(session.close(file).await?)
}

/// Remove the trial's files at the service and on this host.
pub fn empty(spec: &CopySpec, running: &Running) -> Measured {
    let work = || -> Result<CopyEmptied, Failure> {
        let guard = guard(running);
        let work = guard.unless_stopped(async {
            remove(spec, connect_once(&spec.service, &guard).await?).await
        });
        runtime()?.block_on(work).map_err(CopyError::into_failure)
    };
    Ok(Outcome::CopyEmptied(work()?))
}

pub async fn remove(spec: &CopySpec, session: impl Session) -> Result<CopyEmptied, CopyError> {
    let place = (spec.service.service, spec.working_name.as_str());
    let here = |written: &Written, not_removed: &mut NotRemoved| {
        if let Some(place) = local_place(spec)? {
            place.remove(written)?.iter().for_each(|place| not_removed.kept(&place.display()));
        }
        Ok(())
    };
    remove_trial(session, place, &spec.token, |names| written(spec, names), here).await
}

/// Remove a trial whose mark needs no list of names.
pub async fn remove_known(
    session: impl Session,
    place: (ServiceKind, &str),
    token: &str,
    written: Written,
) -> Result<CopyEmptied, CopyError> {
    remove_trial(session, place, token, |_| Ok(written), |_, _| Ok(())).await
}

/// Remove the files of a trial, those on this host by `here`, and its directory. `written` reads the names in its
/// mark.
async fn remove_trial(
    session: impl Session,
    place: (ServiceKind, &str),
    token: &str,
    written: impl FnOnce(&str) -> Result<Written, Failure>,
    here: impl FnOnce(&Written, &mut NotRemoved) -> Result<(), Failure>,
) -> Result<CopyEmptied, CopyError> {
    let (mark_path, working) = (mark_path(place.1)?, path(place.1.to_owned())?);
    let mut not_removed = NotRemoved::default();
    let whose = format!("{MARK_LINE}{token}\n");
    let (mark, written) = match read_mark(&session, &mark_path).await {
        Ok(mark) => match mark.strip_prefix(&whose) {
            Some(names) => (Some(&mark_path), written(names)?),
            // A trial that ended while writing its mark had written nothing else yet.
            None if whose.starts_with(&mark) => (Some(&mark_path), Written::default()),
            None => return Err(not_ours(&mark_path).into()),
        },
        // The mark was not written, or is gone: then the directory is empty, too.
        Err(CopyError::Service(fault)) if fault.class == Class::Missing => (None, written("")?),
        Err(trouble) => return Err(trouble),
    };
    let mut removed_files = 0;
    if mark.is_some() {
        removed_files = remove_written(&session, place, &written, &mut not_removed).await?;
    }
    // The mark goes last: its list of written files allows a later attempt.
    here(&written, &mut not_removed)?;
    match mark {
        Some(mark) if not_removed.has_refusal() => {
            not_removed.kept(mark);
            not_removed.kept(&working);
        }
        _ => remove_working(&session, &working, mark, &mut not_removed).await?,
    }
    session.end().await?;
    let (is_gone, not_listed) = (not_removed.is_none(), not_removed.why_not_listed());
    Ok(CopyEmptied { removed_files, is_gone, not_listed, left: not_removed.described() })
}

pub async fn read_mark(session: &impl Session, path: &ServicePath) -> Result<String, CopyError> {
    let file = session.open(path, Access::Read).await?;
    let (mut text, mut piece) = (Vec::new(), vec![0; PIECE_BYTES]);
    loop {
        let got = session.read_at(&file, text.len() as u64, &mut piece).await?;
        if got == 0 {
            break;
        }
        text.extend_from_slice(&piece[..got.min(PIECE_BYTES)]);
        if text.len() > MOST_MARK_BYTES {
            return Err(not_ours(path).into());
        }
    }
    session.close(file).await?;
    String::from_utf8(text).map_err(|_| not_ours(path).into())
}

pub fn not_ours(path: &ServicePath) -> Failure {
    Failure::new("copy.not_ours", format!("`{path}` is not the mark of this trial"))
        .hint("nothing was removed; check it, and remove it yourself")
}

pub fn is_of(mark: &str, token: &str) -> bool {
    mark.lines().next().and_then(|line| line.strip_prefix(MARK_LINE)) == Some(token)
}

fn written(spec: &CopySpec, names: &str) -> Result<Written, Failure> {
    let mut written = Written::default();
    if let CopiedFiles::Dataset(dataset) = &spec.files {
        for number in 0..dataset::sizes(dataset)?.len() as u64 {
            written.files.push(path(dataset::file_name(number))?);
        }
    }
    // An incomplete last line does not count, either.
    for line in names.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        match line.split_once(' ') {
            Some(("f", name)) => written.files.push(path(name.to_owned())?),
            Some(("d", name)) => written.directories.push(path(name.to_owned())?),
            _ => return Err(not_ours(&path(spec.working_name.clone())?)),
        }
    }
    Ok(written)
}
