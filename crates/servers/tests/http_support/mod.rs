//! What the tests of the services over HTTP share: a server and how to reach it, whole files, and a
//! peer that sends given answers and then acts as given.

#![allow(dead_code, unused_imports, reason = "each test takes what it needs")]

mod hostile;
mod raw;

use crate::peer_programs::missing;
use crate::stage;
pub use hostile::*;
pub use raw::*;

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use lanlab_clients::{AnySession, connect};
use lanlab_files::{
    Access, Class, Credentials, Fault, ServiceKind, ServicePath, Session, Target, Trust,
};
use lanlab_servers::{Offer, Serving, serve};

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Names that mean something to a URL, a shell, XML, or a file system with less room for them.
pub fn odd_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "a b",
        " lead",
        "50%25",
        "%",
        "#1",
        "what?",
        "it's",
        "\"quoted\"",
        "a&b;c=d",
        "a+b",
        "~x",
        "(1)",
        "[x]",
        "<y>",
        "{z}",
        "a|b",
        "^`",
        "$HOME",
        "!",
        "@",
        "a,b",
        "x:y",
        "*",
        ".hidden",
        "ünïcödé",
        "日本語",
        "e\u{301}",
        "🦀",
        "-rf",
        "..x",
        "a=b",
    ]
    .map(str::to_owned)
    .into();
    names.push("n".repeat(255));
    names.push(format!("{}x", "ü".repeat(127)));
    names
}

pub fn path(text: &str) -> ServicePath {
    ServicePath::new(text).unwrap()
}

pub fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect()
}

pub fn user() -> Credentials {
    let (user, secret) = ("station".to_owned(), "geheim: / + & ü".to_owned());
    Credentials { user, secret, domain: None, passphrase: None }
}

pub fn target(service: ServiceKind, port: u16) -> Target {
    let is_s3 = matches!(service, ServiceKind::S3 | ServiceKind::S3s);
    Target {
        address: Some(LOOPBACK.into()),
        port: Some(port),
        share: is_s3.then(|| "lanlab".to_owned()),
        credentials: Some(user()),
        timeout_ns: 20_000_000_000,
        ..Target::new(service)
    }
}

pub fn offer(service: ServiceKind, root: &Path) -> Offer {
    Offer { credentials: Some(user()), ..stage::offer(service, root) }
}

pub async fn served(service: ServiceKind, root: &Path) -> (Serving, Target) {
    let serving = serve(&offer(service, root)).await.unwrap();
    let mut target = target(service, serving.port());
    if let Some(hash) = serving.trust_sha256() {
        target.trust = Trust::Sha256(hash.to_owned());
    }
    (serving, target)
}

pub async fn write_whole(
    session: &AnySession,
    name: &ServicePath,
    data: &[u8],
) -> Result<(), Fault> {
    let size_bytes = data.len() as u64;
    let block = session.capabilities().block_bytes as usize;
    let file = session.open(name, Access::Create { size_bytes }).await?;
    for (number, part) in data.chunks(block).enumerate() {
        session.write_at(&file, (number * block) as u64, part).await?;
    }
    session.close(file).await
}

pub async fn read_whole(session: &AnySession, name: &ServicePath) -> Result<Vec<u8>, Fault> {
    let file = session.open(name, Access::Read).await?;
    let (mut data, mut buffer) = (Vec::new(), vec![0; session.capabilities().block_bytes as usize]);
    loop {
        match session.read_at(&file, data.len() as u64, &mut buffer).await? {
            0 => break,
            count => data.extend_from_slice(&buffer[..count]),
        }
    }
    session.close(file).await?;
    Ok(data)
}

pub async fn within_seconds<T>(seconds: u64, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(seconds), work).await.expect("it hangs")
}

