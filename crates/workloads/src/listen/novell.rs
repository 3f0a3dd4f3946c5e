//! Stations and servers of IPX.

use lanlab_wire::ipx::{Header, packet_type, socket};
use lanlab_wire::nbipx::{NameCommand, NamePacket, is_session, name_flag};
use lanlab_wire::netbios_name::suffix;
use lanlab_wire::sap::{ANY_SERVER, FILE_SERVER, GOING_DOWN_HOPS, Packet, WINDOWS_SERVER};
use lanlab_wire::{nmpi, sap};

use super::Notes;
use super::names::shown as shown_name;
use super::questions::Kind;
use crate::messages::{FramingHeard, NameSign};

const NMPI: &str = "NMPI";
const NETBIOS: &str = "NetBIOS over IPX";

pub fn ipx(framing: FramingHeard, packet: &[u8], notes: &mut Notes<'_>) {
    let Ok((header, data)) = Header::parse(packet) else { return };
    if !sap::is_question(&header, data) {
        notes.stations.uses_ipx_in(notes.from, framing);
    }
    // Only an unrouted packet originates from the station that sent the frame.
    if header.hops == 0 && header.source.node == notes.from.0 {
        let network = header.source.network;
        notes.stations.has_address(notes.from, &format!("IPX network {network:08X}"));
    }
    let sockets = [header.source.socket, header.destination.socket];
    if sockets.contains(&socket::SMB_NAMES) {
        smb_names(&header.source.to_string(), data, notes);
    } else if sockets.contains(&socket::SAP) {
        services(data, notes);
    } else if sockets.contains(&socket::NETBIOS)
        && (header.kind == packet_type::PROPAGATED || !is_session(data))
    {
        netbios_names(&header.source.to_string(), data, notes);
    }
}

fn netbios_names(address: &str, data: &[u8], notes: &mut Notes<'_>) {
    let Ok(NamePacket { flags, command, name }) = NamePacket::parse(data) else { return };
    let is_group = flags & name_flag::GROUP != 0;
    let key = (name, NETBIOS, notes.from);
    match command {
        NameCommand::Find => {
            notes.questions.ask(notes.at, Kind::IpxName, shown_name(name), notes.from);
        }
        NameCommand::Claim => notes.names.see(key, NameSign::Claimed, Some(is_group)),
        NameCommand::Deregister => notes.names.see(key, NameSign::Released, Some(is_group)),
        NameCommand::Recognized | NameCommand::InUse => {
            notes.questions.answer(Kind::IpxName, &shown_name(name));
            notes.names.see(key, NameSign::Answered, Some(is_group));
            if name.suffix() == suffix::SERVER && !is_group {
                let (kind, name) = ("file server".to_owned(), name.text());
                notes.servers.see(kind, name, NETBIOS, address.to_owned());
            }
        }
    }
}

fn smb_names(address: &str, data: &[u8], notes: &mut Notes<'_>) {
    let Ok((header, _)) = nmpi::Header::parse(data) else { return };
    let is_group = Some(header.kind != nmpi::kind::MACHINE);
    let key = |name| (name, NMPI, notes.from);
    match header.command {
        nmpi::Command::Claim => notes.names.see(key(header.name), NameSign::Claimed, is_group),
        nmpi::Command::Delete => notes.names.see(key(header.name), NameSign::Released, is_group),
        nmpi::Command::Query => {
            notes.questions.ask(notes.at, Kind::NmpiName, shown_name(header.name), notes.from);
            notes.names.see(key(header.source), NameSign::Used, None);
        }
        nmpi::Command::Found => {
            notes.questions.answer(Kind::NmpiName, &shown_name(header.name));
            notes.names.see(key(header.name), NameSign::Answered, is_group);
            if is_group == Some(false) {
                let (kind, name) = ("file server".to_owned(), header.name.text());
                notes.servers.see(kind, name, NMPI, address.to_owned());
            }
        }
        _ => {}
    }
}

fn services(data: &[u8], notes: &mut Notes<'_>) {
    match Packet::parse(data) {
        Ok(Packet::Query { is_nearest, kind }) => {
            let question = if is_nearest { Kind::NearestServer } else { Kind::Servers };
            notes.questions.ask(notes.at, question, shown(kind), notes.from);
        }
        Ok(Packet::Response { is_nearest, servers }) => {
            for server in servers.iter().filter(|server| server.hops < GOING_DOWN_HOPS) {
                let question = if is_nearest { Kind::NearestServer } else { Kind::Servers };
                notes.questions.answer(question, &shown(server.kind));
                notes.questions.answer(question, &shown(ANY_SERVER));
                let address = server.address.to_string();
                notes.servers.see(shown(server.kind), server.name, "SAP", address);
            }
        }
        Err(_) => {}
    }
}

fn shown(kind: u16) -> String {
    match kind {
        FILE_SERVER => "file server".to_owned(),
        0x0003 => "print queue".to_owned(),
        0x0007 => "print server".to_owned(),
        WINDOWS_SERVER => "Windows NT server".to_owned(),
        ANY_SERVER => "any server".to_owned(),
        other => format!("server of type {other:#06x}"),
    }
}
