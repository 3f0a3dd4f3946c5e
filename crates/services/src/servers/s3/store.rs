//! Objects as files below one directory.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use s3s::{S3Error, S3ErrorCode, s3_error};

use super::super::http::confined;

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
    /// When it was written.
    pub modified: SystemTime,
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
        Ok(Self { size_bytes: metadata.len(), modified: metadata.modified()? })
    }
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

impl Unseen {
    /// The file, to be written; it is to be given back.
    pub fn take(&mut self) -> Option<File> {
        self.file.take()
    }

    /// Give the file back.
    pub fn put(&mut self, file: File) {
        self.file = Some(file);
    }

    /// Octets in it.
    pub fn size_bytes(&self) -> io::Result<u64> {
        Ok(self.at.symlink_metadata()?.len())
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
pub fn join(parts: Vec<Unseen>) -> io::Result<Unseen> {
    let mut parts = parts.into_iter();
    let mut whole = parts.next().ok_or(io::ErrorKind::InvalidInput)?;
    let mut to = File::options().append(true).open(&whole.at)?;
    for part in parts {
        io::copy(&mut File::open(&part.at)?, &mut to)?;
    }
    whole.file = None;
    Ok(whole)
}

/// What the system said, in the words of S3.
pub fn fault(error: &io::Error) -> S3Error {
    use io::ErrorKind as K;
    match error.kind() {
        K::NotFound | K::NotADirectory => s3_error!(NoSuchKey),
        K::PermissionDenied | K::ReadOnlyFilesystem => s3_error!(AccessDenied),
        K::AlreadyExists => s3_error!(PreconditionFailed, "the object is there"),
        K::InvalidFilename | K::InvalidInput => {
            s3_error!(KeyTooLongError, "no name of a file here")
        }
        K::IsADirectory | K::DirectoryNotEmpty => {
            s3_error!(InvalidRequest, "there are objects whose keys begin so")
        }
        K::StorageFull | K::QuotaExceeded | K::FileTooLarge => {
            let code = S3ErrorCode::Custom("InsufficientStorage".into());
            let mut error = S3Error::with_message(code, "no space is left");
            error.set_status_code(hyper::StatusCode::INSUFFICIENT_STORAGE);
            error
        }
        _ => S3Error::with_message(S3ErrorCode::InternalError, error.to_string()),
    }
}
