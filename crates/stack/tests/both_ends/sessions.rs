//! From the offer of dialects to the share: whole answers, and how much a session may hold.

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::file_server::{FileServer, Remark};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::server::{Offer, Server};
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::command as c;
use lanlab_wire::smb1::header::{Header, flags2};
use lanlab_wire::smb1::negotiate::{NtLm, Response, Security, dialect};
use lanlab_wire::smb1::status::error;

use super::answers::{no, yes};
use super::both::{CARRIER, MemoryFiles, Served, offer, server};
use super::raw::Raw;

/// A client that has said nothing, at a server over this carrier.
pub fn silent(server: &Server, carrier: CarrierFacts) -> Raw {
    let session = server.session(carrier, [3; 8], 0x01d0_0000_0000_0000);
    Raw {
        served: Served { session, files: MemoryFiles::default(), asked: vec![] },
        tid: 0,
        uid: 0,
        mid: 0,
    }
}

fn names(names: &[&str]) -> Vec<u8> {
    names.iter().flat_map(|name| [b"\x02", name.as_bytes(), b"\0"].concat()).collect()
}

/// The session's time as DOS has it: 14 November 2014, 11:41:59.
const NOW: [u16; 2] = [(11 << 11) + (41 << 5) + 29, ((2014 - 1980) << 9) + (11 << 5) + 14];

#[test]
fn the_newest_common_dialect_is_chosen() {
    let open = Server::new(Offer { user: None, ..offer() });
    // Users and a challenge of 8 octets where there is a user; raw reads and writes.
    let known = |index, mode, len| [index, mode, 16_644, 50, 1, 3, 0, 0, NOW[0], NOW[1], 0, len, 0];
    for (offered, known_index, is_core) in [
        (&["PC NETWORK PROGRAM 1.0"][..], 0, true),
        (&["X", "PCLAN1.0"], 1, true),
        (&["PC NETWORK PROGRAM 1.0", "MICROSOFT NETWORKS 1.03"], 1, false),
        (&["MICROSOFT NETWORKS 3.0", "PC NETWORK PROGRAM 1.0"], 0, false),
        (&["LANMAN1.0", "MICROSOFT NETWORKS 3.0"], 0, false),
        (&["LANMAN1.0", "LM1.2X002"], 1, false),
        (&["LANMAN1.0", "DOS LM1.2X002"], 1, false),
        (&["LANMAN2.1", "LM1.2X002"], 0, false),
        (&["DOS LANMAN2.1", "LM1.2X002"], 0, false),
    ] {
        for (server, mode, challenge) in [(server(), 3, &[3; 8][..]), (open.clone(), 0, &[])] {
            let mut raw = silent(&server, CARRIER);
            let found = raw.say(c::NEGOTIATE, &[], &names(offered));
            // Core plus says what LAN Manager does, and knows no users.
            let expected = if is_core {
                yes(&[known_index], b"")
            } else if offered.contains(&dialect::CORE_PLUS) {
                yes(&known(known_index, 0, 0), b"")
            } else {
                yes(&known(known_index, mode, challenge.len() as u16), challenge)
            };
            assert_eq!(found, expected, "{offered:?}");
            // Once in the life of a connection.
            let again = raw.say(c::NEGOTIATE, &[], &names(offered));
            assert_eq!(again, no(error::NON_SPECIFIC));
        }
    }
    let mut raw = silent(&server(), CARRIER);
    assert_eq!(raw.say(c::NEGOTIATE, &[], &names(&["X", "SMB 2.002"])), yes(&[0xffff], b""));
    // Nothing is answered before there is a dialect.
    assert_eq!(raw.say_all(c::ECHO, &[1], b""), []);
    assert!(raw.served.session.is_over());
    // Carriers have shorter messages and no raw data, servers of their time too.
    let packets = CarrierFacts { longest_message: 1000, keeps_raw: false, is_one_at_a_time: true };
    for (server, carrier, buffer, raw_mode) in [
        (server(), packets, 1000, 0),
        (server().taking(900), packets, 900, 0),
        (server().taking(900), CARRIER, 900, 3),
        (server(), CarrierFacts { longest_message: 16_643, ..CARRIER }, 16_643, 3),
        (server(), CarrierFacts { longest_message: 16_645, ..CARRIER }, 16_644, 3),
    ] {
        let said = silent(&server, carrier).say(c::NEGOTIATE, &[], &names(&["LANMAN1.0"]));
        assert_eq!((said.1[2], said.1[5]), (buffer, raw_mode));
    }
    let only = Server::new(Offer { dialects: Dialect::Core..=Dialect::LanMan1, ..offer() });
    let found = silent(&only, CARRIER).say(c::NEGOTIATE, &[], &names(&["LM1.2X002", "LANMAN1.0"]));
    assert_eq!(found.1[0], 1);
}

