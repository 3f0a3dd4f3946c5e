//! What a station counts of its sessions.

use crate::carrier::Count;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    /// Requests sent, each once.
    pub(super) requests_sent: u64,
    /// Requests sent again.
    pub(super) sent_again: u64,
    /// Answers that this server has said again.
    pub(super) answered_again: u64,
    /// Answers that said that the server works still.
    pub(super) working_received: u64,
    /// Messages out of their order, or that answer nothing.
    pub(super) discarded: u64,
    /// Requests of connections that there are not.
    pub(super) unknown_connections: u64,
    /// How often another station had a name that we claimed.
    pub(super) name_conflicts: u64,
    /// Sessions that were ended for others.
    pub(super) crowded_out: u64,
}

impl Counts {
    /// By their keys in results, which other carriers have, too, where they count the same.
    pub(super) fn keyed(&self) -> [Count; 8] {
        [
            ("information_sent", self.requests_sent),
            ("information_sent_again", self.sent_again),
            ("answered_again", self.answered_again),
            ("working_received", self.working_received),
            ("information_discarded", self.discarded),
            ("unknown_session_frames", self.unknown_connections),
            ("name_conflicts", self.name_conflicts),
            ("crowded_out", self.crowded_out),
        ]
    }
}
