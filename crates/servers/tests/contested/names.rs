//! Two clients that want the same names: each success is true, and nothing is lost without a word.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Barrier;

use lanlab_clients::connect;
use lanlab_files::{Access, ServiceKind, ServicePath, Session, Target};
use tempfile::TempDir;

use super::{ALL, open_to_all, repeats, threads};
use crate::stage::{LOOPBACK, path, put, run};

type Renames = Box<dyn FnMut(&str, &str) -> bool>;

type Client = fn(u16) -> Renames;

fn by_ftp(port: u16) -> Renames {
    let stream = TcpStream::connect((LOOPBACK, port)).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    let mut answer = move || {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        line[..3].parse::<u16>().unwrap()
    };
    assert_eq!(answer(), 220);
    let mut say = move |line: String| {
        stream.write_all(format!("{line}\r\n").as_bytes()).unwrap();
        answer()
    };
    assert_eq!((say("USER a".to_owned()), say("PASS a".to_owned())), (331, 230));
    Box::new(move |from, to| {
        // It may be gone already.
        say(format!("RNFR {from}")) == 350 && say(format!("RNTO {to}")) == 250
    })
}

fn by_webdav(port: u16) -> Renames {
    Box::new(move |from, to| {
        let mut stream = TcpStream::connect((LOOPBACK, port)).unwrap();
        let request = format!(
            "MOVE /{from} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nDestination: /{to}\r\n\
             Overwrite: F\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = &answer[9..12];
        assert!(matches!(status, "201" | "412" | "404"), "{answer}");
        status == "201"
    })
}

/// An object that is written only if there is none: what S3 has for a name that must be free.
fn by_s3(port: u16) -> Renames {
    Box::new(move |from, to| {
        let mut stream = TcpStream::connect((LOOPBACK, port)).unwrap();
        let request = format!(
            "PUT /lanlab/{to} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nIf-None-Match: *\r\n\
             Content-Length: {}\r\n\r\n{from}",
            from.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = &answer[9..12];
        assert!(matches!(status, "200" | "412"), "{answer}");
        status == "200"
    })
}

/// Two clients rename files of their own to one name, which must be free: one of them is answered with
/// success, and its file has the name; the other's has its own.
fn rename_to_one_name(service: ServiceKind, client: Client, rounds: usize) {
    let base = TempDir::new().unwrap();
    let root = base.path().join("root");
    fs::create_dir(&root).unwrap();
    let serving = threads();
    let (served, _) = serving.block_on(open_to_all(service, &base));
    let (port, barrier) = (served.port(), Barrier::new(2));
    let own = |client: usize, round: usize| format!("own-{client}-{round}");
    let is_rename = service != ServiceKind::S3;
    for client in 0..2 {
        for round in 0..rounds {
            fs::write(root.join(own(client, round)), own(client, round)).unwrap();
        }
    }
    let race = |number: usize| {
        let mut renames = client(port);
        let race = (0..rounds).map(|round| {
            barrier.wait();
            renames(&own(number, round), &format!("new-{round}"))
        });
        race.collect::<Vec<_>>()
    };
    let [one, other] = std::thread::scope(|scope| {
        let race = &race;
        [0, 1].map(|client| scope.spawn(move || race(client))).map(|race| race.join().unwrap())
    });
    for round in 0..rounds {
        let done = [one[round], other[round]];
        assert_eq!(done.iter().filter(|done| **done).count(), 1, "{service:?} {round}: {done:?}");
        for (client, done) in done.into_iter().enumerate() {
            let (own, new) = (own(client, round), root.join(format!("new-{round}")));
            if done {
                assert_eq!(fs::read_to_string(new).unwrap(), own, "{service:?} {round}");
            } else if is_rename {
                assert_eq!(
                    fs::read_to_string(root.join(&own)).unwrap(),
                    own,
                    "{service:?} {round}"
                );
            }
        }
    }
}

/// Those that have a name of their own for it.
const RENAMING: [(ServiceKind, Client); 3] =
    [(ServiceKind::Ftp, by_ftp), (ServiceKind::Webdav, by_webdav), (ServiceKind::S3, by_s3)];

#[test]
fn only_one_of_two_renames_to_the_same_name_succeeds() {
    for (service, client) in RENAMING {
        rename_to_one_name(service, client, 100);
    }
}

#[test]
#[ignore = "long: 10,000 renames of two clients for each service"]
fn one_of_many_concurrent_renames_to_a_name_succeeds() {
    for (service, client) in RENAMING {
        rename_to_one_name(service, client, repeats(10_000));
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Done {
    made: bool,
    removed: bool,
}

async fn make_and_remove(target: &Target, rounds: usize, barrier: &Barrier) -> Vec<Done> {
    let session = connect(target).await.unwrap();
    let mut rounds_done = Vec::new();
    for round in 0..rounds {
        barrier.wait();
        let made = session.make_directory(&path(&format!("d-{round}"))).await.is_ok();
        barrier.wait();
        let removed = session.remove_directory(&path(&format!("d-{round}"))).await.is_ok();
        rounds_done.push(Done { made, removed });
    }
    rounds_done
}

/// Of two who make or remove one directory one has done it. S3 has no directories, so that nothing is
/// made or removed there.
fn make_one_name(service: ServiceKind, rounds: usize) {
    let base = TempDir::new().unwrap();
    fs::create_dir(base.path().join("root")).unwrap();
    let serving = threads();
    let (_served, target) = serving.block_on(open_to_all(service, &base));
    let barrier = Barrier::new(2);
    let race = || run(make_and_remove(&target, rounds, &barrier));
    let [one, other] = std::thread::scope(|scope| {
        [scope.spawn(race), scope.spawn(race)].map(|race| race.join().unwrap())
    });
    for (round, (one, other)) in one.into_iter().zip(other).enumerate() {
        assert!(one.made != other.made, "{service:?} {round}: {one:?} {other:?}");
        assert!(one.removed != other.removed, "{service:?} {round}: {one:?} {other:?}");
    }
}

fn with_directories() -> impl Iterator<Item = ServiceKind> {
    ALL.into_iter().filter(|service| !matches!(service, ServiceKind::S3 | ServiceKind::S3s))
}

#[test]
fn only_one_of_two_clients_creates_or_removes_a_directory() {
    for service in with_directories() {
        make_one_name(service, 50);
    }
}

#[test]
#[ignore = "long: 1,000 directories of two clients for each service"]
fn concurrent_clients_make_and_remove_each_directory_once() {
    for service in with_directories() {
        make_one_name(service, repeats(1000));
    }
}

/// What is listed can be read, and what could not be is not listed.
#[test]
fn every_listed_name_opens() {
    for service in ALL {
        let base = TempDir::new().unwrap();
        let root = base.path().join("root");
        fs::create_dir(&root).unwrap();
        for name in ["good", "a&b <c>", "a\\b", "two\nlines", "\r", "bell\x07", "del\x7f"] {
            fs::write(root.join(name), "x").unwrap();
        }
        let serving = threads();
        let (_served, target) = serving.block_on(open_to_all(service, &base));
        run(async {
            let session = connect(&target).await.unwrap();
            let listed = session.list(None).await.unwrap();
            let names: Vec<_> = listed.iter().map(|entry| entry.name.clone()).collect();
            assert!(names.iter().any(|name| name == "good"), "{service:?}: {names:?}");
            for name in names {
                // NFS has no characters that end a name, so that it lists more than paths of ours have.
                let Ok(at) = ServicePath::new(name.as_str()) else {
                    assert_eq!(service, ServiceKind::Nfs, "`{name}`");
                    continue;
                };
                let opened = session.open(&at, Access::Read).await;
                let file = opened.unwrap_or_else(|fault| panic!("{service:?} `{name}`: {fault}"));
                session.close(file).await.unwrap();
            }
            put(&session, &path("after"), b"x").await;
        });
    }
}

/// Lines of a listing that a name could add.
#[test]
fn line_ends_in_names_add_no_lines_to_ftp_listings() {
    let base = TempDir::new().unwrap();
    let root: PathBuf = base.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("x\r\ntype=file;size=1; forged"), "x").unwrap();
    fs::write(root.join("y\n-rw-r--r-- 1 a a 1 Jan  1 2026 forged"), "x").unwrap();
    let serving = threads();
    let (_served, target) = serving.block_on(open_to_all(ServiceKind::Ftp, &base));
    run(async {
        let session = connect(&target).await.unwrap();
        assert_eq!(session.list(None).await.unwrap(), []);
    });
}
