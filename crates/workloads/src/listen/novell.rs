//! Stations and servers of IPX.

use lanlab_wire::ipx::{Header, socket};
use lanlab_wire::sap::{ANY_SERVER, FILE_SERVER, GOING_DOWN_HOPS, Packet};

use super::Notes;
use super::questions::Kind;

pub fn ipx(packet: &[u8], notes: &mut Notes<'_>) {
    let Ok((header, data)) = Header::parse(packet) else { return };
    // Only a packet that passed no router is of the station that sent the frame.
    if header.hops == 0 && header.source.node == notes.from.0 {
        let network = header.source.network;
        notes.stations.has_address(notes.from, &format!("IPX network {network:08X}"));
    }
    if header.source.socket != socket::SAP && header.destination.socket != socket::SAP {
        return;
    }
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

/// A type of servers (Novell's and Microsoft's numbers).
fn shown(kind: u16) -> String {
    match kind {
        FILE_SERVER => "file server".to_owned(),
        0x0003 => "print queue".to_owned(),
        0x0007 => "print server".to_owned(),
        0x0640 => "Windows NT server".to_owned(),
        ANY_SERVER => "any server".to_owned(),
        other => format!("server of type {other:#06x}"),
    }
}
