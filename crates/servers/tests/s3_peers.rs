//! Others' clients against the embedded S3 server.

use std::path::Path;
use std::process::Command;

use crate::http_support::*;
use crate::peer_programs::{can_run, missing};
use lanlab_files::ServiceKind;
use lanlab_servers::Serving;
use tokio::runtime::Runtime;

/// What stands for the command of Amazon on `PATH` may be there and not run.
fn has_aws() -> bool {
    let runs = Command::new("aws").arg("--version").output();
    runs.is_ok_and(|done| done.status.success())
        || missing("aws: not installed, or it does not run")
}

/// A server that runs while another program is waited for.
fn running(root: &Path) -> (Runtime, Serving) {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (serving, _) = runtime.block_on(served(ServiceKind::S3, root));
    (runtime, serving)
}

fn output(command: &mut Command) -> String {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}

#[test]
fn rclone_keeps_times_copies_objects_and_makes_urls() {
    if !can_run("rclone", false) {
        return;
    }
    let (root, local) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (runtime, serving) = running(root.path());
    let rclone = |arguments: &[&str]| {
        let mut command = Command::new("rclone");
        command
            .env_remove("AWS_CA_BUNDLE")
            .env_remove("AWS_PROFILE")
            .args(["--config", "/dev/null", "--s3-provider", "Other", "--retries", "1"])
            .args(["--s3-upload-cutoff", "8M", "--s3-chunk-size", "5M", "--s3-force-path-style"])
            .args(["--s3-endpoint", &format!("http://127.0.0.1:{}", serving.port())])
            .args(["--s3-access-key-id", &user().user, "--s3-secret-access-key", &user().secret])
            .args(arguments);
        output(&mut command)
    };
    let from = local.path().to_str().unwrap();
    let old = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 123_456_789);
    for (name, length) in [("small", 1000), ("large", 11 << 20)] {
        std::fs::write(local.path().join(name), content(length, 4)).unwrap();
        std::fs::File::options()
            .write(true)
            .open(local.path().join(name))
            .unwrap()
            .set_modified(old)
            .unwrap();
    }
    rclone(&["copy", from, ":s3:lanlab/a"]);
    assert!(rclone(&["lsl", ":s3:lanlab/a"]).contains("2001-09-09"), "the time came along");
    let modified =
        |name: &str| std::fs::metadata(root.path().join(name)).unwrap().modified().unwrap();
    assert_eq!(modified("a/small"), old);
    assert_eq!(modified("a/large"), old);
    // From bucket to bucket the octets stay where they are.
    rclone(&["copy", ":s3:lanlab/a", ":s3:lanlab/b"]);
    assert!(std::fs::read(root.path().join("b/large")).unwrap() == content(11 << 20, 4));
    assert_eq!(modified("b/large"), old);
    rclone(&["touch", "--timestamp", "2011-01-02T03:04:05", ":s3:lanlab/b/small"]);
    assert!(rclone(&["lsl", ":s3:lanlab/b/small"]).contains("2011-01-02"));
    rclone(&["moveto", ":s3:lanlab/b/small", ":s3:lanlab/c/s p"]);
    assert_eq!(
        rclone(&["cat", ":s3:lanlab/c/s p"]).len(),
        rclone(&["cat", ":s3:lanlab/a/small"]).len()
    );
    let link = rclone(&["link", "--expire", "1h", ":s3:lanlab/c/s p"]);
    let (_, target) = link.trim().split_once("//").unwrap();
    let (host, target) = target.split_once('/').unwrap();
    let get = |target: &str| {
        let request =
            format!("GET /{target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        String::from_utf8_lossy(&runtime.block_on(octets(
            serving.port(),
            request.as_bytes(),
            false,
        )))
        .into_owned()
    };
    assert!(get(target).starts_with("HTTP/1.1 200"), "{target}");
    let longer = target.replace("X-Amz-Expires=3600", "X-Amz-Expires=3601");
    assert!(get(&longer).contains("SignatureDoesNotMatch"), "{longer}");
    rclone(&["purge", ":s3:lanlab/a"]);
    assert!(!root.path().join("a").exists());
    runtime.block_on(serving.end());
}

/// The command of Amazon: signed chunks with a checksum after the last, lists by number, parts.
#[test]
fn aws_reads_and_writes_our_bucket() {
    if !has_aws() {
        return;
    }
    let (root, local) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (runtime, serving) = running(root.path());
    let aws = |arguments: &[&str]| {
        let mut command = Command::new("aws");
        command
            .env_remove("AWS_CA_BUNDLE")
            .env_remove("AWS_PROFILE")
            .env("AWS_CONFIG_FILE", "/dev/null")
            .env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("AWS_DEFAULT_REGION", "eu-central-1")
            .env("AWS_ACCESS_KEY_ID", user().user)
            .env("AWS_SECRET_ACCESS_KEY", user().secret)
            .args(["--endpoint-url", &format!("http://127.0.0.1:{}", serving.port())])
            .args(arguments);
        output(&mut command)
    };
    let from = local.path().to_str().unwrap();
    let (small, large) = (content(1000, 4), content(20 << 20, 5));
    std::fs::write(local.path().join("s p+ä&"), &small).unwrap();
    std::fs::write(local.path().join("large"), &large).unwrap();
    aws(&["s3", "cp", "--recursive", from, "s3://lanlab/in/"]);
    assert!(std::fs::read(root.path().join("in/s p+ä&")).unwrap() == small);
    assert!(std::fs::read(root.path().join("in/large")).unwrap() == large);
    let listed = aws(&["s3", "ls", "--recursive", "s3://lanlab/"]);
    assert!(listed.contains("in/s p+ä&") && listed.contains("20971520"), "{listed}");
    for algorithm in ["CRC32", "CRC32C", "SHA1", "SHA256"] {
        let body = format!("{from}/s p+ä&");
        let put = ["s3api", "put-object", "--bucket", "lanlab", "--key", algorithm];
        // One that this build of the command cannot compute is none of ours.
        if algorithm == "CRC32C" && !has_crt() {
            continue;
        }
        aws(&[&put[..], &["--checksum-algorithm", algorithm, "--body", &body]].concat());
        assert!(std::fs::read(root.path().join(algorithm)).unwrap() == small, "{algorithm}");
    }
    let back = local.path().join("back");
    aws(&["s3", "sync", "s3://lanlab/in/", back.to_str().unwrap()]);
    assert!(std::fs::read(back.join("large")).unwrap() == large);
    aws(&["s3", "rm", "--recursive", "s3://lanlab/"]);
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    runtime.block_on(serving.end());
}

fn has_crt() -> bool {
    Command::new("python3")
        .args(["-c", "import awscrt"])
        .output()
        .is_ok_and(|done| done.status.success())
}
