//! Error packets about packets of this station.

use lanlab_wire::xns::error_packet::{ErrorPacket, number};
use lanlab_wire::xns::spp::Header;

use super::interface::Packet;
use super::station::Station;
use crate::carrier::Why;
use crate::sequenced::Phase;

impl Station {
    pub(super) fn handle_error(&mut self, packet: &Packet<'_>) {
        let sessions = &mut self.sessions;
        let Ok(error) = ErrorPacket::parse(packet.data) else {
            sessions.common.interface.counts.like_ipx.unreadable_packets += 1;
            return;
        };
        let (ours, theirs) = (error.header.source, error.header.destination);
        let quoted = Header::parse(error.data).ok();
        let index = sessions.all.iter().position(|session| {
            let is_from = session.place.is_some_and(|place| place.address.node == theirs.node);
            let ids = quoted.map(|quoted| (quoted.source, quoted.destination));
            is_from
                && session.own.socket == ours.socket
                && ids == Some((session.local, session.remote))
        });
        let Some(index) = index else {
            sessions.common.counts.discarded += 1;
            return;
        };
        sessions.common.counts.errors_heard += 1;
        // Routers can report only on the path; only the station itself knows its sockets.
        let is_of_station = packet.from.address.node == theirs.node;
        let ended = match (error.start.number, sessions.all[index].phase) {
            _ if !is_of_station => None,
            (number::NO_SOCKET, Phase::Calling) => Some(Why::NotListening),
            (number::NO_RESOURCES, Phase::Calling) => Some(Why::NoResources),
            (number::NO_SOCKET, _) => Some(Why::ByPeerAbnormally),
            // Time-outs resend lost packets.
            _ => None,
        };
        sessions.finish(index, ended);
    }
}
