//! S3 beyond what every service does alike.

use crate::http_support::*;
use lanlab_clients::connect;
use lanlab_files::{Class, Credentials, ServiceKind, Session, Target};
use lanlab_servers::{Offer, serve};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const KIND: ServiceKind = ServiceKind::S3;

fn greeting() -> Vec<Vec<u8>> {
    let list = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
    vec![answer("200 OK", list)]
}

tests! {
    names_sizes_and_offsets_of_every_kind => files_of_every_kind(KIND);
    names_sizes_and_offsets_of_every_kind_over_tls => files_of_every_kind(ServiceKind::S3s);
    two_sessions_write_and_read_200_files => many_files_by_two_sessions(KIND);
    a_stopping_server_disconnects_its_clients => an_end_is_an_end(KIND);
    a_stopping_server_disconnects_its_clients_over_tls => an_end_is_an_end(ServiceKind::S3s);
    clients_stay_below_the_directory => clients_are_confined(KIND);
    a_full_disk_has_its_own_error => full_disk_is_reported(KIND);
    false_replies_to_reads_are_reported => reading_from_hostile_peers(KIND, greeting);
    false_replies_to_writes_are_reported => writing_to_hostile_peers(KIND, greeting);
    a_short_object_is_sent_in_one_packet_with_its_head => a_short_file_is_one_segment(KIND, greeting);
}

#[tokio::test]
async fn false_listings_are_reported() {
    let list =
        |body: &str| answer("200 OK", &format!("<ListBucketResult>{body}</ListBucketResult>"));
    let again = "<IsTruncated>true</IsTruncated><NextContinuationToken>a</NextContinuationToken>";
    let cases = [
        ("no XML", vec![answer("200 OK", "<html><br></html>")]),
        ("no size", vec![list("<Contents><Key>x</Key></Contents>")]),
        ("elsewhere", vec![list("<Contents><Key>a/b</Key><Size>1</Size></Contents>")]),
        ("no token", vec![list("<IsTruncated>true</IsTruncated>")]),
        ("a circle", vec![list(again), list(again)]),
        (
            "endless",
            (0..1_100).map(|page| list(&again.replace(">a<", &format!(">{page}<")))).collect(),
        ),
    ];
    for (what, script) in cases {
        let script = script.into_iter().map(|bytes| (bytes, Then::GoOn)).collect();
        let session = to_scripted(KIND, greeting(), script).await;
        let fault = within_seconds(60, session.list(None)).await.expect_err(what);
        assert_eq!(fault.class, Class::Protocol, "{what}: {fault}");
    }
}

#[tokio::test]
async fn bucket_and_user_errors_are_distinguished() {
    let root = tempfile::tempdir().unwrap();
    let (serving, target) = served(KIND, root.path()).await;
    let with = |change: fn(&mut Target)| {
        let mut other = target.clone();
        change(&mut other);
        async move { connect(&other).await.unwrap_err() }
    };
    let fault = with(|target| target.share = Some("nosuch".to_owned())).await;
    assert_eq!(fault.class, Class::Missing, "{fault}");
    assert_eq!(with(|target| target.share = None).await.class, Class::Missing);
    for odd in ["", "..", "a/b", "a?b", "ä"] {
        let other = Target { share: Some(odd.to_owned()), ..target.clone() };
        assert_eq!(connect(&other).await.unwrap_err().class, Class::Name, "{odd}");
    }
    let other = |user: &str, secret: &str| {
        let (user, secret) = (user.to_owned(), secret.to_owned());
        Target {
            credentials: Some(Credentials { user, secret, domain: None, passphrase: None }),
            ..target.clone()
        }
    };
    for (name, secret) in [("station", "hunter2"), ("nobody", &user().secret)] {
        let fault = connect(&other(name, secret)).await.unwrap_err();
        assert_eq!(fault.class, Class::Login, "{fault}");
        assert!(!format!("{fault:?}").contains(secret), "{fault:?}");
    }
    // Without a name nothing is signed, and nothing is given.
    let fault = with(|target| target.credentials = None).await;
    assert_eq!(fault.class, Class::Denied, "{fault}");
    serving.end().await;

    // Who serves anybody serves the unsigned.
    let open = Offer { credentials: None, ..offer(KIND, root.path()) };
    let serving = serve(&open).await.unwrap();
    let anybody = Target { credentials: None, port: Some(serving.port()), ..target };
    let session = connect(&anybody).await.unwrap();
    write_whole(&session, &path("a/b/x"), b"x").await.unwrap();
    assert_eq!(read_whole(&session, &path("a/b/x")).await.unwrap(), b"x");
    assert!(session.facts().protocol.contains("unsigned"), "{:?}", session.facts());
    serving.end().await;
}

#[tokio::test]
async fn key_prefixes_before_a_slash_are_directories() {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("empty")).unwrap();
    let (serving, target) = served(KIND, root.path()).await;
    let session = connect(&target).await.unwrap();
    assert!(session.list(None).await.unwrap().is_empty());
    write_whole(&session, &path("a/b/x"), b"x").await.unwrap();
    assert!(session.list(None).await.unwrap()[0].is_directory);
    // A name cannot be both.
    assert!(write_whole(&session, &path("a/b"), b"x").await.is_err());
    assert!(write_whole(&session, &path("a/b/x/y"), b"x").await.is_err());
    assert_eq!(std::fs::read(root.path().join("a/b/x")).unwrap(), b"x");

    let within = Target { directory: "a/b".to_owned(), ..target.clone() };
    let inner = connect(&within).await.unwrap();
    assert_eq!(inner.list(None).await.unwrap()[0].name, "x");
    inner.remove(&path("x")).await.unwrap();
    // To remove what is not there is no fault to S3.
    inner.remove(&path("x")).await.unwrap();
    assert!(!root.path().join("a").exists() && root.path().join("empty").exists());
    serving.end().await;
}

