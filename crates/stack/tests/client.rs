//! The redirector of SMB 1 with a server of a few lines, which says what it is made to say.

use lanlab_stack::carrier::CarrierFacts;
use lanlab_stack::redirector::{
    Access, Call, CallId, Done, FileId, Listed, Reason, Redirector, RedirectorFacts, Refusal,
};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan, User};
use lanlab_wire::smb1::andx::Block;
use lanlab_wire::smb1::header::Header;
use lanlab_wire::smb1::negotiate::{self, LanMan, NtLm, Security, capabilities, security};
use lanlab_wire::smb1::search::{self, ResumeKey};
use lanlab_wire::smb1::session_setup_andx::{self, Logon, action};
use lanlab_wire::smb1::status::{Status, error};
use lanlab_wire::smb1::strings::Text;
use lanlab_wire::smb1::writer::Writer;
use lanlab_wire::smb1::{
    command, find, read_andx, time, transaction, tree_connect_andx, write_andx, write_raw,
};

const FILE: FileId = FileId(7);
/// That of [MS-NLMP] 4.2.
const CHALLENGE: [u8; 8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];

fn plan(dialect: Option<Dialect>, password: &str) -> Plan {
    let user = User { name: "me".into(), password: password.into(), domain: String::new() };
    Plan {
        dialect,
        server: "server".into(),
        share: "share".into(),
        user: Some(user),
        nonce: [7; 8],
        time: 0,
        raw: false,
        multiplexed: false,
        requires_signatures: false,
        carrier: CarrierFacts {
            longest_message: 0x1_ffff,
            keeps_raw: true,
            is_one_at_a_time: false,
        },
    }
}

struct Session {
    client: Client,
    mode: u16,
    action: u16,
    refused: u32,
    /// What it says of itself.
    said: Said,
    /// What the client logged in and connected with.
    seen: Vec<Vec<u8>>,
}

#[derive(Clone, Copy)]
struct Said {
    capabilities: u32,
    max_buffer: u16,
    max_mpx: u16,
    raw_mode: u16,
    service: &'static [u8],
}

const SAID: Said = Said {
    capabilities: capabilities::NT_SMBS
        | capabilities::NT_FIND
        | capabilities::STATUS32
        | capabilities::LARGE_FILES,
    max_buffer: 4356,
    max_mpx: 3,
    raw_mode: 0,
    service: b"A:",
};

impl Session {
    fn new(plan: Plan) -> Self {
        let mode = security::USER_LEVEL | security::ENCRYPTED;
        Self { client: Client::new(plan), mode, action: 0, refused: 0, said: SAID, seen: vec![] }
    }

    fn request(&mut self) -> (Header, Vec<u8>) {
        let mut message = Vec::new();
        assert!(self.client.poll_message(&mut message), "no request");
        (Header::parse(&message).unwrap(), message)
    }

