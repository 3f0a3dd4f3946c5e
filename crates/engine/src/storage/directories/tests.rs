use tempfile::TempDir;

use super::*;

fn places(folder: &TempDir) -> Places {
    let for_all = folder.path().join("for all");
    fs::create_dir(&for_all).unwrap();
    Places {
        disk: folder.path().join("cache/lanlab"),
        memory: for_all.join("lanlab-0"),
        disk_for_all: for_all.clone(),
        memory_for_all: for_all,
    }
}

fn left_behind(parent: &Path, number: &str) -> (PathBuf, PathBuf) {
    let made = parent.join(format!("{PREFIX}{number}"));
    fs::create_dir_all(made.join("files")).unwrap();
    fs::write(made.join("files/f1"), b"octets").unwrap();
    let lock = made.with_extension(LOCK);
    File::create(&lock).unwrap();
    (made, lock)
}

#[test]
fn storage_is_private_and_removed_with_its_contents() {
    let folder = TempDir::new().unwrap();
    let places = places(&folder);
    for (medium, for_server) in [(Medium::Disk, false), (Medium::Disk, true), (Medium::Tmpfs, true)]
    {
        let made = places.make(medium, for_server).unwrap();
        let (path, lock) = (made.path().to_owned(), made.lock.clone());
        assert_eq!(path.starts_with(&places.disk), medium == Medium::Disk && !for_server);
        {
            let facts = fs::metadata(&path).unwrap();
            assert_eq!(
                std::os::unix::fs::PermissionsExt::mode(&facts.permissions()) & 0o777,
                0o700
            );
        }
        fs::create_dir(path.join("d")).unwrap();
        fs::write(path.join("d/f"), b"octets").unwrap();
        // Neither this engine nor another removes a directory in use.
        places.remove_left();
        assert!(path.join("d/f").is_file() && lock.is_file());
        assert!(made.remove());
        assert!(!path.exists() && !lock.exists());
    }
}

#[test]
fn only_unlocked_directories_count_as_left_over() {
    let folder = TempDir::new().unwrap();
    let places = places(&folder);
    let parent = places.disk_for_all.clone();
    let (made, lock) = left_behind(&parent, "0123456789ab");
    let (held, held_lock) = left_behind(&parent, "112233445566");
    let holder = File::open(&held_lock).unwrap();
    holder.lock().unwrap();
    let without_lock = parent.join(format!("{PREFIX}ffffffffffff"));
    fs::create_dir(&without_lock).unwrap();

    places.remove_left();

    assert!(!made.exists() && !lock.exists());
    assert!(held.join("files/f1").is_file() && held_lock.is_file());
    assert!(without_lock.is_dir());
}

#[test]
fn only_plain_files_with_one_link_are_our_locks() {
    let folder = TempDir::new().unwrap();
    let places = places(&folder);
    let other = folder.path().join("other");
    File::create(&other).unwrap();
    let (by_link, link) = left_behind(&places.disk_for_all, "000000000001");
    let (by_hard_link, hard_link) = left_behind(&places.disk_for_all, "000000000002");
    let (by_socket, socket) = left_behind(&places.disk_for_all, "000000000003");
    for lock in [&link, &hard_link, &socket] {
        fs::remove_file(lock).unwrap();
    }
    std::os::unix::fs::symlink(&other, &link).unwrap();
    fs::hard_link(&other, &hard_link).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();

    places.remove_left();

    for made in [by_link, by_hard_link, by_socket] {
        assert!(made.join("files/f1").is_file(), "{}", made.display());
    }
}

#[test]
fn a_lock_without_its_directory_is_kept_for_a_minute() {
    let folder = TempDir::new().unwrap();
    let places = places(&folder);
    let lock = places.disk_for_all.join(format!("{PREFIX}0123456789ab.{LOCK}"));
    let file = File::create(&lock).unwrap();
    places.remove_left();
    assert!(lock.exists());

    let long_ago = std::time::SystemTime::now() - ABOUT_TO_BE_MADE - Duration::from_secs(1);
    file.set_modified(long_ago).unwrap();
    drop(file);
    places.remove_left();
    assert!(!lock.exists());
}

#[test]
fn storage_behind_a_link_is_refused() {
    let folder = TempDir::new().unwrap();
    let places = places(&folder);
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &places.memory).unwrap();
    let refused = places.make(Medium::Tmpfs, false).err().unwrap();
    assert_eq!(refused.code, "system.permission", "{refused}");
    assert!(fs::read_dir(&elsewhere).unwrap().next().is_none());
}

#[test]
fn users_of_namespaces_are_distinguished() {
    assert_eq!(mapped(0, "         0          0 4294967295\n"), Some(0));
    assert_eq!(mapped(0, "0 65534 1\n"), Some(65534));
    assert_eq!(mapped(7, "0 65534 1\n5 100 10\n"), Some(102));
    assert_eq!(mapped(1, "0 65534 1\n"), None);
    assert_eq!(mapped(1, "no map"), None);
}
