//! Open files of all sessions: who opened them and how, their locks, and which are removed at the last close.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::locks::Locks;
use super::sharing::Sharing;
use super::waiting::Queue;
use crate::files::Names;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenRefusal {
    IsDoomed,
    IsShared,
}

#[derive(Debug, Default)]
pub struct OpenFiles {
    files: Mutex<BTreeMap<u64, Arc<Mutex<OpenFile>>>>,
    next: AtomicU64,
}

#[derive(Debug, Default)]
pub struct OpenFile {
    opens: Vec<OneOpen>,
    pub locks: Locks,
    pub queue: Queue,
    pub is_doomed: bool,
}

#[derive(Debug)]
struct OneOpen {
    number: u64,
    sharing: Sharing,
    path: Names,
}

#[derive(Debug)]
pub struct Opened {
    all: Arc<OpenFiles>,
    pub file_number: u64,
    pub number: u64,
    file: Arc<Mutex<OpenFile>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OpenFiles {
    pub fn next_number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub fn len(&self) -> usize {
        locked(&self.files).values().map(|file| locked(file).opens.len()).sum()
    }

    /// Open a file that others may have open. Refused if its other opens do not permit this use, or if it is about
    /// to be removed.
    pub fn open(
        self: &Arc<Self>,
        file_number: u64,
        sharing: Sharing,
        path: Names,
    ) -> Result<Opened, OpenRefusal> {
        let mut files = locked(&self.files);
        // The first open of a file is never refused, so a refusal leaves no unused entry.
        let file = Arc::clone(files.entry(file_number).or_default());
        let number = self.next_number();
        {
            let mut found = locked(&file);
            found.lets(sharing)?;
            found.opens.push(OneOpen { number, sharing, path });
        }
        Ok(Opened { all: Arc::clone(self), file_number, number, file })
    }

    pub fn lets(&self, file_number: u64, sharing: Sharing) -> Result<(), OpenRefusal> {
        let files = locked(&self.files);
        files.get(&file_number).map_or(Ok(()), |file| locked(file).lets(sharing))
    }

    pub fn is_doomed(&self, file_number: u64) -> bool {
        locked(&self.files).get(&file_number).is_some_and(|file| locked(file).is_doomed)
    }

    /// The first `names` names of the path of each open file that is deeper, without duplicates.
    pub fn above_open_files(&self, names: usize) -> BTreeSet<Names> {
        let files = locked(&self.files);
        let paths = files.values().flat_map(|file| {
            let opens = &locked(file).opens;
            let deeper = opens.iter().filter(|open| open.path.len() > names);
            deeper.map(|open| open.path[..names].to_vec()).collect::<Vec<_>>()
        });
        paths.collect()
    }

    /// Record the new path of a file. Opens through another hard link keep their path.
    pub fn renamed(&self, file_number: u64, from: &Names, to: &Names) {
        let files = locked(&self.files);
        let Some(file) = files.get(&file_number) else { return };
        for open in &mut locked(file).opens {
            let same =
                |(one, other): (&String, &String)| one.to_lowercase() == other.to_lowercase();
            if open.path.len() == from.len() && open.path.iter().zip(from).all(same) {
                open.path.clone_from(to);
            }
        }
    }
}

impl OpenFile {
    fn lets(&self, sharing: Sharing) -> Result<(), OpenRefusal> {
        if self.is_doomed {
            return Err(OpenRefusal::IsDoomed);
        }
        let goes = self.opens.iter().all(|other| sharing.goes_with(other.sharing));
        if goes { Ok(()) } else { Err(OpenRefusal::IsShared) }
    }

    pub fn grant(&mut self) {
        self.queue.grant(&mut self.locks);
    }
}

impl Opened {
    pub fn file(&self) -> MutexGuard<'_, OpenFile> {
        locked(&self.file)
    }

    pub fn is_last(&self) -> bool {
        self.file().opens.len() == 1
    }

    pub fn path(&self) -> Names {
        let file = self.file();
        let own = file.opens.iter().find(|open| open.number == self.number);
        own.map_or_else(Names::new, |open| open.path.clone())
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let mut files = locked(&self.all.files);
        let mut file = locked(&self.file);
        file.opens.retain(|open| open.number != self.number);
        file.locks.close(self.number);
        file.queue.give_up(|_, wanted| wanted.iter().any(|one| one.owner.open == self.number));
        file.grant();
        if file.opens.is_empty() {
            files.remove(&self.file_number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_forgotten_once_all_have_closed_it() {
        let all = Arc::new(OpenFiles::default());
        let path = || vec!["a".to_owned()];
        let deny_write = Sharing::from_dos(0x20).unwrap();
        let one = all.open(7, deny_write, path()).unwrap();
        let other = all.open(7, deny_write, path()).unwrap();
        assert!(all.open(7, Sharing::from_dos(0x42).unwrap(), path()).is_err(), "it would write");
        assert_eq!(all.lets(7, Sharing::RENAME), Err(OpenRefusal::IsShared));
        assert_eq!(all.lets(8, Sharing::REMOVE), Ok(()));
        assert!(!one.is_last());
        drop(one);
        assert!(other.is_last());
        other.file().is_doomed = true;
        assert!(all.open(7, deny_write, path()).is_err(), "it is about to be removed");
        drop(other);
        assert_eq!(all.len(), 0);
        assert!(locked(&all.files).is_empty());
    }

    #[test]
    fn an_open_file_follows_its_renames() {
        let all = Arc::new(OpenFiles::default());
        let path = |text: &str| text.split('/').map(str::to_owned).collect::<Names>();
        let share = Sharing::from_dos(0x42).unwrap();
        let file = all.open(7, share, path("D/Old")).unwrap();
        let link = all.open(7, share, path("D/Link")).unwrap();
        all.renamed(7, &path("d/OLD"), &path("E/new"));
        assert_eq!((file.path(), link.path()), (path("E/new"), path("D/Link")));
        assert_eq!(all.above_open_files(1), BTreeSet::from([path("D"), path("E")]));
        assert_eq!(all.above_open_files(2), BTreeSet::new());
    }
}
