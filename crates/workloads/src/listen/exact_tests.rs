//! How each kind of frame is interpreted, for every protocol that is decoded further.

use std::net::Ipv4Addr;

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Framing, Mac};
use lanlab_wire::nbf::{NO_NAME, NameCommand};
use lanlab_wire::nbns::{self, Query, Question};
use lanlab_wire::netbios_name::Name;
use lanlab_wire::{arp, ipx};

use super::tests::{A, B, OWN, framed, named, observed};
use super::*;
use crate::messages::NameSign;
use name_answers::{emit_addresses, emit_negative};

#[path = "../../../wire/tests/support/name_answers.rs"]
mod name_answers;

const BROADCAST: [u8; 4] = [10, 0, 0, 255];

/// A UDP datagram from 10.0.0.1 to an address, in a frame of station A.
fn datagram(to: [u8; 4], source_port: u16, destination_port: u16, data: &[u8]) -> Vec<u8> {
    let length = 28 + data.len() as u16;
    let mut packet = vec![0x45, 0];
    packet.extend_from_slice(&length.to_be_bytes());
    packet.extend_from_slice(&[0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1]);
    packet.extend_from_slice(&to);
    for word in [source_port, destination_port, length - 20, 0] {
        packet.extend_from_slice(&word.to_be_bytes());
    }
    packet.extend_from_slice(data);
    framed(Mac::BROADCAST, A, Framing::Type(0x0800), &packet)
}

fn name(text: &str, suffix: u8) -> Name {
    Name::new(text, suffix).unwrap()
}

fn query(question: Question, name: Name) -> Query {
    Query { id: 7, broadcast: true, recursion_desired: false, question, name }
}

fn asked_by_udp(question: Question, asked: Name) -> Vec<u8> {
    let mut data = Vec::new();
    query(question, asked).emit(&mut data);
    datagram(BROADCAST, 137, 137, &data)
}

/// An announcement of the computer browser (MS-BRWS 2.2.1 in MS-MAIL 2.2.1).
fn announcement(opcode: u8, name: &[u8], server_type: u8) -> Vec<u8> {
    let mut message = b"\xffSMB\x25".to_vec();
    message.resize(69, 0);
    message.extend_from_slice(b"\\MAILSLOT\\BROWSE\0");
    let offset = message.len() as u16;
    message[55..57].copy_from_slice(&33_u16.to_le_bytes());
    message[57..59].copy_from_slice(&offset.to_le_bytes());
    let mut data = vec![opcode, 0, 0, 0, 0, 0];
    data.extend_from_slice(name);
    data.resize(22, 0);
    data.extend_from_slice(&[4, 0, server_type, 0, 0, 0, 15, 1, 0x55, 0xaa, 0]);
    [message, data].concat()
}

/// Names that were heard, each with its station, group flag and sign.
fn names(heard: &Heard) -> Vec<(&str, u8, Option<bool>, NameSign)> {
    heard
        .names
        .iter()
        .map(|each| (each.name.as_str(), each.suffix, each.is_group, each.sign))
        .collect()
}

fn servers(heard: &Heard) -> Vec<(&str, &str)> {
    heard.servers.iter().map(|each| (each.kind.as_str(), each.name.as_str())).collect()
}

fn questions(heard: &Heard) -> Vec<(&str, &str)> {
    let each = heard.unanswered.iter();
    each.map(|each| (each.question.as_str(), each.asked.as_str())).collect()
}

