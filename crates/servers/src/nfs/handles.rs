//! Handles: numbers that stand for names in directories during the server's life.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use lanlab_wire::nfs3::Status;

/// The served directory. Smaller numbers stand for `.` and `..` in listings.
pub const ROOT: u64 = 3;

/// Maximum names with handles, which bounds the server's memory.
const MAX_NODES: usize = 1 << 20;

const MAX_OPEN: usize = 256;

const MAX_DEPTH: usize = 64;

struct Node {
    directory: u64,
    name: String,
    /// Verifier of its exclusive creation (RFC 1813, section 3.3.8).
    made_by: Option<[u8; 8]>,
}

#[derive(Default)]
pub struct Handles {
    nodes: HashMap<u64, Node>,
    numbers: HashMap<(u64, String), u64>,
    next: u64,
    open: HashMap<u64, Arc<File>>,
    opened: VecDeque<u64>,
}

impl Handles {
    pub fn new() -> Self {
        Self { next: ROOT + 1, ..Self::default() }
    }

    pub fn path(&self, mut number: u64) -> Result<PathBuf, Status> {
        let mut names = Vec::new();
        while number != ROOT {
            let node = self.nodes.get(&number).ok_or(Status::STALE)?;
            names.push(node.name.as_str());
            number = node.directory;
            if names.len() > MAX_DEPTH {
                return Err(Status::NAMETOOLONG);
            }
        }
        if names.is_empty() { Ok(PathBuf::from(".")) } else { Ok(names.iter().rev().collect()) }
    }

    /// The parent directory of a handle; the served directory is its own parent.
    pub fn directory(&self, number: u64) -> u64 {
        self.nodes.get(&number).map_or(ROOT, |node| node.directory)
    }

    /// The name with this number, if it is in `directory`.
    pub fn name_in(&self, directory: u64, number: u64) -> Option<String> {
        self.nodes
            .get(&number)
            .filter(|node| node.directory == directory)
            .map(|node| node.name.clone())
    }

    /// The number of a name in a directory, assigned if new.
    pub fn number(&mut self, directory: u64, name: &str) -> Result<u64, Status> {
        let key = (directory, name.to_owned());
        if let Some(number) = self.numbers.get(&key) {
            return Ok(*number);
        }
        if self.nodes.len() >= MAX_NODES {
            return Err(Status::SERVERFAULT);
        }
        let number = self.next;
        self.next += 1;
        self.nodes.insert(number, Node { directory, name: name.to_owned(), made_by: None });
        self.numbers.insert(key, number);
        Ok(number)
    }

    pub fn forget(&mut self, directory: u64, name: &str) {
        if let Some(number) = self.numbers.remove(&(directory, name.to_owned())) {
            self.nodes.remove(&number);
            self.close(number);
        }
    }

    pub fn rename(&mut self, from: (u64, &str), to: (u64, &str)) {
        self.forget(to.0, to.1);
        if let Some(number) = self.numbers.remove(&(from.0, from.1.to_owned())) {
            self.close(number);
            if let Some(node) = self.nodes.get_mut(&number) {
                (node.directory, node.name) = (to.0, to.1.to_owned());
            }
            self.numbers.insert((to.0, to.1.to_owned()), number);
        }
    }

    pub fn made_by(&mut self, number: u64, verifier: [u8; 8]) {
        if let Some(node) = self.nodes.get_mut(&number) {
            node.made_by = Some(verifier);
        }
    }

    pub fn was_made_by(&self, number: u64, verifier: [u8; 8]) -> bool {
        self.nodes.get(&number).is_some_and(|node| node.made_by == Some(verifier))
    }

    pub fn opened(&self, number: u64) -> Option<Arc<File>> {
        self.open.get(&number).cloned()
    }

    /// Keep a file open; at the limit, the least recent one is closed.
    pub fn keep(&mut self, number: u64, file: &Arc<File>) {
        if self.open.insert(number, Arc::clone(file)).is_none() {
            self.opened.push_back(number);
        }
        while self.open.len() > MAX_OPEN {
            let Some(oldest) = self.opened.pop_front() else { break };
            self.open.remove(&oldest);
        }
    }

    pub fn close(&mut self, number: u64) {
        if self.open.remove(&number).is_some() {
            self.opened.retain(|opened| *opened != number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_handle_until_evicted() {
        let mut handles = Handles::new();
        let folder = handles.number(ROOT, "folder").unwrap();
        let file = handles.number(folder, "file").unwrap();
        assert_eq!(handles.number(folder, "file"), Ok(file));
        assert_eq!(handles.path(file).unwrap(), PathBuf::from("folder/file"));
        handles.rename((folder, "file"), (ROOT, "other"));
        assert_eq!(handles.path(file).unwrap(), PathBuf::from("other"));
        handles.forget(ROOT, "other");
        assert_eq!(handles.path(file), Err(Status::STALE));
        assert_ne!(handles.number(ROOT, "other").unwrap(), file);
    }

    #[test]
    fn open_files_are_bounded() {
        let mut handles = Handles::new();
        let file = Arc::new(tempfile::tempfile().unwrap());
        for number in 0..MAX_OPEN as u64 + 10 {
            handles.keep(number, &file);
        }
        assert_eq!(Arc::strong_count(&file), MAX_OPEN + 1);
        assert!(handles.opened(9).is_none() && handles.opened(10).is_some());
    }
}
