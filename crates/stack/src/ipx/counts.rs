//! Packet counters of a station.

use crate::counts::counts;

counts! {
    pub(crate) struct Counts {
        hops_exceeded: "hops_exceeded",
        other_address_packets: "other_address_packets",
        unreadable_packets: "unreadable_packets",
        network_disputes: "network_disputes",
        /// Packets dropped because the driver had not sent earlier ones.
        dropped_answers: "dropped_answers",
    }
}
