//! Whole requests of the client for each call, in every dialect, as [MS-CIFS] 2.2.4 has them.

use lanlab_stack::redirector::{Access, Call, Done, FileId, Listed, Reason, Redirector};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan};
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::command as c;
use lanlab_wire::smb1::header::{Header, LEN};
use lanlab_wire::smb1::nt_create_andx;
use lanlab_wire::smb1::strings::Text;

use super::both::{Both, client, offer, plan, server};

/// Command, words and octets of a request.
type Asked = (u8, Vec<u16>, Vec<u8>);

fn asked(message: &[u8]) -> Asked {
    let (count, rest) = message[LEN..].split_first().unwrap();
    let (words, octets) = rest.split_at(2 * usize::from(*count));
    let words = words.chunks(2).map(|word| u16::from_le_bytes([word[0], word[1]])).collect();
    (message[4], words, octets[2..].to_vec())
}

fn connected(dialect: Dialect) -> Both {
    let (both, outcome) = Both::connect(client(Some(dialect), "Secret-1"), &server());
    assert_eq!(outcome, Some(Ok(Done::Nothing)));
    both
}

impl Both {
    fn one(&mut self, call: Call<'_>) -> (Done, Asked) {
        self.sent.clear();
        let done = self.call(call).unwrap();
        let [message] = &self.sent[..] else { panic!("{} requests", self.sent.len()) };
        (done, asked(message))
    }

    fn opened(&mut self, path: &str, access: Access) -> (FileId, u64, Asked) {
        match self.one(Call::Open { path, access }) {
            (Done::Opened { file, size_bytes }, asked) => (file, size_bytes, asked),
            other => panic!("{other:?}"),
        }
    }
}

fn nothing(command: u8, words: &[u16], octets: &[u8]) -> (Done, Asked) {
    (Done::Nothing, (command, words.to_vec(), octets.to_vec()))
}

/// Ask for the facts of `a/File.txt`, of 3 octets, and of its directory.
fn check_stat(both: &mut Both, path: &[u8], directory: &[u8]) {
    for (of, bytes, size_bytes, is_directory) in
        [("a/File.txt", path, 3, false), ("a", directory, 0, true)]
    {
        let found = Done::Found { size_bytes, is_directory };
        let asked = (c::QUERY_INFORMATION, vec![], bytes.to_vec());
        assert_eq!(both.one(Call::Stat { path: of }), (found, asked));
    }
}

