//! The contents of a simulated file server: names, and the bytes of files.
//!
//! Files with known content take no memory: only differences from it are stored.

use std::collections::BTreeMap;
use std::rc::Rc;

use lanlab_stack::file_server::short_names;
use lanlab_stack::files::{
    FileAnswer, FileCall, FileRefusal, FileStore, Found, Handle, Names, Presence,
};
use lanlab_workloads::dataset::Content;

/// Bytes stored together where a file differs from its known content.
const BLOCK_BYTES: u64 = 4096;
const COMPARED_BYTES: u64 = 1 << 16;
/// Time of the last write of every file: 1995, a date from the period.
const MODIFIED_S: u64 = 800_000_000;

/// Expected content of files by path; `None`: anything.
pub type Expected = Rc<dyn Fn(&[String]) -> Option<Content>>;

pub struct Contents {
    entries: BTreeMap<Names, Entry>,
    files: BTreeMap<u64, Bytes>,
    /// Numbers of open files.
    open: BTreeMap<Handle, u64>,
    expected: Expected,
    next: u64,
    free_bytes: u64,
    total_bytes: u64,
}

struct Entry {
    name: String,
    number: u64,
    is_read_only: bool,
    modified_s: u64,
    is_directory: bool,
}

#[derive(Debug, Default)]
struct Bytes {
    size_bytes: u64,
    expected: Option<Content>,
    /// Ranges that have the expected content, each from its first byte to one past the last. All
    /// other bytes are zeros.
    as_expected: BTreeMap<u64, u64>,
    kept: BTreeMap<u64, Box<[u8]>>,
}

fn key(path: &[String]) -> Names {
    path.iter().map(|name| name.to_lowercase()).collect()
}

impl Contents {
    pub fn new(total_bytes: u64, expected: Expected) -> Self {
        Self {
            entries: BTreeMap::new(),
            files: BTreeMap::new(),
            open: BTreeMap::new(),
            expected,
            next: 0,
            free_bytes: total_bytes,
            total_bytes,
        }
    }

    pub fn open_files(&self) -> usize {
        self.open.len()
    }

    /// Add a file of this size with its expected content, and its directories.
    pub fn put(&mut self, path: &[String], size_bytes: u64) -> Result<(), FileRefusal> {
        self.put_directory(&path[..path.len().saturating_sub(1)]);
        let mut bytes = self.new_bytes(path);
        bytes.set_size(size_bytes);
        if bytes.expected.is_some() && size_bytes > 0 {
            bytes.as_expected.insert(0, size_bytes);
        }
        self.take_room(size_bytes)?;
        self.insert(path, Some(bytes));
        Ok(())
    }

    /// Add a file with these bytes, and its directories.
    pub fn put_bytes(&mut self, path: &[String], data: &[u8]) -> Result<(), FileRefusal> {
        self.put_directory(&path[..path.len().saturating_sub(1)]);
        self.take_room(data.len() as u64)?;
        let mut bytes = self.new_bytes(path);
        bytes.set_size(data.len() as u64);
        bytes.write(0, data);
        self.insert(path, Some(bytes));
        Ok(())
    }

    pub fn put_directory(&mut self, path: &[String]) {
        for length in 1..=path.len() {
            if !self.entries.contains_key(&key(&path[..length])) {
                self.insert(&path[..length], None);
            }
        }
    }

    /// Whether a file has this size and its expected content; `None`: the file does not exist.
    pub fn is_as_expected(&self, path: &[String], size_bytes: u64) -> Option<bool> {
        let bytes = self.files.get(&self.number_at(path)?)?;
        Some(bytes.size_bytes == size_bytes && bytes.are_as_expected())
    }

    pub fn files(&self) -> BTreeMap<u64, u64> {
        self.files.iter().map(|(number, bytes)| (*number, bytes.size_bytes)).collect()
    }

    pub fn number(&self, handle: Handle) -> Option<u64> {
        self.open.get(&handle).copied()
    }

    pub fn number_at(&self, path: &[String]) -> Option<u64> {
        self.entries.get(&key(path)).map(|entry| entry.number)
    }

    pub fn size_bytes(&self, handle: Handle) -> Option<u64> {
        self.files.get(self.open.get(&handle)?).map(|bytes| bytes.size_bytes)
    }

