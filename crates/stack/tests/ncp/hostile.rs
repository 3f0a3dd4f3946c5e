//! Packets of clients that do not keep to the protocol: counted, refused, bounded.

use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::ncp::client::User;
use lanlab_stack::ncp::server::{Offer, Server};
use lanlab_stack::node::{Event, Node, SessionId};
use lanlab_stack::profile::netware::{NETWARE_2, NETWARE_3};
use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Mac};
use lanlab_wire::ipx::{Address, Header, NO_CHECKSUM, framing, packet_type, socket};
use lanlab_wire::ncp::bindery::{KeyedLogin, PlainLogin, object};
use lanlab_wire::ncp::completion as c;
use lanlab_wire::ncp::directories::Allocate;
use lanlab_wire::ncp::envelope::{Envelope, Reply, kind, status};
use lanlab_wire::ncp::files::{OfFile, OfPath, Open, access};
use lanlab_wire::ncp::function::{self as f, Function};
use lanlab_wire::ncp::search::{FIRST, Found, Search};
use lanlab_wire::ncp::text::Name;

use super::pair::{READY, node};
use crate::memory_files::MemoryFiles;
use crate::segment::mac;

/// A reply: its completion code, its status, and what it says.
pub type Answer = (u8, u8, Vec<u8>);

/// A server, and what its clients send by hand.
pub struct Bench {
    node: Node,
    server: Server,
    sessions: Vec<(SessionId, Session)>,
    pub files: MemoryFiles,
    now: Instant,
    sequence: u8,
    connection: u16,
    /// Packets of bursts that were answered.
    pub bursts: Vec<Vec<u8>>,
}

impl Bench {
    fn new(netware: lanlab_stack::profile::netware::NetWare) -> Self {
        let server = Server::new(Offer {
            name: "STATION1".into(),
            volume: "SYS".into(),
            user: Some(User { name: "JOE".into(), password: "secret".into() }),
            read_only: false,
            netware,
        });
        let mut node = node(1, netware, Some(framing::RAW_802_3));
        node.listen();
        let (sessions, files) = (vec![], MemoryFiles::default());
        let (now, sequence, connection, bursts) = (READY, 0, 0, vec![]);
        let mut bench = Self { node, server, sessions, files, now, sequence, connection, bursts };
        bench.replies();
        bench
    }

    fn send(&mut self, station: u8, envelope: Envelope, data: &[u8]) -> Vec<Answer> {
        self.send_from((station, 0x4003), envelope, data)
    }

    fn connect(&mut self, station: u8, socket: u16) -> Vec<Answer> {
        let (kind, sequence, connection, task) = (kind::CREATE, 0, 0xffff, 1);
        self.send_from((station, socket), Envelope { kind, sequence, connection, task }, &[0])
    }

    fn send_from(
        &mut self,
        (station, number): (u8, u16),
        envelope: Envelope,
        data: &[u8],
    ) -> Vec<Answer> {
        let mut message = vec![];
        envelope.emit(&mut message);
        message.extend_from_slice(data);
        self.send_octets((station, number), &message)
    }

    pub fn send_octets(&mut self, (station, number): (u8, u16), message: &[u8]) -> Vec<Answer> {
        let from = Mac([2, 0, 0, 0, 1, station]);
        let source = Address { network: 0x17, node: from.0, socket: number };
        let destination = Address { network: 0x17, node: mac(1).0, socket: socket::NCP };
        let kind = packet_type::NCP;
        let header = Header { checksum: NO_CHECKSUM, hops: 0, kind, destination, source };
        let mut frame = vec![];
        framing::emit((mac(1), from), framing::RAW_802_3, &header, message, &mut frame).unwrap();
        self.node.handle_frame(self.now, &frame);
        self.replies()
    }

