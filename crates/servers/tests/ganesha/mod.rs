//! NFS-Ganesha, where it and a portmapper are installed: in a network and a `/run` of its own, so that
//! the ports of the host stay as they are.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use lanlab_clients::{AnySession, connect, exchanges, places};
use lanlab_files::ServiceKind::{Nfs, Nfs4};
use lanlab_files::{Access, Class, Session, Target};
use lanlab_wire::nfs4::Status;
use tempfile::TempDir;

use crate::multiplexed::{
    Pass, content, get, holds_names, lists_many, moves_a_large_file, path, proxy, put, reaches_far,
    run, shares_a_file, target, tells_why_not,
};
use crate::peer_programs::{can_run, missing};

/// Set where the test runs in namespaces of its own.
const INSIDE: &str = "LANLAB_TEST_INSIDE";

#[test]
fn the_client_works_with_ganesha() {
    for name in ["ganesha.nfsd", "rpcbind", "unshare"] {
        if !can_run(name, false) {
            return;
        }
    }
    let may = Command::new("unshare").args(["-n", "-m", "true"]).output().unwrap();
    if !may.status.success() {
        missing("unshare: namespaces of its own need root");
        return;
    }
    let inside = Command::new("unshare")
        .args(["-n", "-m"])
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "ganesha::inside"])
        .env(INSIDE, "1")
        // Two clients' futures, without optimisation.
        .env("RUST_MIN_STACK", "16777216")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&inside.stdout);
    assert!(inside.status.success(), "{said}{}", String::from_utf8_lossy(&inside.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

/// Its end is the process's.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &str, arguments: &[&str]) -> Daemon {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Daemon(command.spawn().unwrap())
}

fn must(program: &str, arguments: &[&str]) {
    assert!(Command::new(program).args(arguments).status().unwrap().success(), "{program}");
}

#[test]
#[ignore = "the other test starts it, in namespaces of its own"]
fn inside() {
    assert!(std::env::var_os(INSIDE).is_some(), "only where the other test starts it");
    must("mount", &["-t", "tmpfs", "lanlab-test", "/run"]);
    must("ip", &["link", "set", "lo", "up"]);
    fs::create_dir_all("/run/rpcbind").unwrap();
    let _portmapper = start("rpcbind", &["-f", "-i"]);
    let folder = TempDir::new().unwrap();
    let (at, export) = (folder.path(), folder.path().join("export"));
    fs::create_dir(&export).unwrap();
    let config = format!(
        "NFS_CORE_PARAM {{ NFS_Protocols = 3, 4; Enable_NLM = false; Enable_RQUOTA = false; }}\n\
         NFSv4 {{ Graceless = true; Minor_Versions = 1; }}\n\
         EXPORT_DEFAULTS {{ Protocols = 3, 4; Squash = No_Root_Squash; SecType = sys; }}\n\
         EXPORT {{ Export_Id = 1; Path = {0}; Pseudo = /e; Access_Type = RW; FSAL {{ Name = VFS; }} }}\n\
         EXPORT {{ Export_Id = 2; Path = {0}; Pseudo = /only/read; Tag = ro; Access_Type = RO; \
         FSAL {{ Name = VFS; }} }}\n",
        export.display()
    );
    fs::write(at.join("conf"), &config).unwrap();
    let file = |name: &str| at.join(name).to_str().unwrap().to_owned();
    let (conf, log, pid) = (file("conf"), file("log"), file("pid"));
    let arguments = ["-F", "-f", &*conf, "-L", &log, "-p", &pid];
    let server = start("ganesha.nfsd", &arguments);
    let share = export.to_str().map(str::to_owned);
    let target = Target { port: None, share, ..target(Nfs, 0) };
    run(async {
        let until = Instant::now() + Duration::from_mins(1);
        while let Err(fault) = connect(&target).await {
            assert!(Instant::now() < until, "{fault}\n{}", fs::read_to_string(&log).unwrap());
            thread::sleep(Duration::from_millis(200));
        }
        let session = connect(&target).await.unwrap();
        assert_eq!(session.facts().protocol, "NFS 3");
        session.end().await.unwrap();
        works(&target, &export).await;
        assert_eq!(places(&target).await.unwrap()[0], target.share.clone().unwrap());
        // The port of a URL is that of NFS; the portmapper knows where mounts are asked for.
        let named = connect(&Target { port: Some(2049), ..target.clone() }).await.unwrap();
        named.end().await.unwrap();

        empty(&export);
        let target = Target { service: Nfs4, share: Some("/e".to_owned()), ..target };
        let session = connect(&target).await.unwrap();
        assert_eq!(session.facts().protocol, "NFS 4.1");
        session.end().await.unwrap();
        assert_eq!(places(&target).await.unwrap(), ["/e", "/only"]);
        works(&target, &export).await;
        empty(&export);
        renames_and_removes(&target, &export).await;
        counts_its_compounds(&target).await;
        let share = Some("/only/read".to_owned());
        refuses_changes(&Target { share, ..target.clone() }, &export).await;
        bears_what_a_server_does(&target, &export).await;
        names_the_exports(&target).await;
        drop(server);
        fs::write(at.join("conf"), config.replace("Graceless", "Lease_Lifetime = 2; Graceless"))
            .unwrap();
        let mut server = start("ganesha.nfsd", &arguments);
        outlives_its_lease(&target, &export).await;
        let session = connect(&target).await.unwrap();
        server.0.kill().unwrap();
        server.0.wait().unwrap();
        assert_eq!(session.list(None).await.unwrap_err().class, Class::Reset);
        assert_eq!(connect(&target).await.unwrap_err().class, Class::Refused);
    });
}

/// Check what the clients of both versions do.
async fn works(target: &Target, export: &Path) {
    moves_a_large_file(target, export).await;
    holds_names(target, export).await;
    reaches_far(target).await;
    shares_a_file(target).await;
    tells_why_not(target).await;
    lists_many(target, export).await;
}

fn empty(export: &Path) {
    for entry in fs::read_dir(export).unwrap().map(Result::unwrap) {
        fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path())).unwrap();
    }
}

