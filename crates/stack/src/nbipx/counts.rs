//! What a station counts of its sessions.

use crate::carrier::Count;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    /// Packets with a number, each once.
    pub(super) sent: u64,
    /// Packets with a number that were sent again.
    pub(super) sent_again: u64,
    /// Packets with a number that came in order.
    pub(super) received: u64,
    /// Packets out of their order, or that make no sense.
    pub(super) discarded: u64,
    /// Packets without a number of their own.
    pub(super) system_sent: u64,
    /// Requests to send again.
    pub(super) resends_asked: u64,
    /// The same, of other stations.
    pub(super) resends_heard: u64,
    /// Waits for an acknowledgement that were in vain.
    pub(super) late: u64,
    /// Calls that were answered again.
    pub(super) answered_again: u64,
    /// Packets of sessions that there are not.
    pub(super) unknown_sessions: u64,
    /// How often another station had a name that we claimed.
    pub(super) name_conflicts: u64,
    /// Sessions that were ended for others.
    pub(super) crowded_out: u64,
}

impl Counts {
    /// By their keys in results, which other carriers have, too, where they count the same.
    pub(super) fn keyed(&self) -> [Count; 12] {
        [
            ("information_sent", self.sent),
            ("information_sent_again", self.sent_again),
            ("information_received", self.received),
            ("information_discarded", self.discarded),
            ("supervisory_sent", self.system_sent),
            ("rejects_sent", self.resends_asked),
            ("rejects_received", self.resends_heard),
            ("t1_expiries", self.late),
            ("answered_again", self.answered_again),
            ("unknown_session_frames", self.unknown_sessions),
            ("name_conflicts", self.name_conflicts),
            ("crowded_out", self.crowded_out),
        ]
    }
}
