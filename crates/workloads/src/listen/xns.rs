//! Stations and servers of XNS.

use lanlab_wire::netbios_name::Name;
use lanlab_wire::xns::{idp, packet_type, pep, socket, spp};

use super::Notes;
use super::names::shown as shown_name;
use super::questions::Kind;
use crate::messages::NameSign;

const PROTOCOL: &str = "XNS";
const SERVER: &str = "file server";

pub fn idp(packet: &[u8], notes: &mut Notes<'_>) {
    let Some(packet) = idp::parse(packet).ok().filter(|packet| packet.is_intact) else { return };
    let (to, from) = (packet.header.destination, packet.header.source);
    // Only an unrouted packet originates from the station that sent the frame.
    if packet.header.hops == 0 && from.node == notes.from.0 {
        notes.stations.has_address(notes.from, &format!("XNS network {:08X}", from.network));
    }
    match packet.header.kind {
        packet_type::EXCHANGE if to.socket == socket::SMB => {
            if let Some(name) = asked(packet.data) {
                notes.questions.ask(notes.at, Kind::XnsName, shown_name(name), notes.from);
            }
        }
        packet_type::EXCHANGE if from.socket == socket::SMB => {
            if let Some(name) = asked(packet.data) {
                notes.questions.answer(Kind::XnsName, &shown_name(name));
                notes.names.see((name, PROTOCOL, notes.from), NameSign::Answered, Some(false));
                notes.servers.see(SERVER.to_owned(), name.text(), PROTOCOL, from.to_string());
            }
        }
        packet_type::SEQUENCED if from.socket == socket::SMB => {
            let header = spp::Header::parse(packet.data).ok();
            // A station that replies has accepted a call. Without a name, it is called by address.
            if header.is_some_and(|header| header.destination != spp::NO_CONNECTION) {
                let name = from.node.map(|octet| format!("{octet:02X}")).concat();
                notes.servers.see(SERVER.to_owned(), name, PROTOCOL, from.to_string());
            }
        }
        _ => {}
    }
}

fn asked(data: &[u8]) -> Option<Name> {
    data.get(pep::HEADER_LEN..)?.try_into().ok().map(Name)
}
