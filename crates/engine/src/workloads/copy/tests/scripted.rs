//! An in-memory service with scripted answers to some calls.

use std::cell::RefCell;
use std::collections::BTreeMap;

use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Session, TransferCapabilities,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Fault(Class),
    Nothing,
}

#[derive(Debug, Default)]
pub struct Scripted {
    /// Content of each file; `None` for directories.
    pub entries: RefCell<BTreeMap<String, Option<Vec<u8>>>>,
    pub writes: RefCell<Vec<(u64, Vec<u8>)>>,
    pub in_order: bool,
    pub block_bytes: u32,
    pub is_flat: bool,
    /// Calls with their paths, also the size when creating, and the offset when writing.
    pub calls: RefCell<Vec<String>>,
    answers: RefCell<Vec<(String, Answer, usize)>>,
}

impl Scripted {
    pub fn with(directories: &[&str], files: &[(&str, &[u8])]) -> Self {
        let served = Self::default();
        let mut entries = served.entries.borrow_mut();
        entries.extend(directories.iter().map(|path| ((*path).to_owned(), None)));
        entries.extend(files.iter().map(|(path, data)| ((*path).to_owned(), Some(data.to_vec()))));
        drop(entries);
        served
    }

    pub fn answers(self, call: &str, answer: Answer, times: usize) -> Self {
        self.answers.borrow_mut().push((call.to_owned(), answer, times));
        self
    }

    pub fn called(&self, call: &str) -> usize {
        self.calls.borrow().iter().filter(|other| *other == call).count()
    }

    pub fn left(&self) -> Vec<String> {
        self.entries.borrow().keys().cloned().collect()
    }

    fn begin(&self, call: &str) -> Result<bool> {
        self.calls.borrow_mut().push(call.to_owned());
        let mut answers = self.answers.borrow_mut();
        let script = answers.iter_mut().find(|(name, _, times)| name == call && *times > 0);
        let Some((_, answer, times)) = script else { return Ok(true) };
        *times -= 1;
        match answer {
            Answer::Fault(class) => Err(Fault::new(*class, format!("{call}: {class:?}"))),
            Answer::Nothing => Ok(false),
        }
    }

    fn missing(path: &str) -> Fault {
        Fault::new(Class::Missing, format!("{path}: none"))
    }

    fn below(&self, directory: &str) -> Vec<Entry> {
        let entry = |(path, data): (&String, &Option<Vec<u8>>)| {
            let name = match directory {
                "" => path.as_str(),
                _ => path.strip_prefix(directory)?.strip_prefix('/')?,
            };
            let size_bytes = data.as_ref().map_or(0, |data| data.len() as u64);
            let entry = Entry { name: name.to_owned(), size_bytes, is_directory: data.is_none() };
            (!name.contains('/')).then_some(entry)
        };
        self.entries.borrow().iter().filter_map(entry).collect()
    }
}

impl Session for &Scripted {
    type File = String;

    fn has_directories(&self) -> bool {
        !self.is_flat
    }

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities {
            in_order: self.in_order,
            block_bytes: self.block_bytes,
            depth: 1,
            blocking: true,
            can_update: false,
            can_create: true,
        }
    }

    fn facts(&self) -> Facts {
        Facts {
            protocol: "scripted".into(),
            protection: "none".into(),
            server: None,
            no_delay: None,
            tcp: None,
        }
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<String> {
        self.begin(&match access {
            Access::Create { size_bytes } => format!("create {path} {size_bytes}"),
            _ => format!("open {path}"),
        })?;
        let mut entries = self.entries.borrow_mut();
        if access != Access::Read {
            entries.insert(path.as_str().to_owned(), Some(Vec::new()));
        } else if !entries.contains_key(path.as_str()) {
            return Err(Scripted::missing(path.as_str()));
        }
        Ok(path.as_str().to_owned())
    }

    async fn read_at(&self, file: &String, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let entries = self.entries.borrow();
        let rest = &entries[file].as_ref().unwrap()[offset as usize..];
        let got = rest.len().min(buffer.len());
        buffer[..got].copy_from_slice(&rest[..got]);
        Ok(got)
    }

    async fn write_at(&self, file: &String, offset: u64, data: &[u8]) -> Result<()> {
        self.begin(&format!("write {file} {offset}"))?;
        self.writes.borrow_mut().push((offset, data.to_vec()));
        let mut entries = self.entries.borrow_mut();
        let whole = entries.get_mut(file).unwrap().as_mut().unwrap();
        whole.resize(whole.len().max(offset as usize + data.len()), 0);
        whole[offset as usize..][..data.len()].copy_from_slice(data);
        Ok(())
    }

    async fn sync(&self, file: &String) -> Result<()> {
        self.begin(&format!("sync {file}"))?;
        Ok(())
    }

    async fn close(&self, file: String) -> Result<()> {
        self.begin(&format!("close {file}"))?;
        Ok(())
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        if self.begin(&format!("remove {path}"))? {
            let removed = self.entries.borrow_mut().remove(path.as_str());
            removed.ok_or_else(|| Scripted::missing(path.as_str()))?;
        }
        Ok(())
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        let Some(path) = path.map(ServicePath::as_str) else {
            self.begin("list")?;
            return Ok(self.below(""));
        };
        self.begin(&format!("list {path}"))?;
        if self.entries.borrow().get(path) != Some(&None) {
            return Err(Scripted::missing(path));
        }
        Ok(self.below(path))
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        self.begin(&format!("make {path}"))?;
        self.entries.borrow_mut().insert(path.as_str().to_owned(), None);
        Ok(())
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        if self.begin(&format!("remove {path}"))? {
            if !self.below(path.as_str()).is_empty() {
                return Err(Fault::new(Class::Exists, format!("{path}: not empty")));
            }
            let removed = self.entries.borrow_mut().remove(path.as_str());
            removed.ok_or_else(|| Scripted::missing(path.as_str()))?;
        }
        Ok(())
    }

    async fn end(self) -> Result<()> {
        Ok(())
    }
}