#[test]
fn frames_and_bytes_add_up() {
    let frame = |to, from| framed(to, from, Framing::Type(0x1234), &[0; 50]);
    let frames = [frame(A, B), frame(B, A), frame(OWN, A), frame(A, OWN), frame(Mac::BROADCAST, A)];
    let heard = observed(&frames);
    let length = frames[0].len() as u64;
    assert_eq!((heard.frames, heard.bytes, heard.frames_between_others), (5, 5 * length, 2));
    let protocol = &heard.protocols[0];
    assert_eq!((protocol.frames, protocol.bytes), (5, 5 * length));
    let stations: Vec<_> = heard
        .stations
        .iter()
        .map(|each| (each.frames, each.bytes, each.first_ns, each.last_ns))
        .collect();
    // Frame number n arrived after n microseconds.
    let (a, b) = ((3, 3 * length, 2_000, 5_000), (1, length, 1_000, 1_000));
    assert_eq!(stations, [a, b, (1, length, 4_000, 4_000)]);
    assert_eq!((heard.elapsed_ns, heard.mac.as_str()), (1_000_000, "02:00:00:00:00:63"));
    let mut observer = Observer::new(OWN, Instant::ZERO);
    observer.see(Instant::ZERO, &[]);
    assert_eq!(observer.frames(), 1);
}

#[test]
fn udp_name_queries_may_be_answered_by_any_host() {
    let files = name("FILES", 0x20);
    let answer = |flags| {
        let mut data = Vec::new();
        let addresses = [(0, Ipv4Addr::LOCALHOST), (flags, Ipv4Addr::LOCALHOST)];
        emit_addresses(&query(Question::Addresses, files), 1, &addresses, &mut data);
        data
    };
    let open = observed(&[
        asked_by_udp(Question::Addresses, files),
        asked_by_udp(Question::Status, name("OTHER", 0)),
    ]);
    assert_eq!(questions(&open), [("NetBIOS over UDP: who has the name", "FILES<20>")]);
    for (flags, is_group) in [(0, false), (nbns::GROUP, true)] {
        // From the name service's port to any port, and in the other direction.
        for ports in [(137, 4000), (4000, 137)] {
            let reply = datagram([10, 0, 0, 2], ports.0, ports.1, &answer(flags));
            let heard = observed(&[asked_by_udp(Question::Addresses, files), reply]);
            assert_eq!(names(&heard), [("FILES", 0x20, Some(is_group), NameSign::Answered)]);
            assert_eq!((heard.answered_questions, heard.unanswered.len()), (1, 0));
        }
    }
    let reply = datagram([10, 0, 0, 2], 4000, 4001, &answer(0));
    assert_eq!(observed(&[reply]).names.len(), 0, "of another port");
    // A negative reply is an answer, too, but no sign of the name.
    let mut data = Vec::new();
    emit_negative(&query(Question::Addresses, files), 3, &mut data);
    let reply = datagram([10, 0, 0, 2], 137, 137, &data);
    let heard = observed(&[asked_by_udp(Question::Addresses, files), reply]);
    assert_eq!((heard.answered_questions, heard.names.len()), (1, 0));
}

#[test]
fn addresses_are_learned_from_broadcasts() {
    let addresses = |to| observed(&[datagram(to, 1, 2, &[])]).stations[0].addresses.clone();
    assert_eq!(addresses([255, 255, 255, 255]), ["10.0.0.1"]);
    assert_eq!(addresses([224, 0, 0, 251]), ["10.0.0.1"]);
    assert!(addresses([10, 0, 0, 2]).is_empty(), "it may be that of a host behind a router");
}

fn netbios_datagram(kind: u8, source: Name, message: &[u8]) -> Vec<u8> {
    let mut data = vec![kind];
    data.resize(14, 0);
    source.emit_plain(&mut data);
    name("OFFICE", 0x1d).emit_plain(&mut data);
    data.extend_from_slice(message);
    datagram(BROADCAST, 138, 138, &data)
}

