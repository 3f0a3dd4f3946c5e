//! `copy`: files to or from a file service, timed from the opening of the first to the confirmed
//! closing of the last.
//!
//! A trial is four requests: `copy_prepare`, `copy`, `copy_check` and `copy_empty`. Only `copy` is
//! timed, and it ends before any further request to the server, so that the server's CPU time read
//! then is that of the copy.

mod check;
mod clock;
mod files;
mod listing;
mod local;
mod not_removed;
pub mod removal;
pub mod service_paths;
mod stack;
pub mod trial_directory;
mod workers;

use lanlab_workloads::copy::SESSION_BYTES;

use super::recorded;
use super::segment::check_target;
use super::setup::check_range;
use crate::cost::{Cost, METERS_BYTES, OWN_THREADS};
use crate::messages::{ClientSide, CopiedFiles, CopySpec, Direction, Failure};
use crate::paths::absolute;
use crate::running::{Measured, Running};
use crate::task::Task;

pub use check::check_upload;
pub use clock::{RuntimeClock, guard};
pub use trial_directory::{empty, prepare};
pub use workers::{CONNECT_AT_ONCE, connect_once, copy, counted, runtime};

/// Additional memory per connection for the services' own buffers.
const TRANSPORT_BYTES: u64 = 1 << 20;
const NAMES_BYTES: u64 = 32 << 20;
/// Maximum memory for block hashes kept until compared.
const HASHES_BYTES: u64 = 64 << 20;

pub fn task(spec: CopySpec, step: fn(&CopySpec, &Running) -> Measured) -> Result<Task, Failure> {
    Ok(Task::new(check(&spec)?, move |running| step(&spec, running)))
}

/// Check everything that needs no file or socket, and return the cost.
pub fn check(spec: &CopySpec) -> Result<Cost, Failure> {
    check_range("parallel_files", spec.parallel_files.into(), 1, 64)?;
    check_range("retries", spec.retries.into(), 0, 100)?;
    if let Some(longest_ns) = spec.longest_ns {
        check_range("longest_ns", longest_ns, 1_000_000, 366 * 86_400 * 1_000_000_000)?;
    }
    if let Some(bytes) = spec.block_bytes {
        check_range("block_bytes", bytes.into(), 512, 8 << 20)?;
    }
    if let Some(depth) = spec.depth {
        check_range("depth", depth.into(), 1, 256)?;
    }
    let asked = u64::from(spec.block_bytes.unwrap_or(0)) * u64::from(spec.depth.unwrap_or(1));
    if asked > SESSION_BYTES {
        let found = format!("{asked} octets under way");
        return Err(Failure::value("depth", found, format!("{SESSION_BYTES} for each file")));
    }
    check_target(&spec.service)?;
    stack::check(spec)?;
    recorded::begin_any(spec.service.link.as_ref())?;
    check_words(&spec.working_name, &spec.token)?;
    match (&spec.files, &spec.client) {
        (CopiedFiles::Dataset(dataset), _) => {
            super::dataset::sizes(dataset)?;
        }
        (CopiedFiles::Tree(tree), client) => {
            absolute(tree)?;
            if spec.direction == Direction::Upload && *client != ClientSide::Directory(tree.clone())
            {
                return Err(Failure::value("client", "elsewhere", "where the tree is"));
            }
        }
    }
    if let ClientSide::Directory(directory) = &spec.client {
        absolute(directory)?;
    }
    let files = u64::from(spec.parallel_files);
    Ok(Cost {
        memory_bytes: files * (SESSION_BYTES + TRANSPORT_BYTES + 2 * METERS_BYTES)
            + NAMES_BYTES
            + HASHES_BYTES,
        threads: files + OWN_THREADS,
    })
}

/// Check the name of a trial's directory, and the token in its mark.
pub fn check_words(name: &str, token: &str) -> Result<(), Failure> {
    let is_long = name.strip_prefix("lanlab-").is_some_and(|rest| {
        (1..=80).contains(&rest.len())
            && rest.bytes().all(|octet| octet.is_ascii_alphanumeric() || octet == b'-')
    });
    let is_short = name
        .strip_suffix(service_paths::SHORT)
        .is_some_and(|rest| rest.len() == 8 && rest.bytes().all(|octet| octet.is_ascii_hexdigit()));
    if !is_long && !is_short {
        let allowed =
            "`lanlab-` and up to 80 letters, digits and `-`; 8 hexadecimal digits and `.lab`";
        return Err(Failure::value("working_name", "another text", allowed));
    }
    if token.len() != 32 || !token.bytes().all(|octet| octet.is_ascii_hexdigit()) {
        return Err(Failure::value("token", "another text", "32 hexadecimal digits"));
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests;
