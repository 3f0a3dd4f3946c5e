//! What a station counts of its packets.

use crate::counts::counts;

counts! {
    pub(crate) struct Counts {
        hops_exceeded: "hops_exceeded",
        other_address_packets: "other_address_packets",
        unreadable_packets: "unreadable_packets",
        network_disputes: "network_disputes",
        /// Packets that were thrown away because the driver had not sent those before.
        dropped_answers: "dropped_answers",
    }
}
