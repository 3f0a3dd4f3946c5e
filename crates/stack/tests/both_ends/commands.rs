//! What opens may do, locks of the core dialect, and reads and writes of every other form.

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::files::{FileCall, FileStore};
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_wire::smb1::command as c;
use lanlab_wire::smb1::header::{Header, flags2};
use lanlab_wire::smb1::negotiate::dialect;
use lanlab_wire::smb1::nt_create_andx::{self, access, disposition, options};
use lanlab_wire::smb1::status::error;
use lanlab_wire::smb1::strings::Text;

use super::answers::{no, parts, yes};
use super::both::{CARRIER, offer, server};
use super::raw::{Raw, ended};
use super::sessions::silent;

const FILE: &[u8] = b"\x04FILE\0";

fn raw_of(server: &Server) -> Raw {
    let mut raw = Raw::new(server, &[]);
    raw.fill("FILE", b"abcdefghij");
    raw
}

impl Raw {
    /// Whether an open file reads and writes.
    fn rights(&mut self, fid: u16) -> (bool, bool) {
        let read = self.say(c::READ, &[fid, 1, 0, 0, 0], b"").0;
        let write = self.say(c::WRITE, &[fid, 1, 20, 0, 0], b"\x01\x01\0x").0;
        let may = |status| match status {
            "success" => true,
            other => {
                assert_eq!(other, error::ACCESS_DENIED.name);
                false
            }
        };
        (may(read), may(write))
    }
}

#[test]
fn opens_grant_exactly_the_requested_access() {
    let mut raw = raw_of(&server());
    let mut read_only = raw_of(&Server::new(Offer { read_only: true, ..offer() }));
    for (bits, reads, writes) in [
        (access::READ_DATA, true, false),
        (access::GENERIC_READ, true, false),
        (access::GENERIC_EXECUTE, true, false),
        (access::WRITE_DATA, false, true),
        (access::APPEND_DATA, false, true),
        (access::GENERIC_WRITE, false, true),
        (access::READ_DATA | access::WRITE_DATA, true, true),
        (access::GENERIC_ALL, true, true),
        (access::MAXIMUM_ALLOWED, true, true),
        (access::READ_ATTRIBUTES, false, false),
        (access::WRITE_ATTRIBUTES, false, false),
        (access::READ_CONTROL, false, false),
        (access::DELETE, false, false),
    ] {
        let fid = raw.nt_open("FILE", disposition::OPEN, bits, 0).unwrap();
        assert_eq!(raw.rights(fid), (reads, writes), "{bits:#x}");
        raw.close(fid);
        // Where nothing may be written as much as there is means to read.
        let opened = read_only.nt_open("FILE", disposition::OPEN, bits, 0);
        if bits == access::MAXIMUM_ALLOWED || !writes && bits != access::DELETE {
            assert_eq!(read_only.rights(opened.unwrap()), (reads, false), "{bits:#x}");
        } else {
            assert_eq!(opened, Err(error::ACCESS_DENIED.name), "{bits:#x}");
        }
    }
    // Who may only execute a file reads it for that alone.
    let fid = raw.nt_open("FILE", disposition::OPEN, access::EXECUTE, 0).unwrap();
    assert_eq!(raw.rights(fid), (false, false));
    let paging = flags2::NT_STATUS | flags2::PAGING_IO;
    let said = raw.say_as(paging, c::READ, &[fid, 3, 0, 0, 0], b"");
    assert_eq!(parts(&said[0]), yes(&[3, 0, 0, 0, 0], b"\x01\x03\0abc"));
    raw.close(fid);
    // As much as there is of a file that may not be written is to read.
    raw.say(c::SET_INFORMATION, &[1, 0, 0, 0, 0, 0, 0, 0], b"\x04FILE\0\x04\0");
    let fid = raw.nt_open("FILE", disposition::OPEN, access::MAXIMUM_ALLOWED, 0).unwrap();
    assert_eq!(raw.rights(fid), (true, false));
    let written = raw.nt_open("FILE", disposition::OPEN, access::WRITE_DATA, 0);
    assert_eq!(written, Err(error::ACCESS_DENIED.name));
}

