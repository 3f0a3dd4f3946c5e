//! What a station counts of its packets.

use crate::carrier::Count;

/// Packets that were discarded, by why, and what else went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    /// They have passed too many routers.
    pub(crate) hops_exceeded: u64,
    /// They are for another network, or for another station behind a router.
    pub(crate) other_address_packets: u64,
    /// What they carry cannot be read.
    pub(crate) unreadable_packets: u64,
    /// Stations on this segment that say another network number than ours.
    pub(crate) network_disputes: u64,
    /// Packets that were thrown away because the driver had not sent those before.
    pub(crate) dropped_answers: u64,
}

impl Counts {
    /// By their keys in results.
    pub(crate) fn keyed(&self) -> [Count; 5] {
        [
            ("hops_exceeded", self.hops_exceeded),
            ("other_address_packets", self.other_address_packets),
            ("unreadable_packets", self.unreadable_packets),
            ("network_disputes", self.network_disputes),
            ("dropped_answers", self.dropped_answers),
        ]
    }
}
