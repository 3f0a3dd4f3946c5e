//! Calls for files, carried out in the directory that is served.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use lanlab_os::positioned;
use lanlab_stack::files::{FileAnswer, FileCall, FileRefusal, Found, Handle, Presence};
use lanlab_stack::smb::server::short_names;

use super::resolve::{Place, names, refusal, resolve};
use crate::changes::Changes;
use crate::free_name;

/// Bits of a mode that let someone write.
#[cfg(unix)]
const WRITE: u32 = 0o222;
#[cfg(unix)]
const OWNER_WRITES: u32 = 0o200;

/// The directory that is served.
#[derive(Debug)]
pub struct Directory {
    root: Dir,
    path: std::path::PathBuf,
    read_only: bool,
}

impl Directory {
    /// Serve a directory.
    pub fn new(path: &Path, read_only: bool) -> io::Result<Self> {
        let root = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(Self { root, path: path.to_owned(), read_only })
    }
}

/// The files of one client.
#[derive(Debug)]
pub struct Files {
    directory: Arc<Directory>,
    open: BTreeMap<Handle, File>,
    next: u64,
}

type Done = Result<FileAnswer, FileRefusal>;

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` calls")]
fn refused(error: io::Error) -> FileRefusal {
    refusal(&error)
}

impl Files {
    /// None is open yet.
    pub fn new(directory: Arc<Directory>) -> Self {
        Self { directory, open: BTreeMap::new(), next: 0 }
    }

    /// Carry out a call. What is read goes into `data`; what is written is in it.
    pub fn carry_out(&mut self, call: FileCall, data: &mut Vec<u8>) -> FileAnswer {
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
        if changes && self.directory.read_only {
            return FileAnswer::Refused(FileRefusal::Denied);
        }
        self.of_open(call, data).unwrap_or_else(FileAnswer::Refused)
    }

    fn file(&self, handle: Handle) -> Result<&File, FileRefusal> {
        self.open.get(&handle).ok_or(FileRefusal::Missing)
    }

    fn of_open(&mut self, call: FileCall, data: &mut Vec<u8>) -> Done {
        match call {
            FileCall::Read { handle, offset, count } => {
                let file = self.file(handle)?;
                data.resize(count as usize, 0);
                let read = positioned::read_at(file, data, offset);
                data.truncate(*read.as_ref().unwrap_or(&0));
                read.map_err(refused)?;
                Ok(FileAnswer::Read)
            }
            FileCall::Write { handle, offset, data: range } => {
                let file = self.file(handle)?;
                let octets = data.get(range).ok_or(FileRefusal::Failed)?;
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
            FileCall::Open { path, read, write, presence, truncate } => {
                let (file, found) = self.open_file(&path, [read, write, truncate], presence)?;
                self.next += 1;
                let handle = Handle(self.next);
                self.open.insert(handle, file);
                Ok(FileAnswer::Opened { handle, found, is_new: presence == Presence::New })
            }
            other => self.of_path(other),
        }
    }

    fn open_file(
        &self,
        names: &[String],
        [read, write, truncate]: [bool; 3],
        presence: Presence,
    ) -> Result<(File, Found), FileRefusal> {
        if (write || truncate || presence != Presence::Old) && self.directory.read_only {
            return Err(FileRefusal::Denied);
        }
        let place = resolve(&self.directory.root, names)?;
        match (&place.found, presence) {
            (None, Presence::Old) => return Err(FileRefusal::Missing),
            (Some(_), Presence::New) => return Err(FileRefusal::Exists),
            (Some(found), _) if found.is_dir() => return Err(FileRefusal::IsDirectory),
            _ => {}
        }
        let mut options = OpenOptions::new();
        options.read(read).write(write || truncate).truncate(truncate);
        match presence {
            Presence::Old => {}
            Presence::New => drop(options.create_new(true)),
            Presence::Any => drop(options.create(true)),
        }
        let file = self.directory.root.open_with(&place.path, &options).map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        let found = self.found(&place.path, &metadata)?;
        Ok((file.into_std(), found))
    }

    fn of_path(&self, call: FileCall) -> Done {
        let root = &self.directory.root;
        match call {
            FileCall::Look { path } => {
                let Place { path, found } = resolve(root, &path)?;
                let metadata = found.ok_or(FileRefusal::Missing)?;
                Ok(FileAnswer::Found(self.found(&path, &metadata)?))
            }
            FileCall::List { path, after, most } => self.list(&path, &after, most),
            FileCall::Change { path, modified_s, is_read_only } => {
                let place = self.there(&path)?;
                change(root, &place, modified_s, is_read_only)?;
                Ok(FileAnswer::Done)
            }
            FileCall::Remove { path } => {
                let place = self.to_change(&path)?;
                root.remove_file(&place.path).map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::RemoveDirectory { path } => {
                let place = self.to_change(&path)?;
                root.remove_dir(&place.path).map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::MakeDirectory { path } => {
                let place = resolve(root, &path)?;
                if place.found.is_some() {
                    return Err(FileRefusal::Exists);
                }
                root.create_dir(&place.path).map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::Rename { from, to } => {
                let (from, target) = (self.to_change(&from)?, resolve(root, &to)?);
                let path = match (&target.found, to.last()) {
                    (None, _) => target.path,
                    // Another case of the same name.
                    (Some(_), Some(name)) if target.path == from.path => {
                        target.path.with_file_name(name)
                    }
                    (Some(_), _) => return Err(FileRefusal::Exists),
                };
                if path == from.path {
                    return Ok(FileAnswer::Done);
                }
                let parent = |path: &Path| {
                    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                    root.open_dir(parent.unwrap_or(Path::new(".")))
                };
                let name = |path: &Path| path.file_name().unwrap_or_default().to_owned();
                let directories =
                    (parent(&from.path).map_err(refused)?, parent(&path).map_err(refused)?);
                free_name::rename(
                    (&directories.0, name(&from.path).as_ref()),
                    (&directories.1, name(&path).as_ref()),
                )
                .map_err(refused)?;
                Ok(FileAnswer::Done)
            }
            FileCall::Space => {
                let (total_bytes, free_bytes) =
                    lanlab_os::disk_space(&self.directory.path).map_err(refused)?;
                Ok(FileAnswer::Space { total_bytes, free_bytes })
            }
            _ => Err(FileRefusal::Failed),
        }
    }

    /// Where something is that is there.
    fn there(&self, names: &[String]) -> Result<Place, FileRefusal> {
        let place = resolve(&self.directory.root, names)?;
        if place.found.is_none() { Err(FileRefusal::Missing) } else { Ok(place) }
    }

    /// The same, to change its name or remove it; the directory itself is neither.
    fn to_change(&self, names: &[String]) -> Result<Place, FileRefusal> {
        if names.is_empty() { Err(FileRefusal::Denied) } else { self.there(names) }
    }

    fn list(&self, path: &[String], after: &str, most: u32) -> Done {
        let root = &self.directory.root;
        let place = self.there(path)?;
        if !place.found.is_some_and(|found| found.is_dir()) {
            return Err(FileRefusal::NoPath);
        }
        let all = names(root, &place.path).map_err(refused)?;
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        let mut short = short_names::of_directory(&all);
        let first = all.partition_point(|name| *name <= after);
        let mut listed = Vec::new();
        for at in first..all.len() {
            if listed.len() == most as usize {
                break;
            }
            let path = place.path.join(all[at]);
            // What has gone since then is not there. Only the end of the directory ends the listing.
            if let Ok(metadata) = root.symlink_metadata(&path) {
                let short_name = short[at].take().unwrap_or_default();
                listed.push(known(all[at].to_owned(), short_name, &path, &metadata));
            }
        }
        Ok(FileAnswer::Listed(listed))
    }

    fn found(&self, path: &Path, metadata: &Metadata) -> Result<Found, FileRefusal> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let short_name = match short_names::own(name) {
            Some(short_name) => short_name,
            None if name.is_empty() => String::new(),
            None => {
                let directory = path.parent().unwrap_or(Path::new("."));
                let all = names(&self.directory.root, directory).map_err(refused)?;
                let all: Vec<_> = all.iter().map(String::as_str).collect();
                let at = all.binary_search(&name).ok();
                at.and_then(|at| short_names::of_directory(&all)[at].take()).unwrap_or_default()
            }
        };
        Ok(known(name.to_owned(), short_name, path, metadata))
    }
}

fn known(name: String, short_name: String, path: &Path, metadata: &Metadata) -> Found {
    let since_1970_s = |at: Option<SystemTime>| {
        let since = at.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        since.unwrap_or_default().as_secs()
    };
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    let accessed = metadata.accessed().ok().map(cap_std::time::SystemTime::into_std);
    let is_directory = metadata.is_dir();
    Found {
        name,
        short_name,
        number: number(path, metadata),
        is_directory,
        is_read_only: metadata.permissions().readonly(),
        size_bytes: if is_directory { 0 } else { metadata.len() },
        modified_s: since_1970_s(modified),
        accessed_s: since_1970_s(accessed.or(modified)),
    }
}

#[cfg(unix)]
fn number(_path: &Path, metadata: &Metadata) -> u64 {
    use cap_std::fs::MetadataExt;
    // Two file systems below one directory may have one number for two files.
    metadata.ino() ^ metadata.dev().rotate_left(48)
}

#[cfg(not(unix))]
fn number(path: &Path, _metadata: &Metadata) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    path.to_string_lossy().to_lowercase().hash(&mut hasher);
    hasher.finish()
}

fn change(
    root: &Dir,
    place: &Place,
    modified_s: Option<u64>,
    is_read_only: Option<bool>,
) -> Result<(), FileRefusal> {
    #[cfg(unix)]
    let mode = is_read_only.map(|is_read_only| {
        use cap_std::fs::MetadataExt;
        let mode = place.found.as_ref().map_or(0, MetadataExt::mode) & 0o777;
        if is_read_only { mode & !WRITE } else { mode | OWNER_WRITES }
    });
    #[cfg(not(unix))]
    let mode: Option<u32> = None;
    if modified_s.is_none() && mode.is_none() && is_read_only.is_none() {
        return Ok(());
    }
    let changes = Changes { mode, modified_s, ..Changes::default() };
    // Its times can be set by its owner without a right to write.
    let file =
        root.open_with(&place.path, OpenOptions::new().read(cfg!(unix)).write(cfg!(windows)));
    changes.apply(&file.map_err(refused)?.into_std()).map_err(refused)
}
