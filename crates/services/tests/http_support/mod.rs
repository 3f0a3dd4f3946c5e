//! What the tests of the services over HTTP share: a server and how to reach it, whole files, and a
//! peer that says what it is told to and then does as it is told.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use lanlab_services::servers::{Offer, Serving, serve};
use lanlab_services::{
    Access, AnySession, Class, Credentials, Fault, ServiceKind, ServicePath, Session, Target,
    Trust, connect,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Names that mean something to a URL, a shell, XML, or a file system with less room for them.
pub fn odd_names() -> Vec<String> {
    let mut names: Vec<String> = [
        "a b",
        " lead",
        "50%25",
        "%",
        "#1",
        "what?",
        "it's",
        "\"quoted\"",
        "a&b;c=d",
        "a+b",
        "~x",
        "(1)",
        "[x]",
        "<y>",
        "{z}",
        "a|b",
        "^`",
        "$HOME",
        "!",
        "@",
        "a,b",
        "x:y",
        "*",
        ".hidden",
        "ünïcödé",
        "日本語",
        "e\u{301}",
        "🦀",
        "-rf",
        "..x",
        "a=b",
    ]
    .map(str::to_owned)
    .into();
    names.push("n".repeat(255));
    names.push(format!("{}x", "ü".repeat(127)));
    names
}

pub fn path(text: &str) -> ServicePath {
    ServicePath::new(text).unwrap()
}

/// Octets that differ from place to place.
pub fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect()
}

pub fn user() -> Credentials {
    let (user, secret) = ("station".to_owned(), "geheim: / + & ü".to_owned());
    Credentials { user, secret, domain: None }
}

/// How to reach a port of this host.
pub fn target(service: ServiceKind, port: u16) -> Target {
    let is_s3 = matches!(service, ServiceKind::S3 | ServiceKind::S3s);
    Target {
        service,
        address: Some(LOOPBACK),
        port: Some(port),
        server_name: None,
        bind: None,
        share: is_s3.then(|| "lanlab".to_owned()),
        directory: String::new(),
        credentials: Some(user()),
        trust: Trust::System,
        timeout_ns: 20_000_000_000,
        send_buffer_bytes: None,
        receive_buffer_bytes: None,
    }
}

pub fn offer(service: ServiceKind, root: &Path) -> Offer {
    Offer {
        service,
        root: root.to_owned(),
        bind: LOOPBACK,
        port: 0,
        credentials: Some(user()),
        read_only: false,
    }
}

/// A server of the service on a directory, and how to reach it.
pub async fn served(service: ServiceKind, root: &Path) -> (Serving, Target) {
    let serving = serve(&offer(service, root)).await.unwrap();
    let mut target = target(service, serving.port());
    if let Some(hash) = serving.trust_sha256() {
        target.trust = Trust::Sha256(hash.to_owned());
    }
    (serving, target)
}

pub async fn write_whole(
    session: &AnySession,
    name: &ServicePath,
    data: &[u8],
) -> Result<(), Fault> {
    let size_bytes = data.len() as u64;
    let block = session.manner().block_bytes as usize;
    let file = session.open(name, Access::Create { size_bytes }).await?;
    for (number, part) in data.chunks(block).enumerate() {
        session.write_at(&file, (number * block) as u64, part).await?;
    }
    session.close(file).await
}

pub async fn read_whole(session: &AnySession, name: &ServicePath) -> Result<Vec<u8>, Fault> {
    let file = session.open(name, Access::Read).await?;
    let (mut data, mut buffer) = (Vec::new(), vec![0; session.manner().block_bytes as usize]);
    loop {
        match session.read_at(&file, data.len() as u64, &mut buffer).await? {
            0 => break,
            count => data.extend_from_slice(&buffer[..count]),
        }
    }
    session.close(file).await?;
    Ok(data)
}

/// What a hostile peer does once it has said what it has to say.
#[derive(Debug, Clone, Copy)]
pub enum Then {
    /// Wait for the next request.
    GoOn,
    /// Close the connection.
    Close,
    /// Say nothing any more, and read nothing.
    Hang,
    /// Say this again and again, as long as anybody listens.
    Repeat(&'static [u8]),
}

/// A peer that answers one request after another as it is told, over as many connections as it
/// takes. Gives its port.
pub async fn scripted(answers: Vec<(Vec<u8>, Then)>) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        let mut answers = answers.into_iter();
        let mut kept = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            while request_head(&mut stream).await {
                let Some((text, then)) = answers.next() else { return };
                let _ = stream.write_all(&text).await;
                match then {
                    Then::GoOn => continue,
                    Then::Close => {}
                    Then::Hang => {
                        kept.push(stream);
                        break;
                    }
                    Then::Repeat(again) => while stream.write_all(again).await.is_ok() {},
                }
                break;
            }
        }
    });
    (port, task)
}