/// What is the same for files of either service on its embedded server.
pub async fn files_of_every_kind(service: ServiceKind) {
    let root = tempfile::tempdir().unwrap();
    let (serving, target) = served(service, root.path()).await;
    let session = connect(&target).await.unwrap();
    let folder = path("odd");
    session.make_directory(&folder).await.unwrap();
    let mut names = odd_names();
    for (number, name) in names.iter().enumerate() {
        let (at, data) = (folder.join(name).unwrap(), content(number + 1, number as u64));
        write_whole(&session, &at, &data).await.unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(std::fs::read(root.path().join("odd").join(name)).unwrap(), data, "{name}");
        assert_eq!(read_whole(&session, &at).await.unwrap(), data, "{name}");
    }
    let mut listed: Vec<String> =
        session.list(Some(&folder)).await.unwrap().into_iter().map(|entry| entry.name).collect();
    listed.sort();
    names.sort();
    assert_eq!(listed, names);
    for name in &names {
        session.remove(&folder.join(name).unwrap()).await.unwrap();
    }
    assert!(session.list(Some(&folder)).await.unwrap().is_empty());
    // A name that the server's file system cannot hold.
    let long = path(&"n".repeat(256));
    let fault = write_whole(&session, &long, b"x").await.unwrap_err();
    assert!(matches!(fault.class, Class::Name), "{fault:?}");

    // 64 MiB there and back.
    let data = content(64 << 20, 7);
    let large = path("large.bin");
    write_whole(&session, &large, &data).await.unwrap();
    assert!(std::fs::read(root.path().join("large.bin")).unwrap() == data);
    assert!(read_whole(&session, &large).await.unwrap() == data);
    assert!(session.facts().protocol.matches("connections").count() == 0, "one is enough so far");

    // Not over one that is there, and it is said why, however much was under way.
    let fault = write_whole(&session, &large, &content(8 << 20, 8)).await.unwrap_err();
    assert_eq!(fault.class, Class::Exists, "{fault}");
    assert!(std::fs::read(root.path().join("large.bin")).unwrap() == data);

    // More or fewer octets than were said.
    let file = session.open(&path("more"), Access::Create { size_bytes: 3 }).await.unwrap();
    let fault = session.write_at(&file, 0, b"four").await.unwrap_err();
    assert_eq!(fault.class, Class::Length, "{fault}");
    drop(file);
    let file = session.open(&path("fewer"), Access::Create { size_bytes: 300 }).await.unwrap();
    session.write_at(&file, 0, b"four").await.unwrap();
    let fault = session.close(file).await.unwrap_err();
    assert_eq!(fault.class, Class::Length, "{fault}");
    // Out of order.
    let file = session.open(&path("other"), Access::Create { size_bytes: 9 }).await.unwrap();
    let fault = session.write_at(&file, 4, b"four").await.unwrap_err();
    assert_eq!(fault.class, Class::Unsupported, "{fault}");
    drop(file);

    // Anywhere in a long file, which has holes, and at and after its end.
    let sparse = std::fs::File::create(root.path().join("sparse")).unwrap();
    sparse.set_len((5 << 30) + 5).unwrap();
    drop(sparse);
    let file = session.open(&path("sparse"), Access::Read).await.unwrap();
    let mut buffer = vec![1; 1000];
    assert_eq!(session.read_at(&file, 0, &mut buffer).await.unwrap(), 1000);
    for (offset, count) in
        [(1 << 30, 1000), (5 << 30, 5), (3, 1000), ((5 << 30) + 5, 0), (6 << 30, 0)]
    {
        buffer.fill(1);
        assert_eq!(session.read_at(&file, offset, &mut buffer).await.unwrap(), count, "{offset}");
        assert!(buffer[..count].iter().all(|octet| *octet == 0));
    }
    session.close(file).await.unwrap();
    let opened = session.facts().protocol;
    assert!(opened.contains("connections"), "{opened}: a stream was left");

    session.end().await.unwrap();
    serving.end().await;
}

