//! SMB 1: both ends in each dialect, and Samba's client where it is installed.

mod crowded;
mod hostile;
mod locks;
mod names;
mod peers;
mod races;
mod swaps;
mod torture;

use std::fs;

use lanlab_clients::{AnySession, connect};
use lanlab_files::ServiceKind::Smb1;
use lanlab_files::{
    Access, Class, Credentials, Dialect, ServerOptions, ServiceOptions, Session, Smb1Options,
    Smb1ServerOptions, Target,
};
use lanlab_servers::{Offer, serve};
use tempfile::TempDir;

use crate::multiplexed::{
    content, does_what_all_do, ends_wholly, get, keeps_read_only, notices_a_shrunk_file, offer,
    path, put, run, served, target, tells_of_a_full_disk, user,
};

const OLD: [Dialect; 3] = [Dialect::Core, Dialect::Lanman1, Dialect::Lm12x002];

tests! {
    the_newest_dialect_passes_the_common_service_tests => does_what_all_do(Smb1);
    a_read_only_share_refuses_every_write => keeps_read_only(Smb1);
    a_stopped_server_leaves_no_connection => ends_wholly(Smb1);
    a_shrinking_file_is_reported => notices_a_shrunk_file(Smb1);
    a_full_disk_is_reported => tells_of_a_full_disk(Smb1);
}

