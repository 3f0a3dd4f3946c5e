use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use cap_std::ambient_authority;

use super::*;

fn opened(path: &Path) -> Dir {
    Dir::open_ambient_dir(path, ambient_authority()).unwrap()
}

fn caches() -> [Cache; 2] {
    [Cache::new(|_| true), Cache { watch: None, ..Cache::new(|_| true) }]
}

fn names(cache: &Cache, directory: &Dir) -> Vec<String> {
    let listed = cache.with(directory, |index| index.list("", usize::MAX)).unwrap();
    listed.into_iter().map(|known| known.name.to_string()).collect()
}

#[test]
fn changes_by_other_programs_are_seen_at_once() {
    for cache in caches() {
        let root = tempfile::tempdir().unwrap();
        let (directory, at) = (opened(root.path()), |name: &str| root.path().join(name));
        assert_eq!(names(&cache, &directory), [""; 0]);
        // Changes are far more frequent than the ticks of file system clocks.
        for round in 0..300 {
            fs::write(at("b"), "").unwrap();
            assert_eq!(names(&cache, &directory), ["b"], "round {round}");
            fs::rename(at("b"), at("a")).unwrap();
            assert_eq!(names(&cache, &directory), ["a"], "round {round}");
            fs::create_dir(at("c")).unwrap();
            assert_eq!(names(&cache, &directory), ["a", "c"], "round {round}");
            // A link, which is not served, replaces a file.
            std::os::unix::fs::symlink("x", at("l")).unwrap();
            fs::rename(at("l"), at("a")).unwrap();
            assert_eq!(names(&cache, &directory), ["c"], "round {round}");
            fs::remove_dir(at("c")).unwrap();
            fs::remove_file(at("a")).unwrap();
            assert_eq!(names(&cache, &directory), [""; 0], "round {round}");
        }
    }
}

#[test]
fn changes_beyond_the_event_queue_are_seen() {
    for cache in caches() {
        let root = tempfile::tempdir().unwrap();
        let (directory, at) = (opened(root.path()), |name: &str| root.path().join(name));
        fs::write(at("a"), "").unwrap();
        fs::write(at("stays"), "").unwrap();
        assert_eq!(names(&cache, &directory), ["a", "stays"]);
        for _ in 0..5000 {
            fs::rename(at("a"), at("b")).unwrap();
            fs::rename(at("b"), at("a")).unwrap();
        }
        fs::rename(at("a"), at("c")).unwrap();
        assert_eq!(names(&cache, &directory), ["c", "stays"]);
        fs::rename(at("c"), at("d")).unwrap();
        assert_eq!(names(&cache, &directory), ["d", "stays"]);
    }
}

#[test]
fn cached_directories_follow_moves_and_removal() {
    for cache in caches() {
        let root = tempfile::tempdir().unwrap();
        for round in 0..20 {
            // A new directory often gets the inode number of a removed one.
            let (old, new) = (root.path().join("old"), root.path().join("new"));
            fs::create_dir(&old).unwrap();
            fs::write(old.join(format!("{round}")), "").unwrap();
            let directory = opened(&old);
            assert_eq!(names(&cache, &directory), [format!("{round}")]);
            fs::rename(&old, &new).unwrap();
            fs::write(new.join("x"), "").unwrap();
            assert_eq!(names(&cache, &directory), [format!("{round}"), "x".to_owned()]);
            drop(directory);
            fs::remove_dir_all(new).unwrap();
        }
    }
}

#[test]
fn the_cache_is_bounded_in_names_and_directories() {
    let cache =
        Cache { max_names: 100, max_listed: 100, max_directories: 5, ..Cache::new(|_| true) };
    let root = tempfile::tempdir().unwrap();
    let counts = [3, 30, 60, 98, 50, 1, 0, 2, 90, 4, 100, 99, 7];
    for (number, count) in counts.into_iter().enumerate() {
        let path = root.path().join(number.to_string());
        fs::create_dir(&path).unwrap();
        for name in 0..count {
            fs::write(path.join(format!("{name:04}")), "").unwrap();
        }
    }
    for round in 0..3 {
        for (number, count) in counts.into_iter().enumerate() {
            let directory = opened(&root.path().join(number.to_string()));
            assert_eq!(names(&cache, &directory).len(), count, "round {round}");
            let places = locked(&cache.places);
            let kept: usize = places.slots.values().map(|slot| slot.count).sum();
            assert_eq!(places.names, kept);
            assert!(kept <= 100 && places.slots.len() <= 5, "{kept} {}", places.slots.len());
            assert!(places.watched.len() <= places.slots.len());
            for slot in places.slots.values() {
                let kept = locked(&slot.names.kept);
                assert_eq!(kept.index.as_ref().map_or(0, Index::len), slot.count);
            }
        }
    }
}

static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);

fn counted(_: &str) -> bool {
    LOOKED_AT.fetch_add(1, Ordering::Relaxed);
    true
}