    fn replies(&mut self) -> Vec<Answer> {
        let mut message = vec![];
        while let Some(event) = self.node.poll_event(&mut message) {
            match event {
                Event::Accepted { session, facts, .. } => {
                    self.sessions.push((session, self.server.session(facts, [7; 8], 0)));
                }
                Event::Message(id) => {
                    let known = self.sessions.iter_mut().find(|one| one.0 == id).unwrap();
                    known.1.handle_message(&mut message);
                }
                Event::Ended(id, _) => self.sessions.retain(|one| one.0 != id),
                _ => {}
            }
            for (id, session) in &mut self.sessions {
                for message in self.files.serve(session) {
                    self.node.send(self.now, *id, &message).unwrap();
                }
            }
        }
        let (mut frame, mut answers) = (vec![], vec![]);
        while self.node.poll_transmit(self.now, &mut frame) {
            let frame = Frame::parse(&frame).unwrap();
            let (packet, _) = framing::packet(&frame).unwrap();
            let (header, data) = Header::parse(packet).unwrap();
            if data.starts_with(&kind::BURST.to_be_bytes()) {
                self.bursts.push(data.to_vec());
            } else if header.kind == packet_type::NCP {
                let (reply, data) = Reply::parse(data).unwrap();
                self.connection = reply.envelope.connection;
                answers.push((reply.completion, reply.status, data.to_vec()));
            }
        }
        answers
    }

    fn create(&mut self, station: u8) -> Vec<Answer> {
        self.sequence = 0;
        let (kind, sequence, connection, task) = (kind::CREATE, 0, 0xffff, 1);
        self.send(station, Envelope { kind, sequence, connection, task }, &[0])
    }

    fn envelope(&self) -> Envelope {
        let (kind, sequence) = (kind::REQUEST, self.sequence);
        Envelope { kind, sequence, connection: self.connection, task: 1 }
    }

    pub fn ask(&mut self, function: Function, write: impl FnOnce(&mut Vec<u8>)) -> (u8, Vec<u8>) {
        let mut message = vec![];
        function.emit(&mut message, write);
        self.ask_raw(&message)
    }

    pub fn ask_raw(&mut self, message: &[u8]) -> (u8, Vec<u8>) {
        self.sequence = self.sequence.wrapping_add(1);
        let answers = self.send(0, self.envelope(), message);
        let [(completion, 0, data)] = &answers[..] else { panic!("{answers:?}") };
        (*completion, data.clone())
    }

    /// A client that has logged in, with a handle of the volume, which is 1.
    pub fn logged_in() -> Self {
        let mut bench = Self::new(NETWARE_3);
        bench.create(0);
        let login =
            PlainLogin { kind: object::USER, name: Name(b"joe"), password: Name(b"Secret") };
        assert_eq!(bench.ask(f::LOG_IN, |out| login.emit(out)).0, c::OK);
        assert_eq!(bench.allocate(0, b"SYS:"), (c::OK, vec![1, 0xff]));
        bench
    }

    fn allocate(&mut self, handle: u8, path: &[u8]) -> (u8, Vec<u8>) {
        let path = Name(path);
        self.ask(f::ALLOCATE_TEMPORARY, |out| Allocate { handle, letter: b'F', path }.emit(out))
    }

    pub fn counted(&self, key: &str) -> u64 {
        self.node.counts().iter().find(|(found, _)| *found == key).unwrap().1
    }
}

#[test]
fn out_of_order_requests_are_dropped_and_repeats_are_not_executed() {
    let mut bench = Bench::logged_in();
    let make = |out: &mut Vec<u8>| Allocate { handle: 1, letter: 0xff, path: Name(b"D") }.emit(out);
    assert_eq!(bench.ask(f::MAKE_DIRECTORY, make).0, c::OK);
    let mut message = vec![];
    f::MAKE_DIRECTORY.emit(&mut message, make);
    let envelope = bench.envelope();
    assert_eq!(bench.send(0, envelope, &message), [(c::OK, 0, vec![])], "the same answer");
    for sequence in [0, 1, 2, 5, 77, 255] {
        assert_eq!(bench.send(0, Envelope { sequence, ..envelope }, &message), [], "{sequence}");
    }
    assert_eq!((bench.counted("answered_again"), bench.counted("information_discarded")), (1, 6));
    assert_eq!(bench.ask(f::MAKE_DIRECTORY, make).0, c::FAILED, "it is there");
}

