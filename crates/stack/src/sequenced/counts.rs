//! Session counters of a station.

use crate::counts::counts;

counts! {
    /// Each carrier omits those that it never counts.
    pub(crate) struct Counts {
        sent: "information_sent",
        sent_again: "information_sent_again",
        received: "information_received",
        discarded: "information_discarded",
        system_sent: "supervisory_sent",
        resends_asked: "rejects_sent",
        resends_heard: "rejects_received",
        late: "t1_expiries",
        acknowledged_unsent: "acknowledged_unsent",
        answered_again: "answered_again",
        unknown_sessions: "unknown_session_frames",
        name_conflicts: "name_conflicts",
        refused: "calls_refused",
        crowded_out: "crowded_out",
        attentions: "attentions_received",
        errors_heard: "errors_received",
    }
}
