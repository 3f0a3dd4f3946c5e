//! A client that does not log in, or does not end what it has begun, is given up in time, makes room for
//! others where there are many of him, and guesses passwords slowly.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::stage::{LOOPBACK, content, get, offer, path, put, run, served_within, user};
use lanlab_clients::{AnySession, connect};
use lanlab_files::{Class, Credentials, ServiceKind, Target};
use lanlab_servers::{Bounds, Serving};
use tempfile::TempDir;

const ALL: [ServiceKind; 10] = [
    ServiceKind::Ftp,
    ServiceKind::Ftps,
    ServiceKind::Sftp,
    ServiceKind::Webdav,
    ServiceKind::Webdavs,
    ServiceKind::S3,
    ServiceKind::S3s,
    ServiceKind::Nfs,
    ServiceKind::Smb,
    ServiceKind::Smb1,
];

/// A little of what one of its clients begins with.
fn begun(service: ServiceKind) -> &'static [u8] {
    match service {
        ServiceKind::Ftp | ServiceKind::Ftps => b"USER some",
        ServiceKind::Sftp => b"SSH-2.0-x\r\n\0\0\x10\0",
        ServiceKind::Webdav | ServiceKind::S3 => b"GET / HTTP/1.1\r\nX: y",
        ServiceKind::Webdavs | ServiceKind::S3s => b"\x16\x03\x01\x10\0\x01",
        ServiceKind::Nfs => b"\x80\0\x20\0few",
        _ => b"\0\0\x20\0few",
    }
}

async fn served(service: ServiceKind, root: &TempDir, bounds: &Bounds) -> (Serving, Target) {
    let (serving, mut target) = served_within(&offer(service, root.path()), bounds).await;
    if service == ServiceKind::Nfs {
        target.credentials = None;
    }
    (serving, target)
}

/// Far longer than anything here takes on a busy machine.
const HANGS: Duration = Duration::from_mins(2);