#[test]
fn connection_numbers_of_others_are_rejected_as_unknown() {
    let mut bench = Bench::logged_in();
    let envelope = Envelope { sequence: bench.sequence + 1, ..bench.envelope() };
    let bad = [(c::FAILED, status::BAD_CONNECTION, vec![])];
    assert_eq!(bench.send(3, envelope, &[0x14]), bad, "another station");
    for connection in [0, 2, 0x0101, 0xffff] {
        let envelope = Envelope { connection, ..envelope };
        assert_eq!(bench.send(0, envelope, &[0x14]), bad, "{connection}");
        let destroy = Envelope { kind: kind::DESTROY, ..envelope };
        // Its end may come twice: there is nothing left to end.
        assert_eq!(bench.send(0, destroy, &[]), [(c::OK, 0, vec![])], "{connection}");
    }
    assert_eq!((bench.counted("unknown_session_frames"), bench.sessions.len()), (9, 1));
    assert_eq!(bench.send(0, Envelope { kind: 0x7777, ..envelope }, &[]), []);
}

#[test]
fn handles_of_other_clients_are_refused() {
    let mut bench = Bench::logged_in();
    let create = OfPath { handle: 1, attributes: 0, path: Name(b"A") };
    let (code, opened) = bench.ask(f::CREATE, |out| create.emit(out));
    assert_eq!(code, c::OK);
    let file: [u8; 6] = opened[..6].try_into().unwrap();
    // The first two octets are the client's: `ncpfs` makes them of the last four.
    for at in 2..6 {
        let mut file = file;
        file[at] ^= 0x40;
        let (code, _) = bench.ask(f::CLOSE, |out| OfFile { reserved: 0, file }.emit(out));
        assert_eq!(code, c::BAD_FILE_HANDLE, "{at}");
    }
    for handle in [2, 77, 255] {
        assert_eq!(bench.allocate(handle, b"").0, c::BAD_DIRECTORY_HANDLE);
    }
    // Another connection of the same user does not have them.
    let (own, sequence) = (bench.connection, bench.sequence);
    bench.now = bench.now.plus_nanos(1);
    bench.create(9);
    assert_ne!(bench.connection, own);
    let mut message = vec![];
    f::CLOSE.emit(&mut message, |out| OfFile { reserved: 0, file }.emit(out));
    let envelope = Envelope { sequence: 1, ..bench.envelope() };
    assert_eq!(bench.send(9, envelope, &message), [(c::BAD_FILE_HANDLE, 0, vec![])]);
    (bench.connection, bench.sequence) = (own, sequence);
    assert_eq!(bench.ask(f::CLOSE, |out| OfFile { reserved: 0, file }.emit(out)).0, c::OK);
}

#[test]
fn no_path_leaves_the_volume() {
    let mut bench = Bench::logged_in();
    for (path, code) in [
        (&b".."[..], c::NO_SUCH_PATH),
        (b"D\\..\\..", c::NO_SUCH_PATH),
        (b"SYS:..\\X", c::NO_SUCH_PATH),
        (b"/../X", c::NO_SUCH_PATH),
        (b"\xae\xae", c::NO_SUCH_PATH),
        (b"OTHER:X", c::NO_SUCH_VOLUME),
        (b"A:B:C", c::NO_SUCH_VOLUME),
        (b"CON", c::BAD_NAME),
        (b"A\0B", c::BAD_NAME),
        (b"*\\A", c::BAD_NAME),
        (b"NONE", c::NO_SUCH_PATH),
    ] {
        assert_eq!(bench.allocate(1, path).0, code, "{}", path.escape_ascii());
    }
    assert_eq!(bench.allocate(1, &b"A\\".repeat(100)).0, c::NO_SUCH_PATH);
    assert_eq!(bench.allocate(1, b"./").0, c::OK, "the directory itself");
}

