//! A download's files on this host: storing, comparing and removing.

use std::fs;

use lanlab_workloads::copy::Sink as _;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::messages::CopiedFiles;
use crate::output::Output;

fn running() -> Running {
    Running::new(1, Output::new(std::io::sink()))
}

fn path(text: &str) -> ServicePath {
    ServicePath::new(text).unwrap()
}

/// Two files of a dataset, longer than two blocks of 4096 octets.
fn dataset() -> Files {
    let groups = json!([{"count": 2, "least_bytes": 9_000, "most_bytes": 9_000}]);
    let copied = json!({"dataset": {"seed": 5, "groups": groups}});
    let copied: CopiedFiles = serde_json::from_value(copied).unwrap();
    Files::find(&copied, &running()).unwrap()
}

fn octets(files: &Files, number: usize) -> Vec<u8> {
    let mut octets = vec![0; 9_000];
    files.truth(number).unwrap().fill(0, &mut octets).unwrap();
    octets
}

/// A trial's place in a directory, without subdirectories.
fn place(root: &Path) -> Place {
    let place = Place::new(root, path("lanlab-1")).unwrap();
    place.make(&dataset()).unwrap();
    place
}

fn written(files: &[&str], directories: &[&str]) -> Written {
    let paths = |names: &[&str]| names.iter().map(|name| path(name)).collect();
    Written { files: paths(files), directories: paths(directories) }
}

#[test]
fn a_file_is_compared_block_by_block_to_its_end() {
    let root = TempDir::new().unwrap();
    let (place, files) = (place(root.path()), dataset());
    let entry = &files.entries[1];
    let target = root.path().join("lanlab-1").join(entry.path.as_str());
    let compare = || {
        let mut buffers = (vec![0; 4_096], Vec::new());
        place.compare(entry, &files.truth(1).unwrap(), &mut buffers, &running())
    };
    let right = octets(&files, 1);
    fs::write(&target, &right).unwrap();
    assert_eq!(compare(), Ok(9_000));
    for octet in [0, 4_095, 4_096, 8_999] {
        let mut wrong = right.clone();
        wrong[octet] ^= 1;
        fs::write(&target, wrong).unwrap();
        let message = compare().unwrap_err().message;
        assert!(message.contains(&format!("differs from octet {octet} on")), "{message}");
    }
    let longer = [&right[..], &[0]].concat();
    for wrong in [&right[..8_999], &longer] {
        fs::write(&target, wrong).unwrap();
        let message = compare().unwrap_err().message;
        let said = format!("the copy has {} octets; the file has 9000", wrong.len());
        assert!(message.contains(&said), "{message}");
        assert!(place.compare_size(entry).is_err());
    }
    fs::write(&target, &right).unwrap();
    assert_eq!(place.compare_size(entry), Ok(()));
    let cancelled = running();
    cancelled.cancel();
    let mut buffers = (vec![0; 4_096], Vec::new());
    let truth = files.truth(1).unwrap();
    let ended = place.compare(entry, &truth, &mut buffers, &cancelled);
    assert_eq!(ended.unwrap_err().code, "cancelled");
    fs::remove_file(&target).unwrap();
    assert!(place.compare_size(entry).is_err());
}

#[test]
fn hashes_do_not_depend_on_block_order() {
    let files = dataset();
    let right = octets(&files, 0);
    let hashes = |octets: &[u8]| {
        let sink = Sink::hashes(octets.len() as u64, 4_096);
        for (number, block) in octets.chunks(4_096).enumerate().rev() {
            sink.take(number as u64 * 4_096, block).unwrap();
        }
        sink.close(CopySync::None).unwrap().unwrap()
    };
    let compare = |hashes: &[u64], running: &Running| {
        let (entry, truth) = (&files.entries[0], files.truth(0).unwrap());
        compare_hashes(entry, &truth, hashes, &mut vec![0; 4_096], running)
    };
    assert_eq!(hashes(&right).len(), 3);
    assert_eq!(compare(&hashes(&right), &running()), Ok(9_000));
    let mut wrong = right.clone();
    wrong[8_999] ^= 1;
    let message = compare(&hashes(&wrong), &running()).unwrap_err().message;
    assert!(message.contains("within the 808 octets from 8192 on"), "{message}");
    let message = compare(&hashes(&right)[..2], &running()).unwrap_err().message;
    assert!(message.contains("has 8192 octets; the file has 9000"), "{message}");
    let cancelled = running();
    cancelled.cancel();
    assert_eq!(compare(&hashes(&right), &cancelled).unwrap_err().code, "cancelled");
}