/// A file and a directory are removed by one operation of NFS 4, but not one for the other.
async fn renames_and_removes(target: &Target, export: &Path) {
    let session = connect(target).await.unwrap();
    let deep = (0..40).fold("d".to_owned(), |path, number| {
        fs::create_dir(export.join(&path)).unwrap();
        format!("{path}/{number}")
    });
    put(&session, &path(&deep), b"deep").await;
    put(&session, &path("old"), &content(70_000, 5)).await;
    session.rename(&path(&deep), &path("old")).await.unwrap();
    assert_eq!(session.stat(&path("old")).await.unwrap().size_bytes, 4);
    assert_eq!(get(&session, &path("old")).await, b"deep");
    let (parent, _) = deep.rsplit_once('/').unwrap();
    assert_eq!(session.remove(&path(parent)).await.unwrap_err().class, Class::Exists);
    session.remove_directory(&path(parent)).await.unwrap();
    assert_eq!(session.remove_directory(&path("old")).await.unwrap_err().class, Class::Missing);
    session.remove(&path("old")).await.unwrap();
    fs::remove_dir_all(export.join("d")).unwrap();
    session.end().await.unwrap();
}

/// After the head of RFC 5531 (six words): status, empty tag, number of results; then SEQUENCE with its status and
/// 36 octets, and PUTFH with its status.
const STATUS: usize = 24;
const OF_SEQUENCE: usize = STATUS + 16;
const OF_PUTFH: usize = OF_SEQUENCE + 4 + 36 + 4;

fn set(frame: &mut [u8], at: usize, status: Status) {
    frame[at..at + 4].copy_from_slice(&status.0.to_be_bytes());
}

/// Connect through a proxy that changes the frames after the mount; each has a number.
async fn through(
    target: &Target,
    mut change: impl FnMut(&mut Vec<u8>, usize) -> Pass + Send + 'static,
) -> AnySession {
    let mut number = 0;
    let (port, _) = proxy(2049, move |frame| {
        number += 1;
        if number > 5 { change(frame, number - 6) } else { Pass::On }
    });
    connect(&Target { port: Some(port), ..target.clone() }).await.unwrap()
}

async fn bears_what_a_server_does(target: &Target, export: &Path) {
    let delayed = |frame: &mut Vec<u8>, number| {
        if number < 2 {
            set(frame, STATUS, if number == 0 { Status::DELAY } else { Status::GRACE });
            set(frame, OF_PUTFH, Status::DELAY);
        }
        Pass::On
    };
    fs::write(export.join("there"), b"x").unwrap();
    let session = through(target, delayed).await;
    exchanges::take();
    assert_eq!(session.list(None).await.unwrap().len(), 1, "it asked again, and again");
    assert_eq!(exchanges::take().answered, 3);

    let brief = Target { timeout_ns: 100_000_000, ..target.clone() };
    let session = through(&brief, |frame, _| {
        set(frame, STATUS, Status::GRACE);
        Pass::On
    })
    .await;
    let fault = session.list(None).await.unwrap_err();
    assert_eq!((fault.class, &*fault.message), (Class::TimedOut, "list `.`: NFS4ERR_GRACE"));

    let forget_session = |frame: &mut Vec<u8>, _| {
        set(frame, STATUS, Status::BADSESSION);
        set(frame, OF_SEQUENCE, Status::BADSESSION);
        Pass::On
    };
    let fault = through(target, forget_session).await.list(None).await.unwrap_err();
    assert_eq!((fault.class, &*fault.message), (Class::Reset, "list `.`: NFS4ERR_BADSESSION"));

    // The verifier is the last of a WRITE's result.
    let session = through(target, |frame, number| {
        let last = frame.len() - 1;
        frame[last] ^= u8::from(number == 2);
        Pass::On
    })
    .await;
    let file = session.open(&path("restarted"), Access::Create { size_bytes: 9 }).await.unwrap();
    session.write_at(&file, 0, b"some").await.unwrap();
    let fault = session.write_at(&file, 4, b"more").await.unwrap_err();
    assert!(fault.class == Class::Reset && fault.message.contains("began anew"), "{fault}");

    for seed in 0..20 {
        let last = usize::from(content(1, seed)[0]) % 8;
        let session = through(target, move |_, number| match number {
            number if number == last => Pass::CutInTheMiddle,
            _ => Pass::On,
        })
        .await;
        let fault = works_until_it_fails(&session).await.unwrap_err();
        assert_eq!(fault.class, Class::Reset, "{seed}: {fault}");
        assert_eq!(session.list(None).await.unwrap_err().class, Class::Reset, "{seed}");
        empty(export);
    }
}

