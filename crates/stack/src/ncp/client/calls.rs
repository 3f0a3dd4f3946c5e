//! Requests for calls.

use lanlab_wire::ncp::directories::{self, Allocate, Allocated, Handle};
use lanlab_wire::ncp::file_entry::attribute;
use lanlab_wire::ncp::files::{self, access};
use lanlab_wire::ncp::function;
use lanlab_wire::ncp::text::{Name, Tail};

use super::listing::Listing;
use super::refusals::{malformed, protocol};
use super::{Client, Step, names};
use crate::redirector::{Access, Call, CallId, Done, FileId, Reason, Refusal};

const ANY_FILE: u8 = attribute::HIDDEN | attribute::SYSTEM;
const NO_DRIVE: u8 = b'[';

impl Client {
    pub(super) fn begin(&mut self, id: CallId, call: Call<'_>) -> Result<(), Refusal> {
        if self.calls.facts.is_none() {
            return Err(protocol("no session yet"));
        }
        let handle = self.root;
        match call {
            Call::Open { path, access } => self.open(id, path, access)?,
            Call::Read { file, offset, count } => {
                if let Some((most, _)) = self.bursts {
                    let count = count.min(most);
                    return self.read_burst(id, file, at(offset, count)?, count);
                }
                let (file, count) = (self.file(file)?, count.min(self.room_at(offset)));
                let offset = at(offset, count)?;
                let read = files::Read { reserved: 0, file, offset, count: count as u16 };
                let step = Step::Read { offset, count };
                self.ask(id, function::READ, step, |out| read.emit(out));
            }
            Call::Write { file, offset, parts } => self.write(id, file, offset, parts)?,
            Call::Flush { file } => self.of_file(id, function::COMMIT, Step::Other, file)?,
            Call::Close { file } => {
                self.of_file(id, function::CLOSE, Step::Close { file }, file)?;
            }
            Call::Remove { path } => {
                let path = names::path(path)?;
                let path = Name(&path);
                let erase = files::OfPath { handle, attributes: ANY_FILE, path };
                self.ask(id, function::ERASE, Step::Other, |out| erase.emit(out));
            }
            Call::List { path } => {
                let pattern = names::below(&names::path(path)?, b"*");
                self.list(id, Listing::new(pattern));
            }
            Call::MakeDirectory { path } => {
                let rights = directories::ALL_RIGHTS;
                self.of_directory(id, function::MAKE_DIRECTORY, (Step::Other, rights), path)?;
            }
            Call::RemoveDirectory { path } => {
                self.of_directory(id, function::REMOVE_DIRECTORY, (Step::Other, 0), path)?;
            }
            Call::CheckDirectory { path } => {
                let as_what = (Step::Check, NO_DRIVE);
                self.of_directory(id, function::ALLOCATE_TEMPORARY, as_what, path)?;
            }
            Call::Rename { from, to } => {
                let (path, new_path) = (names::path(from)?, names::path(to)?);
                let rename = files::Rename {
                    handle,
                    attributes: ANY_FILE,
                    path: Name(&path),
                    new_handle: handle,
                    new_path: Name(&new_path),
                };
                let step = Step::Rename { from: from.to_owned(), to: to.to_owned() };
                self.ask(id, function::RENAME, step, |out| rename.emit(out));
            }
            Call::Stat { .. } => {
                let message = "lanlab's NetWare client does not ask for facts of one file";
                return Err(Refusal::new(Reason::Unsupported, message));
            }
            Call::Echo => self.ask(id, function::GET_TIME, Step::Other, |_| {}),
            Call::End => self.ask(id, function::LOG_OUT, Step::Other, |_| {}),
        }
        Ok(())
    }

    /// Maximum data of a request at this offset: it may not cross a multiple of the buffer, so that it touches one
    /// block of the server's cache. Linux's `ncpfs` does the same (`fs/ncpfs/file.c`). The size of a large packet
    /// need not be a divisor of such a block.
    fn room_at(&self, offset: u64) -> u32 {
        if self.has_large_packets {
            return self.data_bytes;
        }
        self.data_bytes - (offset % u64::from(self.data_bytes)) as u32
    }

    pub(super) fn file(&self, file: FileId) -> Result<files::FileHandle, Refusal> {
        self.files.get(&file).copied().ok_or_else(|| protocol("no such open file"))
    }

