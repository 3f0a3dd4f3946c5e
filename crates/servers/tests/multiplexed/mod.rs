//! What SMB and NFS have in common in tests: many calls at once on one connection, in frames of four
//! octets of length.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use lanlab_clients::{AnyFile, AnySession, connect};
use lanlab_files::{Access, Class, Credentials, Fault, ServiceKind, ServicePath, Session, Target};
use lanlab_servers::{Offer, Serving, serve};
use tempfile::TempDir;

use crate::stage;

mod hostile;
pub use hostile::*;

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub fn path(text: &str) -> ServicePath {
    ServicePath::new(text).unwrap()
}

pub fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(next).collect()
}

pub fn user() -> Credentials {
    Credentials {
        user: "station".to_owned(),
        secret: "not-shown".to_owned(),
        domain: None,
        passphrase: None,
    }
}

pub fn run(work: impl Future<Output = ()>) {
    run_in(&mut tokio::runtime::Builder::new_current_thread(), work);
}

/// The same with threads, as the engine has: what waits for a disk leaves the others theirs.
pub fn run_in_threads(work: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    run_in(builder.worker_threads(2).max_blocking_threads(8), work);
}

fn run_in(runtime: &mut tokio::runtime::Builder, work: impl Future<Output = ()>) {
    runtime.enable_all().build().unwrap().block_on(async {
        // This long only if it hangs, however busy the machine is.
        let bounded = tokio::time::timeout(Duration::from_mins(10), work);
        bounded.await.expect("it hangs");
    });
}

pub fn target(service: ServiceKind, port: u16) -> Target {
    let share = if service == ServiceKind::Nfs { "/lanlab" } else { "lanlab" };
    Target {
        address: Some(LOOPBACK.into()),
        port: Some(port),
        share: Some(share.to_owned()),
        credentials: Some(user()),
        // Encryption that is not optimised, and a processor that others have, too.
        timeout_ns: 60_000_000_000,
        ..Target::new(service)
    }
}

pub fn offer(service: ServiceKind, root: &Path) -> Offer {
    Offer { credentials: Some(user()), ..stage::offer(service, root) }
}

pub async fn served(service: ServiceKind) -> (TempDir, Serving, Target) {
    let root = TempDir::new().unwrap();
    let serving = serve(&offer(service, root.path())).await.unwrap();
    let target = target(service, serving.port());
    (root, serving, target)
}

pub async fn put(session: &AnySession, name: &ServicePath, data: &[u8]) {
    let size_bytes = data.len() as u64;
    let file = session.open(name, Access::Create { size_bytes }).await.unwrap();
    session.write_at(&file, 0, data).await.unwrap();
    session.close(file).await.unwrap();
}

pub async fn get(session: &AnySession, name: &ServicePath) -> Vec<u8> {
    let file = session.open(name, Access::Read).await.unwrap();
    let (mut data, mut buffer) = (Vec::new(), vec![0; 1 << 20]);
    loop {
        match session.read_at(&file, data.len() as u64, &mut buffer).await.unwrap() {
            0 => break,
            count => data.extend_from_slice(&buffer[..count]),
        }
    }
    session.close(file).await.unwrap();
    data
}

async fn write_lane(session: &AnySession, file: &AnyFile, data: &[u8], block: usize, first: usize) {
    for (number, part) in data.chunks(block).enumerate().skip(first).step_by(4) {
        session.write_at(file, (number * block) as u64, part).await.unwrap();
    }
}

async fn check_lane(session: &AnySession, file: &AnyFile, data: &[u8], block: usize, first: usize) {
    let mut buffer = vec![0; block];
    for (number, part) in data.chunks(block).enumerate().skip(first).step_by(4) {
        let mut got = 0;
        while got < part.len() {
            let offset = (number * block + got) as u64;
            let count = session.read_at(file, offset, &mut buffer[got..part.len()]).await.unwrap();
            assert!(count > 0, "nothing at {offset}");
            got += count;
        }
        assert!(buffer[..got] == *part, "block {number}");
    }
}

