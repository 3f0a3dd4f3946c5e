//! Open and create.

use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Encoded;
use lanlab_wire::smb1::{attributes, command, nt_create_andx, open, open_andx};

use super::found::{attributes_of, size_of, ticks, written_s};
use super::names::below;
use super::refusals::{Refused, malformed};
use super::state::{Open, State};
use crate::file_server::open_files::Opened;
use crate::file_server::sharing::Sharing;
use crate::files::{FileAnswer, FileCall, Found, Handle, Names, Presence};

const MAX_TEMPORARY: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existing {
    Refuse,
    Open,
    Truncate,
}

#[derive(Debug, Clone)]
struct Wish {
    path: Names,
    sharing: Sharing,
    existing: Existing,
    creates: bool,
    /// Whether it must (true) or must not (false) be a directory.
    directory: Option<bool>,
    is_read_only: bool,
    dies: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Opened,
    Created,
    Truncated,
}

impl Wish {
    fn of_file(path: Names, sharing: Sharing) -> Self {
        Self {
            path,
            sharing,
            existing: Existing::Open,
            creates: false,
            directory: Some(false),
            is_read_only: false,
            dies: false,
        }
    }
}

impl State {
    async fn open_file(&mut self, wish: Wish) -> Result<(u16, Found, Outcome), Refused> {
        self.has_room()?;
        let (reads, writes) = (wish.sharing.reads, wish.sharing.writes);
        let changes = writes || wish.existing == Existing::Truncate;
        if changes || wish.sharing.deletes || wish.dies {
            self.may_change()?;
        }
        let (found, outcome) = match self.look(&wish.path).await {
            Ok(_) if wish.existing == Existing::Refuse => return Err(error::OBJECT_NAME_COLLISION),
            Ok(found) => (Some(found), Outcome::Opened),
            Err(missing) if missing == error::OBJECT_NAME_NOT_FOUND && wish.creates => {
                (None, Outcome::Created)
            }
            Err(refused) => return Err(refused),
        };
        match (&found, wish.directory) {
            (Some(found), Some(false)) if found.is_directory => {
                return Err(error::FILE_IS_A_DIRECTORY);
            }
            (Some(found), Some(true)) if !found.is_directory => return Err(error::NOT_A_DIRECTORY),
            (Some(found), _) if found.is_read_only && !found.is_directory && changes => {
                return Err(error::ACCESS_DENIED);
            }
            (Some(found), _) if wish.dies && found.is_read_only && !found.is_directory => {
                return Err(error::CANNOT_DELETE);
            }
            (None, _) if wish.dies && wish.is_read_only => return Err(error::CANNOT_DELETE),
            _ => {}
        }
        // Checked before truncation: a file that others have open is not truncated.
        if let Some(found) = &found
            && wish.existing == Existing::Truncate
        {
            let cuts = Sharing { writes: true, ..wish.sharing };
            self.open_files.lets(found.number, cuts)?;
        }
        let mut opened = match &found {
            Some(found) => Some(self.share_file(found.number, &wish)?),
            None => None,
        };
        let (handle, mut found, outcome) = match found {
            Some(found) if found.is_directory => (None, found, outcome),
            None if wish.directory == Some(true) => {
                self.change(FileCall::MakeDirectory { path: wish.path.clone() }).await?;
                (None, self.look(&wish.path).await?, outcome)
            }
            found => {
                let is_there = found.is_some();
                let truncate = is_there && wish.existing == Existing::Truncate;
                let call = FileCall::Open {
                    path: wish.path.clone(),
                    read: reads || !writes,
                    write: writes || !is_there,
                    presence: if is_there { Presence::Old } else { Presence::New },
                    truncate,
                };
                let answer = if is_there { self.ask(call).await } else { self.change(call).await };
                let FileAnswer::Opened { handle, found, .. } = answer? else {
                    return Err(error::UNSUCCESSFUL_IO);
                };
                let outcome = if truncate { Outcome::Truncated } else { outcome };
                (Some(handle), found, outcome)
            }
        };
        // If another file was created or moved here since the check, check its sharing.
        if opened.as_ref().is_none_or(|opened| opened.file_number != found.number) {
            match self.share_file(found.number, &wish) {
                Ok(again) => opened = Some(again),
                Err(refused) => {
                    self.end_handle(handle).await;
                    return Err(refused);
                }
            }
        }
        let Some(opened) = opened else { return Err(error::UNSUCCESSFUL_IO) };
        if outcome == Outcome::Created && wish.is_read_only && handle.is_some() {
            let is_read_only = Some(true);
            let call = FileCall::Change { path: wish.path.clone(), modified_s: None, is_read_only };
            self.change(call).await?;
            found.is_read_only = true;
        }
        let fid = self.add_open(Open {
            handle,
            opened,
            reads,
            writes,
            deletes: false,
            dies: false,
            only_executes: false,
            is_directory: found.is_directory,
            tid: self.tid,
            uid: self.user(),
            pid: self.request.pid,
            refused_lock: None,
            position: 0,
            deferred: None,
        });
        Ok((fid, found, outcome))
    }