#[test]
fn browser_announcements_are_servers_or_computers() {
    let pc = name("PC", 0);
    for (opcode, server_type, kind) in [
        (1, 2, "file server"),
        (1, 1, "computer"),
        (1, 0xfd, "computer"),
        (12, 2, "workgroup"),
        (15, 2, "master browser"),
    ] {
        let frame = netbios_datagram(0x11, pc, &announcement(opcode, b"FILES", server_type));
        let heard = observed(&[frame]);
        assert_eq!(servers(&heard), [(kind, "FILES")]);
        // A host's announcement shows its name; a workgroup's does not.
        let sender = ("PC", 0, None, NameSign::Used);
        let announced = ("FILES", 0, Some(false), NameSign::Announced);
        let expected = if opcode == 1 { vec![announced, sender] } else { vec![sender] };
        assert_eq!(names(&heard), expected, "{opcode}");
    }
    for kind in [0x10, 0x11, 0x12] {
        assert_eq!(observed(&[netbios_datagram(kind, pc, &[])]).names.len(), 1, "{kind:#x}");
    }
    for kind in [0x0f, 0x13] {
        assert_eq!(observed(&[netbios_datagram(kind, pc, &[])]).names.len(), 0, "{kind:#x}");
    }
}

#[test]
fn the_owner_of_an_address_is_learned_from_any_frame() {
    let packet = |is_request, sender: u8, target: u8| {
        let address =
            |last| if last == 0 { Ipv4Addr::UNSPECIFIED } else { Ipv4Addr::new(10, 0, 0, last) };
        let (sender, target) = (address(sender), address(target));
        let (sender_mac, target_mac) = (A.0, [0; 6]);
        let mut octets = Vec::new();
        arp::Packet { is_request, sender_mac, sender, target_mac, target }.emit(&mut octets);
        framed(Mac::BROADCAST, A, Framing::Type(0x0806), &octets)
    };
    let found = |frames: &[Vec<u8>]| {
        let heard = observed(frames);
        (heard.stations[0].addresses.clone(), heard.unanswered.len(), heard.answered_questions)
    };
    let own = vec!["10.0.0.1".to_owned()];
    assert_eq!(found(&[packet(true, 1, 7)]), (own.clone(), 1, 0));
    assert_eq!(found(&[packet(false, 1, 7)]), (own.clone(), 0, 0), "an answer");
    assert_eq!(found(&[packet(true, 1, 1)]), (own.clone(), 0, 0), "an announcement");
    assert_eq!(found(&[packet(true, 0, 7)]), (vec![], 0, 0), "a probe");
    assert_eq!(found(&[packet(true, 1, 7), packet(false, 7, 1)]).2, 1);
    let question = &observed(&[packet(true, 1, 7)]).unanswered[0];
    let found = (question.question.as_str(), question.mac.as_str(), question.last_before_end_ns);
    assert_eq!(found, ("ARP: who has", "02:00:00:00:00:01", 999_000));
}

#[test]
fn netbeui_names_are_learned_from_frames() {
    let (files, group) = (name("FILES", 0x20), Mac::NETBIOS_GROUP);
    let said = |command, data2| named(command, group, A, [NO_NAME, files], data2);
    for (command, data2, is_group, sign) in [
        (NameCommand::AddNameQuery, 0, Some(false), NameSign::Claimed),
        (NameCommand::AddGroupNameQuery, 0, Some(true), NameSign::Claimed),
        (NameCommand::NameQuery, 0x0005, Some(false), NameSign::Used),
        (NameCommand::NameQuery, 0x0105, Some(true), NameSign::Used),
        (NameCommand::NameRecognized, 0x0005, Some(false), NameSign::Answered),
        (NameCommand::NameRecognized, 0x0105, Some(true), NameSign::Answered),
        (NameCommand::AddNameResponse, 0, Some(false), NameSign::Answered),
        (NameCommand::AddNameResponse, 1, Some(true), NameSign::Answered),
        (NameCommand::StatusResponse, 0, None, NameSign::Answered),
        (NameCommand::Datagram, 0, None, NameSign::Used),
        (NameCommand::DatagramBroadcast, 0, None, NameSign::Used),
    ] {
        let heard = observed(&[said(command, data2)]);
        assert_eq!(names(&heard), [("FILES", 0x20, is_group, sign)], "{command:?}");
        // Only the exclusive owner of a server's name is a server.
        let is_server = command == NameCommand::NameRecognized && is_group == Some(false);
        assert_eq!(heard.servers.len(), usize::from(is_server), "{command:?}");
    }
    // A query that only looks for a name, and commands that are no sign of one.
    for command in [NameCommand::NameQuery, NameCommand::NameInConflict, NameCommand::StatusQuery] {
        assert_eq!(observed(&[said(command, 0)]).names.len(), 0, "{command:?}");
    }
    let other = named(NameCommand::NameRecognized, group, A, [NO_NAME, name("PC", 0)], 5);
    assert_eq!(observed(&[other]).servers.len(), 0, "no server");
}

