//! Messages that make no sense, at a server that must go on.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use lanlab_clients::connect;
use lanlab_files::ServiceKind::Smb1;
use lanlab_files::Session;
use lanlab_wire::smb1::header::{Header, flags2};
use lanlab_wire::smb1::negotiate::{self, dialect};
use lanlab_wire::smb1::status::Status;
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{andx, command, open, path, tree_connect};

use crate::multiplexed::{LOOPBACK, get, path as service_path, put, run, served};

pub struct Raw {
    pub stream: TcpStream,
    tid: u16,
}

impl Raw {
    fn new(port: u16) -> Self {
        let stream = TcpStream::connect((LOOPBACK, port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        Self { stream, tid: 0 }
    }

    pub fn connected(port: u16, secret: &str) -> Self {
        let mut raw = Self::new(port);
        raw.ask(command::NEGOTIATE, |writer| negotiate::emit_request(&[dialect::CORE], writer));
        let request = tree_connect::Request {
            path: Text::Oem(b"\\\\SERVER\\LANLAB"),
            password: Text::Oem(secret.as_bytes()),
            service: Text::Oem(b"A:"),
        };
        let answer = raw.ask(command::TREE_CONNECT, |writer| request.emit(writer)).unwrap();
        let header = Header::parse(&answer).unwrap();
        let block = andx::Block::first(&header, &answer).unwrap();
        raw.tid = tree_connect::Response::parse(&block).unwrap().tid;
        raw
    }

    fn frame(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        self.send_whole(message)?;
        self.receive()
    }

    fn send_whole(&mut self, message: &[u8]) -> Option<()> {
        let mut octets = (message.len() as u32).to_be_bytes().to_vec();
        octets.extend_from_slice(message);
        self.stream.write_all(&octets).ok()
    }

    pub fn receive(&mut self) -> Option<Vec<u8>> {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).ok()?;
        let mut answer = vec![0; u32::from_be_bytes(head) as usize];
        self.stream.read_exact(&mut answer).ok()?;
        Some(answer)
    }

    pub fn ask(&mut self, command: u8, emit: impl FnOnce(&mut Writer<'_>)) -> Option<Vec<u8>> {
        self.send(command, 0, emit);
        self.receive()
    }

    pub fn send(&mut self, command: u8, mid: u16, emit: impl FnOnce(&mut Writer<'_>)) {
        let mut message = Vec::new();
        let header = Header { tid: self.tid, mid, ..Header::request(command, 0, 0) };
        emit(&mut Writer::begin(&mut message, &header));
        let _ = self.send_whole(&message);
    }

    pub fn status(&mut self, command: u8, emit: impl FnOnce(&mut Writer<'_>)) -> String {
        let answer = self.ask(command, emit).expect("the connection is gone");
        let header = Header::parse(&answer).unwrap();
        header.status.to_string()
    }
}

#[test]
fn names_outside_the_share_are_refused_without_a_change() {
    run(async {
        let (root, serving, target) = served(Smb1).await;
        let (port, secret) = (serving.port(), target.credentials.clone().unwrap().secret);
        let tried = tokio::task::spawn_blocking(move || {
            let mut raw = Raw::connected(port, &secret);
            for name in [
                "\\..\\out",
                "..",
                "\\A\\..\\..\\OUT",
                "CON",
                "LPT1",
                "\\COM1.TXT",
                "A:B",
                "AUX",
                "A/B",
                "A?",
                "\\*\\A",
                "A\x01",
            ] {
                let name = Text::Oem(name.as_bytes());
                for command in [command::CREATE, command::CREATE_NEW, command::CREATE_TEMPORARY] {
                    let create = open::Create { attributes: 0, creation_time: 0, name };
                    let status = raw.status(command, |writer| create.emit(writer));
                    assert!(status.contains("invalid file name"), "{name:?}: {status}");
                }
                let request = path::Request { name };
                for command in [command::CREATE_DIRECTORY, command::DELETE_DIRECTORY] {
                    let status = raw.status(command, |writer| request.emit(writer));
                    assert!(status.contains("invalid file name"), "{name:?}: {status}");
                }
            }
        });
        tried.await.unwrap();
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
        serving.end().await;
    });
}

#[test]
fn nothing_is_done_before_a_login() {
    run(async {
        let (root, serving, _) = served(Smb1).await;
        let port = serving.port();
        let tried = tokio::task::spawn_blocking(move || {
            for offered in [dialect::CORE, dialect::LANMAN1, dialect::NT_LM] {
                for command in 0..=0xfe {
                    if matches!(command, command::NEGOTIATE | command::ECHO | command::NT_CANCEL) {
                        continue;
                    }
                    let mut raw = Raw::new(port);
                    raw.ask(command::NEGOTIATE, |writer| {
                        negotiate::emit_request(&[offered], writer);
                    });
                    let request = path::Request { name: Text::Oem(b"\\NEW") };
                    let Some(answer) = raw.ask(command, |writer| request.emit(writer)) else {
                        continue;
                    };
                    let header = Header::parse(&answer).unwrap();
                    assert!(!header.status.is_success(), "{offered}: {command:#x}");
                }
            }
        });
        tried.await.unwrap();
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
        serving.end().await;
    });
}

#[test]
fn malformed_input_ends_only_its_own_connection() {
    run(async {
        let (_root, serving, target) = served(Smb1).await;
        let session = connect(&target).await.unwrap();
        put(&session, &service_path("kept"), b"kept").await;
        let (port, secret) = (serving.port(), target.credentials.clone().unwrap().secret);
        let tried = tokio::task::spawn_blocking(move || {
            // Each length of each octet, over all commands.
            for filler in [0_u8, 1, 0x7f, 0xff] {
                let mut raw = Raw::connected(port, &secret);
                for command in 0..=0xff {
                    for len in [0, 1, 2, 3, 20, 40, 300] {
                        let mut message = Header {
                            tid: raw.tid,
                            ..Header::request(command, 0, flags2::LONG_NAMES)
                        }
                        .emit()
                        .to_vec();
                        message.resize(message.len() + len, filler);
                        if matches!(command, command::NT_CANCEL | command::READ_RAW)
                            || raw.frame(&message).is_none()
                        {
                            raw = Raw::connected(port, &secret);
                        }
                    }
                }
            }
            for octets in
                [&b"\0\0\0\0"[..], b"\0\xff\xff\xff", b"\x81\0\0\x01\0", b"GET / HTTP/1.1\r\n"]
            {
                let mut raw = Raw::new(port);
                raw.stream.write_all(octets).unwrap();
            }
        });
        tried.await.unwrap();
        assert_eq!(get(&session, &service_path("kept")).await, b"kept");
        session.end().await.unwrap();
        serving.end().await;
    });
}

#[test]
fn netbios_session_requests_are_accepted() {
    run(async {
        let (_root, serving, _) = served(Smb1).await;
        let port = serving.port();
        let tried = tokio::task::spawn_blocking(move || {
            use lanlab_wire::nbss::{Framing, Packet};
            use lanlab_wire::netbios_name::{Name, suffix};
            let mut raw = Raw::new(port);
            let called = Name::new("*SMBSERVER", suffix::SERVER).unwrap();
            let calling = Name::new("OLD-BOX", suffix::WORKSTATION).unwrap();
            let mut octets = Vec::new();
            Packet::Request { called, calling }.emit(Framing::Session, &mut octets).unwrap();
            raw.stream.write_all(&octets).unwrap();
            let mut answer = [0; 4];
            raw.stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, [0x82, 0, 0, 0]);
            let answer = raw
                .ask(command::NEGOTIATE, |writer| {
                    negotiate::emit_request(&["XENIX CORE", "unknown"], writer);
                })
                .unwrap();
            let header = Header::parse(&answer).unwrap();
            assert_eq!(header.status, Status::success(0));
            assert_eq!(answer[33..35], [0xff, 0xff], "none of the dialects");
        });
        tried.await.unwrap();
        serving.end().await;
    });
}
