//! SFTP version 3 over SSH.
//!
//! A session is one SSH connection with one channel. Calls are independent messages, and the caller
//! decides how many are in flight.

mod agent;
pub mod exchange;
mod failure;
mod login;
mod signing;
mod ssh_failure;
mod trust;

use bytes::Bytes;
use lanlab_files as files;
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, TransferCapabilities, is_name,
};
use lanlab_stack::redirector::ListingLimits;
use lanlab_wire::sftp::{Attributes, Fields, extension, flag, kind, status};

use exchange::{Exchange, Reply};
use failure::refused;

pub use login::connect;

/// Messages in flight when a whole file is transferred.
const DEPTH: u16 = 16;

#[derive(Debug)]
pub struct Session {
    exchange: Exchange,
    facts: Facts,
    abilities: Abilities,
    base: String,
}

#[derive(Debug, Clone, Copy)]
struct Abilities {
    fsync: bool,
    statvfs: bool,
    read_bytes: u32,
    write_bytes: u32,
}

#[derive(Debug)]
pub struct File {
    handle: Bytes,
    path: ServicePath,
}

impl Session {
    fn at(&self, path: &ServicePath) -> String {
        format!("{}{path}", self.base)
    }

    async fn path_of(&self, what: &str, kind: u8, path: &str) -> Result<Reply> {
        self.exchange.ask(&what, kind, path.len(), |message| message.string(path)).await
    }

    async fn attributes(&self, what: &str, path: &str) -> Result<Option<Attributes>> {
        let reply = self.path_of(what, kind::LSTAT, path).await?;
        Ok(if reply.kind == kind::ATTRS { reply.fields().attributes() } else { None })
    }

    /// The meaning of a refusal without a reason: this version has no code for "exists already" or
    /// "no space".
    async fn why(&self, what: &str, path: &str, makes: bool, reply: &Reply) -> Fault {
        let fault = refused(&what, reply);
        if fault.class != Class::Protocol || reply.kind != kind::STATUS {
            return fault;
        }
        let class = match self.attributes(what, path).await {
            Ok(Some(_)) if makes => Class::Exists,
            _ if makes && self.is_full(what).await => Class::NoSpace,
            _ => fault.class,
        };
        Fault { class, ..fault }
    }

    async fn is_full(&self, what: &str) -> bool {
        if !self.abilities.statvfs {
            return false;
        }
        let ask = self.exchange.ask(&what, kind::EXTENDED, 64, |message| {
            message.string(extension::STATVFS).string(self.base.as_bytes())
        });
        let Ok(reply) = ask.await else { return false };
        // f_bsize, f_frsize, f_blocks, f_bfree, f_bavail
        let mut fields = reply.fields();
        let found: Vec<u64> = (0..5).filter_map(|_| fields.u64()).collect();
        reply.kind == kind::EXTENDED_REPLY && found.len() == 5 && found[4] == 0
    }

    async fn change(&self, verb: &str, kind: u8, path: &ServicePath) -> Result<()> {
        let what = format!("{verb} {path}");
        let at = self.at(path);
        let attributes = Attributes::default();
        let makes = kind == kind::MKDIR;
        let ask = self.exchange.ask(&what, kind, at.len(), |message| {
            let message = message.string(&at);
            if makes { attributes.write(message) } else { message }
        });
        let reply = ask.await?;
        if reply.is_ok() {
            return Ok(());
        }
        // An existing directory that cannot be removed is not empty.
        Err(self.why(&what, &at, makes || kind == kind::RMDIR, &reply).await)
    }
}

