//! lanlab's own NFS version 4.1 client (RFC 8881): no mount, no cache, and few compounds for each file.
//!
//! A short file is opened, read and closed by one compound, and written by two. Users, ports and
//! the disk are as in [`nfs`](crate::nfs): the server trusts the ids of this process, and writes
//! are committed by the close.

use std::cell::{Cell, RefCell};

use lanlab_files as files;
use lanlab_files::fault::{during, shown};
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Target, TransferCapabilities,
};
use lanlab_wire::nfs3::xdr::{Reader, Writer};
use lanlab_wire::nfs3::{GUARDED, UNCHECKED, UNSTABLE};
use lanlab_wire::nfs4::operation as op;
use lanlab_wire::nfs4::{
    Attributes, CURRENT_STATE, DIRECTORY, MAX_HANDLE_OCTETS, StateId, Status, attribute,
    skip_opened, write_attributes, write_bitmap,
};

use crate::nfs::connection::{MAX_DATA_OCTETS, garbled};
use crate::nfs::uncommitted::Uncommitted;
use crate::nfs::{DEPTH, mounting};

pub mod compound;
pub mod listing;
pub mod session;
#[cfg(test)]
mod tests;

use compound::{Compound, OF_FILE, Results};
use session::Client;

/// Bytes read by the open or written by the close of a file: more than a small file has.
const SHORT_OCTETS: u32 = 64 << 10;

const READ: u32 = 1;
const WRITE: u32 = 2;

#[derive(Debug)]
pub struct Session {
    client: Client,
    base: Vec<u8>,
    limits: Limits,
    /// Numbers of open-owners without an open file, and the next new number. Each open file has its
    /// own owner, so that a close ends no other open of the same file.
    owners: RefCell<(Vec<u32>, u32)>,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    read: u32,
    write: u32,
    file: u64,
}

#[derive(Debug)]
pub struct File {
    handle: Vec<u8>,
    path: String,
    owner: u32,
    /// None after the close, which may come with the first read or the last write.
    state: Cell<Option<StateId>>,
    /// Bytes in the file when it was opened, if it was opened for reading.
    size_bytes: Option<u64>,
    /// The beginning of the file, read by the compound that opened it.
    head: Vec<u8>,
    /// Bytes that will be written, if known.
    whole_bytes: Option<u64>,
    uncommitted: Uncommitted,
}

