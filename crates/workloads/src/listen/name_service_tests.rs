//! How the `NetBIOS` name service over UDP, and frames in VLANs, are interpreted. The datagrams are
//! written out by hand from RFC 1002, section 4.2.

use lanlab_wire::ethernet::{Framing, Mac};

use super::tests::{A, B, framed, observed};
use super::*;
use crate::messages::NameSign;

const REGISTER: u16 = 5 << 11 | 0x0110;
const RELEASE: u16 = 6 << 11 | 0x0010;
const REFRESH: u16 = 8 << 11;
const REFRESH_BY_THE_TABLE: u16 = 9 << 11;
const MULTI_HOMED: u16 = 15 << 11 | 0x0100;
const GROUP: u16 = 0x8000;
const ACTIVE: u16 = 0x0400;
const SUBNET: [u8; 4] = [10, 0, 0, 255];

fn sent(from: Mac, source: [u8; 4], destination: [u8; 4], to: Mac, data: &[u8]) -> Vec<u8> {
    let length = 28 + data.len() as u16;
    let mut packet = vec![0x45, 0];
    packet.extend_from_slice(&length.to_be_bytes());
    packet.extend_from_slice(&[0, 0, 0, 0, 64, 17, 0, 0]);
    packet.extend_from_slice(&source);
    packet.extend_from_slice(&destination);
    for word in [137, 137, length - 20, 0] {
        packet.extend_from_slice(&word.to_be_bytes());
    }
    packet.extend_from_slice(data);
    framed(to, from, Framing::Type(0x0800), &packet)
}

fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A name in its first level encoding (RFC 1001, section 14.1).
fn encoded(name: &str, suffix: u8) -> Vec<u8> {
    let octets = format!("{name:15}").into_bytes();
    let halves = octets.iter().chain([&suffix]).flat_map(|octet| [octet >> 4, octet & 15]);
    [vec![32], halves.map(|half| b'A' + half).collect(), vec![0]].concat()
}

/// A request about the sender's name, whose record refers to it by a pointer.
fn request(flags: u16, name: &str, suffix: u8, name_flags: u16, address: [u8; 4]) -> Vec<u8> {
    [
        words(&[7, flags, 1, 0, 0, 1]),
        encoded(name, suffix),
        words(&[0x20, 1, 0xc00c, 0x20, 1, 4, 0x93e0, 6, name_flags]),
        address.to_vec(),
    ]
    .concat()
}

fn names(heard: &Heard) -> Vec<(&str, u8, Option<bool>, NameSign, &str)> {
    let each = heard.names.iter();
    each.map(|each| (each.name.as_str(), each.suffix, each.is_group, each.sign, each.mac.as_str()))
        .collect()
}

#[test]
fn host_starts_and_shutdowns_are_detected() {
    let own = [10, 0, 0, 1];
    let all = Mac::BROADCAST;
    let heard = observed(&[
        sent(A, own, SUBNET, all, &request(REGISTER, "MILL98", 0, 0, own)),
        sent(A, own, SUBNET, all, &request(REGISTER, "WORKSHOP", 0, GROUP, own)),
        sent(A, own, [10, 0, 0, 9], B, &request(REFRESH, "SAW", 0x20, 0, own)),
        sent(A, own, [10, 0, 0, 9], B, &request(REFRESH_BY_THE_TABLE, "SAW9", 0x20, 0, own)),
        sent(A, own, [10, 0, 0, 9], B, &request(MULTI_HOMED, "TWO", 0x20, 0, own)),
        sent(A, own, SUBNET, all, &request(REGISTER, "DRILL", 0x20, 0, own)),
        sent(A, own, SUBNET, all, &request(RELEASE, "DRILL", 0x20, 0, own)),
        sent(A, own, SUBNET, all, &request(RELEASE, "BACK", 0, 0, own)),
        sent(A, own, SUBNET, all, &request(REGISTER, "BACK", 0, 0, own)),
    ]);
    let mac = A.to_string();
    let expected = [
        ("BACK", 0, Some(false), NameSign::Claimed),
        ("DRILL", 0x20, Some(false), NameSign::Released),
        ("MILL98", 0, Some(false), NameSign::Claimed),
        ("SAW", 0x20, Some(false), NameSign::Announced),
        ("SAW9", 0x20, Some(false), NameSign::Announced),
        ("TWO", 0x20, Some(false), NameSign::Claimed),
        ("WORKSHOP", 0, Some(true), NameSign::Claimed),
    ]
    .map(|(name, suffix, is_group, sign)| (name, suffix, is_group, sign, mac.as_str()));
    assert_eq!(names(&heard), expected);
    assert_eq!(heard.stations[0].addresses, ["10.0.0.1"]);
}

