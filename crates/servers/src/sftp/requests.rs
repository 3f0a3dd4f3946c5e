//! Handling of SFTP requests.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use cap_std::fs::{Metadata, OpenOptions};
use lanlab_os::positioned;
use lanlab_wire::sftp::{
    Attributes, Fields, MAX_MESSAGE_OCTETS, MAX_PIECE_OCTETS, Message, VERSION, extension, flag,
    kind, status,
};

use lanlab_served::changes::{Changes, mode_text};
use lanlab_served::{Confined, Found, Names};

use super::Shared;
use super::handles::{Handles, MAX_HANDLES, Open};

const ENTRIES: usize = 128;

pub struct Requests {
    shared: Arc<Shared>,
    handles: Handles,
    greeted: bool,
    pub has_refused_change: bool,
}

enum Refusal {
    /// A field is truncated, or text is not UTF-8.
    Garbled,
    Unknown,
    End,
    System(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

type Done<T> = Result<T, Refusal>;

trait OrGarbled<T> {
    fn whole(self) -> Done<T>;
}

impl<T> OrGarbled<T> for Option<T> {
    fn whole(self) -> Done<T> {
        self.ok_or(Refusal::Garbled)
    }
}

impl Requests {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared, handles: Handles::default(), greeted: false, has_refused_change: false }
    }

    /// The reply to a message; `None` ends the channel without a reply.
    pub fn answer(&mut self, message: &[u8]) -> Option<Bytes> {
        let mut fields = Fields(message);
        let kind = fields.u8()?;
        if !self.greeted {
            self.greeted = true;
            return (kind == kind::INIT && fields.u32()? >= VERSION).then(version);
        }
        let number = fields.u32()?;
        let reply = self.perform(kind, number, fields);
        self.has_refused_change = matches!(&reply, Err(Refusal::System(error))
            if error.kind() == io::ErrorKind::ReadOnlyFilesystem);
        Some(reply.unwrap_or_else(|refusal| say(number, &refusal)).finish())
    }

    fn perform(&mut self, kind: u8, number: u32, mut fields: Fields<'_>) -> Done<Message> {
        match kind {
            kind::READ => self.read(number, fields),
            kind::WRITE => self.write(number, fields),
            kind::OPEN => self.open(number, fields),
            kind::CLOSE => {
                if let Open::File { file, .. } = self.handles.remove(fields.string().whole()?)? {
                    lanlab_os::close_file(file)?;
                }
                Ok(done(number))
            }
            kind::STAT | kind::LSTAT => {
                let found = self.shared.confined.look(&names(&mut fields)?)?;
                Ok(attributes_of(&found).write(reply(kind::ATTRS, number)))
            }
            kind::FSTAT => {
                let open = self.handles.file(fields.string().whole()?)?;
                let Open::File { file, .. } = open else { return Err(Refusal::Unknown) };
                let found =
                    Found::new(String::new(), &Metadata::from_file(file)?).ok_or_else(denied)?;
                Ok(attributes_of(&found).write(reply(kind::ATTRS, number)))
            }
            kind::SETSTAT => {
                let names = names(&mut fields)?;
                self.shared.confined.change(&names, &changes(&mut fields)?)?;
                Ok(done(number))
            }
            kind::FSETSTAT => {
                let handle = fields.string().whole()?;
                let changes = changes(&mut fields)?;
                match self.handles.file(handle)? {
                    Open::File { file, writes: true, .. } => changes.apply(file)?,
                    _ => return Err(denied().into()),
                }
                Ok(done(number))
            }
            kind::OPENDIR => {
                let entries = self.shared.confined.list(&names(&mut fields)?)?;
                let handle = self.handles.insert(Open::Directory(Box::new(entries)))?;
                Ok(reply(kind::HANDLE, number).string(handle))
            }
            kind::READDIR => self.list(number, fields),
            kind::REMOVE => {
                self.shared.confined.remove_file(&names(&mut fields)?)?;
                Ok(done(number))
            }
            kind::MKDIR => {
                let names = names(&mut fields)?;
                // Given permissions are set when the directory is made.
                self.shared.confined.create_dir(&names, permissions(&mut fields))?;
                Ok(done(number))
            }
            kind::RMDIR => {
                self.shared.confined.remove_dir(&names(&mut fields)?)?;
                Ok(done(number))
            }
            kind::REALPATH => {
                let path = format!("/{}", names(&mut fields)?.join("/"));
                let one = reply(kind::NAME, number).u32(1).string(&path).string(&path);
                Ok(Attributes::default().write(one))
            }
            kind::RENAME => {
                let from = names(&mut fields)?;
                // Section 6.5: existing files are not overwritten.
                self.shared.confined.rename(&from, &names(&mut fields)?)?;
                Ok(done(number))
            }
            kind::EXTENDED => self.extended(number, fields),
            _ => Err(Refusal::Unknown),
        }
    }