    fn respond(&mut self, header: Header, emit: impl FnOnce(&mut Writer<'_>)) {
        let mut message = Vec::new();
        emit(&mut Writer::begin(&mut message, &header));
        self.client.handle_message(&mut message);
    }

    fn done(&mut self) -> (CallId, Result<Done, Refusal>, Vec<u8>) {
        let mut data = Vec::new();
        let (call, outcome) = self.client.poll_done(&mut data).expect("no call has ended");
        (call, outcome, data)
    }

    /// Answer the offer of dialects, the login and the connection to the share.
    fn connect(&mut self) -> Result<RedirectorFacts, Refusal> {
        let (header, message) = self.request();
        let request = negotiate::Request::parse(&Block::first(&header, &message).unwrap()).unwrap();
        let (mode, challenge, said) = (self.mode, &CHALLENGE, self.said);
        let newest = request.dialects().last().unwrap().to_vec();
        let index = request.index_of(std::str::from_utf8(&newest).unwrap()).unwrap();
        let response = header.response(Status::success(header.flags2));
        self.respond(response, |writer| {
            let response = if newest == b"NT LM 0.12" {
                negotiate::Response::NtLm(NtLm {
                    index,
                    security_mode: mode as u8,
                    max_mpx: said.max_mpx,
                    max_vcs: 1,
                    max_buffer: said.max_buffer.into(),
                    max_raw: 65_536,
                    session_key: 0,
                    capabilities: said.capabilities,
                    time: 0,
                    timezone_min: 0,
                    security: Security::Challenge {
                        challenge,
                        domain: Text::Oem(b"D"),
                        server: None,
                    },
                })
            } else {
                negotiate::Response::LanMan(LanMan {
                    index,
                    security_mode: mode,
                    max_buffer: said.max_buffer,
                    max_mpx: said.max_mpx,
                    max_vcs: 1,
                    raw_mode: said.raw_mode,
                    session_key: 0,
                    time: 0,
                    date: 0,
                    timezone_min: 0,
                    challenge,
                    domain: None,
                })
            };
            response.emit(writer);
        });
        for _ in 0..=self.refused {
            if self.client.facts().is_some() || !self.log_in() {
                break;
            }
        }
        let (call, outcome, _) = self.done();
        assert_eq!(call, Client::CONNECTED);
        outcome.map(|_| self.client.facts().unwrap().clone())
    }

    /// Answer a login, then the connection. Whether another login may come.
    fn log_in(&mut self) -> bool {
        let mut message = Vec::new();
        if !self.client.poll_message(&mut message) {
            return false;
        }
        let header = Header::parse(&message).unwrap();
        assert_eq!(header.command, command::SESSION_SETUP_ANDX);
        self.seen.push(message.clone());
        if self.refused > 0 {
            self.refused -= 1;
            let refused = header.response(Status::of(error::LOGON_FAILURE, header.flags2));
            self.respond(refused, nothing);
            return self.log_in();
        }
        let (uid, action) = (5, self.action);
        let accepted = Header { uid, ..header.response(Status::success(header.flags2)) };
        self.respond(accepted, |writer| {
            session_setup_andx::Response { action, blob: None, names: None }.emit(writer);
        });
        if !self.client.poll_message(&mut message) {
            return false;
        }
        let header = Header::parse(&message).unwrap();
        assert_eq!((header.command, header.uid), (command::TREE_CONNECT_ANDX, 5));
        self.seen.push(message.clone());
        let response = Header { tid: 9, ..header.response(Status::success(header.flags2)) };
        let service = Text::Oem(self.said.service);
        self.respond(response, |writer| {
            tree_connect_andx::Response {
                optional_support: None,
                max_access: None,
                service,
                file_system: None,
            }
            .emit(writer);
        });
        false
    }
}

fn connected() -> Session {
    let mut session = Session::new(plan(None, "Secret-1"));
    session.connect().unwrap();
    session
}

#[test]
fn a_session_uses_the_negotiated_values() {
    let mut session = Session::new(plan(None, "Secret-1"));
    let facts = session.connect().unwrap();
    assert_eq!(facts.protocol, "SMB 1, NT LM 0.12, NTLMv2 login");
    assert_eq!((facts.read_bytes, facts.write_bytes, facts.depth), (4096, 4096, 3));
    let mut session = Session::new(plan(Some(Dialect::LanMan1), "Secret-1"));
    let facts = session.connect().unwrap();
    assert_eq!(facts.protocol, "SMB 1, LANMAN1.0, LM login");
    assert!(facts.short_names);
}

#[test]
fn ntlm_version_1_is_tried_at_servers_without_version_2() {
    let mut session = Session { refused: 1, ..Session::new(plan(None, "Secret-1")) };
    assert_eq!(session.connect().unwrap().protocol, "SMB 1, NT LM 0.12, NTLM login");
    let mut session = Session { refused: 2, ..Session::new(plan(None, "Secret-1")) };
    assert_eq!(session.connect().unwrap_err().reason, Reason::Login);
}

#[test]
fn plain_passwords_are_sent_only_in_a_requested_dialect() {
    let mode = security::USER_LEVEL;
    let mut session = Session { mode, ..Session::new(plan(None, "Secret-1")) };
    let refusal = session.connect().unwrap_err();
    assert_eq!(refusal.reason, Reason::Login);
    let hint = refusal.hint.unwrap_or_default();
    assert!(hint.contains("`--dialect nt1`"), "{hint}");
    assert!(session.seen.is_empty(), "the password was sent");
    let mut session = Session { mode, ..Session::new(plan(Some(Dialect::LanMan1), "Secret-1")) };
    assert_eq!(
        session.connect().unwrap().protocol,
        "SMB 1, LANMAN1.0, login with a plain password"
    );
}

#[test]
fn a_login_downgraded_to_guest_fails() {
    let mut session = Session { action: action::GUEST, ..Session::new(plan(None, "Secret-1")) };
    assert!(session.connect().unwrap_err().message.contains("as a guest"));
}

#[test]
fn a_password_that_lm_cannot_hold_is_refused_before_it_is_sent() {
    let mut session = Session::new(plan(Some(Dialect::LanMan2), "fifteen letters"));
    assert!(session.connect().unwrap_err().message.contains("at most 14 characters"));
}

#[test]
fn messages_are_signed_and_a_wrong_signature_ends_the_session() {
    let mode = security::USER_LEVEL | security::ENCRYPTED | security::SIGNING_REQUIRED;
    let mut session = Session { mode, ..Session::new(plan(None, "Secret-1")) };
    // The connection to the share is the first signed message, and its response is not.
    assert!(session.connect().unwrap_err().message.contains("signature of the response is wrong"));
}

fn signed(dialect: Option<Dialect>) -> Plan {
    Plan { requires_signatures: true, ..plan(dialect, "Secret-1") }
}

#[test]
fn a_server_that_does_not_sign_is_refused_if_signatures_are_required() {
    let refusal = Session::new(signed(None)).connect().unwrap_err();
    assert_eq!(refusal.reason, Reason::Unsupported);
    let does_not = "signed messages are required of the server, and it does not sign";
    assert!(refusal.message.starts_with(does_not), "{}", refusal.message);
    let refusal = Session::new(signed(Some(Dialect::LanMan2))).connect().unwrap_err();
    assert!(refusal.message.contains("dialect `LM1.2X002` has no signatures"), "{refusal:?}");
}

#[test]
fn a_server_that_announces_signing_but_does_not_sign_is_refused() {
    let mode = security::USER_LEVEL | security::ENCRYPTED | security::SIGNING_ENABLED;
    let mut session = Session { mode, ..Session::new(signed(None)) };
    assert!(session.connect().unwrap_err().message.contains("signature of the response is wrong"));
    // Who does not require signatures goes on without.
    let mut session = Session { mode, ..Session::new(plan(None, "Secret-1")) };
    assert_eq!(session.connect().unwrap().protection, "none");
}

#[test]
fn nothing_is_signed_without_a_key() {
    let mode = security::USER_LEVEL | security::ENCRYPTED | security::SIGNING_ENABLED;
    let guest = Plan { user: None, ..signed(None) };
    // By a plain password, and where the share has one.
    let of_share = mode & !security::USER_LEVEL;
    let plain = mode & !security::ENCRYPTED;
    for (plan, mode) in
        [(guest, mode), (signed(Some(Dialect::Nt)), plain), (signed(Some(Dialect::Nt)), of_share)]
    {
        let refusal = Session { mode, ..Session::new(plan) }.connect().unwrap_err();
        assert_eq!(refusal.reason, Reason::Login);
        assert!(refusal.message.contains("makes no key for signatures"), "{refusal:?}");
    }
}

#[test]
fn requests_in_flight_stay_within_the_server_limit() {
    let mut session = connected();
    for _ in 0..5 {
        session.client.call(Call::Read { file: FILE, offset: 0, count: 100 });
    }
    let requests: Vec<_> = (0..3).map(|_| session.request().0).collect();
    assert!(!session.client.poll_message(&mut Vec::new()));
    // Answers come in any order, each with what it has to say.
    for (header, text) in requests.iter().rev().zip([b"one", b"two", b"six"]) {
        session.respond(header.response(Status::success(header.flags2)), |writer| {
            let response =
                read_andx::Response { available: 0, data_compaction_mode: 0, data: text };
            response.emit(writer);
        });
        let (_, outcome, data) = session.done();
        let Ok(Done::Read(range)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(&data[range], text);
    }
    assert!(session.client.poll_message(&mut Vec::new()));
}

/// What becomes of a read and of another call if the read is answered like this.
fn after(answer: impl FnOnce(&mut Session, Header)) -> Vec<Refusal> {
    let mut session = connected();
    session.client.call(Call::Read { file: FILE, offset: 0, count: 100 });
    session.client.call(Call::Echo);
    let (header, _) = session.request();
    session.request();
    answer(&mut session, header.response(Status::success(header.flags2)));
    let mut refusals = Vec::new();
    while let Some((_, outcome)) = session.client.poll_done(&mut Vec::new()) {
        refusals.extend(outcome.err());
    }
    refusals
}

fn read_of(len: usize) -> impl FnOnce(&mut Writer<'_>) {
    move |writer| {
        let data = vec![1; len];
        read_andx::Response { available: 0, data_compaction_mode: 0, data: &data }.emit(writer);
    }
}

#[test]
fn unexpected_messages_end_the_session() {
    type Change = fn(Header) -> Header;
    let cases: [(Change, &str); 3] = [
        (|header| Header { mid: header.mid + 1000, ..header }, "a response to no request"),
        (
            |header| Header { command: command::CLOSE, ..header },
            "found a response of smb1 close to smb1 read andx",
        ),
        (|header| Header { flags: 0, ..header }, "found a request"),
    ];
    for (change, message) in cases {
        let refusals = after(|session, header| session.respond(change(header), read_of(10)));
        assert_eq!(refusals.len(), 2);
        assert!(refusals.iter().all(|one| one.message.contains(message)), "{refusals:?}");
    }
}

#[test]
fn truncated_messages_end_the_session_and_are_never_data() {
    for len in 0..60 {
        let refusals = after(|session, header| {
            let mut message = Vec::new();
            read_of(100)(&mut Writer::begin(&mut message, &header));
            message.truncate(len);
            session.client.handle_message(&mut message);
        });
        assert!(!refusals.is_empty(), "{len}");
    }
}

#[test]
fn replies_with_excess_data_are_refused() {
    let refusals = after(|session, header| session.respond(header, read_of(101)));
    assert_eq!(refusals[0].message, "smb1 read andx: found 101 octets of 100");
}

#[test]
fn write_counts_of_zero_or_above_the_sent_bytes_are_refused() {
    for count in [0, 6] {
        let mut session = connected();
        session.client.call(Call::Write { file: FILE, offset: 0, parts: [b"abc", b"de"] });
        let (header, _) = session.request();
        session.respond(header.response(Status::success(header.flags2)), |writer| {
            write_andx::Response { count, available: 0 }.emit(writer);
        });
        assert_eq!(session.done().1.unwrap_err().reason, Reason::Protocol);
    }
}

#[test]
fn old_dialects_never_request_offsets_beyond_32_bits() {
    let mut session = Session::new(plan(Some(Dialect::LanMan1), "Secret-1"));
    session.connect().unwrap();
    let far = u64::from(u32::MAX) - 50;
    session.client.call(Call::Read { file: FILE, offset: far, count: 100 });
    assert_eq!(session.done().1.unwrap_err().reason, Reason::Unsupported);
    session.client.call(Call::Write { file: FILE, offset: far, parts: [&[0; 100], &[]] });
    assert_eq!(session.done().1.unwrap_err().reason, Reason::Unsupported);
}

#[test]
fn an_endlessly_repeating_listing_is_ended() {
    let mut session = Session::new(plan(Some(Dialect::LanMan1), "Secret-1"));
    session.connect().unwrap();
    session.client.call(Call::List { path: "" });
    let entry = search::Entry {
        resume_key: ResumeKey([3; search::RESUME_KEY_LEN]),
        attributes: 0,
        last_write: time::DateTime::default(),
        size: 3,
        name: search::Entry::name_field(b"A.TXT").unwrap(),
    };
    for _ in 0..2 {
        let (header, _) = session.request();
        session.respond(header.response(Status::success(header.flags2)), |writer| {
            search::emit_response(&[entry], writer);
        });
    }
    let Ok(Done::Listed(entries)) = session.done().1 else { panic!("no listing") };
    assert_eq!(entries.iter().map(|entry| &entry.name).collect::<Vec<_>>(), ["a.txt", "a.txt"]);
}

#[test]
fn endless_listings_of_omitted_entries_are_ended() {
    let mut session = Session::new(plan(Some(Dialect::LanMan1), "Secret-1"));
    session.connect().unwrap();
    session.client.call(Call::List { path: "" });
    for page in 0..10_486_u32 {
        let mut key = [3; search::RESUME_KEY_LEN];
        key[..4].copy_from_slice(&page.to_le_bytes());
        let entry = search::Entry {
            resume_key: ResumeKey(key),
            attributes: 0x10,
            last_write: time::DateTime::default(),
            size: 0,
            name: search::Entry::name_field(b".").unwrap(),
        };
        let (header, _) = session.request();
        session.respond(header.response(Status::success(header.flags2)), |writer| {
            search::emit_response(&[entry; 100], writer);
        });
    }
    let refusal = session.done().1.unwrap_err();
    assert!(refusal.message.contains("a listing without end"), "{}", refusal.message);
}

#[test]
fn each_server_error_has_its_reason() {
    for (row, reason) in [
        (error::OBJECT_NAME_NOT_FOUND, Reason::Missing),
        (error::OBJECT_NAME_COLLISION, Reason::Exists),
        (error::SHARING_VIOLATION, Reason::Denied),
        (error::DISK_FULL, Reason::NoSpace),
        (error::OBJECT_NAME_INVALID, Reason::Name),
        (error::NOT_SUPPORTED, Reason::Unsupported),
        (error::UNSUCCESSFUL_IO, Reason::Protocol),
    ] {
        let mut session = connected();
        session.client.call(Call::Open { path: "a/b.txt", access: Access::Read });
        let (header, _) = session.request();
        let refused = header.response(Status::of(row, header.flags2));
        session.respond(refused, nothing);
        assert_eq!(session.done().1.unwrap_err().reason, reason, "{}", row.name);
    }
}

fn nothing(writer: &mut Writer<'_>) {
    writer.empty();
}

/// What is agreed on with a server that says this, over a carrier with messages of this length.
fn agreed(said: Said, dialect: Option<Dialect>, longest: u32) -> Result<RedirectorFacts, Refusal> {
    let base = plan(dialect, "Secret-1");
    let carrier = CarrierFacts { longest_message: longest, ..base.carrier };
    Session { said, ..Session::new(Plan { carrier, ..base }) }.connect()
}

/// Blocks are whole sectors of 512 octets in the server's buffer less 64, or 60 KiB in large reads and writes, as every
/// server of Windows takes them; 120 KiB where the server has the extensions for Unix, as Samba does.
#[test]
fn block_size_depth_and_commands_follow_from_negotiation() {
    let base = SAID.capabilities;
    let (reads, writes) = (capabilities::LARGE_READX, capabilities::LARGE_WRITEX);
    let unix = 0x0080_0000;
    let whole = 0x1_ffff;
    for (capabilities, max_buffer, longest, blocks) in [
        (base, 4356, whole, (4096, 4096)),
        (base, 16_644, whole, (16_384, 16_384)),
        (base, 60_000, whole, (16_384, 16_384)),
        (base, 576, whole, (512, 512)),
        (base, 1087, whole, (512, 512)),
        (base, 1088, whole, (1024, 1024)),
        (base, 575, whole, (511, 511)),
        (base, 128, whole, (64, 64)),
        (base | reads, 4356, whole, (61_440, 4096)),
        (base | writes, 4356, whole, (4096, 61_440)),
        (base | reads | writes, 4356, whole, (61_440, 61_440)),
        (base | reads | writes | unix, 4356, whole, (122_880, 122_880)),
        (base | reads | unix, 4356, 100_000, (99_936, 4096)),
        (base | reads, 4356, 1000, (936, 512)),
        (base, 4356, 2000, (1536, 1536)),
    ] {
        let facts = agreed(Said { capabilities, max_buffer, ..SAID }, None, longest).unwrap();
        let found = (facts.read_bytes, facts.write_bytes);
        assert_eq!(found, blocks, "{capabilities:#x} {max_buffer} {longest}");
        assert_eq!((facts.largest_file_bytes, facts.short_names), (u64::MAX, false));
    }
    for max_buffer in [0, 127] {
        let refused = agreed(Said { max_buffer, ..SAID }, None, whole).unwrap_err();
        assert_eq!(refused.message, format!("a server that takes messages of {max_buffer} octets"));
    }
    for (max_mpx, depth) in [(0, 1), (1, 1), (2, 2), (50, 50), (51, 50), (u16::MAX, 50)] {
        let facts = agreed(Said { max_mpx, ..SAID }, None, whole).unwrap();
        assert_eq!(facts.depth, depth);
    }
    // Windows 95, 98 and ME speak the newest dialect without its commands or listings.
    let (nt, commands, listings) = ("NT LM 0.12", capabilities::NT_SMBS, capabilities::NT_FIND);
    for (without, protocol) in [
        (0, nt.to_owned()),
        (commands, format!("{nt} with commands of LM1.2X002")),
        (listings, format!("{nt} with listings of LM1.2X002")),
        (commands | listings, format!("{nt} with commands and listings of LM1.2X002")),
    ] {
        let said = Said { capabilities: base & !without, ..SAID };
        let facts = agreed(said, None, whole).unwrap();
        assert_eq!(facts.protocol, format!("SMB 1, {protocol}, NTLMv2 login"));
    }
    let said = Said { capabilities: base & !capabilities::LARGE_FILES, ..SAID };
    assert_eq!(agreed(said, None, whole).unwrap().largest_file_bytes, u64::from(u32::MAX));
}

#[test]
fn raw_and_multiplexed_modes_need_server_and_carrier_support() {
    let whole = |keeps_raw, is_one_at_a_time| CarrierFacts {
        longest_message: 0x1_ffff,
        keeps_raw,
        is_one_at_a_time,
    };
    let asking = |said: Said, dialect, carrier, is_signed| {
        let mode = security::USER_LEVEL | security::ENCRYPTED;
        let mode = if is_signed { mode | security::SIGNING_REQUIRED } else { mode };
        let plan = Plan { raw: true, carrier, ..plan(Some(dialect), "Secret-1") };
        let mut session = Session { mode, said, ..Session::new(plan) };
        session.connect().map(|facts| {
            (facts.protocol.ends_with(", raw"), facts.read_bytes, facts.write_bytes, facts.depth)
        })
    };
    let raw = Ok((true, 61_440, 61_440, 1));
    let both = Said { raw_mode: 3, ..SAID };
    assert_eq!(asking(both, Dialect::LanMan1, whole(true, false), false), raw);
    let nt = Said { capabilities: SAID.capabilities | capabilities::RAW_MODE, ..SAID };
    assert_eq!(asking(nt, Dialect::Nt, whole(true, false), false), raw);
    for (said, dialect, carrier) in [
        (Said { raw_mode: 1, ..SAID }, Dialect::LanMan1, whole(true, false)),
        (Said { raw_mode: 2, ..SAID }, Dialect::LanMan1, whole(true, false)),
        (SAID, Dialect::Nt, whole(true, false)),
        (both, Dialect::LanMan1, whole(false, false)),
    ] {
        let refused = asking(said, dialect, carrier, false).unwrap_err();
        assert_eq!(refused.reason, Reason::Unsupported, "{dialect:?}");
    }
    // Multiplexed: only where both have it, each message is a packet, and the server takes a whole one.
    let multiplexed = SAID.capabilities | capabilities::MPX_MODE;
    let packets = |longest_message| CarrierFacts { longest_message, ..whole(false, true) };
    for (capabilities, max_buffer, carrier, is_wanted, expected) in [
        (multiplexed, 4356, packets(1467), true, Some(32 * (1467 - 64))),
        (multiplexed, 1467, packets(1467), true, Some(32 * (1467 - 64))),
        (multiplexed, 4356, packets(4356), true, Some(61_440)),
        (multiplexed, 1466, packets(1467), true, None),
        (multiplexed, 4356, packets(1467), false, None),
        (SAID.capabilities, 4356, packets(1467), true, None),
        (multiplexed, 4356, CarrierFacts { keeps_raw: true, ..packets(1467) }, true, None),
        (multiplexed, 4356, CarrierFacts { is_one_at_a_time: false, ..packets(1467) }, true, None),
    ] {
        let plan = Plan { carrier, multiplexed: is_wanted, ..plan(None, "Secret-1") };
        let said = Said { capabilities, max_buffer, ..SAID };
        let facts = Session { said, ..Session::new(plan) }.connect().unwrap();
        assert_eq!(facts.protocol.ends_with(", multiplexed"), expected.is_some());
        let block = expected.unwrap_or(1024);
        assert_eq!((facts.read_bytes, facts.write_bytes), (block, block), "{max_buffer}");
        assert_eq!(facts.depth, if carrier.is_one_at_a_time { 1 } else { 3 });
    }
}

#[test]
fn other_share_types_and_unoffered_dialects_are_refused() {
    let printer = Said { service: b"LPT1:", ..SAID };
    let refused = agreed(printer, None, 0x1_ffff).unwrap_err();
    assert_eq!(refused.reason, Reason::Missing);
    assert_eq!(refused.message, "a share of `LPT1:`; allowed: files (`A:`)");
    // Before any of it: the answer to the offer.
    for (index, message) in [
        (0xffff_u16, "the server speaks none of the dialects `LANMAN1.0`"),
        (1, "dialect 1 chosen; offered: `LANMAN1.0`"),
        (0, "a response that is not of dialect `LANMAN1.0`"),
    ] {
        let mut session = Session::new(plan(Some(Dialect::LanMan1), "Secret-1"));
        let (header, message_sent) = session.request();
        // The dialects stand behind a 2 each.
        assert_eq!(message_sent[32..], [&[0, 11, 0, 2][..], b"LANMAN1.0\0"].concat());
        session.respond(header.response(Status::success(header.flags2)), |writer| {
            negotiate::Response::Core { index }.emit(writer);
        });
        let (call, outcome, _) = session.done();
        assert_eq!((call, outcome.unwrap_err().message.as_str()), (Client::CONNECTED, message));
        // Nothing more is possible.
        session.client.call(Call::Echo);
        assert_eq!(session.done().1.unwrap_err().message, message);
        assert!(!session.client.poll_message(&mut Vec::new()));
    }
    assert_eq!(Session::new(plan(None, "x")).client.protocol(), "SMB 1");
}

/// A page of a listing of Windows NT: its parameters and data, and what the client makes of it in these parts.
#[test]
fn listings_arrive_in_ordered_parts_of_the_announced_size() {
    let name = b"LONGER NAME.TXT";
    let mut data = Vec::new();
    for (at, attributes) in [(0, 0x10_u32), (1, 0x20)] {
        let entry = find::BothDirectory {
            end_of_file: 5,
            attributes,
            name: Text::Oem(&name[at..]),
            ..find::BothDirectory::default()
        };
        let last = (at > 0).then_some(0);
        entry.emit(0, last, &mut data);
    }
    let mut parameters = Vec::new();
    let (sid, count, last_name_offset) = (Some(7), 2, 0);
    let found =
        find::Found { sid, count, end_of_search: true, ea_error_offset: 0, last_name_offset };
    found.emit(&mut parameters);
    let (all, len) = (data.len(), parameters.len());
    let part =
        |session: &mut Session, header: &Header, (from, to): (usize, usize), (at, end), total| {
            let response = transaction::Response {
                total_parameters: len as u16,
                total_data: total,
                parameter_displacement: at as u16,
                data_displacement: from as u16,
                setup: &[],
                parameters: &parameters[at..end],
                data: &data[from..to],
            };
            let header = header.response(Status::success(header.flags2));
            session.respond(header, |writer| response.emit(writer));
        };
    let begin = || {
        let mut session = connected();
        session.client.call(Call::List { path: "" });
        let (header, _) = session.request();
        (session, header)
    };
    let total = all as u16;
    for cut in [0, 1, all / 2, all] {
        let (mut session, header) = begin();
        part(&mut session, &header, (0, cut), (0, len), total);
        if cut < all {
            assert!(session.client.poll_done(&mut Vec::new()).is_none());
            part(&mut session, &header, (cut, all), (len, len), total);
        }
        let Ok(Done::Listed(entries)) = session.done().1 else { panic!("no listing") };
        let listed = |name: &str, size_bytes, is_directory| Listed {
            name: name.into(),
            size_bytes,
            is_directory,
        };
        let expected = [listed("LONGER NAME.TXT", 0, true), listed("ONGER NAME.TXT", 5, false)];
        assert_eq!(entries, expected, "{cut}");
    }
    let (mut session, header) = begin();
    part(&mut session, &header, (0, all), (0, 2), total);
    part(&mut session, &header, (all, all), (2, len), total);
    assert!(session.done().1.is_ok(), "parameters in parts");
    // Out of its order, more than was asked for, and a part of nothing.
    for (first, second, total, message) in [
        ((1, all), None, total, "a part out of its order"),
        ((0, 4), Some(((5, all), (len, len))), total, "a part out of its order"),
        ((0, 4), Some(((4, 9), (len - 1, len))), total, "a part out of its order"),
        ((0, 4), None, 16_385, "more than was announced"),
        ((0, 4), Some(((4, 4), (len, len))), total, "a part of nothing"),
    ] {
        let (mut session, header) = begin();
        part(&mut session, &header, first, (0, len), total);
        if let Some((second, parameters)) = second {
            part(&mut session, &header, second, parameters, total);
        }
        let refused = session.done().1.unwrap_err();
        assert_eq!(
            (refused.reason, refused.message),
            (Reason::Protocol, format!("smb1 transaction 2: {message}"))
        );
    }
    // No file is an empty listing, and what cannot be looked for is none.
    for (row, expected) in [
        (error::NO_SUCH_FILE, Ok(Done::Listed(vec![]))),
        (error::NO_MORE_FILES, Ok(Done::Listed(vec![]))),
        (error::OBJECT_PATH_NOT_FOUND, Err(Reason::Missing)),
        (error::ACCESS_DENIED, Err(Reason::Denied)),
    ] {
        let (mut session, header) = begin();
        session.respond(header.response(Status::of(row, header.flags2)), nothing);
        assert_eq!(session.done().1.map_err(|refusal| refusal.reason), expected, "{}", row.name);
    }
}

/// Responses of [MS-NLMP] 4.2.2.2 to the password `Password`, of LM and of NTLM.
#[test]
fn passwords_follow_the_security_mode_of_the_server() {
    let lm = hex::decode("98def7b87f88aa5dafe2df779688a172def11c7d5ccdef13").unwrap();
    let nt = hex::decode("67c43011f30298a2ad35ece64f16331c44bdbed927841f94").unwrap();
    let (user, encrypted) = (security::USER_LEVEL, security::ENCRYPTED);
    let (none, plain) = (vec![], b"Password\0".to_vec());
    let of_old = |password: &Vec<u8>| vec![(password.clone(), vec![])];
    for (dialect, mode, refused, logins, share) in [
        (Dialect::LanMan1, user | encrypted, 0, of_old(&lm), vec![0]),
        (Dialect::LanMan2, user, 0, of_old(&plain), vec![0]),
        (Dialect::LanMan2, encrypted, 0, of_old(&none), lm.clone()),
        (Dialect::LanMan1, 0, 0, of_old(&vec![0]), plain.clone()),
        (Dialect::Nt, user, 0, of_old(&plain), vec![0]),
        (Dialect::Nt, encrypted, 0, of_old(&none), nt.clone()),
        (Dialect::Nt, 0, 0, of_old(&vec![0]), plain),
        // A server that takes no version 2 gets version 1 of both.
        (Dialect::Nt, user | encrypted, 1, vec![(none, vec![]), (lm, nt)], vec![0]),
    ] {
        let name = |text: &str| text.to_owned();
        let user = User { name: name("User"), password: name("Password"), domain: name("Domain") };
        let of_user = Plan { user: Some(user), ..plan(Some(dialect), "") };
        let mut session = Session { mode, refused, ..Session::new(of_user) };
        session.connect().unwrap();
        let (connecting, seen) = session.seen.split_last().unwrap();
        let header = Header::parse(connecting).unwrap();
        let block = Block::first(&header, connecting).unwrap();
        let request = tree_connect_andx::Request::parse(&block).unwrap();
        assert_eq!(request.password, share, "{dialect:?} {mode}");
        assert_eq!(request.path.octets(), b"\\\\SERVER\\SHARE");
        assert_eq!((request.service.octets(), request.flags), (&b"A:"[..], 0));
        assert_eq!(seen.len(), logins.len());
        for (at, (message, (lm, nt))) in seen.iter().zip(logins).enumerate() {
            let header = Header::parse(message).unwrap();
            let block = Block::first(&header, message).unwrap();
            let request = session_setup_andx::Request::parse(&block).unwrap();
            // The longest message, what may be outstanding, and no session that is to end.
            assert_eq!((request.max_buffer, request.max_mpx, request.vc_number), (16_644, 3, 1));
            let (found, account) = match request.logon {
                Logon::LanMan { password, account, .. } => ((password, &[][..]), account),
                Logon::Nt { oem_password, unicode_password, account, domain, capabilities } => {
                    assert_eq!(
                        (domain.octets(), capabilities),
                        (&b"Domain"[..], SAID.capabilities)
                    );
                    ((oem_password, unicode_password), account)
                }
                Logon::Extended { .. } => panic!("no tokens were spoken of"),
            };
            assert_eq!(account.octets(), b"User");
            if refused == 1 && at == 0 {
                // Of version 2: a nonce of 8 octets ends that of LM, and the other has one inside, and names.
                assert_eq!((found.0.len(), &found.0[16..]), (24, &[7; 8][..]));
                assert_eq!(
                    (&found.1[16..24], &found.1[32..40]),
                    (&[1, 1, 0, 0, 0, 0, 0, 0][..], &[7; 8][..])
                );
            } else {
                assert_eq!(found, (&lm[..], &nt[..]), "{dialect:?} {mode}");
            }
        }
    }
}

/// A server says which errors a call may end with; a user hears of one reason for each.
#[test]
fn dos_errors_map_to_the_same_reasons() {
    for (command, class, code, reason) in [
        (command::OPEN_ANDX, 1, 2, Reason::Missing),
        (command::OPEN_ANDX, 1, 3, Reason::Missing),
        (command::OPEN_ANDX, 1, 5, Reason::Denied),
        (command::OPEN_ANDX, 1, 32, Reason::Denied),
        (command::OPEN_ANDX, 1, 80, Reason::Exists),
        (command::OPEN_ANDX, 1, 112, Reason::NoSpace),
        // "Access denied" of a directory means that it is there, or holds something.
        (command::CREATE_DIRECTORY, 1, 5, Reason::Exists),
        (command::DELETE_DIRECTORY, 1, 5, Reason::Exists),
        (command::CHECK_DIRECTORY, 1, 5, Reason::Denied),
        (command::CREATE_DIRECTORY, 1, 3, Reason::Missing),
        (command::CREATE_DIRECTORY, 3, 5, Reason::Protocol),
    ] {
        let mut session = Session::new(plan(Some(Dialect::LanMan1), "Secret-1"));
        session.connect().unwrap();
        let path = "D";
        session.client.call(match command {
            command::OPEN_ANDX => Call::Open { path, access: Access::Read },
            command::CREATE_DIRECTORY => Call::MakeDirectory { path },
            command::DELETE_DIRECTORY => Call::RemoveDirectory { path },
            _ => Call::CheckDirectory { path },
        });
        let (header, _) = session.request();
        assert_eq!(header.command, command);
        session.respond(header.response(Status::Dos { class, code }), nothing);
        let refused = session.done().1.unwrap_err();
        assert_eq!(refused.reason, reason, "{command:#x} {class} {code}");
    }
}

/// A session of raw data that is under way, in LAN Manager's dialect; blocks of other commands have 4,096 octets.
fn raw_session() -> Session {
    let plan = Plan { raw: true, ..plan(Some(Dialect::LanMan1), "Secret-1") };
    let mut session = Session { said: Said { raw_mode: 3, ..SAID }, ..Session::new(plan) };
    session.connect().unwrap();
    session
}

#[test]
fn refused_raw_transfers_fall_back_to_other_commands() {
    let mut session = raw_session();
    let data = vec![5; 70_000];
    session.client.call(Call::Write {
        file: FILE,
        offset: 3,
        parts: [&data[..9_000], &data[9_000..]],
    });
    session.client.call(Call::Echo);
    let (header, message) = session.request();
    // File, octets in all, offset, and that it is to say how much was written; no data.
    assert_eq!((header.command, message.len()), (command::WRITE_RAW, 32 + 1 + 24 + 2));
    assert_eq!(message[33..41], [7, 0, 0, 240, 0, 0, 3, 0]);
    assert_eq!((message[47], message[53]), (1, 0));
    assert!(!session.client.poll_message(&mut Vec::new()), "nothing else meanwhile");
    let refused = Header { command: command::WRITE_COMPLETE, ..header };
    session.respond(refused.response(Status::of(error::SMB_USE_STANDARD, 0)), nothing);
    let commands = [session.request(), session.request()]
        .map(|(header, message)| (header.command, message.len()));
    // The call that waited has its turn.
    let written = 32 + 1 + 24 + 2 + 1 + 4096;
    assert_eq!(commands, [(command::ECHO, 32 + 1 + 2 + 2 + 6), (command::WRITE_ANDX, written)]);

    let mut session = raw_session();
    session.client.call(Call::Read { file: FILE, offset: 3, count: 70_000 });
    let (header, message) = session.request();
    assert_eq!(header.command, command::READ_RAW);
    assert_eq!(message[33..43], [7, 0, 3, 0, 0, 0, 0, 240, 0, 0]);
    session.client.handle_message(&mut Vec::new());
    let (header, message) = session.request();
    assert_eq!(
        (header.command, &message[43..45]),
        (command::READ_ANDX, &4096_u16.to_le_bytes()[..])
    );

    let mut session = raw_session();
    session.client.call(Call::Read { file: FILE, offset: 3, count: 10 });
    session.request();
    session.client.handle_message(&mut vec![0; 11]);
    assert_eq!(session.done().1.unwrap_err().message, "raw data of 11 octets of 10");
}

#[test]
fn the_final_reply_decides_a_raw_write() {
    // Samba's last response has the command of the first one.
    for (count, command, expected) in [
        (5, command::WRITE_COMPLETE, Ok(Done::Written(5))),
        (5, command::WRITE_RAW, Ok(Done::Written(5))),
        (4, command::WRITE_COMPLETE, Ok(Done::Written(4))),
        (6, command::WRITE_COMPLETE, Err("6 raw octets written of 5")),
        (0, command::WRITE_COMPLETE, Err("0 raw octets written of 5")),
        (5, command::ECHO, Err("found a response of smb1 echo to smb1 write complete")),
    ] {
        let mut session = raw_session();
        session.client.call(Call::Write { file: FILE, offset: 3, parts: [b"ab", b"cde"] });
        session.client.call(Call::Echo);
        let (header, _) = session.request();
        let response = header.response(Status::success(header.flags2));
        session.respond(response, |writer| write_raw::Response { count: 0xffff }.emit(writer));
        let mut message = Vec::new();
        assert!(session.client.poll_message(&mut message));
        assert_eq!(message, b"abcde");
        assert!(!session.client.poll_message(&mut message));
        let last = Header { command, ..response };
        session.respond(last, |writer| write_raw::Response { count }.emit(writer));
        let outcome = session.done().1.map_err(|refusal| refusal.message);
        assert_eq!(outcome, expected.map_err(str::to_owned));
        // The call that waited has its turn, unless the session is over.
        assert_eq!(session.client.poll_message(&mut message), command != command::ECHO);
    }
}
