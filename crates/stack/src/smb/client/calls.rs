//! Requests for calls, using the commands of the dialect.

use lanlab_wire::smb1::strings::Encoded;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{
    attributes, close, command, echo, logoff_andx, nt_create_andx, open, open_andx, path, read,
    read_andx, rename, write, write_andx,
};

use super::agreed::{Agreed, Transfer};
use super::listing::Listing;
use super::names;
use super::refusals::protocol;
use super::state::{Client, Step};
use crate::redirector::{Access, Call, CallId, Done, FileId, Reason, Refusal};
use crate::smb::Dialect;

/// Attributes of files that `DELETE` may remove.
const ANY_FILE: u16 = attributes::HIDDEN | attributes::SYSTEM;
/// Opens a file and shares it as far as the dialect allows.
const DENY_NONE: u16 = open::access::DENY_NONE;

impl Client {
    pub(super) fn begin(&mut self, id: CallId, call: Call<'_>) -> Result<(), Refusal> {
        let Some(agreed) = self.agreed.clone() else { return Err(protocol("no session yet")) };
        match call {
            Call::Open { path, access } => self.open(id, &agreed, path, access),
            Call::Read { file, offset, count } => self.read(id, &agreed, file, offset, count),
            Call::Write { file, offset, parts } => self.write(id, &agreed, file, offset, parts),
            Call::Flush { file } => {
                let flush = close::Flush { fid: fid(file) };
                self.ask(id, command::FLUSH, Step::Other, |writer| flush.emit(writer));
                Ok(())
            }
            Call::Close { file } => {
                let close = close::Request { fid: fid(file), last_write_time: close::KEEP_TIME };
                self.ask(id, command::CLOSE, Step::Other, |writer| close.emit(writer));
                Ok(())
            }
            Call::Remove { path } => {
                let name = self.path(path)?;
                let delete = path::Delete { search_attributes: ANY_FILE, name: name.text() };
                self.ask(id, command::DELETE, Step::Other, |writer| delete.emit(writer));
                Ok(())
            }
            Call::Rename { from, to } => {
                let (old, new) = (self.path(from)?, self.path(to)?);
                let rename = rename::Request {
                    search_attributes: ANY_FILE | attributes::DIRECTORY,
                    old_name: old.text(),
                    new_name: new.text(),
                };
                self.ask(id, command::RENAME, Step::Other, |writer| rename.emit(writer));
                Ok(())
            }
            Call::MakeDirectory { path } => {
                self.of_path(id, command::CREATE_DIRECTORY, Step::Other, path)
            }
            Call::RemoveDirectory { path } => {
                self.of_path(id, command::DELETE_DIRECTORY, Step::Other, path)
            }
            Call::CheckDirectory { path } => {
                self.of_path(id, command::CHECK_DIRECTORY, Step::Other, path)
            }
            Call::Stat { path } => self.of_path(id, command::QUERY_INFORMATION, Step::Stat, path),
            Call::List { path } => {
                let listing = Listing::new(&agreed, path)?;
                self.list(id, Box::new(listing));
                Ok(())
            }
            Call::Echo => {
                let echo = echo::Echo { number: 1, data: b"lanlab" };
                self.ask(id, command::ECHO, Step::Other, |writer| echo.emit(writer));
                Ok(())
            }
            Call::End => {
                if agreed.dialect == Dialect::Core {
                    self.ask(id, command::TREE_DISCONNECT, Step::Other, nothing);
                } else {
                    self.ask(id, command::LOGOFF_ANDX, Step::Other, logoff_andx::emit);
                }
                Ok(())
            }
        }
    }

    /// A path of names joined by `/`, in the server's form from the root of the share.
    pub(super) fn path(&self, path: &str) -> Result<Encoded, Refusal> {
        let Some(agreed) = &self.agreed else {
            return Err(Refusal::new(Reason::Protocol, "no session yet"));
        };
        let mut text = String::with_capacity(path.len() + 1);
        for name in path.split('/').filter(|name| !name.is_empty()) {
            names::check(name, agreed.dialect)?;
            text.push('\\');
            if names::are_short(agreed.dialect) {
                text.extend(name.chars().flat_map(char::to_uppercase));
            } else {
                text.push_str(name);
            }
        }
        if text.is_empty() {
            text.push('\\');
        }
        Encoded::new(&text, agreed.is_unicode())
            .map_err(|error| Refusal::new(Reason::Name, format!("path `{path}`: {error}")))
    }

