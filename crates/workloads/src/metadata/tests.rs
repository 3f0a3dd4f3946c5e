//! Operations on names at a scripted service in virtual time: counted, timed, and compared.

use std::cell::RefCell;
use std::collections::BTreeMap;

use lanlab_files::{
    Access, Class, Entry, Facts, Fault, Result, ServicePath, Session, TransferCapabilities,
};
use lanlab_units::Clock;

use super::*;
use crate::copy::CopyError;
use crate::messages::MetadataSpec;
use crate::virtual_time::VirtualTime;
use crate::{Guard, Progress};

const CALL_NS: u64 = 1_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    None,
    LosesAName,
    KeepsAName,
    CannotRename,
    HasNoDirectories,
    ListsWhatIsMissing,
    KeepsTheTop,
}

struct Names {
    clock: VirtualTime,
    lie: Lie,
    /// Whether each name is a directory.
    names: RefCell<BTreeMap<String, bool>>,
}

impl Names {
    async fn answer(&self) {
        self.clock.wait_until(self.clock.now().plus_nanos(CALL_NS), || false).await;
    }

    fn take(&self, path: &ServicePath) -> Result<bool> {
        let missing = || Fault::new(Class::Missing, format!("{path}: none"));
        let is_kept = match self.lie {
            Lie::KeepsAName => path.name() == "r1",
            Lie::KeepsTheTop => path.name() == "c3",
            _ => false,
        };
        if is_kept {
            return Ok(false);
        }
        self.names.borrow_mut().remove(path.as_str()).ok_or_else(missing)
    }

    fn put(&self, path: &ServicePath, is_directory: bool) {
        self.names.borrow_mut().insert(path.as_str().to_owned(), is_directory);
    }
}

impl Session for &Names {
    type File = ServicePath;

    fn capabilities(&self) -> TransferCapabilities {
        TransferCapabilities::stream(1, true)
    }

    fn facts(&self) -> Facts {
        Facts::new("scripted", "none", None)
    }

    fn has_directories(&self) -> bool {
        self.lie != Lie::HasNoDirectories
    }

    async fn open(&self, path: &ServicePath, access: Access) -> Result<ServicePath> {
        self.answer().await;
        let is_lost = self.lie == Lie::LosesAName && path.name() == "f1";
        if access != Access::Read && !is_lost {
            self.put(path, false);
        }
        Ok(path.clone())
    }

    async fn read_at(&self, _: &ServicePath, _: u64, _: &mut [u8]) -> Result<usize> {
        Ok(0)
    }

    async fn write_at(&self, _: &ServicePath, _: u64, _: &[u8]) -> Result<()> {
        Ok(())
    }

    async fn sync(&self, _: &ServicePath) -> Result<()> {
        Ok(())
    }

    async fn close(&self, _: ServicePath) -> Result<()> {
        self.answer().await;
        Ok(())
    }

    async fn remove(&self, path: &ServicePath) -> Result<()> {
        self.answer().await;
        self.take(path).map(drop)
    }

    async fn list(&self, path: Option<&ServicePath>) -> Result<Vec<Entry>> {
        self.answer().await;
        let path = path.unwrap();
        let lists_all = matches!(self.lie, Lie::ListsWhatIsMissing | Lie::KeepsTheTop);
        let lists_all = lists_all || !self.has_directories();
        if !lists_all && self.names.borrow().get(path.as_str()) != Some(&true) {
            return Err(Fault::new(Class::Missing, format!("{path}: none")));
        }
        let above = format!("{path}/");
        let entry = |(name, is_directory): (&String, &bool)| {
            let name = name.strip_prefix(&above)?.to_uppercase();
            let is_below = name.contains('/');
            (!is_below).then_some(Entry { name, size_bytes: 0, is_directory: *is_directory })
        };
        Ok(self.names.borrow().iter().filter_map(entry).collect())
    }

    async fn make_directory(&self, path: &ServicePath) -> Result<()> {
        self.answer().await;
        self.put(path, true);
        Ok(())
    }

    async fn remove_directory(&self, path: &ServicePath) -> Result<()> {
        self.answer().await;
        self.take(path).map(drop)
    }

    async fn stat(&self, path: &ServicePath) -> Result<Entry> {
        self.answer().await;
        let (name, size_bytes) = (path.name().to_owned(), 0);
        Ok(Entry { name, size_bytes, is_directory: false })
    }

    async fn rename(&self, from: &ServicePath, to: &ServicePath) -> Result<()> {
        if self.lie == Lie::CannotRename {
            return Err(Fault::new(Class::Unsupported, "scripted has no such operation"));
        }
        self.answer().await;
        self.take(from)?;
        self.put(to, false);
        Ok(())
    }

