//! Whole requests of the redirector, as dissector `ncp` of Wireshark reads them, and what it makes of replies that a test
//! writes: a completion code, and what stands behind it.

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::ncp::client::{Client, Plan, User};
use lanlab_stack::redirector::{
    Access, Call, CallId, Done, FileId, Listed, Reason, Redirector, RedirectorFacts, Refusal,
};
use lanlab_wire::ncp::burst::{Accepted, Limits, Offer};
use lanlab_wire::ncp::completion as c;

/// A packet of 1,500 octets has 37 around a message.
const CARRIER: CarrierFacts =
    CarrierFacts { longest_message: 1463, keeps_raw: false, is_one_at_a_time: true };

fn plan() -> Plan {
    Plan {
        volume: "sys".into(),
        user: Some(User { name: "joe".into(), password: "secret".into() }),
        most_data_bytes: 1024,
        large_packets: false,
        burst_packets: None,
        carrier: CARRIER,
    }
}

struct Asked {
    client: Client,
}

impl Asked {
    fn next(&mut self) -> Vec<u8> {
        let mut message = Vec::new();
        assert!(self.client.poll_message(&mut message), "a request");
        assert!(!self.client.poll_message(&mut Vec::new()), "one at a time");
        message
    }

    fn reply(&mut self, code: u8, reply: &[u8]) {
        self.client.handle_message(&mut [&[code], reply].concat());
    }

    fn done(&mut self) -> (CallId, Result<Done, Refusal>) {
        self.client.poll_done(&mut Vec::new()).expect("a call that has ended")
    }

    fn request(&mut self, call: Call<'_>) -> Vec<u8> {
        self.client.call(call);
        self.next()
    }

    fn outcome(&mut self, code: u8, reply: &[u8]) -> Result<Done, Reason> {
        self.reply(code, reply);
        self.done().1.map_err(|refusal| refusal.reason)
    }
}

/// What a server says of itself: its name and version.
fn information(version: [u8; 2]) -> Vec<u8> {
    let mut known = b"SRV".to_vec();
    known.resize(48, 0);
    known.extend(version);
    known.resize(128, 0);
    known
}

/// A session with a server of this version that takes `octets` of data, and packets of `packet` octets.
fn connected(
    plan: Plan,
    version: [u8; 2],
    octets: u16,
    packet: u16,
) -> (Asked, Option<RedirectorFacts>) {
    let wants_packets = plan.large_packets;
    let mut asked = Asked { client: Client::new(plan) };
    assert_eq!(asked.next()[0], 0x21);
    asked.reply(c::OK, &octets.to_be_bytes());
    if octets == 0 {
        return (asked, None);
    }
    assert_eq!(asked.next(), [0x17, 0, 1, 0x11]);
    asked.reply(c::OK, &information(version));
    let mut request = asked.next();
    let is_new = version >= [3, 11];
    assert_eq!(request[0] == 0x61, wants_packets && is_new, "{version:?}");
    if request[0] == 0x61 {
        assert_eq!(request, [0x61, 5, 0xdc, 0], "1,500 octets are proposed");
        asked.reply(c::OK, &[&packet.to_be_bytes()[..], &[0x40, 2, 0]].concat());
        request = asked.next();
    }
    assert_eq!(request, [0x17, 0, 1, 0x17]);
    asked.reply(c::UNSUPPORTED, b"");
    // Without keys the name and the password go in upper case, as a user.
    assert_eq!(asked.next(), b"\x17\0\x0e\x14\0\x01\x03JOE\x06SECRET");
    asked.reply(c::OK, b"");
    assert_eq!(asked.next(), b"\x16\0\x08\x12\0F\x04SYS:");
    asked.reply(c::OK, &[5, 0xff]);
    assert_eq!(asked.done(), (Client::CONNECTED, Ok(Done::Nothing)));
    let facts = asked.client.facts().cloned();
    (asked, facts)
}

