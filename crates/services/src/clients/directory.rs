//! A directory of this host: local, or a share that the system has mounted. Calls are the system's,
//! and keep the thread until they are done.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use crate::fault::{Class, Fault, Result};
use crate::path::ServicePath;
use crate::positioned;
use crate::session::{self, Access, Entry, Facts, Manner};
use crate::target::Target;

/// Octets of a call when a whole file is moved: what `cp` and the like take, and enough that the
/// call itself costs nothing beside the copying.
const BLOCK_BYTES: u32 = 1 << 18;

/// A directory to work in.
#[derive(Debug)]
pub struct Session {
    base: PathBuf,
}

/// An open file, and its name for errors.
#[derive(Debug)]
pub struct File {
    file: fs::File,
    path: PathBuf,
}

/// Work in `target.directory`, which must be there.
#[expect(clippy::unused_async, reason = "as those of the other services")]
pub async fn connect(target: &Target) -> Result<Session> {
    let base = PathBuf::from(&target.directory);
    if !base.is_absolute() {
        let message = format!("directory `{}`: found a relative path", base.display());
        return Err(Fault::new(Class::Name, message).hint("give an absolute path"));
    }
    let found = fs::metadata(&base).map_err(|error| Fault::of_file(base.display(), &error))?;
    if !found.is_dir() {
        return Err(Fault::new(Class::Missing, format!("{}: not a directory", base.display())));
    }
    Ok(Session { base })
}

impl Session {
    fn at(&self, path: &ServicePath) -> PathBuf {
        self.base.join(path.as_str())
    }
}

/// Do something with a path, and name it if that fails.
fn with<T>(what: &str, path: &Path, done: std::io::Result<T>) -> Result<T> {
    done.map_err(|error| Fault::of_file(format_args!("{what} {}", path.display()), &error))
}

impl session::Session for Session {
    type File = File;

    fn manner(&self) -> Manner {
        Manner {
            in_order: false,
            block_bytes: BLOCK_BYTES,
            depth: 1,
            blocking: true,
            can_update: true,
            can_create: true,
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            protocol: "directory".to_owned(),
            protection: "none".to_owned(),
            server: None,
            no_delay: None,
        }
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Create { .. } => options.write(true).create_new(true),
            Access::Replace { .. } => options.write(true).create(true).truncate(true),
            Access::Update => options.read(true).write(true),
        };
        let path = self.at(path);
        let file = with("open", &path, options.open(&path))?;
        Ok(File { file, path })
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
        // A mounted share may tell only now that it could not keep what was written.
        let File { file, path } = file;
        with("close", &path, lanlab_link::close_file(file))
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        let path = self.at(path);
        with("remove", &path, fs::remove_file(&path))
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let path = path.map_or_else(|| self.base.clone(), |path| self.at(path));
        let mut entries = Vec::new();
        for entry in with("list", &path, fs::read_dir(&path))? {
            let entry = with("list", &path, entry)?;
            let Ok(name) = entry.file_name().into_string() else {
                continue; // It is none of ours: we write only names of UTF-8.
            };
            let facts = with("look at", &entry.path(), entry.metadata())?;
            let is_directory = facts.is_dir();
            let size_bytes = if is_directory { 0 } else { facts.len() };
            entries.push(Entry { name, size_bytes, is_directory });
        }
        Ok(entries)
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        let path = self.at(path);
        with("make directory", &path, fs::create_dir(&path))
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        let path = self.at(path);
        with("remove directory", &path, fs::remove_dir(&path))
    }

    async fn end(self) -> Result<()> {
        Ok(())
    }
}
