//! Packets about names.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::ipx::{packet_type, socket};
use lanlab_wire::netbios_name::{MAX_TEXT_LEN, Name};
use lanlab_wire::nmpi::{Command, Header, kind};

use crate::ipx::{Interface, Packet, Place};
use crate::netbios::{NameClaim, NameFrames, QueryKind};

/// Writes packets about names. Answers go to `asker`, if a packet is being answered.
pub(super) struct NameOutput<'a> {
    pub(super) interface: &'a mut Interface,
    pub(super) own: Name,
    pub(super) asker: Option<Place>,
}

impl NameOutput<'_> {
    fn push(
        &mut self,
        to: Option<Place>,
        command: Command,
        kind: u8,
        (name, message): (Name, u16),
    ) {
        let mut data = Vec::new();
        Header { command, kind, message, name, source: self.own }.emit(&mut data);
        let (to, packet) = match to {
            Some(place) => (place, packet_type::EXCHANGE),
            None => (self.interface.everybody(socket::SMB_NAMES), packet_type::PROPAGATED),
        };
        self.interface.push(to, packet, socket::SMB_NAMES, &data);
    }

    /// Ask who has a name.
    pub(super) fn query(&mut self, name: Name, message: u16) {
        self.push(None, Command::Query, kind::MACHINE, (name, message));
    }

    /// Say that a name is ours.
    pub(super) fn found(&mut self, to: Place, query: &Header, name: Name) {
        self.push(Some(to), Command::Found, query.kind, (name, query.message));
    }
}

impl NameFrames for NameOutput<'_> {
    fn push_claim(&mut self, claim: NameClaim) {
        let kind = if claim.is_group { kind::WORKGROUP } else { kind::MACHINE };
        self.push(None, Command::Claim, kind, (claim.name, claim.correlator));
    }

    fn push_objection(&mut self, _: Mac, claim: NameClaim, is_ours_group: bool, _: bool) {
        let kind = if is_ours_group { kind::WORKGROUP } else { kind::MACHINE };
        if let Some(to) = self.asker {
            self.push(Some(to), Command::Found, kind, (claim.name, claim.correlator));
        }
    }

    fn push_query(&mut self, query: QueryKind, name: Name, correlator: u16) {
        // Nothing asks for the state of an adapter: there is no packet for it.
        if query == QueryKind::Find {
            self.query(name, correlator);
        }
    }
}

/// A packet about names. `None` if it cannot be read.
pub(super) fn read(packet: &Packet<'_>) -> Option<Header> {
    Header::parse(packet.data).ok().map(|(header, _)| header)
}

/// Whether two names are those of one machine. What stands behind the 15 characters is not the same with all
/// systems.
pub(super) fn is_same_machine(one: Name, other: Name) -> bool {
    one.0[..MAX_TEXT_LEN] == other.0[..MAX_TEXT_LEN]
}
