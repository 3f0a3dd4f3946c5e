//! A file that is published once complete. Until then the file it replaces is unchanged, even if the client
//! disconnects or the disk fills up.
//!
//! It is written in the same directory, under a name that services neither list nor open. A killed
//! server leaves such files behind.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::PermissionsExt;

use cap_std::fs::{Metadata, MetadataExt, OpenOptions};

use crate::beneath::ordinary;
use crate::unseen_name::UNSEEN;
use crate::{Confined, Names};

/// A file that is not published yet. It is removed on drop unless published.
#[derive(Debug)]
pub struct Unseen {
    file: Option<File>,
    confined: Confined,
    at: Names,
    to: Names,
}

impl Unseen {
    /// Create a file for this path. If it replaces no file, its permissions are `mode`.
    pub fn new(confined: &Confined, to: &[String], mode: u32) -> io::Result<Self> {
        let (_, above) = to.split_last().ok_or(io::ErrorKind::IsADirectory)?;
        let name = format!("{UNSEEN}{:016x}", RandomState::new().hash_one(UNSEEN));
        let at = [above, &[name]].concat();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        cap_std::fs::OpenOptionsExt::mode(&mut options, mode);
        let file = confined.open_to_change(&at, &options)?;
        Ok(Self { file: Some(file), confined: confined.clone(), at, to: to.to_vec() })
    }

    /// The file, for writing.
    ///
    /// # Errors The file is closed.
    pub fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Close the file, which may report errors of earlier writes.
    pub fn close(&mut self) -> io::Result<()> {
        self.file.take().map_or(Ok(()), lanlab_os::close_file)
    }

    pub fn reopen(&mut self) -> io::Result<&mut File> {
        let options = OpenOptions::new().read(true).append(true).clone();
        let file = self.confined.open_to_change(&self.at, &options)?;
        Ok(self.file.insert(file))
    }

    pub fn metadata(&self) -> io::Result<Metadata> {
        self.confined.metadata(&self.at)
    }

    /// Publish the file with the owner and mode of the one it replaces; with `only_new`, replace
    /// none.
    ///
    /// # Errors `PermissionDenied` if a link or device is at its path, which stays; or a system error.
    pub fn show(mut self, only_new: bool) -> io::Result<()> {
        if only_new {
            self.close()?;
            self.confined.rename(&self.at, &self.to)?;
        } else {
            match self.confined.metadata_of_any(&self.to) {
                Ok(replaced) => self.resemble(&replaced)?,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            self.close()?;
            self.confined.replace(&self.at, &self.to)?;
        }
        self.at.clear();
        Ok(())
    }

    fn resemble(&mut self, replaced: &Metadata) -> io::Result<()> {
        ordinary(replaced)?;
        if replaced.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let file = if self.file.is_some() { self.file()? } else { self.reopen()? };
        let own = Metadata::from_file(file)?;
        if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
            // A user without the right to change owners becomes the owner.
            let owner = (Some(replaced.uid()), Some(replaced.gid()));
            let _ = std::os::unix::fs::fchown(&*file, owner.0, owner.1);
        }
        file.set_permissions(std::fs::Permissions::from_mode(replaced.mode() & 0o777))
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        if !self.at.is_empty() {
            self.file = None;
            let _ = self.confined.remove_any(&self.at);
        }
    }
}

#[cfg(test)]
mod tests;
