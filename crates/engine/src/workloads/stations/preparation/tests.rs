use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{io, thread};

use lanlab_files::{Result as FileResult, ServiceKind, Target};
use lanlab_servers::{Offer, serve};

use super::super::example;
use super::*;
use crate::messages::OwnStations;
use crate::output::Output;
use crate::running::Failed;
use crate::workloads::copy::tests::scripted::Scripted;

fn running() -> Running {
    Running::new(1, Output::new(std::io::sink()))
}

/// A trial of three stations with files of 1000 blocks, under its own name in the memory shared by
/// all tests.
fn spec(name: &str) -> StationsSpec {
    let mut spec = StationsSpec {
        stations: 3,
        own: OwnStations { first: 0, count: 3 },
        file_size_bytes: 750_000,
        ..example::spec()
    };
    spec.service.directory = format!("preparation of {name}");
    spec
}

fn prepared(spec: &StationsSpec) -> StationsPrepared {
    match prepare(spec, &running()) {
        Ok(Outcome::StationsPrepared(prepared)) => prepared,
        other => panic!("{other:?}"),
    }
}

fn emptied(spec: &StationsSpec) -> Result<StationsEmptied, Box<Failed>> {
    empty(spec, &running()).map(|outcome| match outcome {
        Outcome::StationsEmptied(emptied) => emptied,
        other => panic!("{other:?}"),
    })
}

fn at_service<T>(
    spec: &StationsSpec,
    work: impl AsyncFnOnce(&AnySession) -> FileResult<T>,
) -> FileResult<T> {
    let work = async { work(&lanlab_clients::connect(&spec.service).await?).await };
    runtime().unwrap().block_on(work)
}

fn files(spec: &StationsSpec) -> Vec<(String, u64)> {
    let folder = path(format!("{}/files", spec.working_name)).unwrap();
    let mut entries =
        at_service(spec, async |session: &AnySession| session.list(Some(&folder)).await).unwrap();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries.into_iter().map(|entry| (entry.name, entry.size_bytes)).collect()
}

fn file(spec: &StationsSpec, name: &str) -> ServicePath {
    path(format!("{}/files/{name}", spec.working_name)).unwrap()
}

fn block(spec: &StationsSpec, station: u32, block: u32) -> Vec<u8> {
    let mut octets = vec![0; spec.message_size_bytes as usize];
    Pattern::new(spec.seed).fill(Place { station, block, generation: 0 }, &mut octets);
    octets
}

#[test]
fn each_station_has_a_file_of_all_its_blocks() {
    let (spec, running) = (spec("files"), running());
    let Ok(Outcome::StationsPrepared(prepared)) = prepare(&spec, &running) else { panic!() };
    assert_eq!((prepared.files, prepared.bytes), (3, 3 * 750_000));
    assert_eq!(running.progress.counted(), (3, 3 * 750_000));
    let names = ["s00000.dat", "s00001.dat", "s00002.dat"];
    assert_eq!(files(&spec), names.map(|name| (name.to_owned(), 750_000)));
    for (station, name) in (0..).zip(names) {
        let octets = at_service(&spec, async |session: &AnySession| {
            let file = session.open(&file(&spec, name), Access::Read).await?;
            let mut octets = vec![0; 750_000];
            assert_eq!(session.read_at(&file, 0, &mut octets).await?, 750_000);
            Ok(octets)
        });
        // The service accepts 349 blocks per call.
        for (number, found) in (0..).zip(octets.unwrap().chunks_exact(750)) {
            assert!(found == block(&spec, station, number), "{name}: block {number}");
        }
    }
    emptied(&spec).unwrap();
}

#[test]
fn files_of_a_trial_are_removed_and_counted() {
    let spec = spec("what is removed");
    prepared(&spec);
    let found = emptied(&spec).unwrap();
    assert_eq!((found.removed_files, found.is_gone), (3, true));
    assert!(found.left.is_none());
    let everything = at_service(&spec, async |session: &AnySession| session.list(None).await);
    assert!(everything.unwrap().is_empty());
    // Removing nothing is not an error.
    let again = emptied(&spec).unwrap();
    assert_eq!((again.removed_files, again.is_gone), (0, true));
}

#[test]
fn missing_files_are_not_counted() {
    let spec = spec("one that is gone");
    prepared(&spec);
    let gone = file(&spec, "s00001.dat");
    at_service(&spec, async |session: &AnySession| session.remove(&gone).await).unwrap();
    let found = emptied(&spec).unwrap();
    assert_eq!((found.removed_files, found.is_gone), (2, true));
}

#[test]
fn foreign_files_are_left() {
    let spec = spec("a foreign file");
    prepared(&spec);
    // Named like the next station's file.
    let foreign = file(&spec, "s00003.dat");
    at_service(&spec, async |session: &AnySession| {
        let file = session.open(&foreign, Access::Create { size_bytes: 0 }).await?;
        session.close(file).await
    })
    .unwrap();
    let found = emptied(&spec).unwrap();
    assert_eq!((found.removed_files, found.is_gone), (3, false));
    let left = found.left.unwrap();
    assert_eq!(left.names, ["lanlab-test/files", "lanlab-test"]);
    assert_eq!(left.refusal, None);
    assert_eq!(files(&spec), [("s00003.dat".to_owned(), 0)]);
}