/// 200 files, by two sessions at once.
pub async fn many_files_by_two_sessions(service: ServiceKind) {
    let root = tempfile::tempdir().unwrap();
    let (serving, target) = served(service, root.path()).await;
    let work = |seed: u64| {
        let target = target.clone();
        async move {
            let session = connect(&target).await.unwrap();
            let folder = path(&format!("of {seed}"));
            session.make_directory(&folder).await.unwrap();
            for number in 0..100u64 {
                let data = content(6000, seed * 1000 + number);
                write_whole(&session, &folder.join(&number.to_string()).unwrap(), &data)
                    .await
                    .unwrap();
            }
            for number in 0..100u64 {
                let name = folder.join(&number.to_string()).unwrap();
                let data = content(6000, seed * 1000 + number);
                assert!(read_whole(&session, &name).await.unwrap() == data);
            }
            assert_eq!(session.list(Some(&folder)).await.unwrap().len(), 100);
            assert!(!session.facts().protocol.contains("connections"), "one does for all");
            session.end().await.unwrap();
        }
    };
    tokio::join!(work(1), work(2));
    assert_eq!(serving.accepted(), 2);
    serving.end().await;
}

/// A server that ends, in the middle of a file, and one in its place.
pub async fn an_end_is_an_end(service: ServiceKind) {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("x"), content(64 << 20, 3)).unwrap();
    let (serving, target) = served(service, root.path()).await;
    let session = connect(&target).await.unwrap();
    let file = session.open(&path("x"), Access::Read).await.unwrap();
    let mut buffer = vec![0; 100_000];
    session.read_at(&file, 0, &mut buffer).await.unwrap();
    let port = serving.port();
    serving.end().await;
    let rest = async {
        let mut at = 100_000;
        loop {
            match session.read_at(&file, at, &mut buffer).await {
                Ok(0) => panic!("a file that was cut off is no whole one"),
                Ok(count) => at += count as u64,
                Err(fault) => return fault,
            }
        }
    };
    let fault = within_seconds(60, rest).await;
    assert_eq!(fault.class, Class::Reset, "{fault}");
    let again = Offer { port, ..offer(service, root.path()) };
    serve(&again).await.expect("the port is free").end().await;
}

/// A client sees only what is below the directory, and changes nothing where nothing may be written.
pub async fn clients_are_confined(service: ServiceKind) {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "x").unwrap();
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("out")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), root.path().join("s")).unwrap();
    std::fs::write(root.path().join("there"), "x").unwrap();
    let (serving, target) = served(service, root.path()).await;
    let session = connect(&target).await.unwrap();
    for name in ["s", "out/secret"] {
        let fault = read_whole(&session, &path(name)).await.unwrap_err();
        assert!(matches!(fault.class, Class::Denied | Class::Missing), "{name}: {fault:?}");
        assert!(session.remove(&path(name)).await.is_err(), "{name}");
    }
    assert!(write_whole(&session, &path("out/new"), b"x").await.is_err());
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    serving.end().await;

    let shut = Offer { read_only: true, ..offer(service, root.path()) };
    let serving = serve(&shut).await.unwrap();
    let session = connect(&Target { port: Some(serving.port()), ..target }).await.unwrap();
    assert_eq!(read_whole(&session, &path("there")).await.unwrap(), b"x");
    let fault = write_whole(&session, &path("new"), b"x").await.unwrap_err();
    assert_eq!(fault.class, Class::Denied, "{fault}");
    assert_eq!(session.remove(&path("there")).await.unwrap_err().class, Class::Denied);
    assert!(root.path().join("there").exists() && !root.path().join("new").exists());
    serving.end().await;
}

/// A disk of 1 MiB.
pub async fn full_disk_is_reported(service: ServiceKind) {
    struct Mounted(tempfile::TempDir);
    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg(self.0.path()).status();
        }
    }
    let root = tempfile::tempdir().unwrap();
    let mut mount = std::process::Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=1m", "lanlab-test"]).arg(root.path());
    if !mount.output().is_ok_and(|done| done.status.success()) {
        missing("mount: a small disk needs root");
        return;
    }
    let root = Mounted(root);
    let (serving, target) = served(service, root.0.path()).await;
    let session = connect(&target).await.unwrap();
    let fault = write_whole(&session, &path("x"), &content(4 << 20, 1)).await.unwrap_err();
    assert_eq!(fault.class, Class::NoSpace, "{fault}");
    serving.end().await;
}
