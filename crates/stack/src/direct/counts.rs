//! What a station counts of its sessions.

use crate::counts::counts;

counts! {
    pub(crate) struct Counts {
        /// Requests sent, each once.
        requests_sent: "information_sent",
        sent_again: "information_sent_again",
        /// Answers that this server has said again.
        answered_again: "answered_again",
        /// Answers that said that the server works still.
        working_received: "working_received",
        /// Messages out of their order, or that answer nothing.
        discarded: "information_discarded",
        /// Requests of connections that there are not.
        unknown_connections: "unknown_session_frames",
        /// How often another station had a name that we claimed.
        name_conflicts: "name_conflicts",
        /// Sessions that were ended for others.
        crowded_out: "crowded_out",
    }
}
