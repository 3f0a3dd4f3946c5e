//! The tests of Samba's smbtorture that our server passes.
//!
//! bench/results/smbtorture.md lists the others, with reasons.

use std::process::Command;

use lanlab_files::ServiceKind::Smb1;

use crate::multiplexed::{run, served};
use crate::peer_programs::can_run;

/// Suites, and the tests of each.
const PASSED: [(&str, &[&str]); 23] = [
    ("base.lock", &["LOCK1", "LOCK2", "LOCK3", "LOCK4", "LOCK5", "LOCK6", "LOCK7"]),
    (
        "raw.lock",
        &[
            "lockx",
            "lock",
            "async",
            "pidhigh",
            "errorcode",
            "changetype",
            "stacking",
            "unlock",
            "multiple_unlock",
            "zerobytelocks",
            "zerobyteread",
            "multilock",
            "multilock4",
        ],
    ),
    ("raw.read", &["read", "readx", "lockread", "readbraw", "read for execute"]),
    ("raw.write", &["writex"]),
    (
        "raw.open",
        &[
            "brlocked",
            "open",
            "open-multi",
            "ntcreatex",
            "ctemp",
            "chained-openx",
            "chained-ntcreatex",
            "no-leading-slash",
            "openx-over-dir",
            "open-for-delete",
            "opendisp-dir",
            "ntcreatedir",
            "open-for-truncate",
            "ntcreatex_supersede",
        ],
    ),
    ("raw.rename", &["mv", "osxrename"]),
    ("raw.unlink", &["delete_on_close", "unlink-defer"]),
    ("raw.context", &["tree_ulogoff", "pid_only_sess", "pid_2sess", "pid_2tcon"]),
    ("base.deny1", &["deny1"]),
    ("base.deny2", &["deny2"]),
    ("base.deny3", &["deny3"]),
    ("base.open", &["open"]),
    ("base.ntdeny1", &["ntdeny1"]),
    ("base.ntdeny2", &["ntdeny2"]),
    ("base.tcon", &["tcon"]),
    ("base.vuid", &["vuid"]),
    ("base.rw1", &["rw1"]),
    ("base.attr", &["attr"]),
    ("base.dir1", &["dir1"]),
    ("base.dir2", &["dir2"]),
    ("base.trans2", &["trans2"]),
    ("base.unlink", &["unlink"]),
    (
        "base.delete",
        &[
            "deltest1",
            "deltest2",
            "deltest3",
            "deltest4",
            "deltest5",
            "deltest6",
            "deltest7",
            "deltest8",
            "deltest9",
            "deltest9a",
            "deltest10",
            "deltest11",
            "deltest12",
            "deltest13",
            "deltest14",
            "deltest15",
            "deltest16",
            "deltest17",
            "deltest17b",
            "deltest17c",
            "deltest17d",
            "deltest17e",
            "deltest17f",
            "deltest18",
            "deltest19",
            "deltest20a",
            "deltest20c",
            "deltest21",
            "deltest22",
            "deltest23",
            "deltest24",
            "deltest25",
            "deltest25a",
        ],
    ),
];

#[test]
fn smbtorture_checks_pass_as_on_windows() {
    if !can_run("smbtorture", false) {
        return;
    }
    run(async {
        // The first two wait for locks for ten seconds: each group has a server of its own.
        let (locks, others) = PASSED.split_at(2);
        let failed = tokio::join!(all(&locks[..1]), all(&locks[1..]), all(others));
        let failed = [failed.0, failed.1, failed.2].concat();
        assert!(failed.is_empty(), "{}", failed.join("\n"));
    });
}

/// Tests of suites that do not pass at a server of their own.
async fn all(suites: &'static [(&str, &[&str])]) -> Vec<String> {
    let (_root, serving, target) = served(Smb1).await;
    let port = serving.port().to_string();
    let who = target.credentials.unwrap();
    let who = format!("{}%{}", who.user, who.secret);
    // The server lives on this thread, so that its client is waited for on another.
    let failed = tokio::task::spawn_blocking(move || {
        suites.iter().flat_map(|(suite, tests)| failed(suite, tests, &port, &who)).collect()
    });
    let failed = failed.await.unwrap();
    serving.end().await;
    failed
}

/// Tests of a suite that do not pass, with all that was said.
fn failed(suite: &str, tests: &[&str], port: &str, who: &str) -> Vec<String> {
    let named = tests.iter().map(|test| format!("{suite}.{test}"));
    // A suite of one test has its name.
    let is_one = tests.iter().all(|test| suite.ends_with(&format!(".{test}")));
    let named: Vec<_> = if is_one { vec![suite.to_owned()] } else { named.collect() };
    let done = Command::new("timeout")
        .args(["--kill-after=5", "60", "smbtorture", "//127.0.0.1/lanlab", "-p", port])
        .args(["-s", "/dev/null", "-m", "NT1", "--option=clientminprotocol=NT1", "-U", who])
        // Files of a listing: as many as two responses hold.
        .arg("--entries=100")
        .args(named)
        // It makes a folder of its own where it runs.
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let passed = |test: &str| said.lines().any(|line| line == format!("success: {test}"));
    let missed = tests.iter().filter(|test| !passed(test));
    missed.map(|test| format!("{suite}.{test}: {said}")).collect()
}
