//! Whole answers of the file server to requests written out by hand, as dissector `ncp` of Wireshark reads them:
//! a completion code, and what stands behind it.

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Session};
use lanlab_stack::files::{FileAnswer, FileCall, FileStore, Presence};
use lanlab_stack::ncp::client::User;
use lanlab_stack::ncp::server::{Offer, Server};
use lanlab_stack::profile::netware::NetWare;
use lanlab_stack::profile::netware::{NETWARE_2, NETWARE_3};
use lanlab_units::Instant;
use lanlab_wire::ncp::completion as c;
use lanlab_wire::ncp::function::{self as f, Function};

use crate::memory_files::MemoryFiles;

/// A packet of 1,500 octets has 37 around a message.
pub const CARRIER: CarrierFacts =
    CarrierFacts { longest_message: 1463, keeps_raw: false, is_one_at_a_time: true };
/// When files in memory are written: 9 May 1995, 06:13:20.
pub const DATE: [u8; 2] = (((1995 - 1980_u16) << 9) + (5 << 5) + 9).to_be_bytes();
pub const TIME: [u8; 2] = ((6_u16 << 11) + (13 << 5) + 10).to_be_bytes();

pub fn offer(netware: NetWare) -> Offer {
    Offer {
        name: "station1".into(),
        volume: "SYS".into(),
        user: Some(User { name: "joe".into(), password: "secret".into() }),
        read_only: false,
        netware,
    }
}

pub struct Asking {
    pub session: Session,
    files: MemoryFiles,
}

impl Asking {
    pub fn new(offer: Offer, carrier: CarrierFacts) -> Self {
        // 14 November 2014, 11:41:59.
        let session = Server::new(offer).session(carrier, [7; 8], 0x01d0_0000_0000_0000);
        Self { session, files: MemoryFiles::default() }
    }

    /// Logged in, with handle 1 of the volume's root.
    pub fn logged_in(offer: Offer) -> Self {
        let mut asking = Self::new(offer, CARRIER);
        assert_eq!(asking.ask(f::LOG_IN, b"\0\x01\x03joe\x06secret"), yes(b""));
        assert_eq!(asking.ask(f::ALLOCATE_PERMANENT, b"\0F\x04SYS:").0, c::OK);
        asking
    }

    pub fn ask(&mut self, function: Function, data: &[u8]) -> (u8, Vec<u8>) {
        let mut message = Vec::new();
        function.emit(&mut message, |out| out.extend_from_slice(data));
        self.session.handle_message(&mut message);
        let reply = self.files.serve(&mut self.session).pop().expect("an answer");
        (reply[0], reply[1..].to_vec())
    }

    pub fn fill(&mut self, path: &[&str], octets: &[u8], is_read_only: bool) {
        let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
        let (presence, read, write, truncate) = (Presence::Any, true, true, true);
        let open = FileCall::Open { path: path.clone(), read, write, presence, truncate };
        let opened = self.files.carry_out(open, &mut vec![]);
        let FileAnswer::Opened { handle, .. } = opened else { panic!("{opened:?}") };
        let data = 0..octets.len();
        let write = FileCall::Write { handle, offset: 0, data };
        self.files.carry_out(write, &mut octets.to_vec());
        self.files.carry_out(FileCall::Close { handle }, &mut vec![]);
        let is_read_only = Some(is_read_only);
        self.files
            .carry_out(FileCall::Change { path, modified_s: None, is_read_only }, &mut vec![]);
    }

    pub fn make_directory(&mut self, name: &str) {
        self.files.carry_out(FileCall::MakeDirectory { path: vec![name.to_owned()] }, &mut vec![]);
    }

    pub fn open(&mut self, access: u8, path: &[u8]) -> [u8; 6] {
        let (code, reply) = self.ask(f::OPEN, &[&[1, 6, access, path.len() as u8], path].concat());
        assert_eq!(code, c::OK, "{}", path.escape_ascii());
        reply[..6].try_into().unwrap()
    }

    pub fn read(&mut self, file: [u8; 6], offset: u32, count: u16) -> (u8, Vec<u8>) {
        let place = [&offset.to_be_bytes()[..], &count.to_be_bytes()].concat();
        self.ask(f::READ, &[&[0], &file[..], &place].concat())
    }