#[test]
fn status_replies_name_their_sender() {
    let of_name = |name: &str, suffix: u8, flags: u16| {
        [format!("{name:15}").into_bytes(), vec![suffix], flags.to_be_bytes().to_vec()].concat()
    };
    let listed = [
        of_name("LATHE", 0, ACTIVE),
        of_name("LATHE", 0x20, ACTIVE),
        of_name("WORKSHOP", 0, ACTIVE | GROUP),
        // Being deregistered.
        of_name("OLD", 0, 0x1000),
    ];
    let any = [vec![32], b"CK".to_vec(), [b'A'; 30].to_vec(), vec![0]].concat();
    let answer = [
        words(&[7, 0x8400, 0, 1, 0, 0]),
        any,
        words(&[0x21, 1, 0, 0, 1 + 4 * 18 + 46]),
        vec![4],
        listed.concat(),
        vec![0; 46],
    ]
    .concat();
    let heard = observed(&[sent(B, [10, 0, 0, 2], [10, 0, 0, 1], A, &answer)]);
    let mac = B.to_string();
    let expected =
        [("LATHE", 0, Some(false)), ("LATHE", 0x20, Some(false)), ("WORKSHOP", 0, Some(true))].map(
            |(name, suffix, is_group)| (name, suffix, is_group, NameSign::Answered, mac.as_str()),
        );
    assert_eq!(names(&heard), expected);
}

#[test]
fn a_subnet_broadcast_places_its_sender_in_the_subnet() {
    let addresses = |source, destination, to| {
        let heard = observed(&[sent(A, source, destination, to, b"")]);
        heard.stations[0].addresses.clone()
    };
    assert_eq!(addresses([10, 0, 0, 1], SUBNET, Mac::BROADCAST), ["10.0.0.1"]);
    assert_eq!(addresses([172, 16, 9, 9], [172, 16, 15, 255], Mac::BROADCAST), ["172.16.9.9"]);
    // From another network through a router; and not broadcast on the segment.
    assert!(addresses([10, 9, 0, 1], SUBNET, Mac::BROADCAST).is_empty());
    assert!(addresses([10, 0, 0, 1], SUBNET, B).is_empty());
    assert!(addresses([10, 0, 0, 1], [10, 0, 0, 2], Mac::BROADCAST).is_empty());
}

#[test]
fn frames_with_vlan_tags_are_parsed() {
    let own = [10, 0, 0, 1];
    let plain = sent(A, own, SUBNET, Mac::BROADCAST, &request(REGISTER, "MILL98", 0, 0, own));
    let tagged =
        |tags: &[[u16; 2]]| [&plain[..12], &words(tags.as_flattened()), &plain[12..]].concat();
    // Priority 5 is not part of the VLAN number.
    let heard = observed(&[tagged(&[[0x8100, 0xa007]]), tagged(&[[0x88a8, 100], [0x8100, 7]])]);
    let protocols: Vec<_> = heard.protocols.iter().map(|each| each.protocol.as_str()).collect();
    assert_eq!(protocols, ["IPv4 in VLAN 7", "IPv4 in VLAN 7 of 100"]);
    assert_eq!(heard.names[0].name, "MILL98");
    assert_eq!(heard.stations[0].addresses, ["10.0.0.1"]);
    // A third tag is reported as the protocol; a truncated frame is unreadable.
    let heard = observed(&[tagged(&[[0x8100, 1], [0x8100, 2], [0x8100, 3]]), plain[..12].to_vec()]);
    assert_eq!(heard.protocols[0].protocol, "VLAN tag in VLAN 2 of 1");
    assert_eq!(heard.unreadable_frames, 1);
}
