//! Others' programs against the embedded `WebDAV` server: litmus, which asks for what RFC 4918
//! says, and rclone.

use std::path::Path;
use std::process::{Command, Output};

use crate::http_support::{content, offer};
use crate::peer_programs::can_run;
use lanlab_files::{Credentials, ServiceKind};
use lanlab_servers::{Offer, Serving, serve};
use tokio::runtime::Runtime;

const USER: &str = "station";
const SECRET: &str = "not-shown";

fn running(root: &Path) -> (Runtime, Serving) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let credentials = Some(Credentials {
        user: USER.to_owned(),
        secret: SECRET.to_owned(),
        domain: None,
        passphrase: None,
    });
    let offer = Offer { credentials, ..offer(ServiceKind::Webdav, root) };
    let serving = runtime.block_on(serve(&offer)).unwrap();
    (runtime, serving)
}

/// What a program did; ended, with all that it started, if it is not done in a minute.
fn within_a_minute(program: &str, set_up: impl FnOnce(&mut Command)) -> Output {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "60", program]);
    set_up(&mut command);
    command.output().unwrap()
}

/// Suites of litmus, and how many tests each has at least.
const SUITES: [(&str, usize); 5] =
    [("basic", 16), ("copymove", 13), ("props", 30), ("locks", 41), ("http", 4)];

/// What litmus does not simply pass, and why. A test that does otherwise than stands here fails,
/// also if it does better.
const NOT_PASSED: [(&str, &str, &str, &str); 4] = [
    // hyper takes the fragment off a URL before anybody sees it.
    ("basic", "9", "delete_fragment", "pass (with 1 warning)"),
    // dav-server says nothing of a property that is not there, in place of 404 for it.
    ("props", "12", "propget", "pass (with 5 warnings)"),
    ("props", "14", "propget", "pass (with 5 warnings)"),
    ("props", "22", "propget", "pass (with 1 warning)"),
];

#[test]
fn litmus_passes_except_for_the_listed_tests() {
    if !can_run("litmus", false) {
        return;
    }
    let (root, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (runtime, serving) = running(root.path());
    let url = format!("http://127.0.0.1:{}/", serving.port());
    for (suite, count) in SUITES {
        let output = within_a_minute("litmus", |litmus| {
            litmus.args(["-k", &url, USER, SECRET]).env("TESTS", suite).current_dir(work.path());
        });
        let said = String::from_utf8_lossy(&output.stdout);
        let outcomes = outcomes(&said);
        assert!(outcomes.len() >= count, "{suite}: {} tests were run: {said}", outcomes.len());
        let found: Vec<(&str, &str, &str)> = outcomes
            .iter()
            .filter(|(_, _, outcome)| outcome != "pass")
            .map(|(number, name, outcome)| (number.as_str(), name.as_str(), outcome.as_str()))
            .collect();
        let of_suite = NOT_PASSED.iter().filter(|(of, ..)| *of == suite);
        let wanted: Vec<(&str, &str, &str)> =
            of_suite.map(|&(_, number, name, outcome)| (number, name, outcome)).collect();
        assert_eq!(found, wanted, "{suite}: {said}");
    }
    runtime.block_on(serving.end());
}

/// Number, name and outcome of each test. litmus writes over the line of a test, and a warning comes
/// between its name and its outcome.
fn outcomes(said: &str) -> Vec<(String, String, String)> {
    let (mut outcomes, mut current) = (Vec::new(), None);
    for line in said.split(['\r', '\n']) {
        if let Some((number, rest)) = line.trim_start().split_once(". ")
            && number.bytes().all(|octet| octet.is_ascii_digit())
        {
            let name = rest.split(['.', ' ']).next().unwrap_or_default();
            current = Some((number.to_owned(), name.to_owned()));
        }
        let outcome = ["pass", "FAIL", "SKIPPED", "XFAIL"]
            .iter()
            .find_map(|word| line.find(&format!(" {word}")).map(|at| line[at..].trim().to_owned()));
        if !line.contains("WARNING")
            && !line.starts_with("<-")
            && let Some(outcome) = outcome
            && let Some((number, name)) = current.take()
        {
            outcomes.push((number, name, outcome));
        }
    }
    outcomes
}

#[test]
fn rclone_copies_moves_and_syncs() {
    if !can_run("rclone", false) {
        return;
    }
    let (root, local) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (runtime, serving) = running(root.path());
    let obscured = within_a_minute("rclone", |rclone| {
        rclone.args(["obscure", SECRET]);
    });
    let obscured = String::from_utf8(obscured.stdout).unwrap().trim().to_owned();
    let rclone = |arguments: &[&str]| {
        let output = within_a_minute("rclone", |rclone| {
            rclone
                .args(["--config", "/dev/null", "--retries", "1", "--webdav-vendor", "other"])
                .args(["--webdav-url", &format!("http://127.0.0.1:{}", serving.port())])
                .args(["--webdav-user", USER, "--webdav-pass", &obscured])
                .args(arguments);
        });
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let from = local.path().to_str().unwrap();
    std::fs::create_dir_all(local.path().join("a/b c")).unwrap();
    let (one, two) = (content(100_000, 1), content(10, 2));
    std::fs::write(local.path().join("one"), &one).unwrap();
    std::fs::write(local.path().join("a/b c/two%20"), &two).unwrap();
    let at = |name: &str| std::fs::read(root.path().join(name)).ok();
    rclone(&["copy", from, ":webdav:base"]);
    rclone(&["moveto", ":webdav:base/one", ":webdav:base/uno"]);
    rclone(&["moveto", ":webdav:base/a", ":webdav:base/z"]);
    rclone(&["copyto", ":webdav:base/uno", ":webdav:base/due"]);
    assert_eq!(
        (at("base/one"), at("base/uno"), at("base/due")),
        (None, Some(one.clone()), Some(one))
    );
    assert_eq!((at("base/a/b c/two%20"), at("base/z/b c/two%20")), (None, Some(two.clone())));
    rclone(&["sync", from, ":webdav:base"]);
    assert_eq!((at("base/uno"), at("base/z/b c/two%20")), (None, None));
    assert_eq!(at("base/a/b c/two%20"), Some(two));
    rclone(&["purge", ":webdav:base"]);
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    runtime.block_on(serving.end());
}
