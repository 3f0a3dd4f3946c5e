//! Procedures that change something.

use std::fs::FileTimes;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::OpenOptions;
use lanlab_os::positioned;
use lanlab_wire::nfs3::xdr::{Garbled, Reader, Writer};
use lanlab_wire::nfs3::{Attributes, EXCLUSIVE, FILE_SYNC, GUARDED, Status, UNCHECKED, UNSTABLE};

use super::MAX_DATA_OCTETS;
use super::files::{Failed, Files};
use lanlab_served::beneath::open_file;

type Done = Result<(), Failed>;

/// Attributes that a client sets (`sattr3`, RFC 1813, section 2.6).
#[derive(Default)]
struct Wanted {
    mode: Option<u32>,
    size_bytes: Option<u64>,
    accessed: Option<SystemTime>,
    modified: Option<SystemTime>,
    owner: bool,
}

impl Wanted {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Garbled> {
        let mode = if reader.boolean()? { Some(reader.u32()?) } else { None };
        let mut owner = false;
        for _user_then_group in 0..2 {
            if reader.boolean()? {
                reader.u32()?;
                owner = true;
            }
        }
        let size_bytes = if reader.boolean()? { Some(reader.u64()?) } else { None };
        let mut time = || match reader.u32()? {
            0 => Ok(None),
            1 => Ok(Some(SystemTime::now())),
            2 => {
                let since = Duration::new(u64::from(reader.u32()?), reader.u32()?.min(999_999_999));
                Ok(UNIX_EPOCH.checked_add(since))
            }
            _ => Err(Garbled),
        };
        let (accessed, modified) = (time()?, time()?);
        Ok(Self { mode, size_bytes, accessed, modified, owner })
    }

    fn apply(&self, files: &Files, number: u64, path: &Path) -> Done {
        if let Some(mode) = self.mode {
            set_mode(files, path, mode)?;
        }
        if self.size_bytes.is_none() && self.accessed.is_none() && self.modified.is_none() {
            return Ok(());
        }
        let file = files.file(number)?;
        if let Some(size_bytes) = self.size_bytes {
            file.set_len(size_bytes)?;
        }
        let mut times = FileTimes::new();
        if let Some(time) = self.accessed {
            times = times.set_accessed(time);
        }
        if let Some(time) = self.modified {
            times = times.set_modified(time);
        }
        Ok(file.set_times(times)?)
    }
}

fn set_mode(files: &Files, path: &Path, mode: u32) -> io::Result<()> {
    use cap_std::fs::PermissionsExt;
    files.root.set_permissions(path, cap_std::fs::Permissions::from_mode(mode & 0o777))
}

/// RFC 1813, section 3.3.2.
pub fn setattr(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let number = files.read_handle(arguments)?;
    let wanted = Wanted::read(arguments)?;
    if arguments.boolean()? {
        let changed = (arguments.u32()?, arguments.u32()?);
        if files.attributes(number)?.times[2] != changed {
            return Err(Status::NOT_SYNC.into());
        }
    }
    files.writable()?;
    if wanted.owner {
        return Err(Status::PERM.into());
    }
    let path = files.handles.lock().path(number)?;
    wanted.apply(files, number, &path)?;
    no_wcc(writer);
    Ok(())
}

/// RFC 1813, section 3.3.7.
pub fn write(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let number = files.read_handle(arguments)?;
    let (offset, count) = (arguments.u64()?, arguments.u32()?);
    let stable = arguments.u32()?;
    let data = arguments.opaque(MAX_DATA_OCTETS as usize)?;
    if data.len() != count as usize || stable > FILE_SYNC {
        return Err(Status::INVAL.into());
    }
    files.writable()?;
    let file = files.file(number)?;
    positioned::write_all_at(&file, data, offset)?;
    if stable != UNSTABLE {
        file.sync_data()?;
    }
    no_wcc(writer);
    writer.u32(count);
    writer.u32(stable);
    writer.fixed(&files.life);
    Ok(())
}

