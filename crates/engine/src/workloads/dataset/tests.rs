//! Datasets larger than one write, obstacles in their place, and dropped caches.

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::output::Output;

/// More than two blocks, exactly one block, and empty.
const SIZES: [u64; 3] = [(5 << 20) / 2 + 7, 1 << 20, 0];

fn running() -> Running {
    Running::new(1, Output::new(io::sink()))
}

fn request(directory: &Path) -> Dataset {
    let groups: Vec<_> = SIZES
        .iter()
        .map(|bytes| json!({"count": 1, "least_bytes": bytes, "most_bytes": bytes}))
        .collect();
    let spec = json!({"seed": 3, "groups": groups, "compressible_ratio": 0.5});
    serde_json::from_value(json!({"spec": spec, "place": {"directory": directory}})).unwrap()
}

fn made(directory: &Path) -> DatasetMade {
    let request = request(directory);
    make_all(&request, &sizes(&request.spec).unwrap(), &running()).unwrap()
}

#[test]
fn files_longer_than_a_block_are_made_and_verified() {
    let directory = TempDir::new().unwrap();
    let first = made(directory.path());
    let total = SIZES.iter().sum::<u64>();
    assert_eq!((first.files, first.bytes, first.written_files), (3, total, 3));
    let request = request(directory.path());
    let (mut all, mut buffer) = (Vec::new(), vec![0; BLOCK_BYTES]);
    for (number, &size) in (0_u64..).zip(&sizes(&request.spec).unwrap()) {
        let path = directory.path().join(file_name(number));
        let octets = fs::read(&path).unwrap();
        assert_eq!(octets.len() as u64, size);
        assert_eq!(content(&request.spec, number).first_difference(0, &octets), None);
        let content = content(&request.spec, number);
        assert!(is_right(&path, content, size, &mut buffer, &running()).unwrap());
        all.extend(octets);
    }
    assert_eq!(first.xxh3, format!("{:016x}", XxHash3_64::oneshot(&all)));
    let again = made(directory.path());
    assert_eq!((again.written_files, &again.xxh3), (0, &first.xxh3));
}

#[test]
fn a_wrong_byte_in_the_last_block_is_found() {
    let directory = TempDir::new().unwrap();
    made(directory.path());
    let longest = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .max_by_key(|path| fs::metadata(path).unwrap().len())
        .unwrap();
    let mut octets = fs::read(&longest).unwrap();
    *octets.last_mut().unwrap() ^= 1;
    fs::write(&longest, &octets).unwrap();
    assert_eq!(made(directory.path()).written_files, 1);
    octets.pop();
    fs::write(&longest, &octets).unwrap();
    assert_eq!(made(directory.path()).written_files, 1);
    fs::remove_file(&longest).unwrap();
    assert_eq!(made(directory.path()).written_files, 1);
    fs::remove_file(&longest).unwrap();
    fs::create_dir(&longest).unwrap();
    let request = request(directory.path());
    let error = make_all(&request, &sizes(&request.spec).unwrap(), &running()).unwrap_err();
    assert_eq!(error.code, "dataset.in_the_way");
}

#[test]
fn a_cancelled_dataset_is_not_made() {
    let directory = TempDir::new().unwrap();
    let (request, running) = (request(directory.path()), running());
    running.cancel();
    let error = make_all(&request, &sizes(&request.spec).unwrap(), &running).unwrap_err();
    assert_eq!(error.code, "cancelled");
    fs::write(directory.path().join("file"), "x").unwrap();
    let mut left = 1;
    let error = forget(directory.path(), 1, &mut left, &running).unwrap_err();
    assert_eq!(error.code, "cancelled");
}

#[test]
fn a_dataset_needs_three_blocks_and_a_number_per_file() {
    let directory = TempDir::new().unwrap();
    let task = make(request(directory.path())).ok().unwrap();
    assert_eq!(task.cost.memory_bytes, 3 * (1 << 20) + 8 * 3);
    assert_eq!(task.cost.threads, OWN_THREADS);
}

fn forget_at(directory: &Path, depth: usize, most: usize) -> Result<usize, Failure> {
    let mut left = most;
    forget(directory, depth, &mut left, &running()).map(|()| left)
}

#[test]
fn cache_eviction_is_bounded_in_depth_and_files() {
    let root = TempDir::new().unwrap();
    let deep = root.path().join("a/b");
    fs::create_dir_all(&deep).unwrap();
    for place in [root.path(), &root.path().join("a"), &deep] {
        fs::write(place.join("file"), "x").unwrap();
    }
    let left = |depth, most| forget_at(root.path(), depth, most).map_err(|error| error.code);
    assert_eq!([left(0, 9), left(1, 9), left(2, 9), left(9, 9)], [Ok(8), Ok(7), Ok(6), Ok(6)]);
    assert_eq!([left(9, 3), left(9, 2)], [Ok(0), Err("system.file")]);
    let missing = root.path().join("missing");
    assert!(forget_at(&missing, 1, 1).is_err());
}

#[test]
fn only_missing_or_mis_sized_files_are_made_again() {
    let directory = TempDir::new().unwrap();
    let request = request(directory.path());
    let content = content(&request.spec, 1);
    let mut buffer = vec![0; BLOCK_BYTES];
    let path = directory.path().join("file");
    let mut is = |path: &Path, size| is_right(path, content, size, &mut buffer, &running());
    assert!(!is(&path, 3).unwrap());
    // Correct, but too long.
    let mut data = vec![0; 8];
    content.fill(0, &mut data);
    fs::write(&path, &data).unwrap();
    assert!(is(&path, 8).unwrap());
    assert!(!is(&path, 7).unwrap());
    assert!(!is(&path, 9).unwrap());
    // A file is where its directory should be.
    assert_eq!(is(&path.join("below"), 3).unwrap_err().code, "system.file");
}

#[test]
fn forgotten_files_are_reported_with_refused_ones() {
    let refused = || Err(io::ErrorKind::PermissionDenied.into());
    let failure = || Err(Failure::new("system.file", "no such directory"));
    let cancelled = running();
    cancelled.cancel();
    let all = forgotten(Ok(()), failure, &running()).unwrap();
    assert_eq!((all.of, all.reason), (DroppedOf::Everything, None));
    let files = forgotten(refused(), || Ok(()), &cancelled).unwrap();
    let reason = "/proc/sys/vm/drop_caches: permission denied";
    assert_eq!((files.of, files.reason.as_deref()), (DroppedOf::Files, Some(reason)));
    let nothing = forgotten(refused(), failure, &running()).unwrap();
    let reason = format!("{reason}; no such directory");
    assert_eq!((nothing.of, nothing.reason), (DroppedOf::Nothing, Some(reason)));
    assert_eq!(forgotten(refused(), failure, &cancelled).unwrap_err().code, "system.file");
}
