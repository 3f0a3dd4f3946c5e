//! Clients of name spaces: requests laid out as Linux's `fs/ncpfs` writes them, and the shell of a DOS station.

use lanlab_stack::profile::netware::NETWARE_3;
use lanlab_wire::ncp::completion as c;
use lanlab_wire::ncp::function::{self as f, Function};

use super::pair::pattern;
use super::served::{Asking, CARRIER, DATE, TIME, no, offer, yes};

/// Every attribute, and directories besides files.
const ALL: [u8; 2] = [0x06, 0x80];
/// What is asked for of an entry: all of it, with its name.
const WHOLE: [u8; 4] = [0xff, 0x0f, 0, 0];

/// A path below a directory with this number.
fn at(number: u32, names: &[&[u8]]) -> Vec<u8> {
    let mut path = [&[0][..], &number.to_le_bytes(), &[1, names.len() as u8]].concat();
    for name in names {
        path.push(name.len() as u8);
        path.extend_from_slice(name);
    }
    path
}

fn ns(part: u8) -> Function {
    Function { number: 0x57, part: Some(part) }
}

/// An entry of a reply: its name, attributes, octets and number.
fn entry(reply: &[u8]) -> (Vec<u8>, u32, u32, u32) {
    let word = |at: usize| u32::from_le_bytes(reply[at..at + 4].try_into().unwrap());
    assert_eq!(word(48), word(52), "one name space has one number");
    let name = reply[77..77 + usize::from(reply[76])].to_vec();
    (name, word(4), word(10), word(48))
}

struct Kernel(Asking);

impl Kernel {
    fn new() -> Self {
        Self(Asking::logged_in(offer(NETWARE_3)))
    }

    fn look(&mut self, number: u32, names: &[&[u8]]) -> (u8, Vec<u8>) {
        let asked = [&[0, 0][..], &ALL, &WHOLE, &at(number, names)].concat();
        self.0.ask(ns(6), &asked)
    }

    fn number(&mut self, number: u32, names: &[&[u8]]) -> u32 {
        let (code, reply) = self.look(number, names);
        assert_eq!(code, c::OK, "{names:?}");
        entry(&reply).3
    }

    fn open(&mut self, mode: u8, attributes: u8, access: u8, path: &[u8]) -> (u8, Vec<u8>) {
        let attributes = [attributes, 0, 0, 0];
        let asked = [&[0, mode, 6, 0][..], &WHOLE, &attributes, &[access, 0], path].concat();
        self.0.ask(ns(1), &asked)
    }

    /// The handle of six octets that `fs/ncpfs` makes of one of four.
    fn handle(reply: &[u8]) -> [u8; 6] {
        let [low, high] = (u16::from_le_bytes([reply[0], reply[1]]) + 1).to_le_bytes();
        [low, high, reply[0], reply[1], reply[2], reply[3]]
    }

    /// Names of a directory, in as many requests as it takes; and how many of these.
    fn list(&mut self, number: u32) -> (Vec<Vec<u8>>, usize) {
        let (code, mut progress) = self.0.ask(ns(2), &[&[0, 0][..], &at(number, &[])].concat());
        assert_eq!((code, progress.len()), (c::OK, 9));
        let (mut names, mut requests) = (vec![], 0);
        loop {
            let most = 32_767_u16.to_le_bytes();
            let asked = [&[0, 0][..], &ALL, &WHOLE, &most, &progress, b"\x02\xff*"].concat();
            let (code, reply) = self.0.ask(ns(0x14), &asked);
            requests += 1;
            if code != c::OK {
                assert_eq!((code, reply), (c::FAILED, vec![]));
                return (names, requests);
            }
            progress = reply[..9].to_vec();
            let count = u16::from_le_bytes([reply[10], reply[11]]);
            let mut rest = &reply[12..];
            for _ in 0..count {
                names.push(entry(rest).0);
                rest = &rest[77 + usize::from(rest[76])..];
            }
            assert!(rest.is_empty());
        }
    }

    fn rename(&mut self, search: u8, from: (u32, &[u8]), to: (u32, &[u8])) -> u8 {
        let place = |number: u32| [&[0][..], &number.to_le_bytes(), &[1, 1]].concat();
        let name = |name: &[u8]| [&[name.len() as u8][..], name].concat();
        let places = [place(from.0), place(to.0), name(from.1), name(to.1)].concat();
        self.0.ask(ns(4), &[&[0, 1, search, 0][..], &places].concat()).0
    }