#[test]
fn adapter_status_queries_and_replies_are_recognised() {
    let (files, group) = (name("FILES", 0x20), Mac::NETBIOS_GROUP);
    let asked = named(NameCommand::StatusQuery, group, A, [files, NO_NAME], 0);
    let status = named(NameCommand::StatusResponse, A, B, [NO_NAME, files], 0);
    let open = observed(std::slice::from_ref(&asked));
    assert_eq!(questions(&open), [("NetBEUI: status of", "FILES<20>")]);
    assert_eq!(observed(&[asked, status]).answered_questions, 1);
}

fn advertising(hops: u8, sockets: (u16, u16), data: &[u8]) -> Vec<u8> {
    let address = |node, socket| ipx::Address { network: 0x17, node, socket };
    let destination = address([0xff; 6], sockets.1);
    let source = address(A.0, sockets.0);
    let mut packet = Vec::new();
    let header = ipx::Header { checksum: 0xffff, hops, kind: 4, destination, source };
    header.emit(data, &mut packet).unwrap();
    framed(Mac::BROADCAST, A, Framing::Type(0x8137), &packet)
}

fn served(operation: u8, kind: u16, hops: u8) -> Vec<u8> {
    let mut data = vec![0, operation];
    data.extend_from_slice(&kind.to_be_bytes());
    data.extend_from_slice(b"FS1");
    data.resize(52, 0);
    data.extend_from_slice(&[0, 0, 0xab, 0xcd, 0, 0, 0, 0, 0, 1, 4, 0x51, 0, hops]);
    data
}

#[test]
fn netware_servers_are_learned_from_advertisements_and_queries() {
    let sap = (0x0452, 0x0452);
    for (kind, words) in [
        (4, "file server"),
        (3, "print queue"),
        (7, "print server"),
        (0x640, "Windows NT server"),
        (0xffff, "any server"),
        (0x123, "server of type 0x0123"),
    ] {
        let heard = observed(&[advertising(0, sap, &served(2, kind, 1))]);
        assert_eq!(servers(&heard), [(words, "FS1")]);
        assert_eq!(heard.servers[0].address, "0000ABCD:000000000001:0451");
    }
    // One SAP socket of the two is enough. A server that goes down, at 16 hops, is not listed.
    let count =
        |sockets, hops| observed(&[advertising(0, sockets, &served(2, 4, hops))]).servers.len();
    assert_eq!([count((0x0452, 1), 15), count((1, 0x0452), 15), count((1, 2), 15)], [1, 1, 0]);
    assert_eq!(count(sap, 16), 0);
    let asked = |operation, kind| advertising(0, sap, &[0, operation, 0, kind]);
    let open = observed(&[asked(1, 4), asked(3, 4)]);
    let words = [("SAP: nearest", "file server"), ("SAP: which", "file server")];
    assert_eq!(questions(&open), words);
    // Each query needs its own kind of reply; a reply with a type also answers a query for any.
    let one = observed(&[asked(1, 4), asked(3, 4), advertising(0, sap, &served(2, 4, 1))]);
    assert_eq!((questions(&one), one.answered_questions), (vec![words[0]], 1));
    let any = advertising(0, sap, &[0, 3, 0xff, 0xff]);
    let nearest = observed(&[any, advertising(0, sap, &served(4, 4, 1))]);
    assert_eq!((nearest.answered_questions, nearest.unanswered.len()), (1, 0));
}

