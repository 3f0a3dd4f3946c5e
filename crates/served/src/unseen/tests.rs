use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::*;
use crate::Directory;

fn names(root: &Path) -> Vec<String> {
    let entries = fs::read_dir(root).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn unseen(confined: &Confined, content: &str) -> Unseen {
    let mut unseen = Unseen::new(confined, &["a".to_owned()], 0o644).unwrap();
    unseen.file().unwrap().write_all(content.as_bytes()).unwrap();
    unseen
}

#[test]
fn uploads_replace_files_when_complete_and_keep_permissions() {
    let root = tempfile::tempdir().unwrap();
    let (confined, path) = (Confined::new(root.path(), false).unwrap(), root.path().join("a"));
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let broken = unseen(&confined, "half");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(broken);
    assert_eq!(
        (names(root.path()), fs::read(&path).unwrap()),
        (vec!["a".to_owned()], b"old".to_vec())
    );
    let mut whole = unseen(&confined, "new");
    whole.close().unwrap();
    whole.show(false).unwrap();
    assert_eq!(
        (names(root.path()), fs::read(&path).unwrap()),
        (vec!["a".to_owned()], b"new".to_vec())
    );
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o640);
    let refused = unseen(&confined, "third").show(true).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(
        (names(root.path()), fs::read(&path).unwrap()),
        (vec!["a".to_owned()], b"new".to_vec())
    );
}

#[test]
fn uploads_replace_no_link_target_or_directory() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (confined, secret) = (Confined::new(root.path(), false).unwrap(), outside.path().join("s"));
    fs::write(&secret, "secret").unwrap();
    symlink(&secret, root.path().join("a")).unwrap();
    let refused = unseen(&confined, "new").show(false).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(fs::read_link(root.path().join("a")).unwrap(), secret);
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
    fs::remove_file(root.path().join("a")).unwrap();
    fs::create_dir(root.path().join("a")).unwrap();
    let refused = unseen(&confined, "new").show(false).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::IsADirectory);
    assert_eq!(names(root.path()), ["a"]);
}

#[test]
fn clients_cannot_see_or_make_unfinished_uploads() {
    let root = tempfile::tempdir().unwrap();
    let confined = Confined::new(root.path(), false).unwrap();
    let directory = Directory::open(root.path(), |_| true).unwrap();
    assert_eq!(directory.list(&[], "", 9).unwrap().len(), 0);
    let unseen = unseen(&confined, "new");
    let [name] = &names(root.path())[..] else { panic!("one file") };
    assert_eq!(confined.all_entries(&[]).unwrap().count(), 0);
    assert_eq!(directory.list(&[], "", 9).unwrap().len(), 0);
    for path in [Confined::plain_names(name), Confined::names(&[], &format!("x/../{name}"))] {
        assert_eq!(path.unwrap_err().kind(), io::ErrorKind::InvalidFilename);
    }
    for path in [&[name.clone()][..], &[name.clone(), "x".to_owned()]] {
        assert_eq!(directory.find(path).unwrap_err().kind(), io::ErrorKind::InvalidFilename);
    }
    unseen.show(false).unwrap();
    let listed = directory.list(&[], "", 9).unwrap();
    assert_eq!(listed.iter().map(|(known, _)| &*known.name).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_directory_with_only_an_unfinished_upload_can_be_removed() {
    let root = tempfile::tempdir().unwrap();
    let confined = Confined::new(root.path(), false).unwrap();
    let within = |name: &str| ["d".to_owned(), name.to_owned()];
    fs::create_dir(root.path().join("d")).unwrap();
    fs::write(root.path().join("d/seen"), "kept").unwrap();
    let unfinished = Unseen::new(&confined, &within("a"), 0o644).unwrap();
    let full = confined.remove_dir(&["d".to_owned()]).unwrap_err();
    assert_eq!(full.kind(), io::ErrorKind::DirectoryNotEmpty);
    assert_eq!(names(&root.path().join("d")).len(), 2);
    confined.remove_file(&within("seen")).unwrap();
    confined.remove_dir(&["d".to_owned()]).unwrap();
    drop(unfinished);
    assert_eq!(names(root.path()), Vec::<String>::new());
}