    fn remove(&mut self, path: &[u8]) -> u8 {
        self.0.ask(ns(8), &[&[0, 0][..], &ALL, path].concat()).0
    }
}

#[test]
fn the_kernels_client_mounts_lists_reads_writes_renames_and_deletes() {
    let mut kernel = Kernel::new();
    // Volume 0 by 32 bits, the number of its root, its name spaces.
    let (code, volume) = kernel.0.ask(f::VOLUME_USAGE, &[0]);
    assert_eq!((code, &volume[28..]), (c::OK, &b"\x08\x03SYS"[..]));
    assert_eq!(volume[..8], [0, 0, 4, 0, 0, 0, 2, 0], "1 GiB in blocks of 4 KiB, half of it free");
    assert_eq!(kernel.0.ask(f::VOLUME_USAGE, &[1]), no(c::NO_SUCH_VOLUME));
    let (code, directory) = kernel.0.ask(f::DIRECTORY_USAGE, &[1]);
    assert_eq!((code, &directory[20..]), (c::OK, &b"\x08\x03SYS"[..]));
    let root = [&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 1][..], b"\x03SYS"].concat();
    assert_eq!(kernel.0.ask(ns(0x16), &root), yes(&[0; 9]));
    let other = [&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 1][..], b"\x03VOL"].concat();
    assert_eq!(kernel.0.ask(ns(0x16), &other), no(c::NO_SUCH_VOLUME));
    assert_eq!(kernel.0.ask(ns(0x18), &[0, 0, 0]), yes(&[1, 0, 0]));
    assert_eq!(entry(&kernel.look(0, &[]).1), (b"SYS".to_vec(), 0x10, 0, 0));

    // A directory, and a file in it: made, written, closed.
    let (code, reply) = kernel.open(8, 0x10, 0, &at(0, &[b"DATA"]));
    assert_eq!((code, &reply[..6]), (c::OK, &[0, 0, 0, 0, 2, 0][..]));
    let data = entry(&reply[6..]).3;
    assert_eq!(kernel.open(8, 0x10, 0, &at(0, &[b"DATA"])).0, c::FAILED, "it is there");
    let (code, reply) = kernel.open(0x0a, 0, 3, &at(data, &[b"A.BIN"]));
    assert_eq!((code, reply[4]), (c::OK, 2));
    let (file, octets) = (Kernel::handle(&reply), pattern(3_000));
    for (at, piece) in octets.chunks(1_000).enumerate() {
        assert_eq!(kernel.0.write(file, at as u32 * 1_000, piece), yes(b""));
    }
    assert_eq!(kernel.0.ask(f::CLOSE, &[&[0], &file[..]].concat()), yes(b""));

    // It is what was written; its date is that of DOS, little-endian.
    let (code, reply) = kernel.look(data, &[b"a.bin"]);
    let (name, attributes, size, number) = entry(&reply);
    assert_eq!((code, &name[..], attributes, size), (c::OK, &b"A.BIN"[..], 0x20, 3_000));
    let written = [TIME[1], TIME[0], DATE[1], DATE[0]];
    assert_eq!(reply[28..32], written);
    let (code, reply) = kernel.open(1, 0, 1, &at(number, &[]));
    assert_eq!((code, reply[4]), (c::OK, 1));
    let file = Kernel::handle(&reply);
    let (code, read) = kernel.0.read(file, 2_000, 500);
    assert_eq!((code, &read[2..]), (c::OK, &octets[2_000..2_500]));
    assert_eq!(kernel.0.write(file, 0, b"x"), no(c::NO_WRITE_RIGHTS));
    assert_eq!(kernel.0.ask(f::CLOSE, &[&[0], &file[..]].concat()), yes(b""));
    assert_eq!(kernel.open(8, 0, 3, &at(number, &[])).0, c::NO_CREATE_OR_DELETE_RIGHTS);

    // Attributes and dates.
    let changes = |mask: u16, attributes: u8| {
        let mask = [&mask.to_le_bytes()[..], &[0, 0]].concat();
        let dates = [&[0; 8][..], &[0x21, 0x0c, 0, 0x60], &[0; 4]].concat();
        [&[0, 0][..], &ALL, &mask, &[attributes, 0, 0, 0], &dates, &[0; 18]].concat()
    };
    let asked = [changes(0x302, 1), at(number, &[])].concat();
    assert_eq!(kernel.0.ask(ns(7), &asked), yes(b""));
    let (_, reply) = kernel.look(number, &[]);
    assert_eq!((reply[4], &reply[28..32]), (0x21, &[0, 0x60, 0x21, 0x0c][..]));
    assert_eq!(kernel.remove(&at(number, &[])), c::NO_DELETE_RIGHTS, "read-only");
    kernel.0.ask(ns(7), &[changes(2, 0), at(number, &[])].concat());

    // Files and directories get other names, and keep their numbers.
    assert_eq!(kernel.rename(0x16, (data, b"A.BIN"), (0, b"B.BIN")), c::FAILED, "no directory");
    assert_eq!(kernel.rename(6, (data, b"A.BIN"), (0, b"B.BIN")), c::OK);
    assert_eq!(kernel.number(0, &[b"B.BIN"]), number);
    assert_eq!(kernel.rename(6, (0, b"DATA"), (0, b"MORE")), c::FAILED, "a directory");
    assert_eq!(kernel.rename(0x16, (0, b"DATA"), (0, b"MORE")), c::OK);
    assert_eq!(kernel.rename(6, (0, b"B.BIN"), (data, b"C.BIN")), c::OK);
    assert_eq!(kernel.number(data, &[b"C.BIN"]), number);
    let whole = [&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &at(number, &[])].concat();
    let names = b"\x01\0\xff\xff\xff\xff\xff\xff\xff\xff\x0f\0\x03\0\x05C.BIN\x04MORE\x03SYS";
    assert_eq!(kernel.0.ask(ns(0x1c), &whole), yes(names));

    // What is removed has no number any more.
    assert_eq!(kernel.remove(&at(0, &[b"MORE"])), c::DIRECTORY_NOT_EMPTY);
    assert_eq!(kernel.remove(&at(data, &[b"C.BIN"])), c::OK);
    assert_eq!(kernel.look(number, &[]).0, c::NO_SUCH_PATH);
    assert_eq!(kernel.remove(&at(data, &[])), c::OK);
    assert_eq!(kernel.look(0, &[b"MORE"]), no(c::FAILED));
    assert_eq!(kernel.list(0), (vec![], 1));
}