/// What a server says in the dialect of Windows NT.
fn nt(server: &Server, carrier: CarrierFacts, flags2: u16) -> (Raw, Vec<u8>) {
    let mut raw = silent(server, carrier);
    let header = Header::request(c::NEGOTIATE, 0, flags2);
    let octets = names(&[dialect::NT_LM]);
    let mut message = header.emit().to_vec();
    message.extend_from_slice(&[0, octets.len() as u8, 0]);
    message.extend_from_slice(&octets);
    let answer = raw.served.answer(&message).remove(0);
    (raw, answer)
}

fn parsed(answer: &[u8]) -> NtLm<'_> {
    let header = Header::parse(answer).unwrap();
    match Response::parse(&Block::first(&header, answer).unwrap()).unwrap() {
        Response::NtLm(response) => response,
        other => panic!("{other:?}"),
    }
}

#[test]
fn nt_lm_0_12_reports_server_and_carrier_capabilities() {
    let open = Server::new(Offer { user: None, ..offer() });
    // [MS-CIFS] 2.2.4.52.2: raw 1, multiplexed 2, Unicode 4, large files 8, NT SMBs 0x10, status 0x40, NT find 0x200, and
    // [MS-SMB] 2.2.4.5.2.1: large reads and writes 0xc000.
    let all = 0xc25f;
    let packets = CarrierFacts { longest_message: 1000, keeps_raw: false, is_one_at_a_time: true };
    let edge = |longest_message| CarrierFacts { longest_message, ..CARRIER };
    for (server, carrier, mode, buffer, capabilities) in [
        (server(), CARRIER, 7, 16_644, all),
        (open.clone(), CARRIER, 3, 16_644, all),
        (server().requiring_signatures(), CARRIER, 15, 16_644, all & !1),
        (server(), packets, 7, 1000, 0x25e),
        (server(), edge(16_644), 7, 16_644, 0x25f),
        (server(), edge(16_645), 7, 16_644, all),
    ] {
        let (_, answer) = nt(&server, carrier, flags2::NT_STATUS);
        let found = parsed(&answer);
        assert_eq!(
            (found.index, found.security_mode, found.max_mpx, found.max_vcs),
            (0, mode, 50, 1)
        );
        assert_eq!((found.max_buffer, found.max_raw, found.session_key), (buffer, 65_535, 0));
        assert_eq!(found.capabilities, capabilities);
        assert_eq!((found.time, found.timezone_min), (0x01d0_0000_0000_0000, 0));
        let Security::Challenge { challenge, domain, server } = found.security else { panic!() };
        assert_eq!((challenge, domain.octets()), (&[3; 8][..], &b"WORKGROUP"[..]));
        assert_eq!(server.unwrap().octets(), b"SERVER");
    }
    let (_, answer) = nt(&server(), CARRIER, flags2::NT_STATUS | flags2::UNICODE);
    let Security::Challenge { server, .. } = parsed(&answer).security else { panic!() };
    assert_eq!(server.unwrap().octets(), b"S\0E\0R\0V\0E\0R\0");
    let extended = flags2::NT_STATUS | flags2::EXTENDED_SECURITY;
    let (_, answer) = nt(&server_of("a name longer than 16"), CARRIER, extended);
    let Security::Extended { guid, blob } = parsed(&answer).security else { panic!() };
    // What Samba 4.17 sends, without its hint; the identifier is the name, as far as it goes.
    let expected = "601c06062b0601050502a0123010a00e300c060a2b06010401823702020a";
    assert_eq!((guid, hex::encode(blob)), (*b"a name longer th", expected.to_owned()));
}

