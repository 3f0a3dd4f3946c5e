//! What the tests of single services share.

pub use crate::peer_programs::*;

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lanlab_files::{Access, Class, Credentials, ServiceKind, ServicePath, Session, Target, Trust};
use lanlab_servers::{Bounds, Offer, Serving, serve_within};

pub const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Names that are in somebody's way.
pub const AWKWARD: [&str; 12] = [
    "with a blank",
    " leads and trails ",
    "100%25",
    "a#b",
    "what?",
    "'single' and \"double\"",
    "-l",
    "*[a]",
    "größe 大きさ",
    "semi;colon=1",
    ".hidden",
    "~user",
];

pub fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(test)
}

pub fn path(text: &str) -> ServicePath {
    ServicePath::new(text).unwrap()
}

pub fn content(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let step = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(step).collect()
}

pub fn user() -> Credentials {
    Credentials {
        user: "station".to_owned(),
        secret: "top secret".to_owned(),
        domain: None,
        passphrase: None,
    }
}

pub fn target(service: ServiceKind, port: u16) -> Target {
    Target {
        address: Some(LOOPBACK.into()),
        port: Some(port),
        credentials: Some(user()),
        timeout_ns: 20_000_000_000,
        ..Target::new(service)
    }
}

/// The same with little patience, for servers that have to be given up.
pub fn impatient(service: ServiceKind, port: u16) -> Target {
    Target { timeout_ns: 1_000_000_000, ..target(service, port) }
}

pub fn offer(service: ServiceKind, root: &Path) -> Offer {
    Offer { credentials: Some(user()), ..Offer::new(service, root, LOOPBACK.into()) }
}

pub async fn served_within(offer: &Offer, bounds: &Bounds) -> (Serving, Target) {
    let serving = serve_within(offer, bounds).await.unwrap();
    let mut target = target(offer.service, serving.port());
    target.credentials.clone_from(&offer.credentials);
    target.share = serving.share().map(str::to_owned);
    if let Some(hash) = serving.trust_sha256() {
        target.trust = Trust::Sha256(hash.to_owned());
    }
    (serving, target)
}

pub async fn served(service: ServiceKind, root: &Path) -> (Serving, Target) {
    served_within(&offer(service, root), &Bounds::default()).await
}

pub async fn put(session: &impl Session, name: &ServicePath, data: &[u8]) {
    let size_bytes = data.len() as u64;
    let file = session.open(name, Access::Create { size_bytes }).await.unwrap();
    let block = session.capabilities().block_bytes as usize;
    for (number, part) in data.chunks(block).enumerate() {
        session.write_at(&file, (number * block) as u64, part).await.unwrap();
    }
    session.close(file).await.unwrap();
}

pub async fn get(session: &impl Session, name: &ServicePath) -> Vec<u8> {
    let file = session.open(name, Access::Read).await.unwrap();
    let mut buffer = vec![0; session.capabilities().block_bytes as usize];
    let mut data = Vec::new();
    loop {
        match session.read_at(&file, data.len() as u64, &mut buffer).await.unwrap() {
            0 => break,
            count => data.extend_from_slice(&buffer[..count]),
        }
    }
    session.close(file).await.unwrap();
    data
}

/// 200 files of 6 kB each way. With Nagle's algorithm on either end every one of them waits 40 ms for
/// an acknowledgement; without, some are faster however busy this host is.
pub async fn moves_small_files_without_stalls(session: &impl Session) {
    let data = content(6000, 2);
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..200 {
        let start = Instant::now();
        put(session, &path(&format!("{number}")), &data).await;
        times[0].push(start.elapsed());
    }
    assert_eq!(session.list(None).await.unwrap().len(), 200);
    for number in 0..200 {
        let start = Instant::now();
        assert!(get(session, &path(&format!("{number}"))).await == data);
        times[1].push(start.elapsed());
    }
    for of_one_way in &mut times {
        of_one_way.sort();
        let fast = of_one_way[10];
        assert!(fast < Duration::from_millis(30), "all but ten took longer than {fast:?}");
    }
}

