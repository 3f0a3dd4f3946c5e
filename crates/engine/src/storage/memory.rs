//! Reserves memory for a copy before it is timed.
//!
//! A virtual machine reports free memory to its host (free page reporting, virtio-balloon), which takes it back, so
//! the next program that uses it has to wait. A copy into such memory took two to four times as long as the next
//! one, which reused the first one's pages. So the memory that a copy will fill is used and freed right before each
//! trial, with every service. A file system in memory uses other pages than a program (smaller ones, from other
//! lists): for a copy into one, a file of that size is written there and removed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use lanlab_os as os;

use crate::running::Running;

/// A smaller amount costs more to reserve than it saves.
const LEAST_BYTES: u64 = 1 << 20;
const WITHIN: Duration = Duration::from_mins(2);
const LOOK: Duration = Duration::from_millis(2);
const BLOCK_BYTES: usize = 1 << 20;

/// Reserve free memory, for files in a directory if one is named.
///
/// # Errors Why none was reserved, worded for the record.
pub fn make_ready(wanted: u64, directory: Option<&Path>, running: &Running) -> Result<u64, String> {
    let free = free_bytes(Path::new("/proc/meminfo"))
        .ok_or("this system does not say how much memory is free")?;
    let in_memory = directory.filter(|directory| os::file_in_memory(directory).is_ok());
    // A file system in memory may have a lower limit.
    let room = in_memory.and_then(|directory| os::free_bytes(directory).ok());
    let size = size_of(wanted, free.min(room.unwrap_or(u64::MAX)))?;
    in_a_process(size, in_memory, running)?;
    Ok(size)
}

fn size_of(wanted: u64, free: u64) -> Result<u64, String> {
    let size = wanted.min(free / 4 * 3);
    match size {
        LEAST_BYTES.. => Ok(size),
        _ if size == wanted => Err("too little to matter".into()),
        _ => Err("too little free".into()),
    }
}

fn in_a_process(size: u64, directory: Option<&Path>, running: &Running) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("it failed: {error}");
    let mut child = Command::new(std::env::current_exe().map_err(failed)?)
        .args(["touch-memory", &size.to_string()])
        .args(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let until = Instant::now() + WITHIN;
    loop {
        match child.try_wait().map_err(failed)? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(format!("it failed: {status}")),
            None if running.is_cancelled() || Instant::now() > until => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("it failed: not done within {} s", WITHIN.as_secs()));
            }
            // The standard library cannot wait for a process with a time-out.
            None => std::thread::sleep(LOOK),
        }
    }
}

/// The work of the memory process: write once to every page of its own memory, or of an unnamed file in a
/// directory in memory.
pub fn run(size: &str, directory: Option<&str>) -> ExitCode {
    let Some(size) = size.parse().ok().filter(|size| *size > 0) else {
        eprintln!("error: touch-memory: found `{size}`; allowed: a number of bytes above 0");
        return ExitCode::from(2);
    };
    // Ask the system to kill this process first if memory runs out.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    if let Some(directory) = directory {
        let filled = os::file_in_memory(Path::new(directory)).and_then(|file| fill(file, size));
        return match filled {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: touch-memory: {directory}: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let mut held: Vec<u8> = Vec::new();
    if held.try_reserve_exact(size).is_err() {
        return ExitCode::FAILURE;
    }
    held.resize(size, 1);
    std::hint::black_box(&held);
    ExitCode::SUCCESS
}

fn fill(mut file: File, size: usize) -> io::Result<()> {
    let block = vec![1; BLOCK_BYTES.min(size)];
    let mut left = size;
    while left > 0 {
        let count = left.min(block.len());
        file.write_all(&block[..count])?;
        left -= count;
    }
    Ok(())
}

/// Unused memory; cached files count as used (proc(5)).
fn free_bytes(facts: &Path) -> Option<u64> {
    let facts = fs::read_to_string(facts).ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("MemFree:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_three_quarters_of_free_memory_is_reserved() {
        assert_eq!(size_of(1 << 40, 8 << 20), Ok(6 << 20));
        assert_eq!(size_of(2 << 20, 8 << 20), Ok(2 << 20));
        assert_eq!(size_of(1 << 40, 1 << 10), Err("too little free".into()));
        assert_eq!(size_of(1 << 10, 8 << 20), Err("too little to matter".into()));
    }

    #[test]
    fn free_memory_excludes_used_and_reserved_memory() {
        let folder = tempfile::tempdir().unwrap();
        let facts = folder.path().join("meminfo");
        assert_eq!(free_bytes(&facts), None);
        fs::write(&facts, "MemTotal: 24684288 kB\nMemFree: 8192 kB\nMemAvailable: 20000000 kB\n")
            .unwrap();
        assert_eq!(free_bytes(&facts), Some(8 << 20));
        fs::write(&facts, "MemFree: plenty\n").unwrap();
        assert_eq!(free_bytes(&facts), None);
    }
}