    pub async fn open_to_resize(&mut self, path: Names) -> Result<u16, Refused> {
        let sharing = Sharing { writes: true, deletes: false, ..Sharing::RENAME };
        Ok(self.open_file(Wish::of_file(path, sharing)).await?.0)
    }

    fn share_file(&self, number: u64, wish: &Wish) -> Result<Opened, Refused> {
        Ok(self.open_files.open(number, wish.sharing, wish.path.clone())?)
    }

    async fn end_handle(&mut self, handle: Option<Handle>) {
        if let Some(handle) = handle {
            // The error was already reported, or no longer concerns any client.
            let _ = self.ask(FileCall::Close { handle }).await;
        }
    }

    fn dos_sharing(&self, mode: u16, path: &Names) -> Result<Sharing, Refused> {
        // An open by file control block is a compatibility-mode open for reading and writing.
        let by_control_block = mode & 0xff == open::access::FILE_CONTROL_BLOCK;
        let mode = if by_control_block { open::access::READ_WRITE } else { mode & 0x77 };
        let mut sharing = Sharing::from_dos(mode).ok_or(error::BAD_ACCESS)?;
        if mode == open::access::READ_WRITE && self.offer.read_only {
            sharing.writes = false;
        }
        if mode & open::access::SHARE_MASK == open::access::COMPATIBILITY {
            let name = path.last().map_or("", String::as_str);
            sharing = sharing.compatible(self.number, name, by_control_block);
        }
        Ok(sharing)
    }

    pub async fn open_core(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = open::Request::parse(block).map_err(malformed)?;
        let path = Self::path(request.name)?;
        let sharing = self.dos_sharing(request.access, &path)?;
        let (fid, found, _) = self.open_file(Wish::of_file(path, sharing)).await?;
        let response = open::Response {
            fid,
            attributes: attributes_of(&found),
            last_write_time: written_s(&found),
            size: size_of(&found),
            granted_access: request.access & 0x77,
        };
        self.put(|writer| response.emit(writer))
    }

    pub async fn create(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = open::Create::parse(block).map_err(malformed)?;
        let path = Self::path(request.name)?;
        let is_new = block.command() == command::CREATE_NEW;
        let existing = if is_new { Existing::Refuse } else { Existing::Truncate };
        let fid = self.create_at(path, existing, request.attributes).await?;
        self.put(|writer| open::Created { fid }.emit(writer))
    }

    async fn create_at(
        &mut self,
        path: Names,
        existing: Existing,
        attributes: u16,
    ) -> Result<u16, Refused> {
        if attributes & (attributes::VOLUME | attributes::DIRECTORY) != 0 {
            return Err(error::ACCESS_DENIED);
        }
        let sharing = self.dos_sharing(open::access::READ_WRITE, &path)?;
        let is_read_only = attributes & attributes::READ_ONLY != 0;
        let wish = Wish { existing, creates: true, is_read_only, ..Wish::of_file(path, sharing) };
        Ok(self.open_file(wish).await?.0)
    }

    pub async fn create_temporary(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        let request = open::Create::parse(block).map_err(malformed)?;
        let directory = Self::path(request.name)?;
        for number in 0..MAX_TEMPORARY {
            let name = format!("TMP{:05}", self.time.wrapping_add(number.into()) % 100_000);
            let path = below(&directory, &name);
            match self.create_at(path, Existing::Refuse, request.attributes).await {
                Err(error::OBJECT_NAME_COLLISION) => {}
                Err(refused) => return Err(refused),
                Ok(fid) => {
                    let name = Encoded::new(&name, false);
                    let name = name.map_err(malformed)?;
                    let response = open::CreatedTemporary { fid, name: name.text() };
                    return self.put(|writer| response.emit(writer));
                }
            }
        }
        Err(error::OBJECT_NAME_COLLISION)
    }