/// Reads, writes and what else there is of a file of 3 octets, opened as `fid` by LAN Manager or the core dialect.
#[test]
fn requests_in_old_dialects_match_the_specification() {
    for dialect in [Dialect::Core, Dialect::LanMan1, Dialect::LanMan2] {
        let mut both = connected(dialect);
        let is_core = dialect == Dialect::Core;
        // Names of 8.3 are in upper case, longer ones as they are.
        let name =
            if dialect < Dialect::LanMan2 { &b"\\A\\FILE.TXT\0"[..] } else { b"\\a\\File.txt\0" };
        let directory = &[b"\x04", &name[..2], b"\0"].concat()[..];
        let path = &[b"\x04", name].concat()[..];
        let making = both.one(Call::MakeDirectory { path: "a" });
        assert_eq!(making, nothing(c::CREATE_DIRECTORY, &[], directory));
        let open = |access, function| {
            let words = [0xff, 0, 0, access, 6, 0, 0, 0, function, 0, 0, 0, 0, 0, 0];
            (c::OPEN_ANDX, words.to_vec(), name.to_vec())
        };
        let of_core = |command, words: &[u16]| (command, words.to_vec(), path.to_vec());
        let fid = |file: FileId| file.0 as u16;
        for (access, of_core, of_lan_manager) in [
            (Access::Create, of_core(c::CREATE_NEW, &[0, 0, 0]), open(0x42, 0x10)),
            (Access::Replace, of_core(c::CREATE, &[0, 0, 0]), open(0x42, 0x12)),
            (Access::Update, of_core(c::OPEN, &[0x42, 6]), open(0x42, 0x01)),
            (Access::Read, of_core(c::OPEN, &[0x40, 6]), open(0x40, 0x01)),
        ] {
            let (file, size_bytes, found) = both.opened("a/File.txt", access);
            assert_eq!(found, if is_core { of_core } else { of_lan_manager }, "{access:?}");
            let has_octets = matches!(access, Access::Update | Access::Read);
            assert_eq!(size_bytes, if has_octets { 3 } else { 0 }, "{access:?}");
            if access == Access::Replace {
                let write = Call::Write { file, offset: 0, parts: [b"ab", b"c"] };
                let (done, found) = both.one(write);
                let expected = if is_core {
                    (c::WRITE, vec![fid(file), 3, 0, 0, 0], b"\x01\x03\0abc".to_vec())
                } else {
                    let words = vec![0xff, 0, fid(file), 0, 0, 0, 0, 0, 0, 0, 3, 60];
                    (c::WRITE_ANDX, words, b"\0abc".to_vec())
                };
                assert_eq!((done, found), (Done::Written(3), expected));
                let nothing = both.client.call(Call::Write { file, offset: 9, parts: [b"", b""] });
                both.sent.clear();
                assert_eq!(both.outcome(nothing, |_| {}), Some(Ok(Done::Written(0))));
                assert!(both.sent.is_empty(), "nothing is asked of the server");
            }
            if access == Access::Read {
                let (done, found) = both.one(Call::Read { file, offset: 0x1_0001, count: 5 });
                let expected = if is_core {
                    (c::READ, vec![fid(file), 5, 1, 1, 0], vec![])
                } else {
                    (c::READ_ANDX, vec![0xff, 0, fid(file), 1, 1, 5, 5, 0, 0, 0], vec![])
                };
                assert_eq!(found, expected);
                assert!(matches!(done, Done::Read(range) if range.is_empty()));
            } else {
                let flushing = both.one(Call::Flush { file });
                assert_eq!(flushing, nothing(c::FLUSH, &[fid(file)], b""));
            }
            // 0xffffffff leaves the time.
            let closing = both.one(Call::Close { file });
            assert_eq!(closing, nothing(c::CLOSE, &[fid(file), 0xffff, 0xffff], b""));
        }
        let checking = both.one(Call::CheckDirectory { path: "a" });
        assert_eq!(checking, nothing(c::CHECK_DIRECTORY, &[], directory));
        let to = if dialect < Dialect::LanMan2 { "B" } else { "b" };
        let new = &format!("\\{to}\0").into_bytes()[..];
        check_stat(&mut both, path, directory);
        let renaming = both.one(Call::Rename { from: "a/File.txt", to });
        let names = [path, b"\x04", new].concat();
        assert_eq!(renaming, nothing(c::RENAME, &[0x16], &names));
        let listed = |name: &str, size_bytes, is_directory| Listed {
            name: name.into(),
            size_bytes,
            is_directory,
        };
        let expected = [listed("a", 0, true), listed("b", 3, false)];
        assert_eq!(both.call(Call::List { path: "" }), Ok(Done::Listed(expected.to_vec())));
        let removing = both.one(Call::Remove { path: to });
        assert_eq!(removing, nothing(c::DELETE, &[6], &[b"\x04", new].concat()));
        let removing = both.one(Call::RemoveDirectory { path: "a" });
        assert_eq!(removing, nothing(c::DELETE_DIRECTORY, &[], directory));
        assert_eq!(both.one(Call::Echo), nothing(c::ECHO, &[1], b"lanlab"));
        // The root itself, also where a path has separators alone.
        for path in ["", "/"] {
            assert_eq!(
                both.one(Call::CheckDirectory { path }),
                nothing(c::CHECK_DIRECTORY, &[], b"\x04\\\0")
            );
        }
        let ending = both.one(Call::End);
        let expected = if is_core {
            nothing(c::TREE_DISCONNECT, &[], b"")
        } else {
            nothing(c::LOGOFF_ANDX, &[0xff, 0], b"")
        };
        assert_eq!(ending, expected);
        // Every request says its process, user and connection, and what its dialect has for that.
        let header = Header::parse(both.sent.last().unwrap()).unwrap();
        let expected =
            if is_core { (0, 0) } else { (0x18, u16::from(dialect == Dialect::LanMan2)) };
        assert_eq!((header.flags, header.flags2, header.pid), (expected.0, expected.1, 1));
        assert_eq!((header.tid, header.uid), if is_core { (1, 0) } else { (2, 1) });
    }
}

