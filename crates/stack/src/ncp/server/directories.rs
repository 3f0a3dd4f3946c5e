//! Directory handles, and the volume.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::directories::{
    ALL_RIGHTS, Allocate, Allocated, Handle, Path, READ_RIGHTS, Volume, Whole,
};
use lanlab_wire::ncp::text::{MOST, Name, padded};

use super::refusals::{Refused, malformed};
use super::state::{Directory, State};
use crate::files::{FileAnswer, FileCall};

/// Entries of directories that a volume has room for, as it says.
const DIRECTORY_SLOTS: u16 = 0xffff;

impl State {
    pub fn rights(&self) -> u8 {
        if self.offer.read_only { READ_RIGHTS } else { ALL_RIGHTS }
    }

    pub async fn allocate(&mut self, data: &[u8], is_temporary: bool) -> Result<(), Refused> {
        let asked = Allocate::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        self.look_at_directory(&path).await?;
        // A drive has one handle: another one takes its place.
        let of_drive =
            |one: &Directory| !is_temporary && !one.is_temporary && one.letter == asked.letter;
        let known =
            self.directories.iter().find(|(_, one)| of_drive(one)).map(|(handle, _)| *handle);
        let free = (1..=u8::MAX).find(|handle| !self.directories.contains_key(handle));
        let handle = known.or(free).ok_or(completion::NO_DIRECTORY_HANDLES)?;
        self.directories.insert(handle, Directory { path, letter: asked.letter, is_temporary });
        Allocated { handle, rights: self.rights() }.emit(&mut self.head);
        Ok(())
    }

    pub fn free_handle(&mut self, data: &[u8]) -> Result<(), Refused> {
        let Handle { handle } = Handle::parse(data).map_err(malformed)?;
        let removed = self.directories.remove(&handle);
        removed.map(drop).ok_or(completion::BAD_DIRECTORY_HANDLE)
    }

    pub fn get_path(&mut self, data: &[u8]) -> Result<(), Refused> {
        let Handle { handle } = Handle::parse(data).map_err(malformed)?;
        let directory = self.directories.get(&handle).ok_or(completion::BAD_DIRECTORY_HANDLE)?;
        let text = format!("{}:{}", self.offer.volume, directory.path.join("/")).to_uppercase();
        let octets: Option<Vec<u8>> =
            text.chars().map(|one| self.offer.code_page.octet(one)).collect();
        let octets = octets.filter(|octets| octets.len() <= MOST).ok_or(completion::BAD_NAME)?;
        Whole { path: Name(&octets) }.emit(&mut self.head);
        Ok(())
    }

    pub async fn get_rights(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = Path::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        self.look_at_directory(&path).await?;
        let rights = self.rights();
        self.head.push(rights);
        Ok(())
    }

    pub async fn volume(&mut self, data: &[u8]) -> Result<(), Refused> {
        let Handle { handle } = Handle::parse(data).map_err(malformed)?;
        if !self.directories.contains_key(&handle) {
            return Err(completion::BAD_DIRECTORY_HANDLE);
        }
        let FileAnswer::Space { total_bytes, free_bytes } = self.ask(FileCall::Space).await? else {
            return Err(completion::IO_ERROR);
        };
        let volume = Volume {
            directory_slots: DIRECTORY_SLOTS,
            free_directory_slots: DIRECTORY_SLOTS,
            name: padded(self.offer.volume.to_ascii_uppercase().as_bytes()),
            ..Volume::default()
        };
        volume.with_bytes(total_bytes, free_bytes).emit(&mut self.head);
        Ok(())
    }
}
