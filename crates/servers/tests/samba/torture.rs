//! smbtorture of Samba at the embedded server: which of its tests pass, and why the others do not.
//!
//! The list is exact. A test that fails and is not listed fails ours, and so does one that passes and
//! is listed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use lanlab_files::ServiceKind::Smb;

use super::{can_run, missing, run, served, user};

/// Another version has other tests.
const VERSION: &str = "4.17.";

/// Seconds after which a group hangs; all of them take 15 where nothing else runs.
const MOST_SECONDS: &str = "300";

/// What concerns what is served, and how many tests of it pass.
const GROUPS: [(&str, usize); 10] = [
    ("smb2.connect", 0),
    ("smb2.rw", 2),
    ("smb2.dir", 5),
    ("smb2.rename", 7),
    ("smb2.read", 2),
    ("smb2.lock", 15),
    ("smb2.create", 6),
    ("smb2.compound", 10),
    ("smb2.sharemode", 3),
    ("smb2.session", 0),
];

/// Not run: it measures for 10 s, and fails for nothing that is asked here.
const LEFT_OUT: [&str; 1] = ["smb2.create.bench-path-contention-shared"];

/// Tests that fail, by the reason. `docs/limits.md` has the reasons.
const FAILURES: [(&str, &[&str]); 11] = [
    (
        "a file has the attribute NORMAL, never ARCHIVE",
        &[
            "smb2.rename.close-full-information",
            "smb2.session.reconnect1",
            "smb2.session.reconnect2",
            "smb2.session.reauth1",
            "smb2.session.reauth2",
            "smb2.session.reauth3",
            "smb2.session.reauth4",
            "smb2.session.reauth5",
            "smb2.session.reauth6",
            "smb2.session.bind_negative_smb202",
            "smb2.session.bind_negative_smb210s",
            "smb2.session.bind_negative_smb210d",
            "smb2.session.bind_negative_smb2to3s",
            "smb2.session.bind_negative_smb2to3d",
            "smb2.session.bind_negative_smb3to2s",
            "smb2.session.bind_negative_smb3to2d",
            "smb2.session.bind_negative_smb3to3s",
            "smb2.session.bind_negative_smb3to3d",
            "smb2.session.bind_negative_smb3encGtoCs",
            "smb2.session.bind_negative_smb3encGtoCd",
        ],
    ),
    (
        "an echo on a connection without a session ends it ([MS-SMB2] 3.3.5.17: SHOULD)",
        &["smb2.connect.connect", "smb2.session.two_logoff"],
    ),
    (
        "a directory that is open does not keep what is in it from being renamed",
        &[
            "smb2.rename.share_delete_and_delete_access",
            "smb2.rename.no_share_delete_but_delete_access",
            "smb2.rename.no_share_delete_no_delete_access",
        ],
    ),
    (
        "locks are refused at once and not waited for",
        &[
            "smb2.lock.async",
            "smb2.lock.cancel",
            "smb2.lock.cancel-tdis",
            "smb2.lock.cancel-logoff",
        ],
    ),
    (
        "no durable or resilient handles, no oplocks",
        &["smb2.lock.replay_broken_windows", "smb2.lock.replay_smb3_specification_durable"],
    ),
    ("changes are not notified of", &["smb2.compound.interim1", "smb2.compound.interim2"]),
    (
        "no security descriptors",
        &[
            "smb2.create.aclfile",
            "smb2.create.acldir",
            "smb2.create.nulldacl",
            "smb2.compound.related4",
            "smb2.compound.related7",
        ],
    ),
    (
        "no object ids, quotas or allocation of space ahead",
        &["smb2.compound.related3", "smb2.create.quota-fake-file", "smb2.create.blob"],
    ),
    (
        "the times of a file's making and change are the system's",
        &["smb2.create.open", "smb2.dir.one", "smb2.dir.modify"],
    ),
    (
        "what is removed during a listing is listed still, no place in a file is remembered",
        &["smb2.dir.fixed", "smb2.read.position"],
    ),
    (
        "what is wrong is refused by another status, or not refused",
        &[
            "smb2.compound.compound-padding",
            "smb2.compound.invalid1",
            "smb2.compound.invalid2",
            "smb2.compound.invalid4",
            "smb2.create.gentest",
            "smb2.create.impersonation",
            "smb2.create.leading-slash",
            "smb2.lock.valid-request",
            "smb2.read.dir",
            "smb2.rw.invalid",
            "smb2.session.ntlmssp_bug14932",
        ],
    ),
];

