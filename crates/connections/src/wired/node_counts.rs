//! What a node has counted, also as results have it.

use lanlab_files::CarrierCounts;
use lanlab_stack::node::StrayCounts;
use lanlab_stack::{llc, nbf};

use super::state::LinkCounts;

/// What a node has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeCounts {
    /// The link of whole frames.
    pub link: LinkCounts,
    /// Frames that no carrier has taken.
    pub strays: StrayCounts,
    /// The station.
    pub station: nbf::Counts,
    /// All its links of LLC.
    pub links: llc::Counts,
    /// Frames recorded, and frames left out of the recording.
    pub recorded: (u64, u64),
}

impl From<NodeCounts> for CarrierCounts {
    fn from(counts: NodeCounts) -> Self {
        let (link, strays) = (counts.link, counts.strays);
        let (station, links) = (counts.station, counts.links);
        Self {
            sent_frames: link.sent_frames,
            unsent_frames: link.unsent_frames,
            received_frames: link.received_frames,
            kernel_drops: link.kernel_drops,
            foreign_frames: strays.foreign_frames,
            malformed_frames: strays.malformed_frames,
            unknown_sap_frames: strays.unknown_sap_frames,
            unknown_frames: station.unknown_frames,
            unknown_session_frames: station.unknown_session_frames,
            dropped_answers: station.dropped_answers,
            name_disputes: station.name_disputes,
            name_conflicts: station.name_conflicts,
            crowded_out: station.crowded_out,
            information_sent: links.information_sent,
            information_sent_again: links.information_sent_again,
            information_received: links.information_received,
            information_discarded: links.information_discarded,
            supervisory_sent: links.supervisory_sent,
            rejects_sent: links.rejects_sent,
            rejects_received: links.rejects_received,
            not_ready_received: links.not_ready_received,
            t1_expiries: links.t1_expiries,
            frame_rejects_sent: links.frame_rejects_sent,
            frame_rejects_received: links.frame_rejects_received,
            ignored: links.ignored,
            recorded_frames: counts.recorded.0,
            unrecorded_frames: counts.recorded.1,
        }
    }
}
