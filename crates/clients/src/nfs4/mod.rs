//! lanlab's own NFS version 4.1 client (RFC 8881): no mount, no cache, and few compounds for each file.
//!
//! A short file is opened, read and closed by one compound, and written by two. Users, ports and
//! the disk are as in [`nfs`](crate::nfs): the server trusts the ids of this process, and writes
//! are committed by the close.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use lanlab_files as files;
use lanlab_files::fault::during;
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Target, TransferCapabilities,
};
use lanlab_wire::nfs3::xdr::{Reader, Writer};
use lanlab_wire::nfs3::{GUARDED, UNCHECKED, UNSTABLE};
use lanlab_wire::nfs4::{
    Attributes, CURRENT_STATE, DIRECTORY, NFS, StateId, Status, attribute, operation as op,
    skip_opened, write_attributes, write_bitmap,
};

use crate::nfs::connection::MAX_DATA_OCTETS;
use crate::nfs::status::fault_of;
use crate::nfs::uncommitted::Uncommitted;
use crate::nfs::{DEPTH, Limits, mounting};

pub mod compound;
pub mod listing;
pub mod session;
#[cfg(test)]
mod tests;

use compound::{Compound, OF_FILE, Results};
use session::Client;

/// Bytes read by the open or written by the close of a file: more than a small file has.
const SHORT_OCTETS: u32 = 64 << 10;

/// Maximum number of exports in a hint.
const MAX_NAMED: usize = 8;

const READ: u32 = 1;
const WRITE: u32 = 2;

#[derive(Debug)]
pub struct Session {
    client: Client,
    base: Vec<u8>,
    /// Whether the base is the root of NFS 4, where many servers have only exports.
    is_root: bool,
    limits: Limits,
    /// Numbers of open-owners without an open file, and the next new number. Each open file has its
    /// own owner, so that a close ends no other open of the same file.
    owners: RefCell<(Vec<u32>, u32)>,
}

#[derive(Debug)]
pub struct File {
    handle: Vec<u8>,
    owner: u32,
    /// [`READ`], [`WRITE`] or both.
    access: u32,
    /// The client's number and the state that it has. None after the close, which may come with the
    /// first read or the last write.
    state: Cell<Option<(u64, StateId)>>,
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
    let (below, base) = (names(&target.directory), Vec::new());
    let is_root = below.is_empty() && names(&export).is_empty();
    let mut session = Session { client, base, is_root, limits, owners: RefCell::default() };
    let low = session.client.connection.is_from_low_port;
    let denied = |fault: Fault| match fault.class {
        Class::Denied => mounting::with_reason(fault, low),
        _ => fault,
    };
    session.mount(&export).await.map_err(denied).map_err(during("mount", &export))?;
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
        found = session.at_root().await.map_err(during("list", "/"))?;
    }
    session.client.end().await;
    Ok(found)
}

impl Session {
    async fn mount(&mut self, export: &str) -> Result<()> {
        use attribute::{LEASE_TIME, MAXFILESIZE, MAXREAD, MAXWRITE};
        self.base = self.walk(None, &names(export)).await?;
        let wanted = [LEASE_TIME, MAXFILESIZE, MAXREAD, MAXWRITE];
        let found = self.attributes(Compound::at(Some(&self.base)), &wanted).await?;
        let (write, read) = self.client.limits.data();
        let octets = |number, of_session: u32| {
            let of_server = found.get(number).filter(|octets| *octets > 0).unwrap_or(u64::MAX);
            of_server.min(u64::from(of_session.min(MAX_DATA_OCTETS))) as u32
        };
        // Ganesha allows 512 bytes at the root, where it has no files.
        let file = found.get(MAXFILESIZE).filter(|octets| *octets > 512).unwrap_or(u64::MAX);
        self.limits = Limits { read: octets(MAXREAD, read), write: octets(MAXWRITE, write), file };
        if let Some(seconds) = found.get(LEASE_TIME) {
            self.client.lease = Duration::from_secs(seconds);
        }
        Ok(())
    }

    async fn at_root(&self) -> Result<Vec<String>> {
        let listed = self.entries(&Compound::at(Some(&self.base))).await?;
        Ok(listed.into_iter().map(|(name, _)| format!("/{name}")).collect())
    }