    async fn end(self) -> Result<()> {
        Ok(())
    }
}

fn spec(files: u32, width: u16, depth: u16) -> MetadataSpec {
    let text = format!(
        r#"{{"service": {{"service": "memory"}}, "working_name": "w", "token": "", "clients": 1,
        "files": {files}, "width": {width}, "depth": {depth}, "longest_ns": 1000000000}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// Per operation: its count, the total time, and why none was timed.
type Phases = Vec<(u64, u64, Option<String>)>;

fn run(lie: Lie) -> std::result::Result<(Phases, u64, usize), CopyError> {
    let clock = VirtualTime::new();
    let own = clock.clone();
    let work = async move {
        let names = Names { clock: own.clone(), lie, names: RefCell::default() };
        let tree = Tree::new(&spec(6, 2, 1), 3).unwrap();
        let progress = Progress::default();
        let guard = Guard::new(own, &progress);
        let (mut phases, mut compared, mut is_renamed) = (Vec::new(), 0, false);
        for operation in OPERATIONS {
            let done = perform(&&names, &tree, (operation, is_renamed), &guard).await?;
            is_renamed |= operation == Operation::Rename && done.not_measured.is_none();
            if let Some(stage) = operation.leaves(is_renamed) {
                compared += verify(&&names, &tree, stage, &guard).await?;
            }
            let elapsed_ns = done.ended.nanos_since(done.began);
            phases.push((done.times.samples(), elapsed_ns / CALL_NS, done.not_measured));
        }
        let left = names.names.borrow().len();
        Ok((phases, compared, left))
    };
    clock.run(work).unwrap_or_else(|_| panic!("it waits for nothing"))
}

fn code(lie: Lie) -> String {
    run(lie).expect_err("it found nothing wrong").into_failure().message
}

#[test]
fn each_operation_is_counted_and_timed_without_the_comparisons_between_them() {
    let (phases, compared, left) = run(Lie::None).ok().unwrap();
    // Two calls open and close a file; the tree has a top and two directories.
    let expected = [(3, 3), (6, 12), (6, 6), (3, 3), (6, 12), (6, 6), (6, 6), (3, 3)];
    let found: Vec<_> = phases.iter().map(|(count, ms, _)| (*count, *ms)).collect();
    assert_eq!((found, left), (expected.to_vec(), 0));
    // Twice six files and an empty top, three empty directories, and the top that is gone.
    assert_eq!(compared, 2 * (6 + 1) + 3 + 1);
}

#[test]
fn a_name_that_the_server_lost_or_kept_is_found() {
    assert_eq!(code(Lie::LosesAName), "`w/files/c3/d0/f1` was created and is not listed");
    assert_eq!(code(Lie::KeepsAName), "`w/files/c3/d0/R1` is listed and must not be there");
    assert_eq!(code(Lie::KeepsTheTop), "`w/files/c3` was removed and is still listed");
    assert!(run(Lie::ListsWhatIsMissing).is_ok(), "an empty listing of a missing directory");
}

#[test]
fn an_operation_the_service_lacks_is_named_and_the_others_continue() {
    let lacking = |lie| -> Vec<_> {
        let (phases, _, left) = run(lie).ok().unwrap();
        assert_eq!(left, 0);
        phases
            .iter()
            .zip(OPERATIONS)
            .filter_map(|(one, operation)| Some((operation.name(), one.2.clone()?)))
            .collect()
    };
    let message = "scripted has no such operation".to_owned();
    assert_eq!(lacking(Lie::CannotRename), [("rename", message)]);
    let message = "the service has no directories".to_owned();
    let found = [("make_directory", message.clone()), ("remove_directory", message)];
    assert_eq!(lacking(Lie::HasNoDirectories), found);
}

#[test]
fn files_are_spread_over_the_lowest_directories() {
    assert_eq!(directory_count(10, 3), Some(1_111));
    let tree = Tree::new(&spec(5, 2, 2), 0).unwrap();
    assert_eq!(tree.directories().len() as u64, directory_count(2, 2).unwrap());
    let files: Vec<_> = (0..5).map(|number| tree.file(number, false).unwrap()).collect();
    let parents: Vec<_> = files.iter().map(|file| file.parent().unwrap()).collect();
    let places = ["d0/d0", "d0/d0", "d0/d1", "d1/d0", "d1/d1"];
    let expected: Vec<_> = places.iter().map(|place| format!("w/files/c0/{place}")).collect();
    assert_eq!(parents.iter().map(ServicePath::as_str).collect::<Vec<_>>(), expected);
    assert_eq!(Tree::new(&spec(5, 2, 0), 0).unwrap().file(4, true).unwrap().name(), "r4");
}