#[tokio::test]
async fn listings_longer_than_a_page_are_complete() {
    let root = tempfile::tempdir().unwrap();
    for number in 0..2_500 {
        std::fs::write(root.path().join(format!("x {number}")), "x").unwrap();
    }
    let (serving, target) = served(KIND, root.path()).await;
    let session = connect(&target).await.unwrap();
    let mut names: Vec<String> =
        session.list(None).await.unwrap().into_iter().map(|entry| entry.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 2_500);
    serving.end().await;
}

/// Another's client against our server: names, sizes, parts and signatures as others make them.
#[test]
fn rclone_reads_and_writes_our_bucket() {
    use std::process::Command;
    if !crate::peer_programs::can_run("rclone", false) {
        return;
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.unwrap();
    let (root, local) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (serving, target) = runtime.block_on(served(KIND, root.path()));
    // Large enough for parts, as they are set below.
    let data = content(23 << 20, 9);
    std::fs::create_dir(local.path().join("in")).unwrap();
    for (name, data) in [("in/large", &data[..]), ("in/ä 50%+&", b"x"), ("empty", b"")] {
        std::fs::write(local.path().join(name), data).unwrap();
    }
    let user = user();
    let rclone = |arguments: &[&str]| {
        // What a shell here is set up for is none of this.
        let done = Command::new("rclone")
            .env_remove("AWS_CA_BUNDLE")
            .env_remove("AWS_PROFILE")
            .args(["--config", "/dev/null", "--s3-provider", "Other", "--retries", "1"])
            .args(["--s3-upload-cutoff", "8M", "--s3-chunk-size", "8M", "--s3-force-path-style"])
            .args(["--s3-endpoint", &format!("http://127.0.0.1:{}", target.port.unwrap())])
            .args(["--s3-access-key-id", &user.user, "--s3-secret-access-key", &user.secret])
            .args(arguments)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    let from = local.path().to_str().unwrap();
    rclone(&["copy", from, ":s3:lanlab/here"]);
    assert!(std::fs::read(root.path().join("here/in/large")).unwrap() == data);
    let mut listed: Vec<String> =
        rclone(&["lsf", "-R", "--files-only", ":s3:lanlab"]).lines().map(str::to_owned).collect();
    listed.sort();
    assert_eq!(listed, ["here/empty", "here/in/large", "here/in/ä 50%+&"]);
    rclone(&["check", "--download", from, ":s3:lanlab/here"]);
    rclone(&["delete", ":s3:lanlab/here"]);
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    runtime.block_on(serving.end());
}

/// A server that takes requests signed for one region alone, and lists an empty bucket.
async fn of_region(region: &'static str, header: &'static str, body: String) -> u16 {
    let listener = tokio::net::TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (header, body) = (header, body.clone());
            tokio::spawn(async move {
                let mut asked = Vec::new();
                while let Ok(octet) = stream.read_u8().await {
                    asked.push(octet);
                    if !asked.ends_with(b"\r\n\r\n") {
                        continue;
                    }
                    let text = String::from_utf8(std::mem::take(&mut asked)).unwrap();
                    let is_right = text.contains(&format!("%2F{region}%2Fs3%2Faws4_request"));
                    let (status, header, body) = if is_right {
                        let list = "<ListBucketResult><IsTruncated>false</IsTruncated>\
                                    </ListBucketResult>";
                        ("200 OK", "x-odd: 1", list.to_owned())
                    } else {
                        ("400 Bad Request", header, body.clone())
                    };
                    let length = body.len();
                    let answer = format!(
                        "HTTP/1.1 {status}\r\n{header}\r\nContent-Length: {length}\r\n\r\n{body}"
                    );
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
            });
        }
    });
    port
}

#[tokio::test]
async fn requests_are_signed_for_the_region_of_the_server() {
    let malformed =
        |region: &str| format!("<Error><Code>AuthorizationHeaderMalformed</Code>{region}</Error>");
    let named = malformed("<Region>garage</Region>");
    for (header, body) in
        [("x-odd: 1", named.clone()), ("x-amz-bucket-region: garage", malformed(""))]
    {
        let port = of_region("garage", header, body).await;
        let session = connect(&target(KIND, port)).await.unwrap();
        assert!(session.list(None).await.unwrap().is_empty());
    }
    let port = of_region("garage", "x-odd: 1", malformed("")).await;
    let of = |domain: Option<&str>| {
        let credentials = Credentials { domain: domain.map(str::to_owned), ..user() };
        Target { credentials: Some(credentials), ..target(KIND, port) }
    };
    connect(&of(Some("garage"))).await.unwrap();
    let fault = connect(&of(None)).await.unwrap_err();
    assert_eq!(fault.class, Class::Login, "{fault}");
    assert!(fault.hint.unwrap().contains("?region="));
    // One that was asked for is kept, and no other tried.
    let port = of_region("garage", "x-odd: 1", named).await;
    let credentials = Some(Credentials { domain: Some("eu-west-1".into()), ..user() });
    let wrong = Target { credentials, ..target(KIND, port) };
    assert_eq!(connect(&wrong).await.unwrap_err().class, Class::Login);
}
