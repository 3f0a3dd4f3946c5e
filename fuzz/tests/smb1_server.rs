//! What a client of SMB 1 says, for the fuzz target and for the test that feeds it all seeds.
//!
//! The first octet chooses dialect, rights, user and signatures. Then come messages: for each a command, how its head is
//! made, flags, and the octets after the header; some come half a second later. The head has the right
//! user and share, unless it is to have others; so that files are reached, the file that was opened last
//! stands where most commands have it, if that is asked for.

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::User;
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_units::Instant;
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::{Header, LEN};
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{command, negotiate, session_setup_andx, tree_connect, tree_connect_andx};

use lanlab_stack::files::FileStore;

use crate::memory_files::MemoryFiles;

/// Calls for files, and messages, that one message may lead to at most: a delete by a pattern has
/// some for each file.
const MOST_CALLS: usize = 20_000;
const MOST_MESSAGES: usize = 20;
/// Octets of a message of the server at most.
const MOST_OCTETS: usize = 66 << 10;

pub fn smb1_server(octets: &[u8]) -> Reached {
    let Some((choice, mut rest)) = octets.split_first() else { return Reached::default() };
    let mut harness = Harness::new(*choice);
    while let Some((head, after)) = rest.split_first_chunk::<6>() {
        let len = usize::from(u16::from_le_bytes([head[4], head[5]])).min(after.len());
        let (body, after) = after.split_at(len);
        harness.ask(*head, body);
        rest = after;
    }
    let reached = harness.reached;
    harness.end();
    reached
}

/// How far messages came, for the test that holds the seeds against it.
#[derive(Debug, Clone, Copy, Default)]
#[allow(dead_code, reason = "the fuzz target does not look")]
pub struct Reached {
    /// A request waited for a lock.
    pub waits: bool,
    /// A user logged in.
    pub logins: bool,
}

struct Harness {
    reached: Reached,
    server: Server,
    session: Session,
    files: MemoryFiles,
    uid: u16,
    tid: u16,
    fid: u16,
    now: Instant,
}

impl Harness {
    fn new(choice: u8) -> Self {
        let newest = Dialect::ALL[usize::from(choice) % 4];
        let server = Server::new(Offer {
            name: "server".into(),
            share: "share".into(),
            user: (choice & 0x90 == 0x90).then(|| User {
                name: "u".into(),
                password: "Secret-1".into(),
                domain: String::new(),
            }),
            read_only: choice & 0x40 != 0,
            dialects: Dialect::Core..=newest,
        });
        let server = if choice & 0x08 == 0 { server } else { server.requiring_signatures() };
        let carrier = CarrierFacts {
            longest_message: 0x1_ffff,
            keeps_raw: choice & 0x20 == 0,
            is_one_at_a_time: false,
        };
        let session = server.session(carrier, [7; 8], 0x01d0_0000_0000_0000);
        let files = MemoryFiles::default();
        let now = Instant::ZERO;
        let reached = Reached::default();
        let mut harness = Self { reached, server, session, files, uid: 0, tid: 0, fid: 0, now };
        if choice & 0x88 == 0 {
            harness.connect(newest);
        }
        harness
    }

    fn connect(&mut self, dialect: Dialect) {
        let name = dialect.name();
        self.send(command::NEGOTIATE, |writer| negotiate::emit_request(&[name], writer));
        let text = Text::Oem(b"x");
        if dialect == Dialect::Core {
            let (path, service) = (Text::Oem(b"\\\\S\\SHARE"), Text::Oem(b"A:"));
            let request = tree_connect::Request { path, password: text, service };
            let answer = self.send(command::TREE_CONNECT, |writer| request.emit(writer));
            let header = Header::parse(&answer).unwrap();
            let block = Block::first(&header, &answer).unwrap();
            self.tid = tree_connect::Response::parse(&block).unwrap().tid;
            return;
        }
        let logon = if dialect == Dialect::Nt {
            session_setup_andx::Logon::Nt {
                oem_password: &[],
                unicode_password: &[],
                capabilities: negotiate::capabilities::LARGE_READX,
                account: text,
                domain: text,
            }
        } else {
            session_setup_andx::Logon::LanMan { password: &[], account: text, domain: text }
        };
        let request = session_setup_andx::Request {
            max_buffer: 4_356,
            max_mpx: 2,
            vc_number: 1,
            session_key: 0,
            logon,
            native_os: text,
            native_lan_manager: text,
        };
        let answer = self.send(command::SESSION_SETUP_ANDX, |writer| request.emit(writer));
        self.uid = Header::parse(&answer).unwrap().uid;
        let request = tree_connect_andx::Request {
            flags: 0,
            password: &[0],
            path: Text::Oem(b"\\\\S\\SHARE"),
            service: Text::Oem(b"?????"),
        };
        let answer = self.send(command::TREE_CONNECT_ANDX, |writer| request.emit(writer));
        self.tid = Header::parse(&answer).unwrap().tid;
    }

