//! Files in the memory of this process: a service that answers at once, which shows the cost of the
//! measurement itself. Files exist until they are removed or the process ends.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use lanlab_files as files;
use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Target, TransferCapabilities,
};
use parking_lot::{Mutex, RwLock};

const BLOCK_BYTES: u32 = 1 << 18;
/// Maximum file size, so that a mistake does not use up the host's memory.
const MAX_FILE_OCTETS: u64 = 1 << 30;

type Content = Arc<RwLock<Vec<u8>>>;

#[derive(Debug, Clone)]
enum Found {
    File(Content),
    Directory,
}

static ALL: Mutex<BTreeMap<String, Found>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
pub struct Session {
    base: String,
}

#[derive(Debug)]
pub struct File {
    content: Content,
}

/// Work below `target.directory`, which is only a name and need not exist.
#[expect(clippy::unused_async, reason = "as those of the other services")]
pub async fn connect(target: &Target) -> Result<Session> {
    Ok(Session { base: target.directory.clone() })
}

impl Session {
    fn at(&self, path: &ServicePath) -> String {
        format!("{}/{path}", self.base)
    }

    fn has_parent(&self, path: &ServicePath, all: &BTreeMap<String, Found>) -> bool {
        let is_directory = |parent| matches!(all.get(&self.at(&parent)), Some(Found::Directory));
        path.parent().is_none_or(is_directory)
    }
}

fn entry(name: &str, found: &Found) -> Entry {
    let size_bytes = match found {
        Found::Directory => 0,
        Found::File(content) => content.read().len() as u64,
    };
    Entry { name: name.to_owned(), size_bytes, is_directory: matches!(found, Found::Directory) }
}

fn below<'a>(
    all: &'a BTreeMap<String, Found>,
    prefix: &'a str,
) -> impl Iterator<Item = (&'a str, &'a Found)> {
    all.range::<str, _>((Bound::Included(prefix), Bound::Unbounded))
        .map_while(move |(name, found)| Some((name.strip_prefix(prefix)?, found)))
}

impl files::Session for Session {
    type File = File;

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities::calls(BLOCK_BYTES, 1)
    }

    fn facts(&self) -> Facts {
        Facts::new("memory", "none", None)
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<File> {
        let mut all = ALL.lock();
        let name = self.at(path);
        let makes = matches!(access, Access::Create { .. } | Access::Replace { .. });
        let content = match all.get(&name) {
            Some(Found::Directory) => return Err(Fault::new(Class::Exists, "it is a directory")),
            Some(Found::File(_)) if matches!(access, Access::Create { .. }) => {
                return Err(Fault::new(Class::Exists, "it is there already"));
            }
            Some(Found::File(content)) if !makes => Arc::clone(content),
            None if !makes => return Err(Fault::new(Class::Missing, "no such file")),
            _ if !self.has_parent(path, &all) => {
                return Err(Fault::new(Class::Missing, "no such directory"));
            }
            _ => {
                let content = Content::default();
                all.insert(name, Found::File(Arc::clone(&content)));
                content
            }
        };
        Ok(File { content })
    }

    async fn read_at(&self, file: &File, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let content = file.content.read();
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(content.len());
        let count = buffer.len().min(content.len() - from);
        buffer[..count].copy_from_slice(&content[from..from + count]);
        Ok(count)
    }

    async fn write_at(&self, file: &File, offset: u64, data: &[u8]) -> Result<()> {
        let end = offset.saturating_add(data.len() as u64);
        if end > MAX_FILE_OCTETS {
            return Err(Fault::new(Class::NoSpace, "it would be above 1 GiB"));
        }
        let mut content = file.content.write();
        if content.len() < end as usize {
            content.resize(end as usize, 0);
        }
        content[offset as usize..end as usize].copy_from_slice(data);
        Ok(())
    }

    async fn sync(&self, _: &File) -> Result<()> {
        Ok(())
    }

    async fn close(&self, _: File) -> Result<()> {
        Ok(())
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        let mut all = ALL.lock();
        let name = self.at(path);
        match all.get(&name) {
            Some(Found::File(_)) => {
                all.remove(&name);
                Ok(())
            }
            Some(Found::Directory) => Err(Fault::new(Class::Exists, "it is a directory")),
            None => Err(Fault::new(Class::Missing, "no such file")),
        }
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let all = ALL.lock();
        if let Some(path) = path
            && !matches!(all.get(&self.at(path)), Some(Found::Directory))
        {
            return Err(Fault::new(Class::Missing, "no such directory"));
        }
        let prefix = path.map_or_else(|| format!("{}/", self.base), |p| format!("{}/", self.at(p)));
        let own = below(&all, &prefix).filter(|(name, _)| !name.contains('/'));
        Ok(own.map(|(name, found)| entry(name, found)).collect())
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        let mut all = ALL.lock();
        let name = self.at(path);
        if all.contains_key(&name) {
            return Err(Fault::new(Class::Exists, "it is there already"));
        }
        if !self.has_parent(path, &all) {
            return Err(Fault::new(Class::Missing, "no such directory"));
        }
        all.insert(name, Found::Directory);
        Ok(())
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        let mut all = ALL.lock();
        let name = self.at(path);
        if !matches!(all.get(&name), Some(Found::Directory)) {
            return Err(Fault::new(Class::Missing, "no such directory"));
        }
        if below(&all, &format!("{name}/")).next().is_some() {
            return Err(Fault::new(Class::Exists, "it is not empty"));
        }
        all.remove(&name);
        Ok(())
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        let all = ALL.lock();
        let found = all.get(&self.at(path));
        found
            .map(|found| entry(path.name(), found))
            .ok_or_else(|| Fault::new(Class::Missing, "no such file"))
    }

    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        let mut all = ALL.lock();
        if !self.has_parent(to, &all) {
            return Err(Fault::new(Class::Missing, "no such directory"));
        }
        match all.remove(&self.at(from)) {
            Some(file @ Found::File(_)) => {
                all.insert(self.at(to), file);
                Ok(())
            }
            Some(directory) => {
                all.insert(self.at(from), directory);
                Err(Fault::new(Class::Exists, "it is a directory"))
            }
            None => Err(Fault::new(Class::Missing, "no such file")),
        }
    }

    async fn end(self) -> Result<()> {
        Ok(())
    }
}
