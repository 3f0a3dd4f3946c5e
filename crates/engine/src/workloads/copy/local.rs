//! This host's side of a download: storing and verifying bytes.

use std::cell::RefCell;
use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lanlab_clients::{ConfinedDirectory, Kind};
use lanlab_files::{Access, ServicePath};
use lanlab_os as os;
use lanlab_os::positioned::write_all_at;
use lanlab_workloads::copy::Source;
use twox_hash::XxHash3_64;

use super::files::{Entry, Files, Truth, read_all};
use super::removal::Written;
use crate::messages::{CopySync, Failure};
use crate::paths::of_file;
use crate::running::Running;

#[derive(Debug)]
pub enum Sink {
    /// Store nothing; keep block hashes, and compare them after the timed part.
    Hashes {
        block_bytes: u32,
        hashes: RefCell<Vec<u64>>,
    },
    File {
        file: File,
        path: PathBuf,
    },
    Compare {
        truth: Truth,
        scratch: RefCell<Vec<u8>>,
        name: String,
    },
}

impl Sink {
    pub fn hashes(bytes: u64, block_bytes: u32) -> Self {
        let blocks = bytes.div_ceil(block_bytes.into()) as usize;
        Self::Hashes { block_bytes, hashes: RefCell::new(vec![0; blocks]) }
    }

    pub fn compare(truth: Truth, name: String) -> Self {
        Self::Compare { truth, scratch: RefCell::default(), name }
    }
}

impl lanlab_workloads::copy::Sink for Sink {
    fn take(&self, offset: u64, block: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Hashes { block_bytes, hashes } => {
                let place = (offset / u64::from(*block_bytes)) as usize;
                hashes.borrow_mut()[place] = XxHash3_64::oneshot(block);
                Ok(())
            }
            Self::File { file, path } => {
                write_all_at(file, block, offset).map_err(|error| of_file("write", path, &error))
            }
            Self::Compare { truth, scratch, name } => {
                match truth.first_difference(offset, block, &mut scratch.borrow_mut())? {
                    None => Ok(()),
                    Some(octet) => Err(wrong(name, octet)),
                }
            }
        }
    }

    fn close(self, sync: CopySync) -> Result<Option<Vec<u64>>, Failure> {
        match self {
            Self::Hashes { hashes, .. } => Ok(Some(hashes.into_inner())),
            Self::Compare { .. } => Ok(None),
            Self::File { file, path } => {
                let synced = if sync == CopySync::File { file.sync_data() } else { Ok(()) };
                synced
                    .and_then(|()| os::close_file(file))
                    .map_err(|error| of_file("close", &path, &error))?;
                Ok(None)
            }
        }
    }
}

pub fn wrong(name: &str, octet: u64) -> Failure {
    Failure::new("copy.wrong", format!("`{name}`: the copy differs from octet {octet} on"))
        .hint("the data was corrupted in transit or storage; discard these results")
}

pub fn wrong_size(name: &str, found: u64, expected: u64) -> Failure {
    let message = format!("`{name}`: the copy has {found} octets; the file has {expected}");
    Failure::new("copy.wrong", message)
}

/// The local directory of a download, opened so that replacing its path has no effect.
#[derive(Debug)]
pub struct Place {
    below: ConfinedDirectory,
    working: ServicePath,
}

impl Place {
    /// `directory` must exist.
    pub fn new(directory: &Path, working: ServicePath) -> Result<Self, Failure> {
        let below = ConfinedDirectory::open(directory)
            .map_err(|error| of_file("open", directory, &error))?;
        Ok(Self { below, working })
    }

    fn at(&self, path: &ServicePath) -> Result<ServicePath, Failure> {
        self.working
            .join(path.as_str())
            .map_err(|bad| Failure::new("copy.name", bad.message).hint("shorten its name"))
    }

    fn failed(&self, what: &str, path: &ServicePath, error: &std::io::Error) -> Failure {
        of_file(what, &self.below.place(Some(path)), error)
    }

    /// Make the directory, which must not exist, and its subdirectories.
    pub fn make(&self, files: &Files) -> Result<(), Failure> {
        let make = |path: &ServicePath| {
            let made = self.below.make_directory(path);
            made.map_err(|error| self.failed("make directory", path, &error))
        };
        make(&self.working)?;
        files.directories.iter().try_for_each(|path| make(&self.at(path)?))
    }

