//! Names and datagrams of `NetBEUI`.

use lanlab_wire::browser::Announcement;
use lanlab_wire::llc::{Control, Header, Unnumbered};
use lanlab_wire::nbf::{NameCommand, NameHeader, value};
use lanlab_wire::netbios_name::{Name, suffix};

use super::Notes;
use super::announcements::announced;
use super::names::shown;
use super::questions::Kind;
use crate::messages::NameSign;

const PROTOCOL: &str = "NetBEUI";

pub fn frame(pdu: &[u8], notes: &mut Notes<'_>) {
    let Ok((header, information)) = Header::parse(pdu) else { return };
    let is_ui = matches!(header.control, Control::Unnumbered { kind: Unnumbered::Information, .. });
    if !is_ui {
        return;
    }
    let Ok((header, data)) = NameHeader::parse(information) else { return };
    let NameHeader { command, source, destination, data2, .. } = header;
    let key = (source, PROTOCOL, notes.from);
    let [low, high] = data2.to_le_bytes();
    match command {
        NameCommand::AddNameQuery => notes.names.see(key, NameSign::Claimed, Some(false)),
        NameCommand::AddGroupNameQuery => notes.names.see(key, NameSign::Claimed, Some(true)),
        NameCommand::NameQuery => {
            let asked = shown(destination);
            notes.questions.ask(notes.at, Kind::NetbeuiName, asked, notes.from);
            // In a query that only looks for a name, the sender's name is undefined.
            if low != 0 {
                notes.names.see(key, NameSign::Used, Some(high == value::GROUP));
            }
        }
        NameCommand::NameRecognized => {
            notes.questions.answer(Kind::NetbeuiName, &shown(source));
            let is_group = high == value::GROUP;
            notes.names.see(key, NameSign::Answered, Some(is_group));
            if source.suffix() == suffix::SERVER && !is_group {
                server(source, notes);
            }
        }
        NameCommand::AddNameResponse => {
            notes.names.see(key, NameSign::Answered, Some(low == value::GROUP));
        }
        NameCommand::StatusQuery => {
            let asked = shown(destination);
            notes.questions.ask(notes.at, Kind::NetbeuiStatus, asked, notes.from);
        }
        NameCommand::StatusResponse => {
            notes.questions.answer(Kind::NetbeuiStatus, &shown(source));
            notes.names.see(key, NameSign::Answered, None);
        }
        NameCommand::Datagram | NameCommand::DatagramBroadcast => {
            notes.names.see(key, NameSign::Used, None);
            if let Ok(announcement) = Announcement::parse(data) {
                announced(&announcement, PROTOCOL, notes);
            }
        }
        NameCommand::NameInConflict
        | NameCommand::TerminateTrace
        | NameCommand::TerminateTraces => {}
    }
}

fn server(name: Name, notes: &mut Notes<'_>) {
    let address = notes.from.to_string();
    notes.servers.see("file server".to_owned(), name.text(), PROTOCOL, address);
}
