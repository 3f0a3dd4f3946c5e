//! Session counters of a station that carries messages directly in IPX packets.

use crate::counts::counts;

counts! {
    pub(crate) struct SessionCounts {
        requests_sent: "information_sent",
        sent_again: "information_sent_again",
        answered_again: "answered_again",
        working_received: "working_received",
        discarded: "information_discarded",
        unknown_connections: "unknown_session_frames",
        name_conflicts: "name_conflicts",
        crowded_out: "crowded_out",
    }
}