#[test]
fn old_calls_and_name_spaces_both_move_a_megabyte_intact() {
    let mut kernel = Kernel::new();
    let octets = pattern(1_000_000);
    let (code, buffer) = kernel.0.ask(f::NEGOTIATE_BUFFER, &1024_u16.to_be_bytes());
    assert_eq!((code, &buffer[..]), (c::OK, &1024_u16.to_be_bytes()[..]));
    for is_old in [false, true] {
        let (file, end) = if is_old {
            let (code, made) = kernel.0.ask(f::CREATE, b"\x01\0\x07OLD.BIN");
            assert_eq!(code, c::OK);
            (made[..6].try_into().unwrap(), &b"\x01\x06\x07OLD.BIN"[..])
        } else {
            let (code, made) = kernel.open(0x0a, 0, 3, &at(0, &[b"NEW.BIN"]));
            assert_eq!(code, c::OK);
            (Kernel::handle(&made), &b""[..])
        };
        for (at, piece) in octets.chunks(1024).enumerate() {
            assert_eq!(kernel.0.write(file, at as u32 * 1024, piece), yes(b""));
        }
        let mut offset = 0;
        while offset < octets.len() {
            let (code, read) = kernel.0.read(file, offset as u32, 1024);
            assert_eq!(code, c::OK);
            let read = &read[2..];
            assert!(!read.is_empty() && read == &octets[offset..offset + read.len()], "{offset}");
            offset += read.len();
        }
        assert_eq!(kernel.0.ask(f::CLOSE, &[&[0], &file[..]].concat()), yes(b""));
        if is_old {
            assert_eq!(kernel.0.ask(f::ERASE, end), yes(b""));
        } else {
            assert_eq!(kernel.remove(&at(0, &[b"NEW.BIN"])), c::OK);
        }
    }
    assert_eq!(kernel.0.ask(f::LOG_OUT, b""), yes(b""));
}

