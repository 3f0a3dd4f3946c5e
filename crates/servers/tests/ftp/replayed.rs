//! The control connection of mTCP's FTP client, segment by segment; each reply is checked against RFC 959 and RFC 1123.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};

use lanlab_files::{Credentials, ServiceKind};
use lanlab_servers::Bounds;
use tempfile::TempDir;

use super::Raw;
use crate::stage::{offer, run, served_within, user};

const SEGMENTS: &str = include_str!("../frames/ftp-mtcp.txt");
/// The client in the capture, and in a test.
const THEIRS: &str = "10,77,0,77";
const OURS: &str = "127,0,0,1";
const TEXT: &[u8] = b"one\r\ntwo\r\n";

/// Success of a command (RFC 959, section 5.4). CDUP has the replies of CWD there or those of appendix II.
fn allowed(verb: &str) -> &'static [&'static str] {
    match verb {
        "USER" => &["331"],
        "PASS" => &["230"],
        "PASV" => &["227"],
        "LIST" | "NLST" | "STOR" | "RETR" => &["125", "150"],
        "PWD" | "MKD" => &["257"],
        "CWD" | "RNTO" | "DELE" | "RMD" => &["250"],
        "CDUP" => &["200", "250"],
        "TYPE" | "PORT" => &["200"],
        "RNFR" => &["350"],
        "SYST" => &["215"],
        "STAT" => &["211", "212", "213"],
        "HELP" => &["211", "214"],
        "QUIT" => &["221"],
        other => panic!("{other} is not in the capture"),
    }
}

/// Where a reply to PASV says that the server listens (RFC 1123, section 4.1.2.6): six numbers, anywhere in it.
fn listening(said: &str) -> SocketAddrV4 {
    let digits = said[4..].trim_matches(|one: char| !one.is_ascii_digit());
    let all: Vec<u8> = digits.split(',').map(|one| one.parse().unwrap()).collect();
    let [a, b, c, d, high, low] = all[..] else { panic!("{said}") };
    SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([high, low]))
}

/// What a transfer gave, and its last reply.
fn transferred(raw: &mut Raw, verb: &str, name: &str, mut data: TcpStream) -> Vec<u8> {
    let mut got = vec![];
    if verb == "STOR" {
        data.write_all(if name == "T.TXT" { TEXT } else { &[7; 3000] }).unwrap();
    } else {
        data.read_to_end(&mut got).unwrap();
    }
    drop(data);
    let said = raw.reply();
    assert!(["226", "250"].contains(&&said[..3]), "{verb} {name}: {said}");
    got
}

#[test]
fn every_command_of_mtcp_succeeds() {
    run(async {
        let root = TempDir::new().unwrap();
        let at = root.path().to_owned();
        fs::create_dir(at.join("SUB")).unwrap();
        fs::write(at.join("README.TXT"), "read\nme\n").unwrap();
        fs::write(at.join("F1.BIN"), [1; 10]).unwrap();
        let mut offered = offer(ServiceKind::Ftp, &at);
        let (name, secret) = ("judge".to_owned(), "judge-pw-1".to_owned());
        offered.credentials = Some(Credentials { user: name, secret, ..user() });
        let (serving, _) = served_within(&offered, &Bounds::default()).await;
        let port = serving.port();
        tokio::task::spawn_blocking(move || replay(&mut Raw::new(port), &at)).await.unwrap();
    });
}

fn replay(raw: &mut Raw, root: &std::path::Path) {
    let (mut line, mut data, mut place, mut transfers) = (vec![], None, "/", vec![]);
    for segment in SEGMENTS.lines().filter(|line| !line.starts_with('#')) {
        let octets = hex::decode(segment.split_once(' ').unwrap().1).unwrap();
        let octets = String::from_utf8(octets).unwrap().replace(THEIRS, OURS);
        raw.0.get_mut().write_all(octets.as_bytes()).unwrap();
        line.extend(octets.into_bytes());
        let Some(command) = line.strip_suffix(b"\r\n") else { continue };
        let command = String::from_utf8(command.to_vec()).unwrap();
        line.clear();
        let said = raw.reply();
        let (verb, argument) = command.split_once(' ').unwrap_or((&command, ""));
        assert!(allowed(verb).contains(&&said[..3]), "{command}: {said}");
        match verb {
            "PASV" => data = Some(TcpStream::connect(listening(&said)).unwrap()),
            "CWD" => place = "/SUB",
            "CDUP" => place = "/",
            // Appendix II: the name in quotation marks, from the root.
            "PWD" => assert!(said[4..].starts_with(&format!("\"{place}\"")), "{said}"),
            "MKD" => assert!(said[4..].starts_with("\"/NEWD\""), "{said}"),
            "LIST" | "NLST" | "RETR" | "STOR" => {
                let got = transferred(raw, verb, argument, data.take().unwrap());
                if argument == "T.TXT" && verb == "STOR" {
                    assert_eq!(fs::read(root.join(argument)).unwrap(), b"one\ntwo\n");
                }
                transfers.push((command, got));
            }
            _ => {}
        }
    }
    assert_eq!(raw.0.read(&mut [0; 1]).unwrap(), 0, "the server closes after QUIT");
    let of = |wanted: &str| {
        let found = transfers.iter().find(|(command, _)| command == wanted);
        String::from_utf8_lossy(&found.unwrap().1).into_owned()
    };
    assert_eq!(of("RETR BIG.BIN").into_bytes(), [7; 3000]);
    assert_eq!(of("RETR T.TXT").as_bytes(), TEXT);
    assert_eq!(of("RETR README.TXT"), "read\r\nme\r\n");
    assert_eq!(of("NLST F*.BIN"), "F1.BIN\r\n");
    let mut names: Vec<_> = of("NLST").lines().map(str::to_owned).collect();
    names.sort();
    assert_eq!(names, ["F1.BIN", "README.TXT", "SUB"]);
    let listed = of("LIST");
    assert!(names.iter().all(|name| listed.contains(&format!(" {name}\r\n"))), "{listed}");
}
