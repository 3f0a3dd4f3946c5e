use super::*;
use crate::netbios_name::suffix;
use proptest::prelude::*;

use name_answers::{emit_addresses, emit_negative};

#[path = "../../tests/support/name_answers.rs"]
mod name_answers;

const FRAMES: &str = include_str!("../../tests/frames/nbns.hex");

fn frame(name: &str) -> Vec<u8> {
    let line = FRAMES.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    hex::decode(line.unwrap()).unwrap()
}

fn emitted(query: &Query) -> Vec<u8> {
    let mut out = Vec::new();
    query.emit(&mut out);
    out
}

#[test]
fn a_registration_of_samba_is_read() {
    // The name of all browsers: it begins and ends with octets other than letters.
    let found = Request::parse(&frame("registration")).unwrap();
    assert_eq!((found.wish, found.broadcast, found.id), (Wish::Register, true, 0x3c87));
    assert_eq!(found.name.suffix(), 1);
    assert_eq!((found.is_group, found.address), (true, Ipv4Addr::new(10, 9, 9, 1)));
    assert!(Query::parse(&frame("registration")).is_err());
    assert!(Response::parse(&frame("registration")).is_err());
}

#[test]
fn record_names_may_be_uncompressed_and_other_requests_are_refused() {
    let whole = frame("registration");
    let name = whole[12..46].to_vec();
    let record = whole.iter().rposition(|octet| *octet == 0xc0).unwrap();
    let spelled = [&whole[..record], &name, &whole[record + 2..]].concat();
    assert_eq!(Request::parse(&spelled), Request::parse(&whole));
    for (opcode, wish) in [(6, Wish::Release), (8, Wish::Refresh), (9, Wish::Refresh)] {
        let mut other = whole.clone();
        other[2] = opcode << 3;
        assert_eq!(Request::parse(&other).unwrap().wish, wish);
    }
    for length in 0..whole.len() {
        assert!(Request::parse(&whole[..length]).is_err(), "{length}");
    }
    for (at, octet) in [(2, 0x00), (2, 0xa9), (5, 2), (11, 0), (47, 0x21), (record + 3, 0x21)] {
        let mut bad = whole.clone();
        bad[at] = octet;
        assert!(Request::parse(&bad).is_err(), "{at}");
    }
}

#[test]
fn samba_queries_round_trip() {
    let server = |suffix| Name::new("SERVER", suffix).unwrap();
    let query = |id, name| Query {
        id,
        broadcast: false,
        recursion_desired: false,
        question: Question::Addresses,
        name,
    };
    for (name, expected) in [
        ("query", query(0x1fed, server(suffix::WORKSTATION))),
        ("query-server", query(0x749f, server(suffix::SERVER))),
        ("query-unknown", query(0x5d59, Name::new("NOSUCH", 0).unwrap())),
        ("status", Query { question: Question::Status, ..query(0x3ef7, Name::ANY) }),
        (
            "query-broadcast",
            Query { broadcast: true, recursion_desired: true, ..query(0x71c4, server(0)) },
        ),
    ] {
        assert_eq!(Query::parse(&frame(name)), Ok(expected), "{name}");
        assert_eq!(emitted(&expected), frame(name), "{name}");
    }
}

#[test]
fn samba_addresses_round_trip() {
    for kind in ["query", "query-server", "query-broadcast"] {
        let query = Query::parse(&frame(kind)).unwrap();
        let mut octets = frame(&format!("{kind}-response"));
        let response = Response::parse(&octets).unwrap();
        assert_eq!((response.id, response.name), (query.id, query.name));
        let Answer::Addresses { ttl_s, addresses } = response.answer else {
            panic!("{response:?}")
        };
        let addresses: Vec<_> = addresses.iter().collect();
        assert_eq!(ttl_s, 259_200);
        assert_eq!(addresses, [(0, Ipv4Addr::new(10, 9, 9, 1))]);

        let mut out = Vec::new();
        emit_addresses(&query, ttl_s, &addresses, &mut out);
        octets[3] &= !0x80; // Samba offers recursion, which our servers do not.
        assert_eq!(out, octets);
    }
}

#[test]
fn host_names_are_read() {
    let octets = frame("status-response");
    let response = Response::parse(&octets).unwrap();
    let Answer::Status { names } = response.answer else { panic!("{response:?}") };
    let names: Vec<_> = names.iter().collect();
    let said: Vec<_> = names
        .iter()
        .map(|(name, flags)| (name.text(), name.suffix(), flags & GROUP != 0))
        .collect();
    assert_eq!(
        said,
        [
            ("SERVER".into(), 0x00, false),
            ("SERVER".into(), 0x03, false),
            ("SERVER".into(), 0x20, false),
            ("??__MSBROWSE__?".into(), 0x01, true),
            ("LAB".into(), 0x00, true),
            ("LAB".into(), 0x1e, true),
        ]
    );
    assert!(names.iter().all(|(_, flags)| flags & ACTIVE != 0));
}

#[test]
fn a_missing_name_is_reported() {
    let query = Query::parse(&frame("query-unknown")).unwrap();
    let mut octets = frame("query-unknown-response");
    let answer = Response::parse(&octets).unwrap().answer;
    assert_eq!(answer, Answer::Negative { code: NAME_ERROR });
    let mut out = Vec::new();
    emit_negative(&query, NAME_ERROR, &mut out);
    octets[3] &= !0x80;
    assert_eq!(out, octets);
}

#[test]
fn malformed_queries_and_responses_are_refused() {
    for (name, query, response) in [
        ("registration", "0x2910", "0x2910"),
        ("query", "", "0x0"),
        ("query-response", "0x8580", ""),
    ] {
        let said = |error: Option<Error>| error.map(|error| error.to_string()).unwrap_or_default();
        let sentence = |value: &str| match value {
            "" => String::new(),
            value => format!("nbns: field `FLAGS` at octet 2 has forbidden value {value}"),
        };
        assert_eq!(said(Query::parse(&frame(name)).err()), sentence(query), "{name}");
        assert_eq!(said(Response::parse(&frame(name)).err()), sentence(response), "{name}");
    }
}

#[test]
fn every_truncation_is_refused() {
    for name in ["query", "status"] {
        let octets = frame(name);
        for len in 0..octets.len() {
            assert!(Query::parse(&octets[..len]).is_err(), "{name} {len}");
        }
    }
    let octets = frame("status-response");
    for len in 0..octets.len() {
        assert!(Response::parse(&octets[..len]).is_err(), "{len}");
    }
}

proptest! {
    #[test]
    fn requests_are_parsed_or_refused(datagram: Vec<u8>) {
        let _ = Request::parse(&datagram);
    }

    #[test]
    fn parse_never_panics(at in 0..500_usize, value: u8, octets: Vec<u8>) {
        for mut datagram in [octets, frame("query"), frame("status-response")] {
            let _ = (Query::parse(&datagram), Response::parse(&datagram));
            if let Some(octet) = datagram.get_mut(at) {
                *octet = value;
            }
            let _ = Query::parse(&datagram);
            if let Ok(Response { answer: Answer::Status { names }, .. }) = Response::parse(&datagram) {
                prop_assert!(names.iter().count() * 18 <= datagram.len());
            }
        }
    }
}