#[test]
fn listings_fill_each_packet_with_entries() {
    let mut kernel = Kernel::new();
    let mut expected: Vec<Vec<u8>> = vec![b"SUB".to_vec()];
    kernel.0.make_directory("SUB");
    for index in 0..40 {
        let name = format!("FILE{index:04}.TXT");
        kernel.0.fill(&[&name], b"x", false);
        expected.push(name.into_bytes());
    }
    let (mut names, requests) = kernel.list(0);
    names.sort();
    expected.sort();
    assert_eq!(names, expected);
    // 1,463 octets hold 15 entries of 89.
    assert!(requests < 8, "{requests}");

    // One at a time: files only, then directories only.
    for (search, count) in [(6_u8, 40), (0x16, 1)] {
        let mut progress = [&[0; 5][..], &[0xff; 4]].concat();
        let mut found = 0;
        loop {
            let asked = [&[0, 0, search, 0][..], &WHOLE, &progress, b"\x05\xff*.\xff*"].concat();
            let (code, reply) = kernel.0.ask(ns(3), &asked);
            if code != c::OK {
                break;
            }
            progress = reply[..9].to_vec();
            assert_eq!((reply[9], entry(&reply[10..]).1 & 0x10 != 0), (0, search == 0x16));
            found += 1;
        }
        assert_eq!(found, count);
    }
}

#[test]
fn name_space_calls_make_and_set_short_handles() {
    let mut kernel = Kernel::new();
    kernel.0.make_directory("SUB");
    let sub = kernel.number(0, &[b"SUB"]);
    let (code, reply) = kernel.0.ask(ns(0x0c), &[&[0, 0, 0, 0][..], &at(sub, &[])].concat());
    assert_eq!((code, &reply[1..]), (c::OK, &[0; 5][..]));
    let handle = reply[0];
    assert_eq!(kernel.0.ask(ns(0x15), &[0, handle]), yes(b"\x07SYS:SUB"));
    let (_, other) = kernel.0.ask(ns(0x0c), &[&[0, 0, 0, 0][..], &at(sub, &[])].concat());
    assert_ne!(other[0], handle, "each has its own");
    // A path from a handle on.
    let by_handle = [&[0, 0][..], &ALL, &WHOLE, &[handle, 0, 0, 0, 0, 0, 0]].concat();
    assert_eq!(entry(&kernel.0.ask(ns(6), &by_handle).1).3, sub);
    assert_eq!(kernel.0.ask(ns(9), &[&[0, 0, handle, 0][..], &at(0, &[])].concat()), yes(b""));
    assert_eq!(kernel.0.ask(ns(0x15), &[0, handle]), yes(b"\x04SYS:"));
    let rights = [&[0, 0][..], &ALL, &WHOLE, &at(sub, &[])].concat();
    let (code, reply) = kernel.0.ask(ns(0x1d), &rights);
    assert_eq!((code, &reply[..2], entry(&reply[2..]).3), (c::OK, &[0xff, 0][..], sub));
    // Another name space; a compressed entry; a part that is not served.
    assert_eq!(kernel.0.ask(ns(6), &[4, 4]), no(c::OTHER_NAME_SPACE));
    let compressed = [&[0, 0][..], &ALL, &[1, 0, 0, 0x80], &at(sub, &[])].concat();
    assert_eq!(kernel.0.ask(ns(6), &compressed), no(c::UNSUPPORTED));
    assert_eq!(kernel.0.ask(ns(0x10), &[0, 0]), no(c::UNSUPPORTED));
    for part in 0..=255 {
        assert_ne!(kernel.0.ask(ns(part), &[0]).0, c::OK, "{part}");
    }
}