    /// Create a file; `is_again` if an earlier attempt left a part of it.
    pub fn create(&self, entry: &Entry, is_again: bool) -> Result<Sink, Failure> {
        let path = self.at(&entry.path)?;
        if is_again {
            self.remove_file(&path)?;
        }
        let file = self.below.file(&path, Access::Create { size_bytes: entry.bytes });
        let file = file.map_err(|error| self.failed("open", &path, &error))?;
        Ok(Sink::File { file, path: self.below.place(Some(&path)) })
    }

    fn remove_file(&self, path: &ServicePath) -> Result<(), Failure> {
        match self.below.remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(self.failed("remove", path, &error))
            }
            _ => Ok(()),
        }
    }

    pub fn compare(
        &self,
        entry: &Entry,
        truth: &Truth,
        buffers: &mut (Vec<u8>, Vec<u8>),
        running: &Running,
    ) -> Result<u64, Failure> {
        self.compare_size(entry)?;
        let place = self.at(&entry.path)?;
        let file = self.below.file(&place, Access::Read);
        let file = file.map_err(|error| self.failed("open", &place, &error))?;
        let path = self.below.place(Some(&place));
        os::will_read_in_order(&file);
        let (buffer, scratch) = buffers;
        let mut offset = 0;
        while offset < entry.bytes {
            running.check()?;
            let length = (entry.bytes - offset).min(buffer.len() as u64) as usize;
            read_all(&file, &path, offset, &mut buffer[..length])?;
            if let Some(octet) = truth.first_difference(offset, &buffer[..length], scratch)? {
                return Err(wrong(entry.path.as_str(), octet));
            }
            offset += length as u64;
        }
        Ok(entry.bytes)
    }

    pub fn compare_size(&self, entry: &Entry) -> Result<(), Failure> {
        let path = self.at(&entry.path)?;
        let found =
            self.below.look(&path).map_err(|error| self.failed("look at", &path, &error))?;
        if found.kind == Kind::File && found.bytes == entry.bytes {
            return Ok(());
        }
        Err(wrong_size(entry.path.as_str(), found.bytes, entry.bytes))
    }

    /// Remove the files that the trial wrote, and directories that become empty; returns what is left.
    pub fn remove(&self, written: &Written) -> Result<Vec<PathBuf>, Failure> {
        for path in &written.files {
            let path = self.at(path)?;
            if self.is_reached(&path) {
                self.remove_file(&path)?;
            }
        }
        let mut left = Vec::new();
        let below = written.directories.iter().rev().map(|path| self.at(path));
        for path in below.chain([Ok(self.working.clone())]) {
            let path = path?;
            if self.is_reached(&path) && !self.removed_directory(&path)? {
                left.push(self.below.place(Some(&path)));
            }
        }
        Ok(left)
    }

    /// Whether every directory in a path is a real one, not a link.
    fn is_reached(&self, path: &ServicePath) -> bool {
        !self.below.look(path).is_err_and(|error| error.kind() == ErrorKind::NotADirectory)
    }

    /// Remove a directory; returns whether it is gone. Non-empty ones and non-directories stay.
    fn removed_directory(&self, path: &ServicePath) -> Result<bool, Failure> {
        match self.below.remove_directory(path) {
            Ok(()) => Ok(true),
            Err(error) => match error.kind() {
                ErrorKind::NotFound => Ok(true),
                ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists => Ok(false),
                _ => Err(self.failed("remove directory", path, &error)),
            },
        }
    }
}

/// Compare a file's block hashes with the expected ones; returns its length.
pub fn compare_hashes(
    entry: &Entry,
    truth: &Truth,
    hashes: &[u64],
    block: &mut [u8],
    running: &Running,
) -> Result<u64, Failure> {
    let mut offset = 0;
    for hash in hashes {
        running.check()?;
        let length = (entry.bytes - offset).min(block.len() as u64) as usize;
        let part = &mut block[..length];
        truth.fill(offset, part)?;
        if XxHash3_64::oneshot(part) != *hash {
            let message = format!(
                "`{}`: the copy differs within the {length} octets from {offset} on",
                entry.path
            );
            return Err(Failure::new("copy.wrong", message));
        }
        offset += length as u64;
    }
    if offset == entry.bytes {
        return Ok(offset);
    }
    Err(wrong_size(entry.path.as_str(), offset, entry.bytes))
}

#[cfg(test)]
mod tests;
