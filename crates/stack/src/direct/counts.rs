//! What a station counts of its sessions.

use crate::carrier::Count;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    /// Requests sent, each once.
    pub(crate) requests_sent: u64,
    /// Requests sent again.
    pub(crate) sent_again: u64,
    /// Answers that this server has said again.
    pub(crate) answered_again: u64,
    /// Answers that said that the server works still.
    pub(crate) working_received: u64,
    /// Messages out of their order, or that answer nothing.
    pub(crate) discarded: u64,
    /// Requests of connections that there are not.
    pub(crate) unknown_connections: u64,
    /// How often another station had a name that we claimed.
    pub(crate) name_conflicts: u64,
    /// Sessions that were ended for others.
    pub(crate) crowded_out: u64,
}

impl Counts {
    /// By their keys in results, which other carriers have, too, where they count the same.
    pub(crate) fn keyed(&self) -> [Count; 8] {
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