async fn works_until_it_fails(session: &AnySession) -> lanlab_files::Result<()> {
    let (folder, file) = (path("folder"), path("folder/file"));
    session.make_directory(&folder).await?;
    let opened = session.open(&file, Access::Create { size_bytes: 100_000 }).await?;
    session.write_at(&opened, 0, &vec![7; 100_000]).await?;
    session.close(opened).await?;
    let opened = session.open(&file, Access::Read).await?;
    session.read_at(&opened, 90_000, &mut [0; 100]).await?;
    session.close(opened).await?;
    session.rename(&file, &path("file")).await
}

async fn counts_its_compounds(target: &Target) {
    let session = connect(target).await.unwrap();
    let data = content(16_000, 6);
    exchanges::take();
    put(&session, &path("small"), &data).await;
    assert_eq!(exchanges::take().answered, 2, "OPEN; then WRITE, COMMIT and CLOSE");
    assert_eq!(get(&session, &path("small")).await, data);
    assert_eq!(exchanges::take().answered, 1, "OPEN, READ and CLOSE");
    let replaced = session.open(&path("small"), Access::Replace { size_bytes: 1 }).await.unwrap();
    session.write_at(&replaced, 0, b"x").await.unwrap();
    session.close(replaced).await.unwrap();
    assert_eq!(get(&session, &path("small")).await, b"x");
    session.remove(&path("small")).await.unwrap();
    session.end().await.unwrap();
}

/// The root of NFS 4 only leads to exports.
async fn names_the_exports(target: &Target) {
    let root = Target { share: Some("/".to_owned()), ..target.clone() };
    let session = connect(&root).await.unwrap();
    assert!(session.largest_file_bytes() > 1 << 40, "not the 512 octets of a root without files");
    let fault = session.make_directory(&path("new")).await.unwrap_err();
    assert_eq!(
        (fault.class, &*fault.message),
        (Class::Denied, "make directory `new`: NFS4ERR_ROFS")
    );
    assert!(fault.hint.unwrap().ends_with("name one (found: /e, /only)"));
    session.end().await.unwrap();
}

/// A session that was idle for longer than its lease of two seconds goes on, and so does its open file.
async fn outlives_its_lease(target: &Target, export: &Path) {
    let until = Instant::now() + Duration::from_mins(1);
    let session = loop {
        match connect(target).await {
            Ok(session) => break session,
            Err(fault) => assert!(Instant::now() < until, "{fault}"),
        }
        thread::sleep(Duration::from_millis(200));
    };
    let name = path("idle");
    let file = session.open(&name, Access::Create { size_bytes: 8 }).await.unwrap();
    session.write_at(&file, 0, b"some").await.unwrap();
    // Nothing is sent meanwhile: the server ends the session.
    thread::sleep(Duration::from_secs(10));
    let (first, second) =
        tokio::join!(session.write_at(&file, 4, b"mo"), session.write_at(&file, 6, b"re"));
    first.unwrap();
    second.unwrap();
    session.close(file).await.unwrap();
    assert_eq!(get(&session, &name).await, b"somemore");
    session.remove(&name).await.unwrap();
    session.end().await.unwrap();
    empty(export);
}

async fn refuses_changes(target: &Target, export: &Path) {
    fs::write(export.join("kept"), b"kept").unwrap();
    let session = connect(target).await.unwrap();
    assert_eq!(get(&session, &path("kept")).await, b"kept");
    let new = session.open(&path("new"), Access::Create { size_bytes: 1 }).await;
    let fault = new.unwrap_err();
    assert_eq!((fault.class, &*fault.message), (Class::Denied, "open `new`: NFS4ERR_ROFS"));
    assert_eq!(session.remove(&path("kept")).await.unwrap_err().class, Class::Denied);
    assert_eq!(session.make_directory(&path("new")).await.unwrap_err().class, Class::Denied);
    session.end().await.unwrap();
    fs::remove_file(export.join("kept")).unwrap();
}
