//! Removes what a trial has written at the service, with as many attempts as it takes. The mark goes
//! last: without it the files could not be recognized as lanlab's later.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use lanlab_files::{Class, Fault, ServiceKind, ServicePath, Session};
use lanlab_os as os;

use super::listing::Listing;
use super::not_removed::{NotRemoved, removed_directory};
use super::service_paths::{files_path, path, remote_path};
use crate::messages::Failure;
use lanlab_workloads::copy::CopyError;

/// How long removal of a file is retried. A server may hold it open until it knows that its client is
/// gone, within a round trip and a turn of its processor, and refuse or delay removal (SMB).
pub const HELD_WITHIN_NS: u64 = 1_500_000_000;
pub const HELD_LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub struct Written {
    pub files: Vec<ServicePath>,
    pub directories: Vec<ServicePath>,
}

/// Remove the files and directories that the trial wrote, except its mark; returns the number of files.
/// What is left is noted in `not_removed`.
///
/// # Errors
/// A file of ours is still there when it has been asked for long enough, though the server says that
/// it has removed it.
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
    // There the same request removes a file, and a directory that has taken its place with all in it.
    let by_names = !matches!(service, ServiceKind::Webdav | ServiceKind::Webdavs);
    let mut seen = match Listing::in_these(session, &working, &directories, by_names).await {
        Err(fault) if !fault.class.is_passing() => {
            not_removed.refused(&working, &fault);
            return Ok(0);
        }
        seen => seen?,
    };
    not_removed.not_listed(seen.not_listed.as_ref());
    let mut left: Vec<_> = files.iter().filter(|file| seen.may_hold(file)).collect();
    let mut removed = HashSet::new();
    let until = os::monotonic().plus_nanos(HELD_WITHIN_NS);
    loop {
        // What the server says of those that it does not remove. That there is none, it may say of
        // one that the user may not remove, too (FTP).
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
            Some(file) if is_late => return Err(held_open(file.as_str()).into()),
            // A directory is held by something that its listing does not show, or by nothing of ours.
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

/// Whether the server has refused to remove a file, so that it may be there though no listing shows it.
pub fn is_refusal(fault: &Fault) -> bool {
    !matches!(fault.class, Class::Missing | Class::Name)
}

pub fn held_open(file: &str) -> Failure {
    Failure::new("copy.held", format!("`{file}`: still there after its removal"))
        .hint("find out who has it open; the next copy to that server removes it")
}
