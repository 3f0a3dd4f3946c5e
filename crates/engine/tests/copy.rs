//! A copy as a driver sees it, to and from directories: what is measured, found wrong, left alone.
#![allow(clippy::needless_pass_by_value, reason = "values are made where they are passed")]

mod driver;

use std::fs;
use std::path::Path;

use driver::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;

const TOKEN: &str = "000102030405060708090a0b0c0d0e0f";
const NAME: &str = "lanlab-test-1";

fn dataset(groups: Value) -> Value {
    json!({"dataset": {"seed": 7, "groups": groups}})
}

fn group(count: u32, bytes: u64) -> Value {
    json!({"count": count, "least_bytes": bytes, "most_bytes": bytes})
}

fn spec(served: &Path, direction: &str, files: Value, client: Value) -> Value {
    json!({
        "service": {"service": "directory", "directory": served},
        "working_name": NAME,
        "token": TOKEN,
        "direction": direction,
        "files": files,
        "client": client,
        "parallel_files": 3,
        "block_bytes": 4096,
        "sync": "none",
        "verify": "content",
        "retries": 2,
    })
}

fn request(kind: &str, spec: &Value) -> Value {
    json!({"type": kind, "spec": spec})
}

/// Copy, once it is prepared; the line that it ends with.
fn copy(engine: &mut Engine, spec: &Value) -> Value {
    let (id, _) = engine.ready(&request("copy", spec));
    engine.begin(id);
    engine.wait(id)
}