fn server_of(name: &str) -> Server {
    Server::new(Offer { name: name.into(), ..offer() })
}

#[test]
fn sessions_bound_their_files_and_searches() {
    let open = Server::new(Offer { user: None, ..offer() });
    let mut raw = Raw::negotiated(&open, &["FILE"], dialect::NT_LM);
    // Users: sixteen.
    let login = [0xff, 0, 4096, 2, 0, 0, 0, 1, 0, 0];
    let enter = |raw: &mut Raw| raw.say(c::SESSION_SETUP_ANDX, &login, b"\0ME\0D\0U\0L\0");
    let users: Vec<_> = (0..17).map(|_| enter(&mut raw).0).collect();
    assert_eq!(users.iter().filter(|status| **status == "success").count(), 16);
    assert_eq!(users[16], error::TOO_MANY_SESSIONS.name);
    let mut raw = Raw::negotiated(&open, &["FILE"], dialect::NT_LM);
    raw.log_in();
    // Connections to the share: 32, and none is lost by a refusal.
    let connect = |raw: &mut Raw| {
        let octets = b"\0\\\\S\\SHARE\0A:\0";
        raw.say(c::TREE_CONNECT_ANDX, &[0xff, 0, 0, 1], octets).0
    };
    let trees: Vec<_> = (0..33).map(|_| connect(&mut raw)).collect();
    assert_eq!(trees.iter().filter(|status| **status == "success").count(), 32);
    assert_eq!(trees[32], error::INSUFFICIENT_RESOURCES.name);
    raw.tid = 2;
    assert_eq!(raw.say(c::TREE_DISCONNECT, &[], b""), yes(&[], b""));
    assert_eq!(connect(&mut raw), "success");
    raw.tid = 3;
    // Open files: 256.
    let opens: Vec<_> = (0..257).map(|_| raw.say(c::OPEN, &[0x40, 0], b"\x04FILE\0")).collect();
    assert!(opens[..256].iter().all(|said| said.0 == "success"));
    assert_eq!(opens[256], no(error::TOO_MANY_OPENED_FILES));
    let mut fids: Vec<_> = opens[..256].iter().map(|said| said.1[0]).collect();
    fids.sort_unstable();
    fids.dedup();
    assert_eq!((fids.len(), open.open_files()), (256, 256));
    assert_eq!(raw.say(c::TREE_DISCONNECT, &[], b""), yes(&[], b""));
    assert_eq!(open.open_files(), 0, "what the connection had open is closed");
    raw.tid = 4;
    // Searches: 32; the one that was not used for longest makes room.
    let search = |raw: &mut Raw, octets: &[u8]| raw.say(c::SEARCH, &[1, 0], octets);
    let begin = |raw: &mut Raw| search(raw, b"\x04*.*\0\x05\0\0").2[3..24].to_vec();
    let on = |raw: &mut Raw, key: &[u8]| search(raw, &[&[4, 0, 5, 21, 0], key].concat()).0;
    raw.make("FILE2");
    raw.make("FILE3");
    let keys: Vec<_> = (0..32).map(|_| begin(&mut raw)).collect();
    assert_eq!(on(&mut raw, &keys[0]), "success");
    begin(&mut raw);
    assert_eq!(on(&mut raw, &keys[1]), error::NO_MORE_FILES.name);
    for at in [0, 2, 31] {
        assert_eq!(on(&mut raw, &keys[at]), "success", "{at}");
    }
}

