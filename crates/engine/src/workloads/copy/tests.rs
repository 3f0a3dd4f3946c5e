//! Allowed copies, their cost, and results about remaining files.

use lanlab_files::{Class, Fault};
use lanlab_workloads::copy::CopyError;
use serde_json::{Value, json};

use super::not_removed::{NotRemoved, remove_working, removed_directory};
use super::removal::is_refusal;
use super::service_paths::{files_path, mark_path, path, remote_path};
use super::*;

mod removal;
pub mod scripted;

const TOKEN: &str = "000102030405060708090a0b0c0d0e0f";

fn spec() -> Value {
    json!({
        "service": {"service": "directory", "directory": "/served"},
        "working_name": "lanlab-test-1",
        "token": TOKEN,
        "direction": "upload",
        "files": {"dataset": {
            "seed": 7, "groups": [{"count": 2, "least_bytes": 10, "most_bytes": 10}],
        }},
        "client": "memory",
        "parallel_files": 3,
        "block_bytes": 4096,
        "sync": "none",
        "verify": "content",
        "retries": 2,
    })
}

fn changed(changes: &Value) -> CopySpec {
    let mut spec = spec();
    for (key, value) in changes.as_object().unwrap() {
        spec[key] = value.clone();
    }
    serde_json::from_value(spec).unwrap()
}

fn is_allowed(changes: &Value) -> bool {
    check(&changed(changes)).is_ok()
}

#[test]
fn copy_limits_are_inclusive() {
    let year_ns = 366 * 86_400 * 1_000_000_000_u64;
    for (key, most) in [
        ("parallel_files", 64_u64),
        ("retries", 100),
        ("block_bytes", 8 << 20),
        ("longest_ns", year_ns),
    ] {
        assert!(is_allowed(&json!({key: most})), "{key}");
        assert!(!is_allowed(&json!({key: most + 1})), "{key}");
    }
    for (key, least) in
        [("parallel_files", 1_u64), ("block_bytes", 512), ("longest_ns", 1_000_000), ("depth", 1)]
    {
        assert!(is_allowed(&json!({key: least})), "{key}");
        assert!(!is_allowed(&json!({key: least - 1})), "{key}");
    }
    // Bytes in flight: block size times number of blocks.
    let under_way = |block_bytes: u64, depth: u64| {
        is_allowed(&json!({"block_bytes": block_bytes, "depth": depth}))
    };
    assert!(under_way(4 << 20, 3) && !under_way(4 << 20, 4));
    assert!(under_way(4_096, 256) && !under_way(4_096, 257));
    assert!(under_way(8 << 20, SESSION_BYTES / (8 << 20)));
    assert!(!under_way(8 << 20, SESSION_BYTES / (8 << 20) + 1));
}

#[test]
fn a_copy_needs_memory_and_a_thread_per_concurrent_file() {
    let cost = check(&changed(&json!({"parallel_files": 3}))).unwrap();
    // Memory of the services' buffers, file names and block hashes.
    let own = (1_048_576 + SESSION_BYTES + 2 * METERS_BYTES) * 3 + 33_554_432 + 67_108_864;
    assert_eq!((cost.memory_bytes, cost.threads), (own, 3 + OWN_THREADS));
}

#[test]
fn existing_trees_are_copied_in_place() {
    let root = "/tree";
    let elsewhere = "/other";
    let tree = |direction: &str, client: Value| {
        is_allowed(&json!({"files": {"tree": root}, "direction": direction, "client": client}))
    };
    assert!(tree("upload", json!({"directory": root})));
    assert!(!tree("upload", json!({"directory": elsewhere})) && !tree("upload", json!("memory")));
    assert!(tree("download", json!({"directory": elsewhere})));
    assert!(tree("download", json!("memory")));
    assert!(!is_allowed(&json!({"files": {"tree": "tree"}, "direction": "download"})));
    assert!(!is_allowed(&json!({"client": {"directory": "relative"}})));
}

#[test]
fn trial_names_and_tokens_have_our_format() {
    let named = |name: &str| check_words(name, TOKEN).is_ok();
    let letters = |count| format!("lanlab-{}", "a".repeat(count));
    assert!(named("lanlab-a-1") && named(&letters(80)) && named("0123abCD.lab"));
    for wrong in ["lanlab-", "lanlab-a_b", "lanlab-a.b", "0123abc.lab", "0123abcg.lab", "home", ""]
    {
        assert!(!named(wrong), "{wrong}");
    }
    assert!(!named(&letters(81)) && !named("0123abcd0.lab"));
    let token = |token: &str| check_words("lanlab-a", token).is_ok();
    assert!(token(TOKEN) && token(&"F".repeat(32)));
    assert!(!token(&"0".repeat(31)) && !token(&"0".repeat(33)) && !token(&"g".repeat(32)));
}