    pub fn write(&mut self, file: [u8; 6], offset: u32, octets: &[u8]) -> (u8, Vec<u8>) {
        let place = [&offset.to_be_bytes()[..], &(octets.len() as u16).to_be_bytes()].concat();
        self.ask(f::WRITE, &[&[0], &file[..], &place, octets].concat())
    }
}

pub fn yes(reply: &[u8]) -> (u8, Vec<u8>) {
    (c::OK, reply.to_vec())
}

pub fn no(code: u8) -> (u8, Vec<u8>) {
    (code, vec![])
}

fn padded(name: &[u8], len: usize) -> Vec<u8> {
    let mut field = name.to_vec();
    field.resize(len, 0);
    field
}

#[test]
fn a_server_reports_its_identity_time_and_users() {
    let mut asking = Asking::new(offer(NETWARE_3), CARRIER);
    let session = &mut asking.session;
    session.handle_timeout(Instant::from_nanos(5_000_000_000));
    // Years of the century; a Friday.
    assert_eq!(asking.ask(f::GET_TIME, b""), yes(&[14, 11, 14, 11, 41, 59, 5]));
    asking.session.handle_timeout(Instant::from_nanos(66_000_000_000));
    assert_eq!(asking.ask(f::GET_TIME, b""), yes(&[14, 11, 14, 11, 43, 0, 5]));
    // Name, version 3.12, 254 connections, one of them used, one volume, no revision, fault tolerance 1, no transactions.
    let known = [3, 12, 0, 254, 0, 1, 0, 1, 0, 1, 0, 0, 1];
    let expected = [padded(b"STATION1", 48), known.to_vec(), vec![0; 9 + 56 + 2]].concat();
    assert_eq!(asking.ask(f::SERVER_INFORMATION, b""), yes(&expected));
    let user = [&[0, 1, 0, 1, 0, 1][..], &padded(b"JOE", 48)].concat();
    let server = [&[0, 1, 0, 2, 0, 4][..], &padded(b"STATION1", 48)].concat();
    // Who may see it: who is logged in. Who may change it: the server alone.
    // A user has a property, a server none.
    let scanned =
        |object: &[u8]| yes(&[object, &[0, 0x31, if object == user { 0xff } else { 0 }]].concat());
    for (function, data, expected) in [
        (f::OBJECT_ID, &b"\0\x01\x03Joe"[..], yes(&user)),
        (f::OBJECT_ID, b"\0\x01\x04JOEY", no(c::NO_SUCH_OBJECT)),
        (f::OBJECT_ID, b"\0\x04\x08Station1", yes(&server)),
        (f::OBJECT_ID, b"\0\x04\x03JOE", no(c::NO_SUCH_OBJECT)),
        (f::OBJECT_ID, b"\0\x02\x03JOE", no(c::NO_SUCH_OBJECT)),
        (f::OBJECT_NAME, b"\0\x01\0\x01", yes(&user)),
        (f::OBJECT_NAME, b"\0\x01\0\x02", yes(&server)),
        (f::OBJECT_NAME, b"\0\x01\0\x03", no(c::NO_SUCH_OBJECT)),
        (f::OBJECT_NAME, b"\0\x01\0", no(c::BAD_PACKET)),
        (f::SCAN_OBJECTS, b"\xff\xff\xff\xff\xff\xff\x01*", scanned(&user)),
        (f::SCAN_OBJECTS, b"\0\x01\0\x01\xff\xff\x01*", scanned(&server)),
        (f::SCAN_OBJECTS, b"\0\x01\0\x02\xff\xff\x01*", no(c::NO_SUCH_OBJECT)),
        (f::SCAN_OBJECTS, b"\xff\xff\xff\xff\0\x04\x01*", scanned(&server)),
        (f::SCAN_OBJECTS, b"\xff\xff\xff\xff\xff\xff\x08station1", scanned(&server)),
        (f::SCAN_OBJECTS, b"\xff\xff\xff\xff\0\x01\x08station1", no(c::NO_SUCH_OBJECT)),
    ] {
        assert_eq!(asking.ask(function, data), expected, "{function:?} {}", data.escape_ascii());
    }
    for function in Function::ALL {
        let is_done = [
            f::GET_TIME,
            f::NEGOTIATE_BUFFER,
            f::NEGOTIATE_PACKET,
            f::SERVER_INFORMATION,
            f::GET_KEY,
            f::LOGGED_INFORMATION,
            f::ACCESS_LEVEL,
            f::GET_BROADCAST,
            f::DISABLE_BROADCASTS,
            f::ENABLE_BROADCASTS,
            f::VOLUME_INFORMATION,
            f::VOLUME_NAME,
            f::VOLUME_USAGE,
            f::NS_SPACES,
            f::LOCK_RECORDS,
            f::RELEASE_RECORDS,
            f::CLEAR_RECORDS,
            f::END_OF_JOB,
            f::LOG_OUT,
        ]
        .contains(function);
        let found = asking.ask(*function, &[0; 40]).0;
        assert_eq!(found == c::OK, is_done, "{function:?} before a login: {found:02x}");
    }
    // A login is of a user, with his password, in any case.
    for (login, code) in [
        (&b"\0\x01\x03joe\x06Secret"[..], c::OK),
        (b"\0\x01\x03JOE\x06SECRET", c::OK),
        (b"\0\x01\x03JOE\x05SECRE", c::FAILED),
        (b"\0\x01\x04JOEY\x06SECRET", c::FAILED),
        (b"\0\x04\x08STATION1\x06SECRET", c::FAILED),
    ] {
        let mut asking = Asking::new(offer(NETWARE_2), CARRIER);
        assert_eq!(asking.ask(f::LOG_IN, login), no(code), "{}", login.escape_ascii());
        let is_known = asking.session.is_known();
        assert_eq!(
            (is_known, asking.session.failed_logins()),
            (code == c::OK, u64::from(code != c::OK) as _)
        );
    }
    // Where there is no user, anyone is one.
    let mut guest = Asking::new(Offer { user: None, ..offer(NETWARE_3) }, CARRIER);
    assert_eq!(guest.ask(f::OBJECT_ID, b"\0\x01\x02ME").0, c::OK);
    assert_eq!(guest.ask(f::OBJECT_NAME, b"\0\x01\0\x01").1[6..12], *b"GUEST\0");
    assert_eq!(guest.ask(f::LOG_IN, b"\0\x01\x02ME\0"), yes(b""));
}