/// RFC 1813, section 3.3.8.
pub fn create(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let (directory, name, path) = files.read_name(arguments)?;
    let how = arguments.u32()?;
    let (wanted, verifier) = match how {
        UNCHECKED | GUARDED => (Wanted::read(arguments)?, None),
        EXCLUSIVE => (Wanted::default(), Some(arguments.fixed(8)?)),
        _ => return Err(Failed::Garbled),
    };
    files.writable()?;
    let verifier: Option<[u8; 8]> = verifier.and_then(|octets| octets.try_into().ok());
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    // Names and handles change under one lock: otherwise two clients changing one name could leave handles that
    // contradict the directory.
    let mut handles = files.handles.lock();
    let made = match open_file(&files.root, &path, options.create_new(true)) {
        Ok(file) => {
            handles.forget(directory, name);
            Some(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && how != GUARDED => None,
        Err(error) => return Err(error.into()),
    };
    let number = handles.number(directory, name)?;
    match (made, verifier) {
        (Some(file), verifier) => {
            handles.keep(number, &std::sync::Arc::new(file));
            if let Some(verifier) = verifier {
                handles.made_by(number, verifier);
            }
        }
        (None, Some(verifier)) if !handles.was_made_by(number, verifier) => {
            return Err(Status::EXIST.into());
        }
        (None, _) => {}
    }
    drop(handles);
    wanted.apply(files, number, &path)?;
    made_handle(files, number, &path, writer)
}

/// RFC 1813, section 3.3.9.
pub fn mkdir(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let (directory, name, path) = files.read_name(arguments)?;
    let wanted = Wanted::read(arguments)?;
    files.writable()?;
    let mut handles = files.handles.lock();
    files.root.create_dir(&path)?;
    handles.forget(directory, name);
    let number = handles.number(directory, name)?;
    drop(handles);
    if let Some(mode) = wanted.mode {
        set_mode(files, &path, mode)?;
    }
    made_handle(files, number, &path, writer)
}

/// RFC 1813, sections 3.3.12 and 3.3.13.
pub fn remove(
    files: &Files,
    arguments: &mut Reader<'_>,
    writer: &mut Writer,
    is_directory: bool,
) -> Done {
    let (directory, name, path) = files.read_name(arguments)?;
    files.writable()?;
    let mut handles = files.handles.lock();
    // Systems report the wrong kind of entry differently, and some cannot remove open files.
    match (files.root.symlink_metadata(&path)?.is_dir(), is_directory) {
        (true, false) => return Err(Status::ISDIR.into()),
        (false, true) => return Err(Status::NOTDIR.into()),
        (true, true) => files.root.remove_dir(&path)?,
        (false, false) => {
            let number = handles.number(directory, name)?;
            handles.close(number);
            files.root.remove_file(&path)?;
        }
    }
    handles.forget(directory, name);
    no_wcc(writer);
    Ok(())
}

/// RFC 1813, section 3.3.14.
pub fn rename(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let (from_directory, from_name, from) = files.read_name(arguments)?;
    let (to_directory, to_name, to) = files.read_name(arguments)?;
    files.writable()?;
    let mut handles = files.handles.lock();
    files.root.rename(&from, &files.root, &to)?;
    if from != to {
        handles.rename((from_directory, from_name), (to_directory, to_name));
    }
    no_wcc(writer);
    no_wcc(writer);
    Ok(())
}

/// RFC 1813, section 3.3.21.
pub fn commit(files: &Files, arguments: &mut Reader<'_>, writer: &mut Writer) -> Done {
    let number = files.read_handle(arguments)?;
    files.file(number)?.sync_data()?;
    no_wcc(writer);
    writer.fixed(&files.life);
    Ok(())
}

fn made_handle(files: &Files, number: u64, path: &Path, writer: &mut Writer) -> Done {
    let attributes = files.attributes_at(number, path)?;
    writer.boolean(true);
    files.write_handle(number, writer);
    Attributes::write_optional(Some(&attributes), writer);
    no_wcc(writer);
    Ok(())
}

fn no_wcc(writer: &mut Writer) {
    writer.boolean(false);
    writer.boolean(false);
}
