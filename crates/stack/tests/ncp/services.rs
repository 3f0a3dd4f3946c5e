//! What a client of files asks for, with servers of two generations, also where frames are lost.

use std::collections::BTreeSet;

use lanlab_stack::ncp::client::{Client, User};
use lanlab_stack::profile::netware::{self, NETWARE_3};
use lanlab_stack::redirector::{Access, Call, Done, Listed, Reason, Redirector, Refusal};
use lanlab_wire::ipx::framing;
use lanlab_wire::ncp::completion;
use lanlab_wire::ncp::directories::{Handle, Volume};
use lanlab_wire::ncp::function;

use super::hostile::Bench;
use super::pair::{Pair, Setting, pattern};
use crate::tshark::fields;

fn reason<T: std::fmt::Debug>(outcome: Result<T, Refusal>) -> Reason {
    outcome.unwrap_err().reason
}

/// Everything that a client can ask for, once.
fn exercise(pair: &mut Pair) {
    pair.done(Call::MakeDirectory { path: "data" });
    assert_eq!(reason(pair.ask(Call::MakeDirectory { path: "DATA" }).0), Reason::Exists);
    pair.done(Call::CheckDirectory { path: "data" });
    assert_eq!(reason(pair.ask(Call::CheckDirectory { path: "none" }).0), Reason::Missing);
    let octets = pattern(5_001);
    pair.put("data/a.bin", &octets);
    assert_eq!(pair.get("DATA/A.BIN"), octets);
    assert_eq!(reason(pair.open("data/a.bin", Access::Create)), Reason::Exists);
    assert_eq!(reason(pair.open("data/none", Access::Read)), Reason::Missing);
    assert_eq!(reason(pair.open("none/none", Access::Read)), Reason::Missing);
    assert_eq!(reason(pair.open("data", Access::Read)), Reason::Missing);
    // From odd places on, beyond the end, and in the middle.
    let (file, _) = pair.open("data/a.bin", Access::Update).unwrap();
    for (offset, count) in [(1, 1), (7, 512), (4_999, 1_024), (5_001, 10), (9_999, 3), (0, 1)] {
        let end = octets.len().min(offset + count);
        let expected = &octets[offset.min(end)..end];
        assert_eq!(pair.read(file, offset as u64, count as u32), expected, "{offset}");
    }
    pair.write(file, 2_001, b"changed");
    pair.done(Call::Flush { file });
    assert_eq!(
        pair.read(file, 2_000, 9),
        [&octets[2_000..2_001], b"changed", &octets[2_008..2_009]].concat()
    );
    pair.done(Call::Close { file });
    assert_eq!(reason(pair.ask(Call::Close { file }).0), Reason::Protocol);
    // Replaced, it is as long as what was written.
    let (file, _) = pair.open("data/a.bin", Access::Replace).unwrap();
    pair.write(file, 0, b"new");
    pair.done(Call::Close { file });
    assert_eq!(pair.get("data/a.bin"), b"new");
    pair.put("data/b.bin", b"b");
    pair.done(Call::MakeDirectory { path: "data/sub" });
    let listed = |name: &str, size_bytes, is_directory| Listed {
        name: name.into(),
        size_bytes,
        is_directory,
    };
    let expected =
        vec![listed("a.bin", 3, false), listed("b.bin", 1, false), listed("sub", 0, true)];
    assert_eq!(pair.list("data"), expected);
    assert_eq!(pair.list("data/sub"), []);
    assert_eq!(pair.list(""), [listed("data", 0, true)]);
    assert_eq!(reason(pair.ask(Call::List { path: "none" }).0), Reason::Missing);
    pair.done(Call::Rename { from: "data/sub", to: "data/other" });
    pair.done(Call::Rename { from: "data/b.bin", to: "data/other/c.bin" });
    let taken = Call::Rename { from: "data/a.bin", to: "data/other/c.bin" };
    assert_eq!(reason(pair.ask(taken).0), Reason::Exists);
    assert_eq!(pair.get("data/other/c.bin"), b"b");
    assert_eq!(reason(pair.ask(Call::RemoveDirectory { path: "data/other" }).0), Reason::Exists);
    assert_eq!(reason(pair.ask(Call::Remove { path: "data/other" }).0), Reason::Missing);
    pair.done(Call::Remove { path: "data/other/c.bin" });
    pair.done(Call::RemoveDirectory { path: "data/other" });
    pair.done(Call::Remove { path: "data/a.bin" });
    pair.done(Call::RemoveDirectory { path: "data" });
    assert_eq!(pair.list(""), []);
    pair.done(Call::Echo);
    assert_eq!(reason(pair.open("a long name.text", Access::Create)), Reason::Name);
    assert_eq!(pair.server().files.open(), 0);
}

