//! Directory handles.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::directories::{
    ALL_RIGHTS, Allocate, Allocated, Handle, Path, READ_RIGHTS, SetHandle, Whole,
};
use lanlab_wire::ncp::text::Name;

use super::refusals::{Refused, malformed};
use super::state::{Directory, State};
use crate::files::Names;

impl State {
    pub fn rights(&self) -> u8 {
        if self.is_read_only() { READ_RIGHTS } else { ALL_RIGHTS }
    }

    pub async fn allocate(&mut self, data: &[u8], is_temporary: bool) -> Result<(), Refused> {
        let asked = Allocate::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        self.look_at_directory(&path).await?;
        let letter = (!is_temporary).then_some(asked.letter);
        let handle = self.new_handle(path, letter, is_temporary)?;
        Allocated { handle, rights: self.rights() }.emit(&mut self.head);
        Ok(())
    }

    /// Allocate a directory handle. A new handle for a drive replaces its old one.
    pub fn new_handle(
        &mut self,
        path: Names,
        letter: Option<u8>,
        is_temporary: bool,
    ) -> Result<u8, Refused> {
        let of_drive = |one: &Directory| letter.is_some() && one.letter == letter;
        let known =
            self.directories.iter().find(|(_, one)| of_drive(one)).map(|(handle, _)| *handle);
        let free = (1..=u8::MAX).find(|handle| !self.directories.contains_key(handle));
        let handle = known.or(free).ok_or(completion::NO_DIRECTORY_HANDLES)?;
        self.directories.insert(handle, Directory { path, letter, is_temporary });
        Ok(handle)
    }

    pub async fn set_handle(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = SetHandle::parse(data).map_err(malformed)?;
        let path = self.path(asked.source, asked.path.0)?;
        self.set_handle_to(asked.handle, path).await
    }

    pub async fn set_handle_to(&mut self, handle: u8, path: Names) -> Result<(), Refused> {
        self.look_at_directory(&path).await?;
        let known = self.directories.get_mut(&handle).ok_or(completion::BAD_DIRECTORY_HANDLE)?;
        known.path = path;
        Ok(())
    }

    pub fn free_handle(&mut self, data: &[u8]) -> Result<(), Refused> {
        let Handle { handle } = Handle::parse(data).map_err(malformed)?;
        let removed = self.directories.remove(&handle);
        removed.map(drop).ok_or(completion::BAD_DIRECTORY_HANDLE)
    }

    pub fn get_path(&mut self, data: &[u8]) -> Result<(), Refused> {
        let Handle { handle } = Handle::parse(data).map_err(malformed)?;
        self.put_path_of(handle)
    }

    pub fn put_path_of(&mut self, handle: u8) -> Result<(), Refused> {
        let directory = self.directories.get(&handle).ok_or(completion::BAD_DIRECTORY_HANDLE)?;
        let octets = Self::octets(&format!("{}:{}", self.offer.volume, directory.path.join("/")))?;
        Whole { path: Name(&octets) }.emit(&mut self.head);
        Ok(())
    }

    pub async fn get_rights(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Path::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        self.look_at_directory(&path).await?;
        self.head.push(self.rights());
        Ok(())
    }

    /// 16-bit access rights of a file or directory.
    pub async fn entry_rights(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Path::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        self.look(&path).await?;
        self.head.extend_from_slice(&u16::from(self.rights()).to_le_bytes());
        Ok(())
    }
}
