//! This host's side of a download: where octets go, and how it is seen that they are right.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lanlab_link as link;
use lanlab_services::{ServicePath, write_all_at};
use twox_hash::XxHash3_64;

use super::files::{Entry, Files, Truth, read_all};
use super::working::Written;
use crate::failure::Failure;
use crate::messages::CopySync;
use crate::running::Running;
use crate::workloads::dataset::{of_file, stop_if_cancelled};

/// Where the octets of a file go.
#[derive(Debug)]
pub enum Sink {
    /// Nowhere; the hash of each block is kept, to be compared once the copy is timed.
    Hashes { block_bytes: u32, hashes: RefCell<Vec<u64>> },
    /// To a file of this host.
    File { file: File, path: PathBuf },
    /// They are compared at once.
    Compare { truth: Truth, scratch: RefCell<Vec<u8>>, name: String },
}

impl Sink {
    pub fn hashes(bytes: u64, block_bytes: u32) -> Self {
        let blocks = bytes.div_ceil(block_bytes.into()) as usize;
        Self::Hashes { block_bytes, hashes: RefCell::new(vec![0; blocks]) }
    }

    pub fn create(path: PathBuf) -> Result<Self, Failure> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(|error| of_file("open", &path, &error))?;
        Ok(Self::File { file, path })
    }

    pub fn compare(truth: Truth, name: String) -> Self {
        Self::Compare { truth, scratch: RefCell::default(), name }
    }

    /// Take one whole block: what lies from `offset` on.
    pub fn take(&self, offset: u64, block: &[u8]) -> Result<(), Failure> {
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

    /// End with it; gives the hashes, if those are what was kept.
    pub fn close(self, sync: CopySync) -> Result<Option<Vec<u64>>, Failure> {
        match self {
            Self::Hashes { hashes, .. } => Ok(Some(hashes.into_inner())),
            Self::Compare { .. } => Ok(None),
            Self::File { file, path } => {
                let synced = if sync == CopySync::File { file.sync_data() } else { Ok(()) };
                synced
                    .and_then(|()| link::close_file(file))
                    .map_err(|error| of_file("close", &path, &error))?;
                Ok(None)
            }
        }
    }
}

/// A copy is not what it should be.
pub fn wrong(name: &str, octet: u64) -> Failure {
    Failure::new("copy.wrong", format!("`{name}`: the copy differs from octet {octet} on"))
        .hint("what moved or kept it has damaged it: no figure of this service can be trusted")
}

/// A copy is shorter or longer than it should be.
pub fn wrong_size(name: &str, found: u64, expected: u64) -> Failure {
    let message = format!("`{name}`: the copy has {found} octets; the file has {expected}");
    Failure::new("copy.wrong", message)
}

/// Where the files of a download lie at this host, and how they are made and removed.
#[derive(Debug)]
pub struct Place {
    pub directory: PathBuf,
}

impl Place {
    /// Make the directory, which must not be there, and those below it.
    pub fn make(&self, files: &Files) -> Result<(), Failure> {
        let make = |path: &Path| {
            fs::create_dir(path).map_err(|error| of_file("make directory", path, &error))
        };
        make(&self.directory)?;
        files.directories.iter().try_for_each(|path| make(&self.directory.join(path.as_str())))
    }

    pub fn path(&self, entry: &Entry) -> PathBuf {
        self.directory.join(entry.path.as_str())
    }

    /// Compare a file with what it should be; gives its octets.
    pub fn compare(
        &self,
        entry: &Entry,
        truth: &Truth,
        buffers: &mut (Vec<u8>, Vec<u8>),
        running: &Running,
    ) -> Result<u64, Failure> {
        let path = self.path(entry);
        self.compare_size(entry)?;
        let file = File::open(&path).map_err(|error| of_file("open", &path, &error))?;
        link::will_read_in_order(&file);
        let (buffer, scratch) = buffers;
        let mut offset = 0;
        while offset < entry.bytes {
            stop_if_cancelled(running)?;
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
        let path = self.path(entry);
        let found = fs::metadata(&path).map_err(|error| of_file("look at", &path, &error))?.len();
        if found == entry.bytes {
            return Ok(());
        }
        Err(wrong_size(entry.path.as_str(), found, entry.bytes))
    }

    /// Whether every directory on the way to a path is one, and no link that somebody has put there.
    fn leads_nowhere_else(&self, path: &ServicePath) -> bool {
        let is_directory =
            |path: &Path| fs::symlink_metadata(path).is_ok_and(|facts| facts.is_dir());
        let mut way = self.directory.clone();
        is_directory(&way)
            && path.parent().is_none_or(|parent| {
                parent.names().all(|name| {
                    way.push(name);
                    is_directory(&way)
                })
            })
    }

    /// Remove the files that the trial wrote, and the directories if nothing else is in them; gives
    /// whether all are gone.
    pub fn remove(&self, written: &Written) -> Result<bool, Failure> {
        for path in written.files.iter().filter(|path| self.leads_nowhere_else(path)) {
            let path = self.directory.join(path.as_str());
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(of_file("remove", &path, &error));
                }
                _ => {}
            }
        }
        let mut is_gone = true;
        for path in written.directories.iter().rev().filter(|path| self.leads_nowhere_else(path)) {
            is_gone &= removed_directory(&self.directory.join(path.as_str()))?;
        }
        Ok(removed_directory(&self.directory)? && is_gone)
    }
}

/// Whether a directory is gone: one with something in it is left, and so is what is none.
fn removed_directory(path: &Path) -> Result<bool, Failure> {
    match fs::remove_dir(path) {
        Ok(()) => Ok(true),
        Err(error) => match error.kind() {
            ErrorKind::NotFound => Ok(true),
            ErrorKind::DirectoryNotEmpty | ErrorKind::NotADirectory => Ok(false),
            _ => Err(of_file("remove directory", path, &error)),
        },
    }
}

/// Compare the hashes of a file's blocks with those of what it should be; gives its octets.
pub fn compare_hashes(
    entry: &Entry,
    truth: &Truth,
    hashes: &[u64],
    block: &mut [u8],
    running: &Running,
) -> Result<u64, Failure> {
    let mut offset = 0;
    for hash in hashes {
        stop_if_cancelled(running)?;
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
