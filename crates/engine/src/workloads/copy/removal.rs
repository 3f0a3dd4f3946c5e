//! Removes a trial's files at the service, with retries. The mark is removed last: it identifies the files as
//! lanlab's.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use lanlab_files::{Class, Fault, ServiceKind, ServicePath, Session};
use lanlab_os as os;

use super::listing::Listing;
use super::not_removed::{NotRemoved, removed_directory};
use super::service_paths::{files_path, path, remote_path};
use crate::messages::Failure;
use lanlab_workloads::copy::CopyError;

/// How long removal of a file is retried. A server may hold it open, and refuse or delay removal, until it notices
/// that its client is gone (SMB).
const HELD_WITHIN_NS: u64 = 1_500_000_000;
const HELD_LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub struct Written {
    pub files: Vec<ServicePath>,
    pub directories: Vec<ServicePath>,
}

/// Remove the files and directories that the trial wrote, except its mark; returns the number of files. Remaining
/// ones are noted in `not_removed`.
///
/// # Errors A file of ours still exists after all retries, although the server reports its removal.
pub async fn remove_written(
    session: &impl Session,
    (service, working_name): (ServiceKind, &str),
    written: &Written,
    not_removed: &mut NotRemoved,
) -> Result<u64, CopyError> {
    let below = |paths: &[ServicePath]| -> Result<Vec<_>, Failure> {
        paths.iter().map(|path| remote_path(working_name, path)).collect()
    };
    let files = below(&written.files)?;
    let mut directories = vec![files_path(working_name)?];
    directories.extend(below(&written.directories)?);
    let working = path(working_name.to_owned())?;
    // `WebDAV` removes a file and a directory tree that replaced it by the same request. Without PROPFIND lanlab
    // uses no directories there.
    let is_dav = matches!(service, ServiceKind::Webdav | ServiceKind::Webdavs);
    let is_flat = is_dav && !session.has_directories();
    let by_names = !is_dav || is_flat;
    let mut seen = match Listing::in_these(session, &working, &directories, by_names).await {
        Err(fault) if !fault.class.is_passing() => {
            not_removed.refused(&working, &fault);
            return Ok(0);
        }
        seen => seen?,
    };
    not_removed.not_listed(seen.not_listed.as_ref().filter(|_| !is_flat));
    let mut left: Vec<_> = files.iter().filter(|file| seen.may_hold(file)).collect();
    let mut removed = HashSet::new();
    let until = os::monotonic().plus_nanos(HELD_WITHIN_NS);
    loop {
        // The server's errors for files it does not remove. "Not found" is also reported for files that the user
        // may not remove (FTP).
        let mut said: HashMap<&ServicePath, Fault> = HashMap::new();
        for file in &left {
            match session.remove(file).await {
                Ok(()) => _ = removed.insert(*file),
                Err(fault) if fault.class.is_passing() => return Err(fault.into()),
                Err(fault) => _ = said.insert(file, fault),
            }
        }
        let mut is_gone = true;
        for directory in directories.iter().rev().filter(|path| seen.is_directory(path)) {
            if let Some(fault) = removed_directory(session, directory).await? {
                is_gone = false;
                said.insert(directory, fault);
            }
        }
        let is_refused = |file: &&ServicePath| said.get(*file).is_some_and(is_refusal);
        if is_gone && !left.iter().any(is_refused) {
            return Ok(removed.len() as u64);
        }
        seen = Listing::in_these(session, &working, &directories, by_names).await?;
        left.retain(|file| seen.is_file(file) || is_refused(file));
        let is_late = os::monotonic() >= until;
        let held = left.iter().find(|file| !said.contains_key(**file));
        match held {
            Some(file) if is_late => {
                let message = format!("`{file}`: still there after its removal");
                let hint = "find out who has it open; the next copy to that server removes it";
                return Err(Failure::new("copy.held", message).hint(hint).into());
            }
            // Only unlisted or foreign files hold a directory.
            None if is_late
                || (left.is_empty() && !directories.iter().any(|path| seen.is_empty(path))) =>
            {
                for file in left {
                    not_removed.refused(file, &said[file]);
                }
                for directory in directories.iter().rev().filter(|path| said.contains_key(path)) {
                    not_removed.stays(directory, seen.is_empty(directory), &said[directory]);
                }
                return Ok(removed.len() as u64);
            }
            _ => tokio::time::sleep(HELD_LOOK).await,
        }
    }
}

/// Whether the server refused to remove a file, so that it may exist although no listing shows it.
pub fn is_refusal(fault: &Fault) -> bool {
    !matches!(fault.class, Class::Missing | Class::Name)
}