#[test]
fn dos_opens_grant_exactly_the_requested_mode() {
    for (mode, rights) in [
        (0x40, Some((true, false))),
        (0x41, Some((false, true))),
        (0x42, Some((true, true))),
        (0x43, Some((true, false))),
        (0x00, Some((true, false))),
        (0x02, Some((true, true))),
        (0x12, Some((true, true))),
        (0x20, Some((true, false))),
        (0x31, Some((false, true))),
        // Bits for caches, and for writes through them, change nothing here.
        (0x5042, Some((true, true))),
        (0x00ff, Some((true, true))),
        (0x44, None),
        (0x47, None),
        (0x52, None),
        (0x62, None),
    ] {
        let mut raw = raw_of(&server());
        let opened = raw.say(c::OPEN, &[mode, 0], FILE);
        match rights {
            Some(rights) => {
                assert_eq!((opened.0, opened.1[6]), ("success", mode & 0x77), "{mode:#x}");
                assert_eq!(raw.rights(opened.1[0]), rights, "{mode:#x}");
            }
            None => assert_eq!(opened, no(error::BAD_ACCESS), "{mode:#x}"),
        }
    }
    // Where nothing may be written, old programs that open to read and write read.
    let read_only = Server::new(Offer { read_only: true, ..offer() });
    for (mode, rights) in
        [(0x02, Some((true, false))), (0xff, Some((true, false))), (0x42, None), (0x41, None)]
    {
        let mut raw = raw_of(&read_only);
        assert_eq!(raw.say(c::CREATE_NEW, &[0, 0, 0], b"\x04NEW\0"), no(error::ACCESS_DENIED));
        assert_eq!(raw.say(c::DELETE, &[0], FILE), no(error::ACCESS_DENIED));
        let opened = raw.say(c::OPEN, &[mode, 0], FILE);
        match rights {
            Some(rights) => assert_eq!(raw.rights(opened.1[0]), rights, "{mode:#x}"),
            None => assert_eq!(opened, no(error::ACCESS_DENIED), "{mode:#x}"),
        }
    }
}

#[test]
fn open_results_report_created_opened_or_replaced() {
    let mut raw = raw_of(&server());
    let mut result = |disposition: u32, name: &[u8]| {
        // Flags, root, access, allocation, attributes, share, disposition, options, impersonation.
        let longs = [0, 3_u32, 0, 0, 0x80, 7, disposition, 0x40, 2];
        // From the flags on, each word is an octet off.
        let octets: Vec<u8> = longs.iter().flat_map(|long| long.to_le_bytes()).collect();
        let mut bytes = vec![0, name.len() as u8 - 1, 0, 0, 0, 0, 0];
        bytes.extend(octets);
        bytes.push(0);
        let rest = bytes.chunks(2).map(|two| u16::from_le_bytes([two[0], two[1]]));
        let words: Vec<u16> = [0xff, 0].into_iter().chain(rest).collect();
        let (status, words, _) = raw.say(c::NT_CREATE_ANDX, &words, name);
        if status != "success" {
            return Err(status);
        }
        // The oplock, the file, and what was done stand an octet off, too.
        let octets: Vec<u8> = words[2..].iter().flat_map(|word| word.to_le_bytes()).collect();
        let fid = u16::from_le_bytes([octets[1], octets[2]]);
        let long = |at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().unwrap());
        raw.close(fid);
        // Its size, and whether it is a directory.
        assert_eq!((octets[0], octets[63]), (0, 0));
        Ok((long(3), long(51)))
    };
    let (missing, taken) = (error::OBJECT_NAME_NOT_FOUND.name, error::OBJECT_NAME_COLLISION.name);
    for (disposition, name, expected) in [
        (disposition::OPEN, &b"FILE\0"[..], Ok((1, 10))),
        (disposition::OPEN_IF, b"FILE\0", Ok((1, 10))),
        (disposition::CREATE, b"FILE\0", Err(taken)),
        (disposition::OVERWRITE, b"FILE\0", Ok((3, 0))),
        (disposition::OVERWRITE_IF, b"FILE\0", Ok((3, 0))),
        (disposition::SUPERSEDE, b"FILE\0", Ok((0, 0))),
        (disposition::OPEN, b"NEW0\0", Err(missing)),
        (disposition::OVERWRITE, b"NEW0\0", Err(missing)),
        (disposition::OPEN_IF, b"NEW1\0", Ok((2, 0))),
        (disposition::CREATE, b"NEW2\0", Ok((2, 0))),
        (disposition::OVERWRITE_IF, b"NEW3\0", Ok((2, 0))),
        (disposition::SUPERSEDE, b"NEW4\0", Ok((2, 0))),
        (6, b"FILE\0", Err(error::INVALID_PARAMETER.name)),
    ] {
        assert_eq!(result(disposition, name), expected, "{disposition} {}", name.escape_ascii());
    }
}