    fn move_bytes(
        &mut self,
        call: FileCall,
        data: &mut Vec<u8>,
    ) -> Result<FileAnswer, FileRefusal> {
        match call {
            FileCall::Read { handle, offset, count } => {
                self.bytes(handle)?.read(offset, count, data);
                Ok(FileAnswer::Read)
            }
            FileCall::Write { handle, offset, data: range } => {
                let data = data.get(range).ok_or(FileRefusal::Failed)?;
                let end = offset + data.len() as u64;
                self.grow(handle, end)?;
                self.bytes(handle)?.write(offset, data);
                Ok(FileAnswer::Written(data.len() as u32))
            }
            FileCall::SetSize { handle, size_bytes } => {
                self.grow(handle, size_bytes)?;
                let bytes = self.bytes(handle)?;
                let freed = bytes.size_bytes.saturating_sub(size_bytes);
                bytes.set_size(size_bytes);
                self.free_bytes += freed;
                Ok(FileAnswer::Done)
            }
            _ => Err(FileRefusal::Failed),
        }
    }

    fn of_path(&mut self, call: FileCall) -> Result<FileAnswer, FileRefusal> {
        match call {
            FileCall::Look { path } => {
                self.find_parent(&path)?;
                self.found(&key(&path)).map(FileAnswer::Found).ok_or(FileRefusal::Missing)
            }
            FileCall::List { path, after, most } => Ok(self.list(&path, &after, most)),
            FileCall::Open { path, presence, truncate, .. } => self.open(&path, presence, truncate),
            FileCall::Change { path, modified_s, is_read_only } => {
                let entry = self.entries.get_mut(&key(&path)).ok_or(FileRefusal::Missing)?;
                entry.modified_s = modified_s.unwrap_or(entry.modified_s);
                entry.is_read_only = is_read_only.unwrap_or(entry.is_read_only);
                Ok(FileAnswer::Done)
            }
            FileCall::Remove { path } => {
                let key = key(&path);
                let number = self.entries.get(&key).ok_or(FileRefusal::Missing)?.number;
                let bytes = self.files.remove(&number).ok_or(FileRefusal::IsDirectory)?;
                self.free_bytes += bytes.size_bytes;
                self.entries.remove(&key);
                Ok(FileAnswer::Done)
            }
            FileCall::Rename { from, to } => self.rename(&from, &to),
            FileCall::MakeDirectory { path } => {
                self.find_parent(&path)?;
                if self.found(&key(&path)).is_some() {
                    return Err(FileRefusal::Exists);
                }
                self.insert(&path, None);
                Ok(FileAnswer::Done)
            }
            FileCall::RemoveDirectory { path } => {
                let key = key(&path);
                let entry = self.entries.get(&key).ok_or(FileRefusal::Missing)?;
                if !entry.is_directory {
                    return Err(FileRefusal::NoPath);
                }
                if self.below(&key).next().is_some() {
                    return Err(FileRefusal::NotEmpty);
                }
                self.entries.remove(&key);
                Ok(FileAnswer::Done)
            }
            FileCall::Space => {
                let Self { total_bytes, free_bytes, .. } = *self;
                Ok(FileAnswer::Space { total_bytes, free_bytes })
            }
            _ => Err(FileRefusal::Failed),
        }
    }

    fn open(
        &mut self,
        path: &[String],
        presence: Presence,
        truncate: bool,
    ) -> Result<FileAnswer, FileRefusal> {
        self.find_parent(path)?;
        let key = key(path);
        let is_new = match (self.found(&key), presence) {
            (None, Presence::Old) => return Err(FileRefusal::Missing),
            (Some(_), Presence::New) => return Err(FileRefusal::Exists),
            (Some(found), _) if found.is_directory => return Err(FileRefusal::IsDirectory),
            (found, _) => found.is_none(),
        };
        if is_new {
            let bytes = self.new_bytes(path);
            self.insert(path, Some(bytes));
        }
        let number = self.entries.get(&key).ok_or(FileRefusal::Missing)?.number;
        let handle = Handle(self.number_of_new());
        self.open.insert(handle, number);
        if truncate {
            let bytes = self.bytes(handle)?;
            let freed = bytes.size_bytes;
            bytes.set_size(0);
            self.free_bytes += freed;
        }
        let found = self.found(&key).ok_or(FileRefusal::Missing)?;
        Ok(FileAnswer::Opened { handle, found, is_new })
    }

