//! HTTP and `WebDAV` beyond what every service does alike.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::http_support::*;
use crate::peer_programs::{Running, can_run, free_port, missing};
use lanlab_clients::connect;
use lanlab_files::{Access, Class, Credentials, ServiceKind, Session, Target};

const KIND: ServiceKind = ServiceKind::Webdav;

/// A server that asks no client for a password, not even one that would write.
fn greeting() -> Vec<Vec<u8>> {
    let seen = answer("207 Multi-Status", "<multistatus xmlns='DAV:'/>");
    vec![seen.clone(), answer("405 Method Not Allowed", ""), seen]
}

tests! {
    names_sizes_and_offsets_of_every_kind => files_of_every_kind(KIND);
    names_sizes_and_offsets_of_every_kind_over_tls => files_of_every_kind(ServiceKind::Webdavs);
    two_sessions_write_and_read_200_files => many_files_by_two_sessions(KIND);
    a_stopping_server_disconnects_its_clients => an_end_is_an_end(KIND);
    a_stopping_server_disconnects_its_clients_over_tls => an_end_is_an_end(ServiceKind::Webdavs);
    clients_stay_below_the_directory => clients_are_confined(KIND);
    a_full_disk_has_its_own_error => full_disk_is_reported(KIND);
    false_replies_to_file_reads_are_reported => reading_from_hostile_peers(KIND, greeting);
    false_replies_to_file_writes_are_reported => writing_to_hostile_peers(KIND, greeting);
    a_short_file_is_sent_in_one_packet_with_its_head => a_short_file_is_one_segment(KIND, greeting);
}

#[tokio::test]
async fn false_listings_are_reported() {
    let ok = |body: &str| answer("207 Multi-Status", body);
    let response = "<multistatus xmlns='DAV:'><response><href>/x</href></response></multistatus>";
    let endless = "HTTP/1.1 207 Multi-Status\r\n\r\n<multistatus>";
    // Many at a time: it takes some 64 MiB of them.
    let entries: &[u8] = b"<response><href>/x</href></response>".repeat(10_000).leak();
    let cases = [
        ("no XML", ok("<html><br></html>"), Then::GoOn),
        ("no length", ok(response), Then::GoOn),
        ("entities", ok("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"), Then::GoOn),
        ("no end", endless.as_bytes().to_vec(), Then::Repeat(entries)),
    ];
    for (what, bytes, then) in cases {
        let session = to_scripted(KIND, greeting(), vec![(bytes, then)]).await;
        let fault = within_seconds(60, session.list(None)).await.expect_err(what);
        assert_eq!(fault.class, Class::Protocol, "{what}: {fault}");
    }
}

