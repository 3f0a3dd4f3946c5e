//! The files that a trial copies, and their content.

use std::fs::File;
use std::hash::Hasher;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use lanlab_clients::{ConfinedDirectory, Kind};
use lanlab_files::{Access, ServicePath};
use lanlab_os as os;
use lanlab_os::positioned::read_at;
use lanlab_workloads::copy::Source;
use twox_hash::XxHash3_64;

use crate::messages::{CopiedFiles, DatasetSpec, Failure, LeftOut};
use crate::paths::{absolute, of_file};
use crate::running::Running;
use crate::workloads::dataset::{self, MOST_FILES, first_difference};

/// Deepest nesting of directories.
const MOST_DEPTH: usize = 64;

#[derive(Debug)]
pub struct Files {
    pub entries: Vec<Entry>,
    /// Directories that the files need, outermost first.
    pub directories: Vec<ServicePath>,
    pub left_out: LeftOut,
    origin: Origin,
}

#[derive(Debug)]
pub struct Entry {
    pub path: ServicePath,
    pub bytes: u64,
    /// Modification time of a file that could change; `None` if its content is known.
    modified: Option<SystemTime>,
}

#[derive(Debug)]
enum Origin {
    Dataset(DatasetSpec),
    Tree(Arc<ConfinedDirectory>),
}

impl Files {
    pub fn find(copied: &CopiedFiles, running: &Running) -> Result<Self, Failure> {
        match copied {
            CopiedFiles::Dataset(spec) => {
                let entries = (0_u64..)
                    .zip(dataset::sizes(spec)?)
                    .map(|(number, bytes)| {
                        let path = service_path(&dataset::file_name(number))?;
                        Ok(Entry { path, bytes, modified: None })
                    })
                    .collect::<Result<_, Failure>>()?;
                Ok(Self {
                    entries,
                    directories: Vec::new(),
                    left_out: LeftOut::default(),
                    origin: Origin::Dataset(spec.clone()),
                })
            }
            CopiedFiles::Tree(directory) => {
                let root = absolute(directory)?;
                let below = open_source(&root)?;
                let mut files = Self {
                    entries: Vec::new(),
                    directories: Vec::new(),
                    left_out: LeftOut::default(),
                    origin: Origin::Tree(Arc::clone(&below)),
                };
                files.look_through(&below, None, MOST_DEPTH, running)?;
                if files.entries.is_empty() {
                    let message = format!("{}: no file to copy in it", root.display());
                    return Err(Failure::new("copy.nothing", message));
                }
                Ok(files)
            }
        }
    }

    fn look_through(
        &mut self,
        tree: &ConfinedDirectory,
        directory: Option<&ServicePath>,
        depth: usize,
        running: &Running,
    ) -> Result<(), Failure> {
        running.check()?;
        let place = tree.place(directory);
        let failed = |error| of_file("list", &place, &error);
        let mut listed = Vec::new();
        for found in tree.list(directory).map_err(failed)? {
            let mut found = found.map_err(failed)?;
            let name = std::mem::take(&mut found.name).into_string().map_err(|name| {
                let path = place.join(name);
                Failure::new("copy.name", format!("{}: its name is no UTF-8", path.display()))
                    .hint("rename it: services hold text")
            })?;
            listed.push((name, found));
            check_count([listed.len(), self.entries.len(), self.directories.len()])?;
        }
        // Sorted, so that the order is the same on every system.
        listed.sort_by(|(left, _), (right, _)| left.cmp(right));
        for (name, found) in listed {
            let path = || match directory {
                None => service_path(&name),
                Some(directory) => service_path(&format!("{directory}/{name}")),
            };
            match found.kind {
                Kind::Link => self.left_out.symbolic_links += 1,
                Kind::Special => self.left_out.special_files += 1,
                Kind::Directory if depth == 0 => {
                    let message = format!("{}: nested too deeply", place.join(name).display());
                    return Err(Failure::new("copy.too_many", message));
                }
                Kind::Directory => {
                    let path = path()?;
                    self.directories.push(path.clone());
                    self.look_through(tree, Some(&path), depth - 1, running)?;
                }
                Kind::File => {
                    let (path, modified) = (path()?, found.modified);
                    self.entries.push(Entry { path, bytes: found.bytes, modified });
                }
            }
        }
        Ok(())
    }

    pub fn bytes(&self) -> u64 {
        self.entries.iter().map(|entry| entry.bytes).sum()
    }

    pub fn truth(&self, number: usize) -> Result<Truth, Failure> {
        match &self.origin {
            Origin::Dataset(spec) => Ok(Truth::Made(dataset::content(spec, number as u64))),
            Origin::Tree(tree) => Truth::open(tree, &self.entries[number].path),
        }
    }

