//! NetBIOS frames about names.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader, flag, permanent_name, value};
use lanlab_wire::netbios_name::Name;

use super::output::Output;
use super::status::STATUS_BYTES;
use crate::netbios::{NameClaim, NameFrames, QueryKind};

impl NameFrames for Output {
    fn push_claim(&mut self, claim: NameClaim) {
        let command =
            if claim.is_group { NameCommand::AddGroupNameQuery } else { NameCommand::AddNameQuery };
        let header = NameHeader {
            command,
            data1: 0,
            data2: 0,
            transmit_correlator: 0,
            response_correlator: claim.correlator,
            destination: NO_NAME,
            source: claim.name,
        };
        self.push(Mac::NETBIOS_GROUP, header, &[]);
    }

    fn push_objection(
        &mut self,
        to: Mac,
        claim: NameClaim,
        is_ours_group: bool,
        is_claiming: bool,
    ) {
        let header = NameHeader {
            command: NameCommand::AddNameResponse,
            data1: if is_claiming { flag::NAME_IN_PROCESS } else { 0 },
            data2: if is_ours_group { u16::from(value::GROUP) } else { 0 },
            transmit_correlator: claim.correlator,
            response_correlator: 0,
            destination: claim.name,
            source: claim.name,
        };
        self.push(to, header, &[]);
    }
}

impl Output {
    /// Broadcast a query for the holder of a name, or for adapter status.
    pub(super) fn push_query(&mut self, kind: QueryKind, name: Name, correlator: u16) {
        let (command, data1, data2, source) = match kind {
            QueryKind::Find => (NameCommand::NameQuery, 0, 0, NO_NAME),
            QueryKind::Status => {
                let own_name = permanent_name(self.mac);
                (NameCommand::StatusQuery, value::STATUS_FIRST, STATUS_BYTES, own_name)
            }
        };
        let header = NameHeader {
            command,
            data1,
            data2,
            transmit_correlator: 0,
            response_correlator: correlator,
            destination: name,
            source,
        };
        self.push(Mac::NETBIOS_GROUP, header, &[]);
    }
}