#[tokio::test]
async fn a_connection_closed_by_the_server_is_reopened_and_counted() {
    let file = || answer("200 OK", "abc");
    let closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc".to_vec();
    let script = vec![(file(), Then::Close), (closing, Then::Close), (file(), Then::GoOn)];
    let session = to_scripted(KIND, greeting(), script).await;
    for _ in 0..3 {
        assert_eq!(read_whole(&session, &path("x")).await.unwrap(), b"abc");
        // So that the end of the connection has come.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(session.facts().protocol, "HTTP/1.1, WebDAV, 3 connections");
}

#[tokio::test]
async fn servers_are_recognised_by_their_greeting() {
    let cases = [
        ("401 Unauthorized", Class::Login),
        ("404 Not Found", Class::Missing),
        ("503 Service Unavailable", Class::Refused),
        ("302 Found", Class::Protocol),
    ];
    for (status, class) in cases {
        // Who is refused without a password shows it.
        let times = if class == Class::Login { 2 } else { 1 };
        let script = vec![(answer(status, "why"), Then::GoOn); times];
        let (port, _) = scripted(script).await;
        let fault = connect(&target(KIND, port)).await.expect_err(status);
        assert_eq!(fault.class, class, "{fault}");
        assert!(!format!("{fault:?}").contains(&user().secret));
    }
    // One that does not know WebDAV serves files all the same.
    let script = vec![
        (answer("405 Method Not Allowed", ""), Then::GoOn),
        (answer("200 OK", "abc"), Then::GoOn),
    ];
    let (port, _) = scripted(script).await;
    let session = connect(&target(KIND, port)).await.unwrap();
    assert_eq!(session.facts().protocol, "HTTP/1.1");
    assert_eq!(read_whole(&session, &path("x")).await.unwrap(), b"abc");
    assert_eq!(session.list(None).await.unwrap_err().class, Class::Unsupported);
    // A name that Basic cannot carry.
    let odd = Credentials { user: "a:b".to_owned(), ..user() };
    let fault =
        connect(&Target { credentials: Some(odd), ..target(KIND, port) }).await.unwrap_err();
    assert_eq!(fault.class, Class::Login);
}

#[tokio::test]
async fn directories_are_made_once_and_removed_when_empty() {
    let root = tempfile::tempdir().unwrap();
    let (serving, target) = served(KIND, root.path()).await;
    let session = connect(&target).await.unwrap();
    session.make_directory(&path("a")).await.unwrap();
    assert_eq!(session.make_directory(&path("a")).await.unwrap_err().class, Class::Exists);
    assert_eq!(session.make_directory(&path("b/c")).await.unwrap_err().class, Class::Missing);
    write_whole(&session, &path("a/x"), b"x").await.unwrap();
    assert_eq!(session.remove_directory(&path("a")).await.unwrap_err().class, Class::Exists);
    assert!(root.path().join("a/x").exists());
    assert_eq!(session.remove(&path("a/y")).await.unwrap_err().class, Class::Missing);

    // A session that works in a directory sees that and no more.
    let within = Target { directory: "a".to_owned(), ..target.clone() };
    let inner = connect(&within).await.unwrap();
    assert_eq!(inner.list(None).await.unwrap()[0].name, "x");
    assert_eq!(read_whole(&inner, &path("x")).await.unwrap(), b"x");
    let nowhere = Target { directory: "no/where".to_owned(), ..target.clone() };
    assert_eq!(connect(&nowhere).await.unwrap_err().class, Class::Missing);

    // While a file is under way others can be asked for, over a connection of their own.
    let file = session.open(&path("slow"), Access::Create { size_bytes: 2 }).await.unwrap();
    session.write_at(&file, 0, b"o").await.unwrap();
    assert_eq!(session.list(Some(&path("a"))).await.unwrap().len(), 1);
    session.write_at(&file, 1, b"k").await.unwrap();
    session.close(file).await.unwrap();
    assert_eq!(std::fs::read(root.path().join("slow")).unwrap(), b"ok");

    session.remove(&path("a/x")).await.unwrap();
    session.remove_directory(&path("a")).await.unwrap();
    assert!(!root.path().join("a").exists());
    serving.end().await;
}

#[tokio::test]
async fn a_file_that_shrinks_during_upload_is_not_padded() {
    let root = tempfile::tempdir().unwrap();
    let at = root.path().join("x");
    std::fs::write(&at, content(64 << 20, 1)).unwrap();
    let (serving, target) = served(KIND, root.path()).await;
    let session = connect(&target).await.unwrap();
    let file = session.open(&path("x"), Access::Read).await.unwrap();
    std::fs::File::options().write(true).open(&at).unwrap().set_len(1000).unwrap();
    let (mut offset, mut buffer) = (0, vec![0; 1 << 20]);
    let fault = loop {
        match session.read_at(&file, offset, &mut buffer).await {
            Ok(count) if count > 0 => offset += count as u64,
            Ok(_) => panic!("{offset} octets were taken for all"),
            Err(fault) => break fault,
        }
    };
    assert_eq!(fault.class, Class::Reset, "{fault}");
    serving.end().await;
}

async fn until_it_listens(port: u16) {
    for _ in 0..1200 {
        if tokio::net::TcpStream::connect((LOOPBACK, port)).await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("nobody listens at port {port}");
}

async fn a_real_server_is_spoken_to(target: &Target, root: &Path) {
    let session = connect(target).await.unwrap();
    let folder = path("of lanlab");
    session.make_directory(&folder).await.unwrap();
    for (number, length) in [0, 1, 1_000_000].into_iter().enumerate() {
        let (name, data) = (folder.join(&format!("x {number} %")).unwrap(), content(length, 5));
        write_whole(&session, &name, &data).await.unwrap();
        assert!(std::fs::read(root.join(name.as_str())).unwrap() == data);
        assert!(read_whole(&session, &name).await.unwrap() == data);
    }
    let mut listed = session.list(Some(&folder)).await.unwrap();
    listed.sort();
    assert_eq!(listed.len(), 3);
    assert_eq!((listed[2].name.as_str(), listed[2].size_bytes), ("x 2 %", 1_000_000));
    let file = session.open(&listed_path(&folder, &listed[2].name), Access::Read).await.unwrap();
    let mut some = [0; 100];
    assert_eq!(session.read_at(&file, 700_000, &mut some).await.unwrap(), 100);
    assert!(some == content(1_000_000, 5)[700_000..700_100]);
    session.close(file).await.unwrap();
    for entry in listed {
        session.remove(&listed_path(&folder, &entry.name)).await.unwrap();
    }
    session.remove_directory(&folder).await.unwrap();
    assert!(session.list(None).await.unwrap().is_empty());
    let missing = session.open(&path("not there"), Access::Read).await;
    assert_eq!(missing.unwrap_err().class, Class::Missing);
    session.end().await.unwrap();
}

fn listed_path(folder: &lanlab_files::ServicePath, name: &str) -> lanlab_files::ServicePath {
    folder.join(name).unwrap()
}

/// Stock nginx, with PROPFIND by its dav-ext module or without.
fn nginx(work: &Path, root: &Path, port: u16, module: Option<&Path>) -> Running {
    std::fs::create_dir(root).unwrap();
    let at = work.display();
    // Who is root there would have its work done by somebody who cannot write.
    let user = if std::fs::metadata("/proc/self").is_ok_and(|facts| is_root(&facts)) {
        "user root;"
    } else {
        ""
    };
    let load = module.map(|module| format!("load_module {};", module.display()));
    let methods = module.map_or("", |_| "dav_ext_methods PROPFIND OPTIONS;");
    let config = format!(
        "{}\n{user}\ndaemon off;\nmaster_process off;\npid {at}/pid;\n\
         error_log {at}/error.log;\nevents {{}}\nhttp {{ access_log off;\n\
         client_body_temp_path {at}/body; proxy_temp_path {at}/p; fastcgi_temp_path {at}/f;\n\
         uwsgi_temp_path {at}/u; scgi_temp_path {at}/s;\n\
         server {{ listen 127.0.0.1:{port}; root {};\n client_max_body_size 0;\n\
         location / {{ dav_methods PUT DELETE MKCOL; {methods} }} }} }}\n",
        load.unwrap_or_default(),
        root.display()
    );
    let conf = work.join("nginx.conf");
    std::fs::write(&conf, config).unwrap();
    let mut command = Command::new("nginx");
    command.arg("-c").arg(&conf).arg("-p").arg(work).stderr(Stdio::null());
    Running(command.spawn().unwrap())
}

#[tokio::test]
async fn the_client_works_with_nginx() {
    let module = Path::new("/usr/lib/nginx/modules/ngx_http_dav_ext_module.so");
    if !can_run("nginx", false) {
        return;
    }
    if !module.exists() {
        missing("nginx: no dav-ext (apt install nginx-light libnginx-mod-http-dav-ext)");
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let (root, port) = (work.path().join("root"), free_port());
    let _nginx = nginx(work.path(), &root, port, Some(module));
    until_it_listens(port).await;
    a_real_server_is_spoken_to(&target(KIND, port), &root).await;
}

#[tokio::test]
async fn files_lie_side_by_side_at_nginx_without_propfind() {
    if !can_run("nginx", false) {
        return;
    }
    let work = tempfile::tempdir().unwrap();
    let (root, port) = (work.path().join("root"), free_port());
    let _nginx = nginx(work.path(), &root, port, None);
    until_it_listens(port).await;
    let session = connect(&target(KIND, port)).await.unwrap();
    assert!(!session.has_directories());
    let names = ["d/a/b %", "d/a+b %", "d+/a-b", "d/+a-b", "d+-a"];
    session.make_directory(&path("d")).await.unwrap();
    for (number, name) in names.iter().enumerate() {
        write_whole(&session, &path(name), &content(1000 + number, 5)).await.unwrap();
    }
    // No two names share a file.
    for (number, name) in names.iter().enumerate() {
        let data = read_whole(&session, &path(name)).await.unwrap();
        assert!(data == content(1000 + number, 5), "{name}");
    }
    // A directory, if removed, would take along what others put into it.
    std::fs::create_dir(root.join("d")).unwrap();
    std::fs::write(root.join("d/theirs"), "1").unwrap();
    session.remove_directory(&path("d")).await.unwrap();
    assert!(session.remove(&path("d")).await.is_err());
    for name in names {
        session.remove(&path(name)).await.unwrap();
    }
    assert_eq!(session.remove(&path("d/none")).await.unwrap_err().class, Class::Missing);
    let left: Vec<_> = std::fs::read_dir(&root).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(left, [root.join("d")]);
    assert!(root.join("d/theirs").exists());
}

fn is_root(facts: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    facts.uid() == 0
}

#[tokio::test]
async fn the_client_works_with_rclone() {
    if !can_run("rclone", false) {
        return;
    }
    let root = tempfile::tempdir().unwrap();
    let port = free_port();
    let Credentials { user: name, secret, .. } = user();
    let rclone = Command::new("rclone")
        .args(["serve", "webdav", "--config", "/dev/null", "--addr", &format!("127.0.0.1:{port}")])
        .args(["--user", &name, "--pass", &secret])
        .arg(root.path())
        .stderr(Stdio::null())
        .spawn();
    let _rclone = Running(rclone.unwrap());
    until_it_listens(port).await;
    let target = target(KIND, port);
    a_real_server_is_spoken_to(&target, root.path()).await;
    let wrong = Credentials { secret: "not it".to_owned(), ..user() };
    let fault = connect(&Target { credentials: Some(wrong), ..target }).await.unwrap_err();
    assert_eq!(fault.class, Class::Login);
}
