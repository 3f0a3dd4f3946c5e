//! Datasets: reproducible files, checked before use.

use std::fs::{self, File, OpenOptions};
use std::hash::Hasher;
use std::io;
use std::path::Path;

use lanlab_os as os;
use lanlab_os::positioned::{read_at, write_all_at};
use twox_hash::XxHash3_64;

use crate::cost::{Cost, OWN_THREADS};
use crate::messages::{
    CachesDropped, Dataset, DatasetMade, DropCaches, DroppedOf, Failure, Outcome,
};
use crate::paths::{absolute, of_file};
use crate::running::Running;
use crate::storage;
use crate::task::Task;

pub use lanlab_workloads::dataset::{
    Content, MOST_FILES, content, file_name, first_difference, sizes,
};

const BLOCK_BYTES: usize = 1 << 20;
const MOST_DEPTH: usize = 64;

pub fn make(request: Dataset) -> Result<Task, Failure> {
    storage::check_place(&request.place)?;
    let sizes = sizes(&request.spec)?;
    let memory_bytes = 3 * BLOCK_BYTES as u64 + 8 * sizes.len() as u64;
    Ok(Task::new(Cost { memory_bytes, threads: OWN_THREADS }, move |running| {
        let start = os::monotonic();
        let (made, _) = running.with_progress(start, start, || make_all(&request, &sizes, running));
        let mut made = made?;
        made.elapsed_ns = os::monotonic().nanos_since(start);
        Ok(Outcome::DatasetMade(made))
    }))
}

fn make_all(request: &Dataset, sizes: &[u64], running: &Running) -> Result<DatasetMade, Failure> {
    let directory = storage::dataset_directory(&request.place)?;
    fs::create_dir_all(&directory)
        .map_err(|error| of_file("make directory", &directory, &error))?;
    let directory_name = directory.display().to_string();
    let mut made = DatasetMade { directory: directory_name, ..DatasetMade::default() };
    let mut hasher = XxHash3_64::with_seed(0);
    let (mut expected, mut found) = (vec![0; BLOCK_BYTES], vec![0; BLOCK_BYTES]);
    for (number, &size) in (0_u64..).zip(sizes) {
        let path = directory.join(file_name(number));
        let content = content(&request.spec, number);
        let is_there = is_right(&path, content, size, &mut found, running)?;
        if !is_there {
            write(&path, content, size, &mut expected, running)?;
        }
        let mut offset = 0;
        while offset < size {
            let part = &mut expected[..(size - offset).min(BLOCK_BYTES as u64) as usize];
            content.fill(offset, part);
            hasher.write(part);
            offset += part.len() as u64;
        }
        running.count(1, size);
        made.files += 1;
        made.bytes += size;
        made.written_files += u64::from(!is_there);
    }
    made.xxh3 = format!("{:016x}", hasher.finish());
    Ok(made)
}

fn is_right(
    path: &Path,
    content: Content,
    size: u64,
    buffer: &mut [u8],
    running: &Running,
) -> Result<bool, Failure> {
    // A link could lead to a foreign file, which would then be overwritten.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(of_file("look at", path, &error)),
        Ok(facts) if !facts.is_file() => {
            return Err(Failure::new(
                "dataset.in_the_way",
                format!("{}: not a file of the dataset", path.display()),
            )
            .hint("choose another directory for datasets, or move it away"));
        }
        Ok(facts) if facts.len() != size => return Ok(false),
        Ok(_) => {}
    }
    let file = File::open(path).map_err(|error| of_file("open", path, &error))?;
    os::will_read_in_order(&file);
    let mut offset = 0;
    while offset < size {
        running.check()?;
        let length = (size - offset).min(buffer.len() as u64) as usize;
        let got = read_at(&file, &mut buffer[..length], offset)
            .map_err(|error| of_file("read", path, &error))?;
        if got == 0 || content.first_difference(offset, &buffer[..got]).is_some() {
            return Ok(false);
        }
        offset += got as u64;
    }
    Ok(true)
}

fn write(
    path: &Path,
    content: Content,
    size: u64,
    buffer: &mut [u8],
    running: &Running,
) -> Result<(), Failure> {
    let failed = |error: &io::Error| of_file("write", path, error);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(|error| failed(&error))?;
    let mut offset = 0;
    while offset < size {
        running.check()?;
        let part = &mut buffer[..(size - offset).min(BLOCK_BYTES as u64) as usize];
        content.fill(offset, part);
        write_all_at(&file, part, offset).map_err(|error| failed(&error))?;
        offset += part.len() as u64;
    }
    os::close_file(file).map_err(|error| failed(&error))
}

/// Drop the system's file caches: all if permitted, otherwise those of files in the directory, otherwise none;
/// reports which.
pub fn drop_caches(request: &DropCaches) -> Result<Task, Failure> {
    let directory = absolute(&request.directory)?;
    Ok(Task::new(Cost { memory_bytes: 0, threads: 1 }, move |running| {
        Ok(Outcome::CachesDropped(forget_all(&directory, running)?))
    }))
}

fn forget_all(directory: &Path, running: &Running) -> Result<CachesDropped, Failure> {
    let mut left = MOST_FILES;
    let of_files = || forget(directory, MOST_DEPTH, &mut left, running);
    forgotten(os::drop_all_caches(), of_files, running)
}

/// Which caches were dropped: all of them, or only files if the system refuses that, or none.
fn forgotten(
    everything: io::Result<()>,
    of_files: impl FnOnce() -> Result<(), Failure>,
    running: &Running,
) -> Result<CachesDropped, Failure> {
    let Err(error) = everything else {
        return Ok(CachesDropped { of: DroppedOf::Everything, reason: None });
    };
    let reason = format!("/proc/sys/vm/drop_caches: {error}");
    Ok(match of_files() {
        Ok(()) => CachesDropped { of: DroppedOf::Files, reason: Some(reason) },
        Err(error) if running.is_cancelled() => return Err(error),
        Err(error) => CachesDropped {
            of: DroppedOf::Nothing,
            reason: Some(format!("{reason}; {}", error.message)),
        },
    })
}

fn forget(
    directory: &Path,
    depth: usize,
    left: &mut usize,
    running: &Running,
) -> Result<(), Failure> {
    let failed = |error: io::Error| of_file("forget", directory, &error);
    for entry in fs::read_dir(directory).map_err(failed)? {
        running.check()?;
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() && depth > 0 {
            forget(&entry.path(), depth - 1, left, running)?;
        } else if kind.is_file() {
            *left = left.checked_sub(1).ok_or_else(|| {
                Failure::new("system.file", format!("more than {MOST_FILES} files"))
            })?;
            let path = entry.path();
            File::open(&path)
                .and_then(|file| os::forget_cached(&file))
                .map_err(|error| of_file("forget", &path, &error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
