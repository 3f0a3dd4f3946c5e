//! Packets about names.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::{packet_type, socket};
use lanlab_wire::nbipx::{NameCommand, NamePacket, name_flag};
use lanlab_wire::netbios_name::Name;

use crate::ipx::{Interface, Place};
use crate::netbios::{NameClaim, NameFrames, QueryKind};

/// Writes packets about names. Answers go to `asker`, if a packet is being answered.
pub(super) struct NameOutput<'a> {
    pub(super) interface: &'a mut Interface,
    pub(super) asker: Option<Place>,
}

impl NameOutput<'_> {
    fn push(&mut self, to: Option<Place>, command: NameCommand, flags: u8, name: Name) {
        let mut data = Vec::new();
        NamePacket { flags, command, name }.emit(&mut data);
        let (to, kind) = match to {
            Some(place) => (place, packet_type::EXCHANGE),
            None => (self.interface.everybody(socket::NETBIOS), packet_type::PROPAGATED),
        };
        self.interface.push(to, kind, socket::NETBIOS, &data);
    }

    /// Say that a name is ours, in answer to a question or a claim.
    pub(super) fn answer(&mut self, command: NameCommand, name: Name, is_group: bool) {
        if let Some(to) = self.asker {
            let flags = name_flag::IN_USE | name_flag::REGISTERED | group(is_group);
            self.push(Some(to), command, flags, name);
        }
    }
}

impl NameFrames for NameOutput<'_> {
    fn push_claim(&mut self, claim: NameClaim) {
        self.push(None, NameCommand::Claim, group(claim.is_group), claim.name);
    }

    fn push_objection(&mut self, _: Mac, claim: NameClaim, is_ours_group: bool, _: bool) {
        self.answer(NameCommand::InUse, claim.name, is_ours_group);
    }

    fn push_query(&mut self, query: QueryKind, name: Name, _: u16) {
        // Nothing asks for the state of an adapter.
        if query == QueryKind::Find {
            self.push(None, NameCommand::Find, 0, name);
        }
    }
}

const fn group(is_group: bool) -> u8 {
    if is_group { name_flag::GROUP } else { 0 }
}