    fn rename(&mut self, from: &[String], to: &[String]) -> Result<FileAnswer, FileRefusal> {
        self.find_parent(to)?;
        let (old, new) = (key(from), key(to));
        if !self.entries.contains_key(&old) {
            return Err(FileRefusal::Missing);
        }
        if old != new && self.entries.contains_key(&new) {
            return Err(FileRefusal::Exists);
        }
        let moved: Vec<Names> =
            self.entries.keys().filter(|path| path.starts_with(&old)).cloned().collect();
        for path in moved {
            let is_itself = path == old;
            let place = [&new[..], &path[old.len()..]].concat();
            if let Some(mut entry) = self.entries.remove(&path) {
                if is_itself {
                    entry.name = to.last().cloned().unwrap_or_default();
                }
                self.entries.insert(place, entry);
            }
        }
        Ok(FileAnswer::Done)
    }

    fn list(&self, path: &[String], after: &str, most: u32) -> FileAnswer {
        let above = key(path);
        let mut listed: Vec<Found> = self
            .below(&above)
            .filter(|(path, entry)| path.len() == above.len() + 1 && *entry.name > *after)
            .filter_map(|(path, _)| self.found(path))
            .collect();
        listed.sort_by(|one, other| one.name.cmp(&other.name));
        listed.truncate(most as usize);
        FileAnswer::Listed(listed)
    }

    fn below<'a>(&'a self, above: &'a Names) -> impl Iterator<Item = (&'a Names, &'a Entry)> {
        self.entries
            .range(above.clone()..)
            .take_while(move |(path, _)| path.starts_with(above))
            .filter(move |(path, _)| path.len() > above.len())
    }

    fn find_parent(&self, path: &[String]) -> Result<(), FileRefusal> {
        let Some((_, above)) = path.split_last() else { return Ok(()) };
        let is_directory = |entry: &Entry| entry.is_directory;
        let is_there = above.is_empty() || self.entries.get(&key(above)).is_some_and(is_directory);
        if is_there { Ok(()) } else { Err(FileRefusal::NoPath) }
    }

    fn found(&self, key: &Names) -> Option<Found> {
        let root = Entry {
            name: String::new(),
            number: 0,
            is_read_only: false,
            modified_s: MODIFIED_S,
            is_directory: true,
        };
        let entry = if key.is_empty() { &root } else { self.entries.get(key)? };
        Some(Found {
            name: entry.name.clone(),
            short_name: short_names::own(&entry.name)
                .unwrap_or_else(|| short_names::made(&entry.name, 1)),
            number: entry.number,
            is_directory: entry.is_directory,
            is_read_only: entry.is_read_only,
            size_bytes: self.files.get(&entry.number).map_or(0, |bytes| bytes.size_bytes),
            modified_s: entry.modified_s,
            accessed_s: entry.modified_s,
        })
    }

    fn insert(&mut self, path: &[String], bytes: Option<Bytes>) {
        let number = self.number_of_new();
        let entry = Entry {
            name: path.last().cloned().unwrap_or_default(),
            number,
            is_read_only: false,
            modified_s: MODIFIED_S,
            is_directory: bytes.is_none(),
        };
        self.files.extend(bytes.map(|bytes| (number, bytes)));
        if let Some(before) = self.entries.insert(key(path), entry) {
            self.files.remove(&before.number);
        }
    }

    fn new_bytes(&self, path: &[String]) -> Bytes {
        Bytes { expected: (self.expected)(path), ..Bytes::default() }
    }

    fn number_of_new(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn take_room(&mut self, bytes: u64) -> Result<(), FileRefusal> {
        self.free_bytes = self.free_bytes.checked_sub(bytes).ok_or(FileRefusal::NoSpace)?;
        Ok(())
    }

    /// Extend a file to this length, unless it is longer.
    fn grow(&mut self, handle: Handle, size_bytes: u64) -> Result<(), FileRefusal> {
        let grown = size_bytes.saturating_sub(self.bytes(handle)?.size_bytes);
        if grown > 0 {
            self.take_room(grown)?;
            self.bytes(handle)?.set_size(size_bytes);
        }
        Ok(())
    }

    fn bytes(&mut self, handle: Handle) -> Result<&mut Bytes, FileRefusal> {
        let number = self.open.get(&handle).ok_or(FileRefusal::Failed)?;
        self.files.get_mut(number).ok_or(FileRefusal::Missing)
    }
}