pub async fn connect(target: &Target) -> Result<Session> {
    let export = target.share.clone().ok_or_else(|| {
        Fault::new(Class::Missing, "found no export").hint("name one, as `/export`")
    })?;
    let client = Client::begin(target).await?;
    let limits = Limits { read: 0, write: 0, file: 0 };
    let mut session = Session { client, base: Vec::new(), limits, owners: RefCell::default() };
    let low = session.client.connection.is_from_low_port;
    let denied = |fault: Fault| match fault.class {
        Class::Denied => mounting::with_reason(fault, low),
        _ => fault,
    };
    let mounted = async {
        let base = session.walk(None, &names(&export)).await?;
        let limits = session.limits(&base).await?;
        Ok((base, limits))
    };
    (session.base, session.limits) =
        mounted.await.map_err(denied).map_err(during("mount", &export))?;
    let below = names(&target.directory);
    if !below.is_empty() {
        let found = session.walk(Some(&session.base), &below).await;
        session.base = found.map_err(during("directory", &target.directory))?;
    }
    Ok(session)
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

/// The exports that NFS 3 lists, if NFS 4 has the same paths. Otherwise the names at the root of
/// NFS 4, which has no list of exports.
pub async fn exports(target: &Target) -> Result<Vec<String>> {
    let root = Target { share: Some("/".to_owned()), directory: String::new(), ..target.clone() };
    let session = connect(&root).await?;
    let mut found = Vec::new();
    for path in mounting::exported(target).await.unwrap_or_default() {
        if session.walk(Some(&session.base), &names(&path)).await.is_ok() {
            found.push(path);
        }
    }
    if found.is_empty() {
        let listed = session.entries(&Compound::at(Some(&session.base))).await;
        let listed = listed.map_err(during("list", "/"))?;
        found.extend(listed.into_iter().map(|(name, _)| format!("/{name}")));
    }
    session.client.end().await;
    Ok(found)
}

impl Session {
    /// The handle of a path, by several compounds if it is long.
    async fn walk(&self, from: Option<&[u8]>, mut names: &[&str]) -> Result<Vec<u8>> {
        let mut handle = from.map(<[u8]>::to_vec);
        loop {
            let (now, later) = names.split_at(names.len().min(self.client.limits.lookups()));
            let asked = Compound::at(handle.as_deref()).lookups(now).op(op::GETFH, |_| {});
            let answer = self.client.call(&asked, &[]).await?;
            let mut results = Results(answer.reader());
            let found = results.of(op::GETFH)?.opaque(MAX_HANDLE_OCTETS).map_err(garbled)?.to_vec();
            if later.is_empty() {
                return Ok(found);
            }
            (handle, names) = (Some(found), later);
        }
    }

    /// A compound that begins at a path below the base.
    async fn at(&self, path: Option<&ServicePath>) -> Result<Compound> {
        let names: Vec<&str> = path.into_iter().flat_map(ServicePath::names).collect();
        let (early, late) =
            names.split_at(names.len().saturating_sub(self.client.limits.lookups()));
        if early.is_empty() {
            return Ok(Compound::at(Some(&self.base)).lookups(late));
        }
        let handle = self.walk(Some(&self.base), early).await?;
        Ok(Compound::at(Some(&handle)).lookups(late))
    }

    async fn at_parent(&self, path: &ServicePath) -> Result<Compound> {
        self.at(path.parent().as_ref()).await
    }

    async fn limits(&self, handle: &[u8]) -> Result<Limits> {
        use attribute::{MAXFILESIZE, MAXREAD, MAXWRITE};
        let wanted = [MAXFILESIZE, MAXREAD, MAXWRITE];
        let found = self.attributes(Compound::at(Some(handle)), &wanted).await?;
        let (write, read) = self.client.limits.data();
        let octets = |number, of_session: u32| {
            let of_server = found.get(number).filter(|octets| *octets > 0).unwrap_or(u64::MAX);
            of_server.min(u64::from(of_session.min(MAX_DATA_OCTETS))) as u32
        };
        let file = found.get(MAXFILESIZE).filter(|octets| *octets > 0).unwrap_or(u64::MAX);
        Ok(Limits { read: octets(MAXREAD, read), write: octets(MAXWRITE, write), file })
    }

    async fn attributes(&self, at: Compound, wanted: &[u32]) -> Result<Attributes> {
        let asked = at.op(op::GETATTR, |writer| write_bitmap(writer, wanted));
        let answer = self.client.call(&asked, &[]).await?;
        Attributes::read(Results(answer.reader()).of(op::GETATTR)?).map_err(garbled)
    }

    fn owner(&self) -> u32 {
        let (free, next) = &mut *self.owners.borrow_mut();
        free.pop().unwrap_or_else(|| {
            *next += 1;
            *next
        })
    }

    /// Arguments of OPEN (section 18.16.1) up to the file.
    fn open_as(&self, writer: &mut Writer, owner: u32, access: u32) {
        const WANTS_NO_DELEGATION: u32 = 0x0400;
        for word in [0, access | WANTS_NO_DELEGATION, 0] {
            writer.u32(word); // Sequence, access, denied access.
        }
        writer.u64(self.client.id);
        writer.opaque(&owner.to_be_bytes());
    }

    async fn find(&self, path: &ServicePath) -> Result<File> {
        let owner = self.owner();
        let wanted = SHORT_OCTETS.min(self.limits.read);
        let asked = self
            .at_parent(path)
            .await?
            .op(op::OPEN, |writer| {
                self.open_as(writer, owner, READ);
                writer.u32(0); // No creation.
                writer.u32(0); // By name.
                writer.opaque(path.name().as_bytes());
            })
            .op(op::GETFH, |_| {})
            .op(op::GETATTR, |writer| write_bitmap(writer, &[attribute::SIZE]))
            .op(op::READ, |writer| write_read(writer, &CURRENT_STATE, 0, wanted))
            .op(op::CLOSE, |writer| write_close(writer, &CURRENT_STATE));
        let answer = self.client.call(&asked, &[]).await?;
        let mut results = Results(answer.reader());
        skip_state(results.of(op::OPEN)?)?;
        let handle = results.of(op::GETFH)?.opaque(MAX_HANDLE_OCTETS).map_err(garbled)?.to_vec();
        let found = Attributes::read(results.of(op::GETATTR)?).map_err(garbled)?;
        let size_bytes = found.get(attribute::SIZE);
        let (data, at_end) = read_data(results.of(op::READ)?, wanted as usize)?;
        let file = File { head: data.to_vec(), size_bytes, ..file(handle, path, owner) };
        results.of(op::CLOSE)?;
        if !at_end || size_bytes != Some(file.head.len() as u64) {
            self.open_again(&file, READ).await?;
        }
        Ok(file)
    }

    /// Open a file by its handle.
    async fn open_again(&self, file: &File, access: u32) -> Result<StateId> {
        const BY_HANDLE: u32 = 4;
        let asked = Compound::at(Some(&file.handle)).op(op::OPEN, |writer| {
            self.open_as(writer, file.owner, access);
            writer.u32(0);
            writer.u32(BY_HANDLE);
        });
        let answer = self.client.call(&asked, &[]).await?;
        let state = skip_state(Results(answer.reader()).of(op::OPEN)?)?;
        file.state.set(Some(state));
        Ok(state)
    }

    async fn state(&self, file: &File) -> Result<StateId> {
        match file.state.get() {
            Some(state) => Ok(state),
            None => self.open_again(file, READ | WRITE).await,
        }
    }

    /// Create a file, truncate an existing one, or open one to update it.
    async fn open_to_write(&self, path: &ServicePath, access: Access) -> Result<File> {
        let owner = self.owner();
        let (mode, whole_bytes) = match access {
            Access::Create { size_bytes } => (Some(GUARDED), Some(size_bytes)),
            Access::Replace { size_bytes } => (Some(UNCHECKED), Some(size_bytes)),
            Access::Read | Access::Update => (None, None),
        };
        let asked = self
            .at_parent(path)
            .await?
            .op(op::OPEN, |writer| {
                self.open_as(writer, owner, if mode.is_some() { WRITE } else { READ | WRITE });
                writer.boolean(mode.is_some());
                if let Some(mode) = mode {
                    writer.u32(mode);
                    let set = [(attribute::SIZE, 0), (attribute::MODE, 0o644)];
                    write_attributes(writer, &set[usize::from(mode == GUARDED)..]);
                }
                writer.u32(0);
                writer.opaque(path.name().as_bytes());
            })
            .op(op::GETFH, |_| {});
        let answer = self.client.call(&asked, &[]).await?;
        let mut results = Results(answer.reader());
        let state = skip_state(results.of(op::OPEN)?)?;
        let handle = results.of(op::GETFH)?.opaque(MAX_HANDLE_OCTETS).map_err(garbled)?.to_vec();
        Ok(File { state: Cell::new(Some(state)), whole_bytes, ..file(handle, path, owner) })
    }

    async fn read(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let known = usize::try_from(offset).ok().and_then(|offset| file.head.get(offset..));
        let head = known.unwrap_or_default();
        // Returning only a part would cost a further call.
        let Some(state) = file.state.get().filter(|_| head.len() < buffer.len()) else {
            let count = head.len().min(buffer.len());
            buffer[..count].copy_from_slice(&head[..count]);
            return Ok(count);
        };
        let wanted = buffer.len().min(self.limits.read as usize);
        let asked = Compound::at(Some(&file.handle))
            .op(op::READ, |writer| write_read(writer, &state, offset, wanted as u32));
        let answer = self.client.call(&asked, &[]).await?;
        let (data, at_end) = read_data(Results(answer.reader()).of(op::READ)?, wanted)?;
        let count = data.len();
        buffer[..count].copy_from_slice(data);
        self.client.connection.give_back(answer);
        if count == 0 && wanted > 0 {
            crate::nfs::check_end(file.size_bytes, offset, at_end)?;
        }
        Ok(count)
    }

    async fn write(&self, file: &File, mut offset: u64, mut data: &[u8]) -> Result<()> {
        let is_short = data.len() <= SHORT_OCTETS.min(self.limits.write) as usize;
        if is_short && offset == 0 && file.whole_bytes == Some(data.len() as u64) {
            let taken = self.write_whole(file, data).await?;
            (offset, data) = (taken as u64, &data[taken..]);
        }
        while !data.is_empty() {
            let state = self.state(file).await?;
            let part = &data[..data.len().min(self.limits.write as usize)];
            let asked = Compound::at(Some(&file.handle))
                .op(op::WRITE, |writer| write_write(writer, &state, offset, part.len()));
            let answer = self.client.call(&asked, part).await?;
            let mut results = Results(answer.reader());
            let taken = file.uncommitted.written(results.of(op::WRITE)?, part.len())?;
            offset += taken as u64;
            data = &data[taken..];
        }
        Ok(())
    }

    /// Write, commit and close a file by one compound; returns how many bytes were written.
    async fn write_whole(&self, file: &File, data: &[u8]) -> Result<usize> {
        let state = self.state(file).await?;
        let asked = Compound::at(Some(&file.handle))
            .op(op::WRITE, |writer| {
                write_write(writer, &state, 0, data.len());
                writer.fixed(data);
            })
            .op(op::COMMIT, write_commit)
            .op(op::CLOSE, |writer| write_close(writer, &state));
        let answer = self.client.call(&asked, &[]).await?;
        let mut results = Results(answer.reader());
        let taken = file.uncommitted.written(results.of(op::WRITE)?, data.len())?;
        file.uncommitted.committed(results.of(op::COMMIT)?)?;
        results.of(op::CLOSE)?;
        file.state.set(None);
        Ok(taken)
    }

    async fn commit(&self, file: &File) -> Result<()> {
        let asked = Compound::at(Some(&file.handle)).op(op::COMMIT, write_commit);
        let answer = self.client.call(&asked, &[]).await?;
        file.uncommitted.committed(Results(answer.reader()).of(op::COMMIT)?)
    }

    async fn close(&self, file: &File) -> Result<()> {
        if let Some(state) = file.state.get() {
            let dirty = file.uncommitted.exists();
            let mut asked = Compound::at(Some(&file.handle));
            if dirty {
                asked = asked.op(op::COMMIT, write_commit);
            }
            let asked = asked.op(op::CLOSE, |writer| write_close(writer, &state));
            let answer = self.client.call(&asked, &[]).await?;
            let mut results = Results(answer.reader());
            if dirty {
                file.uncommitted.committed(results.of(op::COMMIT)?)?;
            }
            results.of(op::CLOSE)?;
        }
        self.owners.borrow_mut().0.push(file.owner);
        Ok(())
    }

    /// Remove a file or a directory. One operation removes both, so check the type first.
    async fn remove(&self, path: &ServicePath, check: u32) -> Result<()> {
        let asked = self
            .at_parent(path)
            .await?
            .op(op::SAVEFH, |_| {})
            .named(op::LOOKUP, path.name())
            .op(check, |writer| {
                write_attributes(writer, &[(attribute::TYPE, u64::from(DIRECTORY))]);
            })
            .op(op::RESTOREFH, |_| {})
            .named(op::REMOVE, path.name());
        self.done(&asked, op::REMOVE).await
    }

    async fn make(&self, path: &ServicePath) -> Result<()> {
        let asked = self.at_parent(path).await?.op(op::CREATE, |writer| {
            writer.u32(DIRECTORY);
            writer.opaque(path.name().as_bytes());
            write_attributes(writer, &[(attribute::MODE, 0o755)]);
        });
        self.done(&asked, op::CREATE).await
    }

    /// Rename (section 18.26), which replaces an existing file.
    async fn give_name(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        let mut asked = self.at_parent(from).await?.op(op::SAVEFH, |_| {});
        if from.parent() != to.parent() {
            asked = asked.then(&self.at_parent(to).await?);
        }
        let asked = asked.op(op::RENAME, |writer| {
            writer.opaque(from.name().as_bytes());
            writer.opaque(to.name().as_bytes());
        });
        self.done(&asked, op::RENAME).await
    }

    async fn done(&self, asked: &Compound, last: u32) -> Result<()> {
        let answer = self.client.call(asked, &[]).await?;
        Results(answer.reader()).of(last).map(drop)
    }
}

fn file(handle: Vec<u8>, path: &ServicePath, owner: u32) -> File {
    File {
        handle,
        path: path.as_str().to_owned(),
        owner,
        state: Cell::new(None),
        size_bytes: None,
        head: Vec::new(),
        whole_bytes: None,
        uncommitted: Uncommitted::default(),
    }
}

fn write_read(writer: &mut Writer, state: &StateId, offset: u64, count: u32) {
    writer.fixed(state);
    writer.u64(offset);
    writer.u32(count);
}

/// Arguments of WRITE before its data.
fn write_write(writer: &mut Writer, state: &StateId, offset: u64, count: usize) {
    writer.fixed(state);
    writer.u64(offset);
    writer.u32(UNSTABLE);
    writer.u32(count as u32);
}

fn write_commit(writer: &mut Writer) {
    writer.u64(0);
    writer.u32(0); // To the end.
}

fn write_close(writer: &mut Writer, state: &StateId) {
    writer.u32(0);
    writer.fixed(state);
}

pub fn skip_state(reader: &mut Reader<'_>) -> Result<StateId> {
    let state = reader.fixed(16).map_err(garbled)?.try_into().unwrap_or_default();
    skip_opened(reader).map_err(garbled)?;
    Ok(state)
}

/// Read the result of a READ of `wanted` bytes: its data, and whether the file ends there.
pub fn read_data<'a>(reader: &mut Reader<'a>, wanted: usize) -> Result<(&'a [u8], bool)> {
    let at_end = reader.boolean().map_err(garbled)?;
    let data = reader.opaque(MAX_DATA_OCTETS as usize).map_err(garbled)?;
    if data.len() > wanted {
        let message = format!("octets: {wanted} asked for, {} sent", data.len());
        return Err(Fault::new(Class::Length, message));
    }
    Ok((data, at_end))
}