#[test]
fn buffers_and_packets_fit_both_ends() {
    let read_of = |asking: &mut Asking| {
        asking.fill(&["LONG"], &[9; 4000], false);
        asking.ask(f::LOG_IN, b"\0\x01\x03joe\x06secret");
        asking.ask(f::ALLOCATE_PERMANENT, b"\0F\x04SYS:");
        let file = asking.open(1, b"LONG");
        asking.read(file, 0, 4000).1.len() - 2
    };
    let short = CarrierFacts { longest_message: 700, ..CARRIER };
    for (carrier, proposed, accepted) in [
        (CARRIER, 0, 512),
        (CARRIER, 511, 512),
        (CARRIER, 513_u16, 513_u16),
        (CARRIER, 1024, 1024),
        (CARRIER, 1025, 1024),
        // A function and 13 octets before the data of a write.
        (short, 1024, 700 - 14),
    ] {
        let mut asking = Asking::new(offer(NETWARE_3), carrier);
        let found = asking.ask(f::NEGOTIATE_BUFFER, &proposed.to_be_bytes());
        assert_eq!(found, yes(&accepted.to_be_bytes()), "{proposed}");
        assert_eq!(read_of(&mut asking), usize::from(accepted), "{proposed}");
    }
    assert_eq!(read_of(&mut Asking::new(offer(NETWARE_3), CARRIER)), 512, "before any proposal");
    // A packet has 51 octets around data: 30 of IPX, 6 of envelope and 15 of a write; no less data than before.
    for (proposed, accepted, data) in [
        (500_u16, 500_u16, 512),
        (564, 564, 513),
        (1499, 1499, 1448),
        (1501, 1500, 1449),
        (0xffff, 1500, 1449),
    ] {
        let mut asking = Asking::new(offer(NETWARE_3), CARRIER);
        let asked = [&proposed.to_be_bytes()[..], &[0]].concat();
        let found = asking.ask(f::NEGOTIATE_PACKET, &asked);
        assert_eq!(
            found,
            yes(&[&accepted.to_be_bytes()[..], &[0x40, 2, 0]].concat()),
            "{proposed}"
        );
        assert_eq!(read_of(&mut asking), data, "{proposed}");
    }
    let mut old = Asking::new(offer(NETWARE_2), CARRIER);
    assert_eq!(old.ask(f::NEGOTIATE_PACKET, &[5, 0, 0]), no(c::UNSUPPORTED));
}