/// What every service does alike, at one server.
pub async fn does_what_all_do(service: ServiceKind) {
    let (root, serving, target) = served(service).await;
    moves_a_large_file(&target, root.path()).await;
    holds_names(&target, root.path()).await;
    reaches_far(&target).await;
    lists_many(&target, root.path()).await;
    shares_a_file(&target).await;
    tells_why_not(&target).await;
    serving.end().await;
}

/// 64 MiB, four calls at once, come back as they were and lie there as they were.
pub async fn moves_a_large_file(target: &Target, root: &Path) {
    let session = connect(target).await.unwrap();
    let (name, data) = (path("large.bin"), content((64 << 20) + 4711, 3));
    let block = session.capabilities().block_bytes as usize;
    let size_bytes = data.len() as u64;
    let file = session.open(&name, Access::Create { size_bytes }).await.unwrap();
    let lane = |first| write_lane(&session, &file, &data, block, first);
    tokio::join!(lane(0), lane(1), lane(2), lane(3));
    session.close(file).await.unwrap();
    assert!(std::fs::read(root.join("large.bin")).unwrap() == data);
    let file = session.open(&name, Access::Read).await.unwrap();
    let lane = |first| check_lane(&session, &file, &data, block, first);
    tokio::join!(lane(0), lane(1), lane(2), lane(3));
    let mut rest = [0; 10];
    assert_eq!(session.read_at(&file, size_bytes, &mut rest).await.unwrap(), 0);
    session.close(file).await.unwrap();
    session.remove(&name).await.unwrap();
    session.end().await.unwrap();
}

/// Names that every service holds, and 255 octets of one.
pub async fn holds_names(target: &Target, root: &Path) {
    let session = connect(target).await.unwrap();
    let long = "x".repeat(251) + ".bin";
    let names = ["a b  c", "100%", "#1", "it's & that", "%2e%2e", "~$x", "Größe 測定 ☂", &long];
    for (number, name) in names.into_iter().enumerate() {
        let data = content(100 + number, 9);
        put(&session, &path(name), &data).await;
        assert_eq!(std::fs::read(root.join(name)).unwrap(), data, "{name}");
        assert_eq!(get(&session, &path(name)).await, data, "{name}");
    }
    let mut listed: Vec<_> = session.list(None).await.unwrap();
    listed.sort();
    let mut expected: Vec<_> = names.to_vec();
    expected.sort_unstable();
    let found: Vec<_> = listed.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(found, expected);
    for name in names {
        session.remove(&path(name)).await.unwrap();
    }
    let too_long = path(&"x".repeat(256));
    let fault = session.open(&too_long, Access::Create { size_bytes: 0 }).await.unwrap_err();
    assert_eq!(fault.class, Class::Name, "{fault}");
    session.end().await.unwrap();
}

/// Far into a file, without all that is before.
pub async fn reaches_far(target: &Target) {
    let session = connect(target).await.unwrap();
    let name = path("sparse");
    let file = session.open(&name, Access::Create { size_bytes: 0 }).await.unwrap();
    session.write_at(&file, 5 << 30, b"far away").await.unwrap();
    session.sync(&file).await.unwrap();
    session.close(file).await.unwrap();
    let file = session.open(&name, Access::Read).await.unwrap();
    let mut buffer = [1; 8];
    assert_eq!(session.read_at(&file, 5 << 30, &mut buffer).await.unwrap(), 8);
    assert_eq!(&buffer, b"far away");
    assert_eq!(session.read_at(&file, 1 << 30, &mut buffer).await.unwrap(), 8);
    assert_eq!(buffer, [0; 8]);
    session.close(file).await.unwrap();
    session.remove(&name).await.unwrap();
    session.end().await.unwrap();
}

/// More files than one page of a listing holds.
pub async fn lists_many(target: &Target, root: &Path) {
    let session = connect(target).await.unwrap();
    let folder = path("many");
    session.make_directory(&folder).await.unwrap();
    for number in 0..200 {
        put(&session, &folder.join(&format!("file {number}")).unwrap(), b"x").await;
    }
    for number in 200..3000 {
        std::fs::write(root.join(format!("many/file {number}")), b"x").unwrap();
    }
    let mut listed = session.list(Some(&folder)).await.unwrap();
    listed.sort();
    listed.dedup();
    assert_eq!(listed.len(), 3000);
    assert!(listed.iter().all(|entry| entry.size_bytes == 1 && !entry.is_directory));
    session.end().await.unwrap();
}

