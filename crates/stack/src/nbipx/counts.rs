//! What a station counts of its sessions.

use crate::counts::counts;

counts! {
    pub(super) struct Counts {
        /// Packets with a number, each once.
        sent: "information_sent",
        /// Packets with a number that were sent again.
        sent_again: "information_sent_again",
        /// Packets with a number that came in order.
        received: "information_received",
        /// Packets out of their order, or that make no sense.
        discarded: "information_discarded",
        /// Packets without a number of their own.
        system_sent: "supervisory_sent",
        /// Requests to send again.
        resends_asked: "rejects_sent",
        /// The same, of other stations.
        resends_heard: "rejects_received",
        /// Waits for an acknowledgement that were in vain.
        late: "t1_expiries",
        /// Acknowledgements of packets that were not sent.
        acknowledged_unsent: "acknowledged_unsent",
        /// Calls that were answered again.
        answered_again: "answered_again",
        /// Packets of sessions that there are not.
        unknown_sessions: "unknown_session_frames",
        /// How often another station had a name that we claimed.
        name_conflicts: "name_conflicts",
        /// Sessions that were ended for others.
        crowded_out: "crowded_out",
    }
}