#[test]
fn shell_wildcards_match_the_same_names_as_plain_wildcards() {
    let mut bench = Bench::logged_in();
    for path in [&b"A.TXT"[..], b"B", b"AB.TX"] {
        let create = OfPath { handle: 1, attributes: 0, path: Name(path) };
        assert_eq!(bench.ask(f::CREATE_NEW, |out| create.emit(out)).0, c::OK);
    }
    let mut found = |pattern: &[u8]| {
        let (mut after, mut names) = (FIRST, vec![]);
        loop {
            let search = Search { after, handle: 1, attributes: 6, pattern: Name(pattern) };
            match bench.ask(f::SEARCH, |out| search.emit(out)) {
                (c::OK, data) => {
                    let found = Found::parse(&data).unwrap();
                    after = found.place;
                    let end = found.entry.iter().position(|octet| *octet == 0).unwrap();
                    names.push(String::from_utf8(found.entry[..end].to_vec()).unwrap());
                }
                (code, _) => {
                    assert_eq!(code, c::FAILED);
                    return names;
                }
            }
        }
    };
    for (shell, plain, expected) in [
        (&b"\xff\xaa\xae\xff\xaa"[..], &b"*.*"[..], &["A.TXT", "AB.TX", "B"][..]),
        (b"\xff\xaa", b"*", &["A.TXT", "AB.TX", "B"]),
        (b"A\xff\xbf.TX\xff\xbf", b"A?.TX?", &["A.TXT", "AB.TX"]),
        (b"\xff\xbf", b"?", &["B"]),
    ] {
        assert_eq!(found(plain), expected, "{}", plain.escape_ascii());
        assert_eq!(found(shell), expected, "{}", shell.escape_ascii());
    }
}

#[test]
fn truncated_and_unknown_requests_are_refused() {
    let mut bench = Bench::logged_in();
    for message in [
        &b""[..],
        b"\x16",
        b"\x16\xff\xff\x13",
        b"\x16\0\0\x13",
        b"\x16\0\x03\x13\x01\xff",
        b"\x16\0\x04\x13\x01\xff\x09",
        b"\x48\0",
        b"\x49\0\0\x01\0\0\0\x01\0\0\0\0\xff\xffab",
        b"\x4c\x01\x06\x01\xff",
        b"\x65\0\0\0\x01",
    ] {
        assert_eq!(bench.ask_raw(message), (c::BAD_PACKET, vec![]), "{}", message.escape_ascii());
    }
    // Packets are never longer than frames, nor data shorter than was agreed on.
    for (octets, accepted) in [(0_u16, 0), (600, 600), (1500, 1500), (u16::MAX, 1500)] {
        let message = [&b"\x61"[..], &octets.to_be_bytes(), &[0]].concat();
        let (code, reply) = bench.ask_raw(&message);
        assert_eq!((code, &reply[..2]), (c::OK, &u16::to_be_bytes(accepted)[..]));
    }
    for message in [&b"\0\x01\0\0\0"[..], b"\x16\0\x01\xee", b"\xff"] {
        assert_eq!(bench.ask_raw(message).0, c::UNSUPPORTED, "{}", message.escape_ascii());
    }
    // The session goes on.
    assert_eq!(bench.ask(f::GET_TIME, |_| {}).0, c::OK);
}

#[test]
fn keyed_logins_cannot_be_replayed_and_files_need_a_login() {
    let mut bench = Bench::new(NETWARE_3);
    bench.create(0);
    assert_eq!(bench.allocate(0, b"SYS:").0, c::NO_SUCH_PATH);
    let (_, first) = bench.ask(f::GET_KEY, |_| {});
    let (_, second) = bench.ask(f::GET_KEY, |_| {});
    assert!(first != second && first.len() == 8);
    let login = |proof| KeyedLogin { proof, kind: object::USER, name: Name(b"JOE") };
    let proof: [u8; 8] = first.try_into().unwrap();
    assert_eq!(bench.ask(f::LOG_IN_KEYED, |out| login(proof).emit(out)).0, c::FAILED);
    // The key is used up by any answer to it.
    assert_eq!(bench.ask(f::LOG_IN_KEYED, |out| login(proof).emit(out)).0, c::FAILED);
    assert_eq!(bench.sessions[0].1.failed_logins(), 1);
    assert_eq!(bench.allocate(0, b"SYS:").0, c::NO_SUCH_PATH);
    // A server without keys says so.
    let mut old = Bench::new(NETWARE_2);
    old.create(0);
    assert_eq!(old.ask(f::GET_KEY, |_| {}).0, c::UNSUPPORTED);
}

