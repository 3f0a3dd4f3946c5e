//! What FTP clients from before 2000 need: active mode, text, patterns and a restart point that lasts.

use std::fs;
use std::io::{BufRead, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, SystemTime};

use lanlab_files::ServiceKind;
use tempfile::TempDir;

use super::Raw;
use crate::stage::{LOOPBACK, run, served};

fn talk(root: &Path, with: impl FnOnce(&mut Raw) + Send + 'static) {
    run(async {
        let (serving, _) = served(ServiceKind::Ftp, root).await;
        let port = serving.port();
        let talk = move || {
            let mut raw = Raw::new(port);
            raw.log_in();
            with(&mut raw);
        };
        tokio::task::spawn_blocking(talk).await.unwrap();
    });
}

fn passive(raw: &mut Raw) -> TcpStream {
    let said = raw.say("EPSV");
    let port: u16 = said.split('|').nth(3).and_then(|port| port.parse().ok()).unwrap();
    TcpStream::connect((LOOPBACK, port)).unwrap()
}

fn got(raw: &mut Raw, command: &str) -> (String, String) {
    let mut data = passive(raw);
    let said = raw.say(command);
    if !said.starts_with("150") {
        return (String::new(), said);
    }
    let mut text = String::new();
    data.read_to_string(&mut text).unwrap();
    (text, raw.reply())
}

fn put(raw: &mut Raw, command: &str, data: &[u8]) -> String {
    let mut wire = passive(raw);
    let said = raw.say(command);
    if !said.starts_with("150") {
        return said;
    }
    wire.write_all(data).unwrap();
    drop(wire);
    raw.reply()
}

#[test]
fn rest_applies_to_the_next_transfer_only() {
    let root = TempDir::new().unwrap();
    let file = root.path().join("f");
    fs::write(&file, "a".repeat(1000)).unwrap();
    talk(root.path(), move |raw| {
        assert!(raw.say("TYPE I").starts_with("200"));
        for between in ["EPSV", "PASV", "TYPE I", "SIZE f", "NOOP", "PORT 127,0,0,1,200,1"] {
            assert!(raw.say("REST 100").starts_with("350"));
            raw.say(between);
            assert!(put(raw, "STOR f", b"bbbbbbbbbb").starts_with("226"), "{between}");
            let now = fs::read(&file).unwrap();
            assert_eq!((now.len(), &now[99..111]), (1000, &b"abbbbbbbbbba"[..]), "{between}");
            fs::write(&file, "a".repeat(1000)).unwrap();
        }
        raw.say("REST 990");
        assert_eq!(got(raw, "RETR f").0.len(), 10);
        assert_eq!(got(raw, "RETR f").0.len(), 1000, "it is for one transfer");
        raw.say("REST 990");
        assert!(raw.say("CWD /").starts_with("250"));
        assert_eq!(got(raw, "RETR f").0.len(), 1000, "and for the next thing that is done");
        raw.say("TYPE A");
        raw.say("REST 990");
        assert!(got(raw, "RETR f").1.starts_with("504"));
        raw.say("REST 990");
        assert!(put(raw, "STOR f", b"x").starts_with("504"));
        assert_eq!(fs::metadata(&file).unwrap().len(), 1000);
    });
}

#[test]
fn active_mode_connects_to_the_client() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("f"), "content").unwrap();
    let stored = root.path().join("g");
    talk(root.path(), move |raw| {
        raw.say("TYPE I");
        for verb in ["PORT", "EPRT"] {
            let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let command = match verb {
                "PORT" => format!("PORT 127,0,0,1,{},{}", port >> 8, port & 255),
                _ => format!("EPRT |1|127.0.0.1|{port}|"),
            };
            assert!(raw.say(&command).starts_with("200"), "{command}");
            assert!(raw.say("RETR f").starts_with("150"));
            let mut text = String::new();
            listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
            assert_eq!(text, "content");
            assert!(raw.reply().starts_with("226"));
            // Each transfer is asked for anew.
            assert!(raw.say("RETR f").starts_with("425"));
            assert!(raw.say(&command).starts_with("200"));
            assert!(raw.say("STOR g").starts_with("150"));
            listener.accept().unwrap().0.write_all(verb.as_bytes()).unwrap();
            assert!(raw.reply().starts_with("226"));
            assert_eq!(fs::read_to_string(&stored).unwrap(), verb);
            // No listener.
            drop(listener);
            assert!(raw.say(&command).starts_with("200"));
            assert!(raw.say("RETR f").starts_with("150"));
            assert!(raw.reply().starts_with("425"));
        }
        for (odd, code) in [
            ("PORT 127,0,0,1,200", "501"),
            ("PORT 127,0,0,1,200,1,1", "501"),
            ("PORT 127,0,0,256,200,1", "501"),
            ("EPRT |1|127.0.0.1|x|", "501"),
            ("EPRT |2|127.0.0.1|2000|", "501"),
            ("EPRT |1|127.0.0.1|2000", "501"),
            ("EPRT", "501"),
            ("EPRT |2|::1|2000|", "522"),
            ("EPSV 2", "522"),
            ("EPSV 1", "229"),
            ("EPSV ALL", "200"),
            ("PASV", "503"),
            ("PORT 127,0,0,1,200,1", "503"),
            ("EPSV", "229"),
        ] {
            let said = raw.say(odd);
            assert!(said.starts_with(code), "{odd}: {said}");
        }
    });
}