/// Read the head of a request, and its body if that is short. False at the end.
async fn request_head(stream: &mut TcpStream) -> bool {
    let mut head = Vec::new();
    let mut octet = [0; 1];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut octet).await {
            Ok(1) if head.len() < 10_000 => head.push(octet[0]),
            _ => return false,
        }
    }
    let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; if length < 10_000 { length } else { 0 }];
    stream.read_exact(&mut body).await.is_ok()
}

/// An answer with a body of its length.
pub fn answer(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Connect to a scripted peer of which the first answer is `greeting`; the rest is `answers`.
pub async fn to_scripted(
    service: ServiceKind,
    greeting: Vec<u8>,
    answers: Vec<(Vec<u8>, Then)>,
) -> AnySession {
    let mut script = vec![(greeting, Then::GoOn)];
    script.extend(answers);
    let (port, _) = scripted(script).await;
    let mut target = target(service, port);
    target.timeout_ns = 2_000_000_000;
    connect(&target).await.unwrap()
}

pub async fn within_seconds<T>(seconds: u64, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(seconds), work).await.expect("it hangs")
}

/// What every service over HTTP must make of a peer that does not keep to it while a file is read.
pub async fn reading_from_hostile_peers(service: ServiceKind, greeting: fn() -> Vec<u8>) {
    let said = |length: usize, sent: usize| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
        [head.into_bytes(), vec![b'x'; sent]].concat()
    };
    let chunked = |body: &str| {
        format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").into_bytes()
    };
    let text = |text: &str| text.as_bytes().to_vec();
    let filler: &[u8] = &[b'a'; 4096];
    let header: &[u8] = b"X-Filler: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
    let cases = [
        ("cut in its middle", said(1000, 500), Then::Close, Class::Reset),
        ("too many octets", said(10, 20), Then::GoOn, Class::Length),
        ("no answer", Vec::new(), Then::Hang, Class::TimedOut),
        ("nothing after the head", said(1000, 0), Then::Hang, Class::TimedOut),
        ("gone", Vec::new(), Then::Close, Class::Reset),
        ("no HTTP", text("\x00\x01garbage\r\n\r\n"), Then::Hang, Class::Protocol),
        ("a line without an end", text("HTTP/1.1 200 "), Then::Repeat(filler), Class::Protocol),
        (
            "headers without an end",
            text("HTTP/1.1 200 OK\r\n"),
            Then::Repeat(header),
            Class::Protocol,
        ),
        ("no length of a chunk", chunked("zz\r\n"), Then::Hang, Class::Protocol),
        ("a chunk beyond all", chunked("fffffffffffffffff\r\n"), Then::Hang, Class::Protocol),
        ("chunks that break off", chunked("5\r\nabc"), Then::Close, Class::Reset),
        (
            "another place",
            text("HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n"),
            Then::GoOn,
            Class::Protocol,
        ),
        ("no space", answer("507 Insufficient Storage", ""), Then::GoOn, Class::NoSpace),
        (
            "an endless reason",
            text("HTTP/1.1 404 No\r\n\r\n"),
            Then::Repeat(filler),
            Class::Missing,
        ),
    ];
    for (what, bytes, then, class) in cases {
        let session = to_scripted(service, greeting(), vec![(bytes, then)]).await;
        let read = within_seconds(10, read_whole(&session, &path("x"))).await;
        let fault = read.expect_err(what);
        assert_eq!(fault.class, class, "{what}: {fault}");
        assert!(fault.message.contains("GET x"), "{what}: {fault}");
    }
    // An answer of another range than was asked for.
    let lies = ["bytes 0-9/5000", "bytes 700-1699/5000", "bytes 700-", "none"];
    for lie in lies {
        let head = format!(
            "HTTP/1.1 206 Partial\r\nContent-Range: {lie}\r\nContent-Length: 10\r\n\r\n0123456789"
        );
        let script = vec![(said(5000, 5000), Then::GoOn), (text(&head), Then::GoOn)];
        let session = to_scripted(service, greeting(), script).await;
        let file = session.open(&path("x"), Access::Read).await.unwrap();
        let read = session.read_at(&file, 700, &mut [0; 100]).await;
        assert_eq!(read.expect_err(lie).class, Class::Length, "{lie}");
    }
}