/// Whether it is there, in the version that the list is of.
fn is_known() -> bool {
    if !can_run("smbtorture", false) {
        return false;
    }
    let version = Command::new("smbtorture").arg("--version").output().unwrap();
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let version = version.lines().next().and_then(|line| line.split(' ').nth(1)).unwrap_or("");
    let is_known = version.starts_with(VERSION);
    if !is_known {
        missing(&format!("smbtorture: found `{version}`, the list is of {VERSION}*"));
    }
    is_known
}

/// The tests of a group, as it takes them.
fn tests_of(group: &str, list: &str) -> Vec<String> {
    list.lines()
        .filter(|line| {
            *line == format!("{group}.connect") || line.starts_with(&format!("{group}."))
        })
        .filter(|line| !LEFT_OUT.iter().any(|left_out| line.starts_with(left_out)))
        .map(str::to_owned)
        .collect()
}

/// What became of each test, by its name: `success`, `failure` with its reason, `skip`.
fn results(group: &str, output: &str) -> BTreeMap<String, String> {
    let mut results = BTreeMap::new();
    let mut lines = output.lines();
    while let Some(line) = lines.next() {
        let Some((result, name)) = line.split_once(": ") else { continue };
        if !["success", "failure", "error", "skip"].contains(&result) {
            continue;
        }
        let why = if name.ends_with(" [") { lines.next().unwrap_or("") } else { "" };
        let name = format!("{group}.{}", name.trim_end_matches(" ["));
        results.insert(name, format!("{result} {why}"));
    }
    results
}

#[test]
fn smbtorture_reports_only_the_listed_failures() {
    if !is_known() {
        return;
    }
    let list = Command::new("smbtorture").arg("--list").output().unwrap();
    let list: &str = String::from_utf8(list.stdout).unwrap().leak();
    run(async {
        // Most of it is waiting.
        let wrong = tokio::join!(third(0, list), third(1, list), third(2, list));
        let wrong = [wrong.0, wrong.1, wrong.2].concat();
        assert!(wrong.is_empty(), "{wrong}");
    });
}

/// What is wrong with a third of the groups, at a server of their own.
async fn third(first: usize, list: &'static str) -> String {
    let (_root, serving, _) = served(Smb).await;
    let port = serving.port().to_string();
    let who = format!("{}%{}", user().user, user().secret);
    // The server lives on this thread, so that the client is waited for on another.
    let wrong = tokio::task::spawn_blocking(move || {
        let mut wrong = String::new();
        for (group, passing) in GROUPS.into_iter().skip(first).step_by(3) {
            judge(group, passing, list, &port, &who, &mut wrong);
        }
        wrong
    });
    let wrong = wrong.await.unwrap();
    serving.end().await;
    wrong
}

/// Run a group, and add what is not as it is listed.
fn judge(group: &str, passing: usize, list: &str, port: &str, who: &str, wrong: &mut String) {
    let tests = tests_of(group, list);
    let done = Command::new("timeout")
        .args([MOST_SECONDS, "smbtorture", "//127.0.0.1/lanlab", "-p", port, "-U", who])
        .args(["-s", "/dev/null", "--option=torture:progress=no"])
        .args(&tests)
        .output()
        .unwrap();
    let results = results(group, &String::from_utf8_lossy(&done.stdout));
    if results.len() != tests.len() {
        let _ = writeln!(wrong, "{group}: {} tests, {} results", tests.len(), results.len());
    }
    let passed = results.values().filter(|result| result.starts_with("success")).count();
    if passed != passing {
        let _ = writeln!(wrong, "{group}: {passing} pass by the list, {passed} have");
    }
    let listed: Vec<&str> = FAILURES.iter().flat_map(|(_, names)| *names).copied().collect();
    for (name, result) in &results {
        let is_listed = listed.contains(&name.as_str());
        let has_failed = result.starts_with("failure") || result.starts_with("error");
        if is_listed != has_failed {
            let _ = writeln!(wrong, "{name}: {result}; listed as failing: {is_listed}");
        }
    }
    let prefix = format!("{group}.");
    for name in listed.iter().filter(|name| name.starts_with(&prefix)) {
        if !results.contains_key(*name) {
            let _ = writeln!(wrong, "{name}: listed, not run");
        }
    }
}