#[test]
fn a_change_costs_the_same_in_any_directory() {
    let cache = Cache::new(counted);
    let root = tempfile::tempdir().unwrap();
    for number in 0..2000 {
        fs::write(root.path().join(format!("{number}.dat")), "").unwrap();
    }
    let directory = opened(root.path());
    assert_eq!(names(&cache, &directory).len(), 2000);
    assert_eq!(LOOKED_AT.swap(0, Ordering::Relaxed), 2000);
    for number in 0..100 {
        fs::write(root.path().join(format!("new-{number}")), "").unwrap();
        let found = cache.with(&directory, |index| index.find(&format!("NEW-{number}")));
        assert!(found.unwrap().is_some());
    }
    assert_eq!(LOOKED_AT.load(Ordering::Relaxed), 100);
}

#[test]
fn a_directory_of_a_million_names_is_read_once_and_a_longer_one_is_refused() {
    static READ: AtomicUsize = AtomicUsize::new(0);
    const { assert!(MAX_LISTED >= 1_000_000 && MAX_NAMES >= MAX_LISTED) };
    let counted = |_: &str| READ.fetch_add(1, Ordering::Relaxed) < usize::MAX;
    let cache = Cache { max_names: 110, max_listed: 100, ..Cache::new(counted) };
    let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let write = |number: usize| fs::write(root.path().join(number.to_string()), "").unwrap();
    (0..100).for_each(write);
    fs::write(other.path().join("other"), "").unwrap();
    let (directory, other) = (opened(root.path()), opened(other.path()));
    for _ in 0..50 {
        assert!(cache.with(&directory, |index| index.find("none").is_none()).unwrap());
        assert_eq!(names(&cache, &other), ["other"]);
    }
    assert_eq!(READ.swap(0, Ordering::Relaxed), 101, "each name once");
    write(100);
    let used = || cache.with(&directory, Index::len).map_err(|error| error.kind());
    assert_eq!(used(), Err(io::ErrorKind::ArgumentListTooLong));
    READ.store(0, Ordering::Relaxed);
    for _ in 0..50 {
        assert_eq!(used(), Err(io::ErrorKind::ArgumentListTooLong));
    }
    assert_eq!(READ.load(Ordering::Relaxed), 0, "a refusal costs no names");
    fs::remove_file(root.path().join("100")).unwrap();
    for names in cache.places.lock().unwrap().slots.values() {
        locked(&names.names.kept).too_long = None;
    }
    assert_eq!(used(), Ok(100));
}

#[test]
fn concurrent_clients_see_their_own_changes() {
    let cache = Cache { max_directories: 2, ..Cache::new(|_| true) };
    let root = tempfile::tempdir().unwrap();
    for directory in 0..4 {
        fs::create_dir(root.path().join(directory.to_string())).unwrap();
    }
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (cache, root) = (&cache, root.path());
            scope.spawn(move || {
                for round in 0..200 {
                    // Use the directories in turn, so that they are evicted.
                    let path = root.join(((thread + round) % 4).to_string());
                    let (directory, name) = (opened(&path), format!("{thread}-{round}"));
                    let is_there = || loop {
                        match cache.with(&directory, |index| index.find(&name).is_some()) {
                            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                                std::thread::yield_now();
                            }
                            found => break found.unwrap(),
                        }
                    };
                    fs::write(path.join(&name), "").unwrap();
                    assert!(is_there(), "{name}");
                    fs::remove_file(path.join(&name)).unwrap();
                    assert!(!is_there(), "{name}");
                }
            });
        }
    });
}

static HELD: Mutex<()> = Mutex::new(());
static HOLDING: AtomicUsize = AtomicUsize::new(0);

fn held(name: &str) -> bool {
    if name == "held" {
        HOLDING.fetch_add(1, Ordering::Relaxed);
        drop(locked(&HELD));
    }
    true
}

#[test]
fn large_directories_being_read_hold_up_no_other_use() {
    let cache = Cache { many: 3, ..Cache::new(held) };
    let root = tempfile::tempdir().unwrap();
    let directories = [5, 5, 4, 3].map(|count| {
        let path = root.path().join(format!("{}", fs::read_dir(root.path()).unwrap().count()));
        fs::create_dir(&path).unwrap();
        ["held", "a", "b", "c", "d"][5 - count..].iter().for_each(|name| {
            fs::write(path.join(name), "").unwrap();
        });
        opened(&path)
    });
    let length = |at: usize| cache.with(&directories[at], Index::len).map_err(|error| error.kind());
    std::thread::scope(|scope| {
        let hold = locked(&HELD);
        let reading = [0, 1].map(|at| scope.spawn(move || length(at)));
        while HOLDING.load(Ordering::Relaxed) < 2 {
            std::thread::yield_now();
        }
        // Neither one that is being read nor a third one takes a thread.
        assert_eq!([0, 1, 2].map(length), [Err(io::ErrorKind::WouldBlock); 3]);
        assert_eq!(length(3), Ok(3));
        drop(hold);
        assert_eq!(reading.map(|one| one.join().unwrap()), [Ok(5), Ok(5)]);
    });
    assert_eq!([0, 1, 2].map(length), [Ok(5), Ok(5), Ok(4)]);
}
