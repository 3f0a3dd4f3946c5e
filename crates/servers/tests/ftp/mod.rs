//! FTP: the client and the embedded server with each other, with servers that lie, break off and
//! dawdle, with clients that try to get out, and with peers of others.

mod classic;
mod hostile;
mod peers;
mod replayed;
mod tls;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::stage::{
    self, LOOPBACK, content, get, keeps_awkward_names, offer, path, put, run, served, served_within,
};
use lanlab_clients::connect;
use lanlab_files::{Access, Class, ServiceKind, Session, Target};
use lanlab_servers::{Bounds, Offer};
use tempfile::TempDir;

const BOTH: [ServiceKind; 2] = [ServiceKind::Ftp, ServiceKind::Ftps];

#[test]
fn a_large_file_round_trips() {
    for service in BOTH {
        run(async {
            let root = TempDir::new().unwrap();
            let (_serving, target) = served(service, root.path()).await;
            let session = connect(&target).await.unwrap();
            let data = content(64 << 20, 1);
            put(&session, &path("large"), &data).await;
            assert!(get(&session, &path("large")).await == data);
            let facts = session.facts();
            assert_eq!(facts.no_delay, Some(true));
            assert_eq!(facts.protection == "none", service == ServiceKind::Ftp, "{facts:?}");
            session.end().await.unwrap();
        });
    }
}

#[test]
fn small_files_do_not_wait_for_acknowledgements() {
    for service in BOTH {
        run(async {
            let root = TempDir::new().unwrap();
            let (_serving, target) = served(service, root.path()).await;
            stage::moves_small_files_without_stalls(&connect(&target).await.unwrap()).await;
        });
    }
}

#[test]
fn names_round_trip() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(ServiceKind::Ftp, root.path()).await;
        let session = connect(&target).await.unwrap();
        keeps_awkward_names(&session, root.path()).await;
        let too_long = path(&"x".repeat(256));
        let file = session.open(&too_long, Access::Create { size_bytes: 1 }).await.unwrap();
        let fault = session.close(file).await.unwrap_err();
        assert_eq!(fault.class, Class::Name, "{fault}");
        // The session can be used for something else.
        put(&session, &path("x"), b"x").await;
    });
}