/// Names that come back as they went in, with any contents, of every length that a file system has.
pub async fn keeps_awkward_names(session: &impl Session, root: &Path) {
    let longest = "x".repeat(255);
    let names: Vec<&str> = AWKWARD.iter().copied().chain([longest.as_str()]).collect();
    for (number, name) in names.iter().enumerate() {
        put(session, &path(name), name.as_bytes()).await;
        assert_eq!(fs::read(root.join(name)).unwrap(), name.as_bytes(), "{number}: {name}");
        assert_eq!(get(session, &path(name)).await, name.as_bytes(), "{name}");
    }
    let listed: std::collections::BTreeSet<String> =
        session.list(None).await.unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(listed, names.iter().map(|name| (*name).to_owned()).collect());
    for name in names {
        session.remove(&path(name)).await.unwrap();
        session.make_directory(&path(name)).await.unwrap();
        assert_eq!(session.list(Some(&path(name))).await.unwrap(), [], "{name}");
        session.remove_directory(&path(name)).await.unwrap();
    }
    assert_eq!(fs::read_dir(root).unwrap().count(), 0);
}

/// Leaves the files `a` and `d/x`.
pub async fn check_existing_are_kept(session: &impl Session) {
    put(session, &path("a"), b"first").await;
    let again = session.open(&path("a"), Access::Create { size_bytes: 1 }).await;
    assert_eq!(again.err().unwrap().class, Class::Exists);
    session.make_directory(&path("d")).await.unwrap();
    assert_eq!(session.make_directory(&path("d")).await.unwrap_err().class, Class::Exists);
    put(session, &path("d/x"), b"x").await;
    assert_eq!(session.remove_directory(&path("d")).await.unwrap_err().class, Class::Exists);
    assert_eq!(session.remove(&path("no")).await.unwrap_err().class, Class::Missing);
    assert_eq!(session.remove_directory(&path("no")).await.unwrap_err().class, Class::Missing);
    assert_eq!(session.list(Some(&path("no"))).await.unwrap_err().class, Class::Missing);
    assert_eq!(session.make_directory(&path("no/d")).await.unwrap_err().class, Class::Missing);
    assert_eq!(get(session, &path("a")).await, b"first");
}

pub async fn check_refusals(session: &impl Session) {
    check_existing_are_kept(session).await;
    let missing = session.open(&path("no"), Access::Update).await;
    assert_eq!(missing.err().unwrap().class, Class::Missing);
    // Far beyond the end, and where nothing is.
    let file = session.open(&path("a"), Access::Update).await.unwrap();
    session.write_at(&file, 1 << 32, b"end").await.unwrap();
    let mut buffer = [1; 8];
    assert_eq!(session.read_at(&file, (1 << 32) - 1, &mut buffer).await.unwrap(), 4);
    assert_eq!(buffer, *b"\0end\x01\x01\x01\x01");
    assert_eq!(session.read_at(&file, 1 << 33, &mut buffer).await.unwrap(), 0);
    session.close(file).await.unwrap();
    for name in ["d/x", "a"] {
        session.remove(&path(name)).await.unwrap();
    }
    session.remove_directory(&path("d")).await.unwrap();
}

/// Start a server that has one user, [`user`], in files of its own in place of the system's, and
/// wait until it listens. `home` becomes the user's.
pub fn start_with_user(folder: &Path, home: &Path, command: &str, port: u16) -> Running {
    use std::os::unix::fs::PermissionsExt;
    let Credentials { user, secret, .. } = user();
    let hash = Command::new("openssl").args(["passwd", "-6", &secret]).output().unwrap();
    let hash = String::from_utf8(hash.stdout).unwrap();
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let shadow = fs::read_to_string("/etc/shadow").unwrap();
    let home_text = home.display();
    let line = format!("{passwd}{user}:x:4711:4711::{home_text}:/bin/sh\n");
    fs::write(folder.join("passwd"), line).unwrap();
    let line = format!("{shadow}{user}:{}:20000:0:99999:7:::\n", hash.trim());
    fs::write(folder.join("shadow"), line).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(home, fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::chown(home, Some(4711), Some(4711)).unwrap();
    // In a name space of its own, so that the system's files stay what they are.
    let here = folder.display();
    let script = format!(
        "mount --bind {here}/passwd /etc/passwd && mount --bind {here}/shadow /etc/shadow && \
         exec {command}"
    );
    let child = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(folder.join("stderr")).unwrap())
        .spawn()
        .unwrap();
    let running = Running(child);
    let deadline = Instant::now() + Duration::from_mins(1);
    while std::net::TcpStream::connect((LOOPBACK, port)).is_err() {
        let said = fs::read_to_string(folder.join("stderr")).unwrap();
        assert!(Instant::now() < deadline, "{command} does not listen: {said}");
        std::thread::sleep(Duration::from_millis(50));
    }
    running
}