    fn open(&mut self, number: u32, mut fields: Fields<'_>) -> Done<Message> {
        let names = names(&mut fields)?;
        let flags = fields.u32().whole()?;
        let has = |flag: u32| flags & flag != 0;
        let (reads, appends) = (has(flag::READ), has(flag::APPEND));
        let writes = has(flag::WRITE) || appends;
        let mut options = OpenOptions::new();
        options.read(reads || !writes).write(writes);
        if writes && has(flag::CREAT) {
            options.create(true).create_new(has(flag::EXCL));
        }
        if writes && has(flag::TRUNC) && !has(flag::EXCL) {
            options.truncate(true);
        }
        if let Some(mode) = permissions(&mut fields) {
            cap_std::fs::OpenOptionsExt::mode(&mut options, mode);
        }
        let file = if writes || has(flag::CREAT) || has(flag::TRUNC) {
            self.shared.confined.open_to_change(&names, &options)?
        } else {
            self.shared.confined.open(&names)?
        };
        let handle = self.handles.insert(Open::File { file, reads, writes, appends })?;
        Ok(reply(kind::HANDLE, number).string(handle))
    }

    fn read(&mut self, number: u32, mut fields: Fields<'_>) -> Done<Message> {
        let open = self.handles.file(fields.string().whole()?)?;
        let (offset, asked) = (fields.u64().whole()?, fields.u32().whole()?);
        let Open::File { file, reads: true, .. } = open else { return Err(denied().into()) };
        let room = asked.min(MAX_PIECE_OCTETS) as usize;
        let message = Message::new(kind::DATA, room).u32(number);
        let fill = |place: &mut [u8]| positioned::read_at(file, place, offset);
        let (message, count) = message.filled(room, fill)?;
        if count == 0 && room > 0 { Err(Refusal::End) } else { Ok(message) }
    }

    fn write(&mut self, number: u32, mut fields: Fields<'_>) -> Done<Message> {
        let open = self.handles.file(fields.string().whole()?)?;
        let (offset, data) = (fields.u64().whole()?, fields.string().whole()?);
        let Open::File { file, writes: true, appends, .. } = open else {
            return Err(denied().into());
        };
        let offset = if *appends { file.metadata()?.len() } else { offset };
        positioned::write_all_at(file, data, offset)?;
        Ok(done(number))
    }

    fn list(&mut self, number: u32, mut fields: Fields<'_>) -> Done<Message> {
        let Open::Directory(entries) = self.handles.get(fields.string().whole()?)? else {
            return Err(denied().into());
        };
        let some: Vec<Found> = entries.take(ENTRIES).collect::<io::Result<_>>()?;
        if some.is_empty() {
            return Err(Refusal::End);
        }
        let mut message = Message::new(kind::NAME, 64 * some.len()).u32(number);
        message = message.u32(some.len() as u32);
        for found in &some {
            let mode = mode_text(found.is_directory, found.mode);
            let long = format!("{mode} 1 lanlab lanlab {} {}", found.size_bytes, found.name);
            message = attributes_of(found).write(message.string(&found.name).string(long));
        }
        Ok(message)
    }

    fn extended(&mut self, number: u32, mut fields: Fields<'_>) -> Done<Message> {
        match fields.text().whole()? {
            extension::FSYNC => {
                let open = self.handles.file(fields.string().whole()?)?;
                let Open::File { file, .. } = open else { return Err(Refusal::Unknown) };
                file.sync_data()?;
                Ok(done(number))
            }
            extension::LIMITS => {
                let piece = u64::from(MAX_PIECE_OCTETS);
                let message = reply(kind::EXTENDED_REPLY, number).u64(MAX_MESSAGE_OCTETS as u64);
                Ok(message.u64(piece).u64(piece).u64(MAX_HANDLES as u64))
            }
            _ => Err(Refusal::Unknown),
        }
    }
}

fn names(fields: &mut Fields<'_>) -> Done<Names> {
    Ok(Confined::names(&[], fields.text().whole()?)?)
}

fn attributes_of(found: &Found) -> Attributes {
    let times = [found.accessed_s, found.modified_s];
    Attributes::of(found.is_directory, found.mode, found.size_bytes, times)
}