#[test]
fn share_passwords_are_checked_ignoring_case() {
    for (password, expected) in [
        (&b"\x04SECRET-1\0"[..], Ok(())),
        (b"\x04secret-1\0", Ok(())),
        (b"\x04SECRET-2\0", Err(error::WRONG_PASSWORD)),
        (b"\x04SECRET-\0", Err(error::WRONG_PASSWORD)),
        (b"\x04\0", Err(error::WRONG_PASSWORD)),
    ] {
        let mut raw = Raw::negotiated(&server(), &[], dialect::CORE);
        let octets = [b"\x04\\\\S\\SHARE\0", password, b"\x04A:\0"].concat();
        let found = raw.say(c::TREE_CONNECT, &[], &octets);
        let (failed, is_known) =
            (raw.served.session.failed_logins(), raw.served.session.is_known());
        match expected {
            Ok(()) => {
                assert_eq!(found, yes(&[16_644, 1], b""));
                assert_eq!((failed, is_known), (0, true));
            }
            Err(row) => {
                assert_eq!(found, no(row));
                assert_eq!((failed, is_known), (1, false));
            }
        }
    }
    // The newer commands of LAN Manager are not of the core dialect.
    let mut raw = Raw::new(&server(), &[]);
    for command in [c::TREE_CONNECT_ANDX, c::LOGOFF_ANDX, c::TRANSACTION2] {
        let words = [0xff, 0, 0, 1];
        let count = if command == c::LOGOFF_ANDX { 2 } else { 4 };
        let found = raw.say(command, &words[..count], b"\0\\\\S\\SHARE\0A:\0");
        assert_eq!(found, no(error::SMB_BAD_COMMAND), "{command:#x}");
    }
}

#[test]
fn login_replies_name_the_server_and_mark_guests() {
    let open = Server::new(Offer { user: None, ..offer() });
    let login = [0xff, 0, 4096, 2, 0, 0, 0, 1, 0, 0];
    let mut raw = Raw::negotiated(&open, &[], dialect::LANMAN1);
    // By any name, as no password is asked for.
    for user in [&b"\0ME\0D\0U\0L\0"[..], b"\0\0\0U\0L\0"] {
        let found = raw.say(c::SESSION_SETUP_ANDX, &login, user);
        assert_eq!(found, yes(&[0xff, 0, 1], b"lanlab\0lanlab\0"));
    }
    // Windows NT says its domain, too.
    let mut raw = Raw::negotiated(&open, &[], dialect::NT_LM);
    let found = raw.say(c::SESSION_SETUP_ANDX, &login, b"\0ME\0D\0U\0L\0");
    assert_eq!(found, yes(&[0xff, 0, 1], b"lanlab\0lanlab\0WORKGROUP\0"));
    // A client's buffer counts from 512 octets to what the server takes: reads are as long as it holds.
    for (buffer, read) in [(0, 512 - 64), (511, 512 - 64), (1000, 1000 - 64), (0xffff, 16_644 - 64)]
    {
        let mut raw = Raw::negotiated(&open, &[], dialect::LANMAN1);
        raw.fill("FILE", &vec![1; 17_000]);
        let login = [0xff, 0, buffer, 2, 0, 0, 0, 1, 0, 0];
        raw.say(c::SESSION_SETUP_ANDX, &login, b"\0ME\0D\0U\0L\0");
        raw.connect();
        let fid = raw.say(c::OPEN, &[0x40, 0], b"\x04FILE\0").1[0];
        let found = raw.say(c::READ, &[fid, 0xffff, 0, 0, 0], b"");
        assert_eq!(found.1[0], read, "{buffer}");
        let andx = [0xff, 0, fid, 0, 0, 0xffff, 0, 0, 0, 0];
        let found = raw.say(c::READ_ANDX, &andx, b"");
        assert_eq!(found.1[5], read, "{buffer}");
    }
    // In the dialect of Windows NT reads are as long as 64 KiB.
    let mut raw = Raw::negotiated(&open, &[], dialect::NT_LM);
    raw.fill("FILE", &vec![1; 70_000]);
    raw.log_in();
    raw.connect();
    let fid = raw.say(c::OPEN, &[0x40, 0], b"\x04FILE\0").1[0];
    for (low, high, expected) in [(0xffff, 0, 0xffff), (0, 1, 0x1_0000), (1, 1, 0x1_0000)] {
        let andx = [0xff, 0, fid, 0, 0, low, 0, high, 0, 0];
        let (words, octets) = read_long(&mut raw, &andx);
        let count = u32::from(words[5]) | u32::from(words[7]) << 16;
        assert_eq!((count, octets), (expected, expected as usize), "{low} {high}");
    }
}

