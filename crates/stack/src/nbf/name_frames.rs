//! NetBIOS frames about names.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader, flag, value};

use super::output::Output;
use crate::netbios::{NameClaim, NameFrames};

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
