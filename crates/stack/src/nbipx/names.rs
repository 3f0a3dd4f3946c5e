//! Name packets.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::{packet_type, socket};
use lanlab_wire::nbipx::{NameCommand, NamePacket, name_flag};
use lanlab_wire::netbios_name::Name;

use crate::ipx::{Interface, Place};
use crate::netbios::NameFrames;

/// Writes name packets; answers are sent to `asker` if a packet is being answered.
pub(super) struct NameOutput<'a> {
    pub(super) interface: &'a mut Interface,
    pub(super) asker: Option<Place>,
}

impl NameOutput<'_> {
    pub(super) fn find(&mut self, name: Name, is_again: bool) {
        let data = packet(NameCommand::Find, 0, name);
        self.interface.push_to_all(is_again, packet_type::PROPAGATED, socket::NETBIOS, &data);
    }

    /// Answer a query or claim: the name is ours.
    pub(super) fn answer(&mut self, command: NameCommand, name: Name) {
        if let Some(to) = self.asker {
            let flags = name_flag::IN_USE | name_flag::REGISTERED;
            let data = packet(command, flags, name);
            self.interface.push(to, packet_type::EXCHANGE, socket::NETBIOS, &data);
        }
    }
}

impl NameFrames for NameOutput<'_> {
    fn push_claim(&mut self, name: Name, _: u16) {
        let data = packet(NameCommand::Claim, 0, name);
        self.interface.push_to_all(false, packet_type::PROPAGATED, socket::NETBIOS, &data);
    }

    fn push_objection(&mut self, _: Mac, (name, _): (Name, u16), _: bool) {
        self.answer(NameCommand::InUse, name);
    }
}

fn packet(command: NameCommand, flags: u8, name: Name) -> Vec<u8> {
    let mut data = Vec::new();
    NamePacket { flags, command, name }.emit(&mut data);
    data
}
