//! Refusals before anything is done, and removal at the end.

use serde_json::{Value, json};

use super::*;

fn changed(changes: &Value) -> MetadataSpec {
    let mut spec = json!({
        "service": {"service": "memory", "directory": "", "timeout_ns": 1_000_000_000},
        "working_name": "lanlab-test-1",
        "token": "0123456789abcdef0123456789abcdef",
        "clients": 2,
        "files": 3,
        "width": 2,
        "depth": 1,
        "longest_ns": 60_000_000_000_u64,
    });
    for (key, value) in changes.as_object().unwrap() {
        spec[key] = value.clone();
    }
    serde_json::from_value(spec).unwrap()
}

#[test]
fn a_tree_that_is_too_large_is_refused_before_it_is_made() {
    assert!(check(&changed(&json!({}))).is_ok());
    for (changes, found) in [
        (json!({"clients": 0}), "clients"),
        (json!({"files": 0}), "files"),
        (json!({"files": 500_001}), "files"),
        (json!({"width": 1_000, "depth": 8}), "depth"),
        (json!({"width": 100, "depth": 2}), "depth"),
        (json!({"depth": 9}), "depth"),
        (json!({"longest_ns": 0}), "longest_ns"),
        (json!({"working_name": "home"}), "working_name"),
    ] {
        let failure = check(&changed(&changes)).map(drop).expect_err(found);
        assert!(failure.message.starts_with(&format!("`{found}`")), "{}", failure.message);
    }
}

#[test]
fn all_names_that_a_trial_can_have_written_are_known() {
    let written = written(&changed(&json!({}))).unwrap();
    let directories: Vec<_> = written.directories.iter().map(ServicePath::as_str).collect();
    assert_eq!(directories, ["c0", "c0/d0", "c0/d1", "c1", "c1/d0", "c1/d1"]);
    let files: Vec<_> = written.files.iter().map(ServicePath::as_str).collect();
    assert_eq!(files[..4], ["c0/d0/f0", "c0/d0/r0", "c0/d0/f1", "c0/d0/r1"]);
    assert_eq!(files.len(), 2 * 3 * 2);
}
