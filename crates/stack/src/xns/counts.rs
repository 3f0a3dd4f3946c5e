//! Counters of a station.

use crate::carrier::Count;
use crate::counts::counts;
use crate::ipx;

counts! {
    pub(super) struct Counts {
        sent: "information_sent",
        sent_again: "information_sent_again",
        received: "information_received",
        discarded: "information_discarded",
        system_sent: "supervisory_sent",
        late: "t1_expiries",
        acknowledged_unsent: "acknowledged_unsent",
        answered_again: "answered_again",
        unknown_sessions: "unknown_session_frames",
        refused: "calls_refused",
        crowded_out: "crowded_out",
        attentions: "attentions_received",
        errors_heard: "errors_received",
    }
}

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