/// All files below a directory, with their content.
fn tree(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn an_upload_is_measured_checked_and_removed() {
    let served = TempDir::new().unwrap();
    fs::write(served.path().join("the user's own"), "precious").unwrap();
    let before = tree(served.path());
    let mut engine = Engine::start();
    let files = dataset(json!([group(5, 10_000), group(2, 0), group(1, 1_000_000)]));
    let spec = spec(served.path(), "upload", files, json!("memory"));

    let prepared = engine.result(&request("copy_prepare", &spec));
    assert_eq!((&prepared["files"], &prepared["bytes"]), (&json!(8), &json!(1_050_000)));
    let line = copy(&mut engine, &spec);
    assert_eq!(line["type"], "result", "{line}");
    let copied = &line["result"];
    assert_eq!((&copied["copied_files"], &copied["copied_bytes"]), (&json!(8), &json!(1_050_000)));
    assert_eq!(copied["operations"]["write"]["samples"], 5 * 3 + 245);
    assert_eq!(copied["operations"]["close"]["samples"], 8);
    assert_eq!(copied["connect_ns"].as_array().unwrap().len(), 3);
    assert_eq!(copied["file_time"]["samples"], 8);
    let elapsed_ns = copied["elapsed_ns"].as_u64().unwrap();
    assert!(elapsed_ns > 0);
    let times = &engine.files[0];
    let column = |name: &str| -> Vec<u64> {
        times[name].as_array().unwrap().iter().map(|value| value.as_u64().unwrap()).collect()
    };
    assert_eq!(column("bytes").iter().sum::<u64>(), 1_050_000);
    for ((opened, first), closed) in
        column("opened_ns").iter().zip(column("first_byte_ns")).zip(column("closed_ns"))
    {
        assert!(*opened <= first && first <= closed, "{opened} {first} {closed}");
    }
    let first = *column("opened_ns").iter().min().unwrap();
    let last = *column("closed_ns").iter().max().unwrap();
    assert_eq!(last - first, elapsed_ns);

    let checked = engine.result(&request("copy_check", &spec));
    assert_eq!(checked["verified"], json!({"how": "content", "files": 8, "bytes": 1_050_000}));
    let emptied = engine.result(&request("copy_empty", &spec));
    assert_eq!((&emptied["removed_files"], &emptied["is_gone"]), (&json!(8), &json!(true)));
    assert_eq!(tree(served.path()), before);
}

#[test]
fn a_wrong_byte_is_found_wherever_it_is() {
    let served = TempDir::new().unwrap();
    let mut engine = Engine::start();
    let spec = spec(served.path(), "upload", dataset(json!([group(2, 50_000)])), json!("memory"));
    engine.result(&request("copy_prepare", &spec));
    assert_eq!(copy(&mut engine, &spec)["type"], "result");
    let path = served.path().join(NAME).join("files/f000001.dat");
    let mut octets = fs::read(&path).unwrap();
    octets[43_210] ^= 1;
    fs::write(&path, &octets).unwrap();
    let error = engine.ask(&request("copy_check", &spec));
    assert_eq!(error["code"], "copy.wrong", "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("f000001.dat") && message.contains("43210"), "{message}");
    // Every byte that is there is right: only the length is not.
    octets[43_210] ^= 1;
    fs::write(&path, &octets).unwrap();
    assert_eq!(engine.ask(&request("copy_check", &spec))["type"], "result");
    let longer = [&octets[..], &[0]].concat();
    for content in [&octets[..49_999], &longer] {
        fs::write(&path, content).unwrap();
        let error = engine.ask(&request("copy_check", &spec));
        assert_eq!(error["code"], "copy.wrong", "{error}");
        assert!(error["message"].as_str().unwrap().contains("is not whole"), "{error}");
    }
    let mut by_size = spec.clone();
    by_size["verify"] = json!("size");
    let error = engine.ask(&request("copy_check", &by_size));
    assert!(error["message"].as_str().unwrap().contains("50001 octets"), "{error}");
    fs::remove_file(&path).unwrap();
    assert_eq!(engine.ask(&request("copy_check", &by_size))["code"], "copy.wrong");
    // What is not there any more does not keep the rest from being removed.
    let emptied = engine.result(&request("copy_empty", &spec));
    assert_eq!((&emptied["removed_files"], &emptied["is_gone"]), (&json!(1), &json!(true)));
}

#[test]
fn uploads_can_be_checked_by_size_or_not_at_all() {
    let served = TempDir::new().unwrap();
    let mut engine = Engine::start();
    let files = dataset(json!([group(3, 5_000)]));
    let mut spec = spec(served.path(), "upload", files, json!("memory"));
    engine.result(&request("copy_prepare", &spec));
    assert_eq!(copy(&mut engine, &spec)["type"], "result");
    let path = served.path().join(NAME).join("files/f000001.dat");
    let mut check = |how: &str| {
        spec["verify"] = json!(how);
        engine.ask(&request("copy_check", &spec))
    };
    let verified = |how, files| json!({"how": how, "files": files, "bytes": 0});
    fs::write(&path, vec![7; 5_000]).unwrap();
    assert_eq!(check("content")["code"], "copy.wrong");
    assert_eq!(check("size")["result"]["verified"], verified("size", 3));
    fs::write(&path, vec![7; 4_999]).unwrap();
    assert_eq!(check("size")["code"], "copy.wrong");
    assert_eq!(check("none")["result"]["verified"], verified("none", 0));
    fs::remove_file(&path).unwrap();
    let missing = check("size");
    assert_eq!(missing["message"], "`f000001.dat`: not at the service", "{missing}");
    engine.result(&request("copy_empty", &spec));
    assert!(tree(served.path()).is_empty());
}

#[test]
fn a_download_is_compared_in_memory_and_on_disk() {
    for in_memory in [true, false] {
        let (served, here) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let mut engine = Engine::start();
        let client = if in_memory { json!("memory") } else { json!({"directory": here.path()}) };
        let files = dataset(json!([group(4, 20_001), group(1, 0)]));
        let spec = spec(served.path(), "download", files, client);
        engine.result(&request("copy_prepare", &spec));
        let line = copy(&mut engine, &spec);
        assert_eq!(line["type"], "result", "{line}");
        let verified = json!({"how": "content", "files": 5, "bytes": 80_004});
        assert_eq!(line["result"]["verified"], verified);
        assert_eq!(tree(here.path()).len(), if in_memory { 0 } else { 5 });
        engine.result(&request("copy_empty", &spec));
        assert_eq!((tree(here.path()), tree(served.path())), (vec![], vec![]));

        engine.result(&request("copy_prepare", &spec));
        let path = served.path().join(NAME).join("files/f000002.dat");
        let mut octets = fs::read(&path).unwrap();
        octets[20_000] ^= 0x80;
        fs::write(&path, &octets).unwrap();
        let error = copy(&mut engine, &spec);
        assert_eq!(error["code"], "copy.wrong", "{error}");
        assert!(error["message"].as_str().unwrap().contains("f000002.dat"), "{error}");
        assert_eq!(error["partial"]["copied_files"], 5);
        engine.result(&request("copy_empty", &spec));

        // A server that has fewer octets than there were.
        engine.result(&request("copy_prepare", &spec));
        fs::write(&path, &octets[..10_000]).unwrap();
        let error = copy(&mut engine, &spec);
        assert_eq!(error["code"], "service.length", "{error}");
        engine.result(&request("copy_empty", &spec));
        assert_eq!((tree(here.path()), tree(served.path())), (vec![], vec![]));
    }
}

#[test]
fn downloads_can_be_checked_by_size_or_not_at_all() {
    for (in_memory, how) in [(true, "size"), (false, "size"), (true, "none"), (false, "none")] {
        let (served, here) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let mut engine = Engine::start();
        let client = if in_memory { json!("memory") } else { json!({"directory": here.path()}) };
        let mut spec = spec(served.path(), "download", dataset(json!([group(3, 5_000)])), client);
        spec["verify"] = json!(how);
        engine.result(&request("copy_prepare", &spec));
        // The same number of other octets.
        fs::write(served.path().join(NAME).join("files/f000001.dat"), vec![7; 5_000]).unwrap();
        let line = copy(&mut engine, &spec);
        assert_eq!(line["type"], "result", "{line}");
        let files = if how == "size" { 3 } else { 0 };
        let verified = json!({"how": how, "files": files, "bytes": 0});
        assert_eq!(line["result"]["verified"], verified, "{in_memory}");
        engine.result(&request("copy_empty", &spec));
    }
}

/// A service that sends a file as one stream says where it ends: there a byte too many shows.
#[test]
fn a_download_of_one_byte_too_many_fails() {
    for service in ["ftp", "webdav", "s3"] {
        let served = TempDir::new().unwrap();
        let credentials = json!({"user": "station", "secret": "not shown"});
        let (mut other, mut engine) = (Engine::start(), Engine::start());
        let root = served.path().canonicalize().unwrap();
        let (_, ready) = other.ready(&json!({
            "type": "serve", "service": service, "root": root, "bind": "127.0.0.1",
            "credentials": credentials,
        }));
        let mut spec = spec(&root, "download", dataset(json!([group(2, 20_001)])), json!("memory"));
        spec["service"] = json!({
            "service": service, "address": "127.0.0.1", "port": ready["ports"][0],
            "credentials": credentials, "share": (service == "s3").then_some("lanlab"),
        });
        engine.result(&request("copy_prepare", &spec));
        assert_eq!(copy(&mut engine, &spec)["type"], "result");
        let path = root.join(NAME).join("files/f000001.dat");
        let longer = [fs::read(&path).unwrap(), vec![0]].concat();
        fs::write(&path, longer).unwrap();
        let error = copy(&mut engine, &spec);
        assert_eq!(error["code"], "service.length", "{service}: {error}");
        engine.result(&request("copy_empty", &spec));
        assert!(tree(&root).is_empty());
    }
}

#[test]
fn trees_are_copied_exactly_and_stay_unchanged() {
    let (served, here) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::create_dir_all(here.path().join("a/b c")).unwrap();
    fs::write(here.path().join("a/b c/d #1?.txt"), "one").unwrap();
    fs::write(here.path().join("ü%20"), vec![9; 100_000]).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", here.path().join("link")).unwrap();
    let mut engine = Engine::start();
    let files = json!({"tree": here.path()});
    let spec = spec(served.path(), "upload", files, json!({"directory": here.path()}));
    let prepared = engine.result(&request("copy_prepare", &spec));
    assert_eq!(prepared["files"], 2);
    assert_eq!(prepared["left_out"], json!({"symbolic_links": 1, "special_files": 0}));
    assert_eq!(copy(&mut engine, &spec)["type"], "result");
    engine.result(&request("copy_check", &spec));
    let there = tree(&served.path().join(NAME).join("files"));
    assert_eq!(there[0], ("a/b c/d #1?.txt".to_owned(), b"one".to_vec()));
    assert_eq!(there[1].0, "ü%20");
    // Somebody puts a file of his into our directory: it is his.
    let foreign = served.path().join(NAME).join("files/a/his");
    fs::write(&foreign, "his").unwrap();
    let emptied = engine.result(&request("copy_empty", &spec));
    assert_eq!((&emptied["removed_files"], &emptied["is_gone"]), (&json!(2), &json!(false)));
    assert_eq!(fs::read(&foreign).unwrap(), b"his");
    assert_eq!(fs::read(here.path().join("a/b c/d #1?.txt")).unwrap(), b"one");
}

#[test]
fn directories_nested_more_than_64_deep_are_refused() {
    let (served, source) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let deepest = (0..64).fold(source.path().to_owned(), |path, _| path.join("d"));
    fs::create_dir_all(&deepest).unwrap();
    fs::write(deepest.join("file"), "content").unwrap();
    let (tree_of, here) = (json!({"tree": source.path()}), json!({"directory": source.path()}));
    let spec = spec(served.path(), "upload", tree_of, here);
    let mut engine = Engine::start();
    let prepared = engine.result(&request("copy_prepare", &spec));
    assert_eq!(prepared["files"], 1, "{prepared}");
    engine.result(&request("copy_empty", &spec));
    fs::create_dir(deepest.join("d")).unwrap();
    assert_eq!(engine.ask(&request("copy_prepare", &spec))["code"], "copy.too_many");
}

#[test]
fn a_file_that_changes_is_named() {
    let (served, here) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(here.path().join("steady"), "s").unwrap();
    fs::write(here.path().join("growing"), "g").unwrap();
    let mut engine = Engine::start();
    let files = json!({"tree": here.path()});
    let spec = spec(served.path(), "upload", files, json!({"directory": here.path()}));
    engine.result(&request("copy_prepare", &spec));
    let (id, _) = engine.ready(&request("copy", &spec));
    fs::write(here.path().join("growing"), "g and more").unwrap();
    engine.begin(id);
    let error = engine.wait(id);
    assert_eq!(error["code"], "copy.changed", "{error}");
    assert!(error["message"].as_str().unwrap().contains("growing"), "{error}");
    engine.result(&request("copy_empty", &spec));
    assert!(tree(served.path()).is_empty());
}

#[test]
fn foreign_files_are_neither_overwritten_nor_removed() {
    let served = TempDir::new().unwrap();
    let theirs = served.path().join(NAME);
    fs::create_dir_all(theirs.join("files")).unwrap();
    fs::write(theirs.join("files/f000000.dat"), "theirs").unwrap();
    let before = tree(served.path());
    let mut engine = Engine::start();
    let spec = spec(served.path(), "upload", dataset(json!([group(1, 10)])), json!("memory"));
    assert_eq!(engine.ask(&request("copy_prepare", &spec))["code"], "service.exists");
    // Without our mark, and with that of another trial.
    assert_eq!(engine.result(&request("copy_empty", &spec))["is_gone"], false);
    assert_eq!(tree(served.path()), before);
    fs::write(theirs.join("lanlab-mark"), "made by lanlab, which removes it: ffff\n").unwrap();
    assert_eq!(engine.ask(&request("copy_empty", &spec))["code"], "copy.not_ours");
    assert_eq!(fs::read(theirs.join("files/f000000.dat")).unwrap(), b"theirs");
}

#[test]
fn a_short_name_is_removed_only_with_our_mark() {
    let served = TempDir::new().unwrap();
    let name = "1a2b3c4d.lab";
    let mut engine = Engine::start();
    let mut spec = spec(served.path(), "upload", dataset(json!([group(1, 10)])), json!("memory"));
    spec["working_name"] = json!(name);
    let theirs = served.path().join(name);
    fs::create_dir_all(theirs.join("files")).unwrap();
    // A mark that is not ours, and ours by the name that it has in addition to a long one.
    fs::write(theirs.join("mark.lab"), "made by lanlab, which removes it: ffff\n").unwrap();
    let token = spec["token"].as_str().unwrap();
    let mark = format!("made by lanlab, which removes it: {token}\n");
    fs::write(theirs.join("lanlab-mark"), mark).unwrap();
    let before = tree(served.path());
    assert_eq!(engine.ask(&request("copy_empty", &spec))["code"], "copy.not_ours");
    assert_eq!(tree(served.path()), before);

    fs::remove_dir_all(&theirs).unwrap();
    engine.result(&request("copy_prepare", &spec));
    assert!(theirs.join("mark.lab").exists());
    engine.result(&request("copy_empty", &spec));
    assert!(tree(served.path()).is_empty());
}

#[test]
fn a_copy_ends_when_it_is_cancelled() {
    let served = TempDir::new().unwrap();
    let mut engine = Engine::start();
    let mut spec =
        spec(served.path(), "upload", dataset(json!([group(1, 1 << 40)])), json!("memory"));
    spec["block_bytes"] = json!(512);
    spec["parallel_files"] = json!(1);
    engine.result(&request("copy_prepare", &spec));
    let (id, _) = engine.ready(&request("copy", &spec));
    engine.begin(id);
    // Until it has written.
    while engine.line()["bytes"].as_u64().is_none_or(|bytes| bytes == 0) {}
    engine.result(&json!({"type": "cancel", "target": id}));
    let error = engine.wait(id);
    assert_eq!(error["code"], "cancelled", "{error}");
    assert!(error["partial"]["operations"]["write"]["samples"].as_u64().unwrap() > 0);
    engine.result(&request("copy_empty", &spec));
    assert!(tree(served.path()).is_empty());
}

#[test]
fn uncopyable_sources_are_refused() {
    let served = TempDir::new().unwrap();
    let mut engine = Engine::start();
    let good = spec(served.path(), "upload", dataset(json!([group(1, 10)])), json!("memory"));
    for (key, value, code) in [
        ("parallel_files", json!(0), "request.value"),
        ("parallel_files", json!(65), "request.value"),
        ("working_name", json!("lanlab-../x"), "request.value"),
        ("working_name", json!("home"), "request.value"),
        ("working_name", json!("1234567.lab"), "request.value"),
        ("working_name", json!("../45678.lab"), "request.value"),
        ("working_name", json!("1234567g.lab"), "request.value"),
        ("token", json!("short"), "request.value"),
        ("depth", json!(257), "request.value"),
        ("client", json!({"directory": "relative"}), "request.value"),
        ("files", json!({"tree": "/somewhere"}), "request.value"),
        ("service", json!({"service": "directory", "directory": "/not/there"}), "service.missing"),
    ] {
        let mut bad = good.clone();
        bad[key] = value;
        let error = engine.ask(&request("copy_prepare", &bad));
        assert_eq!(error["code"], code, "{key}: {error}");
    }
    assert!(tree(served.path()).is_empty());
}

#[test]
fn a_dataset_is_made_once_and_repaired_if_damaged() {
    let directory = TempDir::new().unwrap();
    let mut engine = Engine::start();
    let spec = json!({"seed": 3, "groups": [group(3, 5000)], "compressible_ratio": 0.5});
    let request =
        json!({"type": "dataset", "spec": spec, "place": {"directory": directory.path()}});
    let first = engine.result(&request);
    assert_eq!((&first["files"], &first["bytes"]), (&json!(3), &json!(15_000)));
    assert_eq!(first["written_files"], 3);
    let again = engine.result(&request);
    assert_eq!((&again["written_files"], &again["xxh3"]), (&json!(0), &first["xxh3"]));
    let path = directory.path().join("f000001.dat");
    let mut octets = fs::read(&path).unwrap();
    octets[17] ^= 1;
    fs::write(&path, octets).unwrap();
    let mended = engine.result(&request);
    assert_eq!((&mended["written_files"], &mended["xxh3"]), (&json!(1), &first["xxh3"]));
    // Where this engine keeps datasets: a key leads to no other place.
    for key in ["", "../up", "a/b", "a b", &"k".repeat(65)] {
        let place = json!({"cache": {"medium": "disk", "key": key}});
        let refused = engine.ask(&json!({"type": "dataset", "spec": spec, "place": place}));
        assert_eq!(refused["code"], "request.value", "{key}: {refused}");
    }
    // A link in the place of a file is not written through.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(engine.ask(&request)["code"], "dataset.in_the_way");
}
