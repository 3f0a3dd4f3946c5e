//! Name packets.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::{packet_type, socket};
use lanlab_wire::netbios_name::{MAX_TEXT_LEN, Name};
use lanlab_wire::nmpi::{Command, Header, kind};

use crate::ipx::{Interface, Packet, Place};
use crate::netbios::NameFrames;

/// Writes name packets; answers are sent to `asker` if a packet is being answered.
pub(super) struct NameOutput<'a> {
    pub(super) interface: &'a mut Interface,
    pub(super) own: Name,
    pub(super) asker: Option<Place>,
}

impl NameOutput<'_> {
    fn packet(&self, command: Command, kind: u8, name: Name, message: u16) -> Vec<u8> {
        let mut data = Vec::new();
        Header { command, kind, message, name, source: self.own }.emit(&mut data);
        data
    }

    fn push_to_all(&mut self, is_again: bool, data: &[u8]) {
        self.interface.push_to_all(is_again, packet_type::PROPAGATED, socket::SMB_NAMES, data);
    }

    pub(super) fn query(&mut self, name: Name, message: u16, is_again: bool) {
        let data = self.packet(Command::Query, kind::MACHINE, name, message);
        self.push_to_all(is_again, &data);
    }

    pub(super) fn found(&mut self, to: Place, kind: u8, name: Name, message: u16) {
        let data = self.packet(Command::Found, kind, name, message);
        self.interface.push(to, packet_type::EXCHANGE, socket::SMB_NAMES, &data);
    }
}

impl NameFrames for NameOutput<'_> {
    fn push_claim(&mut self, name: Name, correlator: u16) {
        let data = self.packet(Command::Claim, kind::MACHINE, name, correlator);
        self.push_to_all(false, &data);
    }

    fn push_objection(&mut self, _: Mac, (name, correlator): (Name, u16), _: bool) {
        if let Some(to) = self.asker {
            self.found(to, kind::MACHINE, name, correlator);
        }
    }
}

/// Parse a name packet. `None` if it is malformed.
pub(super) fn read(packet: &Packet<'_>) -> Option<Header> {
    Header::parse(packet.data).ok().map(|(header, _)| header)
}

/// Whether two names belong to the same machine. Systems disagree about the 16th character, so only the first 15
/// count.
pub(super) fn is_same_machine(one: Name, other: Name) -> bool {
    one.0[..MAX_TEXT_LEN] == other.0[..MAX_TEXT_LEN]
}