/// A part of a burst has 66 bytes around it: 1,434 of a packet of 1,500. A reply has 8 bytes before the data that is
/// read, and a request 24 before the data that is written.
#[test]
fn bursts_are_as_long_as_both_ends_allow_and_netware_s_if_the_server_states_no_limit() {
    let limits = |most_sent, most_taken| Some(Limits { most_sent, most_taken });
    for (packets, limits, expected) in [
        ((64, 64), None, (24 * 1_434 - 8, 10 * 1_434 - 24)),
        ((64, 64), limits(60_000, 20_000), (59_992, 19_976)),
        ((64, 64), limits(u32::MAX, u32::MAX), (65_528, 65_512)),
        ((24, 10), limits(u32::MAX, u32::MAX), (24 * 1_434 - 8, 10 * 1_434 - 24)),
        ((2, 3), None, (2 * 1_434 - 8, 3 * 1_434 - 24)),
    ] {
        let plan = Plan { burst_packets: Some(packets), ..plan() };
        let mut asked = Asked { client: Client::new(plan) };
        asked.next();
        asked.reply(c::OK, &1_024_u16.to_be_bytes());
        asked.next();
        asked.reply(c::OK, &information([3, 12]));
        let offer = asked.next();
        let offer = (offer[0], Offer::parse(&offer[1..]).unwrap());
        let most = |packets: u32| (packets * 1_434).min(1 << 16);
        let (most_taken, most_sent) = (most(packets.0), most(packets.1));
        let expected_offer = Offer { packet: 1_500, most_sent, most_taken, ..Offer::default() };
        assert_eq!(offer, (0x65, expected_offer));
        let mut reply = vec![];
        Accepted { connection: 1, packet: 1_500 }.emit(&mut reply);
        if let Some(limits) = limits {
            limits.emit(&mut reply);
        }
        asked.reply(c::OK, &reply);
        for reply in [(c::UNSUPPORTED, &[][..]), (c::OK, &[]), (c::OK, &[5, 0xff])] {
            asked.next();
            asked.reply(reply.0, reply.1);
        }
        let facts = asked.client.facts().unwrap();
        assert_eq!((facts.read_bytes, facts.write_bytes), expected, "{packets:?} {limits:?}");
    }
}

#[test]
fn data_size_is_limited_by_both_ends_and_the_packet() {
    for (wanted, longest, octets, expected) in [
        (1024, 1463, 512, 512),
        (1024, 1463, 2048, 1024),
        (600, 1463, 1024, 600),
        // A function and 13 octets stand before the data of a write.
        (1024, 1000, 1024, 986),
    ] {
        let carrier = CarrierFacts { longest_message: longest, ..CARRIER };
        let plan = Plan { most_data_bytes: wanted, carrier, ..plan() };
        let (asked, facts) = connected(plan, [3, 12], octets, 0);
        let facts = facts.unwrap();
        assert_eq!((facts.read_bytes, facts.write_bytes, facts.depth), (expected, expected, 1));
        assert_eq!((facts.largest_file_bytes, facts.short_names), (0xffff_ffff, true));
        assert_eq!((facts.server.as_deref(), facts.protection.as_str()), (Some("SRV"), "none"));
        assert_eq!(facts.protocol, "NCP, NetWare 3.12, login with a plain password");
        assert_eq!(asked.client.protocol(), "NCP");
    }
    // Packets are longer from 3.11 on: 51 octets are around data.
    let large = Plan { large_packets: true, ..plan() };
    for (version, packet, expected) in [
        ([3, 12], 1500, 1449),
        ([3, 11], 1400, 1349),
        ([3, 11], 4202, 1449),
        ([3, 12], 576, 1024),
        ([3, 10], 1500, 1024),
        ([2, 15], 1500, 1024),
        ([4, 0], 1500, 1449),
    ] {
        let (_, facts) = connected(large.clone(), version, 1024, packet);
        assert_eq!(facts.unwrap().read_bytes, expected, "{version:?} {packet}");
    }
    let (mut asked, _) = connected(plan(), [3, 12], 0, 0);
    let refused = asked.done().1.unwrap_err();
    assert_eq!(refused.message, "the server takes data of 0 octets");
    // Nothing more is possible.
    asked.client.call(Call::Echo);
    assert_eq!(asked.done().1.unwrap_err(), refused);
}

fn entry(name: &[u8], attributes: u8, size: u32) -> Vec<u8> {
    let mut entry = name.to_vec();
    entry.resize(14, 0);
    [&entry[..], &[attributes, 0], &size.to_be_bytes(), &[0; 8]].concat()
}