    pub async fn open_andx(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        use open_andx::{function, result};
        let request = open_andx::Request::parse(block).map_err(malformed)?;
        let existing = match request.function & 0x0f {
            function::FAIL_IF_EXISTS => Existing::Refuse,
            function::OPEN => Existing::Open,
            function::TRUNCATE => Existing::Truncate,
            _ => return Err(error::BAD_ACCESS),
        };
        let path = Self::path(request.name)?;
        let sharing = self.dos_sharing(request.access, &path)?;
        let wish = Wish {
            existing,
            creates: request.function & function::CREATE != 0,
            is_read_only: request.attributes & attributes::READ_ONLY != 0,
            ..Wish::of_file(path, sharing)
        };
        let (fid, found, outcome) = self.open_file(wish).await?;
        let response = open_andx::Response {
            fid,
            attributes: attributes_of(&found),
            last_write_time: written_s(&found),
            size: size_of(&found),
            granted_access: request.access & 0x77,
            result: match outcome {
                Outcome::Opened => result::OPENED,
                Outcome::Created => result::CREATED,
                Outcome::Truncated => result::TRUNCATED,
            },
            ..Default::default()
        };
        self.put(|writer| response.emit(writer))
    }

    pub async fn nt_create(&mut self, block: &Block<'_>) -> Result<(), Refused> {
        use nt_create_andx::{access, disposition, options, result, share};
        let request = nt_create_andx::Request::parse(block).map_err(malformed)?;
        let mut path = Self::path(request.name)?;
        if request.root_fid != 0 {
            let root = self.open(request.root_fid as u16)?;
            path = [&root.opened.path()[..], &path[..]].concat();
        }
        let (existing, creates) = match request.disposition {
            disposition::OPEN => (Existing::Open, false),
            disposition::CREATE => (Existing::Refuse, true),
            disposition::OPEN_IF => (Existing::Open, true),
            disposition::OVERWRITE => (Existing::Truncate, false),
            disposition::SUPERSEDE | disposition::OVERWRITE_IF => (Existing::Truncate, true),
            _ => return Err(error::INVALID_PARAMETER),
        };
        let has = |bits: u32| request.access & bits != 0;
        let any = access::GENERIC_ALL | access::MAXIMUM_ALLOWED;
        let is_directory = request.options & options::DIRECTORY != 0;
        let dies = request.options & options::DELETE_ON_CLOSE != 0;
        // The maximum access allowed, if requested.
        let most = has(access::MAXIMUM_ALLOWED) && !self.offer.read_only && !is_directory;
        let reads = access::READ_DATA | access::GENERIC_READ | access::GENERIC_EXECUTE;
        let writes = access::WRITE_DATA | access::APPEND_DATA | access::GENERIC_WRITE;
        // Maximum access excludes deletion, which others may deny.
        let deletes = has(access::DELETE | access::GENERIC_ALL);
        if dies && !deletes {
            return Err(error::INVALID_PARAMETER);
        }
        let mut sharing = Sharing {
            // Executing a program reads it.
            reads: has(reads | any | access::EXECUTE),
            writes: has(writes | access::GENERIC_ALL) || most,
            deletes,
            lets_read: request.share & share::READ != 0,
            lets_write: request.share & share::WRITE != 0,
            lets_delete: request.share & share::DELETE != 0,
            ..Sharing::NOTHING
        };
        if has(access::MAXIMUM_ALLOWED) {
            // A read-only file limits the maximum access.
            sharing.writes &= !self.look(&path).await.is_ok_and(|found| found.is_read_only);
        }
        let is_file = request.options & options::NON_DIRECTORY != 0;
        // A directory cannot be opened as a file or truncated.
        if is_directory && (is_file || existing == Existing::Truncate) {
            return Err(error::INVALID_PARAMETER);
        }
        let wish = Wish {
            path,
            sharing,
            existing,
            creates,
            directory: (is_directory || is_file).then_some(is_directory),
            is_read_only: request.attributes & u32::from(attributes::READ_ONLY) != 0,
            dies,
        };
        let (fid, found, outcome) = self.open_file(wish).await?;
        let open = self.open(fid)?;
        open.only_executes = !has(reads | any);
        (open.deletes, open.dies) = (deletes, dies);
        let written = ticks(found.modified_s);
        let response = nt_create_andx::Response {
            fid,
            result: match outcome {
                Outcome::Opened => result::OPENED,
                Outcome::Created => result::CREATED,
                Outcome::Truncated if request.disposition == disposition::SUPERSEDE => {
                    result::SUPERSEDED
                }
                Outcome::Truncated => result::OVERWRITTEN,
            },
            creation_time: written,
            last_access_time: ticks(found.accessed_s),
            last_write_time: written,
            change_time: written,
            attributes: u32::from(attributes_of(&found)),
            allocation_size: found.size_bytes,
            end_of_file: found.size_bytes,
            is_directory: found.is_directory,
            ..Default::default()
        };
        self.put(|writer| response.emit(writer))
    }
}
