use std::net::Ipv4Addr;

use lanlab_units::Instant;
use lanlab_wire::ethernet::{Frame, Framing, Header, Mac};
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader};
use lanlab_wire::nbipx::{self, NameCommand as NameCommandOfIpx};
use lanlab_wire::netbios_name::Name;
use lanlab_wire::{arp, ipx, nmpi, xns};
use proptest::prelude::*;

use super::*;
use crate::messages::{FramingHeard, NameSign};

pub(super) const OWN: Mac = Mac([2, 0, 0, 0, 0, 99]);
pub(super) const A: Mac = Mac([2, 0, 0, 0, 0, 1]);
pub(super) const B: Mac = Mac([2, 0, 0, 0, 0, 2]);

pub(super) fn framed(destination: Mac, source: Mac, framing: Framing, payload: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    let header = Header { destination, source, framing };
    Frame { header, payload }.emit(&mut octets).unwrap();
    octets
}

pub(super) fn named(
    command: NameCommand,
    to: Mac,
    from: Mac,
    names: [Name; 2],
    data2: u16,
) -> Vec<u8> {
    let [destination, source] = names;
    let header = NameHeader::new(command, destination, source);
    let mut pdu = vec![0xf0, 0xf0, 0x03];
    NameHeader { data2, response_correlator: 7, ..header }.emit(&mut pdu);
    framed(to, from, Framing::Llc, &pdu)
}

fn asked(mac: Mac, for_address: u8) -> Vec<u8> {
    let packet = arp::Packet {
        is_request: true,
        sender_mac: mac.0,
        sender: Ipv4Addr::new(10, 0, 0, mac.0[5]),
        target_mac: [0; 6],
        target: Ipv4Addr::new(10, 0, 0, for_address),
    };
    let mut octets = Vec::new();
    packet.emit(&mut octets);
    framed(Mac::BROADCAST, mac, Framing::Type(0x0806), &octets)
}

pub(super) fn observed(frames: &[Vec<u8>]) -> Heard {
    let mut observer = Observer::new(OWN, Instant::ZERO);
    for (number, frame) in frames.iter().enumerate() {
        observer.see(Instant::from_nanos(1000 * (number as u64 + 1)), frame);
    }
    observer.heard(Instant::from_nanos(1_000_000))
}

#[test]
fn the_four_framings_of_ipx_are_distinguished_and_other_protocols_named() {
    let address = |node: [u8; 6]| ipx::Address { network: 0x17, node, socket: 0x0452 };
    let header = ipx::Header {
        checksum: 0xffff,
        hops: 0,
        kind: 4,
        destination: address([0xff; 6]),
        source: address(A.0),
    };
    let mut packet = Vec::new();
    header.emit(&[0, 3, 0, 4], &mut packet).unwrap();
    let llc = [&[0xe0, 0xe0, 3][..], &packet].concat();
    let snap = Framing::Snap { organization: [0; 3], protocol: 0x8137 };
    let heard = observed(&[
        framed(Mac::BROADCAST, A, Framing::Type(0x8137), &packet),
        framed(Mac::BROADCAST, A, Framing::Raw, &packet),
        framed(Mac::BROADCAST, A, Framing::Llc, &llc),
        framed(Mac::BROADCAST, A, snap, &packet),
        framed(Mac::BROADCAST, B, Framing::ThreeCom(0x0600), &[0; 30]),
        framed(Mac::BROADCAST, B, Framing::Llc, &[0x42, 0x42, 3, 0]),
        framed(Mac::BROADCAST, B, Framing::Type(0x1234), &[0; 30]),
        vec![0; 13],
    ]);
    let protocols: Vec<_> = heard
        .protocols
        .iter()
        .map(|each| (each.framing, each.protocol.as_str(), each.frames))
        .collect();
    assert_eq!(
        protocols,
        [
            (FramingHeard::EthernetIi, "IPX", 1),
            (FramingHeard::EthernetIi, "type 0x1234", 1),
            (FramingHeard::Raw8023, "IPX", 1),
            (FramingHeard::Llc, "IPX", 1),
            (FramingHeard::Llc, "spanning tree", 1),
            (FramingHeard::Snap, "IPX", 1),
            (FramingHeard::ThreeCom, "XNS", 1),
        ]
    );
    assert_eq!((heard.frames, heard.unreadable_frames), (8, 1));
    assert_eq!(heard.stations[0].addresses, ["IPX network 00000017"]);
    // A station also looks for servers in framings that it does not use.
    assert!(heard.stations.iter().all(|station| station.ipx_framings.is_empty()));
    assert_eq!(heard.stations[1].protocols, ["XNS", "spanning tree", "type 0x1234"]);
    let question = &heard.unanswered[0];
    assert_eq!((question.asked.as_str(), question.times), ("file server", 4));
    assert_eq!(question.last_before_end_ns, 996_000);
}

