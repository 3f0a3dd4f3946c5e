//! Disk and memory for trials on this host, requested by the driver, which may run on another machine.

mod directories;
mod memory;

use std::path::{Path, PathBuf};

use lanlab_os as os;

use crate::cost::{Cost, OWN_THREADS};

use crate::messages::{
    DatasetPlace, Failure, MeasureRoom, MemoryReady, Outcome, Ready, ReadyMemory, RoomMeasured,
    TrialDirectory, TrialDirectoryRemoved,
};
use crate::paths::{absolute, of_file};
use crate::running::conclude;
use crate::task::Task;

pub use directories::remove_all;
pub use memory::run as touch_memory;

const LONGEST_KEY: usize = 64;

/// Cost of requests that only look or wait.
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

/// The directory of a dataset: kept between runs on disk, and until this engine ends in memory.
pub fn dataset_directory(place: &DatasetPlace) -> Result<PathBuf, Failure> {
    match place {
        DatasetPlace::Directory(directory) => absolute(directory),
        DatasetPlace::Cache { medium, key } => {
            directories::for_datasets(*medium).map(|kept| kept.join(key))
        }
    }
}

/// Make a directory for a trial, and keep it until the driver cancels.
pub fn hold_directory(&TrialDirectory { medium, for_server }: &TrialDirectory) -> Task {
    Task::new(SMALL, move |running| {
        directories::remove_left();
        let made = directories::make(medium, for_server)?;
        let directory = made.path().display().to_string();
        running.tell_ready(Ready { directory: Some(directory.clone()), ..Ready::default() });
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

/// Reserve free memory.
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
