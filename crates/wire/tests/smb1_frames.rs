//! Packets of other clients and servers: they are read as tshark reads them, and written again to
//! the same octets.

#[path = "smb1/again.rs"]
mod again;
#[path = "smb1/facts.rs"]
mod facts;
#[path = "smb1/frames.rs"]
mod frames;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use again::again;
use frames::{Frame, frames, messages};
use lanlab_wire::nbss::{Framing, Header, Kind, Packet};
use lanlab_wire::smb1::command;
use proptest::prelude::*;

#[test]
fn session_service_packets_round_trip() {
    let mut kinds = BTreeMap::new();
    for frame in frames() {
        let header = Header::parse(&frame.packet, Framing::Direct).unwrap();
        assert_eq!(header.len, frame.message().len());
        let packet = Packet::parse(header.kind, frame.message()).unwrap();
        let mut out = Vec::new();
        packet.emit(Framing::Direct, &mut out).unwrap();
        assert_eq!(out, frame.packet);
        if let Packet::Request { called, calling } = packet {
            assert_eq!((called.text().as_str(), called.suffix()), ("SERVER", 0x20));
            assert_eq!((calling.text().as_str(), calling.suffix()), ("CLIENT", 0x00));
        }
        let name = match header.kind {
            Kind::Message => "message",
            Kind::Request => "request",
            Kind::Positive => "positive",
            Kind::KeepAlive => "keep-alive",
            _ => "other",
        };
        *kinds.entry(name).or_insert(0) += 1;
    }
    assert_eq!(
        kinds,
        BTreeMap::from([("keep-alive", 1), ("message", 290), ("positive", 1), ("request", 1)])
    );
}

#[test]
fn parsed_messages_match_tshark() {
    let mut compared = BTreeMap::new();
    for frame in messages() {
        for (name, value) in facts::facts(frame.message(), frame.from_client).unwrap() {
            if let Some(expected) = frame.fields.get(name) {
                // A field may stand twice, as the process has one in the header and one in a lock.
                let found = value == *expected || expected.split('|').any(|one| one == value);
                assert!(found, "{name} {value}, {expected} of {}", hex::encode(frame.message()));
                *compared.entry(name).or_insert(0) += 1;
            }
        }
    }
    // Each field was there to compare, and those of the header in every message.
    assert_eq!(compared.len(), 57);
    for name in ["cmd", "flags", "flags2", "mid", "pid", "pid.high", "tid", "uid", "wct"] {
        assert_eq!(compared[name], 290, "{name}");
    }
}

#[test]
fn messages_round_trip() {
    let (mut same, mut others) = (0, BTreeMap::new());
    for frame in messages() {
        let octets = frame.message();
        match again(octets, frame.from_client) {
            Ok(Some(written)) if written == octets => same += 1,
            Ok(Some(written)) => {
                // The same once more: what was read of it is what was written.
                assert_eq!(
                    again(&written, frame.from_client),
                    Ok(Some(written.clone())),
                    "{}",
                    hex::encode(octets)
                );
                let side = if frame.from_client { "request" } else { "response" };
                let name = command::name(octets[4]);
                *others.entry(format!("{name} {side}")).or_insert(0) += 1;
            }
            Ok(None) => panic!("not read: {}", hex::encode(octets)),
            Err(error) => panic!("{error}: {}", hex::encode(octets)),
        }
    }
    // What is written otherwise: reserved fields that others fill, and alignment, which is free.
    let expected = [
        ("smb1 create temporary response", 1),
        ("smb1 find close response", 2),
        ("smb1 nt create andx request", 3),
        ("smb1 nt create andx response", 1),
        ("smb1 open andx request", 1),
        ("smb1 open andx response", 1),
        ("smb1 transaction 2 request", 6),
        ("smb1 write andx request", 2),
    ];
    assert_eq!(others, expected.map(|(name, count)| (name.to_owned(), count)).into());
    assert_eq!(same, 273);
}

static MESSAGES: LazyLock<Vec<Frame>> = LazyLock::new(messages);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_changed_message_is_parsed_without_panic(
        which: prop::sample::Index, len: prop::sample::Index, changes: Vec<(prop::sample::Index, u8)>,
    ) {
        let frame = which.get(&MESSAGES);
        let mut octets = frame.message().to_vec();
        if changes.len() % 4 == 3 {
            octets.truncate(len.index(octets.len() + 1));
        }
        if !octets.is_empty() {
            for (at, value) in changes.iter().take(6) {
                let at = at.index(octets.len());
                octets[at] = *value;
            }
        }
        if let Ok(Some(written)) = again(&octets, frame.from_client) {
            let _ = again(&written, frame.from_client);
        }
        let _ = facts::facts(&octets, frame.from_client);
    }
}