/// What NETX, LOGIN, MAP and DIR ask, in their order, before and after the login.
#[test]
fn before_login_a_dos_shell_can_read_only_login() {
    let mut shell = Asking::new(offer(NETWARE_3), CARRIER);
    shell.make_directory("LOGIN");
    shell.make_directory("PUBLIC");
    shell.fill(&["LOGIN", "LOGIN.EXE"], b"MZ", false);
    shell.fill(&["SECRET.TXT"], b"secret", false);
    for (function, data, reply) in [
        (f::NEGOTIATE_BUFFER, &b"\x04\0"[..], &b"\x04\0"[..]),
        (f::ALLOCATE_PERMANENT, b"\0F\x09SYS:LOGIN", b"\x01\x45"),
        (f::VOLUME_NUMBER, b"\x03SYS", b"\0"),
        (f::VOLUME_NAME, b"\0", b"\x03SYS"),
        (f::VOLUME_NAME, b"\x01", b"\0"),
        (f::ACCESS_LEVEL, b"", b"\0\xff\xff\xff\xff"),
        (f::GET_PATH, b"\x01", b"\x09SYS:LOGIN"),
        (f::GET_RIGHTS, b"\x01\0", b"\x45"),
        (f::ENTRY_RIGHTS, b"\x01\x09LOGIN.EXE", b"\x45\0"),
        (f::GET_BROADCAST, b"", b"\0"),
        (f::DISABLE_BROADCASTS, b"", b""),
        (f::LOGGED_INFORMATION, b"\x01", &[0; 62]),
    ] {
        assert_eq!(shell.ask(function, data), yes(reply), "{function}");
    }
    assert_eq!(shell.ask(f::VOLUME_NUMBER, b"\x04DATA"), no(c::NO_SUCH_VOLUME));
    let (code, found) = shell.ask(f::SEARCH, b"\xff\xff\x01\x06\x06\xff\xaa.EXE");
    assert_eq!((code, &found[4..13]), (c::OK, &b"LOGIN.EXE"[..]));
    let file = shell.open(0x11, b"LOGIN.EXE");
    assert_eq!(shell.read(file, 0, 100), yes(b"\0\x02MZ"));
    assert_eq!(shell.write(file, 0, b"x"), no(c::NO_WRITE_RIGHTS));
    assert_eq!(shell.ask(f::CLOSE, &[&[0], &file[..]].concat()), yes(b""));

    // Nothing is changed, and nothing outside is there, by any way.
    let refused: &[(Function, &[u8], u8)] = &[
        (f::OPEN, b"\x01\x06\x13\x09LOGIN.EXE", c::NO_WRITE_RIGHTS),
        (f::CREATE, b"\x01\0\x05A.TXT", c::NO_CREATE_RIGHTS),
        (f::ERASE, b"\x01\x06\x09LOGIN.EXE", c::NO_DELETE_RIGHTS),
        (f::RENAME, b"\x01\x06\x09LOGIN.EXE\x01\x05A.EXE", c::NO_RENAME_RIGHTS),
        (f::MAKE_DIRECTORY, b"\x01\xff\x01D", c::NO_CREATE_RIGHTS),
        (f::REMOVE_DIRECTORY, b"\0\0\x09SYS:LOGIN", c::NO_DELETE_RIGHTS),
        (f::SET_ATTRIBUTES, b"\x01\x01\x06\x09LOGIN.EXE", c::NO_MODIFY_RIGHTS),
        (f::OPEN, b"\0\x06\x11\x0eSYS:SECRET.TXT", c::NO_SUCH_PATH),
        (f::OPEN, b"\x01\x06\x11\x0d..\\SECRET.TXT", c::NO_SUCH_PATH),
        (f::SEARCH, b"\xff\xff\0\x06\x05SYS:*", c::NO_SUCH_PATH),
        (f::SEARCH_BEGIN, b"\0\x04SYS:", c::NO_SUCH_PATH),
        (f::ALLOCATE_PERMANENT, b"\0G\x04SYS:", c::NO_SUCH_PATH),
        (f::ALLOCATE_TEMPORARY, b"\0G\x0aSYS:PUBLIC", c::NO_SUCH_PATH),
        (f::SET_HANDLE, b"\x01\0\x04SYS:", c::NO_SUCH_PATH),
        (ns(2), b"\0\0\0\0\0\0\0\x01\0", c::NO_SUCH_PATH),
        (ns(6), b"\0\0\x06\x80\x01\0\0\0\0\0\0\0\0\x01\x01\x0aSECRET.TXT", c::NO_SUCH_PATH),
    ];
    for (function, data, code) in refused {
        assert_eq!(shell.ask(*function, data), no(*code), "{function}");
    }

    assert_eq!(shell.ask(f::LOG_IN, b"\0\x01\x03joe\x06secret"), yes(b""));
    assert_eq!(shell.ask(f::ACCESS_LEVEL, b""), yes(b"\x22\0\x01\0\x01"));
    let (code, logged) = shell.ask(f::LOGGED_INFORMATION, b"\x01");
    assert_eq!((code, &logged[..9]), (c::OK, &b"\0\x01\0\x01\0\x01JOE"[..]));
    assert_eq!(logged[54..58], [114, 11, 14, 11].map(|part: u8| part % 100));
    let identification = b"\0\x01\x03JOE\x01\x0eIDENTIFICATION";
    let (code, value) = shell.ask(f::READ_PROPERTY, identification);
    assert_eq!((code, value.len(), &value[..4]), (c::OK, 130, &b"JOE\0"[..]));
    let login_script = b"\0\x01\x03JOE\x01\x0eLOGIN_CONTROL\0";
    assert_eq!(shell.ask(f::READ_PROPERTY, login_script), no(c::NO_SUCH_PROPERTY));
    let unknown = b"\0\x01\x03TOM\x01\x0eIDENTIFICATION";
    assert_eq!(shell.ask(f::READ_PROPERTY, unknown), no(c::NO_SUCH_OBJECT));
    let (code, property) = shell.ask(f::SCAN_PROPERTIES, b"\0\x01\x03JOE\xff\xff\xff\xff\x01*");
    assert_eq!((code, property.len(), &property[..14]), (c::OK, 24, &b"IDENTIFICATION"[..]));
    assert_eq!(shell.ask(f::CONSOLE_PRIVILEGES, b""), no(c::NO_CONSOLE_RIGHTS));

    // MAP F:=SYS:, and DIR.
    assert_eq!(shell.ask(f::SET_HANDLE, b"\x01\0\x04SYS:"), yes(b""));
    assert_eq!(shell.open(0x11, b"SECRET.TXT")[..2], [0, 2]);
    for function in [f::VOLUME_INFORMATION, f::VOLUME_OF_HANDLE] {
        let number = u8::from(function == f::VOLUME_OF_HANDLE);
        let (code, space) = shell.ask(function, &[number]);
        // 1 GiB: 32 sectors, 65,536 blocks of 16 KiB, of which 16 bits count 65,535; so blocks of 32 KiB.
        assert_eq!((code, &space[..6]), (c::OK, &[0, 64, 0x80, 0, 0x40, 0][..]), "{function}");
    }
    // The end of the login ends all that it let.
    let (_, begun) = shell.ask(f::SEARCH_BEGIN, b"\x01\0");
    assert_eq!(shell.ask(f::LOG_OUT, b""), yes(b""));
    let go_on = [&begun[..5], b"\x06\x01*"].concat();
    assert_eq!(shell.ask(f::SEARCH_ON, &go_on), no(c::NO_SUCH_PATH));
    assert_eq!(shell.ask(f::ALLOCATE_PERMANENT, b"\0F\x09SYS:LOGIN"), yes(b"\x01\x45"));
}