/// Connect once there is room: on a busy machine a login may take longer than a stranger has.
async fn connected(target: &Target) -> AnySession {
    let start = Instant::now();
    loop {
        match connect(target).await {
            Ok(session) => return session,
            Err(fault) => assert!(start.elapsed() < HANGS, "{fault}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn is_late(read: &std::io::Result<usize>) -> bool {
    read.as_ref().is_err_and(|error| {
        matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
    })
}

fn lasts(port: u16, begun: &[u8]) -> Duration {
    let start = Instant::now();
    let mut stream = TcpStream::connect((LOOPBACK, port)).unwrap();
    stream.set_read_timeout(Some(HANGS)).unwrap();
    let _ = stream.write_all(begun);
    let ended = stream.read_to_end(&mut Vec::new());
    assert!(!is_late(&ended), "it is still there after {HANGS:?}");
    start.elapsed()
}

/// Test services side by side, each on a thread of its own: most of it is waiting.
fn for_each(
    services: impl IntoIterator<Item = ServiceKind>,
    test: impl AsyncFn(ServiceKind) + Sync,
) {
    std::thread::scope(|scope| {
        for service in services {
            let test = &test;
            scope.spawn(move || run(test(service)));
        }
    });
}

#[test]
fn incomplete_requests_time_out_while_clients_stay() {
    for_each(ALL, async |service| {
        let root = TempDir::new().unwrap();
        let login = Duration::from_millis(500);
        let bounds = Bounds { login, record: login, ..Bounds::default() };
        let (serving, target) = served(service, &root, &bounds).await;
        let client = connected(&target).await;
        put(&client, &path("x"), b"x").await;
        let port = serving.port();
        for begun in [b"", begun(service)] {
            let took = tokio::task::spawn_blocking(move || lasts(port, begun)).await.unwrap();
            // SMB has half of the time.
            assert!(took >= Duration::from_millis(200), "{service:?} {begun:?}: {took:?}");
        }
        assert_eq!(get(&client, &path("x")).await, b"x", "{service:?}: it had logged in");
        serving.end().await;
    });
}

/// One who has made a call has all the time until he makes the next, and a bound for that.
#[test]
fn an_nfs_record_must_be_completed_in_time() {
    run(async {
        let root = TempDir::new().unwrap();
        let record = Duration::from_millis(300);
        let bounds = Bounds { record, ..Bounds::default() };
        let (serving, _) = served(ServiceKind::Nfs, &root, &bounds).await;
        let port = serving.port();
        let talk = move || {
            let mut call = vec![0x80, 0, 0, 40];
            for word in [7_u32, 0, 2, 100_003, 3, 0, 0, 0, 0, 0] {
                call.extend_from_slice(&word.to_be_bytes());
            }
            let mut stream = TcpStream::connect((LOOPBACK, port)).unwrap();
            stream.set_read_timeout(Some(HANGS)).unwrap();
            let mut answer = [0; 28];
            for _ in 0..2 {
                stream.write_all(&call).unwrap();
                stream.read_exact(&mut answer).unwrap();
                std::thread::sleep(Duration::from_millis(600));
            }
            let start = Instant::now();
            // A record of 1 MiB of which little comes.
            stream.write_all(&[0x80, 0x10, 0, 0, 1, 2, 3]).unwrap();
            let ended = stream.read(&mut answer);
            assert!(!is_late(&ended), "it is still there after {HANGS:?}");
            assert_eq!(ended.unwrap_or(0), 0);
            let took = start.elapsed();
            assert!(took >= Duration::from_millis(200), "{took:?}");
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}

/// Each would have ten seconds to log in.
#[test]
fn silent_smb_connections_make_room_for_a_client() {
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, target) = served(ServiceKind::Smb, &root, &Bounds::default()).await;
        let port = serving.port();
        let crowd = move || -> Vec<TcpStream> {
            (0..600).map(|_| TcpStream::connect((LOOPBACK, port)).unwrap()).collect()
        };
        let start = Instant::now();
        let crowd = tokio::task::spawn_blocking(crowd).await.unwrap();
        let late = connected(&target).await;
        let took = start.elapsed();
        assert!(took < Duration::from_secs(9), "{took:?}");
        put(&late, &path("late"), b"x").await;
        drop(crowd);
        serving.end().await;
    });
}

/// The other services have room for few strangers here.
#[test]
fn a_client_is_admitted_soon_although_strangers_hold_every_place() {
    let known = ALL.into_iter().filter(|service| *service != ServiceKind::Smb);
    for_each(known, async |service| {
        let root = TempDir::new().unwrap();
        let crowded = Duration::from_millis(200);
        let bounds = Bounds { strangers_bytes: 2 << 20, crowded, ..Bounds::default() };
        let (serving, target) = served(service, &root, &bounds).await;
        let first = connect(&target).await.unwrap();
        let port = serving.port();
        let crowd = move || -> Vec<TcpStream> {
            let come = (0..200).map(|_| {
                let mut stream = TcpStream::connect((LOOPBACK, port)).unwrap();
                // It may have been ended for another.
                let _ = stream.write_all(begun(service));
                stream
            });
            come.collect()
        };
        let crowd = tokio::task::spawn_blocking(crowd).await.unwrap();
        let late = connected(&target).await;
        let data = content(300_000, 5);
        put(&late, &path("late"), &data).await;
        assert!(get(&first, &path("late")).await == data, "{service:?}");
        drop(crowd);
        serving.end().await;
    });
}

#[test]
fn wrong_passwords_are_answered_slowly_and_right_ones_at_once() {
    let with_passwords =
        [ServiceKind::Ftp, ServiceKind::Sftp, ServiceKind::Webdav, ServiceKind::S3];
    for_each(with_passwords, async |service| {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(service, &root, &Bounds::default()).await;
        let wrong = Credentials { secret: "guess".to_owned(), ..user() };
        let guess = Target { credentials: Some(wrong), ..target.clone() };
        let mut quickest_guess = Duration::MAX;
        for _ in 0..2 {
            let start = Instant::now();
            let fault = connect(&guess).await.unwrap_err();
            assert_eq!(fault.class, Class::Login, "{service:?}: {fault}");
            let took = start.elapsed();
            assert!(took >= Duration::from_millis(290), "{service:?}: {took:?}");
            quickest_guess = quickest_guess.min(took);
        }
        // On a busy machine both take longer.
        let is_faster = async || {
            let start = Instant::now();
            connect(&target).await.unwrap();
            start.elapsed() + Duration::from_millis(150) < quickest_guess
        };
        for _ in 0..100 {
            if is_faster().await {
                return;
            }
        }
        panic!("{service:?}: who knows the password waits, too");
    });
}
