//! Redirector and server of SMB 1 with each other: logins and signatures, locks, renames.

mod answers;
mod both;
mod buffers;
mod calls;
mod commands;
mod levels;
mod listings;
mod locks;
#[path = "../support/memory_files.rs"]
mod memory_files;
mod multiplexed;
mod raw;
mod raw_data;
mod removals;
mod renames;
mod sessions;
mod sharing;
mod transactions;
mod users;

use lanlab_stack::redirector::{Access, Call, Done, FileId, Reason, Redirector};
use lanlab_stack::smb::Dialect;
use lanlab_stack::smb::client::{Client, Plan};
use lanlab_wire::smb1::header::{Header, flags2};

use both::{Both, client, plan, server};

fn open(both: &mut Both, access: Access) -> FileId {
    match both.call(Call::Open { path: "file.txt", access }).unwrap() {
        Done::Opened { file, .. } => file,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_newest_dialect_logs_in_by_tokens_and_older_ones_by_responses() {
    for (dialect, protocol) in [
        (None, "SMB 1, NT LM 0.12, NTLMSSP login"),
        (Some(Dialect::LanMan2), "SMB 1, LM1.2X002, LM login"),
    ] {
        let (both, outcome) = Both::connect(client(dialect, "Secret-1"), &server());
        assert_eq!(outcome, Some(Ok(Done::Nothing)));
        let facts = both.client.facts().unwrap();
        assert_eq!((facts.protocol.as_str(), facts.protection.as_str()), (protocol, "none"));
    }
}

#[test]
fn a_wrong_password_is_refused_and_counted_in_each_form_of_login() {
    for dialect in [None, Some(Dialect::LanMan1)] {
        let (both, outcome) = Both::connect(client(dialect, "secret-2"), &server());
        assert_eq!(outcome.unwrap().unwrap_err().reason, Reason::Login);
        assert_eq!(both.served.session.failed_logins(), 1);
        assert!(!both.served.session.is_known());
    }
}

#[test]
fn a_server_that_requires_signatures_signs_and_checks_each_message() {
    let (mut both, outcome) =
        Both::connect(client(None, "Secret-1"), &server().requiring_signatures());
    assert_eq!(outcome, Some(Ok(Done::Nothing)));
    assert_eq!(both.client.facts().unwrap().protection, "signed, MD5");
    let file = open(&mut both, Access::Create);
    let written = both.call(Call::Write { file, offset: 0, parts: [b"ab", b"c"] });
    assert_eq!(written, Ok(Done::Written(3)));
    assert_eq!(both.call(Call::Close { file }), Ok(Done::Nothing));
    let file = open(&mut both, Access::Update);
    let read = both.call(Call::Read { file, offset: 0, count: 9 }).unwrap();
    assert!(matches!(read, Done::Read(range) if range.len() == 3));
    let last = Header::parse(both.sent.last().unwrap()).unwrap();
    assert_ne!(last.signature, [0; 8]);
    assert_ne!(last.flags2 & flags2::SIGNED, 0);
    // A message that someone changed is not carried out, and ends the session.
    let changed = both.client.call(Call::Write { file, offset: 0, parts: [b"x", b""] });
    let outcome = both.outcome(changed, |message| *message.last_mut().unwrap() ^= 1);
    assert_eq!(outcome, None);
    assert!(both.served.session.is_over());
}

#[test]
fn a_client_that_requires_signatures_has_them_at_a_server_that_does_not() {
    let asking = Client::new(Plan { requires_signatures: true, ..plan(None, "Secret-1") });
    let (mut both, outcome) = Both::connect(asking, &server());
    assert_eq!(outcome, Some(Ok(Done::Nothing)));
    assert_eq!(both.client.facts().unwrap().protection, "signed, MD5");
    let file = open(&mut both, Access::Create);
    let changed = both.client.call(Call::Close { file });
    assert_eq!(both.outcome(changed, |message| *message.last_mut().unwrap() ^= 1), None);
    assert!(both.served.session.is_over());
}

#[test]
fn a_server_that_requires_signatures_refuses_dialects_without_them() {
    for dialect in [Dialect::Core, Dialect::LanMan1, Dialect::LanMan2] {
        let required = server().requiring_signatures();
        let (both, outcome) = Both::connect(client(Some(dialect), "Secret-1"), &required);
        assert_eq!(outcome.unwrap().unwrap_err().reason, Reason::Unsupported, "{dialect:?}");
        assert!(!both.served.session.is_known());
    }
}
