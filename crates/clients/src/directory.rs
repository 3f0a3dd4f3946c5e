//! A directory of this host, local or mounted. System calls block the thread. No link in it is
//! followed (`below`).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lanlab_files as files;
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Target, TransferCapabilities,
};
use lanlab_os::positioned;

use crate::confined_directory::{ConfinedDirectory, Found, Kind};

/// Bytes per call when a whole file is transferred: as in `cp`, and enough that the call itself
/// costs nothing compared with copying.
const BLOCK_BYTES: u32 = 1 << 18;

#[derive(Debug)]
pub struct Session {
    below: Arc<ConfinedDirectory>,
}

#[derive(Debug)]
pub struct File {
    file: fs::File,
    path: PathBuf,
}

/// Work in `target.directory`, which must exist.
#[expect(clippy::unused_async, reason = "as those of the other services")]
pub async fn connect(target: &Target) -> Result<Session> {
    let base = PathBuf::from(&target.directory);
    if !base.is_absolute() {
        let message = format!("directory `{}`: found a relative path", base.display());
        return Err(Fault::new(Class::Name, message).hint("give an absolute path"));
    }
    let below = ConfinedDirectory::shared(&base).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotADirectory => {
            Fault::new(Class::Missing, format!("{}: not a directory", base.display()))
        }
        _ => Fault::of_file(base.display(), &error),
    })?;
    Ok(Session { below })
}

fn with<T>(what: &str, path: &Path, done: std::io::Result<T>) -> Result<T> {
    done.map_err(|error| Fault::of_file(format_args!("{what} {}", path.display()), &error))
}

fn entry(found: Found) -> Option<Entry> {
    let name = found.name.into_string().ok()?;
    let is_directory = found.kind == Kind::Directory;
    Some(Entry { name, size_bytes: found.bytes, is_directory })
}

impl files::Session for Session {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities { blocking: true, ..TransferCapabilities::calls(BLOCK_BYTES, 1) }
    }

    fn facts(&self) -> Facts {
        Facts::new("directory", "none", None)
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        let file = self.below.file(path, access);
        let path = self.below.place(Some(path));
        Ok(File { file: with("open", &path, file)?, path })
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        with("read", &file.path, positioned::read_at(&file.file, buffer, offset))
    }

    async fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> Result<()> {
        with("write", &file.path, positioned::write_all_at(&file.file, data, offset))
    }

    async fn write_parts_at(&self, file: &File, offset: u64, parts: [&[u8]; 2]) -> Result<()> {
        with("write", &file.path, positioned::write_all_parts_at(&file.file, parts, offset))
    }

    async fn sync(&self, file: &File) -> Result<()> {
        with("sync", &file.path, file.file.sync_data())
    }

    async fn close(&self, file: File) -> Result<()> {
        // A mounted share may report only now that it could not store written data.
        let File { file, path } = file;
        with("close", &path, lanlab_os::close_file(file))
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        with("remove", &self.below.place(Some(path)), self.below.remove_file(path))
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let place = self.below.place(path);
        let mut entries = Vec::new();
        for found in with("list", &place, self.below.list(path))? {
            // Such a name is not ours, because we write only UTF-8 names.
            entries.extend(entry(with("list", &place, found)?));
        }
        Ok(entries)
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        let made = self.below.make_directory(path);
        with("make directory", &self.below.place(Some(path)), made)
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        let removed = self.below.remove_directory(path);
        with("remove directory", &self.below.place(Some(path)), removed)
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let place = self.below.place(Some(path));
        let found = with("stat", &place, self.below.look(path))?;
        entry(found)
            .ok_or_else(|| Fault::new(Class::Name, format!("{}: not UTF-8", place.display())))
    }

    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        with("rename", &self.below.place(Some(from)), self.below.rename(from, to))
    }

    async fn end(self) -> Result<()> {
        Ok(())
    }
}