fn opened(size: u32) -> Vec<u8> {
    [&[0, 1, 2, 3, 4, 5, 0, 0][..], &entry(b"F", 0x20, size)].concat()
}

#[test]
fn requests_have_the_documented_layout() {
    let (mut asked, _) = connected(plan(), [2, 15], 1024, 0);
    let mut file = FileId(0);
    for (access, expected) in [
        (Access::Create, &b"\x4d\x05\0\x07D\\F.TXT"[..]),
        (Access::Replace, b"\x43\x05\0\x07D\\F.TXT"),
        (Access::Read, b"\x4c\x05\x06\x01\x07D\\F.TXT"),
        (Access::Update, b"\x4c\x05\x06\x03\x07D\\F.TXT"),
    ] {
        let request = asked.request(Call::Open { path: "/d/f.txt", access });
        assert_eq!(request, expected, "{access:?}");
        let Ok(Done::Opened { file: one, size_bytes }) = asked.outcome(c::OK, &opened(77)) else {
            panic!()
        };
        assert_eq!(size_bytes, 77);
        assert_ne!(one, file);
        file = one;
    }
    let handle = [0, 1, 2, 3, 4, 5];
    let of_file = |function: u8| [&[function, 0], &handle[..]].concat();
    // None goes beyond a block of the server's cache, here of 1,024 octets.
    for (offset, count, asked_for) in [
        (0, 5000, 1024_u16),
        (1000, 5000, 24),
        (1024, 10, 10),
        (2047, 2, 1),
        (0x1_0001, 1023, 1023),
    ] {
        let request = asked.request(Call::Read { file, offset, count });
        let place = [&(offset as u32).to_be_bytes()[..], &asked_for.to_be_bytes()].concat();
        assert_eq!(request, [&of_file(0x48)[..], &place].concat(), "{offset}");
        // From an odd place on an octet stands before the data.
        let pad = usize::from(offset % 2 == 1);
        let reply = [&[0, 1][..], &vec![9; pad], b"x"].concat();
        assert_eq!(asked.outcome(c::OK, &reply), Ok(Done::Read(3 + pad..4 + pad)), "{offset}");
        asked.client.call(Call::Read { file, offset, count });
        asked.next();
        let many = asked_for + 1;
        let reply = [&many.to_be_bytes()[..], &vec![9; pad + usize::from(many)]].concat();
        assert_eq!(asked.outcome(c::OK, &reply), Err(Reason::Protocol), "{offset}");
        asked.client.call(Call::Read { file, offset, count });
        asked.next();
        assert_eq!(asked.outcome(c::OK, &[0, 0]), Ok(Done::Read(0..0)));
    }
    let data = [7; 3000];
    for (offset, cut, expected) in
        [(0, 0, 1024), (0, 1000, 1024), (1000, 10, 24), (1000, 30, 24), (0, 1025, 1024)]
    {
        let parts = [&data[..cut], &data[cut..]];
        let request = asked.request(Call::Write { file, offset, parts });
        let place = [&(offset as u32).to_be_bytes()[..], &(expected as u16).to_be_bytes()].concat();
        assert_eq!(
            request,
            [&of_file(0x49)[..], &place, &data[..expected]].concat(),
            "{offset} {cut}"
        );
        assert_eq!(asked.outcome(c::OK, b""), Ok(Done::Written(expected as u32)));
    }
    // To write nothing would cut the file.
    asked.client.call(Call::Write { file, offset: 9, parts: [b"", b""] });
    assert_eq!(asked.done().1, Ok(Done::Written(0)));
    for (offset, count) in [(0xffff_ffff_u64, 1), (1 << 32, 1), (u64::MAX, 1)] {
        asked.client.call(Call::Read { file, offset, count });
        assert_eq!(asked.done().1.unwrap_err().reason, Reason::Unsupported);
    }
    assert_eq!(asked.request(Call::Read { file, offset: 0xffff_fffe, count: 1 })[0], 0x48);
    assert_eq!(asked.outcome(c::OK, &[0, 0]), Ok(Done::Read(0..0)));
    for (call, expected) in [
        (Call::Flush { file }, of_file(0x3b)),
        (Call::Remove { path: "f.txt" }, b"\x44\x05\x06\x05F.TXT".to_vec()),
        (Call::MakeDirectory { path: "d" }, b"\x16\0\x05\x0a\x05\xff\x01D".to_vec()),
        (Call::RemoveDirectory { path: "d" }, b"\x16\0\x05\x0b\x05\0\x01D".to_vec()),
        (Call::Rename { from: "a", to: "d/b" }, b"\x45\x05\x06\x01A\x05\x03D\\B".to_vec()),
        (Call::Echo, vec![0x14]),
        (Call::End, vec![0x19]),
        (Call::Close { file }, of_file(0x42)),
    ] {
        assert_eq!(asked.request(call), expected, "{call:?}");
        assert_eq!(asked.outcome(c::OK, b""), Ok(Done::Nothing), "{call:?}");
    }
    asked.client.call(Call::Close { file });
    assert_eq!(asked.done().1.unwrap_err().message, "no such open file");
    // A directory is looked at by a handle for it, which is given back.
    assert_eq!(asked.request(Call::CheckDirectory { path: "d" }), b"\x16\0\x05\x13\x05[\x01D");
    asked.reply(c::OK, &[9, 0xff]);
    assert_eq!(asked.next(), [0x16, 0, 2, 0x14, 9]);
    assert_eq!(asked.outcome(c::OK, b""), Ok(Done::Nothing));
    asked.request(Call::CheckDirectory { path: "d" });
    assert_eq!(asked.outcome(c::NO_SUCH_PATH, b""), Err(Reason::Missing));
    asked.request(Call::CheckDirectory { path: "d" });
    assert_eq!(asked.outcome(c::OK, &[9]), Err(Reason::Protocol));
    // What is no file may be a directory, which has a function of its own, and stays where it is.
    asked.request(Call::Rename { from: "d/a", to: "D/b" });
    asked.reply(c::FAILED, b"");
    assert_eq!(asked.next(), b"\x16\0\x08\x0f\x05\x03D\\A\x01B");
    assert_eq!(asked.outcome(c::OK, b""), Ok(Done::Nothing));
    asked.request(Call::Rename { from: "d/a", to: "b" });
    assert_eq!(asked.outcome(c::FAILED, b""), Err(Reason::Missing));
    asked.request(Call::Rename { from: "a", to: "b" });
    assert_eq!(asked.outcome(c::NAMES_EXIST, b""), Err(Reason::Exists));
}

