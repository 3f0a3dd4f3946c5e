//! A file that takes its place once it is whole. Until then, the file that it replaces stays as it is, also
//! if the client breaks off or the disk is full.
//!
//! It is written in the same directory, under a name that no service lists or opens. A server that is
//! killed leaves such files.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;

use cap_std::fs::{Metadata, OpenOptions};

use crate::beneath::ordinary;
use crate::unseen_name::UNSEEN;
use crate::{Confined, Names};

/// See the module. It is removed unless it is shown.
#[derive(Debug)]
pub struct Unseen {
    file: Option<File>,
    confined: Confined,
    at: Names,
    to: Names,
}

impl Unseen {
    /// Make one for this place, with these permissions if it replaces no file.
    pub fn new(confined: &Confined, to: &[String], mode: u32) -> io::Result<Self> {
        let (_, above) = to.split_last().ok_or(io::ErrorKind::IsADirectory)?;
        let name = format!("{UNSEEN}{:016x}", RandomState::new().hash_one(UNSEEN));
        let at = [above, &[name]].concat();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        let file = confined.open_to_change(&at, &options)?;
        Ok(Self { file: Some(file), confined: confined.clone(), at, to: to.to_vec() })
    }

    /// The file, to write it.
    ///
    /// # Errors
    /// It is closed.
    pub fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Close it: earlier writes may fail only now.
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

    /// Put it in its place, with the owner and permissions of the file there; `only_new`: unless
    /// there is one.
    ///
    /// # Errors
    /// `PermissionDenied` of a link or device in its place, which stays. Or what the system says.
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
        // Nothing is left to be removed.
        self.at.clear();
        Ok(())
    }

    fn resemble(&mut self, replaced: &Metadata) -> io::Result<()> {
        ordinary(replaced)?;
        if replaced.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        #[cfg(unix)]
        {
            use cap_std::fs::MetadataExt;
            use std::os::unix::fs::PermissionsExt;
            let file = if self.file.is_some() { self.file()? } else { self.reopen()? };
            let own = Metadata::from_file(file)?;
            if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
                // Who may not give files away keeps the new one.
                let owner = (Some(replaced.uid()), Some(replaced.gid()));
                let _ = std::os::unix::fs::fchown(&*file, owner.0, owner.1);
            }
            file.set_permissions(std::fs::Permissions::from_mode(replaced.mode() & 0o777))?;
        }
        Ok(())
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
#[cfg(unix)]
mod tests;
