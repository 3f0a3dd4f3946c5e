//! What trials need of this host's disk and memory, asked for by the driver: so a host need not be the
//! machine that the driver runs on.

mod directories;
mod memory;

use std::path::{Path, PathBuf};

use lanlab_os as os;

use crate::cost::{Cost, OWN_THREADS};

use crate::messages::{
    DatasetPlace, Failure, MeasureRoom, MemoryReady, Outcome, ReadyMemory, RoomMeasured,
    TrialDirectory, TrialDirectoryRemoved,
};
use crate::paths::{absolute, of_file};
use crate::running::conclude;
use crate::task::Task;

pub use directories::remove_all;
pub use memory::run as touch_memory;

const LONGEST_KEY: usize = 64;

/// What a request takes that only looks or waits.
const SMALL: Cost = Cost { memory_bytes: 0, threads: OWN_THREADS };

pub fn check_place(place: &DatasetPlace) -> Result<(), Failure> {
    match place {
        DatasetPlace::Directory(directory) => absolute(directory).map(drop),
        DatasetPlace::Cache { key, .. } => {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if !key.is_empty() && key.len() <= LONGEST_KEY && key.chars().all(plain) {
                return Ok(());
            }
            let found: String = key.chars().take(100).collect();
            let allowed = "1 to 64 ASCII letters, digits, `-` and `_`";
            Err(Failure::value("key", format!("`{found}`"), allowed))
        }
    }
}

/// Where a dataset lies: on disk from run to run, in memory until this engine ends.
pub fn dataset_directory(place: &DatasetPlace) -> Result<PathBuf, Failure> {
    match place {
        DatasetPlace::Directory(directory) => absolute(directory),
        DatasetPlace::Cache { medium, key } => {
            directories::for_datasets(*medium).map(|kept| kept.join(key))
        }
    }
}

/// Make a directory for a trial, and hold it until the driver cancels.
pub fn hold_directory(&TrialDirectory { medium, for_server }: &TrialDirectory) -> Task {
    Task::new(SMALL, move |running| {
        directories::remove_left();
        let made = directories::make(medium, for_server)?;
        let directory = made.path().display().to_string();
        running.holding(directory.clone());
        running.wait_for_cancel();
        let removed = TrialDirectoryRemoved { directory, is_gone: made.remove() };
        conclude(Outcome::TrialDirectoryRemoved(removed), Some(Failure::cancelled()))
    })
}

pub fn measure_room(request: &MeasureRoom) -> Result<Task, Failure> {
    let directory = absolute(&request.directory)?;
    Ok(Task::new(SMALL, move |_| {
        let free_bytes = free_bytes(&directory)?;
        Ok(Outcome::RoomMeasured(RoomMeasured { free_bytes }))
    }))
}

fn free_bytes(directory: &Path) -> Result<Option<u64>, Failure> {
    match os::free_bytes(directory) {
        Ok(free) => Ok(Some(free)),
        Err(error) if error.kind() == std::io::ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(of_file("room of", directory, &error)),
    }
}

/// Have the system hold free memory.
///
/// # Errors
/// Of a directory that is not named from the root on.
pub fn ready_memory(request: &ReadyMemory) -> Result<Task, Failure> {
    let directory = request.directory.as_deref().map(absolute).transpose()?;
    let bytes = request.bytes;
    Ok(Task::new(SMALL, move |running| {
        let begun = os::monotonic();
        let (ready_bytes, reason) = match memory::make_ready(bytes, directory.as_deref(), running) {
            Ok(ready_bytes) => (ready_bytes, None),
            Err(_) if running.is_cancelled() => return Err(Failure::cancelled().into()),
            Err(reason) => (0, Some(reason)),
        };
        let elapsed_ns = os::monotonic().nanos_since(begun);
        Ok(Outcome::MemoryReady(MemoryReady { ready_bytes, reason, elapsed_ns }))
    }))
}