#[test]
fn clients_of_both_generations_work_in_every_framing_despite_loss() {
    let settings = netware::ALL.into_iter().flat_map(|one| [(one, true), (one, false)]);
    for (netware, bursts) in settings {
        for (framing, lost) in framing::ALL.into_iter().zip([0, 5, 0, 5]) {
            let setting = Setting { framing: Some(framing), lost, bursts, ..Setting::new(netware) };
            let mut pair = Pair::new(&setting);
            exercise(&mut pair);
            let facts = pair.client().client.as_ref().unwrap().facts().unwrap().clone();
            let (major, minor) = netware.version;
            let login = if major == 2 { "login with a plain password" } else { "keyed login" };
            let has_bursts = bursts && major == 3;
            let suffix = if has_bursts { ", packet burst" } else { "" };
            assert_eq!(facts.protocol, format!("NCP, NetWare {major}.{minor:02}, {login}{suffix}"));
            // 3.x lets packets be as long as frames: these are 30 octets of IPX, 8 of envelope, 14 of a write, and data.
            let longest = framing::longest_data(framing) as u32;
            let one_packet = if major == 2 { 1024 } else { longest - 7 - 14 };
            // In a burst each has 36 octets before its part: 24 of them bring 8 octets and data, 10 take 24 and data.
            let data_bytes = if has_bursts {
                (24 * (longest - 36) - 8, 10 * (longest - 36) - 24)
            } else {
                (one_packet, one_packet)
            };
            assert_eq!(facts.server.as_deref(), Some("STATION1"));
            assert_eq!((facts.read_bytes, facts.write_bytes), data_bytes);
            let large = pattern(100_003);
            pair.put("large", &large);
            assert!(pair.get("large") == large);
            pair.end();
            assert!(pair.server().sessions.iter().all(|(_, session)| session.is_over()));
            assert_eq!(pair.counted(0, "information_sent_again") > 0, lost > 0);
        }
    }
}

#[test]
fn wrong_passwords_are_refused_and_servers_without_users_need_none() {
    for netware in netware::ALL {
        let wrong = Setting { password: "wrong", ..Setting::new(netware) };
        let mut pair = Pair::calling(&wrong);
        let refused = pair.outcome(Client::CONNECTED).0.unwrap_err();
        assert_eq!(refused.reason, Reason::Login, "{refused}");
        assert!(refused.message.contains("user `JOE`"), "{refused}");
        let server = pair.server();
        assert_eq!(server.sessions[0].1.failed_logins(), 1);
        assert!(!server.sessions[0].1.is_known());
        let mut guest = Pair::new(&Setting { user: None, ..Setting::new(netware) });
        guest.put("a", b"1");
        assert!(guest.server().sessions[0].1.is_known());
    }
}

#[test]
fn a_missing_volume_is_named() {
    let other = User { name: "joe".into(), password: "secret".into() };
    let setting = Setting { user: Some(other), ..Setting::new(NETWARE_3) };
    let mut pair = Pair::calling(&setting);
    pair.plan(|plan| plan.volume = "vol1".into());
    let refused = pair.outcome(Client::CONNECTED).0.unwrap_err();
    assert_eq!(refused.reason, Reason::Missing);
    let expected = "allocate permanent directory handle: no such volume (0x98): volume `vol1`";
    assert_eq!(refused.message, expected);
}

