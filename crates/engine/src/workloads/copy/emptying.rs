//! What a trial has written at the service is removed, as often as it takes: only then its mark may go,
//! without which nobody knows later what is ours.

use std::collections::HashSet;
use std::time::Duration;

use lanlab_link as link;
use lanlab_services::{AnySession, ServicePath, Session};

use super::moving::Trouble;
use super::seen::Seen;
use super::working::{Written, files_path, path, remote_path, removed_directory, unless_missing};
use crate::failure::Failure;
use crate::messages::{CopyEmptied, CopySpec};

/// A server may hold a file open until it knows that its client is gone, within a round trip and a
/// turn of its processor, and refuses to remove it or puts that off (SMB): it is asked for so long.
pub const HELD_WITHIN_NS: u64 = 1_500_000_000;
/// And so often.
pub const HELD_LOOK: Duration = Duration::from_millis(100);

/// Remove the files and directories that the trial wrote beside its mark; what is left is not ours.
///
/// # Errors
/// A file of ours is still there when it has been asked for long enough.
pub async fn remove_written(
    session: &AnySession,
    spec: &CopySpec,
    written: &Written,
) -> Result<CopyEmptied, Trouble> {
    let below = |paths: &[ServicePath]| -> Result<Vec<_>, Failure> {
        paths.iter().map(|path| remote_path(spec, path)).collect()
    };
    let files = below(&written.files)?;
    let mut directories = vec![files_path(spec)?];
    directories.extend(below(&written.directories)?);
    let working = path(spec.working_name.clone())?;
    let mut seen = Seen::in_these(session, &working, &directories).await?;
    let mut left: Vec<_> = files.iter().filter(|file| seen.may_hold(file)).collect();
    let mut removed = HashSet::new();
    let until = link::monotonic().plus_nanos(HELD_WITHIN_NS);
    loop {
        let (mut refused, mut first_fault) = (HashSet::new(), None);
        for file in &left {
            match unless_missing(session.remove(file).await) {
                Ok(true) => _ = removed.insert(*file),
                Ok(false) => {}
                Err(fault) if fault.class.is_passing() => return Err(fault.into()),
                Err(fault) => {
                    refused.insert(*file);
                    first_fault.get_or_insert(fault);
                }
            }
        }
        let mut is_gone = true;
        for directory in directories.iter().rev().filter(|path| seen.is_directory(path)) {
            is_gone &= removed_directory(session, directory).await?;
        }
        let emptied = CopyEmptied { removed_files: removed.len() as u64, is_gone };
        if is_gone && refused.is_empty() {
            return Ok(emptied);
        }
        seen = Seen::in_these(session, &working, &directories).await?;
        left.retain(|file| seen.is_file(file) || refused.contains(file));
        let is_late = link::monotonic() >= until;
        match left.first() {
            // A directory is held by something that its listing does not show, or by nothing of ours.
            None if is_late || !directories.iter().any(|path| seen.is_empty(path)) => {
                return Ok(emptied);
            }
            Some(file) if is_late => {
                return Err(
                    first_fault.map_or_else(|| held(file.as_str()).into(), Trouble::Service)
                );
            }
            _ => tokio::time::sleep(HELD_LOOK).await,
        }
    }
}

/// What was removed is still there, after it has been asked for long enough.
pub fn held(file: &str) -> Failure {
    Failure::new("copy.held", format!("`{file}`: still there after its removal"))
        .hint("see who has it open; the next copy to that server removes it")
}