#[test]
fn directories_of_other_trials_are_unchanged() {
    let spec = spec("another trial");
    prepared(&spec);
    let other = StationsSpec { token: "1".repeat(32), ..spec.clone() };
    assert_eq!(emptied(&other).unwrap_err().failure.code, "copy.not_ours");
    assert_eq!(files(&spec).len(), 3);
    assert_eq!(emptied(&spec).unwrap().removed_files, 3);
}

#[test]
fn a_mark_that_cannot_be_read_is_an_error() {
    let spec = spec("an unreadable mark");
    let (working, mark) = (path("lanlab-test".to_owned()), mark_path("lanlab-test"));
    at_service(&spec, async |session: &AnySession| {
        session.make_directory(&working.unwrap()).await?;
        session.make_directory(&mark.unwrap()).await
    })
    .unwrap();
    assert_eq!(emptied(&spec).unwrap_err().failure.code, "service.exists");
}

fn scripted(in_order: bool) -> Scripted {
    let mut session = Scripted::default();
    (session.in_order, session.block_bytes) = (in_order, 1500);
    session
}

/// Write the file of station 2, with five blocks; returns its resulting length.
fn written(session: &Scripted, spec: &StationsSpec, first: u32) -> u64 {
    let (pattern, path) = (Pattern::new(spec.seed), path("file".to_owned()).unwrap());
    let mut piece = Vec::new();
    let write = write(spec, &session, &path, 2, first, &pattern, &mut piece);
    runtime().unwrap().block_on(write).ok().unwrap()
}

#[test]
fn files_are_written_in_pieces_the_service_accepts() {
    let spec = StationsSpec { file_size_bytes: 3750, ..spec("pieces") };
    let session = scripted(false);
    assert_eq!(written(&session, &spec, 0), 3750);
    assert_eq!(session.called("create file 3750"), 1);
    let [one, two, three, four, five] = [0, 1, 2, 3, 4].map(|number| block(&spec, 2, number));
    let pieces = [(0, [one, two].concat()), (1500, [three, four].concat()), (3000, five)];
    assert!(session.writes.take() == pieces);
    assert_eq!((session.called("sync file"), session.called("close file")), (0, 1));
}

#[test]
fn whole_file_services_have_one_block_per_file() {
    let spec = StationsSpec { file_size_bytes: 3750, ..spec("whole files") };
    let session = scripted(true);
    assert_eq!(written(&session, &spec, 3), 750);
    assert_eq!(session.called("create file 750"), 1);
    assert!(session.writes.take() == [(0, block(&spec, 2, 3))]);
}

#[test]
fn files_are_synced_only_on_request() {
    let spec = StationsSpec { sync: StationSync::Each, ..spec("sync") };
    let session = scripted(false);
    written(&session, &spec, 0);
    assert_eq!(session.called("sync file"), 1);
    let (each, none) = (StationSync::Each, StationSync::None);
    let found = [(none, false), (none, true), (each, false), (each, true)]
        .map(|(sync, in_order)| check_sync(sync, in_order).is_ok());
    assert_eq!(found, [true, true, true, false]);
}

#[test]
fn pieces_fit_service_and_memory_but_hold_a_block() {
    for (service_bytes, message, blocks) in [
        (65_536, 750, 87),
        (1 << 30, 750, 1_398),
        (65_536, 65_536, 1),
        (512, 750, 1),
        (1_000, 1, 1_000),
    ] {
        assert_eq!(blocks_at_once(service_bytes, message), blocks, "{service_bytes}, {message}");
    }
}

/// A port that lets two connections at once through to a server, like the per-host limit of a NAS.
/// An ended connection counts for a while.
fn narrow(server: u16) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let open = Arc::new(AtomicUsize::new(0));
    let passed = |mut from: TcpStream, mut to: TcpStream| {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    };
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            if open.load(Ordering::SeqCst) == 2 {
                continue;
            }
            open.fetch_add(1, Ordering::SeqCst);
            let open = Arc::clone(&open);
            thread::spawn(move || {
                let server = TcpStream::connect((Ipv4Addr::LOCALHOST, server)).unwrap();
                let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let there = thread::spawn(move || passed(ends.0, ends.1));
                passed(server, client);
                there.join().unwrap();
                thread::sleep(Duration::from_millis(200));
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    port
}

#[test]
fn a_server_of_two_sessions_is_prepared_and_emptied() {
    let root = tempfile::TempDir::new().unwrap();
    let offer = Offer::new(ServiceKind::Ftp, root.path(), Ipv4Addr::LOCALHOST.into());
    let serving = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let server = serving.block_on(serve(&offer)).unwrap();
    let service = Target {
        address: Some(Ipv4Addr::LOCALHOST.into()),
        port: Some(narrow(server.port())),
        timeout_ns: 20_000_000_000,
        ..Target::new(ServiceKind::Ftp)
    };
    let spec = StationsSpec { service, file_size_bytes: 1500, ..spec("two sessions") };
    assert_eq!(prepared(&spec).bytes, 3 * 1500);
    let files = std::fs::read_dir(root.path()).unwrap().count();
    assert_eq!(files, 1, "its directory");
    let emptied = emptied(&spec).unwrap();
    assert!(emptied.is_gone, "{emptied:?}");
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
}
