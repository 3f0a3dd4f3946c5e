//! What a station counts.

use crate::carrier::Count;
use crate::ipx;

/// See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    /// Packets with a number, each once.
    pub(super) sent: u64,
    /// Packets with a number that were sent again.
    pub(super) sent_again: u64,
    /// Packets with a number that came, each once.
    pub(super) received: u64,
    /// Packets that came again, or beyond the window, or that make no sense.
    pub(super) discarded: u64,
    /// Packets without a number of their own.
    pub(super) system_sent: u64,
    /// Waits for an acknowledgement that were in vain.
    pub(super) late: u64,
    /// Calls that were answered again.
    pub(super) answered_again: u64,
    /// Packets of sessions that there are not.
    pub(super) unknown_sessions: u64,
    /// Calls for which there was no session left.
    pub(super) refused: u64,
    /// Sessions that were ended for others.
    pub(super) crowded_out: u64,
    /// Octets for attention, which no program here waits for.
    pub(super) attentions: u64,
    /// Errors that are about packets of this station.
    pub(super) errors_heard: u64,
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
            ("t1_expiries", self.late),
            ("answered_again", self.answered_again),
            ("unknown_session_frames", self.unknown_sessions),
            ("calls_refused", self.refused),
            ("crowded_out", self.crowded_out),
            ("attentions_received", self.attentions),
            ("errors_received", self.errors_heard),
        ]
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
