//! Files in memory, for a file server without a disk; kept as simple as possible.
#![allow(dead_code, reason = "not every test asks for open files")]

use std::collections::BTreeMap;

use lanlab_stack::file_server::{Session, short_names};
use lanlab_stack::files::{
    FileAnswer, FileCall, FileRefusal, FileStore, Found, Handle, Names, Presence,
};

/// Maximum bytes of all files together.
const MAX_OCTETS: usize = 1 << 20;

#[derive(Debug, Default)]
pub struct MemoryFiles {
    entries: BTreeMap<Vec<String>, Entry>,
    open: BTreeMap<Handle, Vec<String>>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    name: String,
    number: u64,
    octets: Option<Vec<u8>>,
    modified_s: u64,
    is_read_only: bool,
}

fn key(path: &Names) -> Vec<String> {
    path.iter().map(|name| name.to_lowercase()).collect()
}

impl FileStore for MemoryFiles {
    fn carry_out(&mut self, call: FileCall, data: &mut Vec<u8>) -> FileAnswer {
        self.of_call(call, data).unwrap_or_else(FileAnswer::Refused)
    }
}

impl MemoryFiles {
    /// Carry out what a session asks of its files. Gives its messages.
    pub fn serve(&mut self, session: &mut Session) -> Vec<Vec<u8>> {
        let (mut said, mut head, mut data) = (vec![], vec![], vec![]);
        loop {
            if let Some(call) = session.poll_file_call(&mut data) {
                let answer = self.carry_out(call, &mut data);
                session.handle_file_answer(answer, &mut data);
            } else if session.poll_message(&mut head, &mut data) {
                said.push([&head[..], &data[..]].concat());
            } else {
                return said;
            }
        }
    }

