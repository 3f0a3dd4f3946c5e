//! A served directory whose names are found as in DOS and Windows, in any case and by short name. No path leaves
//! it, and no symbolic link is followed.
//!
//! Every path is resolved from the open directory, name by name, even while others change it.

mod cache;
mod index;
mod unchanged;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use lanlab_stack::file_server::short_names;

use crate::beneath::{look, open_any, open_directory};
use crate::free_name::{self, is_same_file};
use crate::unseen_name::is_unseen;
use cache::Cache;
pub use index::Known;
pub use unchanged::Unchanged;

#[derive(Debug)]
pub struct Directory {
    root: Arc<Dir>,
    can_be_asked_for: fn(&str) -> bool,
    cache: Cache,
}

#[derive(Debug)]
pub struct Place {
    parent: Arc<Dir>,
    on_disk: String,
    pub name: String,
    /// The entry found; `None` if only the last name is missing.
    pub found: Option<Metadata>,
}

impl Directory {
    /// Serve a directory. Names rejected by `can_be_asked_for` get short names.
    pub fn open(path: &Path, can_be_asked_for: fn(&str) -> bool) -> io::Result<Self> {
        let root = Arc::new(Dir::open_ambient_dir(path, ambient_authority())?);
        Ok(Self { root, can_be_asked_for, cache: Cache::new(can_be_asked_for) })
    }

    /// Find a path.
    ///
    /// # Errors `NotADirectory` if a parent is missing, `PermissionDenied` for a link, device or FIFO, or a system
    /// error.
    pub fn find(&self, names: &[String]) -> io::Result<Place> {
        let Some((last, above)) = names.split_last() else {
            let found = Some(self.root.dir_metadata()?);
            let parent = Arc::clone(&self.root);
            return Ok(Place { parent, on_disk: ".".to_owned(), name: String::new(), found });
        };
        let parent = self.enter(above)?;
        Ok(match self.locate(&parent, last)? {
            Some((known, found)) => Place {
                parent,
                on_disk: known.on_disk.to_string(),
                name: known.name.to_string(),
                found: Some(found),
            },
            None => Place { parent, on_disk: last.clone(), name: last.clone(), found: None },
        })
    }

    /// The short name of the entry found; empty if there is none.
    pub fn short_name(&self, place: &Place) -> io::Result<String> {
        if place.name.is_empty() {
            return Ok(String::new());
        }
        if let Some(short) = short_names::own(&place.name) {
            return Ok(short);
        }
        let known = self.cache.with(&place.parent, |index| index.find(&place.name))?;
        Ok(known.map(|known| known.short).unwrap_or_default())
    }

    /// Entries of a directory after the name `after`, in order. Fewer than `most` mark the end.
    pub fn list(
        &self,
        names: &[String],
        after: &str,
        most: usize,
    ) -> io::Result<Vec<(Known, Metadata)>> {
        let directory = self.enter(names)?;
        let (mut after, mut listed) = (after.to_owned(), Vec::new());
        loop {
            let wanted = most - listed.len();
            let page = self.cache.with(&directory, |index| index.list(&after, wanted))?;
            let is_last = page.len() < wanted;
            for known in page {
                str::clone_into(&known.name, &mut after);
                // Entries removed since then are omitted.
                if let Ok(Some(found)) = look(&directory, Path::new(&*known.on_disk)) {
                    listed.push((known, found));
                }
            }
            if is_last || listed.len() == most {
                return Ok(listed);
            }
        }
    }

    /// Move a file or directory to another path.
    ///
    /// # Errors `AlreadyExists` if the path is taken, except by another case of the same name; or as for
    /// [`find`](Self::find).
    pub fn rename(&self, from: &Place, to: &[String]) -> io::Result<()> {
        let target = self.find(to)?;
        let name = match (&target.found, to.last()) {
            (None, _) => &target.on_disk,
            (Some(found), Some(name)) if target.is_place_of(from, found)? => name,
            _ => return Err(ErrorKind::AlreadyExists.into()),
        };
        if target.found.is_some() && *name == from.on_disk {
            return Ok(());
        }
        let old = (&*from.parent, Path::new(&from.on_disk));
        let new = (&*target.parent, Path::new(name));
        match free_name::rename(old, new) {
            // On a file system that ignores case, the file conflicts with itself.
            Err(error)
                if error.kind() == ErrorKind::AlreadyExists
                    && target.found.is_some()
                    && has_one_name_for_both(old, new)? =>
            {
                old.0.rename(old.1, new.0, new.1)
            }
            done => done,
        }
    }

    fn enter(&self, names: &[String]) -> io::Result<Arc<Dir>> {
        let mut directory = Arc::clone(&self.root);
        for name in names {
            let located = self.locate(&directory, name)?;
            let Some((known, _)) = located.filter(|(_, found)| found.is_dir()) else {
                return Err(ErrorKind::NotADirectory.into());
            };
            directory = Arc::new(open_directory(&directory, &known.on_disk)?);
        }
        Ok(directory)
    }

    fn locate(&self, directory: &Dir, name: &str) -> io::Result<Option<(Known, Metadata)>> {
        if is_unseen(name) {
            return Err(ErrorKind::InvalidFilename.into());
        }
        // Most names are exact, so try that before reading the directory.
        if (self.can_be_asked_for)(name)
            && let Some(found) = look(directory, Path::new(name))?
        {
            let (name, short) = (Arc::from(name), String::new());
            return Ok(Some((Known { on_disk: Arc::clone(&name), name, short }, found)));
        }
        let Some(known) = self.cache.with(directory, |index| index.find(name))? else {
            return Ok(None);
        };
        Ok(look(directory, Path::new(&*known.on_disk))?.map(|found| (known, found)))
    }
}

impl Place {
    /// Open the file, or for reading also the directory, and return its metadata.
    ///
    /// # Errors `PermissionDenied` if it was replaced, or a system error.
    pub fn open(&self, options: &OpenOptions) -> io::Result<(File, Metadata)> {
        open_any(&self.parent, Path::new(&self.on_disk), options)
    }

    pub fn remove_file(&self) -> io::Result<()> {
        self.parent.remove_file(&self.on_disk)
    }

    pub fn remove_directory(&self) -> io::Result<()> {
        self.parent.remove_dir(&self.on_disk)
    }

    pub fn make_directory(&self) -> io::Result<()> {
        self.parent.create_dir(&self.on_disk)
    }

    fn is_place_of(&self, other: &Self, found: &Metadata) -> io::Result<bool> {
        let same_name = self.on_disk == other.on_disk;
        let same_file = other.found.as_ref().is_some_and(|other| is_same_file(found, other));
        Ok(same_name
            && same_file
            && is_same_file(&self.parent.dir_metadata()?, &other.parent.dir_metadata()?))
    }
}

fn has_one_name_for_both(old: (&Dir, &Path), new: (&Dir, &Path)) -> io::Result<bool> {
    let (one, other) = (old.0.symlink_metadata(old.1)?, new.0.symlink_metadata(new.1)?);
    Ok(is_same_file(&one, &other) && (one.is_dir() || has_one_name(&one)))
}

fn has_one_name(found: &Metadata) -> bool {
    cap_std::fs::MetadataExt::nlink(found) == 1
}