    pub fn digest(&self) -> String {
        let mut hasher = XxHash3_64::new();
        for entry in &self.entries {
            let modified = entry.modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            let modified_ns = modified.map_or(0, |since| since.as_nanos());
            hasher.write(format!("{}\n{} {modified_ns}\n", entry.path, entry.bytes).as_bytes());
        }
        for directory in &self.directories {
            hasher.write(format!("{directory}/\n").as_bytes());
        }
        format!("{:016x}", hasher.finish())
    }

    /// Check that these are the files that the trial was prepared for: new ones would be left at the service, and
    /// missing ones would not be compared.
    pub fn check_same(&self, digest: Option<&str>) -> Result<(), Failure> {
        let Origin::Tree(tree) = &self.origin else { return Ok(()) };
        if digest.is_none_or(|digest| digest == self.digest()) {
            return Ok(());
        }
        let place = tree.place(None);
        let message = format!("{}: files in it changed while it was copied", place.display());
        Err(Failure::new("copy.changed", message).hint("copy files that nobody writes to"))
    }

    /// Check that no file of a tree has changed since it was scanned.
    pub fn check_unchanged(&self) -> Result<(), Failure> {
        let Origin::Tree(tree) = &self.origin else { return Ok(()) };
        for entry in &self.entries {
            let is_same = tree.look(&entry.path).is_ok_and(|found| {
                found.kind == Kind::File
                    && found.bytes == entry.bytes
                    && found.modified == entry.modified
            });
            if !is_same {
                return Err(changed(&tree.place(Some(&entry.path))));
            }
        }
        Ok(())
    }
}

/// Open the source directory of an upload: links that replace files or directories in it later are not followed.
pub fn open_source(directory: &Path) -> Result<Arc<ConfinedDirectory>, Failure> {
    ConfinedDirectory::shared(directory).map_err(|error| of_file("open", directory, &error))
}

fn check_count(names: [usize; 3]) -> Result<(), Failure> {
    if names.iter().sum::<usize>() <= MOST_FILES {
        return Ok(());
    }
    let message = format!("more than {MOST_FILES} files and directories");
    Err(Failure::new("copy.too_many", message))
}

pub fn changed(path: &Path) -> Failure {
    Failure::new("copy.changed", format!("{}: it changed while it was copied", path.display()))
        .hint("copy files that nobody writes to")
}

fn service_path(path: &str) -> Result<ServicePath, Failure> {
    ServicePath::new(path).map_err(|bad| {
        Failure::new("copy.name", bad.message).hint("rename the file: no service can hold that")
    })
}

#[derive(Debug)]
pub enum Truth {
    Made(dataset::Content),
    File { file: File, path: PathBuf },
}

impl Truth {
    pub fn open(below: &ConfinedDirectory, file: &ServicePath) -> Result<Self, Failure> {
        let path = below.place(Some(file));
        let file = below.file(file, Access::Read).map_err(|error| match error.kind() {
            // A parent is no longer a directory.
            ErrorKind::NotADirectory | ErrorKind::NotFound => changed(&path),
            _ => of_file("open", &path, &error),
        })?;
        os::will_read_in_order(&file);
        Ok(Self::File { file, path })
    }

    /// Index of the first wrong byte of `data`, which starts at `offset`. `scratch` is at least as long as `data`.
    pub fn first_difference(
        &self,
        offset: u64,
        data: &[u8],
        scratch: &mut Vec<u8>,
    ) -> Result<Option<u64>, Failure> {
        match self {
            Self::Made(content) => Ok(content.first_difference(offset, data)),
            Self::File { file, path } => {
                scratch.resize(data.len(), 0);
                read_all(file, path, offset, scratch)?;
                Ok(first_difference(scratch, data).map(|within| offset + within))
            }
        }
    }
}

impl Source for Truth {
    fn fill(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Failure> {
        match self {
            Self::Made(content) => content.fill(offset, buffer),
            Self::File { file, path } => read_all(file, path, offset, buffer)?,
        }
        Ok(())
    }
}

/// Read exactly this range: a file that is shorter now has changed.
pub fn read_all(file: &File, path: &Path, offset: u64, buffer: &mut [u8]) -> Result<(), Failure> {
    read_whole(path, offset, buffer, |part, from| read_at(file, part, from))
}

fn read_whole(
    path: &Path,
    mut offset: u64,
    mut buffer: &mut [u8],
    read: impl Fn(&mut [u8], u64) -> io::Result<usize>,
) -> Result<(), Failure> {
    while !buffer.is_empty() {
        match read(buffer, offset).map_err(|error| of_file("read", path, &error))? {
            0 => return Err(changed(path)),
            got => {
                offset += got as u64;
                buffer = &mut buffer[got..];
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