    pub fn open(&self) -> usize {
        self.open.len()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn found(&self, key: &[String]) -> Option<Found> {
        if key.is_empty() {
            return Some(known("", 0, None, 0, false));
        }
        let entry = self.entries.get(key)?;
        let (octets, modified_s) = (entry.octets.as_deref(), entry.modified_s);
        Some(known(&entry.name, entry.number, octets, modified_s, entry.is_read_only))
    }

    fn parent(&self, key: &[String]) -> Result<(), FileRefusal> {
        let above = &key[..key.len().saturating_sub(1)];
        match self.found(above) {
            Some(found) if found.is_directory => Ok(()),
            _ => Err(FileRefusal::NoPath),
        }
    }

    fn insert(&mut self, path: &Names, octets: Option<Vec<u8>>) -> Result<(), FileRefusal> {
        self.parent(&key(path))?;
        let (name, number) = (path.last().cloned().unwrap_or_default(), self.number());
        let entry = Entry { name, number, octets, modified_s: 800_000_000, is_read_only: false };
        self.entries.insert(key(path), entry);
        Ok(())
    }

    fn octets(&mut self, handle: Handle) -> Result<&mut Vec<u8>, FileRefusal> {
        let key = self.open.get(&handle).ok_or(FileRefusal::Failed)?;
        let entry = self.entries.get_mut(key).and_then(|entry| entry.octets.as_mut());
        entry.ok_or(FileRefusal::Missing)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each call")]
    fn of_call(&mut self, call: FileCall, data: &mut Vec<u8>) -> Result<FileAnswer, FileRefusal> {
        match call {
            FileCall::Look { path } => {
                let key = key(&path);
                if !key.is_empty() {
                    self.parent(&key)?;
                }
                self.found(&key).map(FileAnswer::Found).ok_or(FileRefusal::Missing)
            }
            FileCall::List { path, after, most } => {
                let above = key(&path);
                let below = |(key, entry): (&Vec<String>, &Entry)| {
                    let is_in = key.len() == above.len() + 1 && key.starts_with(&above);
                    (is_in && entry.name > after).then(|| self.found(key)).flatten()
                };
                let mut listed: Vec<_> = self.entries.iter().filter_map(below).collect();
                listed.sort_by(|one, other| one.name.cmp(&other.name));
                listed.truncate(most as usize);
                Ok(FileAnswer::Listed(listed))
            }
            FileCall::Open { path, presence, truncate, .. } => {
                let key = key(&path);
                let is_there = self.entries.contains_key(&key);
                match (is_there, presence) {
                    (false, Presence::Old) => return Err(FileRefusal::Missing),
                    (true, Presence::New) => return Err(FileRefusal::Exists),
                    (false, _) => self.insert(&path, Some(Vec::new()))?,
                    (true, _) => {}
                }
                let handle = Handle(self.number());
                self.open.insert(handle, key.clone());
                if truncate {
                    self.octets(handle)?.clear();
                }
                let found = self.found(&key).ok_or(FileRefusal::Missing)?;
                Ok(FileAnswer::Opened { handle, found, is_new: !is_there })
            }
            FileCall::Read { handle, offset, count } => {
                let octets = self.octets(handle)?;
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(octets.len());
                let to = from.saturating_add(count as usize).min(octets.len());
                data.clear();
                data.extend_from_slice(&octets[from..to]);
                Ok(FileAnswer::Read)
            }
            FileCall::Write { handle, offset, data: range } => {
                let octets = self.octets(handle)?;
                let at = usize::try_from(offset).unwrap_or(usize::MAX);
                let end = at.saturating_add(range.len());
                if end > MAX_OCTETS {
                    return Err(FileRefusal::NoSpace);
                }
                if octets.len() < end {
                    octets.resize(end, 0);
                }
                octets[at..end].copy_from_slice(&data[range.clone()]);
                Ok(FileAnswer::Written(range.len() as u32))
            }
            FileCall::SetSize { handle, size_bytes } => {
                let size_bytes = usize::try_from(size_bytes).unwrap_or(usize::MAX);
                if size_bytes > MAX_OCTETS {
                    return Err(FileRefusal::NoSpace);
                }
                self.octets(handle)?.resize(size_bytes, 0);
                Ok(FileAnswer::Done)
            }
            FileCall::Flush { handle } => self.octets(handle).map(|_| FileAnswer::Done),
            FileCall::Close { handle } => {
                assert!(self.open.remove(&handle).is_some(), "closed twice");
                Ok(FileAnswer::Done)
            }
            FileCall::Change { path, modified_s, is_read_only } => {
                let entry = self.entries.get_mut(&key(&path)).ok_or(FileRefusal::Missing)?;
                entry.modified_s = modified_s.unwrap_or(entry.modified_s);
                entry.is_read_only = is_read_only.unwrap_or(entry.is_read_only);
                Ok(FileAnswer::Done)
            }
            FileCall::Remove { path } => {
                let entry = self.entries.remove(&key(&path)).ok_or(FileRefusal::Missing)?;
                assert!(entry.octets.is_some(), "a directory was removed as a file");
                Ok(FileAnswer::Done)
            }
            FileCall::Rename { from, to } => {
                // A change of case is a rename.
                if key(&to).starts_with(&key(&from)) && key(&to) != key(&from) {
                    return Err(FileRefusal::Denied);
                }
                self.parent(&key(&to))?;
                let mut entry = self.entries.remove(&key(&from)).ok_or(FileRefusal::Missing)?;
                entry.name = to.last().cloned().unwrap_or_default();
                let replaced = self.entries.insert(key(&to), entry);
                assert!(replaced.is_none(), "a file was replaced");
                Ok(FileAnswer::Done)
            }
            FileCall::MakeDirectory { path } => {
                if self.found(&key(&path)).is_some() {
                    return Err(FileRefusal::Exists);
                }
                self.insert(&path, None).map(|()| FileAnswer::Done)
            }
            FileCall::RemoveDirectory { path } => {
                let key = key(&path);
                let is_full = self
                    .entries
                    .keys()
                    .any(|other| other.len() > key.len() && other.starts_with(&key));
                if is_full {
                    return Err(FileRefusal::NotEmpty);
                }
                self.entries.remove(&key).map(|_| FileAnswer::Done).ok_or(FileRefusal::Denied)
            }
            FileCall::Space => Ok(FileAnswer::Space { total_bytes: 1 << 30, free_bytes: 1 << 29 }),
        }
    }
}

fn known(
    name: &str,
    number: u64,
    octets: Option<&[u8]>,
    modified_s: u64,
    is_read_only: bool,
) -> Found {
    Found {
        name: name.to_owned(),
        short_name: short_names::own(name).unwrap_or_else(|| short_names::made(name, 1)),
        number,
        is_directory: octets.is_none(),
        is_read_only,
        size_bytes: octets.map_or(0, |octets| octets.len() as u64),
        modified_s,
        accessed_s: modified_s,
    }
}