/// Requested changes. A change of owner is refused, not ignored.
fn changes(fields: &mut Fields<'_>) -> Done<Changes> {
    let has_others = fields.have_others();
    let Attributes { size_bytes, mode, accessed_s, modified_s } = fields.attributes().whole()?;
    if has_others {
        return Err(Refusal::Unknown);
    }
    let [accessed_s, modified_s] = [accessed_s, modified_s].map(|time_s| time_s.map(u64::from));
    Ok(Changes { size_bytes, mode, accessed_s, modified_s })
}

fn permissions(fields: &mut Fields<'_>) -> Option<u32> {
    fields.attributes()?.mode.map(|mode| mode & 0o777)
}

fn version() -> Bytes {
    let message = Message::new(kind::VERSION, 96).u32(VERSION);
    message.string(extension::FSYNC).string("1").string(extension::LIMITS).string("1").finish()
}

fn reply(kind: u8, number: u32) -> Message {
    Message::new(kind, 64).u32(number)
}

fn status_of(number: u32, code: u32, words: &str) -> Message {
    reply(kind::STATUS, number).u32(code).string(words).string("en")
}

fn done(number: u32) -> Message {
    status_of(number, status::OK, "Done")
}

fn denied() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

fn say(number: u32, refusal: &Refusal) -> Message {
    use io::ErrorKind as K;
    let (code, words) = match refusal {
        Refusal::Garbled => (status::BAD_MESSAGE, "Bad message"),
        Refusal::Unknown => (status::OP_UNSUPPORTED, "Not known here"),
        Refusal::End => (status::EOF, "End of file"),
        Refusal::System(error) => match error.kind() {
            K::NotFound | K::NotADirectory => (status::NO_SUCH_FILE, "No such file"),
            K::PermissionDenied | K::ReadOnlyFilesystem | K::IsADirectory => {
                (status::PERMISSION_DENIED, "Permission denied")
            }
            K::AlreadyExists => (status::FAILURE, "File exists"),
            K::DirectoryNotEmpty => (status::FAILURE, "Directory not empty"),
            K::StorageFull | K::QuotaExceeded | K::FileTooLarge => {
                (status::FAILURE, "No space left on device")
            }
            K::InvalidFilename | K::InvalidInput => (status::BAD_MESSAGE, "Invalid name"),
            K::Unsupported => (status::OP_UNSUPPORTED, "Not done here"),
            _ => return status_of(number, status::FAILURE, &error.to_string()),
        },
    };
    status_of(number, code, words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reply to a request about a file of 7 bytes: its status, or its kind.
    fn said(requests: &mut Requests, request: Message) -> u32 {
        let reply = requests.answer(&request.finish()[4..]).unwrap();
        let mut fields = Fields(&reply[4..]);
        let (kind, _number) = (fields.u8().unwrap(), fields.u32().unwrap());
        if kind == kind::STATUS { fields.u32().unwrap() } else { 1000 + u32::from(kind) }
    }

    #[test]
    fn a_change_of_owner_is_refused_and_reported() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("x"), "content").unwrap();
        let confined = Confined::new(root.path(), false).unwrap();
        let mut requests = Requests::new(Arc::new(Shared { confined, credentials: None }));
        let hello = Message::new(kind::INIT, 8).u32(VERSION).finish();
        assert!(requests.answer(&hello[4..]).is_some());
        let of = |kind: u8| Message::new(kind, 64).u32(7);
        let opened = of(kind::OPEN).string("x").u32(flag::WRITE).u32(0);
        assert_eq!(said(&mut requests, opened), 1000 + u32::from(kind::HANDLE));
        let handle = 0_u32.to_be_bytes();
        // Size and owner; size and attributes of later versions: neither request changes anything.
        for (flags, rest) in [(0x3, [0, 0]), (0x8000_0001, [0, 0]), (0x8000_0001, [1, 0])] {
            let add = |message: Message| message.u32(flags).u64(0).u32(rest[0]).u32(rest[1]);
            for set in [add(of(kind::SETSTAT).string("x")), add(of(kind::FSETSTAT).string(handle))]
            {
                let done = said(&mut requests, set);
                assert!(matches!(done, status::OP_UNSUPPORTED | status::BAD_MESSAGE), "{done}");
            }
        }
        assert_eq!(std::fs::read(root.path().join("x")).unwrap(), b"content");
        for set in [of(kind::SETSTAT).string("x"), of(kind::FSETSTAT).string(handle)] {
            assert_eq!(said(&mut requests, set.u32(0x5).u64(3).u32(0o600)), status::OK);
        }
        assert_eq!(std::fs::read(root.path().join("x")).unwrap(), b"con");
    }
}