#[test]
fn ncpfs_locks_ranges_sets_dates_and_attributes_and_copies_files() {
    let mut shell = Asking::logged_in(offer(NETWARE_3));
    shell.fill(&["A.DBF"], &pattern(100_000), false);
    let (one, other) = (shell.open(0x03, b"A.DBF"), shell.open(0x03, b"A.DBF"));
    let range = |file: [u8; 6], offset: u32, length: u32| {
        [&file[..], &offset.to_be_bytes(), &length.to_be_bytes()].concat()
    };
    let log = |flags: u8, file, offset, length| {
        [&[flags][..], &range(file, offset, length), &[0, 0]].concat()
    };
    // Logged only: it is free. Then locked with the set.
    assert_eq!(shell.ask(f::LOG_RECORD, &log(0, one, 10, 5)), yes(b""));
    assert_eq!(shell.write(other, 10, b"x"), yes(b""));
    assert_eq!(shell.ask(f::LOCK_RECORDS, &[0, 0]), yes(b""));
    assert_eq!(shell.write(other, 14, b"x"), no(c::LOCKED));
    assert_eq!(shell.read(other, 0, 11), no(c::LOCKED));
    assert_eq!(shell.write(one, 10, b"x"), yes(b""));
    assert_eq!(shell.ask(f::LOG_RECORD, &log(1, other, 14, 1)), no(c::COLLISION));
    assert_eq!(shell.ask(f::RELEASE_RECORD, &[&[0][..], &range(one, 10, 5)].concat()), yes(b""));
    assert_eq!(shell.ask(f::LOG_RECORD, &log(1, other, 14, 1)), yes(b""));
    assert_eq!(shell.ask(f::LOCK_RECORDS, &[0, 0]), no(c::COLLISION), "one of the set is not free");
    assert_eq!(shell.ask(f::CLEAR_RECORD, &[&[0][..], &range(other, 14, 1)].concat()), yes(b""));
    assert_eq!(
        shell.ask(f::CLEAR_RECORD, &[&[0][..], &range(other, 14, 1)].concat()),
        no(c::FAILED)
    );
    // Shared ones go with each other; a file that is closed has none.
    assert_eq!(shell.ask(f::LOG_RECORD, &log(3, one, 50, 5)), yes(b""));
    assert_eq!(shell.ask(f::LOG_RECORD, &log(3, other, 50, 5)), yes(b""));
    assert_eq!(shell.ask(f::CLOSE, &[&[0], &one[..]].concat()), yes(b""));
    assert_eq!(shell.ask(f::CLEAR_RECORDS, b""), yes(b""));
    assert_eq!(shell.write(other, 50, b"x"), yes(b""));

    // A date of DOS; read-only, of a pattern too.
    let date = [&[0][..], &other, &TIME, &[0x2f, 0x21]].concat();
    assert_eq!(shell.ask(f::SET_DATE, &date), yes(b""));
    let (_, found) = shell.ask(f::SEARCH, b"\xff\xff\x01\x06\x05A.DBF");
    assert_eq!(found[28..32], [0x2f, 0x21, TIME[0], TIME[1]]);
    let (_, made) = shell.ask(f::CREATE, b"\x01\0\x05B.DBF");
    let copy =
        [&[0][..], &other, &made[..6], &[0; 4], &[0; 4], &100_000_u32.to_be_bytes()].concat();
    assert_eq!(shell.ask(f::COPY, &copy), yes(&100_000_u32.to_be_bytes()));
    let made: [u8; 6] = made[..6].try_into().unwrap();
    assert_eq!(shell.read(made, 99_000, 500), shell.read(other, 99_000, 500));
    assert_eq!(shell.ask(f::SIZE, &[&[0], &made[..]].concat()), yes(&100_000_u32.to_be_bytes()));
    assert_eq!(shell.ask(f::SET_ATTRIBUTES, b"\x01\x01\x06\x05*.DBF"), yes(b""));
    assert_eq!(shell.ask(f::OPEN, b"\x01\x06\x03\x05B.DBF"), no(c::NO_WRITE_RIGHTS));
    assert_eq!(shell.ask(f::SET_ATTRIBUTES, b"\0\x01\x06\x05B.DBF"), yes(b""));
    assert_eq!(shell.ask(f::SET_ATTRIBUTES, b"\0\x01\x06\x05*.ZIP"), no(c::FAILED));
}

#[test]
fn unknown_requests_are_named() {
    use lanlab_stack::file_server::Remark;
    let mut shell = Asking::logged_in(offer(NETWARE_3));
    while shell.session.poll_remark().is_some() {}
    for (function, named) in [
        (Function { number: 0x20, part: None }, "NetWare function 20h (semaphore)"),
        (ns(0x10), "NetWare function 57h/10h (unknown function)"),
        (
            Function { number: 0x17, part: Some(0x4b) },
            "NetWare function 17h/4Bh (change password, keyed)",
        ),
    ] {
        assert_eq!(shell.ask(function, &[0, 0]), no(c::UNSUPPORTED));
        assert_eq!(shell.session.poll_remark(), Some(Remark::Refused(named.into())));
    }
    // A known one about something that is not there has the same answer, and is not named.
    assert_eq!(shell.ask(f::IS_IN_SET, &[0, 0]), no(c::NO_SUCH_PROPERTY));
    assert_eq!(shell.session.poll_remark(), None);
}