impl files::Session for Session {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        let abilities = &self.abilities;
        TransferCapabilities::calls(abilities.read_bytes.min(abilities.write_bytes), DEPTH)
    }

    fn facts(&self) -> Facts {
        self.facts.clone()
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        let what = format!("open {path}");
        let at = self.at(path);
        let flags = match access {
            Access::Read => flag::READ,
            Access::Create { .. } => flag::WRITE | flag::CREAT | flag::EXCL,
            Access::Replace { .. } => flag::WRITE | flag::CREAT | flag::TRUNC,
            Access::Update => flag::READ | flag::WRITE,
        };
        let ask = self.exchange.ask(&what, kind::OPEN, at.len(), |message| {
            Attributes::default().write(message.string(&at).u32(flags))
        });
        let reply = ask.await?;
        if reply.kind != kind::HANDLE {
            let makes = flags & flag::EXCL != 0;
            return Err(self.why(&what, &at, makes, &reply).await);
        }
        let handle = reply.string(&what)?;
        Ok(File { handle, path: path.clone() })
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        let what = format_args!("read {}", file.path);
        let asked = (buffer.len() as u64).min(u64::from(self.abilities.read_bytes)) as u32;
        let ask = self.exchange.ask(&what, kind::READ, file.handle.len(), |message| {
            message.string(&file.handle).u64(offset).u32(asked)
        });
        let reply = ask.await?;
        if reply.kind != kind::DATA {
            return match reply.status() {
                Some((status::EOF, _)) => Ok(0),
                _ => Err(refused(&what, &reply)),
            };
        }
        let data = reply.fields().string().unwrap_or_default();
        if data.is_empty() || data.len() > asked as usize {
            let message = format!("{what}: found {} octets; asked for {asked}", data.len());
            return Err(Fault::new(Class::Length, message));
        }
        buffer[..data.len()].copy_from_slice(data);
        Ok(data.len())
    }

    async fn write_at(&self, file: &File, mut offset: u64, data: &[u8]) -> Result<()> {
        let what = format_args!("write {}", file.path);
        for piece in data.chunks(self.abilities.write_bytes as usize) {
            let room = file.handle.len() + piece.len();
            let ask = self.exchange.ask(&what, kind::WRITE, room, |message| {
                message.string(&file.handle).u64(offset).string(piece)
            });
            let reply = ask.await?;
            if !reply.is_ok() {
                let fault = refused(&what, &reply);
                if fault.class == Class::Protocol && self.is_full(&what.to_string()).await {
                    return Err(Fault { class: Class::NoSpace, ..fault });
                }
                return Err(fault);
            }
            offset += piece.len() as u64;
        }
        Ok(())
    }

    async fn sync(&self, file: &File) -> Result<()> {
        let what = format_args!("sync {}", file.path);
        if !self.abilities.fsync {
            let message = format!("{what}: this server does not have {}", extension::FSYNC);
            return Err(Fault::new(Class::Unsupported, message));
        }
        let ask = self.exchange.ask(&what, kind::EXTENDED, 64, |message| {
            message.string(extension::FSYNC).string(&file.handle)
        });
        let reply = ask.await?;
        if reply.is_ok() { Ok(()) } else { Err(refused(&what, &reply)) }
    }

    async fn close(&self, file: File) -> Result<()> {
        let what = format_args!("close {}", file.path);
        let ask = self.exchange.ask(&what, kind::CLOSE, 64, |message| message.string(&file.handle));
        let reply = ask.await?;
        if reply.is_ok() { Ok(()) } else { Err(refused(&what, &reply)) }
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        self.change("remove", kind::REMOVE, path).await
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let (what, at) = match path {
            Some(path) => (format!("list {path}"), self.at(path)),
            None => ("list".to_owned(), self.base.clone()),
        };
        let reply = self.path_of(&what, kind::OPENDIR, &at).await?;
        if reply.kind != kind::HANDLE {
            return Err(self.why(&what, &at, false, &reply).await);
        }
        let handle = reply.string(&what)?;
        let (mut entries, mut limits) = (Vec::new(), ListingLimits::default());
        loop {
            let ask = self.exchange.ask(&what, kind::READDIR, 64, |m| m.string(&handle));
            let reply = ask.await?;
            if let Some((status::EOF, _)) = reply.status() {
                break;
            }
            if reply.kind != kind::NAME {
                return Err(refused(&what, &reply));
            }
            let taken = match names(reply.fields(), &mut entries) {
                Some((count, name_bytes)) => limits.take(count, name_bytes),
                None => Err("a message cut off in the middle".to_owned()),
            };
            taken.map_err(|wrong| Fault::new(Class::Protocol, format!("{what}: found {wrong}")))?;
        }
        let ask = self.exchange.ask(&what, kind::CLOSE, 64, |message| message.string(&handle));
        let reply = ask.await?;
        if reply.is_ok() { Ok(entries) } else { Err(refused(&what, &reply)) }
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        self.change("make directory", kind::MKDIR, path).await
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        self.change("remove directory", kind::RMDIR, path).await
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let (what, at) = (format!("stat {path}"), self.at(path));
        let reply = self.path_of(&what, kind::LSTAT, &at).await?;
        let found = (reply.kind == kind::ATTRS).then(|| reply.fields().attributes()).flatten();
        let found = found.ok_or_else(|| refused(&what, &reply))?;
        let is_directory = found.is_directory().unwrap_or(false);
        let size_bytes = if is_directory { 0 } else { found.size_bytes.unwrap_or(0) };
        Ok(Entry { name: path.name().to_owned(), size_bytes, is_directory })
    }

    /// An existing file is not replaced (draft-ietf-secsh-filexfer-02, section 6.5).
    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        let what = format!("rename {from}");
        let (old, new) = (self.at(from), self.at(to));
        let ask = self.exchange.ask(&what, kind::RENAME, old.len() + new.len(), |message| {
            message.string(&old).string(&new)
        });
        let reply = ask.await?;
        if reply.is_ok() { Ok(()) } else { Err(self.why(&what, &new, true, &reply).await) }
    }

    async fn end(self) -> Result<()> {
        self.exchange.end().await
    }
}

/// Add the entries of one message. Returns how many it had, omitted ones too, and the bytes of their names; `None` if
/// it is invalid.
pub fn names(mut fields: Fields<'_>, entries: &mut Vec<Entry>) -> Option<(usize, usize)> {
    let (count, mut name_bytes) = (fields.u32()?, 0);
    for _ in 0..count {
        let name = fields.string()?;
        name_bytes += name.len();
        let long = fields.string()?;
        let found = fields.attributes()?;
        // If the attributes have no type, the long name (a line as from `ls -l`) shows it.
        let is_directory = found.is_directory().unwrap_or(long.first() == Some(&b'd'));
        let is_file = found.is_file().unwrap_or(long.first() == Some(&b'-'));
        // A name that is not UTF-8 is not ours, and neither is a link or device.
        let Ok(name) = std::str::from_utf8(name) else { continue };
        if !is_name(name) || !(is_directory || is_file) {
            continue;
        }
        let size_bytes = if is_directory { 0 } else { found.size_bytes.unwrap_or(0) };
        entries.push(Entry { name: name.to_owned(), size_bytes, is_directory });
    }
    Some((count as usize, name_bytes))
}
