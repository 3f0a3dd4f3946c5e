use std::fs;

use proptest::prelude::*;

use super::*;

#[test]
fn no_path_leads_outside() {
    let base = ["a".to_owned()];
    assert_eq!(Confined::names(&base, "../../../etc/passwd").unwrap(), ["etc", "passwd"]);
    assert_eq!(Confined::names(&base, "b//./c").unwrap(), ["a", "b", "c"]);
    assert_eq!(Confined::names(&base, "/").unwrap(), [""; 0]);
    assert_eq!(Confined::plain_names("/a//b/").unwrap(), ["a", "b"]);
    for bad in ["a\\..\\b", "a\0b", "a\nb", &"x/".repeat(100)] {
        assert!(Confined::names(&base, bad).is_err(), "{bad:?}");
        assert!(Confined::plain_names(bad).is_err(), "{bad:?}");
    }
    for bad in ["..", "a/../../b", "a/./b"] {
        assert!(Confined::plain_names(bad).is_err(), "{bad:?}");
    }
}

fn names(path: &str) -> Names {
    Confined::names(&[], path).unwrap()
}

fn confined(root: &tempfile::TempDir) -> Confined {
    Confined::new(root.path(), false).unwrap()
}

#[test]
fn no_operation_follows_a_link() {
    let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(outside.path().join("secret"), "x").unwrap();
    fs::write(root.path().join("file"), "y").unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), root.path().join("leaf")).unwrap();
    let confined = confined(&root);
    let mut create = OpenOptions::new();
    create.write(true).create(true).truncate(true);
    for path in ["link", "leaf", "link/secret", "link/new"] {
        let at = names(path);
        let done = [
            confined.look(&at).err(),
            confined.open(&at).err(),
            confined.open_to_change(&at, &create).err(),
            confined.remove_file(&at).err(),
            confined.rename(&at, &names("new")).err(),
            confined.change(&at, &Changes { mode: Some(0), ..Changes::default() }).err(),
        ];
        for error in done {
            assert_eq!(
                error.map(|error| error.kind()),
                Some(io::ErrorKind::PermissionDenied),
                "{path}"
            );
        }
        assert!(confined.list(&at).is_err() && confined.create_dir(&at, None).is_err(), "{path}");
        assert!(confined.rename(&names("file"), &at).is_err(), "{path}");
    }
    assert_eq!(
        confined.list(&[]).unwrap().map(|found| found.unwrap().name).collect::<Vec<_>>(),
        ["file"]
    );
    assert_eq!(fs::read(outside.path().join("secret")).unwrap(), b"x");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    confined.remove_any(&names("link")).unwrap();
    assert!(outside.path().join("secret").exists());
}

#[test]
fn pipes_are_refused_without_waiting() {
    let root = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("mkfifo").arg(root.path().join("pipe")).status();
    assert!(made.unwrap().success());
    let (confined, pipe) = (confined(&root), names("pipe"));
    let mut write = OpenOptions::new();
    write.write(true).create(true);
    assert_eq!(confined.open(&pipe).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    let opened = confined.open_to_change(&pipe, &write);
    assert_eq!(opened.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(confined.list(&[]).unwrap().count(), 0);
}

#[test]
fn every_listed_name_can_be_opened() {
    let root = tempfile::tempdir().unwrap();
    for name in
        ["good", "a\\b", "two\nlines", "carriage\rreturn", "bell\x07", "del\x7f", "c1\u{85}"]
    {
        fs::write(root.path().join(name), name).unwrap();
    }
    let confined = confined(&root);
    let listed: Vec<_> = confined.list(&[]).unwrap().map(|found| found.unwrap().name).collect();
    assert_eq!(listed, ["good"]);
    for name in listed {
        confined.open(&names(&name)).unwrap();
    }
}

#[test]
fn a_new_name_replaces_nothing() {
    let root = tempfile::tempdir().unwrap();
    for name in ["one", "other"] {
        fs::write(root.path().join(name), name).unwrap();
        fs::create_dir(root.path().join(format!("{name} directory"))).unwrap();
    }
    let confined = confined(&root);
    for (from, to) in
        [("one", "other"), ("one directory", "other directory"), ("one", "one directory")]
    {
        let error = confined.rename(&names(from), &names(to)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{from} {to}");
    }
    assert_eq!(fs::read(root.path().join("other")).unwrap(), b"other");
    confined.rename(&names("one"), &names("other directory/new")).unwrap();
    confined.rename(&names("one directory"), &names("other directory/inner")).unwrap();
    assert_eq!(fs::read(root.path().join("other directory/new")).unwrap(), b"one");
}

#[test]
fn read_only_directories_refuse_every_change() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("file"), "y").unwrap();
    let confined = Confined::new(root.path(), true).unwrap();
    let mut create = OpenOptions::new();
    create.write(true).create(true);
    let done = [
        confined.open_to_change(&names("new"), &create).err(),
        confined.create_dir(&names("new"), None).err(),
        confined.remove_file(&names("file")).err(),
        confined.rename(&names("file"), &names("new")).err(),
        confined
            .change(&names("file"), &Changes { size_bytes: Some(0), ..Changes::default() })
            .err(),
    ];
    for error in done {
        assert_eq!(error.map(|error| error.kind()), Some(io::ErrorKind::ReadOnlyFilesystem));
    }
    assert!(confined.open(&names("file")).is_ok());
    assert_eq!(fs::read(root.path().join("file")).unwrap(), b"y");
}

proptest! {
    #[test]
    fn names_that_lead_elsewhere_are_rejected(path in ".*") {
        for names in [Confined::names(&[], &path), Confined::plain_names(&path)].into_iter().flatten() {
            prop_assert!(names.iter().all(|name| !matches!(&name[..], "" | "." | "..")));
            prop_assert!(!names.iter().any(|name| name.contains(['/', '\\', '\0', '\n'])));
        }
    }
}
