//! ARP, and names of `NetBIOS` in UDP.

use std::net::Ipv4Addr;

use lanlab_wire::arp;
use lanlab_wire::browser::Announcement;
use lanlab_wire::nbns::{self, Answer, Query, Question, Request, Response, Wish};
use lanlab_wire::netbios_name::Name;
use lanlab_wire::udp_datagram::Packet;

use super::Notes;
use super::announcements::announced;
use super::names::shown;
use super::questions::Kind;
use crate::messages::NameSign;

/// Port of `NetBIOS` datagrams (RFC 1002, 4.4).
const DATAGRAM_PORT: u16 = 138;
/// Bytes of the header of such a datagram, before its names.
const DATAGRAM_HEADER_LEN: usize = 14;
const DATAGRAM_KINDS: std::ops::RangeInclusive<u8> = 0x10..=0x12;
const PROTOCOL: &str = "NetBIOS over UDP";

pub fn arp(packet: &[u8], notes: &mut Notes<'_>) {
    let Ok(packet) = arp::Packet::parse(packet) else { return };
    // A probe checks whether an address is free; an announcement claims it (RFC 5227).
    let is_claim = packet.sender.is_unspecified() || packet.sender == packet.target;
    if packet.is_request && !is_claim {
        let target = packet.target.to_string();
        notes.questions.ask(notes.at, Kind::Arp, target.clone(), notes.from);
        // Replies are unicast and may not arrive here: a station heard before counts as an answer.
        if notes.stations.knows(&target) {
            notes.questions.answer(Kind::Arp, &target);
        }
    }
    if !packet.sender.is_unspecified() {
        let sender = packet.sender.to_string();
        notes.stations.has_address(notes.from, &sender);
        notes.questions.answer(Kind::Arp, &sender);
    }
}

pub fn ipv4(packet: &[u8], notes: &mut Notes<'_>) {
    let Ok(packet) = Packet::parse(packet) else { return };
    // A speaking host exists, but its address may be behind a router.
    let is_to_segment = packet.destination.is_broadcast()
        || packet.destination.is_multicast()
        || notes.is_to_all && is_of_one_subnet(packet.source, packet.destination);
    if is_to_segment {
        notes.stations.has_address(notes.from, &packet.source.to_string());
    }
    let Some(datagram) = packet.datagram else { return };
    match (datagram.source_port, datagram.destination_port) {
        (nbns::PORT, _) | (_, nbns::PORT) => names(packet.source, datagram.data, notes),
        (_, DATAGRAM_PORT) => netbios_datagram(datagram.data, notes),
        _ => {}
    }
}

/// Whether an address is the broadcast of a subnet containing the other: all ones after their common prefix (RFC
/// 919).
fn is_of_one_subnet(source: Ipv4Addr, destination: Ipv4Addr) -> bool {
    let (source, destination) = (source.to_bits(), destination.to_bits());
    let ones = destination.trailing_ones();
    (1..32).contains(&ones) && source >> ones == destination >> ones
}

fn names(source: Ipv4Addr, datagram: &[u8], notes: &mut Notes<'_>) {
    if let Ok(query) = Query::parse(datagram) {
        if query.question == Question::Addresses {
            notes.questions.ask(notes.at, Kind::UdpName, shown(query.name), notes.from);
        }
    } else if let Ok(Request { wish, name, is_group, address, .. }) = Request::parse(datagram) {
        let sign = match wish {
            Wish::Register => NameSign::Claimed,
            // The host has the name and keeps it.
            Wish::Refresh => NameSign::Announced,
            Wish::Release => NameSign::Released,
        };
        notes.names.see((name, PROTOCOL, notes.from), sign, Some(is_group));
        // The address of a routed datagram does not belong to the station that sent the frame.
        if source == address {
            notes.stations.has_address(notes.from, &address.to_string());
        }
    } else if let Ok(Response { name, answer, .. }) = Response::parse(datagram) {
        // A negative reply is a reply, too.
        notes.questions.answer(Kind::UdpName, &shown(name));
        match answer {
            Answer::Addresses { addresses, .. } => {
                let is_group = addresses.iter().any(|(flags, _)| flags & nbns::GROUP != 0);
                let key = (name, PROTOCOL, notes.from);
                notes.names.see(key, NameSign::Answered, Some(is_group));
            }
            Answer::Status { names } => {
                for (name, flags) in names.iter().filter(|(_, flags)| flags & nbns::ACTIVE != 0) {
                    let is_group = flags & nbns::GROUP != 0;
                    notes.names.see(
                        (name, PROTOCOL, notes.from),
                        NameSign::Answered,
                        Some(is_group),
                    );
                }
            }
            Answer::Negative { .. } => {}
        }
    }
}

fn netbios_datagram(datagram: &[u8], notes: &mut Notes<'_>) {
    if !datagram.first().is_some_and(|kind| DATAGRAM_KINDS.contains(kind)) {
        return;
    }
    let Some(rest) = datagram.get(DATAGRAM_HEADER_LEN..) else { return };
    let Ok((source, length)) = Name::parse_and_skip_scope(rest) else { return };
    notes.names.see((source, PROTOCOL, notes.from), NameSign::Used, None);
    let Some(rest) = rest.get(length..) else { return };
    let Ok((_, length)) = Name::parse_and_skip_scope(rest) else { return };
    if let Some(Ok(announcement)) = rest.get(length..).map(Announcement::parse) {
        announced(&announcement, PROTOCOL, notes);
    }
}
