//! Files, links, pipes and directories that take each other's place while clients ask for them: nothing
//! outside of the served directory is read or changed, and no other client waits for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lanlab_clients::{AnySession, connect};
use lanlab_files::{Access, ServiceKind, Session, Target};
use tempfile::TempDir;

use super::{ALL, open_to_all, repeats, threads};
use crate::stage::{get, path, run};

const SECRET: &[u8] = b"what no client may read";
const CALM: &[u8] = b"what is in a file that stays";

/// How often a client that is not concerned asks at least, while places are swapped.
const LEAST_ROUNDS: u64 = 20;

/// How long that client may wait: on a busy machine, and where nothing else is to be done.
const BUSY: Duration = Duration::from_secs(10);
const QUIET: Duration = Duration::from_secs(1);

/// What waits for a pipe that nothing opens waits for ever: all of it takes less.
const HANGS: Duration = Duration::from_mins(1);
const LONG_HANGS: Duration = Duration::from_mins(15);

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What comes to be in a place.
#[derive(Debug, Clone, Copy)]
enum Kind {
    File,
    Link,
    Pipe,
    Directory,
}

const KINDS: [Kind; 4] = [Kind::File, Kind::Link, Kind::Pipe, Kind::Directory];

/// Two places of the served directory, a file and a directory by their names, and what comes to be in
/// them.
struct Ground {
    base: TempDir,
}

impl Ground {
    fn new() -> Self {
        let base = TempDir::new().unwrap();
        for directory in ["root", "outside", "stock"] {
            fs::create_dir(base.path().join(directory)).unwrap();
        }
        let ground = Self { base };
        fs::write(ground.at("outside/secret"), SECRET).unwrap();
        fs::write(ground.at("root/calm"), CALM).unwrap();
        ground
    }

    fn at(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    fn swap(&self, place: &str, kind: Kind) {
        let (there, stored) = (self.at(place), self.at("stock").join(format!("{kind:?}")));
        let leads_to = if place.ends_with("/d") { "../outside" } else { "../outside/secret" };
        if stored.symlink_metadata().is_err() {
            make(kind, &stored, leads_to);
        }
        // What a client has put there, or nothing by now: it goes all the same.
        let out = self.at("stock/out");
        if fs::rename(&there, &out).is_ok() {
            let _ = fs::remove_file(&out);
            let _ = fs::remove_dir_all(&out);
        }
        fs::rename(&stored, &there).unwrap_or(());
    }

    fn assert_outside_untouched(&self) {
        assert_eq!(fs::read(self.at("outside/secret")).unwrap(), SECRET);
        let names: Vec<_> = fs::read_dir(self.at("outside")).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }
}

fn make(kind: Kind, at: &Path, leads_to: &str) {
    match kind {
        Kind::File => fs::write(at, "some octets").unwrap(),
        Kind::Link => std::os::unix::fs::symlink(leads_to, at).unwrap(),
        Kind::Pipe => assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
        Kind::Directory => {
            fs::create_dir(at).unwrap();
            fs::write(at.join("secret"), "some octets").unwrap();
        }
    }
}

/// What a client does with the places: all of it may fail, as what is there is mostly something else.
async fn ask(session: &AnySession, round: u64) {
    for name in ["x", "d/secret"] {
        if let Ok(file) = session.open(&path(name), Access::Read).await {
            let mut buffer = vec![0; session.capabilities().block_bytes as usize];
            if let Ok(count) = session.read_at(&file, 0, &mut buffer).await {
                assert!(!buffer[..count].windows(4).any(|some| some == &SECRET[..4]), "{name}");
            }
            let _ = session.close(file).await;
        }
    }
    for name in ["x", "d/new"] {
        let replace = Access::Replace { size_bytes: 3 };
        if let Ok(file) = session.open(&path(name), replace).await {
            let _ = session.write_at(&file, 0, b"new").await;
            let _ = session.close(file).await;
        }
    }
    let _ = session.list(Some(&path("d"))).await;
    let _ = session.make_directory(&path("d/more")).await;
    let _ = session.remove_directory(&path("d/more")).await;
    if round.is_multiple_of(4) {
        let _ = session.remove(&path("x")).await;
        let _ = session.remove(&path("d/secret")).await;
    }
}

/// Ask again and again, with a new session where the last one has ended.
async fn ask_until(target: &Target, is_over: &AtomicBool, rounds: &AtomicU64) {
    let mut session = connect(target).await.unwrap();
    while !is_over.load(Ordering::Relaxed) {
        let round = rounds.fetch_add(1, Ordering::Relaxed);
        ask(&session, round).await;
        if session.list(None).await.is_err()
            && let Ok(new) = connect(target).await
        {
            session = new;
        }
    }
}

fn try_service(service: ServiceKind, swaps: u64, [patience, hangs]: [Duration; 2]) {
    let ground = Ground::new();
    let serving = threads();
    let (_serving, target) = serving.block_on(open_to_all(service, &ground.base));
    let (is_over, rounds, calm_rounds) =
        (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let longest = std::thread::scope(|scope| {
        let ends = Ends(&is_over);
        scope.spawn(|| run(ask_until(&target, &is_over, &rounds)));
        let calm = scope.spawn(|| {
            run(async {
                let session = connect(&target).await.unwrap();
                let mut longest = Duration::ZERO;
                while !is_over.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    assert_eq!(get(&session, &path("calm")).await, CALM);
                    longest = longest.max(start.elapsed());
                    calm_rounds.fetch_add(1, Ordering::Relaxed);
                }
                longest
            })
        });
        let is_tried = |done: u64| {
            let asked = [&rounds, &calm_rounds].map(|rounds| rounds.load(Ordering::Relaxed));
            done >= swaps && asked.iter().all(|asked| *asked >= LEAST_ROUNDS)
        };
        let start = Instant::now();
        let mut done = 0;
        while !is_tried(done) {
            for (place, step) in [("root/x", 0), ("root/d", 1)] {
                ground.swap(place, KINDS[(done / 2 + step) as usize % KINDS.len()]);
                done += 1;
            }
            let took = start.elapsed();
            assert!(took < hangs, "{service:?}: {rounds:?} and {calm_rounds:?} rounds in {took:?}");
        }
        drop(ends);
        calm.join().unwrap()
    });
    assert!(longest < patience, "{service:?}: another client has waited for {longest:?}");
    ground.assert_outside_untouched();
    serving.shutdown_timeout(Duration::from_secs(1));
    println!("{service:?}: {rounds:?} rounds, another client has waited {longest:?} at most");
}

#[test]
fn swapped_links_are_not_followed_and_delay_no_client() {
    for service in ALL {
        try_service(service, 200, [BUSY, HANGS]);
    }
}

#[test]
#[ignore = "long: 5,000 swaps for each service"]
fn many_swapped_links_are_not_followed_and_delay_no_client() {
    for service in ALL {
        try_service(service, repeats(5000) as u64, [QUIET, LONG_HANGS]);
    }
}