    fn of_file(
        &mut self,
        id: CallId,
        function: function::Function,
        step: Step,
        file: FileId,
    ) -> Result<(), Refusal> {
        let of_file = files::OfFile { reserved: 0, file: self.file(file)? };
        self.ask(id, function, step, |out| of_file.emit(out));
        Ok(())
    }

    fn of_directory(
        &mut self,
        id: CallId,
        function: function::Function,
        (step, letter): (Step, u8),
        path: &str,
    ) -> Result<(), Refusal> {
        let path = names::path(path)?;
        let of_path = Allocate { handle: self.root, letter, path: Name(&path) };
        self.ask(id, function, step, |out| of_path.emit(out));
        Ok(())
    }

    fn open(&mut self, id: CallId, path: &str, wanted: Access) -> Result<(), Refusal> {
        let (handle, path) = (self.root, names::path(path)?);
        let path = Name(&path);
        let function = match wanted {
            Access::Read | Access::Update => {
                let writes = if wanted == Access::Update { access::WRITE } else { 0 };
                let access = access::READ | writes;
                let open = files::Open { handle, attributes: ANY_FILE, access, path };
                self.ask(id, function::OPEN, Step::Open, |out| open.emit(out));
                return Ok(());
            }
            Access::Create => function::CREATE_NEW,
            Access::Replace => function::CREATE,
        };
        let create = files::OfPath { handle, attributes: 0, path };
        self.ask(id, function, Step::Open, |out| create.emit(out));
        Ok(())
    }

    fn write(
        &mut self,
        id: CallId,
        file: FileId,
        offset: u64,
        [first, second]: [&[u8]; 2],
    ) -> Result<(), Refusal> {
        let most = self.bursts.map_or_else(|| self.room_at(offset), |bursts| bursts.1) as usize;
        let first = &first[..first.len().min(most)];
        let second = &second[..second.len().min(most - first.len())];
        let count = (first.len() + second.len()) as u32;
        let offset = at(offset, count)?;
        // A write of zero bytes would truncate the file here.
        if count == 0 {
            self.calls.end(id, Ok(Done::Written(0)));
            return Ok(());
        }
        if self.bursts.is_some() {
            return self.write_burst(id, file, offset, [first, second]);
        }
        let (file, data) = (self.file(file)?, Tail(first));
        let write = files::Write { reserved: 0, file, offset, count: count as u16, data };
        self.ask(id, function::WRITE, Step::Write { count }, |out| {
            write.emit(out);
            out.extend_from_slice(second);
        });
        Ok(())
    }

    pub(super) fn checked(&mut self, id: CallId, reply: &[u8]) {
        match Allocated::parse(reply) {
            Ok(Allocated { handle, .. }) => {
                self.ask_on(id, function::FREE_HANDLE, Step::Other, |out| {
                    Handle { handle }.emit(out);
                });
            }
            Err(error) => self.calls.end(id, Err(malformed(error))),
        }
    }

    /// The path is not a file. If it is a directory, it is renamed in place.
    pub(super) fn rename_directory(&mut self, id: CallId, from: &str, to: &str) {
        let (parent, _) = from.rsplit_once('/').unwrap_or(("", from));
        let (other, new) = to.rsplit_once('/').unwrap_or(("", to));
        if !parent.eq_ignore_ascii_case(other) {
            let message = format!("`{from}`: no such file; a directory stays in its directory");
            self.calls.end(id, Err(Refusal::new(Reason::Missing, message)));
            return;
        }
        let paths = names::path(from).and_then(|path| Ok((path, names::path(new)?)));
        match paths {
            Ok((path, new)) => {
                let (path, new) = (Name(&path), Name(&new));
                let rename = directories::Rename { handle: self.root, path, new };
                let function = function::RENAME_DIRECTORY;
                self.ask_on(id, function, Step::Other, |out| rename.emit(out));
            }
            Err(refusal) => self.calls.end(id, Err(refusal)),
        }
    }
}

/// The offset, if both it and the end of the range fit into 32 bits.
fn at(offset: u64, count: u32) -> Result<u32, Refusal> {
    let end = offset.saturating_add(u64::from(count));
    if end > u64::from(u32::MAX) {
        let message = format!("{end} octets; allowed: {} over NCP", u32::MAX);
        return Err(Refusal::new(Reason::Unsupported, message));
    }
    Ok(offset as u32)
}
