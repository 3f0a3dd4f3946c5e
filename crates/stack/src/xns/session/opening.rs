//! How a session begins: one station calls, and the other acknowledges.

use lanlab_units::Instant;
use lanlab_wire::xns::socket;
use lanlab_wire::xns::spp::Header;

use super::{Common, Session};
use crate::ipx::Place;
use crate::sequenced::{Phase, Sending};

impl Session {
    /// The station is known: call it. `is_heard`: its framing is known.
    pub(in super::super) fn call_station(
        &mut self,
        now: Instant,
        (place, is_heard): (Place, bool),
        common: &mut Common,
    ) {
        self.own.is_heard = is_heard;
        let address = place.address;
        let to = if address.socket == 0 { socket::SMB } else { address.socket };
        let address = lanlab_wire::ipx::Address { socket: to, ..address };
        self.begin_call(now, Place { address, ..place }, 0, common);
    }

    pub(in super::super) fn accept(
        &mut self,
        now: Instant,
        (from, header): (Place, &Header),
        common: &mut Common,
    ) {
        (self.is_caller, self.own.is_heard, self.place) = (false, true, Some(from));
        self.agree(header);
        self.acknowledge(common);
        self.set_timer(now, true, true);
    }

    pub(super) fn agree(&mut self, header: &Header) {
        self.remote = header.source;
        let part_bytes = usize::from(self.profile.xns.packet_bytes);
        self.sending = Sending::new(0, header.allocation, part_bytes);
        self.phase = Phase::Open;
    }
}
