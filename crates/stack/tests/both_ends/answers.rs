//! Whole answers of the server to requests written out by hand from [MS-CIFS] 2.2.4: words, then octets.

use lanlab_stack::files::{FileAnswer, FileCall, FileStore, Presence};
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_wire::smb1::command as c;
use lanlab_wire::smb1::header::{Header, LEN, flags2};
use lanlab_wire::smb1::negotiate::dialect;
use lanlab_wire::smb1::status::error;

use super::both::{offer, server};
use super::raw::Raw;

/// When files in memory are written, s since 1970: 9 May 1995, 06:13:20, in words of it and in those of DOS.
pub const WRITTEN: [u16; 2] = [0x0800, 0x2faf];
pub const DATE: u16 = ((1995 - 1980) << 9) + (5 << 5) + 9;
pub const TIME: u16 = (6 << 11) + (13 << 5) + 10;

/// How an answer ended, its words and its octets.
pub type Said = (&'static str, Vec<u16>, Vec<u8>);

pub fn no(row: error::Row) -> Said {
    (row.name, vec![], vec![])
}

pub fn yes(words: &[u16], octets: &[u8]) -> Said {
    ("success", words.to_vec(), octets.to_vec())
}

impl Raw {
    /// What the server says first to a request of these words and octets.
    pub fn say(&mut self, command: u8, words: &[u16], octets: &[u8]) -> Said {
        self.say_all(command, words, octets).into_iter().next().expect("an answer")
    }

    pub fn say_all(&mut self, command: u8, words: &[u16], octets: &[u8]) -> Vec<Said> {
        let flags2 = flags2::NT_STATUS | flags2::LONG_NAMES;
        let answers = self.say_as(flags2, command, words, octets);
        answers.iter().map(|answer| parts(answer)).collect()
    }

    /// The messages that answer a request with these bits.
    pub fn say_as(
        &mut self,
        flags2: u16,
        command: u8,
        words: &[u16],
        octets: &[u8],
    ) -> Vec<Vec<u8>> {
        self.mid += 1;
        let (tid, uid, mid) = (self.tid, self.uid, self.mid);
        let header = Header { tid, uid, mid, pid: 7, ..Header::request(command, 0, flags2) };
        let mut message = header.emit().to_vec();
        message.push(words.len() as u8);
        message.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        message.extend_from_slice(&(octets.len() as u16).to_le_bytes());
        message.extend_from_slice(octets);
        self.served.answer(&message)
    }

    /// A file of these octets, made behind the server's back.
    pub fn fill(&mut self, name: &str, octets: &[u8]) {
        let path = vec![name.to_owned()];
        let (presence, read, write, truncate) = (Presence::Any, true, true, true);
        let files = &mut self.served.files;
        let open = FileCall::Open { path, read, write, presence, truncate };
        let FileAnswer::Opened { handle, .. } = files.carry_out(open, &mut vec![]) else {
            panic!()
        };
        let data = 0..octets.len();
        files.carry_out(FileCall::Write { handle, offset: 0, data }, &mut octets.to_vec());
        files.carry_out(FileCall::Close { handle }, &mut vec![]);
    }
}

pub fn parts(answer: &[u8]) -> Said {
    let header = Header::parse(answer).unwrap();
    let (count, rest) = answer[LEN..].split_first().unwrap();
    let (words, rest) = rest.split_at(2 * usize::from(*count));
    let (len, octets) = rest.split_first_chunk().unwrap();
    assert_eq!(usize::from(u16::from_le_bytes(*len)), octets.len());
    let words = words.chunks(2).map(|word| u16::from_le_bytes([word[0], word[1]])).collect();
    (header.status.name().expect("a known status"), words, octets.to_vec())
}

/// A client at a file of 1,234 octets and a directory.
fn raw() -> Raw {
    let mut raw = Raw::new(&server(), &[]);
    raw.fill("FILE.TXT", &[7; 1234]);
    raw.make_directory("SUB");
    raw
}

const FILE: &[u8] = b"\x04FILE.TXT\0";

#[test]
fn attributes_time_and_size_are_read_and_set_by_name() {
    let mut raw = raw();
    let [low, high] = WRITTEN;
    let known = |attributes, [low, high]: [u16; 2], size| {
        yes(&[attributes, low, high, size, 0, 0, 0, 0, 0, 0], b"")
    };
    assert_eq!(raw.say(c::QUERY_INFORMATION, &[], FILE), known(0x20, [low, high], 1234));
    assert_eq!(raw.say(c::QUERY_INFORMATION, &[], b"\x04\\SUB\0"), known(0x10, [low, high], 0));
    let missing = no(error::OBJECT_NAME_NOT_FOUND);
    assert_eq!(raw.say(c::QUERY_INFORMATION, &[], b"\x04NONE\0"), missing);
    let name = b"\x04FILE.TXT\0\x04\0";
    let set = |raw: &mut Raw, attributes, [low, high]: [u16; 2]| {
        raw.say(c::SET_INFORMATION, &[attributes, low, high, 0, 0, 0, 0, 0], name)
    };
    // No time leaves the time; attributes are always set.
    for (attributes, time, expected) in [
        (0x01, [0, 0], (0x21, WRITTEN)),
        (0x21, [2, 0x3000], (0x21, [2, 0x3000])),
        (0x00, [0, 0], (0x20, [2, 0x3000])),
    ] {
        assert_eq!(set(&mut raw, attributes, time), yes(&[], b""));
        let found = raw.say(c::QUERY_INFORMATION, &[], FILE);
        assert_eq!(found, known(expected.0, expected.1, 1234), "{attributes} {time:?}");
    }
    let none = b"\x04NONE\0\x04\0";
    assert_eq!(raw.say(c::SET_INFORMATION, &[0; 8], none), missing);
}

#[test]
fn an_open_file_reports_its_attributes_and_position() {
    let mut raw = raw();
    let (opened, words, _) = raw.say(c::OPEN, &[0x42, 0], FILE);
    let fid = words[0];
    let [low, high] = WRITTEN;
    assert_eq!((opened, &words[1..]), ("success", &[0x20, low, high, 1234, 0, 0x42][..]));
    let known =
        |date, time| yes(&[DATE, TIME, DATE, TIME, date, time, 1234, 0, 1234, 0, 0x20], b"");
    assert_eq!(raw.say(c::QUERY_INFORMATION2, &[fid], b""), known(DATE, TIME));
    // Zeros leave the time.
    for (date, time) in [(0, 0), (DATE + 1, TIME)] {
        let set = raw.say(c::SET_INFORMATION2, &[fid, 0, 0, 0, 0, date, time], b"");
        assert_eq!(set, yes(&[], b""));
    }
    let (_, words, _) = raw.say(c::QUERY_INFORMATION2, &[fid], b"");
    assert_eq!(words[4..6], [DATE + 1, TIME]);
    for (mode, [low, high], expected) in [
        (0, [100, 0], Ok([100, 0])),
        (1, [20, 0], Ok([120, 0])),
        (1, [0xfff6, 0xffff], Ok([110, 0])),
        (2, [0xffff, 0xffff], Ok([1233, 0])),
        (2, [1, 0], Ok([1235, 0])),
        // What would lie before the start is the start, and what is too far the farthest.
        (1, [0, 0x8000], Ok([0, 0])),
        (0, [0xffff, 0x7fff], Ok([0xffff, 0x7fff])),
        (1, [0xffff, 0x7fff], Ok([0xfffe, 0xffff])),
        (1, [0xffff, 0x7fff], Ok([0xffff, 0xffff])),
        (3, [0, 0], Err(error::INVALID_PARAMETER)),
    ] {
        let found = raw.say(c::SEEK, &[fid, mode, low, high], b"");
        let expected = expected.map_or_else(no, |words| yes(&words, b""));
        assert_eq!(found, expected, "{mode} {low:#x} {high:#x}");
    }
    for command in [c::QUERY_INFORMATION2, c::FLUSH] {
        assert_eq!(raw.say(command, &[fid + 1], b""), no(error::INVALID_HANDLE));
    }
    assert_eq!(raw.say(c::SEEK, &[fid + 1, 0, 0, 0], b""), no(error::INVALID_HANDLE));
    assert_eq!(raw.say(c::FLUSH, &[fid], b""), yes(&[], b""));
    assert_eq!(raw.say(c::FLUSH, &[0xffff], b""), yes(&[], b""));
    assert_eq!(raw.say(c::CLOSE, &[fid, 2, 0x3000], b""), yes(&[], b""));
    // It was open to be written, so that its close set the time.
    let (_, words, _) = raw.say(c::QUERY_INFORMATION, &[], FILE);
    assert_eq!(words[1..3], [2, 0x3000]);
    assert_eq!(raw.say(c::CLOSE, &[fid, 0, 0], b""), no(error::INVALID_HANDLE));
    // One that only reads leaves it.
    let (_, words, _) = raw.say(c::OPEN, &[0x40, 0], FILE);
    assert_eq!(raw.say(c::CLOSE, &[words[0], 3, 0x3000], b""), yes(&[], b""));
    assert_eq!(raw.say(c::QUERY_INFORMATION, &[], FILE).1[1..3], [2, 0x3000]);
}

#[test]
fn each_open_command_reports_its_action() {
    let mut raw = raw();
    let [low, high] = WRITTEN;
    let andx = |raw: &mut Raw, function, attributes, name: &[u8]| {
        let words = [0xff, 0, 0, 0x42, 0, attributes, 0, 0, function, 0, 0, 0, 0, 0, 0];
        let (status, mut words, octets) = raw.say(c::OPEN_ANDX, &words, name);
        if let Some(fid) = words.get_mut(2) {
            raw.say(c::CLOSE, &[*fid, 0, 0], b"");
            *fid = 0;
        }
        (status, words, octets)
    };
    let opened = |attributes, size, result| {
        let words = [0xff, 0, 0, attributes, low, high, size, 0, 0x42, 0, 0, result, 0, 0, 0];
        yes(&words, b"")
    };
    for (function, attributes, name, expected) in [
        (0x01, 0, &b"FILE.TXT\0"[..], opened(0x20, 1234, 1)),
        (0x10, 0, b"FILE.TXT\0", no(error::OBJECT_NAME_COLLISION)),
        (0x12, 0, b"FILE.TXT\0", opened(0x20, 0, 3)),
        (0x02, 0, b"NONE\0", no(error::OBJECT_NAME_NOT_FOUND)),
        (0x01, 0, b"NONE\0", no(error::OBJECT_NAME_NOT_FOUND)),
        (0x11, 1, b"NEW1\0", opened(0x21, 0, 2)),
        (0x02, 0, b"NEW1\0", no(error::ACCESS_DENIED)),
        (0x12, 0, b"NEW2\0", opened(0x20, 0, 2)),
        (0x03, 0, b"NEW2\0", no(error::BAD_ACCESS)),
        (0x01, 0, b"SUB\0", no(error::FILE_IS_A_DIRECTORY)),
        (0x11, 0, b"NONE\\NEW\0", no(error::OBJECT_PATH_NOT_FOUND)),
    ] {
        let found = andx(&mut raw, function, attributes, name);
        assert_eq!(found, expected, "{function:#x} {}", name.escape_ascii());
    }
    // A request says one of its forms in each command of the core dialect.
    let ended = |raw: &mut Raw, command, attributes, name: &[u8]| {
        let (status, words, octets) = raw.say(command, &[attributes, 0, 0], name);
        for fid in words {
            raw.say(c::CLOSE, &[fid, 0, 0], b"");
        }
        (status, octets)
    };
    for (command, attributes, name, expected) in [
        (c::CREATE_NEW, 0, &b"\x04NEW2\0"[..], error::OBJECT_NAME_COLLISION.name),
        (c::CREATE_NEW, 1, b"\x04NEW3\0", "success"),
        (c::CREATE, 0, b"\x04NEW3\0", error::ACCESS_DENIED.name),
        (c::CREATE, 0, b"\x04NEW2\0", "success"),
        (c::CREATE, 0, b"\x04NEW4\0", "success"),
        (c::CREATE, 0x10, b"\x04NEW5\0", error::ACCESS_DENIED.name),
        (c::CREATE, 0x08, b"\x04NEW5\0", error::ACCESS_DENIED.name),
        (c::CREATE, 0, b"\x04SUB\0", error::FILE_IS_A_DIRECTORY.name),
    ] {
        let found = ended(&mut raw, command, attributes, name);
        assert_eq!(found, (expected, vec![]), "{}", name.escape_ascii());
    }
    assert_eq!(raw.say(c::QUERY_INFORMATION, &[], b"\x04NEW3\0").1[0], 0x21);
    // Temporary files have names that the server makes: each another one, in the directory.
    let made = [0; 2].map(|_| ended(&mut raw, c::CREATE_TEMPORARY, 0, b"\x04\\SUB\0"));
    assert_ne!(made[0].1, made[1].1);
    for (status, name) in made {
        assert_eq!((status, name.len(), name[0], name[9]), ("success", 10, 4, 0));
        assert!(name[1..4] == *b"TMP" && name[4..9].iter().all(u8::is_ascii_digit));
        let path = [b"\x04\\SUB\\", &name[1..]].concat();
        assert_eq!(raw.say(c::QUERY_INFORMATION, &[], &path).0, "success");
    }
    assert_eq!(
        raw.say(c::CREATE_TEMPORARY, &[0, 0, 0], b"\x04NONE\0"),
        no(error::OBJECT_PATH_NOT_FOUND)
    );
}

#[test]
fn core_reads_and_writes_move_the_stated_bytes() {
    let mut raw = raw();
    let fid = raw.say(c::OPEN, &[0x42, 0], FILE).1[0];
    let data = |octets: &[u8]| [&[1], &(octets.len() as u16).to_le_bytes()[..], octets].concat();
    let read = |raw: &mut Raw, count, offset| raw.say(c::READ, &[fid, count, offset, 0, 0], b"");
    assert_eq!(read(&mut raw, 10, 1229), yes(&[5, 0, 0, 0, 0], &data(&[7; 5])));
    assert_eq!(read(&mut raw, 10, 1234), yes(&[0, 0, 0, 0, 0], &data(b"")));
    let written = raw.say(c::WRITE, &[fid, 3, 1233, 0, 0], &data(b"abc"));
    assert_eq!(written, yes(&[3], b""));
    assert_eq!(read(&mut raw, 10, 1232), yes(&[4, 0, 0, 0, 0], &data(b"\x07abc")));
    // To write nothing sets the size; by the other commands it does nothing.
    assert_eq!(raw.say(c::WRITE, &[fid, 0, 1235, 0, 0], &data(b"")), yes(&[0], b""));
    assert_eq!(read(&mut raw, 10, 1232), yes(&[3, 0, 0, 0, 0], &data(b"\x07ab")));
    let andx = [0xff, 0, fid, 5, 0, 0, 0, 0, 0, 0, 0, 59];
    assert_eq!(raw.say(c::WRITE_ANDX, &andx, b""), yes(&[0xff, 0, 0, 0xffff, 0, 0], b""));
    let close = [fid, 0, 5, 0, 0, 0];
    assert_eq!(raw.say(c::WRITE_AND_CLOSE, &close, b"\0"), yes(&[0], b""));
    assert_eq!(raw.say(c::QUERY_INFORMATION2, &[fid], b"").1[6], 1235);
    // With data it closes, and sets the time.
    let close = [fid, 2, 1, 0, 2, 0x3000];
    assert_eq!(raw.say(c::WRITE_AND_CLOSE, &close, b"\0xy"), yes(&[2], b""));
    assert_eq!(raw.say(c::FLUSH, &[fid], b""), no(error::INVALID_HANDLE));
    let (_, words, _) = raw.say(c::QUERY_INFORMATION, &[], FILE);
    assert_eq!(words[1..4], [2, 0x3000, 1235]);
    // Who only reads does not write, and the other way round.
    let fid = raw.say(c::OPEN, &[0x40, 0], FILE).1[0];
    let denied = no(error::ACCESS_DENIED);
    assert_eq!(raw.say(c::WRITE, &[fid, 1, 0, 0, 0], &data(b"z")), denied);
    assert_eq!(raw.say(c::WRITE, &[fid, 0, 0, 0, 0], &data(b"")), denied);
    assert_eq!(
        raw.say(c::READ, &[fid, 4, 0, 0, 0], b""),
        yes(&[4, 0, 0, 0, 0], &data(b"\x07xy\x07"))
    );
    raw.say(c::CLOSE, &[fid, 0, 0], b"");
    let fid = raw.say(c::OPEN, &[0x41, 0], FILE).1[0];
    assert_eq!(raw.say(c::READ, &[fid, 1, 0, 0, 0], b""), denied);
    assert_eq!(raw.say(c::WRITE, &[fid, 1, 0, 0, 0], &data(b"z")), yes(&[1], b""));
    // No read of the core dialect is longer than a message of the server.
    raw.say(c::CLOSE, &[fid, 0, 0], b"");
    raw.fill("LONG", &vec![9; 20_000]);
    let fid = raw.say(c::OPEN, &[0x40, 0], b"\x04LONG\0").1[0];
    let (_, words, octets) = raw.say(c::READ, &[fid, 19_000, 0, 0, 0], b"");
    assert_eq!((words[0], octets.len()), (16_644 - 64, 16_644 - 64 + 3));
}

#[test]
fn directories_are_made_checked_and_removed() {
    let mut raw = raw();
    for (command, name, expected) in [
        (c::CHECK_DIRECTORY, &b"\x04\\SUB\0"[..], "success"),
        (c::CHECK_DIRECTORY, b"\x04\\\0", "success"),
        (c::CHECK_DIRECTORY, FILE, error::OBJECT_PATH_NOT_FOUND.name),
        (c::CHECK_DIRECTORY, b"\x04NONE\0", error::OBJECT_NAME_NOT_FOUND.name),
        (c::CREATE_DIRECTORY, b"\x04\\SUB\\IN\0", "success"),
        (c::CREATE_DIRECTORY, b"\x04\\SUB\\IN\0", error::OBJECT_NAME_COLLISION.name),
        (c::DELETE_DIRECTORY, b"\x04\\SUB\0", error::DIRECTORY_NOT_EMPTY.name),
        (c::DELETE_DIRECTORY, FILE, error::NOT_A_DIRECTORY.name),
        (c::DELETE_DIRECTORY, b"\x04\\SUB\\IN\0", "success"),
        (c::CHECK_DIRECTORY, b"\x04\\SUB\\IN\0", error::OBJECT_NAME_NOT_FOUND.name),
        (c::DELETE_DIRECTORY, b"\x04\\SUB\0", "success"),
    ] {
        let found = raw.say(command, &[], name);
        assert_eq!(found, (expected, vec![], vec![]), "{command:#x} {}", name.escape_ascii());
    }
    // 2^30 octets, half of them free.
    let (status, words, octets) = raw.say(c::QUERY_INFORMATION_DISK, &[], b"");
    let [units, sectors, sector, free, 0] = words[..] else { panic!("{words:?}") };
    let unit = u64::from(sectors) * u64::from(sector);
    assert_eq!((status, octets), ("success", vec![]));
    assert_eq!((u64::from(units) * unit, u64::from(free) * unit), (1 << 30, 1 << 29));
}

#[test]
fn echo_replies_match_the_requested_count_up_to_sixteen() {
    let mut raw = raw();
    for (asked, answers) in [(0, 0), (1, 1), (3, 3), (16, 16), (17, 16), (0xffff, 16)] {
        let said = raw.say_all(c::ECHO, &[asked], b"hello");
        let expected: Vec<Said> = (1..=answers).map(|number| yes(&[number], b"hello")).collect();
        assert_eq!(said, expected, "{asked}");
    }
}

/// Which commands take part before a login, a share, and on the share of pipes.
#[test]
fn commands_require_a_user_and_a_share() {
    let mut raw = Raw::negotiated(&server(), &[], dialect::NT_LM);
    let fails = |raw: &mut Raw, command| raw.say(command, &[], b"").0;
    let commands = [c::OPEN, c::QUERY_INFORMATION_DISK, c::TRANSACTION, c::PROCESS_EXIT];
    for command in commands.into_iter().chain([c::TREE_CONNECT, c::LOGOFF_ANDX, c::NT_TRANSACT]) {
        assert_eq!(fails(&mut raw, command), error::SMB_BAD_UID.name, "{command:#x}");
    }
    assert_eq!(fails(&mut raw, c::TREE_DISCONNECT), error::SMB_BAD_TID.name);
    assert_eq!(raw.say(c::ECHO, &[1], b""), yes(&[1], b""));

    let mut raw =
        Raw::negotiated(&Server::new(Offer { user: None, ..offer() }), &[], dialect::NT_LM);
    raw.log_in();
    for command in [c::OPEN, c::QUERY_INFORMATION_DISK, c::TRANSACTION, c::TREE_DISCONNECT] {
        assert_eq!(fails(&mut raw, command), error::SMB_BAD_TID.name, "{command:#x}");
    }
    assert_eq!(fails(&mut raw, c::PROCESS_EXIT), "success");
    // A share of pipes has no files.
    let words = [0xff, 0, 0, 1];
    let (status, words, octets) = raw.say(c::TREE_CONNECT_ANDX, &words, b"\0\\\\S\\IPC$\0?????\0");
    assert_eq!((status, words, octets), yes(&[0xff, 0, 1], b"IPC\0"));
    raw.tid = 2;
    for (command, expected) in [
        (c::OPEN, error::OBJECT_NAME_NOT_FOUND),
        (c::OPEN_ANDX, error::OBJECT_NAME_NOT_FOUND),
        (c::NT_CREATE_ANDX, error::NON_SPECIFIC),
        (c::QUERY_INFORMATION_DISK, error::NOT_SUPPORTED),
        (c::TRANSACTION2, error::NOT_SUPPORTED),
        (c::NT_TRANSACT, error::NOT_SUPPORTED),
    ] {
        assert_eq!(fails(&mut raw, command), expected.name, "{command:#x}");
    }
    assert_eq!(fails(&mut raw, c::TREE_DISCONNECT), "success");
    // On a share of files it differs what is not there and what there is no command for.
    let mut words = [0xff, 0, 0, 1];
    let (status, found, octets) = raw.say(c::TREE_CONNECT_ANDX, &words, b"\0\\\\S\\SHARE\0A:\0");
    assert_eq!((status, found, octets), yes(&[0xff, 0, 1], b"A:\0NTFS\0"));
    raw.tid = 3;
    for command in
        [c::NT_TRANSACT, c::NT_TRANSACT_SECONDARY, c::TRANSACTION_SECONDARY, c::TRANSACTION]
    {
        assert_eq!(fails(&mut raw, command), error::NOT_SUPPORTED.name, "{command:#x}");
    }
    for command in [0x40, 0x99, c::WRITE_COMPLETE] {
        assert_eq!(fails(&mut raw, command), error::SMB_BAD_COMMAND.name, "{command:#x}");
    }
    for (path, expected) in [
        (&b"\0\\\\S\\OTHER\0A:\0"[..], error::BAD_NETWORK_NAME),
        (b"\0\\\\S\\SHARE\0IPC\0", error::BAD_DEVICE_TYPE),
        (b"\0\\\\S\\IPC$\0A:\0", error::BAD_DEVICE_TYPE),
        (b"\0\\\\S\\SHARE\0LPT1:\0", error::BAD_DEVICE_TYPE),
    ] {
        words[3] = 1;
        assert_eq!(raw.say(c::TREE_CONNECT_ANDX, &words, path), no(expected));
    }
}