#[test]
fn remote_paths_are_below_the_trial_directory() {
    let spec = changed(&json!({}));
    assert_eq!(files_path(&spec.working_name).unwrap().as_str(), "lanlab-test-1/files");
    let file = path("a/b".to_owned()).unwrap();
    assert_eq!(remote_path(&spec.working_name, &file).unwrap().as_str(), "lanlab-test-1/files/a/b");
    assert_eq!(mark_path("lanlab-a").unwrap().as_str(), "lanlab-a/lanlab-mark");
    assert_eq!(mark_path("01234567.lab").unwrap().as_str(), "01234567.lab/mark.lab");
}

#[test]
fn remaining_files_are_counted_and_twenty_named() {
    let at = |number: u32| path(format!("f{number}")).unwrap();
    let mut left = NotRemoved::default();
    assert!(left.is_none() && !left.has_refusal());
    left.kept(&at(0));
    assert!(!left.is_none() && !left.has_refusal());
    left.refused(&at(1), &Fault::new(Class::Denied, "first"));
    left.refused(&at(2), &Fault::new(Class::Denied, "second"));
    assert!(left.has_refusal());
    (3..25).for_each(|number| left.kept(&at(number)));
    let described = left.described().unwrap();
    let names: Vec<_> = (0..20).map(|number| format!("f{number}")).collect();
    assert_eq!(
        (described.count, described.names, described.refusal.as_deref()),
        (25, names, Some("first"))
    );
    assert!(NotRemoved::default().described().is_none());
}

#[test]
fn missing_files_and_bad_names_are_not_refusals() {
    let refused = |class| is_refusal(&Fault::new(class, "no"));
    assert!(refused(Class::Denied) && refused(Class::Protocol));
    assert!(!refused(Class::Missing) && !refused(Class::Name));
}

#[test]
fn a_mark_matches_only_its_own_trial() {
    use trial_directory::{MARK_LINE, is_of};
    let mark = format!("{MARK_LINE}{TOKEN}\nf a\n");
    assert!(is_of(&mark, TOKEN));
    assert!(!is_of(&mark, &"0".repeat(32)) && !is_of("", TOKEN) && !is_of(TOKEN, TOKEN));
}

#[test]
fn only_a_wrong_length_makes_a_copy_wrong() {
    let trouble = |class| {
        let fault = CopyError::Service(Fault::new(class, "3 of 5 octets"));
        check::short_is_wrong(fault, &path("a".into()).unwrap(), 5)
    };
    let CopyError::Own(failure) = trouble(Class::Length) else { panic!("it was taken") };
    assert_eq!(failure.code, "copy.wrong");
    assert_eq!(failure.message, "`a`: the copy is not whole: 3 of 5 octets");
    assert!(
        matches!(trouble(Class::Reset), CopyError::Service(fault) if fault.class == Class::Reset)
    );
}

#[test]
fn uploads_need_a_source_and_downloads_a_target_directory() {
    let directory = tempfile::TempDir::new().unwrap();
    let at = |direction: &str| {
        let spec = changed(&json!({
            "direction": direction, "client": {"directory": directory.path()},
        }));
        (
            workers::local_source(&spec).unwrap().is_some(),
            workers::local_place(&spec).unwrap().is_some(),
        )
    };
    assert_eq!((at("upload"), at("download")), ((true, false), (false, true)));
    let spec = changed(&json!({}));
    assert!(workers::local_source(&spec).unwrap().is_none());
    assert!(workers::local_place(&spec).unwrap().is_none());
}

#[test]
fn a_copy_that_never_waits_yields_to_others() {
    use lanlab_units::Clock;
    let mut work = std::pin::pin!(async {
        for _ in 0..10_000 {
            clock::RuntimeClock.yield_now(false).await;
        }
    });
    let mut polls = 0;
    runtime().unwrap().block_on(std::future::poll_fn(|context| {
        polls += 1;
        work.as_mut().poll(context)
    }));
    assert!(polls > 10, "{polls}");
}

#[test]
fn an_empty_directory_that_stays_is_a_refusal() {
    use not_removed::is_refused_itself;
    assert!(is_refused_itself(true, Class::Denied) && !is_refused_itself(true, Class::Exists));
    assert!(!is_refused_itself(false, Class::Denied));
}