#[test]
fn ncp_clients_that_only_connect_make_room_for_others() {
    let mut bench = Bench::logged_in();
    for number in 0..5_000_u32 {
        let sent = bench.connect(1 + (number % 8) as u8, 0x4100 + (number / 8 % 900) as u16 * 4);
        assert_eq!(sent.len(), 1, "{number}");
    }
    assert!(bench.sessions.len() <= 254, "{}", bench.sessions.len());
    assert!(bench.counted("crowded_out") > 4_000);
    // Who has asked for more is still there.
    bench.connection = 1;
    assert_eq!(bench.ask(f::GET_TIME, |_| {}).0, c::OK);
    // One station alone.
    let mut bench = Bench::new(NETWARE_3);
    for number in 0..300 {
        bench.connect(1, 0x4100 + number * 4);
    }
    assert_eq!(bench.sessions.len(), 127);
}

/// Forged stations that ask for a little make room at once; those that ask for more are asked whether they are there.
#[test]
fn absent_stations_keep_no_client_out() {
    for requests in [2, 20] {
        let mut bench = Bench::new(NETWARE_3);
        bench.create(0);
        let client = |bench: &mut Bench| {
            bench.connection = 1;
            bench.ask(f::GET_TIME, |_| {}).0
        };
        assert!((0..20).all(|_| client(&mut bench) == c::OK));
        for connection in 2..=254_u16 {
            let from = (1 + (connection % 4) as u8, 0x4100 + 4 * connection);
            assert_eq!(bench.connect(from.0, from.1)[0].0, c::OK, "{connection}");
            for sequence in 1..=requests {
                let envelope = Envelope { kind: kind::REQUEST, sequence, connection, task: 1 };
                assert_eq!(bench.send_from(from, envelope, &[20, 0]).len(), 1);
            }
        }
        let pass = |bench: &mut Bench| {
            bench.now = bench.now.plus_nanos(250_000_000);
            bench.node.handle_timeout(bench.now);
            bench.replies();
            assert_eq!(client(bench), c::OK);
            bench.connect(9, 0x4100)[0].0
        };
        if requests == 20 {
            assert_ne!(bench.connect(9, 0x4100)[0].0, c::OK, "all are taken");
            assert_ne!(pass(&mut bench), c::OK, "who is there is asked now");
            bench.node.handle_timeout(bench.now);
            bench.replies();
            assert_eq!(bench.counted("watchdog_questions_sent"), 253);
        }
        assert_eq!(pass(&mut bench), c::OK, "{requests}");
        assert_eq!((client(&mut bench), bench.counted("crowded_out")), (c::OK, 1));
    }
}

#[test]
fn files_and_handles_of_a_session_are_bounded() {
    let mut bench = Bench::logged_in();
    let create = OfPath { handle: 1, attributes: 0, path: Name(b"A") };
    assert_eq!(bench.ask(f::CREATE, |out| create.emit(out)).0, c::OK);
    let open = Open { handle: 1, attributes: 6, access: access::READ, path: Name(b"A") };
    let codes: Vec<u8> = (0..300).map(|_| bench.ask(f::OPEN, |out| open.emit(out)).0).collect();
    assert_eq!(codes.iter().position(|code| *code != c::OK), Some(255));
    assert_eq!(codes[299], c::NO_FILE_HANDLES);
    let codes: Vec<u8> = (0..300).map(|_| bench.allocate(1, b"").0).collect();
    assert_eq!(codes.iter().position(|code| *code != c::OK), Some(254));
    assert_eq!(codes[299], c::NO_DIRECTORY_HANDLES);
    // Its end ends them.
    let destroy = Envelope { kind: kind::DESTROY, ..bench.envelope() };
    let mut session = bench.sessions.remove(0).1;
    bench.send(0, destroy, &[]);
    session.end();
    bench.files.serve(&mut session);
    assert_eq!((bench.files.open(), bench.server.open_files()), (0, 0));
}