#[test]
fn directory_handles_are_made_reported_and_freed() {
    let mut asking = Asking::logged_in(offer(NETWARE_3));
    asking.make_directory("SUB");
    asking.fill(&["FILE"], b"abc", false);
    for (function, data, expected) in [
        // A drive has one handle, and a job any number of temporary ones.
        (f::ALLOCATE_PERMANENT, &b"\x01F\x03SUB"[..], yes(&[1, 0xff])),
        (f::GET_PATH, b"\x01", yes(b"\x07SYS:SUB")),
        (f::ALLOCATE_PERMANENT, b"\0F\x04SYS:", yes(&[1, 0xff])),
        (f::GET_PATH, b"\x01", yes(b"\x04SYS:")),
        (f::ALLOCATE_PERMANENT, b"\x01G\x03sub", yes(&[2, 0xff])),
        (f::ALLOCATE_TEMPORARY, b"\x01G\x03SUB", yes(&[3, 0xff])),
        (f::ALLOCATE_TEMPORARY, b"\x01G\x03SUB", yes(&[4, 0xff])),
        (f::ALLOCATE_PERMANENT, b"\x01H\x04FILE", no(c::NO_SUCH_PATH)),
        (f::ALLOCATE_PERMANENT, b"\x01H\x04NONE", no(c::NO_SUCH_PATH)),
        (f::ALLOCATE_PERMANENT, b"\x09H\x03SUB", no(c::BAD_DIRECTORY_HANDLE)),
        (f::GET_RIGHTS, b"\x01\x03SUB", yes(&[0xff])),
        (f::GET_RIGHTS, b"\x01\x04FILE", no(c::NO_SUCH_PATH)),
        (f::FREE_HANDLE, b"\x03", yes(b"")),
        (f::FREE_HANDLE, b"\x03", no(c::BAD_DIRECTORY_HANDLE)),
        (f::GET_PATH, b"\x03", no(c::BAD_DIRECTORY_HANDLE)),
        (f::VOLUME_OF_HANDLE, b"\x03", no(c::BAD_DIRECTORY_HANDLE)),
        // The end of a job ends what is temporary.
        (f::END_OF_JOB, b"", yes(b"")),
        (f::GET_PATH, b"\x04", no(c::BAD_DIRECTORY_HANDLE)),
        (f::GET_PATH, b"\x02", yes(b"\x07SYS:SUB")),
        (f::MAKE_DIRECTORY, b"\x02\xff\x02IN", yes(b"")),
        (f::MAKE_DIRECTORY, b"\x02\xff\x02IN", no(c::FAILED)),
        (f::MAKE_DIRECTORY, b"\x01\xff\x0da long name.x", no(c::BAD_NAME)),
        (f::REMOVE_DIRECTORY, b"\x01\0\x03SUB", no(c::DIRECTORY_NOT_EMPTY)),
        (f::REMOVE_DIRECTORY, b"\x01\0\x04FILE", no(c::NO_SUCH_PATH)),
        (f::REMOVE_DIRECTORY, b"\x01\0\0", no(c::NO_DELETE_RIGHTS)),
        (f::RENAME_DIRECTORY, b"\x01\x06SUB\\IN\x03OUT", yes(b"")),
        (f::RENAME_DIRECTORY, b"\x01\x07SUB\\OUT\x04A\\OU", no(c::BAD_NAME)),
        (f::RENAME_DIRECTORY, b"\x01\x07SUB\\OUT\x04A/OU", no(c::BAD_NAME)),
        (f::RENAME_DIRECTORY, b"\x01\x04FILE\x02FI", no(c::NO_SUCH_PATH)),
        (f::RENAME_DIRECTORY, b"\x01\0\x02FI", no(c::NO_SUCH_PATH)),
        (f::RENAME_DIRECTORY, b"\x01\x03SUB\x04FILE", no(c::NAMES_EXIST)),
        (f::REMOVE_DIRECTORY, b"\x01\0\x07SUB\\OUT", yes(b"")),
        (f::REMOVE_DIRECTORY, b"\x02\0\0", yes(b"")),
        (f::LOG_OUT, b"", yes(b"")),
        (f::GET_PATH, b"\x02", no(c::BAD_DIRECTORY_HANDLE)),
    ] {
        assert_eq!(asking.ask(function, data), expected, "{function:?} {}", data.escape_ascii());
    }
    // Directories lie in each other 25 deep.
    let mut asking = Asking::logged_in(offer(NETWARE_3));
    for depth in 1..=26 {
        let path = vec!["A"; depth].join("\\").into_bytes();
        let data = [&[1, 0xff, path.len() as u8], &path[..]].concat();
        let expected = if depth <= 25 { yes(b"") } else { no(c::NO_SUCH_PATH) };
        assert_eq!(asking.ask(f::MAKE_DIRECTORY, &data), expected, "{depth}");
    }
    // A directory in which something is open keeps its name.
    let mut asking = Asking::logged_in(offer(NETWARE_3));
    asking.make_directory("SUB");
    asking.fill(&["SUB", "F"], b"", false);
    let file = asking.open(1, b"SUB\\F");
    assert_eq!(asking.ask(f::RENAME_DIRECTORY, b"\x01\x03SUB\x01N"), no(c::DIRECTORY_ACTIVE));
    assert_eq!(asking.ask(f::CLOSE, &[&[0], &file[..]].concat()), yes(b""));
    assert_eq!(asking.ask(f::RENAME_DIRECTORY, b"\x01\x03SUB\x01N"), yes(b""));
}

