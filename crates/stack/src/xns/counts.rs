//! What a station counts.

use crate::carrier::Count;
use crate::counts::counts;
use crate::ipx;

counts! {
    pub(super) struct Counts {
        /// Packets with a number, each once.
        sent: "information_sent",
        /// Packets with a number that were sent again.
        sent_again: "information_sent_again",
        /// Packets with a number that came, each once.
        received: "information_received",
        /// Packets that came again, or beyond the window, or that make no sense.
        discarded: "information_discarded",
        /// Packets without a number of their own.
        system_sent: "supervisory_sent",
        /// Waits for an acknowledgement that were in vain.
        late: "t1_expiries",
        /// Acknowledgements of packets that were not sent.
        acknowledged_unsent: "acknowledged_unsent",
        /// Calls that were answered again.
        answered_again: "answered_again",
        /// Packets of sessions that there are not.
        unknown_sessions: "unknown_session_frames",
        /// Calls for which there was no session left.
        refused: "calls_refused",
        /// Sessions that were ended for others.
        crowded_out: "crowded_out",
        /// Octets for attention, which no program here waits for.
        attentions: "attentions_received",
        /// Errors that are about packets of this station.
        errors_heard: "errors_received",
    }
}

/// Packets that were discarded, by why, and what else was done with packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PacketCounts {
    /// Their checksum is wrong.
    pub(super) wrong_checksums: u64,
    /// What packets of IPX are discarded for, too.
    pub(super) like_ipx: ipx::Counts,
    /// Errors that were sent.
    pub(super) errors_sent: u64,
    /// Echoes that were answered.
    pub(super) echoes_answered: u64,
}

impl PacketCounts {
    /// By their keys in results.
    pub(super) fn keyed(&self) -> impl Iterator<Item = Count> {
        let own = [
            ("wrong_checksums", self.wrong_checksums),
            ("errors_sent", self.errors_sent),
            ("echoes_answered", self.echoes_answered),
        ];
        own.into_iter().chain(self.like_ipx.keyed())
    }
}