#[test]
fn listings_request_files_then_directories() {
    let (mut asked, _) = connected(plan(), [2, 15], 1024, 0);
    let found = |place: u16, entry: &[u8]| [&place.to_be_bytes()[..], &[0, 0], entry].concat();
    let search = |after: u16, attributes: u8| {
        [&[0x40][..], &after.to_be_bytes(), &[5, attributes, 3], b"D\\*"].concat()
    };
    assert_eq!(asked.request(Call::List { path: "d" }), search(0xffff, 6));
    asked.reply(c::OK, &found(3, &entry(b"A.TXT", 0x20, 9)));
    assert_eq!(asked.next(), search(3, 6));
    // One of the other kind is not counted twice.
    asked.reply(c::OK, &found(4, &entry(b"SUB", 0x10, 0)));
    assert_eq!(asked.next(), search(4, 6));
    asked.reply(c::FAILED, b"");
    assert_eq!(asked.next(), search(0xffff, 0x16));
    asked.reply(c::OK, &found(0, &entry(b".", 0x10, 0)));
    assert_eq!(asked.next(), search(0, 0x16));
    asked.reply(c::OK, &found(4, &entry(b"Sub", 0x10, 8)));
    assert_eq!(asked.next(), search(4, 0x16));
    let listed = |name: &str, size_bytes, is_directory| Listed {
        name: name.into(),
        size_bytes,
        is_directory,
    };
    let expected = vec![listed("a.txt", 9, false), listed("Sub", 0, true)];
    assert_eq!(asked.outcome(c::FAILED, b""), Ok(Done::Listed(expected)));
    // A place that was there before, or no place, would be listed without end.
    for places in [&[3, 3][..], &[3, 2], &[0xffff]] {
        asked.request(Call::List { path: "d" });
        for (at, place) in places.iter().enumerate() {
            asked.reply(c::OK, &found(*place, &entry(b"A", 0x20, 0)));
            if at + 1 < places.len() {
                asked.next();
            }
        }
        assert_eq!(asked.done().1.unwrap_err().message, "a search that does not go on");
    }
    asked.request(Call::List { path: "d" });
    assert_eq!(asked.outcome(c::NO_SUCH_PATH, b""), Err(Reason::Missing));
}

