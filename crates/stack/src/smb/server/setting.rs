//! Set file information by level.

use lanlab_wire::smb1::file_information::{Basic, Disposition, Length, Standard, set};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::time::ticks_to_unix_ns;

use super::found::{read_only_to_set, time_to_set};
use super::refusals::{Refused, malformed};
use super::state::State;
use crate::files::{FileCall, Names};

impl State {
    /// Set information of a file, open if it has a number.
    pub async fn set_level(
        &mut self,
        level: u16,
        path: Names,
        fid: Option<u16>,
        data: &[u8],
    ) -> Result<(), Refused> {
        match level {
            set::INFO_STANDARD => {
                let standard = Standard::parse(data).map_err(malformed)?;
                let modified_s = time_to_set(standard.last_write.to_unix());
                self.change(FileCall::Change { path, modified_s, is_read_only: None }).await?;
            }
            set::BASIC | set::PASS_BASIC => {
                let basic = Basic::parse(data).map_err(malformed)?;
                let written_ns = ticks_to_unix_ns(basic.last_write_time);
                let modified_s = time_to_set(written_ns.map(|time| time / 1_000_000_000));
                let found = self.look(&path).await?;
                // Zero leaves the attributes unchanged.
                let is_read_only = (basic.attributes != 0)
                    .then(|| read_only_to_set(&found, basic.attributes as u16))
                    .flatten();
                self.change(FileCall::Change { path, modified_s, is_read_only }).await?;
            }
            set::DISPOSITION | set::PASS_DISPOSITION => {
                let dies = Disposition::parse(data).map_err(malformed)?.delete_pending;
                let fid = fid.ok_or(error::INVALID_LEVEL)?;
                self.doom(fid, path, dies).await?;
            }
            set::ALLOCATION | set::PASS_ALLOCATION => {
                // Space is not reserved; data beyond it is cut off.
                let size_bytes = Length::parse(data).map_err(malformed)?.octets;
                if self.look(&path).await?.size_bytes > size_bytes {
                    self.resize(fid, path, size_bytes).await?;
                }
            }
            set::END_OF_FILE | set::PASS_END_OF_FILE => {
                let size_bytes = Length::parse(data).map_err(malformed)?.octets;
                self.resize(fid, path, size_bytes).await?;
            }
            _ => return Err(error::INVALID_LEVEL),
        }
        Ok(())
    }

    async fn doom(&mut self, fid: u16, path: Names, dies: bool) -> Result<(), Refused> {
        self.may_change()?;
        if !self.open(fid)?.deletes {
            return Err(error::ACCESS_DENIED);
        }
        let found = self.look(&path).await?;
        if dies && found.is_read_only && !found.is_directory {
            return Err(error::CANNOT_DELETE);
        }
        if dies && found.is_directory && !self.is_empty(&path).await? {
            return Err(error::DIRECTORY_NOT_EMPTY);
        }
        self.open(fid)?.opened.file().is_doomed = dies;
        Ok(())
    }

    /// Without a number, the file is opened for this call, as in Samba; Linux's cifs truncates that way.
    async fn resize(
        &mut self,
        fid: Option<u16>,
        path: Names,
        size_bytes: u64,
    ) -> Result<(), Refused> {
        let Some(fid) = fid else {
            let fid = self.open_to_resize(path).await?;
            let resized = self.set_size(fid, size_bytes).await;
            self.close_at(fid, 0).await?;
            return resized;
        };
        self.set_size(fid, size_bytes).await
    }

    async fn set_size(&mut self, fid: u16, size_bytes: u64) -> Result<(), Refused> {
        let open = self.open(fid)?;
        let handle = open.handle.filter(|_| open.writes).ok_or(error::ACCESS_DENIED)?;
        if size_bytes > i64::MAX as u64 {
            return Err(error::INVALID_PARAMETER);
        }
        self.change(FileCall::SetSize { handle, size_bytes }).await.map(drop)
    }
}
