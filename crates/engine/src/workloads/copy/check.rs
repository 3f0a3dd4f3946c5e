//! Verifies an upload by reading it back over a new connection.

use std::collections::HashMap;

use lanlab_clients::{AnySession, connect_unless_refused};
use lanlab_files::{ServicePath, Session};
use lanlab_os as os;

use super::clock::{RuntimeClock, bounded};
use super::files::Files;
use super::local::{Sink, wrong, wrong_size};
use super::service_paths::{files_path, remote_path};
use super::workers::{connect_once, runtime};
use crate::messages::{CopyChecked, CopySpec, CopySync, CopyVerify, Failure, Outcome, Verified};
use crate::running::{Measured, Running};
use lanlab_workloads::Guard;
use lanlab_workloads::copy::{CopyError, Transfer, capabilities};

pub fn check_upload(spec: &CopySpec, running: &Running) -> Measured {
    let start = os::monotonic();
    let work = || -> Result<Verified, Failure> {
        let files = Files::find(&spec.files, running)?;
        files.check_same(spec.files_digest.as_deref())?;
        let guard = bounded(spec, running);
        let work = guard.unless_stopped(compare(spec, &files, &guard));
        runtime()?.block_on(work).map_err(CopyError::into_failure)
    };
    let (verified, _) = running.with_progress(start, start, work);
    let elapsed_ns = os::monotonic().nanos_since(start);
    Ok(Outcome::CopyChecked(CopyChecked { verified: verified?, elapsed_ns }))
}

async fn compare(
    spec: &CopySpec,
    files: &Files,
    guard: &Guard<'_, RuntimeClock>,
) -> Result<Verified, CopyError> {
    let mut verified = Verified { how: spec.verify, files: 0, bytes: 0 };
    if spec.verify == CopyVerify::None {
        return Ok(verified);
    }
    let session = connect_once(&spec.service, guard).await?;
    if spec.verify == CopyVerify::Size {
        verified.files = compare_sizes(spec, files, &session).await?;
    } else {
        let transfer =
            Transfer::new(capabilities(spec, session.capabilities())?, CopySync::None, guard);
        for (number, entry) in files.entries.iter().enumerate() {
            let path = remote_path(&spec.working_name, &entry.path)?;
            let sink = Sink::compare(files.truth(number)?, entry.path.as_str().to_owned());
            let done = transfer.download(&session, &path, entry.bytes, &sink, true).await;
            if let Err(trouble) = done {
                let trouble = short_is_wrong(trouble, &entry.path, entry.bytes);
                return Err(unless_replaced(spec, files, &entry.path, trouble).await);
            }
            verified.files += 1;
            verified.bytes += entry.bytes;
            guard.progress.count(1, 0);
        }
    }
    files.check_unchanged()?;
    session.end().await?;
    Ok(verified)
}

/// The cause of a wrong copy: either the server stores one file for two names that differ only in case, or the
/// original fault stands.
async fn unless_replaced(
    spec: &CopySpec,
    files: &Files,
    path: &ServicePath,
    trouble: CopyError,
) -> CopyError {
    let folded = path.as_str().to_lowercase();
    let is_twin = |other: &&ServicePath| *other != path && other.as_str().to_lowercase() == folded;
    let twin = files.entries.iter().map(|entry| &entry.path).find(is_twin);
    let (CopyError::Own(failure), Some(twin)) = (&trouble, twin) else { return trouble };
    if failure.code != "copy.wrong" || holds_both(spec, path, twin).await != Some(false) {
        return trouble;
    }
    let message =
        format!("`{path}` and `{twin}` are one name to this server: the second replaced the first");
    Failure::new("service.exists", message).hint("give one of them another name").into()
}

/// Whether the server lists both of two names in a directory; `None` if it lists nothing.
async fn holds_both(spec: &CopySpec, one: &ServicePath, other: &ServicePath) -> Option<bool> {
    let whole = remote_path(&spec.working_name, one).ok()?;
    let (directory, _) = whole.as_str().rsplit_once('/')?;
    let session = connect_unless_refused(&spec.service).await.ok()?;
    let listed = session.list(Some(&ServicePath::new(directory).ok()?)).await.ok()?;
    let is_listed = |path: &ServicePath| {
        let name = path.as_str().rsplit('/').next();
        listed.iter().any(|entry| Some(entry.name.as_str()) == name)
    };
    Some(is_listed(one) && is_listed(other))
}

/// A copy that exists but is too short or too long is wrong.
pub fn short_is_wrong(trouble: CopyError, path: &ServicePath, bytes: u64) -> CopyError {
    match trouble {
        CopyError::Service(fault) if fault.class == lanlab_files::Class::Length => {
            let mut failure = wrong(path.as_str(), bytes);
            failure.message = format!("`{path}`: the copy is not whole: {}", fault.message);
            failure.into()
        }
        other => other,
    }
}

async fn compare_sizes(
    spec: &CopySpec,
    files: &Files,
    session: &AnySession,
) -> Result<u64, CopyError> {
    let mut listed = HashMap::new();
    let top = files_path(&spec.working_name)?;
    let below = files.directories.iter().map(|path| remote_path(&spec.working_name, path));
    for directory in std::iter::once(Ok(top)).chain(below) {
        let directory = directory?;
        for entry in session.list(Some(&directory)).await? {
            if !entry.is_directory {
                listed.insert(format!("{directory}/{}", entry.name), entry.size_bytes);
            }
        }
    }
    for entry in &files.entries {
        let path = remote_path(&spec.working_name, &entry.path)?;
        match listed.get(path.as_str()) {
            Some(found) if *found == entry.bytes => {}
            Some(found) => return Err(wrong_size(entry.path.as_str(), *found, entry.bytes).into()),
            None => {
                let message = format!("`{}`: not at the service", entry.path);
                return Err(Failure::new("copy.wrong", message).into());
            }
        }
    }
    Ok(files.entries.len() as u64)
}
