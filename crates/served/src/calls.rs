//! File calls, executed in the served directory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cap_std::fs::{Metadata, OpenOptions};
use lanlab_os::positioned;
use lanlab_stack::files::{FileAnswer, FileCall, FileRefusal, Found, Handle, Presence};

use crate::changes::Changes;
use crate::directory::{Directory, Known, Place};

const WRITE: u32 = 0o222;
const OWNER_WRITES: u32 = 0o200;

#[derive(Debug)]
pub struct Served {
    directory: Directory,
    path: std::path::PathBuf,
    read_only: bool,
}

impl Served {
    /// Serve a directory. Names rejected by `can_be_asked_for` get short names.
    pub fn new(
        path: &Path,
        read_only: bool,
        can_be_asked_for: fn(&str) -> bool,
    ) -> io::Result<Self> {
        let directory = Directory::open(path, can_be_asked_for)?;
        Ok(Self { directory, path: path.to_owned(), read_only })
    }
}

#[derive(Debug)]
pub struct Files {
    served: Arc<Served>,
    open: BTreeMap<Handle, File>,
    next: u64,
}

/// `None`: the call must wait until a large directory is read.
type Refused = Option<FileRefusal>;
type Done = Result<FileAnswer, Refused>;

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` calls")]
fn refused(error: io::Error) -> Refused {
    Some(match error.kind() {
        ErrorKind::WouldBlock if error.raw_os_error().is_none() => return None,
        ErrorKind::NotFound => FileRefusal::Missing,
        ErrorKind::NotADirectory => FileRefusal::NoPath,
        ErrorKind::AlreadyExists => FileRefusal::Exists,
        ErrorKind::DirectoryNotEmpty => FileRefusal::NotEmpty,
        ErrorKind::IsADirectory => FileRefusal::IsDirectory,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => FileRefusal::Denied,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            FileRefusal::NoSpace
        }
        ErrorKind::ArgumentListTooLong => FileRefusal::TooLong,
        ErrorKind::InvalidFilename | ErrorKind::InvalidInput => FileRefusal::Name,
        _ if matches!(error.raw_os_error(), Some(23 | 24)) => FileRefusal::TooMany,
        _ => FileRefusal::Failed,
    })
}

impl Files {
    /// Interval at which to try a call again.
    pub const WAIT: Duration = Duration::from_millis(5);

    pub fn new(served: Arc<Served>) -> Self {
        Self { served, open: BTreeMap::new(), next: 0 }
    }

    /// Execute a call, as a [`FileStore`] does. `None` if others are reading a large directory: then nothing was done,
    /// and the call is to be tried again. Meanwhile the thread can execute calls of other clients.
    ///
    /// [`FileStore`]: lanlab_stack::files::FileStore
    pub fn carry_out(&mut self, call: &FileCall, data: &mut Vec<u8>) -> Option<FileAnswer> {
        let changes = matches!(
            call,
            FileCall::Write { .. }
                | FileCall::SetSize { .. }
                | FileCall::Change { .. }
                | FileCall::Remove { .. }
                | FileCall::Rename { .. }
                | FileCall::MakeDirectory { .. }
                | FileCall::RemoveDirectory { .. }
        );
        if changes && self.served.read_only {
            return Some(FileAnswer::Refused(FileRefusal::Denied));
        }
        match self.of_open(call, data) {
            Ok(answer) => Some(answer),
            Err(refusal) => refusal.map(FileAnswer::Refused),
        }
    }

    fn file(&self, handle: Handle) -> Result<&File, FileRefusal> {
        self.open.get(&handle).ok_or(FileRefusal::Missing)
    }

    fn of_open(&mut self, call: &FileCall, data: &mut Vec<u8>) -> Done {
        match *call {
            FileCall::Read { handle, offset, count } => {
                let file = self.file(handle)?;
                data.resize(count as usize, 0);
                let read = positioned::read_at(file, data, offset);
                data.truncate(*read.as_ref().unwrap_or(&0));
                read.map_err(refused)?;
                Ok(FileAnswer::Read)
            }
            FileCall::Write { handle, offset, data: ref range } => {
                let file = self.file(handle)?;
                let octets = data.get(range.clone()).ok_or(FileRefusal::Failed)?;
                positioned::write_all_at(file, octets, offset).map_err(refused)?;
                Ok(FileAnswer::Written(octets.len() as u32))
            }
            FileCall::SetSize { handle, size_bytes } => {
                self.file(handle)?.set_len(size_bytes).map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::Flush { handle } => {
                self.file(handle)?.sync_all().map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::Close { handle } => {
                self.open.remove(&handle);
                Ok(FileAnswer::Done)
            }
            FileCall::Open { ref path, read, write, presence, truncate } => {
                let (file, found) = self.open_file(path, [read, write, truncate], presence)?;
                self.next += 1;
                let handle = Handle(self.next);
                self.open.insert(handle, file);
                Ok(FileAnswer::Opened { handle, found, is_new: presence == Presence::New })
            }
            _ => self.of_path(call),
        }
    }

    fn open_file(
        &self,
        names: &[String],
        [read, write, truncate]: [bool; 3],
        presence: Presence,
    ) -> Result<(File, Found), Refused> {
        if (write || truncate || presence != Presence::Old) && self.served.read_only {
            return Err(FileRefusal::Denied.into());
        }
        let place = self.find(names)?;
        match (&place.found, presence) {
            (None, Presence::Old) => return Err(FileRefusal::Missing.into()),
            (Some(_), Presence::New) => return Err(FileRefusal::Exists.into()),
            (Some(found), _) if found.is_dir() => return Err(FileRefusal::IsDirectory.into()),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.read(read).write(write || truncate);
        match presence {
            Presence::Old => {}
            Presence::New => drop(options.create_new(true)),
            Presence::Any => drop(options.create(true)),
        }
        let (file, mut metadata) = place.open(&options).map_err(refused)?;
        if metadata.is_dir() {
            return Err(FileRefusal::IsDirectory.into());
        }
        if truncate && metadata.len() > 0 {
            file.set_len(0).map_err(refused)?;
            metadata = Metadata::from_file(&file).map_err(refused)?;
        }
        Ok((file, known(&place.name, String::new(), &metadata)))
    }

    fn of_path(&self, call: &FileCall) -> Done {
        match call {
            FileCall::Look { path } => {
                let place = self.there(path)?;
                let metadata = place.found.as_ref().ok_or(FileRefusal::Missing)?;
                let short_name = self.served.directory.short_name(&place).map_err(refused)?;
                Ok(FileAnswer::Found(known(&place.name, short_name, metadata)))
            }
            FileCall::List { path, after, most } => {
                let listed = self.served.directory.list(path, after, *most as usize);
                let found = |(name, metadata): (Known, _)| known(&name.name, name.short, &metadata);
                Ok(FileAnswer::Listed(listed.map_err(refused)?.into_iter().map(found).collect()))
            }
            FileCall::Change { path, modified_s, is_read_only } => {
                change(&self.there(path)?, *modified_s, *is_read_only).map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::Remove { path } => {
                self.to_change(path)?.remove_file().map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::RemoveDirectory { path } => {
                self.to_change(path)?.remove_directory().map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::MakeDirectory { path } => {
                let place = self.find(path)?;
                if place.found.is_some() {
                    return Err(FileRefusal::Exists.into());
                }
                place.make_directory().map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::Rename { from, to } => {
                let from = self.to_change(from)?;
                self.served.directory.rename(&from, to).map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::Space => {
                let (total_bytes, free_bytes) =
                    lanlab_os::disk_space(&self.served.path).map_err(refused)?;
                Ok(FileAnswer::Space { total_bytes, free_bytes })
            }
            _ => Err(FileRefusal::Failed.into()),
        }
    }

    fn find(&self, names: &[String]) -> Result<Place, Refused> {
        self.served.directory.find(names).map_err(refused)
    }

    fn there(&self, names: &[String]) -> Result<Place, Refused> {
        let place = self.find(names)?;
        if place.found.is_none() { Err(FileRefusal::Missing.into()) } else { Ok(place) }
    }

    fn to_change(&self, names: &[String]) -> Result<Place, Refused> {
        if names.is_empty() { Err(FileRefusal::Denied.into()) } else { self.there(names) }
    }
}

fn known(name: &str, short_name: String, metadata: &Metadata) -> Found {
    let since_1970_s = |at: Option<SystemTime>| {
        let since = at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.unwrap_or_default().as_secs()
    };
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    let accessed = metadata.accessed().ok().map(cap_std::time::SystemTime::into_std);
    let is_directory = metadata.is_dir();
    Found {
        name: name.to_owned(),
        short_name,
        number: number(metadata),
        is_directory,
        is_read_only: metadata.permissions().readonly(),
        size_bytes: if is_directory { 0 } else { metadata.len() },
        modified_s: since_1970_s(modified),
        accessed_s: since_1970_s(accessed.or(modified)),
    }
}

fn number(metadata: &Metadata) -> u64 {
    use cap_std::fs::MetadataExt;
    // File systems below one directory may reuse each other's file numbers.
    metadata.ino() ^ metadata.dev().rotate_left(48)
}

fn change(place: &Place, modified_s: Option<u64>, is_read_only: Option<bool>) -> io::Result<()> {
    if modified_s.is_none() && is_read_only.is_none() {
        return Ok(());
    }
    // An owner can set times without permission to write.
    let mut options = OpenOptions::new();
    let (file, metadata) = place.open(options.read(true))?;
    let mode = is_read_only.map(|is_read_only| {
        let mode = cap_std::fs::MetadataExt::mode(&metadata) & 0o777;
        if is_read_only { mode & !WRITE } else { mode | OWNER_WRITES }
    });
    Changes { mode, modified_s, ..Changes::default() }.apply(&file)
}