/// What it must make of one that does not keep to it while a file is written.
pub async fn writing_to_hostile_peers(service: ServiceKind, greeting: fn() -> Vec<u8>) {
    let data = content(16 << 20, 1);
    let cases = [
        ("refused at once", answer("507 Insufficient Storage", ""), Then::Hang, Class::NoSpace),
        ("taken before it came", answer("201 Created", ""), Then::Hang, Class::Protocol),
        ("never read", Vec::new(), Then::Hang, Class::TimedOut),
        ("gone", Vec::new(), Then::Close, Class::Reset),
    ];
    for (what, bytes, then, class) in cases {
        let session = to_scripted(service, greeting(), vec![(bytes, then)]).await;
        let written = within_seconds(10, write_whole(&session, &path("x"), &data)).await;
        let fault = written.expect_err(what);
        assert_eq!(fault.class, class, "{what}: {fault}");
    }
}

/// What is the same for files of either service on its embedded server.
pub async fn files_of_every_kind(service: ServiceKind) {
    let root = tempfile::tempdir().unwrap();
    let (serving, target) = served(service, root.path()).await;
    let session = connect(&target).await.unwrap();
    let folder = path("odd");
    session.make_directory(&folder).await.unwrap();
    let mut names = odd_names();
    for (number, name) in names.iter().enumerate() {
        let (at, data) = (folder.join(name).unwrap(), content(number + 1, number as u64));
        write_whole(&session, &at, &data).await.unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(std::fs::read(root.path().join("odd").join(name)).unwrap(), data, "{name}");
        assert_eq!(read_whole(&session, &at).await.unwrap(), data, "{name}");
    }
    let mut listed: Vec<String> =
        session.list(Some(&folder)).await.unwrap().into_iter().map(|entry| entry.name).collect();
    listed.sort();
    names.sort();
    assert_eq!(listed, names);
    for name in &names {
        session.remove(&folder.join(name).unwrap()).await.unwrap();
    }
    assert!(session.list(Some(&folder)).await.unwrap().is_empty());
    // A name that the server's file system cannot hold.
    let long = path(&"n".repeat(256));
    let fault = write_whole(&session, &long, b"x").await.unwrap_err();
    assert!(matches!(fault.class, Class::Name), "{fault:?}");

    // 64 MiB there and back.
    let data = content(64 << 20, 7);
    let large = path("large.bin");
    write_whole(&session, &large, &data).await.unwrap();
    assert!(std::fs::read(root.path().join("large.bin")).unwrap() == data);
    assert!(read_whole(&session, &large).await.unwrap() == data);
    assert!(session.facts().protocol.matches("connections").count() == 0, "one is enough so far");

    // Not over one that is there, and it is said why, however much was under way.
    let fault = write_whole(&session, &large, &content(8 << 20, 8)).await.unwrap_err();
    assert_eq!(fault.class, Class::Exists, "{fault}");
    assert!(std::fs::read(root.path().join("large.bin")).unwrap() == data);

    // More or fewer octets than were said.
    let file = session.open(&path("more"), Access::Create { size_bytes: 3 }).await.unwrap();
    let fault = session.write_at(&file, 0, b"four").await.unwrap_err();
    assert_eq!(fault.class, Class::Length, "{fault}");
    drop(file);
    let file = session.open(&path("fewer"), Access::Create { size_bytes: 300 }).await.unwrap();
    session.write_at(&file, 0, b"four").await.unwrap();
    let fault = session.close(file).await.unwrap_err();
    assert_eq!(fault.class, Class::Length, "{fault}");
    // Out of order.
    let file = session.open(&path("other"), Access::Create { size_bytes: 9 }).await.unwrap();
    let fault = session.write_at(&file, 4, b"four").await.unwrap_err();
    assert_eq!(fault.class, Class::Unsupported, "{fault}");
    drop(file);

    // Anywhere in a long file, which has holes, and at and after its end.
    let sparse = std::fs::File::create(root.path().join("sparse")).unwrap();
    sparse.set_len((5 << 30) + 5).unwrap();
    drop(sparse);
    let file = session.open(&path("sparse"), Access::Read).await.unwrap();
    let mut buffer = vec![1; 1000];
    assert_eq!(session.read_at(&file, 0, &mut buffer).await.unwrap(), 1000);
    for (offset, count) in
        [(1 << 30, 1000), (5 << 30, 5), (3, 1000), ((5 << 30) + 5, 0), (6 << 30, 0)]
    {
        buffer.fill(1);
        assert_eq!(session.read_at(&file, offset, &mut buffer).await.unwrap(), count, "{offset}");
        assert!(buffer[..count].iter().all(|octet| *octet == 0));
    }
    session.close(file).await.unwrap();
    let opened = session.facts().protocol;
    assert!(opened.contains("connections"), "{opened}: a stream was left");

    session.end().await.unwrap();
    serving.end().await;
}