#[test]
fn direct_ipx_smb_stations_and_servers_are_named() {
    let said = |from: Mac, to: Mac, command, name: &str| {
        let address = |Mac(node), socket| ipx::Address { network: 0x17, node, socket };
        let (destination, source) = (address(to, 0x0551), address(from, 0x0551));
        let header = ipx::Header { checksum: 0xffff, hops: 0, kind: 4, destination, source };
        let name = Name::new(name, 0x20).unwrap();
        let caller = Name::new("PC1", 0).unwrap();
        let names =
            nmpi::Header { command, kind: nmpi::kind::MACHINE, message: 5, name, source: caller };
        let (mut data, mut frame) = (Vec::new(), Vec::new());
        names.emit(&mut data);
        ipx::framing::emit((to, from), Framing::Raw, &header, &data, &mut frame).unwrap();
        frame
    };
    let heard = observed(&[
        said(A, Mac::BROADCAST, nmpi::Command::Claim, "CNCFILES"),
        said(B, Mac::BROADCAST, nmpi::Command::Query, "CNCFILES"),
        said(A, B, nmpi::Command::Found, "CNCFILES"),
        said(B, Mac::BROADCAST, nmpi::Command::Query, "NOBODY"),
    ]);
    let names: Vec<_> = heard.names.iter().map(|each| (each.name.as_str(), each.sign)).collect();
    assert_eq!(names, [("CNCFILES", NameSign::Answered), ("PC1", NameSign::Used)]);
    assert_eq!(heard.servers.len(), 1);
    assert!(heard.servers[0].address.starts_with("00000017:"), "{}", heard.servers[0].address);
    assert_eq!((heard.answered_questions, heard.unanswered.len()), (1, 1));
    assert_eq!(heard.unanswered[0].question, "NMPI: who has the name");
}

/// A packet of a station in a framing, about a name of `NetBIOS` over IPX.
fn netbios_said(from: Mac, framing: Framing, kind: u8, command: NameCommandOfIpx) -> Vec<u8> {
    let address = |node| ipx::Address { network: 0, node, socket: ipx::socket::NETBIOS };
    let (destination, source) = (address([0xff; 6]), address(from.0));
    let header = ipx::Header { checksum: 0xffff, hops: 0, kind, destination, source };
    let (mut data, mut frame) = (Vec::new(), Vec::new());
    let name = Name::new("CNCFILES", 0x20).unwrap();
    nbipx::NamePacket { flags: 0x44, command, name }.emit(&mut data);
    ipx::framing::emit((Mac::BROADCAST, from), framing, &header, &data, &mut frame).unwrap();
    frame
}

#[test]
fn netbios_over_ipx_names_and_framings_are_learned() {
    let (raw, llc) = (ipx::framing::RAW_802_3, ipx::framing::IEEE_802_2);
    let heard = observed(&[
        netbios_said(B, llc, 0x14, NameCommandOfIpx::Find),
        netbios_said(A, raw, 4, NameCommandOfIpx::Recognized),
    ]);
    let names: Vec<_> = heard.names.iter().map(|each| (each.name.as_str(), each.sign)).collect();
    assert_eq!(names, [("CNCFILES", NameSign::Answered)]);
    assert_eq!((heard.servers.len(), heard.answered_questions), (1, 1));
    assert_eq!(heard.servers[0].protocol, "NetBIOS over IPX");
    let framings: Vec<_> = heard.stations.iter().map(|each| each.ipx_framings.clone()).collect();
    assert_eq!(framings, [[FramingHeard::Raw8023], [FramingHeard::Llc]]);
}

#[test]
fn xns_servers_are_recognised_by_answers_and_socket() {
    let said = |kind, (from, source), (to, destination), data: &[u8]| {
        let address = |Mac(node), socket| ipx::Address { network: 7, node, socket };
        let (destination, source) = (address(to, destination), address(from, source));
        let header = ipx::Header { checksum: 0, hops: 0, kind, destination, source };
        let mut frame = Vec::new();
        let framing = xns::framing::THREE_COM;
        xns::framing::emit((to, from), framing, &header, data, &mut frame).unwrap();
        frame
    };
    let smb = xns::socket::SMB;
    let name = |name: &str| [&[0; 6][..], &Name::new(name, 0x20).unwrap().0].concat();
    let all = Mac::BROADCAST;
    // A call does not show a server; its answer has the caller's connection number.
    let (call, answer) = ([0; 12], [0x80, 0, 0, 9, 0, 5, 0, 0, 0, 0, 0, 2]);
    let frames = [
        said(4, (B, 0x4001), (all, smb), &name("CNCFILES")),
        said(4, (B, 0x4001), (all, smb), &name("NOBODY")),
        said(4, (A, smb), (B, 0x4001), &name("CNCFILES")),
        said(4, (A, smb), (B, 0x4001), b"short"),
        said(5, (B, smb), (A, smb), &call),
        said(5, (A, smb), (B, 0x4001), &answer),
    ];
    let mut wrong = said(4, (B, smb), (A, 0x4001), &name("WRONG"));
    wrong[60] ^= 1;
    let heard = observed(&[&frames[..], &[wrong]].concat());
    let names: Vec<_> = heard.names.iter().map(|each| (each.name.as_str(), each.sign)).collect();
    assert_eq!(names, [("CNCFILES", NameSign::Answered)]);
    let servers: Vec<_> = heard.servers.iter().map(|each| each.name.as_str()).collect();
    let node = A.0.map(|octet| format!("{octet:02X}")).concat();
    assert_eq!(servers, [node.as_str(), "CNCFILES"]);
    assert_eq!((heard.answered_questions, heard.unanswered.len()), (1, 1));
    assert_eq!(heard.unanswered[0].question, "XNS: who has the name");
    assert!(heard.stations.iter().all(|station| station.addresses == ["XNS network 00000007"]));
}