impl FileStore for Contents {
    fn carry_out(&mut self, call: FileCall, data: &mut Vec<u8>) -> FileAnswer {
        let done = match call {
            FileCall::Read { .. } | FileCall::Write { .. } | FileCall::SetSize { .. } => {
                self.move_bytes(call, data)
            }
            FileCall::Flush { handle } => self.bytes(handle).map(|_| FileAnswer::Done),
            FileCall::Close { handle } => {
                self.open.remove(&handle);
                Ok(FileAnswer::Done)
            }
            other => self.of_path(other),
        };
        done.unwrap_or_else(FileAnswer::Refused)
    }
}

impl Bytes {
    fn are_as_expected(&self) -> bool {
        if self.kept.is_empty() {
            return self.size_bytes == 0 || self.as_expected.get(&0) == Some(&self.size_bytes);
        }
        let Some(expected) = &self.expected else { return false };
        let mut data = Vec::new();
        (0..self.size_bytes.div_ceil(COMPARED_BYTES)).all(|part| {
            let offset = part * COMPARED_BYTES;
            self.read(offset, COMPARED_BYTES as u32, &mut data);
            expected.first_difference(offset, &data).is_none()
        })
    }

    fn read(&self, offset: u64, count: u32, into: &mut Vec<u8>) {
        let end = offset.saturating_add(count.into()).min(self.size_bytes);
        into.clear();
        into.resize(end.saturating_sub(offset) as usize, 0);
        self.look(offset, into);
    }

    fn look(&self, offset: u64, into: &mut [u8]) {
        let end = offset + into.len() as u64;
        if let Some(expected) = &self.expected {
            let first =
                self.as_expected.range(..=offset).next_back().map_or(offset, |(from, _)| *from);
            for (from, to) in self.as_expected.range(first..end) {
                let (from, to) = ((*from).max(offset), (*to).min(end));
                if from < to {
                    expected
                        .fill(from, &mut into[(from - offset) as usize..(to - offset) as usize]);
                }
            }
        }
        for (number, block) in self.kept.range(offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES)) {
            let begins = number * BLOCK_BYTES;
            let (from, to) = (begins.max(offset), (begins + BLOCK_BYTES).min(end));
            let taken = &block[(from - begins) as usize..(to - begins) as usize];
            into[(from - offset) as usize..(to - offset) as usize].copy_from_slice(taken);
        }
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        let end = offset + data.len() as u64;
        let is_expected = |content: &Content| content.first_difference(offset, data).is_none();
        let blocks = offset / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES);
        if self.expected.as_ref().is_some_and(is_expected)
            && self.kept.range(blocks.clone()).next().is_none()
        {
            self.note_expected(offset, end);
            return;
        }
        for number in blocks {
            let begins = number * BLOCK_BYTES;
            let (from, to) = (begins.max(offset), (begins + BLOCK_BYTES).min(end));
            if !self.kept.contains_key(&number) {
                let mut block = vec![0; BLOCK_BYTES as usize];
                self.look(begins, &mut block);
                self.kept.insert(number, block.into());
            }
            if let Some(block) = self.kept.get_mut(&number) {
                let taken = &data[(from - offset) as usize..(to - offset) as usize];
                block[(from - begins) as usize..(to - begins) as usize].copy_from_slice(taken);
            }
        }
    }

    fn note_expected(&mut self, mut from: u64, mut to: u64) {
        while let Some((begins, ends)) =
            self.as_expected.range(..=to).next_back().map(|(begins, ends)| (*begins, *ends))
            && ends >= from
        {
            (from, to) = (from.min(begins), to.max(ends));
            self.as_expected.remove(&begins);
        }
        if from < to {
            self.as_expected.insert(from, to);
        }
    }

    fn set_size(&mut self, size_bytes: u64) {
        if size_bytes < self.size_bytes {
            self.as_expected.retain(|from, to| {
                *to = (*to).min(size_bytes);
                *from < *to
            });
            self.kept.retain(|number, _| number * BLOCK_BYTES < size_bytes);
            if let Some(block) = self.kept.get_mut(&(size_bytes / BLOCK_BYTES)) {
                block[(size_bytes % BLOCK_BYTES) as usize..].fill(0);
            }
        }
        self.size_bytes = size_bytes;
    }
}

#[cfg(test)]
mod tests;
