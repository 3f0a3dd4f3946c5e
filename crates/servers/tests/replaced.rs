//! A file that a client replaces stays until all of the new one has come.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use lanlab_files::ServiceKind;
use lanlab_servers::{Offer, serve};
use socket2::SockRef;

use crate::stage::{LOOPBACK, content, offer};

const MODE: u32 = 0o640;
const LONGEST_WAIT: Duration = Duration::from_secs(10);

fn with_an_old_file() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a"), "old").unwrap();
    fs::set_permissions(root.path().join("a"), fs::Permissions::from_mode(MODE)).unwrap();
    root
}

fn until_there_are(count: usize, root: &Path) {
    for _ in 0..5000 {
        if fs::read_dir(root).unwrap().count() == count {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("never {count} files");
}

fn is_there(root: &Path, wanted: &[u8]) {
    assert!(fs::read(root.join("a")).unwrap() == wanted);
    let mode = fs::metadata(root.join("a")).unwrap().permissions().mode();
    assert_eq!((mode & 0o7777, fs::read_dir(root).unwrap().count()), (MODE, 1));
}

/// Begin a request with a body, and how to read the status of its answer.
fn ask(port: u16, request: &str, body: &[u8]) -> (TcpStream, impl FnOnce(TcpStream) -> String) {
    let mut stream = TcpStream::connect((LOOPBACK, port)).unwrap();
    stream.set_read_timeout(Some(LONGEST_WAIT)).unwrap();
    let head = format!("{request} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let answer = |stream| {
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    };
    (stream, answer)
}

#[test]
fn only_a_complete_upload_replaces_the_old_file() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let new = content(100_000, 1);
    for (service, path) in [(ServiceKind::Webdav, "/a"), (ServiceKind::S3, "/lanlab/a")] {
        let root = with_an_old_file();
        let offer = Offer { credentials: None, ..offer(service, root.path()) };
        let serving = runtime.block_on(serve(&offer)).unwrap();
        let put = format!("PUT {path}");
        let (stream, _) = ask(serving.port(), &put, &new[..50_000]);
        until_there_are(2, root.path());
        assert_eq!(fs::read(root.path().join("a")).unwrap(), b"old");
        drop(stream);
        until_there_are(1, root.path());
        is_there(root.path(), b"old");
        let (stream, answer) = ask(serving.port(), &put, &new);
        assert!(["200", "204"].contains(&answer(stream).as_str()));
        is_there(root.path(), &new);
    }
}

struct Control(BufReader<TcpStream>);

impl Control {
    fn hear(&mut self, wanted: &str) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        assert!(line.starts_with(wanted), "{line}");
        line
    }

    fn say(&mut self, line: &str, wanted: &str) -> String {
        self.0.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
        self.hear(wanted)
    }

    /// Begin a transfer; its data connection.
    fn begin(&mut self, line: &str) -> TcpStream {
        let said = self.say("EPSV", "229");
        let port: u16 = said.split('|').nth(3).and_then(|port| port.parse().ok()).unwrap();
        let data = TcpStream::connect((LOOPBACK, port)).unwrap();
        self.say(line, "150");
        data
    }
}

fn logged_in(port: u16) -> Control {
    let stream = TcpStream::connect((LOOPBACK, port)).unwrap();
    stream.set_read_timeout(Some(LONGEST_WAIT)).unwrap();
    let mut control = Control(BufReader::new(stream));
    control.hear("220");
    control.say("USER anonymous", "331");
    control.say("PASS x", "230");
    control
}

#[test]
fn a_reset_ftp_upload_keeps_the_old_file_and_the_received_part_of_a_new_one() {
    let root = with_an_old_file();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let offer = Offer { credentials: None, ..offer(ServiceKind::Ftp, root.path()) };
    let serving = runtime.block_on(serve(&offer)).unwrap();
    let mut control = logged_in(serving.port());
    let mut store = |name: &str, is_reset: bool| {
        let mut data = control.begin(&format!("STOR {name}"));
        data.write_all(b"new").unwrap();
        if is_reset {
            // A reset may overtake data.
            let has_come = || fs::metadata(root.path().join(name)).unwrap().len() == 3;
            (0..1000).take_while(|_| !has_come()).for_each(|_| {
                std::thread::sleep(Duration::from_millis(2));
            });
            SockRef::from(&data).set_linger(Some(Duration::ZERO)).unwrap();
        }
        drop(data);
        control.hear(if is_reset { "426" } else { "226" });
    };
    store("a", true);
    is_there(root.path(), b"old");
    store("a", false);
    is_there(root.path(), b"new");
    store("b", true);
    assert_eq!(fs::read(root.path().join("b")).unwrap(), b"new");
}

/// The system of a killed client ends the data as a whole upload does, and the dialogue too.
#[test]
fn an_ftp_upload_without_a_dialogue_replaces_nothing() {
    let root = with_an_old_file();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let offer = Offer { credentials: None, ..offer(ServiceKind::Ftp, root.path()) };
    let serving = runtime.block_on(serve(&offer)).unwrap();
    let mut control = logged_in(serving.port());
    let mut data = control.begin("STOR a");
    data.write_all(b"new").unwrap();
    drop(control);
    drop(data);
    until_there_are(1, root.path());
    is_there(root.path(), b"old");
}