#[test]
fn requests_in_nt_lm_0_12_match_the_specification() {
    let mut both = connected(Dialect::Nt);
    // FILE_READ_DATA 1, WRITE_DATA 2, APPEND_DATA 4, READ_ATTRIBUTES 0x80, WRITE_ATTRIBUTES 0x100, SYNCHRONIZE 0x100000;
    // open 1, create 2, overwrite or create 5.
    for (access, bits, disposition) in [
        (Access::Create, 0x0010_0186, 2),
        (Access::Replace, 0x0010_0186, 5),
        (Access::Update, 0x0010_0187, 1),
        (Access::Read, 0x0010_0081, 1),
    ] {
        both.sent.clear();
        let opened = both.call(Call::Open { path: "File.txt", access }).unwrap();
        let Done::Opened { file, .. } = opened else { panic!("{opened:?}") };
        let header = Header::parse(&both.sent[0]).unwrap();
        let block = Block::first(&header, &both.sent[0]).unwrap();
        let name: Vec<u8> = "\\File.txt".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let expected = nt_create_andx::Request {
            flags: 0,
            root_fid: 0,
            access: bits,
            allocation_size: 0,
            attributes: 0x80,
            share: 7,
            disposition,
            options: 0x40,
            impersonation: 2,
            security_flags: 0,
            name: Text::Utf16(&name),
        };
        assert_eq!(nt_create_andx::Request::parse(&block), Ok(expected), "{access:?}");
        assert_eq!((header.flags, header.flags2), (0x18, 0xc801), "{access:?}");
        let fid = file.0 as u16;
        if access == Access::Read {
            // Offsets have 64 bits.
            let call = Call::Read { file, offset: 1 << 32 | 0x2_0003, count: 0x1_0000 };
            let (done, found) = both.one(call);
            let count = 60 << 10;
            let words = vec![0xff, 0, fid, 3, 2, count, count, 0, 0, 0, 1, 0];
            assert_eq!(found, (c::READ_ANDX, words, vec![]));
            assert!(matches!(done, Done::Read(range) if range.is_empty()));
        }
        both.call(Call::Close { file }).unwrap();
    }
}

/// What one end wrote the other reads, over more than one message, in each dialect.
#[test]
fn reads_return_written_bytes_up_to_the_requested_length() {
    let data: Vec<u8> = (0..70_000_u32).map(|at| (at % 251) as u8).collect();
    for dialect in Dialect::ALL {
        let mut both = connected(dialect);
        let most = both.client.facts().unwrap().write_bytes as usize;
        let (file, _, _) = both.opened("DATA", Access::Replace);
        let mut written = 0;
        while written < data.len() {
            // In two parts, cut where the first one has room, where it has not, and before it.
            let middle = written + [most - 1, most, most + 1, 0][written / most % 4];
            let middle = middle.min(data.len());
            let parts = [&data[written..middle], &data[middle..]];
            let Done::Written(count) =
                both.call(Call::Write { file, offset: written as u64, parts }).unwrap()
            else {
                panic!()
            };
            assert_eq!(count as usize, most.min(data.len() - written), "{dialect:?}");
            written += count as usize;
        }
        both.call(Call::Close { file }).unwrap();
        let (file, size_bytes, _) = both.opened("DATA", Access::Read);
        assert_eq!(size_bytes, 70_000);
        let mut read = Vec::new();
        loop {
            let call =
                both.client.call(Call::Read { file, offset: read.len() as u64, count: 70_000 });
            let (range, octets) = both.read(call);
            if range.is_empty() {
                break;
            }
            assert_eq!(range.len(), most.min(70_000 - read.len()), "{dialect:?}");
            read.extend_from_slice(&octets[range]);
        }
        assert!(read == data, "{dialect:?}");
        both.call(Call::Close { file }).unwrap();
    }
}