#[test]
fn ascii_transfers_convert_line_ends() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("t"), "one\ntwo\n").unwrap();
    let stored = root.path().join("u");
    talk(root.path(), move |raw| {
        // The type of a session that has not named one is A (RFC 959, section 5.1).
        assert_eq!(got(raw, "RETR t").0, "one\r\ntwo\r\n");
        assert!(raw.say("SIZE t").starts_with("550"), "it depends on the type");
        assert!(put(raw, "STOR u", b"one\r\ntwo\r\n").starts_with("226"));
        assert_eq!(fs::read_to_string(&stored).unwrap(), "one\ntwo\n");
        assert!(put(raw, "APPE u", b"three\r\n").starts_with("226"));
        assert!(raw.say("TYPE I").starts_with("200"));
        assert_eq!(got(raw, "RETR u").0, "one\ntwo\nthree\n");
        assert!(raw.say("SIZE t").starts_with("213 8"));
        assert!(put(raw, "STOR u", b"a\r\n").starts_with("226"));
        assert_eq!(fs::read_to_string(&stored).unwrap(), "a\r\n");
    });
}

#[test]
fn listings_expand_patterns_and_ignore_ls_options() {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("sub")).unwrap();
    for name in ["A.BIN", "B.BIN", "C.TXT", ".hidden.BIN", "[x]*", "sub/D.BIN"] {
        fs::write(root.path().join(name), name).unwrap();
    }
    talk(root.path(), |raw| {
        let mut names = |argument: &str| {
            let (text, said) = got(raw, &format!("NLST{argument}"));
            assert!(said.starts_with("226"), "{argument}: {said}");
            let mut names: Vec<String> = text.lines().map(str::to_owned).collect();
            names.sort();
            names
        };
        assert_eq!(names(" *.BIN"), ["A.BIN", "B.BIN"]);
        assert_eq!(names(" ?.*"), ["A.BIN", "B.BIN", "C.TXT"]);
        assert_eq!(names(" -l *.TXT"), ["C.TXT"]);
        assert_eq!(names(" sub/*"), ["sub/D.BIN"]);
        assert_eq!(names(" /sub/*.BIN"), ["/sub/D.BIN"]);
        assert_eq!(names(" sub"), ["D.BIN"]);
        assert_eq!(names(" -la sub"), ["D.BIN"]);
        assert_eq!(names(" C.TXT"), ["C.TXT"]);
        assert_eq!(names(" [x]*"), ["[x]*"], "what is there is no pattern");
        assert_eq!(names("").len(), 6);
        let long = got(raw, "LIST -a *.TXT").0;
        assert!(long.starts_with("-rw") && long.ends_with(" C.TXT\r\n"), "{long}");
        for none in ["NLST *.no", "LIST no", "NLST no/*", "LIST ../*/D.BIN"] {
            assert!(got(raw, none).1.starts_with("550"), "{none}");
        }
    });
}

#[test]
fn a_listing_shows_the_year_of_old_files() {
    let root = TempDir::new().unwrap();
    let day = Duration::from_hours(24);
    for (name, time) in [
        ("new", SystemTime::now() - day),
        ("old", SystemTime::UNIX_EPOCH + 10_957 * day),
        ("to come", SystemTime::now() + 2 * day),
    ] {
        let file = fs::File::create(root.path().join(name)).unwrap();
        file.set_modified(time).unwrap();
    }
    talk(root.path(), |raw| {
        let text = got(raw, "LIST").0;
        let of = |name: &str| {
            let line = text.lines().find(|line| line.ends_with(name)).unwrap();
            line.strip_suffix(name).unwrap().trim_end().rsplit(' ').next().unwrap().to_owned()
        };
        assert!(of("new").contains(':'), "{text}");
        assert_eq!(of("old"), "2000");
        assert!(!of("to come").contains(':'), "{text}");
    });
}

#[test]
fn help_and_stat_are_answered() {
    let root = TempDir::new().unwrap();
    fs::write(root.path().join("A.BIN"), "x").unwrap();
    talk(root.path(), |raw| {
        assert!(raw.say("HELP").starts_with("214 "));
        assert!(raw.say("STAT").starts_with("211 "));
        for telnet in [&b""[..], b"\xff\xf4\xff", b"\xff\xf4\xff\xf2"] {
            raw.0.get_mut().write_all(telnet).unwrap();
            assert!(raw.say("ABOR").starts_with("226 "), "{telnet:?}");
        }
        raw.0.get_mut().write_all(b"STAT *.BIN\r\n").unwrap();
        let mut lines = Vec::new();
        while lines.last().is_none_or(|line: &String| !line.starts_with("213 ")) {
            let mut line = String::new();
            raw.0.read_line(&mut line).unwrap();
            lines.push(line);
        }
        assert!(lines[1].starts_with(" -rw") && lines[1].ends_with(" A.BIN\r\n"), "{lines:?}");
        assert!(raw.say("STAT none").starts_with("550"));
    });
}