#[test]
fn the_strongest_evidence_decides_a_name() {
    let (server, caller) = (Name::new("CNCFILES", 0x20).unwrap(), Name::new("PC1", 0).unwrap());
    let none = Name::new("NOBODY", 0x20).unwrap();
    let group = Mac::NETBIOS_GROUP;
    let heard = observed(&[
        named(NameCommand::AddNameQuery, group, A, [NO_NAME, server], 0),
        named(NameCommand::NameQuery, group, B, [server, caller], 5),
        named(NameCommand::NameRecognized, B, A, [caller, server], 9),
        named(NameCommand::NameQuery, group, B, [none, caller], 0),
        named(NameCommand::NameQuery, group, B, [none, caller], 0),
    ]);
    let names: Vec<_> = heard.names.iter().map(|each| (each.name.as_str(), each.sign)).collect();
    assert_eq!(names, [("CNCFILES", NameSign::Answered), ("PC1", NameSign::Used)]);
    assert_eq!(heard.servers.len(), 1);
    assert_eq!(
        (heard.servers[0].name.as_str(), heard.servers[0].kind.as_str()),
        ("CNCFILES", "file server")
    );
    assert_eq!(heard.answered_questions, 1);
    assert_eq!(heard.unanswered.len(), 1);
    assert_eq!((heard.unanswered[0].asked.as_str(), heard.unanswered[0].times), ("NOBODY<20>", 2));
    assert_eq!(heard.frames_between_others, 1);
}

#[test]
fn speaking_addresses_answer_themselves_and_claims_are_not_questions() {
    let heard = observed(&[asked(A, 2), asked(A, 7), asked(B, 1), asked(B, 2)]);
    let open: Vec<_> = heard.unanswered.iter().map(|each| each.asked.as_str()).collect();
    // 10.0.0.1 and 10.0.0.2 sent queries themselves, before or after others asked for them.
    assert_eq!(open, ["10.0.0.7"]);
    assert_eq!(heard.answered_questions, 2);
}

#[test]
fn a_flood_of_stations_names_and_questions_is_counted_in_bounded_memory() {
    let mut observer = Observer::new(OWN, Instant::ZERO);
    for number in 0..20_000_u32 {
        let [_, a, b, c] = number.to_be_bytes();
        let from = Mac([2, 0, 1, a, b, c]);
        let name = Name::new(&format!("N{number}"), 0).unwrap();
        let frame = named(NameCommand::NameQuery, Mac::NETBIOS_GROUP, from, [name, name], 1);
        observer.see(Instant::from_nanos(1), &frame);
        observer.see(
            Instant::from_nanos(1),
            &framed(from, from, Framing::Type(1536 + number as u16), &[]),
        );
    }
    let heard = observer.heard(Instant::from_nanos(2));
    for (kept, others) in [
        (heard.stations.len(), heard.other_station_frames / 2),
        (heard.names.len(), heard.other_names),
        (heard.unanswered.len(), heard.other_questions),
    ] {
        assert_eq!((kept as u64, others), (1000, 19_000));
    }
    assert_eq!(heard.protocols.len(), 1000);
    assert!(serde_json::to_string(&heard).unwrap().len() < 1_000_000);
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_panic(mut octets: Vec<u8>, start in 0..7_usize) {
        let starts: [&[u8]; 7] = [
            &[8, 0, 0x45],
            &[8, 6],
            &[0x81, 0x37],
            &[0, 46, 0xff, 0xff],
            &[0, 46, 0xf0, 0xf0, 3, 0x2c, 0, 0xff, 0xef, 0x0a],
            &[0, 46, 0xe0, 0xe0, 3],
            &[0, 46, 0xaa, 0xaa, 3, 0, 0, 0, 8, 6],
        ];
        let mut frame = vec![2; 12];
        frame.extend_from_slice(starts[start]);
        frame.append(&mut octets);
        let mut observer = Observer::new(OWN, Instant::ZERO);
        observer.see(Instant::ZERO, &frame);
        frame.resize(frame.len().max(60), 0);
        observer.see(Instant::ZERO, &frame);
        prop_assert_eq!(observer.heard(Instant::ZERO).frames, 2);
    }
}