/// A file as replies have it: name, attributes, size, and dates and time of its last write.
fn entry(name: &[u8], attributes: u8, size: u32) -> Vec<u8> {
    let size = size.to_be_bytes();
    [&padded(name, 14)[..], &[attributes, 0], &size, &DATE, &DATE, &DATE, &TIME].concat()
}

#[test]
fn files_are_opened_and_created_as_requested() {
    let mut asking = Asking::logged_in(offer(NETWARE_3));
    asking.make_directory("SUB");
    asking.fill(&["FILE.TXT"], b"abc", false);
    asking.fill(&["LOCKED"], b"a", true);
    let mut number = 0;
    let mut opened = |name: &[u8], attributes, size| {
        number += 1;
        let handle = [0, number, 0, 0, 0, number, 0, 0];
        yes(&[&handle[..], &entry(name, attributes, size)].concat())
    };
    let cases = [
        (f::OPEN, &b"\x01\x06\x01\x08file.txt"[..], opened(b"FILE.TXT", 0x20, 3)),
        (f::OPEN_OLD, b"\x01\x06\x08FILE.TXT", opened(b"FILE.TXT", 0x20, 3)),
        (f::OPEN, b"\x01\x06\x03\x06LOCKED", no(c::NO_WRITE_RIGHTS)),
        (f::OPEN, b"\x01\x06\x01\x06LOCKED", opened(b"LOCKED", 0x21, 1)),
        (f::OPEN_OLD, b"\x01\x06\x06LOCKED", opened(b"LOCKED", 0x21, 1)),
        (f::OPEN, b"\x01\x06\x01\x03SUB", no(c::FAILED)),
        (f::OPEN, b"\x01\x06\x01\x04NONE", no(c::FAILED)),
        (f::OPEN, b"\x01\x06\x01\x06NONE\\A", no(c::NO_SUCH_PATH)),
        (f::OPEN, b"\x01\x06\x01\x02A*", no(c::BAD_NAME)),
        (f::CREATE_NEW, b"\x01\0\x08FILE.TXT", no(c::NO_CREATE_OR_DELETE_RIGHTS)),
        (f::CREATE_NEW, b"\x01\0\x03new", opened(b"NEW", 0x20, 0)),
        (f::CREATE_NEW, b"\x01\x10\x04NEW2", no(c::NO_CREATE_RIGHTS)),
        (f::CREATE, b"\x01\0\x06LOCKED", no(c::NO_WRITE_RIGHTS)),
        (f::CREATE, b"\x01\0\x03SUB", no(c::NO_CREATE_RIGHTS)),
        (f::CREATE, b"\x01\0\x0bA LONG NAME", no(c::BAD_NAME)),
        // One that others have open is not cut.
        (f::CREATE, b"\x01\0\x08FILE.TXT", no(c::FILE_IN_USE)),
        (f::ERASE, b"\x01\x06\x08FILE.TXT", no(c::FILE_IN_USE)),
        (f::RENAME, b"\x01\x06\x08FILE.TXT\x01\x02F2", no(c::FILE_IN_USE)),
        (f::CREATE, b"\x01\x01\x04SHUT", opened(b"SHUT", 0x20, 0)),
        (f::OPEN, b"\x01\x06\x02\x04SHUT", no(c::NO_WRITE_RIGHTS)),
        (f::ERASE, b"\x01\x06\x06LOCKED", no(c::NO_DELETE_RIGHTS)),
        (f::ERASE, b"\x01\x06\x03SUB", no(c::FAILED)),
        (f::ERASE, b"\x01\x06\x04NONE", no(c::FAILED)),
        (f::RENAME, b"\x01\x06\x04NONE\x01\x02F2", no(c::FAILED)),
        (f::RENAME, b"\x01\x06\x03SUB\x01\x02F2", no(c::FAILED)),
        (f::RENAME, b"\x01\x06\x06LOCKED\x01\x08FILE.TXT", no(c::NAMES_EXIST)),
    ];
    for (function, data, expected) in cases {
        assert_eq!(asking.ask(function, data), expected, "{function:?} {}", data.escape_ascii());
    }
    // What is to be shared: read 1, write 2, others may not read 4, not write 8.
    for (first, second, lets) in [
        (0x01, 0x01, true),
        (0x01, 0x02, true),
        (0x05, 0x01, false),
        (0x05, 0x02, true),
        (0x09, 0x02, false),
        (0x09, 0x01, true),
        (0x0b, 0x03, false),
        // No bit at all reads, and writing alone does not.
        (0x05, 0x00, false),
        (0x06, 0x02, true),
        (0x02, 0x05, true),
        (0x01, 0x05, false),
        (0x02, 0x09, false),
    ] {
        let mut asking = Asking::logged_in(offer(NETWARE_3));
        asking.fill(&["F"], b"abc", false);
        asking.open(first, b"F");
        let found = asking.ask(f::OPEN, &[1, 6, second, 1, b'F']).0;
        assert_eq!(found, if lets { c::OK } else { c::FILE_IN_USE }, "{first:#x} {second:#x}");
    }
    // A pattern erases what it finds, and no directory.
    let mut asking = Asking::logged_in(offer(NETWARE_3));
    asking.make_directory("DIR.X");
    for number in 0..70 {
        asking.fill(&[&format!("F{number:02}.X")], b"", false);
    }
    asking.fill(&["KEPT.Y"], b"", false);
    assert_eq!(asking.ask(f::ERASE, b"\x01\x06\x03*.X"), yes(b""));
    assert_eq!(asking.ask(f::ERASE, b"\x01\x06\x03*.X"), no(c::FAILED));
    let list = FileCall::List { path: vec![], after: String::new(), most: 99 };
    let FileAnswer::Listed(listed) = asking.files.carry_out(list, &mut vec![]) else { panic!() };
    assert_eq!(listed.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["DIR.X", "KEPT.Y"]);
}

