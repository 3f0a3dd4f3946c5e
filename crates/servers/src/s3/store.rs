//! Objects as files below one directory.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::http::confined;
use super::receive::Sink;
use super::refusal::Refusal;

/// How the names of files begin that nobody sees: objects that are not whole yet.
pub const UNSEEN: &str = ".lanlab-unseen-";

/// How often a directory is made again that another client's removal took away.
const ATTEMPTS: usize = 8;

/// The files of a bucket.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
}

/// What is known of an object.
#[derive(Debug, Clone)]
pub struct Found {
    /// Octets.
    pub size_bytes: u64,
    /// When it was written, or what the client said of that.
    pub modified: SystemTime,
    /// When the file was made, where the system says so.
    made: Option<SystemTime>,
    /// The number of the file, where there is one: two are made within one tick of the clock, but
    /// not of one number, as the new one is made while the old one is there.
    number: u64,
}

impl Found {
    /// What the system says of a file.
    ///
    /// # Errors
    /// It is no file.
    pub fn of(metadata: &fs::Metadata) -> io::Result<Self> {
        if !metadata.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (size_bytes, modified) = (metadata.len(), metadata.modified()?);
        Ok(Self { size_bytes, modified, made: metadata.created().ok(), number: number(metadata) })
    }

    /// What names the content: no MD5, and not of its form, so that no client takes it for one. The
    /// time when the file was made is in it, as clients set the other one.
    pub fn etag(&self) -> String {
        let ns = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let made_ns = self.made.map_or(0, ns);
        let (modified_ns, number, size_bytes) = (ns(self.modified), self.number, self.size_bytes);
        format!("{made_ns:x}-{number:x}-{modified_ns:x}-{size_bytes:x}")
    }
}

#[cfg(unix)]
fn number(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

/// Elsewhere the time when a file was made is fine enough by itself.
#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> u64 {
    0
}

impl Store {
    /// Of a directory.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The file of a key. A key that ends with `/`, or has a name in it that is empty or ours, has
    /// none.
    fn path(&self, key: &str) -> io::Result<PathBuf> {
        if key.split('/').any(|name| name.is_empty() || name.starts_with(UNSEEN)) {
            return Err(io::ErrorKind::InvalidFilename.into());
        }
        confined(&self.root, key)
    }

    /// What is known of an object.
    pub fn look_at(&self, key: &str) -> io::Result<Found> {
        Found::of(&self.path(key)?.symlink_metadata()?)
    }

    /// Open an object to be read.
    pub fn open(&self, key: &str) -> io::Result<(File, Found)> {
        // A pipe would be waited for.
        self.look_at(key)?;
        let file = File::open(self.path(key)?)?;
        let found = Found::of(&file.metadata()?)?;
        Ok((file, found))
    }

    /// A new file for an object, beside where it will be, and the directories it needs.
    pub fn unseen(&self, key: &str) -> io::Result<Unseen> {
        let to = self.path(key)?;
        let parent = to.parent().unwrap_or(&self.root).to_owned();
        let mut octets = [0; 8];
        getrandom::fill(&mut octets).map_err(io::Error::other)?;
        let at = parent.join(format!("{UNSEEN}{:016x}", u64::from_ne_bytes(octets)));
        let mut attempts = 0;
        loop {
            fs::create_dir_all(&parent)?;
            attempts += 1;
            match File::options().read(true).write(true).create_new(true).open(&at) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS => {}
                Err(error) => return Err(error),
                Ok(file) => {
                    let root = self.root.clone();
                    return Ok(Unseen { file: Some(file), at, to, root, is_shown: false });
                }
            }
        }
    }

    /// A copy of an object, not an object yet.
    pub fn copy(&self, from: &str, to: &str, modified: Option<SystemTime>) -> io::Result<Unseen> {
        let (mut from, found) = self.open(from)?;
        let mut copy = self.unseen(to)?;
        if let Some(file) = &mut copy.file {
            io::copy(&mut from, file)?;
        }
        copy.close(Some(modified.unwrap_or(found.modified)))?;
        Ok(copy)
    }

    /// Remove an object, and the directories that held nothing else: S3 has none. That there is no
    /// such object is no error to S3.
    pub fn remove(&self, key: &str) -> io::Result<()> {
        let path = self.path(key)?;
        match self.look_at(key).and_then(|_| fs::remove_file(&path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        prune(&self.root, &path);
        Ok(())
    }
}

/// Remove the directories above `path` and below `root` that are empty.
fn prune(root: &Path, path: &Path) {
    let above = path.ancestors().skip(1).take_while(|above| *above != root);
    for directory in above {
        if !directory.starts_with(root) || fs::remove_dir(directory).is_err() {
            return;
        }
    }
}

/// A file that is not an object yet. It is removed unless it is shown.
#[derive(Debug)]
pub struct Unseen {
    file: Option<File>,
    at: PathBuf,
    to: PathBuf,
    root: PathBuf,
    is_shown: bool,
}

impl Sink for Unseen {
    fn put(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let closed = || io::Error::from(io::ErrorKind::NotFound);
        Ok(self.file.as_mut().ok_or_else(closed)?.write_all(data)?)
    }
}

impl Unseen {
    /// Close it: all has come, and it was written when the client says, if it does.
    pub fn close(&mut self, modified: Option<SystemTime>) -> io::Result<()> {
        match (self.file.take(), modified) {
            (Some(file), Some(modified)) => file.set_modified(modified),
            _ => Ok(()),
        }
    }

    /// What is known of it.
    pub fn found(&self) -> io::Result<Found> {
        Found::of(&self.at.symlink_metadata()?)
    }

    /// Make an object of it; `only_new`: unless there is one.
    pub fn show(mut self, only_new: bool) -> io::Result<Found> {
        self.file = None;
        if only_new {
            match fs::hard_link(&self.at, &self.to) {
                Ok(()) => fs::remove_file(&self.at)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
                // A file system without links: there it can be told only just before.
                Err(_) if self.to.symlink_metadata().is_ok() => {
                    return Err(io::ErrorKind::AlreadyExists.into());
                }
                Err(_) => fs::rename(&self.at, &self.to)?,
            }
        } else {
            fs::rename(&self.at, &self.to)?;
        }
        self.is_shown = true;
        Found::of(&self.to.symlink_metadata()?)
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if !self.is_shown {
            self.file = None;
            let _ = fs::remove_file(&self.at);
            prune(&self.root, &self.at);
        }
    }
}

/// One file of all of them, in their order.
pub fn join(parts: Vec<Unseen>, modified: Option<SystemTime>) -> io::Result<Unseen> {
    let mut parts = parts.into_iter();
    let mut whole = parts.next().ok_or(io::ErrorKind::InvalidInput)?;
    let mut to = File::options().append(true).open(&whole.at)?;
    for part in parts {
        io::copy(&mut File::open(&part.at)?, &mut to)?;
    }
    whole.file = Some(to);
    whole.close(modified)?;
    Ok(whole)
}
