//! Closes one file, all files of a process, or everything that a client left open.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::close;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::time::seconds_to_utc;

use super::found::time_to_set;
use super::refusals::{Refused, malformed};
use super::state::{Open, State};
use crate::files::{FileAnswer, FileCall, Names};

impl State {
    pub async fn close(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = close::Request::parse(block).map_err(malformed)?;
        self.close_at(request.fid, request.last_write_time).await?;
        self.put_nothing()
    }

    pub async fn close_at(&mut self, fid: u16, last_write_time: u32) -> Result<(), Refused> {
        let deferred = match self.open(fid) {
            Ok(open) if open.is_directory || !open.writes => Ok(None),
            Ok(open) => Ok(Some(open.opened.path())),
            Err(error::INVALID_HANDLE) => return Err(error::INVALID_HANDLE),
            Err(refused) => Err(refused),
        };
        let fid = self.fid(fid);
        let closed = self.end_open(fid).await;
        let time = time_to_set(seconds_to_utc(last_write_time, 0));
        if let (Some(path), Some(_)) = (deferred?, time) {
            // A close succeeds even if the time cannot be set.
            let call = FileCall::Change { path, modified_s: time, is_read_only: None };
            let _ = self.change(call).await;
        }
        closed
    }

    /// Close an open file, and remove it if delete-on-close is set and this was the last open.
    async fn end_open(&mut self, fid: u16) -> Result<(), Refused> {
        let Some(open) = self.opens.remove(&fid) else { return Err(error::INVALID_HANDLE) };
        let closed = match open.handle {
            Some(handle) => self.ask(FileCall::Close { handle }).await.map(drop),
            None => Ok(()),
        };
        // A non-empty directory stays, without failing the close.
        if open.dies && (!open.is_directory || self.is_empty(&open.opened.path()).await?) {
            open.opened.file().is_doomed = true;
        }
        let is_doomed = open.opened.file().is_doomed;
        if is_doomed && open.opened.is_last() {
            let path = open.opened.path();
            // If another program moved the file, something else is at its path.
            if self.look(&path).await?.number != open.opened.file_number {
                return Err(error::OBJECT_NAME_NOT_FOUND);
            }
            let call = if open.is_directory {
                FileCall::RemoveDirectory { path }
            } else {
                FileCall::Remove { path }
            };
            self.change(call).await?;
        }
        closed
    }

    pub async fn is_empty(&mut self, path: &Names) -> Result<bool, Refused> {
        let call = FileCall::List { path: path.clone(), after: String::new(), most: 1 };
        match self.ask(call).await? {
            FileAnswer::Listed(listed) => Ok(listed.is_empty()),
            _ => Err(error::UNSUCCESSFUL_IO),
        }
    }

    pub async fn close_all(&mut self, is_meant: impl Fn(&Open) -> bool) {
        let meant = self.opens.iter().filter(|(_, open)| is_meant(open));
        for fid in meant.map(|(fid, _)| *fid).collect::<Vec<_>>() {
            // There is no client left to report an error to.
            let _ = self.end_open(fid).await;
        }
    }
}