#[test]
fn files_and_directories_open_only_as_their_own_kind() {
    let mut raw = raw_of(&server());
    raw.make_directory("SUB");
    let read = access::READ_DATA;
    for (name, option, expected) in [
        ("SUB", options::DIRECTORY, Ok(())),
        ("SUB", 0, Ok(())),
        ("SUB", options::NON_DIRECTORY, Err(error::FILE_IS_A_DIRECTORY.name)),
        ("FILE", options::DIRECTORY, Err(error::NOT_A_DIRECTORY.name)),
        ("FILE", options::NON_DIRECTORY, Ok(())),
        ("FILE", options::DIRECTORY | options::NON_DIRECTORY, Err(error::INVALID_PARAMETER.name)),
    ] {
        let opened = raw.nt_open(name, disposition::OPEN, read, option);
        assert_eq!(
            opened.map(|fid| assert_eq!(raw.close(fid), "success")),
            expected,
            "{name} {option}"
        );
    }
    // A directory has no octets to read, and takes none.
    let fid = raw.nt_open("SUB", disposition::OPEN, read, 0).unwrap();
    let refused = no(error::FILE_IS_A_DIRECTORY);
    assert_eq!(raw.say(c::READ, &[fid, 1, 0, 0, 0], b""), refused);
    assert_eq!(raw.close(fid), "success");
    // It is made where it is not there, and removed with its last close if it is empty.
    let dies = options::DIRECTORY | options::DELETE_ON_CLOSE;
    let all = read | access::DELETE;
    let fid = raw.nt_open("NEW", disposition::CREATE, all, dies).unwrap();
    assert_eq!(raw.names(), ["FILE", "NEW", "SUB"]);
    assert_eq!(raw.close(fid), "success");
    assert_eq!(raw.names(), ["FILE", "SUB"]);
    // What is made to be read alone cannot be removed by its close.
    for (attributes, expected) in [(1, error::CANNOT_DELETE.name), (0x80, "success")] {
        let request = nt_create_andx::Request {
            access: all,
            attributes,
            disposition: disposition::CREATE,
            options: options::DELETE_ON_CLOSE,
            name: Text::Oem(b"GOES"),
            ..nt_create_andx::Request::default()
        };
        let said = raw.ask(c::NT_CREATE_ANDX, |writer| request.emit(writer));
        assert_eq!(ended(&said)[0].1, Some(expected), "{attributes}");
    }
    // Another case of the name of a file is another name of it.
    for (from, to) in [("FILE", "file"), ("file", "File")] {
        let octets = format!("\x04{from}\0\x04{to}\0");
        assert_eq!(raw.say(c::RENAME, &[0x16], octets.as_bytes()), yes(&[], b""));
        assert!(raw.names().contains(&to.to_owned()));
    }
}

