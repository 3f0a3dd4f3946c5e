//! lanlab's own NFS version 3 client (RFC 1813): no mount, no cache, one remote call per file
//! operation.
//!
//! NFS has no passwords: the server trusts the user and group ids of this process (`AUTH_SYS`, RFC
//! 5531, appendix A). As in a kernel's client, writes are not yet on disk when they are answered,
//! and are committed when the file is closed.

use lanlab_files::fault::during;

pub mod connection;
pub mod listing;
pub mod mounting;
pub mod status;
pub mod uncommitted;

use connection::{Answer, Connection, MAX_DATA_OCTETS};
use lanlab_files as files;
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Target, TransferCapabilities,
};
use lanlab_wire::nfs3::xdr::{Reader, Writer};
use lanlab_wire::nfs3::{
    Attributes, DIRECTORY, GUARDED, MAX_HANDLE_OCTETS, MOUNT, NFS, UNCHECKED, UNSTABLE, mount,
    procedure, skip_wcc,
};
use listing::{PAGE_OCTETS, all_pages};
use uncommitted::Uncommitted;

/// Calls in flight when a whole file is transferred. On loopback, 2 to 8 made no significant
/// difference; a network with more delay needs more than 2.
pub const DEPTH: u16 = 4;

#[derive(Debug)]
pub struct Session {
    nfs: Connection,
    mount: Option<Connection>,
    export: String,
    base: Vec<u8>,
    limits: Limits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub read: u32,
    pub write: u32,
    pub file: u64,
}

/// An open file, which is only a handle: NFS version 3 has no open call.
#[derive(Debug)]
pub struct File {
    handle: Vec<u8>,
    /// Bytes in the file when it was opened, if it was opened for reading.
    size_bytes: Option<u64>,
    uncommitted: Uncommitted,
}

pub async fn connect(target: &Target) -> Result<Session> {
    let mounting::Mounted { nfs, mount, export, root } = mounting::mounted(target).await?;
    let limits = limits(&nfs, &root).await.map_err(during("mount", &export))?;
    let mut session = Session { nfs, mount, export, base: root, limits };
    for name in target.directory.split('/').filter(|name| !name.is_empty()) {
        let found = session.lookup(&session.base, name).await;
        session.base = found.map_err(during("directory", &target.directory))?.0;
    }
    Ok(session)
}

/// Limits of the server (FSINFO, section 3.3.19).
async fn limits(nfs: &Connection, root: &[u8]) -> Result<Limits> {
    let handle = |writer: &mut Writer| writer.opaque(root);
    let answer = nfs.call_with_status(NFS, procedure::FSINFO, handle, &[]).await?;
    read_limits(&mut answer.reader())
}

pub fn read_limits(reader: &mut Reader<'_>) -> Result<Limits> {
    Attributes::read_optional(reader)?;
    let longest_read = reader.u32()?;
    reader.fixed(8)?; // Preferred length and multiple.
    let longest_write = reader.u32()?;
    if longest_read == 0 || longest_write == 0 {
        return Err(Fault::new(Class::Protocol, "the server takes no octets in a call"));
    }
    reader.fixed(12)?; // Preferred sizes.
    let file = reader.u64()?;
    // Some servers report zero if they have no limit.
    let file = if file == 0 { u64::MAX } else { file };
    let (read, write) = (longest_read.min(MAX_DATA_OCTETS), longest_write.min(MAX_DATA_OCTETS));
    Ok(Limits { read, write, file })
}

impl Session {
    async fn nfs(
        &self,
        procedure: u32,
        arguments: impl FnOnce(&mut Writer),
        data: &[u8],
    ) -> Result<Answer> {
        self.nfs.call_with_status(NFS, procedure, arguments, data).await
    }

    /// Handle and attributes of a name in a directory (section 3.3.3).
    async fn lookup(&self, directory: &[u8], name: &str) -> Result<(Vec<u8>, Option<Attributes>)> {
        let arguments = |writer: &mut Writer| {
            writer.opaque(directory);
            writer.opaque(name.as_bytes());
        };
        let answer = self.nfs(procedure::LOOKUP, arguments, &[]).await?;
        let mut reader = answer.reader();
        let handle = reader.opaque(MAX_HANDLE_OCTETS)?.to_vec();
        Ok((handle, Attributes::read_optional(&mut reader)?))
    }

    /// Attributes of a handle (section 3.3.1).
    async fn attributes(&self, handle: &[u8]) -> Result<Attributes> {
        let arguments = |writer: &mut Writer| writer.opaque(handle);
        let answer = self.nfs(procedure::GETATTR, arguments, &[]).await?;
        Ok(Attributes::read(&mut answer.reader())?)
    }