/// Two users of one file do not exclude each other.
pub async fn shares_a_file(target: &Target) {
    let (one, two) = (connect(target).await.unwrap(), connect(target).await.unwrap());
    let name = path("shared");
    put(&one, &name, &[0; 200]).await;
    let (of_one, of_two) =
        tokio::join!(one.open(&name, Access::Update), two.open(&name, Access::Update));
    let (of_one, of_two) = (of_one.unwrap(), of_two.unwrap());
    let (first, second) =
        tokio::join!(one.write_at(&of_one, 0, &[1; 100]), two.write_at(&of_two, 100, &[2; 100]));
    first.unwrap();
    second.unwrap();
    let mut buffer = [0; 200];
    assert_eq!(one.read_at(&of_one, 0, &mut buffer).await.unwrap(), 200);
    assert!(buffer[..100] == [1; 100] && buffer[100..] == [2; 100]);
    one.close(of_one).await.unwrap();
    two.close(of_two).await.unwrap();
    one.end().await.unwrap();
    assert_eq!(get(&two, &name).await.len(), 200, "one session ends, the other goes on");
    two.end().await.unwrap();
}

fn class<T>(done: Result<T, Fault>) -> Class {
    match done {
        Ok(_) => panic!("it was done"),
        Err(fault) => {
            assert!(!fault.message.contains("not-shown"), "{fault}");
            fault.class
        }
    }
}

pub async fn tells_why_not(target: &Target) {
    let session = connect(target).await.unwrap();
    let (file, folder, inside) = (path("file"), path("folder"), path("folder/inside"));
    put(&session, &file, b"x").await;
    session.make_directory(&folder).await.unwrap();
    put(&session, &inside, b"x").await;
    let new = Access::Create { size_bytes: 1 };
    assert_eq!(class(session.open(&file, new).await), Class::Exists);
    assert_eq!(get(&session, &file).await, b"x", "nothing was overwritten");
    assert_eq!(class(session.make_directory(&folder).await), Class::Exists);
    assert_eq!(class(session.remove_directory(&folder).await), Class::Exists);
    assert_eq!(class(session.remove(&folder).await), Class::Exists);
    assert_eq!(class(session.open(&folder, Access::Read).await), Class::Exists);
    assert_eq!(class(session.remove(&path("nothing")).await), Class::Missing);
    assert_eq!(class(session.remove_directory(&path("nothing")).await), Class::Missing);
    assert_eq!(class(session.list(Some(&path("nothing"))).await), Class::Missing);
    assert_eq!(class(session.list(Some(&file)).await), Class::Missing);
    assert_eq!(class(session.open(&path("file/x"), Access::Read).await), Class::Missing);
    let fault = session.open(&path("nothing"), Access::Read).await.unwrap_err();
    assert!(fault.message.starts_with("open `nothing`: "), "{fault}");

    // A session may begin further down, but only where something is.
    let below = Target { directory: "folder".to_owned(), ..target.clone() };
    let below = connect(&below).await.unwrap();
    assert_eq!(get(&below, &path("inside")).await, b"x");
    let elsewhere = Target { directory: "nothing/at all".to_owned(), ..target.clone() };
    assert_eq!(class(connect(&elsewhere).await), Class::Missing);
    let share = target.share.as_ref().map(|share| format!("{share}-not"));
    // Some servers do not tell which there are.
    let no_share = class(connect(&Target { share, ..target.clone() }).await);
    assert!(matches!(no_share, Class::Missing | Class::Denied), "{no_share:?}");
    assert_eq!(class(connect(&Target { share: None, ..target.clone() }).await), Class::Missing);
    session.end().await.unwrap();
}