#[test]
fn core_locks_block_others_until_released() {
    let mut raw = raw_of(&server());
    let [one, other] = [0; 2].map(|_| raw.say(c::OPEN, &[0x42, 0], FILE).1[0]);
    let ask = |raw: &mut Raw, command, fid, [offset, count]: [u32; 2]| {
        let word = |long: u32, at: u32| (long >> at) as u16;
        let words = [fid, word(count, 0), word(count, 16), word(offset, 0), word(offset, 16)];
        raw.say(command, &words, b"")
    };
    let (done, again, conflict) =
        (yes(&[], b""), no(error::LOCK_NOT_GRANTED), no(error::FILE_LOCK_CONFLICT));
    let (lock, unlock) = (c::LOCK_BYTE_RANGE, c::UNLOCK_BYTE_RANGE);
    for (command, fid, range, expected) in [
        (lock, one, [2, 3], &done),
        // Refused for the first time it is one to try again, then a conflict; so it is far out.
        (lock, other, [4, 1], &again),
        (lock, other, [4, 1], &conflict),
        (lock, other, [3, 1], &again),
        (lock, one, [0xef00_0000, 1], &done),
        (lock, other, [0xef00_0000, 1], &conflict),
        (lock, one, [0xeeff_ffff, 1], &done),
        (lock, other, [0xeeff_ffff, 1], &again),
        (lock, other, [5, 1], &done),
        (lock, other, [0, 2], &done),
        (unlock, other, [2, 3], &no(error::RANGE_NOT_LOCKED)),
        (unlock, one, [2, 2], &no(error::RANGE_NOT_LOCKED)),
    ] {
        assert_eq!(ask(&mut raw, command, fid, range), *expected, "{command:#x} {range:?}");
    }
    let read =
        |raw: &mut Raw, fid, offset, count| raw.say(c::READ, &[fid, count, offset, 0, 0], b"").0;
    for (fid, offset, count, lets) in [
        (other, 2, 1, false),
        (other, 4, 1, false),
        (other, 1, 2, false),
        (other, 0, 2, true),
        // To read nothing is in the way of none.
        (other, 3, 0, true),
        (one, 2, 3, true),
        (one, 5, 1, false),
        (one, 6, 4, true),
    ] {
        let expected = if lets { "success" } else { error::FILE_LOCK_CONFLICT.name };
        assert_eq!(read(&mut raw, fid, offset, count), expected, "{fid} {offset} {count}");
    }
    let written = raw.say(c::WRITE, &[other, 0, 3, 0, 0], b"\x01\0\0");
    assert_eq!(written, conflict, "to write nothing would cut what is locked");
    assert_eq!(ask(&mut raw, unlock, one, [2, 3]), done);
    assert_eq!(read(&mut raw, other, 2, 3), "success");
}

#[test]
fn every_command_reports_a_missing_file() {
    let mut raw = raw_of(&server());
    let fid = raw.say(c::OPEN, &[0x42, 0], FILE).1[0];
    raw.served.files.carry_out(FileCall::Remove { path: vec!["FILE".into()] }, &mut vec![]);
    let missing = no(error::OBJECT_NAME_NOT_FOUND);
    for (command, words, octets) in [
        (c::READ, &[fid, 1, 0, 0, 0][..], &b""[..]),
        (c::WRITE, &[fid, 1, 0, 0, 0], b"\x01\x01\0x"),
        (c::WRITE, &[fid, 0, 0, 0, 0], b"\x01\0\0"),
        (c::FLUSH, &[fid], b""),
        (c::FLUSH, &[0xffff], b""),
        (c::SEEK, &[fid, 2, 0, 0], b""),
        (c::QUERY_INFORMATION2, &[fid], b""),
        (c::SET_INFORMATION2, &[fid, 0, 0, 0, 0, 0, 0], b""),
    ] {
        assert_eq!(raw.say(command, words, octets), missing, "{command:#x}");
    }
    assert_eq!(raw.close(fid), "success");
}

#[test]
fn offsets_and_paths_have_upper_bounds() {
    let server = Server::new(Offer { user: None, ..offer() });
    let mut raw = Raw::negotiated(&server, &[], dialect::NT_LM);
    raw.fill("FILE", b"abc");
    raw.log_in();
    raw.connect();
    let fid = raw.say(c::OPEN, &[0x42, 0], FILE).1[0];
    for (low, expected) in [(0xfffe, error::DISK_FULL), (0xffff, error::INVALID_PARAMETER)] {
        let words = [0xff, 0, fid, low, 0xffff, 0, 0, 0, 0, 0, 1, 63, 0xffff, 0x7fff];
        assert_eq!(raw.say(c::WRITE_ANDX, &words, b"x"), no(expected), "{low:#x}");
    }
    let path = |depth: usize| format!("\x04{}\0", "\\A".repeat(depth));
    let name = |len: usize| format!("\x04{}\0", "A".repeat(len));
    for (name, expected) in [
        (path(64), error::OBJECT_PATH_NOT_FOUND),
        (path(65), error::NAME_TOO_LONG),
        (name(255), error::OBJECT_NAME_NOT_FOUND),
        (name(256), error::NAME_TOO_LONG),
    ] {
        assert_eq!(raw.say(c::QUERY_INFORMATION, &[], name.as_bytes()), no(expected));
    }
}