#[test]
fn each_completion_code_has_its_reason() {
    let (mut asked, _) = connected(plan(), [2, 15], 1024, 0);
    for (reason, codes) in [
        (
            Reason::Exists,
            &[c::NO_CREATE_OR_DELETE_RIGHTS, c::NAMES_EXIST, c::DIRECTORY_NOT_EMPTY][..],
        ),
        (Reason::Missing, &[c::FAILED, c::NO_SUCH_PATH, c::NO_SUCH_VOLUME]),
        (
            Reason::Denied,
            &[
                c::FILE_IN_USE,
                c::NO_OPEN_RIGHTS,
                c::NO_CREATE_RIGHTS,
                c::NO_DELETE_RIGHTS,
                c::NO_RENAME_RIGHTS,
                c::NO_MODIFY_RIGHTS,
                c::ALL_IN_USE,
                c::ALL_READ_ONLY,
                c::NO_READ_RIGHTS,
                c::NO_WRITE_RIGHTS,
                c::DIRECTORY_ACTIVE,
                c::LOCKED,
                c::NO_RIGHTS,
                c::NOT_PERMITTED,
            ],
        ),
        (Reason::Login, &[c::LOGIN_DENIED, c::PASSWORD_EXPIRED, c::NO_SUCH_OBJECT]),
        (Reason::NoSpace, &[c::NO_SPACE, c::DIRECTORY_FULL]),
        (Reason::Name, &[c::BAD_NAME]),
        (Reason::Unsupported, &[c::UNSUPPORTED]),
        (Reason::Protocol, &[c::IO_ERROR, c::BAD_FILE_HANDLE, 0x77]),
    ] {
        for code in codes {
            asked.request(Call::Remove { path: "a" });
            assert_eq!(asked.outcome(*code, b""), Err(reason), "{code:#x}");
        }
    }
    asked.request(Call::MakeDirectory { path: "a" });
    assert_eq!(asked.outcome(c::FAILED, b""), Err(Reason::Exists), "it is there already");
    asked.request(Call::Remove { path: "a" });
    asked.reply(0x77, b"");
    assert_eq!(asked.done().1.unwrap_err().message, "erase file: unknown code (0x77)");
    // Names are of 8.3, and a path with its wildcard has 255 octets.
    let path = |len: usize| "A/".repeat(len / 2) + &"B".repeat(len % 2);
    for (path, reason) in [
        ("a long name".to_owned(), Some(Reason::Name)),
        ("a:b".to_owned(), Some(Reason::Name)),
        (path(253), None),
        (path(253) + "B", Some(Reason::Name)),
    ] {
        asked.client.call(Call::Remove { path: &path });
        if let Some(reason) = reason {
            assert_eq!(asked.done().1.unwrap_err().reason, reason, "{path}");
        } else {
            assert_eq!(asked.next().len(), 4 + 253);
            assert_eq!(asked.outcome(c::OK, b""), Ok(Done::Nothing));
        }
    }
    // A reply without a code ends the session, and so does one to no request.
    let failed = "found a reply without a completion code";
    asked.request(Call::Echo);
    asked.client.call(Call::Echo);
    asked.client.handle_message(&mut vec![]);
    assert_eq!(asked.done().1.unwrap_err().message, "a reply without a completion code");
    assert_eq!(asked.done().1.unwrap_err().message, failed);
    let (mut asked, _) = connected(plan(), [2, 15], 1024, 0);
    asked.reply(c::OK, b"");
    asked.client.call(Call::Echo);
    assert_eq!(asked.done().1.unwrap_err().message, "found a reply to no request");
    // Nothing is asked for before there is a session.
    let mut asked = Asked { client: Client::new(plan()) };
    asked.client.call(Call::Echo);
    assert_eq!(asked.done().1.unwrap_err().message, "no session yet");
}