#[test]
fn reads_and_writes_work_at_even_and_odd_offsets() {
    let mut asking = Asking::logged_in(offer(NETWARE_3));
    asking.fill(&["F"], &[1, 2, 3, 4, 5, 6, 7, 8, 9], false);
    let file = asking.open(3, b"F");
    for (offset, count, expected) in [
        (0, 4, &[0, 4, 1, 2, 3, 4][..]),
        // From an odd place on an octet stands before the data.
        (1, 2, &[0, 2, 0, 2, 3]),
        (7, 9, &[0, 2, 0, 8, 9]),
        (9, 9, &[0, 0, 0]),
        (10, 9, &[0, 0]),
    ] {
        assert_eq!(asking.read(file, offset, count), yes(expected), "{offset}");
    }
    assert_eq!(asking.write(file, 8, b"ab"), yes(b""));
    let of_file = [&[0], &file[..]].concat();
    assert_eq!(asking.ask(f::SIZE, &of_file), yes(&[0, 0, 0, 10]));
    assert_eq!(asking.ask(f::COMMIT, &of_file), yes(b""));
    assert_eq!(asking.ask(f::COMMIT_SINCE_3, &of_file), yes(b""));
    // To write nothing sets the size.
    assert_eq!(asking.write(file, 3, b""), yes(b""));
    assert_eq!(asking.ask(f::SIZE, &of_file), yes(&[0, 0, 0, 3]));
    assert_eq!(asking.read(file, 0, 9), yes(&[0, 3, 1, 2, 3]));
    // Offsets have 32 bits, and the files of this test 1 MiB.
    assert_eq!(asking.write(file, 0xffff_fffe, b"ab"), no(c::NO_SPACE));
    assert_eq!(asking.write(file, 0xffff_fffd, b"ab"), no(c::NO_SPACE));
    // What follows the octets of a write is none of it.
    let more = [&[0], &file[..], &[0, 0, 0, 0, 0, 1], b"xyz"].concat();
    assert_eq!(asking.ask(f::WRITE, &more), yes(b""));
    assert_eq!(asking.read(file, 0, 9), yes(&[0, 3, b'x', 2, 3]));
    let reading = asking.open(1, b"F");
    assert_ne!(reading, file);
    assert_eq!(asking.write(reading, 0, b"z"), no(c::NO_WRITE_RIGHTS));
    assert_eq!(asking.write(reading, 0, b""), no(c::NO_WRITE_RIGHTS));
    let writing = asking.open(2, b"F");
    assert_eq!(asking.read(writing, 0, 1), no(c::NO_READ_RIGHTS));
    assert_eq!(asking.write(writing, 0, b"z"), yes(b""));
    assert_eq!(asking.ask(f::CLOSE, &of_file), yes(b""));
    assert_eq!(asking.ask(f::CLOSE, &of_file), no(c::BAD_FILE_HANDLE));
    assert_eq!(asking.read(file, 0, 1), no(c::BAD_FILE_HANDLE));
    // The end of a job closes the others.
    assert_eq!(asking.ask(f::END_OF_JOB, b""), yes(b""));
    assert_eq!(asking.read(reading, 0, 1), no(c::BAD_FILE_HANDLE));
    assert_eq!(asking.files.open(), 0);
}

