//! What a station counts of its packets.

use crate::counts::counts;

counts! {
    /// Packets that were discarded, by why, and what else went wrong.
    pub(crate) struct Counts {
        hops_exceeded: "hops_exceeded",
        /// They are for another network, or for another station behind a router.
        other_address_packets: "other_address_packets",
        unreadable_packets: "unreadable_packets",
        /// Stations on this segment that say another network number than ours.
        network_disputes: "network_disputes",
        /// Packets that were thrown away because the driver had not sent those before.
        dropped_answers: "dropped_answers",
    }
}
