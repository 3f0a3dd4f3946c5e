//! NetBIOS frames about names.

use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader, flag};
use lanlab_wire::netbios_name::Name;

use super::output::Output;
use crate::netbios::NameFrames;

impl NameFrames for Output {
    fn push_claim(&mut self, name: Name, response_correlator: u16) {
        let header = NameHeader::new(NameCommand::AddNameQuery, NO_NAME, name);
        self.push(Mac::NETBIOS_GROUP, NameHeader { response_correlator, ..header }, &[]);
    }

    fn push_objection(&mut self, to: Mac, (name, correlator): (Name, u16), is_claiming: bool) {
        let header = NameHeader {
            data1: if is_claiming { flag::NAME_IN_PROCESS } else { 0 },
            transmit_correlator: correlator,
            ..NameHeader::new(NameCommand::AddNameResponse, name, name)
        };
        self.push(to, header, &[]);
    }
}