#[test]
fn a_reply_copies_the_servers_bits_of_its_request() {
    let mut raw = raw_of(&server());
    let header =
        Header { tid: 1, mid: 77, pid: 0x1_0007, ..Header::request(c::ECHO, 0x78, 0xfc57) };
    let message = [&header.emit()[..], &[1, 1, 0, 0, 0]].concat();
    let answer = Header::parse(&raw.served.answer(&message)[0]).unwrap();
    // Case and canonical paths stay, opportunistic locks (0x60) were not given; a reply has 0x80.
    // Long names, extended security, status and Unicode stay; signatures and the rest are not there.
    assert_eq!((answer.flags, answer.flags2), (0x98, 0xc841));
    assert_eq!((answer.tid, answer.mid, answer.pid), (1, 77, 0x1_0007));
}

fn flushes(raw: &mut Raw) -> usize {
    let asked = std::mem::take(&mut raw.served.asked);
    asked.iter().filter(|call| matches!(call, FileCall::Flush { .. })).count()
}

#[test]
fn raw_data_has_the_announced_length() {
    let mut raw = raw_of(&server());
    let fid = raw.say(c::OPEN, &[0x42, 0], FILE).1[0];
    let read = |raw: &mut Raw, fid, offset, count| {
        let words = [fid, offset, 0, count, 0, 0, 0, 0];
        raw.say_as(flags2::NT_STATUS, c::READ_RAW, &words, b"")
    };
    assert_eq!(read(&mut raw, fid, 2, 3), [b"cde"]);
    assert_eq!(read(&mut raw, fid, 8, 9), [b"ij"]);
    // Any error is nothing.
    assert_eq!(read(&mut raw, fid + 1, 0, 9), [b""]);
    // The first octets in the request, the rest in a message of its own.
    let begin = |raw: &mut Raw, offset, total, mode, octets: &[u8]| {
        let words = [fid, total, 0, offset, 0, 0, 0, mode, 0, 0, octets.len() as u16, 59];
        let said = raw.say_as(flags2::NT_STATUS, c::WRITE_RAW, &words, octets);
        let heads = said.iter().map(|one| Header::parse(one).unwrap().command);
        (heads.collect::<Vec<_>>(), said.iter().map(|one| parts(one)).collect::<Vec<_>>())
    };
    flushes(&mut raw);
    let ready = (vec![c::WRITE_RAW], vec![yes(&[0xffff], b"")]);
    assert_eq!(begin(&mut raw, 1, 5, 1, b"BC"), ready);
    let said = raw.served.answer(b"DEF");
    assert_eq!(
        (Header::parse(&said[0]).unwrap().command, parts(&said[0])),
        (c::WRITE_COMPLETE, yes(&[5], b""))
    );
    assert_eq!(flushes(&mut raw), 1);
    assert_eq!(read(&mut raw, fid, 0, 99), [b"aBCDEFghij"]);
    // Without the bit that asks for it, nothing is said, and nothing brought to the disk.
    assert_eq!(begin(&mut raw, 0, 2, 0, b"x"), ready);
    assert_eq!(raw.served.answer(b"y"), Vec::<Vec<u8>>::new());
    assert_eq!((flushes(&mut raw), read(&mut raw, fid, 0, 3)), (0, vec![b"xyC".to_vec()]));
    // All in the request: done at once.
    let done = (vec![c::WRITE_COMPLETE], vec![yes(&[2], b"")]);
    assert_eq!(begin(&mut raw, 0, 2, 0, b"zz"), done);
    // What came is not what was announced: said at once, or with the next request for the file, once.
    assert_eq!(begin(&mut raw, 0, 4, 1, b"1"), ready);
    let said = raw.served.answer(b"23");
    assert_eq!(parts(&said[0]), no(error::NON_SPECIFIC));
    assert_eq!(begin(&mut raw, 0, 4, 0, b"1"), ready);
    assert_eq!(raw.served.answer(b"2345"), Vec::<Vec<u8>>::new());
    assert_eq!(raw.say(c::FLUSH, &[fid], b""), no(error::NON_SPECIFIC));
    assert_eq!(raw.say(c::FLUSH, &[fid], b""), yes(&[], b""));
    // One that is to be refused is refused before its data come.
    let fid = raw.say(c::OPEN, &[0x40, 0], FILE).1[0];
    let words = [fid, 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 59];
    let said = raw.say_as(flags2::NT_STATUS, c::WRITE_RAW, &words, b"");
    assert_eq!((said[0][4], parts(&said[0])), (c::WRITE_COMPLETE, no(error::ACCESS_DENIED)));
    // Writes through the cache are brought to the disk by the other commands, too.
    let fid = raw.say(c::OPEN, &[0x42, 0], FILE).1[0];
    for mode in [1, 0] {
        flushes(&mut raw);
        let words = [0xff, 0, fid, 0, 0, 0, 0, mode, 0, 0, 1, 59];
        assert_eq!(raw.say(c::WRITE_ANDX, &words, b"x"), yes(&[0xff, 0, 1, 0xffff, 0, 0], b""));
        assert_eq!(flushes(&mut raw), usize::from(mode));
    }
    // A stream has no packets, and packets no raw data.
    let standard = no(error::SMB_USE_STANDARD).0;
    assert_eq!(raw.say(c::READ_MPX, &[fid, 0, 0, 9, 0, 0, 0, 0], b"").0, standard);
    let words = [fid, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 59];
    assert_eq!(raw.say(c::WRITE_MPX, &words, b"x").0, standard);
}