pub async fn keeps_read_only(service: ServiceKind) {
    let root = TempDir::new().unwrap();
    std::fs::write(root.path().join("file"), b"as it was").unwrap();
    let offer = Offer { read_only: true, ..offer(service, root.path()) };
    let serving = serve(&offer).await.unwrap();
    let session = connect(&target(service, serving.port())).await.unwrap();
    assert_eq!(get(&session, &path("file")).await, b"as it was");
    assert_eq!(class(session.remove(&path("file")).await), Class::Denied);
    assert_eq!(class(session.make_directory(&path("new")).await), Class::Denied);
    let new = session.open(&path("new"), Access::Create { size_bytes: 1 }).await;
    assert_eq!(class(new), Class::Denied);
    let update = async {
        let file = session.open(&path("file"), Access::Update).await?;
        session.write_at(&file, 0, b"x").await
    };
    assert_eq!(class(update.await), Class::Denied);
    assert_eq!(std::fs::read(root.path().join("file")).unwrap(), b"as it was");
    serving.end().await;
}

pub async fn stays_in_its_directory(service: ServiceKind) {
    let (root, serving, target) = served(service).await;
    let outside = TempDir::new().unwrap();
    std::fs::write(outside.path().join("other"), b"not to be seen").unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("out")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("other"), root.path().join("leak")).unwrap();
    let session = connect(&target).await.unwrap();
    for name in ["out/other", "leak"] {
        let read = async {
            let file = session.open(&path(name), Access::Read).await?;
            session.read_at(&file, 0, &mut [0; 10]).await
        };
        assert!(read.await.is_err(), "{name}");
        let write = async {
            let file = session.open(&path(name), Access::Update).await?;
            session.write_at(&file, 0, b"changed").await
        };
        assert!(write.await.is_err(), "{name}");
    }
    let new = session.open(&path("out/new"), Access::Create { size_bytes: 0 }).await;
    assert!(new.is_err());
    assert!(session.make_directory(&path("out/folder")).await.is_err());
    assert!(session.remove(&path("out/other")).await.is_err());
    assert_eq!(std::fs::read(outside.path().join("other")).unwrap(), b"not to be seen");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    serving.end().await;
}

pub async fn ends_wholly(service: ServiceKind) {
    let (root, serving, target) = served(service).await;
    let session = connect(&target).await.unwrap();
    assert_eq!(serving.accepted(), 1);
    let port = serving.port();
    serving.end().await;
    let fault = session.list(None).await.unwrap_err();
    assert_eq!(fault.class, Class::Reset, "{fault}");
    let again = serve(&Offer { port, ..offer(service, root.path()) }).await.unwrap();
    assert!(connect(&target).await.unwrap().list(None).await.is_ok());
    // The port is taken now, and no server listens at another address.
    assert!(serve(&Offer { port, ..offer(service, root.path()) }).await.is_err());
    again.end().await;
}

pub async fn notices_a_shrunk_file(service: ServiceKind) {
    let (root, serving, target) = served(service).await;
    std::fs::write(root.path().join("file"), content(100_000, 5)).unwrap();
    let session = connect(&target).await.unwrap();
    let file = session.open(&path("file"), Access::Read).await.unwrap();
    std::fs::write(root.path().join("file"), b"short").unwrap();
    let fault = session.read_at(&file, 50_000, &mut [0; 1000]).await.unwrap_err();
    assert_eq!(fault.class, Class::Length, "{fault}");
    serving.end().await;
}

pub async fn tells_of_a_full_disk(service: ServiceKind) {
    let root = TempDir::new().unwrap();
    let at = root.path().to_str().unwrap();
    let mount = ["-t", "tmpfs", "-o", "size=1m", "lanlab-test", at];
    let mounted = std::process::Command::new("mount").args(mount).output();
    if !mounted.is_ok_and(|mounted| mounted.status.success()) {
        crate::peer_programs::missing("mount: a small file system needs root");
        return;
    }
    let serving = serve(&offer(service, root.path())).await.unwrap();
    let session = connect(&target(service, serving.port())).await.unwrap();
    let fill = async {
        let file = session.open(&path("big"), Access::Create { size_bytes: 4 << 20 }).await?;
        for number in 0..4 {
            session.write_at(&file, number << 20, &content(1 << 20, number)).await?;
        }
        session.close(file).await
    };
    let filled = fill.await;
    drop(session);
    serving.end().await;
    let lazily = ["-l", at];
    assert!(std::process::Command::new("umount").args(lazily).status().unwrap().success());
    let fault = filled.unwrap_err();
    assert_eq!(fault.class, Class::NoSpace, "{fault}");
}
