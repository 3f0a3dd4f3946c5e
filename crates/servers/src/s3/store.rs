//! Objects as files below one directory.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use cap_std::fs::Metadata;

use super::receive::Sink;
use super::refusal::Refusal;
use crate::listings::Listings;
use lanlab_served::{self as served, Confined, Names};

const ATTEMPTS: usize = 8;

#[derive(Debug)]
pub struct Store {
    pub confined: Confined,
    /// Listing of each directory; names of directories end with `/`.
    pub listings: Listings<Names, String>,
}

#[derive(Debug, Clone)]
pub struct Found {
    pub size_bytes: u64,
    pub modified: SystemTime,
    made: Option<SystemTime>,
    /// File number, where available: two files may be made within one clock tick, but their numbers differ, as the
    /// old file still exists.
    number: u64,
}

impl Found {
    pub fn of(metadata: &Metadata) -> io::Result<Self> {
        if !metadata.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (size_bytes, modified) = (metadata.len(), metadata.modified()?.into_std());
        let made = metadata.created().ok().map(cap_std::time::SystemTime::into_std);
        Ok(Self { size_bytes, modified, made, number: number(metadata) })
    }

    /// `ETag` of the content. Its form differs from an MD5, so that no client takes it for one. It contains the
    /// file's change time, as clients can set the modification time.
    pub fn etag(&self) -> String {
        let ns = |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let made_ns = self.made.map_or(0, ns);
        let (modified_ns, number, size_bytes) = (ns(self.modified), self.number, self.size_bytes);
        format!("{made_ns:x}-{number:x}-{modified_ns:x}-{size_bytes:x}")
    }
}

fn number(metadata: &Metadata) -> u64 {
    cap_std::fs::MetadataExt::ino(metadata)
}

impl Store {
    pub fn new(confined: Confined) -> Self {
        Self { confined, listings: Listings::new() }
    }

    pub fn look_at(&self, key: &str) -> io::Result<Found> {
        look_at(&self.confined, &names(key)?)
    }

    pub fn open(&self, key: &str) -> io::Result<(File, Found)> {
        let file = self.confined.open(&names(key)?).map_err(no_object)?;
        let found = Found::of(&Metadata::from_file(&file)?)?;
        Ok((file, found))
    }

    /// A new file for an object, next to its destination, and the directories it needs.
    pub fn unseen(&self, key: &str) -> io::Result<Unseen> {
        let to = names(key)?;
        let mut attempts = 0;
        loop {
            attempts += 1;
            match served::Unseen::new(&self.confined, &to, 0o666) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS => {
                    create_above(&self.confined, &to)?;
                }
                Err(error) => return Err(error),
                Ok(file) => {
                    let confined = self.confined.clone();
                    return Ok(Unseen { file: Some(file), to, confined });
                }
            }
        }
    }

    pub fn copy(&self, from: &str, to: &str, modified: Option<SystemTime>) -> io::Result<Unseen> {
        let (mut from, found) = self.open(from)?;
        let mut copy = self.unseen(to)?;
        io::copy(&mut from, copy.file()?.file()?)?;
        copy.close(Some(modified.unwrap_or(found.modified)))?;
        Ok(copy)
    }

    /// Remove an object, and the directories that become empty, which S3 does not have. A missing object is not an
    /// error in S3.
    pub fn remove(&self, key: &str) -> io::Result<()> {
        let names = names(key)?;
        match self.confined.remove_file(&names).map_err(no_object) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        prune(&self.confined, &names);
        Ok(())
    }
}

/// The path of a key. Keys that end with `/` or contain an empty name have no path.
fn names(key: &str) -> io::Result<Names> {
    if key.split('/').any(str::is_empty) {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    Confined::plain_names(key)
}

fn look_at(confined: &Confined, names: &[String]) -> io::Result<Found> {
    Found::of(&confined.metadata_of_any(names)?)
}

fn no_object(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::IsADirectory => io::ErrorKind::NotFound.into(),
        _ => error,
    }
}

fn create_above(confined: &Confined, names: &[String]) -> io::Result<()> {
    for depth in 1..names.len() {
        match confined.create_dir(&names[..depth], None) {
            // Another client may remove the new directory at once.
            Err(error)
                if !matches!(
                    error.kind(),
                    io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound
                ) =>
            {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(())
}

fn prune(confined: &Confined, names: &[String]) {
    for depth in (1..names.len()).rev() {
        if confined.remove_empty_dir(&names[..depth]).is_err() {
            return;
        }
    }
}

/// A file that is not an object yet. It is removed on drop unless published, with the directories made for it.
#[derive(Debug)]
pub struct Unseen {
    file: Option<served::Unseen>,
    to: Names,
    confined: Confined,
}

impl Sink for Unseen {
    fn put(&mut self, data: &[u8]) -> Result<(), Refusal> {
        Ok(self.file()?.file()?.write_all(data)?)
    }
}

impl Unseen {
    fn file(&mut self) -> io::Result<&mut served::Unseen> {
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Close the complete file, and set the modification time if the client gave one.
    pub fn close(&mut self, modified: Option<SystemTime>) -> io::Result<()> {
        let file = self.file()?;
        if let Some(modified) = modified {
            file.file()?.set_modified(modified)?;
        }
        file.close()
    }

    pub fn found(&mut self) -> io::Result<Found> {
        Found::of(&self.file()?.metadata()?)
    }

    /// Publish the file as an object; with `only_new`, only if no object has its name.
    pub fn show(mut self, only_new: bool) -> io::Result<Found> {
        if let Some(file) = self.file.take() {
            file.show(only_new)?;
        }
        look_at(&self.confined, &self.to)
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        self.file = None;
        prune(&self.confined, &self.to);
    }
}

pub fn join(parts: Vec<Unseen>, modified: Option<SystemTime>) -> io::Result<Unseen> {
    let mut parts = parts.into_iter();
    let mut whole = parts.next().ok_or(io::ErrorKind::InvalidInput)?;
    let to = whole.file()?.reopen()?;
    for mut part in parts {
        let from = part.file()?.reopen()?;
        from.rewind()?;
        io::copy(from, to)?;
    }
    whole.close(modified)?;
    Ok(whole)
}