#[test]
fn multiplexed_reads_and_writes_are_split_into_packets() {
    let packets = CarrierFacts { longest_message: 1000, keeps_raw: false, ..CARRIER };
    let packets = CarrierFacts { is_one_at_a_time: true, ..packets };
    let mut raw = silent(&server(), packets);
    raw.say(c::NEGOTIATE, &[], b"\x02PC NETWORK PROGRAM 1.0\0");
    raw.connect();
    let data: Vec<u8> = (0..2000_u32).map(|at| (at % 251) as u8).collect();
    raw.fill("FILE", &data);
    let fid = raw.say(c::OPEN, &[0x42, 0], FILE).1[0];
    // 64 octets of each packet are around its data; each says where it belongs, and how much there is in all.
    let said = raw.say_all(c::READ_MPX, &[fid, 5, 0, 5000, 0, 0, 0, 0], b"");
    assert_eq!(said.len(), 3);
    let mut at = 5;
    for ((status, words, octets), len) in said.into_iter().zip([936, 936, 123]) {
        assert_eq!(
            (status, &words[..7]),
            ("success", &[at as u16, 0, 1995, 0xffff, 0, 0, len as u16][..])
        );
        let from = usize::from(words[7]) - (32 + 1 + 16 + 2);
        assert_eq!(octets[from..], data[at..at + len]);
        at += len;
    }
    let said = raw.say_all(c::READ_MPX, &[fid, 2000, 0, 10, 0, 0, 0, 0], b"");
    assert_eq!((said.len(), &said[0].1[..7]), (1, &[2000, 0, 0, 0xffff, 0, 0, 0][..]));
    assert_eq!(
        raw.say(c::READ_MPX, &[fid + 1, 0, 0, 1, 0, 0, 0, 0], b""),
        no(error::INVALID_HANDLE)
    );
    // A write of packets says which have come: here the mask of one.
    let mut write = |fid, offset, mask, mode, octets: &[u8]| {
        raw.served.asked.clear();
        let words = [fid, 9, 0, offset, 0, 0, 0, mode, mask, 0, octets.len() as u16, 59];
        let said = raw.say(c::WRITE_MPX, &words, octets);
        let found = raw.say(c::READ, &[fid, 5, 1, 0, 0], b"").2;
        (said, found.get(3..).unwrap_or_default().to_vec(), flushes(&mut raw))
    };
    assert_eq!(write(fid, 2, 4, 0, b"ab"), (yes(&[4, 0], b""), vec![1, b'a', b'b', 4, 5], 0));
    assert_eq!(write(fid, 5, 8, 1, b"z"), (yes(&[8, 0], b""), vec![1, b'a', b'b', 4, b'z'], 1));
    assert_eq!(write(fid, 5, 2, 0, b""), (yes(&[2, 0], b""), vec![1, b'a', b'b', 4, b'z'], 0));
    assert_eq!(write(fid + 1, 5, 2, 0, b"q").0, no(error::INVALID_HANDLE));
    let words = [fid, 0, 0, 3, 0, 0, 0, 0];
    assert_eq!(raw.say(c::READ_RAW, &words, b"").0, error::SMB_USE_STANDARD.name);
}