/// 200 files, by two sessions at once.
pub async fn many_files_by_two_sessions(service: ServiceKind) {
    let root = tempfile::tempdir().unwrap();
    let (serving, target) = served(service, root.path()).await;
    let work = |seed: u64| {
        let target = target.clone();
        async move {
            let session = connect(&target).await.unwrap();
            let folder = path(&format!("of {seed}"));
            session.make_directory(&folder).await.unwrap();
            for number in 0..100u64 {
                let data = content(6000, seed * 1000 + number);
                write_whole(&session, &folder.join(&number.to_string()).unwrap(), &data)
                    .await
                    .unwrap();
            }
            for number in 0..100u64 {
                let name = folder.join(&number.to_string()).unwrap();
                let data = content(6000, seed * 1000 + number);
                assert!(read_whole(&session, &name).await.unwrap() == data);
            }
            assert_eq!(session.list(Some(&folder)).await.unwrap().len(), 100);
            assert!(!session.facts().protocol.contains("connections"), "one does for all");
            session.end().await.unwrap();
        }
    };
    tokio::join!(work(1), work(2));
    assert_eq!(serving.accepted(), 2);
    serving.end().await;
}

/// A server that ends, in the middle of a file, and one in its place.
pub async fn an_end_is_an_end(service: ServiceKind) {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("x"), content(64 << 20, 3)).unwrap();
    let (serving, target) = served(service, root.path()).await;
    let session = connect(&target).await.unwrap();
    let file = session.open(&path("x"), Access::Read).await.unwrap();
    let mut buffer = vec![0; 100_000];
    session.read_at(&file, 0, &mut buffer).await.unwrap();
    let port = serving.port();
    serving.end().await;
    let rest = async {
        let mut at = 100_000;
        loop {
            match session.read_at(&file, at, &mut buffer).await {
                Ok(0) => panic!("a file that was cut off is no whole one"),
                Ok(count) => at += count as u64,
                Err(fault) => return fault,
            }
        }
    };
    let fault = within_seconds(10, rest).await;
    assert_eq!(fault.class, Class::Reset, "{fault}");
    let again = Offer { port, ..offer(service, root.path()) };
    serve(&again).await.expect("the port is free").end().await;
}

/// A client sees only what is below the directory, and changes nothing where nothing may be written.
#[cfg(unix)]
pub async fn clients_are_confined(service: ServiceKind) {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), "x").unwrap();
    let root = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), root.path().join("out")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), root.path().join("s")).unwrap();
    std::fs::write(root.path().join("there"), "x").unwrap();
    let (serving, target) = served(service, root.path()).await;
    let session = connect(&target).await.unwrap();
    for name in ["s", "out/secret"] {
        let fault = read_whole(&session, &path(name)).await.unwrap_err();
        assert!(matches!(fault.class, Class::Denied | Class::Missing), "{name}: {fault:?}");
        assert!(session.remove(&path(name)).await.is_err(), "{name}");
    }
    assert!(write_whole(&session, &path("out/new"), b"x").await.is_err());
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    serving.end().await;

    let shut = Offer { read_only: true, ..offer(service, root.path()) };
    let serving = serve(&shut).await.unwrap();
    let session = connect(&Target { port: Some(serving.port()), ..target }).await.unwrap();
    assert_eq!(read_whole(&session, &path("there")).await.unwrap(), b"x");
    let fault = write_whole(&session, &path("new"), b"x").await.unwrap_err();
    assert_eq!(fault.class, Class::Denied, "{fault}");
    assert_eq!(session.remove(&path("there")).await.unwrap_err().class, Class::Denied);
    assert!(root.path().join("there").exists() && !root.path().join("new").exists());
    serving.end().await;
}

/// A disk of 1 MiB.
#[cfg(target_os = "linux")]
pub async fn no_space_is_said(service: ServiceKind) {
    struct Mounted(tempfile::TempDir);
    impl Drop for Mounted {
        fn drop(&mut self) {
            let _ = std::process::Command::new("umount").arg(self.0.path()).status();
        }
    }
    let root = tempfile::tempdir().unwrap();
    let mut mount = std::process::Command::new("mount");
    mount.args(["-t", "tmpfs", "-o", "size=1m", "lanlab-test"]).arg(root.path());
    if !mount.output().is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: a small disk needs the right to mount");
        return;
    }
    let root = Mounted(root);
    let (serving, target) = served(service, root.0.path()).await;
    let session = connect(&target).await.unwrap();
    let fault = write_whole(&session, &path("x"), &content(4 << 20, 1)).await.unwrap_err();
    assert_eq!(fault.class, Class::NoSpace, "{fault}");
    serving.end().await;
}
