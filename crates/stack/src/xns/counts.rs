//! Packet counters of a station.

use crate::carrier::Count;
use crate::ipx;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PacketCounts {
    pub(super) wrong_checksums: u64,
    pub(super) like_ipx: ipx::Counts,
    pub(super) errors_sent: u64,
    pub(super) echoes_answered: u64,
}

impl PacketCounts {
    pub(super) fn keyed(&self) -> impl Iterator<Item = Count> {
        let own = [
            ("wrong_checksums", self.wrong_checksums),
            ("errors_sent", self.errors_sent),
            ("echoes_answered", self.echoes_answered),
        ];
        own.into_iter().chain(self.like_ipx.keyed())
    }
}