async fn does_all(session: &AnySession, dialect: Dialect, root: &TempDir) {
    let data = content(300_001, 5);
    put(session, &path("file.dat"), &data).await;
    assert!(get(session, &path("file.dat")).await == data, "{dialect:?}");
    session.make_directory(&path("dir")).await.unwrap();
    let again = session.make_directory(&path("dir")).await.unwrap_err();
    assert_eq!(again.class, Class::Exists, "{again}");
    for number in 0..200 {
        put(session, &path(&format!("dir/f{number:05}.dat")), b"some").await;
    }
    let mut entries = session.list(Some(&path("dir"))).await.unwrap();
    entries.sort();
    assert_eq!(entries.len(), 200, "{dialect:?}");
    for (number, entry) in entries.iter().enumerate() {
        assert_eq!(entry.name, format!("f{number:05}.dat"));
        assert_eq!((entry.size_bytes, entry.is_directory), (4, false));
    }
    let full = session.remove_directory(&path("dir")).await.unwrap_err();
    assert_eq!(full.class, Class::Exists, "{full}");
    let there = session.open(&path("file.dat"), Access::Create { size_bytes: 1 }).await;
    assert_eq!(there.unwrap_err().class, Class::Exists);
    let missing = session.open(&path("none.dat"), Access::Read).await.unwrap_err();
    assert_eq!(missing.class, Class::Missing, "{missing}");
    let file = session.open(&path("file.dat"), Access::Update).await.unwrap();
    session.write_at(&file, 100, b"other").await.unwrap();
    session.sync(&file).await.unwrap();
    session.close(file).await.unwrap();
    assert_eq!(&get(session, &path("file.dat")).await[100..105], b"other");
    for number in 0..200 {
        session.remove(&path(&format!("dir/f{number:05}.dat"))).await.unwrap();
    }
    session.remove_directory(&path("dir")).await.unwrap();
    session.remove(&path("file.dat")).await.unwrap();
    assert_eq!(session.list(None).await.unwrap(), []);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

fn by_dialect(target: Target, dialect: impl Into<Option<Dialect>>) -> Target {
    let options = Smb1Options { dialect: dialect.into(), ..Smb1Options::default() };
    Target { options: ServiceOptions::Smb1(options), ..target }
}

#[test]
fn client_and_server_work_in_each_old_dialect() {
    for (dialect, name) in OLD.into_iter().zip([
        "PC NETWORK PROGRAM 1.0, login with a plain password",
        "LANMAN1.0, LM login",
        "LM1.2X002, LM login",
    ]) {
        run(async {
            let (root, serving, target) = served(Smb1).await;
            let target = by_dialect(target, dialect);
            let session = connect(&target).await.unwrap();
            assert_eq!(session.facts().protocol, format!("SMB 1, {name}"));
            does_all(&session, dialect, &root).await;
            session.end().await.unwrap();
            let secret = "wrong".to_owned();
            let wrong = Credentials { secret, ..user() };
            let fault = connect(&Target { credentials: Some(wrong), ..target }).await.unwrap_err();
            assert!(matches!(fault.class, Class::Login | Class::Denied), "{fault}");
            serving.end().await;
        });
    }
}

#[test]
fn raw_reads_and_writes_round_trip() {
    for dialect in [Dialect::Lanman1, Dialect::Lm12x002, Dialect::Nt1] {
        run(async {
            let (root, serving, target) = served(Smb1).await;
            let options =
                Smb1Options { raw: true, dialect: Some(dialect), ..Smb1Options::default() };
            let target = Target { options: ServiceOptions::Smb1(options), ..target };
            let session = connect(&target).await.unwrap();
            assert!(session.facts().protocol.ends_with(", raw"), "{}", session.facts().protocol);
            let data = content(1_000_001, 11);
            put(&session, &path("raw.dat"), &data).await;
            assert!(get(&session, &path("raw.dat")).await == data);
            let file = session.open(&path("raw.dat"), Access::Read).await.unwrap();
            assert_eq!(session.read_at(&file, 1_000_001, &mut [0; 9]).await.unwrap(), 0);
            let refused = session.write_at(&file, 0, b"x").await.unwrap_err();
            assert!(matches!(refused.class, Class::Denied | Class::Protocol), "{refused}");
            session.close(file).await.unwrap();
            assert!(get(&session, &path("raw.dat")).await == data);
            session.end().await.unwrap();
            drop(root);
            serving.end().await;
        });
    }
}

#[test]
fn guests_are_admitted_when_no_user_is_set() {
    run(async {
        let root = TempDir::new().unwrap();
        let serving =
            serve(&Offer { credentials: None, ..offer(Smb1, root.path()) }).await.unwrap();
        for dialect in [None, Some(Dialect::Core), Some(Dialect::Lanman1)] {
            for credentials in [None, Some(user())] {
                let share = serving.share().map(str::to_owned);
                let target = target(Smb1, serving.port());
                // Older dialects ask for the password of the share.
                let is_named = credentials.is_some() && dialect.is_none();
                let target = Target { credentials, share, ..by_dialect(target, dialect) };
                if is_named {
                    let fault = connect(&target).await.unwrap_err();
                    assert_eq!(fault.class, Class::Login, "{fault}");
                    continue;
                }
                let session = connect(&target).await.unwrap();
                put(&session, &path("x"), b"abc").await;
                session.remove(&path("x")).await.unwrap();
                session.end().await.unwrap();
            }
        }
        serving.end().await;
    });
}

/// Options of a server that requires signatures.
fn signing() -> ServerOptions {
    let options = Smb1ServerOptions { requires_signatures: true, ..Smb1ServerOptions::default() };
    ServerOptions::Smb1(options)
}

#[test]
fn signing_can_be_required_if_the_dialect_supports_it() {
    run(async {
        let root = TempDir::new().unwrap();
        let required = Offer { options: signing(), ..offer(Smb1, root.path()) };
        let serving = serve(&required).await.unwrap();
        let share = serving.share().map(str::to_owned);
        let target = Target { share, ..target(Smb1, serving.port()) };
        let session = connect(&target).await.unwrap();
        assert_eq!(session.facts().protection, "signed, MD5");
        session.end().await.unwrap();
        serving.end().await;
        let refused = Offer { credentials: None, ..required };
        assert_eq!(serve(&refused).await.unwrap_err().class, Class::Unsupported);
    });
}

#[test]
fn names_match_in_any_case_and_by_short_name() {
    run(async {
        let (root, serving, target) = served(Smb1).await;
        fs::create_dir(root.path().join("Some Folder")).unwrap();
        fs::write(root.path().join("Some Folder/A long name.Text"), "found").unwrap();
        let session = connect(&target).await.unwrap();
        assert_eq!(get(&session, &path("SOME FOLDER/a LONG name.TEXT")).await, b"found");
        session.end().await.unwrap();
        let old = by_dialect(target, Dialect::Lanman1);
        let session = connect(&old).await.unwrap();
        let folder = session.list(None).await.unwrap().remove(0).name;
        assert!(folder.contains('~') && folder.len() <= 12, "{folder}");
        let file = session.list(Some(&path(&folder))).await.unwrap().remove(0).name;
        assert!(file.contains('~') && file.split_once('.').unwrap().1 == "tex", "{file}");
        assert_eq!(get(&session, &path(&format!("{folder}/{file}"))).await, b"found");
        session.end().await.unwrap();
        serving.end().await;
    });
}

#[test]
fn no_link_is_followed() {
    run(async {
        let (root, serving, target) = served(Smb1).await;
        let outside = TempDir::new().unwrap();
        fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        let session = connect(&target).await.unwrap();
        for name in ["link", "link/secret"] {
            let fault = session.open(&path(name), Access::Read).await.unwrap_err();
            assert!(matches!(fault.class, Class::Denied | Class::Missing), "{fault}");
        }
        let new = session.open(&path("link/new"), Access::Create { size_bytes: 1 }).await;
        assert!(new.is_err());
        assert_eq!(session.list(None).await.unwrap(), []);
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        session.end().await.unwrap();
        serving.end().await;
    });
}