#[test]
fn reads_at_any_offset_restart_the_transfer() {
    run(async {
        let root = TempDir::new().unwrap();
        let sparse = std::fs::File::create(root.path().join("sparse")).unwrap();
        sparse.set_len((1 << 33) + 10).unwrap();
        std::fs::write(root.path().join("x"), content(100_000, 3)).unwrap();
        let (_serving, target) = served(ServiceKind::Ftp, root.path()).await;
        let session = connect(&target).await.unwrap();
        let file = session.open(&path("sparse"), Access::Read).await.unwrap();
        let mut buffer = [1; 100];
        assert_eq!(session.read_at(&file, 1 << 33, &mut buffer).await.unwrap(), 10);
        assert_eq!(buffer[..11], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        session.close(file).await.unwrap();
        let file = session.open(&path("x"), Access::Read).await.unwrap();
        for offset in [50_000, 7, 99_999] {
            let count = session.read_at(&file, offset as u64, &mut buffer).await.unwrap();
            assert!(buffer[..count] == content(100_000, 3)[offset..offset + count]);
        }
        // Given up in the middle, and the session goes on.
        session.close(file).await.unwrap();
        assert_eq!(session.list(None).await.unwrap().len(), 2);
    });
}

#[test]
fn existing_files_are_not_overwritten() {
    run(async {
        let root = TempDir::new().unwrap();
        let (_serving, target) = served(ServiceKind::Ftp, root.path()).await;
        let session = connect(&target).await.unwrap();
        stage::check_existing_are_kept(&session).await;
        // One file at a time; an answer to one is never taken for that to another.
        let file = session.open(&path("a"), Access::Read).await.unwrap();
        assert_eq!(session.remove(&path("d/x")).await.unwrap_err().class, Class::Unsupported);
        session.close(file).await.unwrap();
        session.remove(&path("d/x")).await.unwrap();
    });
}

#[test]
fn two_sessions_move_files_at_once_in_their_directories() {
    run(async {
        let root = TempDir::new().unwrap();
        for name in ["one", "two"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        let (serving, target) = served(ServiceKind::Ftps, root.path()).await;
        let one = Target { directory: "one".to_owned(), ..target.clone() };
        let two = Target { directory: "two".to_owned(), ..target.clone() };
        let (one, two) = (connect(&one).await.unwrap(), connect(&two).await.unwrap());
        let (a, b) = (content(3_000_000, 4), content(3_000_000, 5));
        let name = path("f");
        tokio::join!(put(&one, &name, &a), put(&two, &name, &b));
        let back = tokio::join!(get(&two, &name), get(&one, &name));
        assert!(back == (b, a));
        assert_eq!(serving.accepted(), 2);
        let nowhere = Target { directory: "three".to_owned(), ..target };
        assert_eq!(connect(&nowhere).await.unwrap_err().class, Class::Missing);
    });
}

#[test]
fn stopping_a_server_closes_its_connections() {
    run(async {
        let root = TempDir::new().unwrap();
        // An address at which no other test listens or connects.
        let own = IpAddr::from([127, 0, 0, 77]);
        let offer = Offer { bind: own.into(), ..offer(ServiceKind::Ftp, root.path()) };
        let (serving, target) = served_within(&offer, &Bounds::default()).await;
        let target = Target { address: Some(own.into()), ..target };
        std::fs::write(root.path().join("x"), vec![0; 32 << 20]).unwrap();
        let idle = connect(&target).await.unwrap();
        let busy = connect(&target).await.unwrap();
        let file = busy.open(&path("x"), Access::Read).await.unwrap();
        let port = serving.port();
        serving.end().await;
        // A program that another test starts has all descriptors of this one until it is loaded.
        let until = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect((own, port)).is_ok() {
            assert!(Instant::now() < until, "something listens");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(idle.list(None).await.unwrap_err().class, Class::Reset);
        let mut buffer = vec![0; 1 << 20];
        let mut offset = 0;
        let fault = loop {
            match busy.read_at(&file, offset, &mut buffer).await {
                Ok(0) => panic!("32 MiB came of a server that had ended"),
                Ok(count) => offset += count as u64,
                Err(fault) => break fault,
            }
        };
        assert_eq!(fault.class, Class::Reset, "{fault}");
    });
}

/// Says lines to a server and takes its last line for each.
struct Raw(BufReader<TcpStream>);

impl Raw {
    fn new(port: u16) -> Self {
        let stream = TcpStream::connect((LOOPBACK, port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut raw = Self(BufReader::new(stream));
        assert!(raw.reply().starts_with("220 "));
        raw
    }

    fn reply(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the server hung up");
            if line.as_bytes()[3] == b' ' && line.as_bytes()[0].is_ascii_digit() {
                return line;
            }
        }
    }

    fn say(&mut self, line: &str) -> String {
        self.0.get_mut().write_all(format!("{line}\r\n").as_bytes()).unwrap();
        self.reply()
    }

    fn log_in(&mut self) {
        assert!(self.say("USER station").starts_with("331"));
        assert!(self.say("PASS top secret").starts_with("230"));
    }
}

#[test]
fn a_session_uses_one_data_port_and_no_abandoned_connection() {
    run(async {
        let root = TempDir::new().unwrap();
        std::fs::write(root.path().join("a"), "content").unwrap();
        let (serving, _) = served(ServiceKind::Ftp, root.path()).await;
        let port = serving.port();
        let talk = move || {
            let mut raw = Raw::new(port);
            raw.log_in();
            let mut data = || -> (u16, TcpStream) {
                let said = raw.say("EPSV");
                let port = said.split('|').nth(3).and_then(|port| port.parse().ok()).unwrap();
                (port, TcpStream::connect((LOOPBACK, port)).unwrap())
            };
            let (first, mut given_up) = data();
            let (second, mut used) = data();
            assert_eq!(first, second);
            assert!(raw.say("RETR a").starts_with("150"));
            let mut text = String::new();
            used.read_to_string(&mut text).unwrap();
            assert_eq!(text, "content");
            assert_eq!(given_up.read(&mut [0; 8]).unwrap_or(0), 0);
            assert!(raw.reply().starts_with("226"));
            // Each transfer is asked for anew.
            assert!(raw.say("RETR a").starts_with("425"));
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}

#[test]
fn permissions_and_times_are_set_or_refused_openly() {
    use std::os::unix::fs::MetadataExt;
    run(async {
        let root = TempDir::new().unwrap();
        let at = root.path().join("a file");
        std::fs::write(&at, "content").unwrap();
        let (serving, _) = served(ServiceKind::Ftp, root.path()).await;
        let port = serving.port();
        let talk = move || {
            let state = || {
                let found = std::fs::metadata(&at).unwrap();
                (found.mode() & 0o7777, found.mtime())
            };
            let mut raw = Raw::new(port);
            assert!(raw.say("MFMT 20010909014640 a file").starts_with("530"));
            raw.log_in();
            let said = raw.say("MFMT 20010909014640 a file");
            assert_eq!(said.trim(), "213 Modify=20010909014640; a file");
            assert!(raw.say("MDTM a file").starts_with("213 20010909014640"));
            assert!(raw.say("SITE CHMOD 640 a file").starts_with("200"));
            assert_eq!(state(), (0o640, 1_000_000_000));
            assert!(raw.say("SITE chmod 0604 a file").starts_with("200"));
            for (odd, code) in [
                ("SITE CHMOD 4755 a file", "504"),
                ("SITE CHMOD +755 a file", "504"),
                ("SITE CHMOD u+x a file", "504"),
                ("SITE CHMOD 999 a file", "504"),
                ("SITE CHMOD 755", "504"),
                ("SITE CHOWN me a file", "504"),
                ("SITE", "504"),
                ("SITE CHMOD 755 none", "550"),
                ("MFMT 20010231000000 a file", "501"),
                ("MFMT 20010909014640", "501"),
                ("MFMT é20010909014640 a file", "501"),
                ("MFMT 20010909014640 none", "550"),
                ("MFF UNIX.mode=0755; a file", "502"),
            ] {
                let said = raw.say(odd);
                assert!(said.starts_with(code), "{odd}: {said}");
            }
            assert_eq!(state(), (0o604, 1_000_000_000));
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}

#[test]
fn no_client_leaves_the_directory() {
    run(async {
        let (outside, root) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        std::fs::write(outside.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        let (serving, _) = served(ServiceKind::Ftp, root.path()).await;
        let (port, outside) = (serving.port(), outside.path().to_owned());
        let talk = move || {
            let mut raw = Raw::new(port);
            assert!(raw.say("SIZE x").starts_with("530"));
            raw.log_in();
            assert!(raw.say("CWD ../../..").starts_with("250"));
            assert!(raw.say("PWD").starts_with("257 \"/\""));
            for verb in [
                "SIZE",
                "CWD",
                "MLST",
                "DELE",
                "RNFR",
                "RMD",
                "MDTM",
                "RETR",
                "STOR",
                "MFMT 20200101000000",
                "SITE CHMOD 700",
            ] {
                let out = outside.join("secret").display().to_string();
                for way in ["link/secret", "../link/secret", &out, "../../etc/passwd", "link"] {
                    let said = raw.say(&format!("{verb} {way}"));
                    // What is not there could be stored there, but for the data connection.
                    assert!(
                        said.starts_with('5') || said.starts_with("425"),
                        "{verb} {way}: {said}"
                    );
                }
            }
            for elsewhere in [
                "PORT 127,0,0,1,0,22",
                "PORT 127,0,0,1,3,255",
                "PORT 127,0,0,2,4,0",
                "EPRT |1|127.0.0.1|22|",
                "EPRT |1|127.0.0.2|1024|",
            ] {
                assert!(raw.say(elsewhere).starts_with("504"), "{elsewhere}");
                assert!(raw.say("LIST").starts_with("425"), "{elsewhere}");
            }
            assert!(raw.say("MKD a\\..\\b").starts_with("553"));
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}

#[test]
fn three_slow_guesses_of_a_password_are_allowed() {
    run(async {
        let root = TempDir::new().unwrap();
        let (serving, _) = served(ServiceKind::Ftp, root.path()).await;
        let port = serving.port();
        let talk = move || {
            let (mut raw, start) = (Raw::new(port), Instant::now());
            for wanted in ["530", "530", "421"] {
                assert!(raw.say("USER station").starts_with("331"));
                let said = raw.say("PASS guess");
                assert!(said.starts_with(wanted), "{said}");
            }
            assert!(start.elapsed() >= Duration::from_millis(500));
            // A line without an end ends the connection.
            let mut raw = Raw::new(port);
            let _ = raw.0.get_mut().write_all(&vec![b'x'; 1 << 20]);
            let mut rest = Vec::new();
            let _ = raw.0.read_to_end(&mut rest);
            assert!(rest.is_empty());
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}