#[test]
fn searches_continue_entry_by_entry() {
    let mut asking = Asking::logged_in(offer(NETWARE_3));
    asking.make_directory("SUB");
    asking.fill(&["A.TXT"], b"abc", false);
    asking.fill(&["B"], b"a", true);
    asking.fill(&["a long name.text"], b"", false);
    // By place: the files in their order, with the place of each.
    let search = |asking: &mut Asking, after: u16, attributes, pattern: &[u8]| {
        let head = [&after.to_be_bytes()[..], &[1, attributes, pattern.len() as u8]].concat();
        asking.ask(f::SEARCH, &[&head[..], pattern].concat())
    };
    let found = |place: u16, directory: u16, entry: &[u8]| {
        yes(&[&place.to_be_bytes()[..], &directory.to_be_bytes(), entry].concat())
    };
    let a = entry(b"A.TXT", 0x20, 3);
    let b = entry(b"B", 0x21, 1);
    let sub = entry(b"SUB", 0x10, 0);
    assert_eq!(search(&mut asking, 0xffff, 0, b"*"), found(1, 0, &a));
    assert_eq!(search(&mut asking, 1, 0, b"*"), found(2, 0, &b));
    assert_eq!(search(&mut asking, 0xffff, 0, b"B*"), found(2, 0, &b));
    assert_eq!(search(&mut asking, 0xffff, 0x10, b"*"), found(3, 0, &sub));
    let (code, long) = search(&mut asking, 2, 0, b"*");
    assert_eq!((code, &long[..2]), (c::OK, &[0, 4][..]));
    assert_eq!(search(&mut asking, 4, 0, b"*"), no(c::FAILED));
    assert_eq!(search(&mut asking, 0xffff, 0, b"X*"), no(c::FAILED));
    assert_eq!(search(&mut asking, 0xffff, 0, b"NONE\\*"), no(c::NO_SUCH_PATH));
    // A search that is begun has a number: volume 0, the number, where it begins, and rights.
    assert_eq!(asking.ask(f::SEARCH_BEGIN, b"\x01\0"), yes(&[0, 0, 1, 0xff, 0xff, 0xff]));
    assert_eq!(asking.ask(f::SEARCH_BEGIN, b"\x01\x03SUB"), yes(&[0, 0, 2, 0xff, 0xff, 0xff]));
    assert_eq!(asking.ask(f::SEARCH_BEGIN, b"\x01\x05A.TXT"), no(c::NO_SUCH_PATH));
    let on = |asking: &mut Asking, number: u8, after: u16, attributes, pattern: &[u8]| {
        let [high, low] = after.to_be_bytes();
        let head = [0, 0, number, high, low, attributes, pattern.len() as u8];
        asking.ask(f::SEARCH_ON, &[&head[..], pattern].concat())
    };
    assert_eq!(on(&mut asking, 1, 0xffff, 0, b"*"), found(1, 1, &a));
    assert_eq!(on(&mut asking, 1, 1, 0, b"?"), found(2, 1, &b));
    // A directory has a form of its own: rights, when it was made, its owner, and a mark.
    let of_directory =
        [&padded(b"SUB", 14)[..], &[0x10, 0xff], &DATE, &TIME, &[0, 0, 0, 0, 0, 0], &[0xd1, 0xd1]]
            .concat();
    assert_eq!(on(&mut asking, 1, 0xffff, 0x10, b"*"), found(3, 1, &of_directory));
    assert_eq!(on(&mut asking, 2, 0xffff, 0, b"*"), no(c::FAILED));
    assert_eq!(on(&mut asking, 3, 0xffff, 0, b"*"), no(c::NO_SUCH_PATH));
    // Thirty-two are kept: the first makes room.
    for _ in 0..30 {
        asking.ask(f::SEARCH_BEGIN, b"\x01\0");
    }
    assert_eq!(on(&mut asking, 1, 0xffff, 0, b"*"), found(1, 1, &a));
    asking.ask(f::SEARCH_BEGIN, b"\x01\0");
    assert_eq!(on(&mut asking, 1, 0xffff, 0, b"*"), no(c::NO_SUCH_PATH));
    assert_eq!(on(&mut asking, 33, 0xffff, 0, b"*"), found(1, 33, &a));
}

