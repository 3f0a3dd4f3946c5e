//! A file that is published once complete. Until then the file it replaces is unchanged, even if the client
//! disconnects or the disk fills up.
//!
//! It is written in the same directory, under a name that services neither list nor open. A killed
//! server leaves such files behind.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cap_std::fs::{Metadata, MetadataExt, OpenOptions};

use crate::beneath::{look, open_file};
use crate::unseen_name::UNSEEN;
use crate::{Confined, Names, free_name};

/// A file that is not published yet. It is removed on drop unless published.
#[derive(Debug)]
pub struct Unseen {
    file: Option<File>,
    confined: Confined,
    /// The directory of both names.
    above: Names,
    /// Empty once published.
    at: String,
    to: String,
}

impl Unseen {
    /// Create a file for this path. If it replaces no file, its permissions are `mode`.
    pub fn new(confined: &Confined, to: &[String], mode: u32) -> io::Result<Self> {
        let (directory, name) = confined.place_to_change(to)?;
        let at = format!("{UNSEEN}{:016x}", RandomState::new().hash_one(UNSEEN));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        cap_std::fs::OpenOptionsExt::mode(&mut options, mode);
        let file = Some(open_file(&directory, Path::new(&at), &options)?);
        let above = to[..to.len() - 1].to_vec();
        Ok(Self { file, confined: confined.clone(), above, at, to: name.to_owned() })
    }

    /// The file, for writing.
    pub fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Close the file, which may report errors of earlier writes.
    pub fn close(&mut self) -> io::Result<()> {
        self.file.take().map_or(Ok(()), lanlab_os::close_file)
    }

    pub fn reopen(&mut self) -> io::Result<&mut File> {
        let options = OpenOptions::new().read(true).append(true).clone();
        let directory = self.confined.directory(&self.above)?;
        let file = open_file(&directory, Path::new(&self.at), &options)?;
        Ok(self.file.insert(file))
    }

    pub fn metadata(&self) -> io::Result<Metadata> {
        self.confined.directory(&self.above)?.symlink_metadata(&self.at)
    }

    /// Publish the file with the owner and mode of the one it replaces; with `only_new`, replace
    /// none.
    ///
    /// # Errors `PermissionDenied` if a link or device is at its path, which stays; or a system error.
    pub fn show(mut self, only_new: bool) -> io::Result<()> {
        let directory = self.confined.directory(&self.above)?;
        if only_new {
            self.close()?;
            let place = |name| (&*directory, Path::new(name));
            free_name::rename(place(&self.at), place(&self.to))?;
        } else {
            if let Some(replaced) = look(&directory, Path::new(&self.to))? {
                self.resemble(&replaced)?;
            }
            self.close()?;
            directory.rename(&self.at, &directory, &self.to)?;
        }
        self.at.clear();
        Ok(())
    }

    fn resemble(&mut self, replaced: &Metadata) -> io::Result<()> {
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
            let directory = self.confined.directory(&self.above);
            let _ = directory.and_then(|directory| directory.remove_file(&self.at));
        }
    }
}

#[cfg(test)]
mod tests;