    async fn directory_of(&self, path: &ServicePath) -> Result<Vec<u8>> {
        let mut handle = self.base.clone();
        for name in path.parent().iter().flat_map(ServicePath::names) {
            handle = self.lookup(&handle, name).await?.0;
        }
        Ok(handle)
    }

    async fn handle_of(&self, path: &ServicePath) -> Result<(Vec<u8>, Option<Attributes>)> {
        let directory = self.directory_of(path).await?;
        self.lookup(&directory, path.name()).await
    }

    /// Handle and attributes of a name, with further calls if the server omits them.
    async fn look(&self, directory: &[u8], name: &str) -> Result<(Vec<u8>, Attributes)> {
        let (handle, attributes) = self.lookup(directory, name).await?;
        let attributes = match attributes {
            Some(attributes) => attributes,
            None => self.attributes(&handle).await?,
        };
        Ok((handle, attributes))
    }

    /// Call a procedure whose arguments begin with the directory and the name of `path`.
    async fn on_name(
        &self,
        procedure: u32,
        path: &ServicePath,
        others: impl FnOnce(&mut Writer),
    ) -> Result<Answer> {
        let directory = self.directory_of(path).await?;
        let arguments = |writer: &mut Writer| {
            writer.opaque(&directory);
            writer.opaque(path.name().as_bytes());
            others(writer);
        };
        self.nfs(procedure, arguments, &[]).await
    }

    /// Create a file (section 3.3.8), or truncate an existing one.
    async fn create(&self, path: &ServicePath, is_new: bool) -> Result<File> {
        let how = |writer: &mut Writer| {
            writer.u32(if is_new { GUARDED } else { UNCHECKED });
            write_attributes(writer, 0o644, (!is_new).then_some(0));
        };
        let answer = self.on_name(procedure::CREATE, path, how).await?;
        let mut reader = answer.reader();
        let handle = if reader.boolean()? {
            reader.opaque(MAX_HANDLE_OCTETS)?.to_vec()
        } else {
            self.handle_of(path).await?.0
        };
        Ok(File { handle, size_bytes: None, uncommitted: Uncommitted::default() })
    }
}

/// Read the result of a READ of `wanted` bytes: its data, and whether the file ends there.
pub fn read_data<'a>(reader: &mut Reader<'a>, wanted: usize) -> Result<(&'a [u8], bool)> {
    Attributes::read_optional(reader)?;
    let (count, at_end) = (reader.u32()? as usize, reader.boolean()?);
    let data = reader.opaque(MAX_DATA_OCTETS as usize)?;
    if data.len() != count || count > wanted {
        let message = format!("{wanted} asked for, {count} named, {} sent", data.len());
        return Err(Fault::new(Class::Length, format!("octets: {message}")));
    }
    Ok((data, at_end))
}

/// Check that a read without data is at the end of the file.
pub fn check_end(size_bytes: Option<u64>, offset: u64, at_end: bool) -> Result<()> {
    let message = match size_bytes {
        Some(size_bytes) if !at_end || offset < size_bytes => {
            format!("nothing at {offset} of a file of {size_bytes} octets")
        }
        None if !at_end => "nothing, and yet not the end".to_owned(),
        _ => return Ok(()),
    };
    Err(Fault::new(Class::Length, message))
}

/// Write `sattr3` (section 2.6) with only a mode and optionally a size.
fn write_attributes(writer: &mut Writer, mode: u32, size_bytes: Option<u64>) {
    writer.boolean(true);
    writer.u32(mode);
    for _user_then_group in 0..2 {
        writer.boolean(false);
    }
    writer.boolean(size_bytes.is_some());
    if let Some(size_bytes) = size_bytes {
        writer.u64(size_bytes);
    }
    for _accessed_then_modified in 0..2 {
        writer.u32(0);
    }
}

fn entry(name: String, attributes: Attributes) -> Entry {
    let is_directory = attributes.kind == DIRECTORY;
    let size_bytes = if is_directory { 0 } else { attributes.size_bytes };
    Entry { name, size_bytes, is_directory }
}

