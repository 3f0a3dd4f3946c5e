//! NFS-Ganesha, where it and a portmapper are installed: in a network and a `/run` of its own, so that
//! the ports of the host stay as they are.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lanlab_clients::connect;
use lanlab_files::ServiceKind::Nfs;
use lanlab_files::{Session, Target};
use tempfile::TempDir;

use crate::multiplexed::{
    holds_names, lists_many, moves_a_large_file, reaches_far, run, shares_a_file, target,
    tells_why_not,
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
        "NFS_CORE_PARAM {{ NFS_Protocols = 3; Enable_NLM = false; Enable_RQUOTA = false; }}\n\
         EXPORT {{ Export_Id = 1; Path = {0}; Pseudo = /e; Protocols = 3; Access_Type = RW; \
         Squash = No_Root_Squash; SecType = sys; FSAL {{ Name = VFS; }} }}\n",
        export.display()
    );
    fs::write(at.join("conf"), config).unwrap();
    let file = |name: &str| at.join(name).to_str().unwrap().to_owned();
    let (conf, log, pid) = (file("conf"), file("log"), file("pid"));
    let _server = start("ganesha.nfsd", &["-F", "-f", &conf, "-L", &log, "-p", &pid]);
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
        moves_a_large_file(&target, &export).await;
        holds_names(&target, &export).await;
        reaches_far(&target).await;
        shares_a_file(&target).await;
        tells_why_not(&target).await;
        lists_many(&target, &export).await;
        // The port of a URL is that of NFS; the portmapper knows where mounts are asked for.
        let named = connect(&Target { port: Some(2049), ..target }).await.unwrap();
        named.end().await.unwrap();
    });
}