/// A read whose data may be longer than its count of octets can say.
fn read_long(raw: &mut Raw, words: &[u16; 10]) -> (Vec<u16>, usize) {
    raw.mid += 1;
    let (tid, uid, mid) = (raw.tid, raw.uid, raw.mid);
    let header = Header { tid, uid, mid, ..Header::request(c::READ_ANDX, 0, flags2::NT_STATUS) };
    let mut message = header.emit().to_vec();
    message.push(10);
    message.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    message.extend_from_slice(&[0, 0]);
    let answer = raw.served.answer(&message).remove(0);
    let words: Vec<u16> =
        answer[33..57].chunks(2).map(|word| u16::from_le_bytes([word[0], word[1]])).collect();
    let at = usize::from(words[6]);
    (words, answer.len() - at)
}

/// Before Windows NT a share's password makes a user of any number, of whom there are sixteen.
#[test]
fn a_client_with_the_share_password_is_a_user() {
    let mut raw = Raw::negotiated(&server(), &["FILE"], dialect::LANMAN1);
    let open = |raw: &mut Raw| raw.say(c::OPEN, &[0x40, 0], b"\x04FILE\0").0;
    let share = b"\x04\\\\S\\SHARE\0\x04SECRET-1\0\x04A:\0";
    for uid in 100..117 {
        raw.uid = uid;
        raw.tid = 0;
        assert_eq!(open(&mut raw), error::SMB_BAD_UID.name, "{uid}");
        let connected = raw.say(c::TREE_CONNECT, &[], share);
        if uid == 116 {
            assert_eq!(connected, no(error::TOO_MANY_SESSIONS));
            break;
        }
        assert_eq!(connected.0, "success");
        // Once more no password is looked at.
        let again = raw.say(c::TREE_CONNECT, &[], b"\x04\\\\S\\SHARE\0\x04\0\x04A:\0");
        assert_eq!(again.0, "success", "{uid}");
        raw.tid = connected.1[1];
        assert_eq!(open(&mut raw), "success", "{uid}");
    }
    assert_eq!(raw.served.session.failed_logins(), 0);
    // Of Windows NT on users log in before that.
    let mut raw = Raw::negotiated(&server(), &[], dialect::NT_LM);
    assert_eq!(raw.say(c::TREE_CONNECT, &[], share), no(error::SMB_BAD_UID));
}

/// What who runs the server hears of its clients, in their order, each once.
#[test]
fn a_server_logs_clients_and_refusals() {
    let remarks =
        |raw: &Raw| std::iter::from_fn(|| raw.served.session.poll_remark()).collect::<Vec<_>>();
    let core = dialect::CORE;
    let read_only = Server::new(Offer { read_only: true, ..offer() });
    let mut raw = Raw::negotiated(&read_only, &[], core);
    let wrong = b"\x04\\\\S\\SHARE\0\x04WRONG\0\x04A:\0";
    raw.say(c::TREE_CONNECT, &[], wrong);
    raw.say(c::TREE_CONNECT, &[], b"\x04\\\\S\\OTHER\0\x04\0\x04A:\0");
    raw.connect();
    raw.say(c::CREATE_DIRECTORY, &[], b"\x04D\0");
    let expected = [
        Remark::WrongPassword { user: None, dialect: core },
        Remark::Refused("the share `OTHER`: `share` is served".into()),
        Remark::SharePassword { dialect: core },
        Remark::ReadOnly,
    ];
    assert_eq!(remarks(&raw), expected);
    assert_eq!(remarks(&raw), []);
    let mut raw = Raw::negotiated(&server(), &[], dialect::LANMAN1);
    let login = [0xff, 0, 4096, 2, 0, 0, 0, 3, 0, 0];
    raw.say(c::SESSION_SETUP_ANDX, &login, b"xyzME\0D\0U\0L\0");
    let remark = Remark::WrongPassword { user: Some("ME".into()), dialect: dialect::LANMAN1 };
    assert_eq!(remarks(&raw), [remark]);
    let raw = Raw::negotiated(&server(), &[], "SMB 2.002");
    assert_eq!(remarks(&raw), [Remark::Refused("a client whose dialects are not served".into())]);
}