    /// The handle of a path, by several compounds if it is long.
    async fn walk(&self, from: Option<&[u8]>, mut names: &[&str]) -> Result<Vec<u8>> {
        let mut handle = from.map(<[u8]>::to_vec);
        loop {
            let (now, later) = names.split_at(names.len().min(self.client.limits.lookups()));
            let asked = Compound::at(handle.as_deref()).lookups(now).op(op::GETFH, |_| {});
            let answer = self.client.call(&asked, &[]).await?;
            let found = Results(answer.reader()).handle()?;
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

    async fn attributes(&self, at: Compound, wanted: &[u32]) -> Result<Attributes> {
        let asked = at.op(op::GETATTR, |writer| write_bitmap(writer, wanted));
        let answer = self.client.call(&asked, &[]).await?;
        Ok(Attributes::read(Results(answer.reader()).of(op::GETATTR)?)?)
    }

    fn owner(&self) -> u32 {
        let (free, next) = &mut *self.owners.borrow_mut();
        free.pop().unwrap_or_else(|| {
            *next += 1;
            *next
        })
    }

    /// A file whose open-owner has no other open file.
    fn unopened(&self, access: u32) -> File {
        File {
            handle: Vec::new(),
            owner: self.owner(),
            access,
            state: Cell::new(None),
            size_bytes: None,
            head: Vec::new(),
            whole_bytes: None,
            uncommitted: Uncommitted::default(),
        }
    }

    /// Arguments of OPEN (section 18.16.1) up to the kind of creation.
    fn write_open(&self, writer: &mut Writer, file: &File) {
        const WANTS_NO_DELEGATION: u32 = 0x0400;
        for word in [0, file.access | WANTS_NO_DELEGATION, 0] {
            writer.u32(word); // Sequence, access, denied access.
        }
        writer.u64(self.client.id());
        writer.opaque(&file.owner.to_be_bytes());
    }

    /// Open a file, and read and close it if it is short.
    async fn find(&self, path: &ServicePath) -> Result<File> {
        let mut file = self.unopened(READ);
        let wanted = SHORT_OCTETS.min(self.limits.read);
        let asked = self
            .at_parent(path)
            .await?
            .op(op::OPEN, |writer| {
                self.write_open(writer, &file);
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
        file.handle = results.handle()?;
        file.size_bytes = Attributes::read(results.of(op::GETATTR)?)?.get(attribute::SIZE);
        let (data, at_end) = read_data(results.of(op::READ)?, wanted as usize)?;
        file.head = data.to_vec();
        results.of(op::CLOSE)?;
        if !at_end || file.size_bytes != Some(file.head.len() as u64) {
            self.open_again(&file).await?;
        }
        Ok(file)
    }

    async fn open_again(&self, file: &File) -> Result<StateId> {
        const BY_HANDLE: u32 = 4;
        let asked = Compound::at(Some(&file.handle)).op(op::OPEN, |writer| {
            self.write_open(writer, file);
            writer.u32(0);
            writer.u32(BY_HANDLE);
        });
        let answer = self.client.call(&asked, &[]).await?;
        let mut state = skip_state(Results(answer.reader()).of(op::OPEN)?)?;
        // Calls in flight together may each open the file: 0 stands for the latest (section 8.2.2).
        state[..4].fill(0);
        file.state.set(Some((self.client.id(), state)));
        Ok(state)
    }

    /// The state of an open file; opened again if it was closed, or the server has forgotten it.
    async fn state(&self, file: &File) -> Result<StateId> {
        self.client.awake().await?;
        match file.state.get() {
            Some((client, state)) if client == self.client.id() => Ok(state),
            _ => self.open_again(file).await,
        }
    }

    /// Create a file, truncate an existing one, or open one to update it.
    async fn open_to_write(&self, path: &ServicePath, access: Access) -> Result<File> {
        let (mode, whole_bytes) = match access {
            Access::Create { size_bytes } => (Some(GUARDED), Some(size_bytes)),
            Access::Replace { size_bytes } => (Some(UNCHECKED), Some(size_bytes)),
            Access::Read | Access::Update => (None, None),
        };
        let mut file = self.unopened(if mode.is_some() { WRITE } else { READ | WRITE });
        let asked = self
            .at_parent(path)
            .await?
            .op(op::OPEN, |writer| {
                self.write_open(writer, &file);
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
        file.handle = results.handle()?;
        file.state.set(Some((self.client.id(), state)));
        Ok(File { whole_bytes, ..file })
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

    /// Remove a file or a directory. One operation removes both, so check the type first.
    async fn remove_if(&self, path: &ServicePath, check: u32) -> Result<()> {
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

    async fn done(&self, asked: &Compound, last: u32) -> Result<()> {
        let answer = self.client.call(asked, &[]).await?;
        Results(answer.reader()).of(last).map(drop)
    }
}

fn write_read(writer: &mut Writer, state: &StateId, offset: u64, count: u32) {
    writer.fixed(state);
    writer.u64(offset);
    writer.u32(count);
}

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
    let state = reader.fixed(16)?.try_into().unwrap_or_default();
    skip_opened(reader)?;
    Ok(state)
}

/// Read the result of a READ of `wanted` bytes: its data, and whether the file ends there.
pub fn read_data<'a>(reader: &mut Reader<'a>, wanted: usize) -> Result<(&'a [u8], bool)> {
    let at_end = reader.boolean()?;
    let data = reader.opaque(MAX_DATA_OCTETS as usize)?;
    if data.len() > wanted {
        let message = format!("octets: {wanted} asked for, {} sent", data.len());
        return Err(Fault::new(Class::Length, message));
    }
    Ok((data, at_end))
}

impl files::Session for Session {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        let depth = DEPTH.min(self.client.limits.slots as u16);
        TransferCapabilities::calls(self.limits.read.min(self.limits.write), depth)
    }

    fn largest_file_bytes(&self) -> u64 {
        self.limits.file
    }

    fn facts(&self) -> Facts {
        let server = self.client.server.clone();
        Facts { server, ..Facts::new("NFS 4.1", "none", Some(true)) }
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        match access {
            Access::Read => self.find(path).await,
            _ => self.open_to_write(path, access).await,
        }
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let known = usize::try_from(offset).ok().and_then(|offset| file.head.get(offset..));
        let head = known.unwrap_or_default();
        // Returning only a part would cost a further call.
        if file.state.get().is_none() || head.len() >= buffer.len() {
            let count = head.len().min(buffer.len());
            buffer[..count].copy_from_slice(&head[..count]);
            return Ok(count);
        }
        let state = self.state(file).await?;
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

    async fn write_at(&self, file: &File, mut offset: u64, mut data: &[u8]) -> Result<()> {
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

    async fn sync(&self, file: &File) -> Result<()> {
        let asked = Compound::at(Some(&file.handle)).op(op::COMMIT, write_commit);
        let answer = self.client.call(&asked, &[]).await?;
        file.uncommitted.committed(Results(answer.reader()).of(op::COMMIT)?)
    }

    async fn close(&self, file: File) -> Result<()> {
        if file.state.get().is_some() {
            let (dirty, state) = (file.uncommitted.exists(), self.state(&file).await?);
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

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        self.remove_if(path, op::NVERIFY).await
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let listed = self.entries(&self.at(path).await?).await?.into_iter();
        listed.filter_map(|(name, found)| listing::entry(name, &found).transpose()).collect()
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        let asked = self.at_parent(path).await?.op(op::CREATE, |writer| {
            writer.u32(DIRECTORY);
            writer.opaque(path.name().as_bytes());
            write_attributes(writer, &[(attribute::MODE, 0o755)]);
        });
        match self.done(&asked, op::CREATE).await {
            Err(fault) if fault.class == Class::Denied && self.is_root => {
                let found = self.at_root().await.unwrap_or_default();
                let found = found[..found.len().min(MAX_NAMED)].join(", ");
                Err(fault.hint(format!("`/` may only lead to exports: name one (found: {found})")))
            }
            made => made,
        }
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        self.remove_if(path, op::VERIFY).await
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let found = self.attributes(self.at(Some(path)).await?, &OF_FILE).await?;
        let gone = || fault_of(Status::NOENT, NFS.1);
        listing::entry(path.name().to_owned(), &found)?.ok_or_else(gone)
    }

    /// Rename (section 18.26), which replaces an existing file.
    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
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

    async fn end(self) -> Result<()> {
        self.client.end().await;
        Ok(())
    }
}