#[test]
fn only_unrouted_packets_reveal_a_station_network() {
    let addresses = |hops, from: [u8; 6]| {
        let mut frame = advertising(hops, (1, 2), &[]);
        frame[6..12].copy_from_slice(&from);
        observed(&[frame]).stations[0].addresses.len()
    };
    assert_eq!([addresses(0, A.0), addresses(1, A.0), addresses(0, B.0)], [1, 0, 0]);
}

#[test]
fn protocols_are_named_by_type_or_by_sap() {
    let protocol = |framing, payload: &[u8]| {
        observed(&[framed(Mac::BROADCAST, A, framing, payload)]).protocols[0].protocol.clone()
    };
    let snap = |organization, protocol| Framing::Snap { organization, protocol };
    assert_eq!(protocol(Framing::Type(0x86dd), &[0; 46]), "IPv6");
    assert_eq!(protocol(snap([0, 0, 0], 0x0806), &[0; 46]), "ARP");
    assert_eq!(protocol(snap([0, 0, 0xf8], 0x0806), &[0; 46]), "ARP");
    assert_eq!(protocol(snap([8, 0, 7], 0x809b), &[0; 46]), "SNAP 08-00-07 0x809b");
    for (sap, name) in [
        ([0xf0, 0xf1], "NetBEUI"),
        ([0xe0, 0xe1], "IPX"),
        ([0x42, 0], "spanning tree"),
        ([0, 0x42], "spanning tree"),
        ([0xfe, 0xfe], "ISO network layer"),
        ([0x10, 0x20], "LLC SAP 0x10 from 0x20"),
        ([0xf0, 0x20], "LLC SAP 0xf0 from 0x20"),
    ] {
        assert_eq!(protocol(Framing::Llc, &[sap[0], sap[1], 3, 0]), name);
    }
    assert_eq!(protocol(Framing::Llc, &[0xe0, 0xe0, 0x10, 0]), "LLC SAP 0xe0 from 0xe0");
}

#[test]
fn known_stations_are_counted_during_a_flood() {
    let mut observer = Observer::new(OWN, Instant::ZERO);
    for number in 0..1_001_u16 {
        let from = Mac([2, 0, 1, 0, (number >> 8) as u8, number as u8]);
        let frame = framed(from, from, Framing::Type(0x2000 + number), &[0; 46]);
        observer.see(Instant::ZERO, &frame);
        if number == 1_000 {
            let known = Mac([2, 0, 1, 0, 0, 0]);
            observer.see(Instant::ZERO, &framed(known, known, Framing::Type(0x2000), &[0; 46]));
        }
    }
    let heard = observer.heard(Instant::ZERO);
    assert_eq!((heard.stations.len(), heard.other_station_frames), (1_000, 1));
    assert_eq!((heard.protocols.len(), heard.other_protocol_frames), (1_000, 1));
    assert_eq!((heard.stations[0].frames, heard.protocols[0].frames), (2, 2));
}

#[test]
fn at_most_eight_protocols_are_kept_per_station() {
    let frames: Vec<_> = (0..9)
        .map(|kind| framed(Mac::BROADCAST, A, Framing::Type(0x2000 + kind), &[0; 46]))
        .collect();
    assert_eq!(observed(&frames).stations[0].protocols.len(), 8);
}

#[test]
fn servers_are_unique_and_bounded_to_a_thousand() {
    let server = |number: u32| {
        let mut data = served(2, 4, 1);
        data[4..8].copy_from_slice(&[
            b'A' + (number / 676) as u8,
            b'A' + (number / 26 % 26) as u8,
            b'A' + (number % 26) as u8,
            b'X',
        ]);
        advertising(0, (0x0452, 0x0452), &data)
    };
    let mut observer = Observer::new(OWN, Instant::ZERO);
    for number in (0..1_002).chain([5, 6]) {
        observer.see(Instant::ZERO, &server(number));
    }
    let heard = observer.heard(Instant::ZERO);
    assert_eq!((heard.servers.len(), heard.other_servers), (1_000, 2));
}