impl files::Session for Session {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities {
            in_order: false,
            block_bytes: self.limits.read.min(self.limits.write),
            depth: DEPTH.min(self.client.limits.slots as u16),
            blocking: false,
            can_update: true,
            can_create: true,
        }
    }

    fn largest_file_bytes(&self) -> u64 {
        self.limits.file
    }

    fn facts(&self) -> Facts {
        Facts {
            protocol: "NFS 4.1".to_owned(),
            protection: "none".to_owned(),
            server: self.client.server.clone(),
            no_delay: Some(true),
            tcp: None,
        }
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        let opened = match access {
            Access::Read => self.find(path).await,
            _ => self.open_to_write(path, access).await,
        };
        opened.map_err(during("open", path.as_str()))
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        self.read(file, offset, buffer).await.map_err(during("read", &file.path))
    }

    async fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> Result<()> {
        self.write(file, offset, data).await.map_err(during("write", &file.path))
    }

    async fn sync(&self, file: &File) -> Result<()> {
        self.commit(file).await.map_err(during("sync", &file.path))
    }

    async fn close(&self, file: File) -> Result<()> {
        self.close(&file).await.map_err(during("close", &file.path))
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        self.remove(path, op::NVERIFY).await.map_err(during("remove", path.as_str()))
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        self.list_all(path).await.map_err(during("list", shown(path)))
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        self.make(path).await.map_err(during("make directory", path.as_str()))
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        let removed = self.remove(path, op::VERIFY).await;
        removed.map_err(during("remove directory", path.as_str()))
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let found = async { self.attributes(self.at(Some(path)).await?, &OF_FILE).await };
        let found = found.await.map_err(during("stat", path.as_str()))?;
        Ok(listing::entry(path.name().to_owned(), &found))
    }

    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        self.give_name(from, to).await.map_err(during("rename", from.as_str()))
    }

    async fn end(self) -> Result<()> {
        self.client.end().await;
        Ok(())
    }
}

/// Whether an entry vanished while it was listed.
pub fn is_gone(found: &Attributes) -> Result<bool> {
    match found.get(attribute::RDATTR_ERROR).map(|status| Status(status as u32)) {
        None | Some(Status::OK) => Ok(false),
        Some(Status::NOENT | Status::STALE) => Ok(true),
        Some(status) => Err(compound::fault_of(status)),
    }
}