/// Answers of a server to the same calls in each dialect, as a user hears of them.
#[test]
fn errors_map_to_reasons_in_each_dialect() {
    let read_only = Server::new(Offer { read_only: true, ..offer() });
    for dialect in Dialect::ALL {
        let mut both = connected(dialect);
        both.call(Call::MakeDirectory { path: "D" }).unwrap();
        let (file, _, _) = both.opened("D/F", Access::Create);
        both.call(Call::Close { file }).unwrap();
        let is_short = dialect < Dialect::LanMan2;
        let long = if is_short { Reason::Name } else { Reason::Missing };
        for (call, reason) in [
            (Call::Open { path: "NONE", access: Access::Read }, Reason::Missing),
            (Call::Open { path: "D/F", access: Access::Create }, Reason::Exists),
            (Call::Open { path: "X/F", access: Access::Create }, Reason::Missing),
            (Call::MakeDirectory { path: "D" }, Reason::Exists),
            (Call::RemoveDirectory { path: "D" }, Reason::Exists),
            (Call::RemoveDirectory { path: "X" }, Reason::Missing),
            (Call::CheckDirectory { path: "D/F" }, Reason::Missing),
            (Call::Remove { path: "NONE" }, Reason::Missing),
            (Call::Rename { from: "NONE", to: "N" }, Reason::Missing),
            (Call::Rename { from: "D", to: "d/f" }, Reason::Exists),
            (Call::Open { path: "a:b", access: Access::Read }, Reason::Name),
            (Call::Open { path: "a.", access: Access::Read }, Reason::Name),
            (Call::Open { path: "a\u{1}b", access: Access::Read }, Reason::Name),
            (Call::Open { path: "a long name", access: Access::Read }, long),
            (Call::Open { path: "A.TEXT", access: Access::Read }, long),
            (Call::Open { path: "A+B", access: Access::Read }, long),
            (Call::Open { path: "A.B.C", access: Access::Read }, long),
            (Call::Open { path: "NINECHARS", access: Access::Read }, long),
            (Call::Open { path: "EIGHTCHA.TXT", access: Access::Read }, Reason::Missing),
        ] {
            let refused = both.call(call).unwrap_err();
            assert_eq!(refused.reason, reason, "{dialect:?} {call:?} {refused}");
        }
        let (mut both, _) = Both::connect(client(Some(dialect), "Secret-1"), &read_only);
        for call in [
            Call::Open { path: "F", access: Access::Create },
            Call::Open { path: "F", access: Access::Replace },
            Call::MakeDirectory { path: "D" },
        ] {
            let refused = both.call(call).unwrap_err();
            let expected =
                if matches!(call, Call::MakeDirectory { .. }) && refused.reason == Reason::Exists {
                    // DOS has one code for what may not be done and for what is there.
                    assert!(dialect < Dialect::Nt);
                    Reason::Exists
                } else {
                    Reason::Denied
                };
            assert_eq!(refused.reason, expected, "{dialect:?} {call:?}");
        }
    }
}

#[test]
fn guest_and_code_page_names_are_sent_unchanged() {
    let open = Server::new(Offer { user: None, ..offer() });
    for (dialect, login) in [
        (Dialect::Core, "PC NETWORK PROGRAM 1.0, no login"),
        (Dialect::LanMan1, "LANMAN1.0, no login"),
        (Dialect::LanMan2, "LM1.2X002, no login"),
        (Dialect::Nt, "NT LM 0.12, no login"),
    ] {
        let guest = Client::new(Plan { user: None, ..plan(Some(dialect), "") });
        let (mut both, outcome) = Both::connect(guest, &open);
        assert_eq!(outcome, Some(Ok(Done::Nothing)));
        let facts = both.client.facts().unwrap().clone();
        assert_eq!(facts.protocol, format!("SMB 1, {login}"));
        let server = if dialect == Dialect::Core { None } else { Some("lanlab") };
        assert_eq!((facts.server.as_deref(), facts.protection.as_str()), (server, "none"));
        let small = 16_644 - 64;
        let (most, largest, depth) = match dialect {
            Dialect::Nt => (60 << 10, u64::MAX, 50),
            Dialect::Core => (small / 512 * 512, u64::from(u32::MAX), 1),
            _ => (small / 512 * 512, u64::from(u32::MAX), 50),
        };
        assert_eq!((facts.read_bytes, facts.write_bytes), (most, most), "{dialect:?}");
        assert_eq!((facts.largest_file_bytes, facts.depth), (largest, depth), "{dialect:?}");
        assert_eq!(facts.short_names, dialect < Dialect::LanMan2);
        if facts.short_names {
            continue;
        }
        // `ä` is 0x84 in code page 850, `Ä` 0x8e.
        let (file, _, _) = both.opened("ä", Access::Create);
        both.call(Call::Close { file }).unwrap();
        let listed = both.call(Call::List { path: "" }).unwrap();
        let Done::Listed(listed) = listed else { panic!() };
        assert_eq!(listed[0].name, "ä", "{dialect:?}");
    }
}
