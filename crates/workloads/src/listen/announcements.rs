//! Announcements of the computer browser over any protocol.

use lanlab_wire::browser::{self, Announcement};
use lanlab_wire::netbios_name::{Name, suffix};

use super::Notes;
use crate::messages::NameSign;

/// `SV_TYPE_SERVER` ([MS-BRWS] 2.2.1 by [MS-SRVS] 2.2.2.7): the host shares files or printers.
const SHARES: u32 = 2;

pub fn announced(announcement: &Announcement, protocol: &'static str, notes: &mut Notes<'_>) {
    let Announcement { kind, name, server_type, .. } = announcement;
    let address = notes.from.to_string();
    let role = match kind {
        browser::Kind::Domain => "workgroup",
        browser::Kind::LocalMaster => "master browser",
        browser::Kind::Host if server_type & SHARES != 0 => "file server",
        browser::Kind::Host => "computer",
    };
    notes.servers.see(role.to_owned(), name.clone(), protocol, address);
    if *kind == browser::Kind::Host
        && let Ok(name) = Name::new(name, suffix::WORKSTATION)
    {
        notes.names.see((name, protocol, notes.from), NameSign::Announced, Some(false));
    }
}
