//! SFTP: the client and the embedded server with each other, with servers that lie, break off and
//! dawdle, and each with OpenSSH.

mod hostile;
mod keys;
mod peers;

use std::net::TcpListener;
use std::process::Command;

use crate::stage::{
    self, LOOPBACK, check_refusals, content, get, keeps_awkward_names, path, put, run, served,
};
use lanlab_clients::connect;
use lanlab_files::{Access, Class, ServiceKind, Session, Target, Trust};
use tempfile::TempDir;

const SFTP: ServiceKind = ServiceKind::Sftp;

#[test]
fn a_large_file_round_trips() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let session = connect(&target).await.unwrap();
        let data = content(64 << 20, 1);
        put(&session, &path("large"), &data).await;
        assert!(get(&session, &path("large")).await == data);
        let facts = session.facts();
        assert_eq!(facts.no_delay, Some(true));
        let protection = facts.protection.as_str();
        assert!(protection.starts_with("SSH 2, aes128-gcm, key exchange "), "{facts:?}");
        assert!(!protection.contains('@') && !protection.ends_with(' '), "{facts:?}");
        assert_eq!(facts.server.as_deref(), Some("lanlab"));
        session.end().await.unwrap();
    });
}

#[test]
fn concurrent_calls_get_their_own_answers() {
    run(async {
        let root = TempDir::new().unwrap();
        let data = content(8 << 20, 2);
        std::fs::write(root.path().join("x"), &data).unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let session = connect(&target).await.unwrap();
        let file = session.open(&path("x"), Access::Update).await.unwrap();
        // Reads of the whole in pieces, at once, with writes of the same octets between them.
        let mut pieces: Vec<_> = data.chunks(100_000).map(|piece| vec![0; piece.len()]).collect();
        let mut reads: Vec<_> = pieces
            .iter_mut()
            .enumerate()
            .map(|(number, piece)| {
                let (session, file, data) = (&session, &file, &data);
                Box::pin(async move {
                    let offset = number * 100_000;
                    if number % 3 == 0 {
                        let same = &data[offset..offset + piece.len()];
                        session.write_at(file, offset as u64, same).await.unwrap();
                    }
                    let count = session.read_at(file, offset as u64, piece).await.unwrap();
                    assert_eq!(count, piece.len());
                })
            })
            .collect();
        std::future::poll_fn(|context| {
            reads.retain_mut(|read| read.as_mut().poll(context).is_pending());
            if reads.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        drop(reads);
        assert!(pieces.concat() == data);
        session.sync(&file).await.unwrap();
        session.close(file).await.unwrap();
        assert!(std::fs::read(root.path().join("x")).unwrap() == data);
    });
}

#[test]
fn small_files_do_not_wait_for_acknowledgements() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        stage::moves_small_files_without_stalls(&connect(&target).await.unwrap()).await;
    });
}

#[test]
fn names_round_trip() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let session = connect(&target).await.unwrap();
        keeps_awkward_names(&session, root.path()).await;
        let too_long = path(&"x".repeat(256));
        let fault = session.open(&too_long, Access::Create { size_bytes: 1 }).await.unwrap_err();
        assert_eq!(fault.class, Class::Name, "{fault}");
    });
}

#[test]
fn existing_files_are_not_overwritten() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let session = connect(&target).await.unwrap();
        check_refusals(&session).await;
    });
}

#[test]
fn stopping_a_server_closes_its_connections() {
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, target) = served(SFTP, root.path()).await;
        let (one, two) = (connect(&target).await.unwrap(), connect(&target).await.unwrap());
        put(&one, &path("x"), &content(1000, 3)).await;
        let file = two.open(&path("x"), Access::Read).await.unwrap();
        assert_eq!(serving.accepted(), 2);
        let port = serving.port();
        serving.end().await;
        drop(TcpListener::bind((LOOPBACK, port)).expect("the port is free"));
        assert_eq!(one.list(None).await.unwrap_err().class, Class::Reset);
        assert_eq!(two.read_at(&file, 0, &mut [0; 10]).await.unwrap_err().class, Class::Reset);
        assert_eq!(connect(&target).await.unwrap_err().class, Class::Refused);
    });
}

#[test]
fn a_session_works_in_its_directory() {
    run(async {
        let root = TempDir::new().unwrap();
        std::fs::create_dir_all(root.path().join("a/b")).unwrap();
        std::fs::write(root.path().join("file"), "x").unwrap();
        let (_serving, target) = served(SFTP, root.path()).await;
        let inner = Target { directory: "a/b".to_owned(), ..target.clone() };
        let session = connect(&inner).await.unwrap();
        put(&session, &path("x"), b"x").await;
        assert!(root.path().join("a/b/x").exists());
        for nowhere in ["c", "file"] {
            let none = Target { directory: nowhere.to_owned(), ..target.clone() };
            assert_eq!(connect(&none).await.unwrap_err().class, Class::Missing, "{nowhere}");
        }
        let out = Target { directory: "../..".to_owned(), ..target };
        assert_eq!(connect(&out).await.unwrap_err().class, Class::Name);
    });
}

/// Keys that are known, from a file as OpenSSH writes it.
#[test]
fn host_keys_are_read_from_known_hosts() {
    if !stage::can_run("ssh-keyscan", false) {
        return;
    }
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, target) = served(SFTP, root.path()).await;
        let port = serving.port();
        let scan = move || {
            Command::new("ssh-keyscan").args(["-p", &port.to_string(), "127.0.0.1"]).output()
        };
        let scan = tokio::task::spawn_blocking(scan).await.unwrap().unwrap();
        let file = root.path().join("known_hosts");
        std::fs::write(&file, &scan.stdout).unwrap();
        let trust = Trust::File(file.display().to_string());
        connect(&Target { trust: trust.clone(), ..target.clone() }).await.unwrap();
        // Of another server.
        let (_other, elsewhere) = served(SFTP, root.path()).await;
        let text = String::from_utf8(scan.stdout).unwrap();
        let text = text.replace(&port.to_string(), &elsewhere.port.unwrap().to_string());
        std::fs::write(&file, text).unwrap();
        let fault = connect(&Target { trust, ..elsewhere }).await.unwrap_err();
        assert_eq!(fault.class, Class::Certificate, "{fault}");
        let none = Trust::File(root.path().join("none").display().to_string());
        assert_eq!(
            connect(&Target { trust: none, ..target }).await.unwrap_err().class,
            Class::Missing
        );
    });
}