#[test]
fn a_read_only_volume_stays_unchanged() {
    let mut pair = Pair::new(&Setting { read_only: true, ..Setting::new(NETWARE_3) });
    assert_eq!(reason(pair.open("a", Access::Create)), Reason::Denied);
    assert_eq!(reason(pair.open("a", Access::Replace)), Reason::Denied);
    assert_eq!(reason(pair.ask(Call::MakeDirectory { path: "a" }).0), Reason::Denied);
    assert_eq!(pair.list(""), []);
}

#[test]
fn tshark_reads_every_packet_as_ncp() {
    let mut pair = Pair::new(&Setting { lost: 5, ..Setting::new(NETWARE_3) });
    exercise(&mut pair);
    pair.put("large", &pattern(100_003));
    assert!(pair.get("large") == pattern(100_003));
    pair.end();
    let capture = pair.segment.capture.as_ref().unwrap();
    let names = [
        "_ws.malformed",
        "ncp.type",
        "ncp.func",
        "ncp.subfunc",
        "ipxrip.request",
        "ipxrip.response",
        "ipxsap.request",
        "ipxsap.response",
        "ncp.burst_command",
        "ncp.missing_fraglist_count",
    ];
    let Some(lines) = fields(capture, "ncp", &names) else { return };
    assert_eq!(lines.len(), pair.segment.sent.len());
    let (mut requests, mut functions, mut bursts) = (0, BTreeSet::new(), BTreeSet::new());
    for line in &lines {
        let columns: Vec<&str> = line.split('\t').collect();
        assert!(columns[0].is_empty(), "{line}");
        // Every one is of one of the protocols.
        let of_others = columns[4..8].iter().filter(|column| !column.is_empty()).count();
        assert_eq!(of_others + usize::from(!columns[1].is_empty()), 1, "{line}");
        if columns[1] == "0x2222" {
            requests += 1;
            assert!(!columns[2].is_empty(), "{line}");
            functions.insert((columns[2], columns[3]));
        } else if columns[1] == "0x7777" {
            bursts.extend([columns[8], columns[9]]);
        }
    }
    assert!(requests > 60, "{requests}");
    assert!(functions.len() > 20, "{functions:?}");
    // Reads, writes, and what was missing of them.
    assert!(bursts.is_superset(&["0x01000000", "0x02000000", "0", "1"].into()), "{bursts:?}");
}

/// Linux's `ncpfs` ends them there, too: a request is of one block of the server's cache.
#[test]
fn requests_end_at_buffer_multiples() {
    let mut pair = Pair::new(&Setting::new(netware::NETWARE_2));
    pair.put("a", &pattern(3_000));
    let (file, _) = pair.open("a", Access::Update).unwrap();
    for (offset, count, expected) in [(0, 750, 750), (750, 750, 274), (1_024, 3_000, 1_024)] {
        assert_eq!(pair.read(file, offset, count), pattern(3_000)[offset as usize..][..expected]);
    }
    let call = Call::Write { file, offset: 1_000, parts: [&[1; 20], &[2; 20]] };
    assert_eq!(pair.ask(call).0, Ok(Done::Written(24)));
}

#[test]
fn a_volume_reports_its_name_and_free_space() {
    let mut bench = Bench::logged_in();
    let handle = Handle { handle: 1 };
    let (ended, data) = bench.ask(function::VOLUME_OF_HANDLE, |out| handle.emit(out));
    let volume = Volume::parse(&data).unwrap();
    assert_eq!((ended, &volume.name[..4]), (completion::OK, &b"SYS\0"[..]));
    for (all, free) in
        [(volume.blocks, volume.free_blocks), (volume.directory_slots, volume.free_directory_slots)]
    {
        assert!(0 < free && free <= all, "{volume:?}");
    }
}