#[test]
fn file_bytes_are_written_at_their_offset() {
    let root = TempDir::new().unwrap();
    let (place, files) = (place(root.path()), dataset());
    let entry = &files.entries[0];
    let target = root.path().join("lanlab-1").join(entry.path.as_str());
    for (sync, is_again) in [(CopySync::None, false), (CopySync::File, true)] {
        let sink = place.create(entry, is_again).unwrap();
        sink.take(3, b"def").unwrap();
        sink.take(0, b"abc").unwrap();
        assert_eq!(sink.close(sync).unwrap(), None);
        assert_eq!(fs::read(&target).unwrap(), b"abcdef");
    }
    // Foreign files are not overwritten.
    assert!(place.create(entry, false).is_err());
    let compare = Sink::compare(files.truth(0).unwrap(), "name".to_owned());
    let right = octets(&files, 0);
    compare.take(100, &right[100..200]).unwrap();
    let message = compare.take(101, &right[100..200]).unwrap_err().message;
    assert!(message.starts_with("`name`: the copy differs from octet 10"), "{message}");
    assert_eq!(compare.close(CopySync::File).unwrap(), None);
}

#[test]
fn own_files_are_removed_and_others_are_reported() {
    let root = TempDir::new().unwrap();
    let place = place(root.path());
    let working = root.path().join("lanlab-1");
    let all = written(&["a", "d/b", "gone"], &["d", "d/e"]);
    let fill = || {
        fs::create_dir_all(working.join("d/e")).unwrap();
        fs::write(working.join("a"), "a").unwrap();
        fs::write(working.join("d/b"), "b").unwrap();
    };
    fill();
    assert_eq!(place.remove(&all), Ok(vec![]));
    assert!(!working.exists());
    assert_eq!(place.remove(&all), Ok(vec![]));
    fill();
    fs::write(working.join("d/his"), "his").unwrap();
    let left = place.remove(&all).unwrap();
    let names: Vec<_> = left.iter().map(|path| path.strip_prefix(root.path()).unwrap()).collect();
    assert_eq!(names, [Path::new("lanlab-1/d"), Path::new("lanlab-1")]);
    assert_eq!(fs::read(working.join("d/his")).unwrap(), b"his");
    assert!(!working.join("a").exists() && !working.join("d/b").exists());
}

#[test]
fn a_directory_in_place_of_a_file_is_an_error() {
    let root = TempDir::new().unwrap();
    let place = place(root.path());
    fs::create_dir(root.path().join("lanlab-1/a")).unwrap();
    assert!(place.remove(&written(&["a"], &[])).is_err());
    assert!(place.remove_file(&path("lanlab-1/none")).is_ok());
}

#[test]
fn the_target_of_a_link_is_kept() {
    let (root, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let place = place(root.path());
    fs::write(other.path().join("b"), "precious").unwrap();
    std::os::unix::fs::symlink(other.path(), root.path().join("lanlab-1/d")).unwrap();
    assert!(!place.is_reached(&path("lanlab-1/d/b")));
    assert!(place.is_reached(&path("lanlab-1")) && place.is_reached(&path("lanlab-1/none")));
    let _ = place.remove(&written(&["d/b"], &["d"]));
    assert_eq!(fs::read(other.path().join("b")).unwrap(), b"precious");
}

#[test]
fn an_existing_trial_directory_is_refused() {
    let root = TempDir::new().unwrap();
    let place = place(root.path());
    assert!(root.path().join("lanlab-1").is_dir());
    assert!(place.make(&dataset()).is_err());
    assert!(Place::new(&root.path().join("none"), path("lanlab-1")).is_err());
}

/// The null device cannot be synced (fsync(2): EINVAL).
#[test]
fn files_are_synced_on_request() {
    let close = |sync| {
        let path = PathBuf::from("/dev/null");
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        Sink::File { file, path }.close(sync)
    };
    assert_eq!(close(CopySync::None), Ok(None));
    let failure = close(CopySync::File).unwrap_err();
    assert!(failure.message.contains("close"), "{}", failure.message);
}
