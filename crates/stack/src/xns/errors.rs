//! Error packets about packets of this station.

use lanlab_wire::xns::error_packet::{ErrorPacket, number};
use lanlab_wire::xns::spp::Header;

use super::interface::Packet;
use super::session::{Outcome, Phase};
use super::station::Station;
use crate::carrier::Why;

impl Station {
    pub(super) fn handle_error(&mut self, packet: &Packet<'_>) {
        let Ok(error) = ErrorPacket::parse(packet.data) else {
            self.common.interface.counts.like_ipx.unreadable_packets += 1;
            return;
        };
        let (ours, theirs) = (error.header.source, error.header.destination);
        let quoted = Header::parse(error.data).ok();
        let index = self.sessions.iter().position(|session| {
            let is_from = session.place.is_some_and(|place| place.address.node == theirs.node);
            let ids = quoted.map(|quoted| (quoted.source, quoted.destination));
            is_from && session.socket == ours.socket && ids == Some((session.local, session.remote))
        });
        let Some(index) = index else {
            self.common.counts.discarded += 1;
            return;
        };
        self.common.counts.errors_heard += 1;
        // Routers can report only on the path; only the station itself knows its sockets.
        let is_of_station = packet.from.address.node == theirs.node;
        let outcome = match (error.start.number, self.sessions[index].phase) {
            _ if !is_of_station => Outcome::GoesOn,
            (number::NO_SOCKET, Phase::Calling) => Outcome::Over(Why::NotListening),
            (number::NO_RESOURCES, Phase::Calling) => Outcome::Over(Why::NoResources),
            (number::NO_SOCKET, _) => Outcome::Over(Why::ByPeerAbnormally),
            // Time-outs resend lost packets.
            _ => Outcome::GoesOn,
        };
        self.finish(index, outcome);
    }
}
