//! Scans of a tree, and detection of changes to it.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::output::Output;

fn found_within(copied: &serde_json::Value, is_cancelled: bool) -> Result<Files, Failure> {
    let running = Running::new(1, Output::new(std::io::sink()));
    if is_cancelled {
        running.cancel();
    }
    Files::find(&serde_json::from_value(copied.clone()).unwrap(), &running)
}

fn found(root: &Path) -> Result<Files, Failure> {
    found_within(&json!({"tree": root}), false)
}

fn tree() -> TempDir {
    let root = TempDir::new().unwrap();
    fs::create_dir_all(root.path().join("b/c")).unwrap();
    for (name, text) in [("z", "12345"), ("b/y", "123"), ("b/c/x", ""), ("a", "1")] {
        fs::write(root.path().join(name), text).unwrap();
    }
    root
}

#[test]
fn trees_are_walked_in_a_fixed_order_with_directories() {
    let root = tree();
    let files = found(root.path()).unwrap();
    let entries: Vec<_> =
        files.entries.iter().map(|entry| (entry.path.as_str(), entry.bytes)).collect();
    assert_eq!(entries, [("a", 1), ("b/c/x", 0), ("b/y", 3), ("z", 5)]);
    let directories: Vec<_> = files.directories.iter().map(ServicePath::as_str).collect();
    assert_eq!(directories, ["b", "b/c"]);
    assert_eq!(files.bytes(), 9);
    assert_eq!((files.left_out.symbolic_links, files.left_out.special_files), (0, 0));
    let empty = TempDir::new().unwrap();
    assert_eq!(found(empty.path()).unwrap_err().code, "copy.nothing");
    assert!(found(&root.path().join("none")).is_err());
    let cancelled = found_within(&json!({"tree": root.path()}), true);
    assert_eq!(cancelled.unwrap_err().code, "cancelled");
}

#[test]
fn links_and_special_files_are_skipped_and_counted() {
    let root = tree();
    for name in ["one", "two"] {
        std::os::unix::fs::symlink("a", root.path().join(name)).unwrap();
    }
    let _socket = std::os::unix::net::UnixListener::bind(root.path().join("socket")).unwrap();
    let files = found(root.path()).unwrap();
    assert_eq!((files.left_out.symbolic_links, files.left_out.special_files), (2, 1));
    assert_eq!(files.entries.len(), 4);
}

#[test]
fn different_trees_have_different_digests() {
    let root = tree();
    let first = found(root.path()).unwrap();
    let digest = first.digest();
    assert_eq!((digest.len(), found(root.path()).unwrap().digest()), (16, digest.clone()));
    assert_eq!(first.check_same(Some(&digest)), Ok(()));
    assert_eq!(first.check_same(None), Ok(()));
    let mut digests = vec![digest];
    fs::create_dir(root.path().join("new")).unwrap();
    digests.push(found(root.path()).unwrap().digest());
    fs::write(root.path().join("new/file"), "").unwrap();
    digests.push(found(root.path()).unwrap().digest());
    fs::write(root.path().join("new/file"), "1").unwrap();
    let last = found(root.path()).unwrap();
    assert!(
        !digests.contains(&last.digest()) && digests[0] != digests[1] && digests[1] != digests[2]
    );
    assert_eq!(last.check_same(Some(&digests[0])).unwrap_err().code, "copy.changed");
}

#[test]
fn changed_files_are_detected_by_their_metadata() {
    let root = tree();
    let files = found(root.path()).unwrap();
    let (path, before) = (root.path().join("z"), fs::metadata(root.path().join("z")).unwrap());
    let set_time = |at| File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
    let modified = before.modified().unwrap();
    let check = || files.check_unchanged().map_err(|failure| failure.code);
    assert_eq!(check(), Ok(()));
    // Same length at another time; longer at the same time; and restored.
    set_time(modified + std::time::Duration::from_secs(1));
    assert_eq!(check(), Err("copy.changed"));
    fs::write(&path, "123456").unwrap();
    set_time(modified);
    assert_eq!(check(), Err("copy.changed"));
    fs::write(&path, "54321").unwrap();
    set_time(modified);
    assert_eq!(check(), Ok(()));
    fs::remove_file(&path).unwrap();
    assert_eq!(check(), Err("copy.changed"));
    fs::create_dir(&path).unwrap();
    assert_eq!(check(), Err("copy.changed"));
}

#[test]
fn a_changed_dataset_is_an_error() {
    let groups = json!([{"count": 2, "least_bytes": 9, "most_bytes": 9}]);
    let files = found_within(&json!({"dataset": {"seed": 5, "groups": groups}}), false).unwrap();
    assert_eq!((files.bytes(), files.directories.len()), (18, 0));
    assert_eq!(files.check_same(Some("another")), Ok(()));
    assert_eq!(files.check_unchanged(), Ok(()));
}

#[test]
fn file_bytes_are_compared_at_their_offset() {
    let root = tree();
    let files = found(root.path()).unwrap();
    let truth = files.truth(3).unwrap();
    let mut octets = [0; 3];
    truth.fill(1, &mut octets).unwrap();
    assert_eq!(&octets, b"234");
    let difference = |offset, data: &[u8]| {
        let mut scratch = Vec::new();
        truth.first_difference(offset, data, &mut scratch).map_err(|failure| failure.code)
    };
    assert_eq!(difference(2, b"345"), Ok(None));
    assert_eq!(difference(2, b"34x"), Ok(Some(4)));
    assert_eq!(difference(2, b"x45"), Ok(Some(2)));
    // The file has no more bytes.
    assert_eq!(difference(3, b"456"), Err("copy.changed"));
    fs::remove_file(root.path().join("z")).unwrap();
    assert_eq!(files.truth(3).unwrap_err().code, "copy.changed");
}

#[test]
fn name_lists_are_bounded() {
    assert!(check_count([MOST_FILES - 5, 2, 3]).is_ok());
    assert!(check_count([0, 0, MOST_FILES]).is_ok());
    for names in [[MOST_FILES - 4, 2, 3], [1, 0, MOST_FILES], [2, MOST_FILES, MOST_FILES]] {
        assert_eq!(check_count(names).unwrap_err().code, "copy.too_many");
    }
}

#[test]
fn a_read_in_pieces_continues() {
    // At most three bytes per read, from the tenth byte on: three reads.
    let mut buffer = [0; 8];
    let read = |part: &mut [u8], from: u64| {
        let got = part.len().min(3);
        (0..got).for_each(|place| part[place] = from as u8 + place as u8);
        Ok(got)
    };
    read_whole(Path::new("f"), 10, &mut buffer, read).unwrap();
    assert_eq!(buffer, [10, 11, 12, 13, 14, 15, 16, 17]);
    let ended = read_whole(Path::new("f"), 0, &mut buffer, |_, _| Ok(0)).unwrap_err();
    assert_eq!(ended.code, "copy.changed");
}
