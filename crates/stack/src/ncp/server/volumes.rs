//! The volume: number, name and space. Clients may query it before login, as shells do.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::directories::{DirectoryUsage, Handle, SLOTS, Volume, VolumeUsage, Whole};
use lanlab_wire::ncp::text::{Name, padded};

use super::refusals::{Refused, malformed};
use super::state::State;
use crate::files::{FileAnswer, FileCall};

impl State {
    pub fn volume_number(&mut self, data: &[u8]) -> Result<(), Refused> {
        let Whole { path } = Whole::parse(data).map_err(malformed)?;
        let name = path.0.strip_suffix(b":").unwrap_or(path.0);
        if !name.eq_ignore_ascii_case(self.offer.volume.as_bytes()) {
            return Err(completion::NO_SUCH_VOLUME);
        }
        self.head.push(0);
        Ok(())
    }

    /// Numbers up to 31 are valid; only volume 0 exists.
    pub fn volume_name(&mut self, data: &[u8]) -> Result<(), Refused> {
        let Handle { handle: number } = Handle::parse(data).map_err(malformed)?;
        match number {
            0 => {
                let name = self.offer.volume.to_ascii_uppercase();
                Whole { path: Name(name.as_bytes()) }.emit(&mut self.head);
                Ok(())
            }
            1..32 => {
                self.head.push(0);
                Ok(())
            }
            _ => Err(completion::NO_SUCH_VOLUME),
        }
    }

    async fn space(&mut self) -> Result<(u64, u64), Refused> {
        match self.ask(FileCall::Space).await? {
            FileAnswer::Space { total_bytes, free_bytes } => Ok((total_bytes, free_bytes)),
            _ => Err(completion::IO_ERROR),
        }
    }

    /// Space in 16-bit fields, for a volume given by number or directory handle.
    pub async fn volume(&mut self, data: &[u8], is_number: bool) -> Result<(), Refused> {
        self.check_volume(data, is_number)?;
        let (total, free) = self.space().await?;
        let volume = Volume {
            directory_slots: SLOTS,
            free_directory_slots: SLOTS,
            name: padded(self.offer.volume.to_ascii_uppercase().as_bytes()),
            ..Volume::default()
        };
        volume.with_bytes(total, free).emit(&mut self.head);
        Ok(())
    }

    /// Space in 32-bit fields.
    pub async fn volume_usage(&mut self, data: &[u8], is_number: bool) -> Result<(), Refused> {
        self.check_volume(data, is_number)?;
        let (total, free) = self.space().await?;
        let usage = VolumeUsage::of(total, free);
        if is_number {
            usage.emit(&mut self.head);
        } else {
            DirectoryUsage::from(usage).emit(&mut self.head);
        }
        let name = self.offer.volume.to_ascii_uppercase();
        Whole { path: Name(name.as_bytes()) }.emit(&mut self.head);
        Ok(())
    }

    fn check_volume(&self, data: &[u8], is_number: bool) -> Result<(), Refused> {
        let Handle { handle } = Handle::parse(data).map_err(malformed)?;
        match (is_number, handle) {
            (true, 0) => Ok(()),
            (true, _) => Err(completion::NO_SUCH_VOLUME),
            _ if self.directories.contains_key(&handle) => Ok(()),
            _ => Err(completion::BAD_DIRECTORY_HANDLE),
        }
    }
}