    fn of_path(&mut self, id: CallId, command: u8, step: Step, path: &str) -> Result<(), Refusal> {
        let name = self.path(path)?;
        let request = path::Request { name: name.text() };
        self.ask(id, command, step, |writer| request.emit(writer));
        Ok(())
    }

    fn open(
        &mut self,
        id: CallId,
        agreed: &Agreed,
        path: &str,
        access: Access,
    ) -> Result<(), Refusal> {
        let name = self.path(path)?;
        let name = name.text();
        match agreed.commands {
            Dialect::Nt => {
                let request = nt_create_andx::Request { name, ..nt_open(access) };
                let header = self.header(command::NT_CREATE_ANDX);
                self.ask_as(&header, id, Step::Open, |writer| request.emit(writer));
            }
            Dialect::LanMan1 | Dialect::LanMan2 => {
                use open_andx::function as f;
                let (mode, function) = match access {
                    Access::Read => (open::access::READ, f::OPEN),
                    Access::Update => (open::access::READ_WRITE, f::OPEN),
                    Access::Create => (open::access::READ_WRITE, f::CREATE | f::FAIL_IF_EXISTS),
                    Access::Replace => (open::access::READ_WRITE, f::CREATE | f::TRUNCATE),
                };
                let request = open_andx::Request {
                    access: mode | DENY_NONE,
                    search_attributes: ANY_FILE,
                    function,
                    name,
                    ..open_andx::Request::default()
                };
                self.ask(id, command::OPEN_ANDX, Step::Open, |writer| request.emit(writer));
            }
            Dialect::Core => match access {
                Access::Read | Access::Update => {
                    let mode = match access {
                        Access::Read => open::access::READ,
                        _ => open::access::READ_WRITE,
                    };
                    let request = open::Request {
                        access: mode | DENY_NONE,
                        search_attributes: ANY_FILE,
                        name,
                    };
                    self.ask(id, command::OPEN, Step::Open, |writer| request.emit(writer));
                }
                Access::Create | Access::Replace => {
                    let request = open::Create { attributes: 0, creation_time: 0, name };
                    let command = match access {
                        Access::Create => command::CREATE_NEW,
                        _ => command::CREATE,
                    };
                    self.ask(id, command, Step::Open, |writer| request.emit(writer));
                }
            },
        }
        Ok(())
    }

    fn read(
        &mut self,
        id: CallId,
        agreed: &Agreed,
        file: FileId,
        offset: u64,
        count: u32,
    ) -> Result<(), Refusal> {
        let count = count.min(agreed.read_bytes);
        check_end(agreed, offset, count)?;
        match agreed.transfer_up_to(offset.saturating_add(count.into())) {
            Transfer::Framed => self.read_framed(id, agreed, file, offset, count),
            Transfer::Raw => self.read_raw(id, agreed, file, offset, count),
            Transfer::Multiplexed => self.read_multiplexed(id, file, offset, count),
        }
        Ok(())
    }

    pub(super) fn read_framed(
        &mut self,
        id: CallId,
        agreed: &Agreed,
        file: FileId,
        offset: u64,
        count: u32,
    ) {
        let is_long = agreed.transfer != Transfer::Framed;
        let count = if is_long { count.min(agreed.framed_bytes) } else { count };
        let step = Step::Read { count };
        if agreed.dialect == Dialect::Core {
            let request = read::Request {
                fid: fid(file),
                count: count as u16,
                offset: offset as u32,
                remaining: 0,
            };
            self.ask(id, command::READ, step, |writer| request.emit(writer));
        } else {
            let wide = agreed.has_large_files();
            let request = read_andx::Request::new(fid(file), offset, count, wide);
            self.ask(id, command::READ_ANDX, step, |writer| request.emit(writer));
        }
    }