impl files::Session for Session {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities::calls(self.limits.read.min(self.limits.write), DEPTH)
    }

    fn largest_file_bytes(&self) -> u64 {
        self.limits.file
    }

    fn facts(&self) -> Facts {
        Facts::new("NFS 3", "none", Some(true))
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        if let Access::Create { .. } | Access::Replace { .. } = access {
            return self.create(path, matches!(access, Access::Create { .. })).await;
        }
        let (handle, attributes) = self.look(&self.directory_of(path).await?, path.name()).await?;
        if attributes.kind == DIRECTORY {
            return Err(Fault::new(Class::Exists, "it is a directory"));
        }
        let size_bytes = (access == Access::Read).then_some(attributes.size_bytes);
        Ok(File { handle, size_bytes, uncommitted: Uncommitted::default() })
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let wanted = buffer.len().min(self.limits.read as usize);
        let arguments = |writer: &mut Writer| {
            writer.opaque(&file.handle);
            writer.u64(offset);
            writer.u32(wanted as u32);
        };
        let answer = self.nfs(procedure::READ, arguments, &[]).await?;
        let (data, at_end) = read_data(&mut answer.reader(), wanted)?;
        let count = data.len();
        buffer[..count].copy_from_slice(data);
        self.nfs.give_back(answer);
        if count == 0 && wanted > 0 {
            check_end(file.size_bytes, offset, at_end)?;
        }
        Ok(count)
    }

    async fn write_at(&self, file: &File, mut offset: u64, mut data: &[u8]) -> Result<()> {
        while !data.is_empty() {
            let part = &data[..data.len().min(self.limits.write as usize)];
            let head = |writer: &mut Writer| {
                writer.opaque(&file.handle);
                writer.u64(offset);
                writer.u32(part.len() as u32);
                writer.u32(UNSTABLE);
                writer.u32(part.len() as u32);
            };
            let answer = self.nfs(procedure::WRITE, head, part).await?;
            let mut reader = answer.reader();
            skip_wcc(&mut reader)?;
            let count = file.uncommitted.written(&mut reader, part.len())?;
            offset += count as u64;
            data = &data[count..];
        }
        Ok(())
    }

    /// Commit all written data to disk (section 3.3.21).
    async fn sync(&self, file: &File) -> Result<()> {
        let arguments = |writer: &mut Writer| {
            writer.opaque(&file.handle);
            writer.u64(0);
            writer.u32(0);
        };
        let answer = self.nfs(procedure::COMMIT, arguments, &[]).await?;
        let mut reader = answer.reader();
        skip_wcc(&mut reader)?;
        file.uncommitted.committed(&mut reader)
    }

    async fn close(&self, file: File) -> Result<()> {
        if file.uncommitted.exists() { self.sync(&file).await } else { Ok(()) }
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        self.on_name(procedure::REMOVE, path, |_| {}).await.map(drop)
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let directory = match path {
            Some(path) => self.handle_of(path).await?.0,
            None => self.base.clone(),
        };
        let pages = all_pages(async |place: listing::Place| {
            let arguments = |writer: &mut Writer| {
                writer.opaque(&directory);
                place.write(writer, PAGE_OCTETS);
            };
            let answer = self.nfs(procedure::READDIRPLUS, arguments, &[]).await?;
            Ok(listing::read_page(&mut answer.reader())?)
        });
        let mut found = Vec::new();
        for (name, attributes) in pages.await? {
            let attributes = match attributes {
                Some(attributes) => attributes,
                None => self.look(&directory, &name).await?.1,
            };
            found.push(entry(name, attributes));
        }
        Ok(found)
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        let mode = |writer: &mut Writer| write_attributes(writer, 0o755, None);
        self.on_name(procedure::MKDIR, path, mode).await.map(drop)
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        self.on_name(procedure::RMDIR, path, |_| {}).await.map(drop)
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let attributes = self.look(&self.directory_of(path).await?, path.name()).await?.1;
        Ok(entry(path.name().to_owned(), attributes))
    }

    /// Rename (section 3.3.14), which replaces an existing file.
    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        let old = self.directory_of(from).await?;
        let new =
            if from.parent() == to.parent() { old.clone() } else { self.directory_of(to).await? };
        let arguments = |writer: &mut Writer| {
            for (directory, name) in [(&old, from.name()), (&new, to.name())] {
                writer.opaque(directory);
                writer.opaque(name.as_bytes());
            }
        };
        self.nfs(procedure::RENAME, arguments, &[]).await.map(drop)
    }

    async fn end(self) -> Result<()> {
        let asked = self.mount.as_ref().unwrap_or(&self.nfs);
        let path = |writer: &mut Writer| writer.opaque(self.export.as_bytes());
        // This is a courtesy: the server only removes an entry from a list (appendix I, section
        // 5.2.4).
        let _ = asked.call(MOUNT, mount::UMNT, path, &[]).await;
        Ok(())
    }
}