#[test]
fn a_read_only_volume_refuses_each_request_with_its_code() {
    let mut asking = Asking::logged_in(Offer { read_only: true, ..offer(NETWARE_3) });
    asking.make_directory("SUB");
    asking.fill(&["F"], b"abc", false);
    for (function, data, expected) in [
        (f::GET_RIGHTS, &b"\x01\x03SUB"[..], yes(&[0x45])),
        (f::MAKE_DIRECTORY, b"\x01\xff\x02IN", no(c::NO_CREATE_RIGHTS)),
        (f::REMOVE_DIRECTORY, b"\x01\0\x03SUB", no(c::NO_DELETE_RIGHTS)),
        (f::RENAME_DIRECTORY, b"\x01\x03SUB\x01N", no(c::NO_RENAME_RIGHTS)),
        (f::RENAME, b"\x01\x06\x01F\x01\x01N", no(c::NO_RENAME_RIGHTS)),
        (f::ERASE, b"\x01\x06\x01F", no(c::NO_DELETE_RIGHTS)),
        (f::ERASE, b"\x01\x06\x01*", no(c::NO_DELETE_RIGHTS)),
        (f::CREATE, b"\x01\0\x01F", no(c::NO_CREATE_RIGHTS)),
        (f::CREATE_NEW, b"\x01\0\x01N", no(c::NO_CREATE_RIGHTS)),
        (f::OPEN, b"\x01\x06\x02\x01F", no(c::NO_WRITE_RIGHTS)),
    ] {
        assert_eq!(asking.ask(function, data), expected, "{function:?} {}", data.escape_ascii());
    }
    // An old open, which writes where it may, reads.
    let (code, reply) = asking.ask(f::OPEN_OLD, b"\x01\x06\x01F");
    assert_eq!(code, c::OK);
    let file = reply[..6].try_into().unwrap();
    assert_eq!(asking.read(file, 0, 9), yes(&[0, 3, b'a', b'b', b'c']));
    assert_eq!(asking.write(file, 0, b"x"), no(c::NO_WRITE_RIGHTS));
}