    fn send(&mut self, command: u8, emit: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
        let header = Header { uid: self.uid, tid: self.tid, ..Header::request(command, 0, 0) };
        let mut message = Vec::new();
        emit(&mut Writer::begin(&mut message, &header));
        let answer = self.give(message, false);
        assert!(Header::parse(&answer).unwrap().status.is_success());
        answer
    }

    fn ask(&mut self, [command, choice, low, high, ..]: [u8; 6], body: &[u8]) {
        if choice & 0xf0 == 0xf0 {
            // No head at all: raw data, or nonsense.
            self.give(body.to_vec(), true);
            return;
        }
        if choice & 0x10 != 0 {
            // Past the end of a wait that begins with the first message.
            self.now = self.now.plus_nanos(500_000_000);
        }
        let mut body = body.to_vec();
        let at = if command::is_andx(command) { 5 } else { 1 };
        if choice & 1 != 0 && body.len() >= at + 2 {
            body[at..at + 2].copy_from_slice(&self.fid.to_le_bytes());
        }
        let flags2 = u16::from_le_bytes([low, high]);
        let mut header = Header::request(command, choice & 0x08, flags2);
        header.uid = self.uid + u16::from(choice >> 1 & 1);
        header.tid = self.tid + u16::from(choice >> 2 & 1);
        header.mid = u16::from(choice >> 6);
        let mut message = header.emit().to_vec();
        message.extend_from_slice(&body);
        self.give(message, command == command::READ_RAW);
    }

    /// Give a message, and take all that comes of it: the last answer.
    fn give(&mut self, mut message: Vec<u8>, may_be_raw: bool) -> Vec<u8> {
        if self.session.is_over() {
            return Vec::new();
        }
        self.session.handle_timeout(self.now);
        self.session.handle_message(&mut message);
        let (mut calls, mut messages) = (0, 0);
        let (mut head, mut data, mut answer) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            while let Some(call) = self.session.poll_file_call(&mut data) {
                calls += 1;
                assert!(calls <= MOST_CALLS, "calls without end");
                let found = self.files.carry_out(call, &mut data);
                self.session.handle_file_answer(found, &mut data);
            }
            if !self.session.poll_message(&mut head, &mut data) {
                break;
            }
            messages += 1;
            assert!(messages <= MOST_MESSAGES, "messages without end");
            answer = [&head[..], &data[..]].concat();
            assert!(answer.len() <= MOST_OCTETS + LEN, "{} octets", answer.len());
            let header = Header::parse(&answer);
            assert!(may_be_raw || header.is_ok());
            if let Ok(header) = header
                && header.status.is_success()
                && matches!(
                    header.command,
                    command::OPEN
                        | command::CREATE
                        | command::OPEN_ANDX
                        | command::CREATE_NEW
                        | command::NT_CREATE_ANDX
                )
                && let Ok(block) = Block::first(&header, &answer)
            {
                let at = LEN
                    + 1
                    + match block.command() {
                        command::NT_CREATE_ANDX => 5,
                        command::OPEN_ANDX => 4,
                        _ => 0,
                    };
                self.fid =
                    answer.get(at..at + 2).map_or(0, |fid| u16::from_le_bytes([fid[0], fid[1]]));
            }
        }
        self.reached.waits |= self.session.poll_timeout().is_some();
        self.reached.logins |= self.session.is_known();
        assert!(self.session.poll_timeout().is_none_or(|at| at > self.now), "a wait without end");
        answer
    }

    fn end(mut self) {
        self.session.end();
        let mut data = Vec::new();
        while let Some(call) = self.session.poll_file_call(&mut data) {
            let found = self.files.carry_out(call, &mut data);
            self.session.handle_file_answer(found, &mut data);
        }
        assert!(self.session.is_over());
        assert_eq!((self.server.open_files(), self.files.open()), (0, 0));
    }
}
