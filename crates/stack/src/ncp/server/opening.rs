//! Open, create and close.

use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::file_entry::attribute;
use lanlab_wire::ncp::files::{self, FileHandle, OfFile, access};

use super::entries::file_entry;
use super::refusals::{Refused, malformed, of_open};
use super::state::{MAX_OPENS, Open, State};
use crate::file_server::sharing::Sharing;
use crate::files::{FileAnswer, FileCall, Found, Names, Presence};

pub const fn sharing_of(bits: u8) -> Sharing {
    Sharing {
        reads: bits & access::READ != 0 || bits & access::WRITE == 0,
        writes: bits & access::WRITE != 0,
        lets_read: bits & access::DENY_READ == 0,
        lets_write: bits & access::DENY_WRITE == 0,
        ..Sharing::NOTHING
    }
}

impl State {
    pub async fn open(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = files::Open::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        let opened = self.open_at(path, sharing_of(asked.access)).await?;
        self.put_opened(opened);
        Ok(())
    }

    fn put_opened(&mut self, (handle, found): ([u8; 4], Found)) {
        let mut file = [0; 6];
        file[..2].copy_from_slice(&handle[2..]);
        file[2..].copy_from_slice(&handle);
        files::Opened { file, reserved: 0, entry: file_entry(&found) }.emit(&mut self.head);
    }

    /// Open a file for an old program: to read, and to write if permitted.
    pub async fn open_old(&mut self, data: &[u8]) -> Result<(), Refused> {
        let asked = files::OfPath::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        let is_read_only = self.is_read_only() || self.look(&path).await?.is_read_only;
        let writes = if is_read_only { 0 } else { access::WRITE };
        let opened = self.open_at(path, sharing_of(access::READ | writes)).await?;
        self.put_opened(opened);
        Ok(())
    }

    pub async fn open_at(
        &mut self,
        path: Names,
        mut sharing: Sharing,
    ) -> Result<([u8; 4], Found), Refused> {
        let found = self.look(&path).await?;
        if found.is_directory {
            return Err(completion::FAILED);
        }
        if sharing.writes && self.is_read_only() {
            return Err(self.read_only(completion::NO_WRITE_RIGHTS));
        }
        if sharing.writes && found.is_read_only {
            return Err(completion::NO_WRITE_RIGHTS);
        }
        if !self.is_logged_in {
            // A client that has not logged in must not block others.
            (sharing.lets_read, sharing.lets_write) = (true, true);
        }
        self.open_files.lets(found.number, sharing).map_err(of_open)?;
        self.begin_open(path, (Presence::Old, false), sharing, found.short_name).await
    }

    pub async fn create(&mut self, data: &[u8], is_new: bool) -> Result<(), Refused> {
        let asked = files::OfPath::parse(data).map_err(malformed)?;
        let path = self.path(asked.handle, asked.path.0)?;
        if asked.attributes & attribute::DIRECTORY != 0 {
            return Err(completion::NO_CREATE_RIGHTS);
        }
        let sharing = sharing_of(access::READ | access::WRITE);
        let is_read_only = asked.attributes & attribute::READ_ONLY != 0;
        let opened = self.create_at(path, is_new, is_read_only, sharing).await?;
        self.put_opened(opened);
        Ok(())
    }

    /// Create a file, or truncate an existing one, and open it. Returns its handle.
    pub async fn create_at(
        &mut self,
        path: Names,
        is_new: bool,
        is_read_only: bool,
        sharing: Sharing,
    ) -> Result<([u8; 4], Found), Refused> {
        let path = Self::new_name(path)?;
        if self.is_read_only() {
            return Err(self.read_only(completion::NO_CREATE_RIGHTS));
        }
        let (how, short_name) = match self.look(&path).await {
            Ok(_) if is_new => return Err(completion::NO_CREATE_OR_DELETE_RIGHTS),
            Ok(found) if found.is_directory => return Err(completion::NO_CREATE_RIGHTS),
            Ok(found) if found.is_read_only => return Err(completion::NO_WRITE_RIGHTS),
            Ok(found) => {
                // A file that others have open is not truncated.
                let cuts = Sharing { lets_write: false, ..sharing };
                self.open_files.lets(found.number, cuts).map_err(of_open)?;
                ((Presence::Old, true), found.short_name)
            }
            Err(completion::FAILED) => {
                let name = path.last().map_or_else(String::new, |name| name.to_ascii_uppercase());
                ((Presence::New, false), name)
            }
            Err(refused) => return Err(refused),
        };
        let opened = self.begin_open(path.clone(), how, sharing, short_name).await?;
        if is_read_only {
            let is_read_only = Some(true);
            let call = FileCall::Change { path, modified_s: None, is_read_only };
            self.change(call, completion::NO_MODIFY_RIGHTS).await?;
        }
        Ok(opened)
    }

    async fn begin_open(
        &mut self,
        path: Names,
        (presence, truncate): (Presence, bool),
        sharing: Sharing,
        short_name: String,
    ) -> Result<([u8; 4], Found), Refused> {
        if self.opens.len() >= MAX_OPENS {
            return Err(completion::NO_FILE_HANDLES);
        }
        let (read, write) = (sharing.reads, sharing.writes);
        let call = FileCall::Open { path: path.clone(), read, write, presence, truncate };
        let FileAnswer::Opened { handle, found, .. } = self.ask(call).await? else {
            return Err(completion::IO_ERROR);
        };
        let opened = match self.open_files.open(found.number, sharing, path) {
            Ok(opened) => opened,
            Err(refusal) => {
                // There is no client left to report an error to.
                let _ = self.ask(FileCall::Close { handle }).await;
                return Err(of_open(refusal));
            }
        };
        let number = self.free_number();
        self.opens.insert(number, Open { handle, opened, reads: read, writes: write });
        let [high, low] = number.to_be_bytes();
        Ok(([0, 0, high, low], Found { short_name, ..found }))
    }

    fn free_number(&mut self) -> u16 {
        loop {
            self.last_open = self.last_open.wrapping_add(1);
            if self.last_open != 0 && !self.opens.contains_key(&self.last_open) {
                return self.last_open;
            }
        }
    }

    /// An open file by the last four bytes of its handle, which is all that name-space clients use.
    pub fn opened(&self, file: FileHandle) -> Result<(u16, &Open), Refused> {
        let [.., zero, nought, high, low] = file;
        let number = u16::from_be_bytes([high, low]);
        let open = self.opens.get(&number).filter(|_| [zero, nought] == [0; 2]);
        open.map(|open| (number, open)).ok_or(completion::BAD_FILE_HANDLE)
    }

    pub async fn close(&mut self, data: &[u8]) -> Result<(), Refused> {
        let OfFile { file, .. } = OfFile::parse(data).map_err(malformed)?;
        let (number, _) = self.opened(file)?;
        let Some(open) = self.opens.remove(&number) else {
            return Err(completion::BAD_FILE_HANDLE);
        };
        self.forget_records(number);
        self.ask(FileCall::Close { handle: open.handle }).await.map(drop)
    }
}
