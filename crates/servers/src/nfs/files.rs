//! The served directory, by handles. Every path is resolved below it, and symbolic links out of it are refused
//! (`cap-std`).

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use lanlab_wire::nfs3::xdr::{Reader, Writer};
use lanlab_wire::nfs3::{
    Attributes, DIRECTORY, LINK, MAX_HANDLE_OCTETS, MAX_NAME_OCTETS, REGULAR, Status,
};

use super::handles::{Handles, ROOT};
use crate::listings::Listings;
use lanlab_served::beneath::open_file;
use lanlab_served::is_unseen;
use parking_lot::Mutex;

const HANDLE_OCTETS: usize = 16;

pub enum Failed {
    With(Status),
    Garbled,
}

impl From<Status> for Failed {
    fn from(status: Status) -> Self {
        Self::With(status)
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::With(Status::of(&error))
    }
}

impl From<lanlab_wire::nfs3::xdr::Garbled> for Failed {
    fn from(_: lanlab_wire::nfs3::xdr::Garbled) -> Self {
        Self::Garbled
    }
}

pub struct Files {
    pub root: Dir,
    path: PathBuf,
    pub port: u16,
    pub read_only: bool,
    pub handles: Mutex<Handles>,
    pub listings: Listings<u64, u64>,
    /// Differs between server runs, so that stale handles and uncommitted writes are recognised.
    pub life: [u8; 8],
}

impl Files {
    pub fn new(root: &Path, read_only: bool) -> io::Result<Self> {
        let path = root.to_owned();
        let root = Dir::open_ambient_dir(root, ambient_authority())?;
        let mut life = [0; 8];
        getrandom::fill(&mut life).map_err(io::Error::other)?;
        let (handles, listings) = (Mutex::new(Handles::new()), Listings::new());
        Ok(Self { root, path, port: 0, read_only, handles, listings, life })
    }

    /// Total and free bytes of the file system.
    pub fn space(&self) -> io::Result<(u64, u64)> {
        lanlab_os::disk_space(&self.path)
    }

    pub fn read_handle(&self, reader: &mut Reader<'_>) -> Result<u64, Failed> {
        let handle = reader.opaque(MAX_HANDLE_OCTETS)?;
        match handle.split_first_chunk::<8>() {
            Some((life, number)) if handle.len() == HANDLE_OCTETS && *life == self.life => {
                Ok(u64::from_be_bytes(number.try_into().unwrap_or_default()))
            }
            Some(_) if handle.len() == HANDLE_OCTETS => Err(Status::STALE.into()),
            _ => Err(Status::BADHANDLE.into()),
        }
    }

    pub fn write_handle(&self, number: u64, writer: &mut Writer) {
        writer.u32(HANDLE_OCTETS as u32);
        writer.fixed(&self.life);
        writer.u64(number);
    }

    /// Parse a directory handle and a name in it: number, name, and their path.
    pub fn read_name<'a>(
        &self,
        reader: &mut Reader<'a>,
    ) -> Result<(u64, &'a str, PathBuf), Failed> {
        let directory = self.read_handle(reader)?;
        let name = read_name(reader)?;
        if matches!(name, "" | "." | "..") {
            return Err(Status::INVAL.into());
        }
        Ok((directory, name, self.handles.lock().path(directory)?.join(name)))
    }

    pub fn attributes(&self, number: u64) -> Result<Attributes, Failed> {
        let path = self.handles.lock().path(number)?;
        self.attributes_at(number, &path)
    }

    pub fn attributes_at(&self, number: u64, path: &Path) -> Result<Attributes, Failed> {
        // Some systems cannot stat the served directory by name.
        let found = if number == ROOT {
            self.root.dir_metadata()
        } else {
            self.root.symlink_metadata(path)
        };
        Ok(attributes(number, &found?))
    }

    /// The file of a handle, for reading and, where permitted, writing.
    pub fn file(&self, number: u64) -> Result<Arc<File>, Failed> {
        let path = {
            let handles = self.handles.lock();
            // An open file without a name is stale: another file may have its place.
            if let Some(file) = handles.opened(number).filter(|file| has_name(file)) {
                return Ok(file);
            }
            handles.path(number)?
        };
        let open =
            |to_write| open_file(&self.root, &path, OpenOptions::new().read(true).write(to_write));
        let opened = if self.read_only { open(false) } else { open(true).or_else(|_| open(false)) };
        let file = Arc::new(opened?);
        self.handles.lock().keep(number, &file);
        Ok(file)
    }

    pub fn writable(&self) -> Result<(), Failed> {
        if self.read_only { Err(Status::ROFS.into()) } else { Ok(()) }
    }
}

pub fn read_name<'a>(reader: &mut Reader<'a>) -> Result<&'a str, Failed> {
    let name = reader.opaque(MAX_NAME_OCTETS)?;
    let name = std::str::from_utf8(name).map_err(|_| Status::INVAL)?;
    if name.contains(['/', '\0']) || is_unseen(name) {
        return Err(Status::INVAL.into());
    }
    Ok(name)
}

fn attributes(number: u64, found: &Metadata) -> Attributes {
    let kind = match () {
        () if found.is_dir() => DIRECTORY,
        () if found.is_symlink() => LINK,
        () => REGULAR,
    };
    let modified = found.modified().ok().map(cap_std::time::SystemTime::into_std);
    let accessed = found.accessed().ok().map(cap_std::time::SystemTime::into_std);
    let time = |time: Option<std::time::SystemTime>| {
        let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        (since.as_secs() as u32, since.subsec_nanos())
    };
    let (modified, accessed) = (time(modified), time(accessed.or(modified)));
    let (mode, links, owner, used_bytes, changed) = system(found);
    Attributes {
        kind,
        mode,
        links,
        owner,
        size_bytes: found.len(),
        used_bytes,
        file_system: 1,
        number,
        times: [accessed, modified, changed],
    }
}

fn has_name(file: &File) -> bool {
    file.metadata().is_ok_and(|found| std::os::unix::fs::MetadataExt::nlink(&found) > 0)
}

type SystemAttributes = (u32, u32, (u32, u32), u64, (u32, u32));

fn system(found: &Metadata) -> SystemAttributes {
    use cap_std::fs::MetadataExt;
    let changed = (found.ctime() as u32, found.ctime_nsec() as u32);
    let mode = found.mode() & 0o7777;
    let owner = (found.uid(), found.gid());
    (mode, found.nlink() as u32, owner, found.blocks() * 512, changed)
}