    fn write(
        &mut self,
        id: CallId,
        agreed: &Agreed,
        file: FileId,
        offset: u64,
        [first, second]: [&[u8]; 2],
    ) -> Result<(), Refusal> {
        let most = agreed.write_bytes as usize;
        let first = &first[..first.len().min(most)];
        let second = &second[..second.len().min(most - first.len())];
        let count = (first.len() + second.len()) as u32;
        check_end(agreed, offset, count)?;
        // A write of zero bytes would truncate the file here ([MS-CIFS] 2.2.4.12).
        if count == 0 {
            self.calls.end(id, Ok(Done::Written(0)));
            return Ok(());
        }
        let parts = [first, second];
        match agreed.transfer_up_to(offset.saturating_add(count.into())) {
            Transfer::Framed => self.write_framed(id, agreed, file, offset, parts),
            Transfer::Raw => self.write_raw(id, agreed, file, offset, parts),
            Transfer::Multiplexed => self.write_multiplexed(id, file, offset, parts),
        }
        Ok(())
    }

    pub(super) fn write_framed(
        &mut self,
        id: CallId,
        agreed: &Agreed,
        file: FileId,
        offset: u64,
        [first, second]: [&[u8]; 2],
    ) {
        let is_long = agreed.transfer != Transfer::Framed;
        let most = if is_long { agreed.framed_bytes } else { agreed.write_bytes } as usize;
        let first = &first[..first.len().min(most)];
        let second = &second[..second.len().min(most - first.len())];
        let count = (first.len() + second.len()) as u32;
        let command = match agreed.dialect {
            Dialect::Core => command::WRITE,
            _ => command::WRITE_ANDX,
        };
        let header = self.header(command);
        let mut message = self.calls.memory();
        let mut writer = Writer::begin(&mut message, &header);
        if agreed.dialect == Dialect::Core {
            let request =
                write::Request { fid: fid(file), offset: offset as u32, remaining: 0, data: &[] };
            request.emit_before_data(count as u16, &mut writer);
        } else {
            let request = write_andx::Request {
                fid: fid(file),
                offset,
                timeout_ms: 0,
                mode: 0,
                remaining: 0,
                wide: agreed.has_large_files(),
                data: &[],
            };
            request.emit_before_data(count as usize, &mut writer);
        }
        message.extend_from_slice(first);
        message.extend_from_slice(second);
        self.send(id, command, Step::Write { count }, message);
    }
}

/// Whether an offset fits the dialect, which has 32 bits without large files.
fn check_end(agreed: &Agreed, offset: u64, count: u32) -> Result<(), Refusal> {
    let end = offset.saturating_add(u64::from(count));
    let largest = agreed.largest_file_bytes();
    if end <= largest {
        return Ok(());
    }
    let dialect = agreed.dialect.name();
    let message = format!("{end} octets; allowed: {largest} in dialect {dialect}");
    Err(Refusal::new(Reason::Unsupported, message))
}

pub fn fid(file: FileId) -> u16 {
    file.0 as u16
}

fn nt_open(access: Access) -> nt_create_andx::Request<'static> {
    use nt_create_andx::{access as a, disposition as d, options, share};
    let read = a::READ_DATA | a::READ_ATTRIBUTES | a::SYNCHRONIZE;
    let write =
        a::WRITE_DATA | a::APPEND_DATA | a::WRITE_ATTRIBUTES | a::READ_ATTRIBUTES | a::SYNCHRONIZE;
    let (access, disposition) = match access {
        Access::Read => (read, d::OPEN),
        Access::Update => (read | write, d::OPEN),
        Access::Create => (write, d::CREATE),
        Access::Replace => (write, d::OVERWRITE_IF),
    };
    nt_create_andx::Request {
        access,
        attributes: attributes::NORMAL,
        share: share::READ | share::WRITE | share::DELETE,
        disposition,
        options: options::NON_DIRECTORY,
        impersonation: 2,
        ..nt_create_andx::Request::default()
    }
}

fn nothing(writer: &mut Writer<'_>) {
    writer.empty();
}
