use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn path(text: &str) -> ServicePath {
    ServicePath::new(text).expect("a path")
}

const NEW: Access = Access::Create { size_bytes: 1 };

/// A directory for the session, and another one next to it that must not change.
fn with_neighbour() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let place = tempfile::TempDir::new().expect("a directory");
    let (base, other) = (place.path().join("base"), place.path().join("other"));
    fs::create_dir_all(base.join("mine/files")).expect("directories");
    fs::create_dir(&other).expect("a directory");
    fs::write(other.join("file"), "precious").expect("a file");
    (place, base, other)
}

fn is_untouched(other: &Path) -> bool {
    let names = fs::read_dir(other).expect("a directory").count();
    names == 1 && fs::read(other.join("file")).expect("a file") == b"precious"
}

#[test]
fn no_link_in_the_path_is_followed() {
    let (_place, base, other) = with_neighbour();
    fs::remove_dir(base.join("mine/files")).expect("removed");
    // A link to a directory in the base is not followed either.
    fs::create_dir(base.join("yours")).expect("a directory");
    fs::write(base.join("yours/file"), "precious").expect("a file");
    for leads_to in [other.as_path(), Path::new("../yours"), &base.join("yours")] {
        symlink(leads_to, base.join("mine/files")).expect("a link");
        let below = ConfinedDirectory::open(&base).expect("opened");
        for access in [Access::Read, NEW, Access::Replace { size_bytes: 1 }, Access::Update] {
            for file in ["mine/files/file", "mine/files/new"] {
                let error = below.file(&path(file), access).expect_err("refused");
                assert!(error.to_string().contains("`files` is a symbolic link"), "{error}");
            }
        }
        assert!(below.remove_file(&path("mine/files/file")).is_err());
        assert!(below.make_directory(&path("mine/files/new")).is_err());
        assert!(below.remove_directory(&path("mine/files")).is_err());
        assert!(below.list(Some(&path("mine/files"))).is_err());
        assert!(below.look(&path("mine/files/file")).is_err());
        fs::remove_file(base.join("mine/files")).expect("removed");
    }
    assert!(is_untouched(&other) && is_untouched(&base.join("yours")));
}

#[test]
fn replaced_files_are_not_written_and_block_nothing() {
    let (_place, base, other) = with_neighbour();
    let below = ConfinedDirectory::open(&base).expect("opened");
    let file = path("mine/files/file");
    let there = base.join(file.as_str());
    let put: [&dyn Fn() -> std::io::Result<()>; 3] = [
        &|| symlink(other.join("file"), &there),
        &|| fs::hard_link(other.join("file"), &there),
        &|| std::os::unix::net::UnixListener::bind(&there).map(drop),
    ];
    for put in put {
        put().expect("put there");
        for access in [NEW, Access::Replace { size_bytes: 1 }, Access::Update] {
            assert!(below.file(&file, access).is_err());
        }
        below.remove_file(&file).expect("removed");
    }
    assert!(is_untouched(&other));
}

#[test]
fn replacements_of_our_files_are_recognised() {
    let (_place, base, other) = with_neighbour();
    let (made, file) = (path("made"), path("made/file"));
    let below = ConfinedDirectory::open(&base).expect("opened");
    below.make_directory(&made).expect("made");
    fs::rename(base.join("made"), base.join("away")).expect("renamed");
    fs::rename(&other, base.join("made")).expect("renamed");
    // In another session, too.
    for below in [below, ConfinedDirectory::open(&base).expect("opened")] {
        drop(below.file(&file, NEW).expect("made where it was made"));
        assert!(base.join("away/file").is_file());
        below.remove_file(&file).expect("removed where it was made");
        assert!(is_untouched(&base.join("made")));
    }
}

#[test]
fn files_and_directories_are_made_listed_and_removed() {
    let (_place, base, _) = with_neighbour();
    let below = ConfinedDirectory::shared(&base).expect("opened");
    let deep = path("mine/files/a");
    below.make_directory(&deep).expect("made");
    assert_eq!(
        below.make_directory(&deep).expect_err("there").kind(),
        io::ErrorKind::AlreadyExists
    );
    let file = path("mine/files/a/file");
    lanlab_os::positioned::write_all_at(&below.file(&file, NEW).expect("made"), b"four", 0)
        .expect("written");
    let all: Vec<_> = below.list(Some(&deep)).expect("listed").map(Result::unwrap).collect();
    assert_eq!((all.len(), all[0].kind, all[0].bytes), (1, Kind::File, 4));
    assert_eq!(below.look(&file).expect("there").modified, all[0].modified);
    drop(below.file(&file, Access::Replace { size_bytes: 0 }).expect("opened"));
    assert_eq!(below.look(&file).expect("there").bytes, 0);
    assert!(below.remove_directory(&deep).is_err());
    below.remove_file(&file).expect("removed");
    below.remove_directory(&deep).expect("removed");
    assert_eq!(below.look(&deep).expect_err("gone").kind(), io::ErrorKind::NotFound);
}
