//! How a session begins: one station calls, and the other acknowledges.

use lanlab_units::Instant;
use lanlab_wire::xns::socket;
use lanlab_wire::xns::spp::Header;

use super::super::Common;
use super::{Phase, Session};
use crate::ipx::Place;
use crate::sequenced::{Sending, Wait};

impl Session {
    /// The station is known: call it. `is_heard`: its framing is known.
    pub(in super::super) fn call_station(
        &mut self,
        now: Instant,
        (place, is_heard): (Place, bool),
        common: &mut Common,
    ) {
        (self.phase, self.query_at, self.is_heard) = (Phase::Calling, None, is_heard);
        let address = place.address;
        let to = if address.socket == 0 { socket::SMB } else { address.socket };
        let address = lanlab_wire::ipx::Address { socket: to, ..address };
        self.place = Some(Place { address, ..place });
        self.timed = Some((0, now));
        self.timer.begin(now, Wait::Answer, true, self.profile.xns);
        self.push_call(common);
    }

    pub(in super::super) fn accept(
        &mut self,
        now: Instant,
        (from, header): (Place, &Header),
        common: &mut Common,
    ) {
        (self.is_caller, self.is_heard, self.place) = (false, true, Some(from));
        self.agree(header);
        self.answer_call(common);
        self.set_timer(now, true, true);
    }

    pub(in super::super) fn answer_call(&mut self, common: &mut Common) {
        self.acknowledge(common);
    }

    pub(super) fn agree(&mut self, header: &Header) {
        self.remote = header.source;
        let part_bytes = usize::from(self.profile.xns.packet_bytes.value);
        self.sending = Sending::new(0, header.allocation, part_bytes);
        self.phase = Phase::Open;
    }
}
