//! What a carrier on Ethernet has counted: its losses and repairs, which a copy hides.

use schemars::JsonSchema;
use serde::Serialize;

macro_rules! counts {
    ($($(#[$about:meta])* $name:ident,)+) => {
        /// What this host's station has counted, over all its sessions and links.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
        pub struct CarrierCounts {
            $($(#[$about])* pub $name: u64,)+
        }

        impl CarrierCounts {
            /// What was counted since `before`.
            #[must_use]
            pub fn since(self, before: Self) -> Self {
                Self { $($name: self.$name.saturating_sub(before.$name),)+ }
            }
        }
    };
}

counts! {
    /// Frames sent.
    sent_frames,
    /// Frames that the interface did not take: lost, as on a wire.
    unsent_frames,
    /// Frames received, those for other stations included.
    received_frames,
    /// Frames that the kernel dropped before they were received.
    kernel_drops,
    /// Received frames for other stations.
    foreign_frames,
    /// Discarded: shorter than they say, or without a length.
    malformed_frames,
    /// Discarded: for a SAP that is not here.
    unknown_sap_frames,
    /// Discarded: `NetBIOS` frames that make no sense.
    unknown_frames,
    /// Discarded: `NetBIOS` frames for a session that is not open.
    unknown_session_frames,
    /// Answers discarded because those before were not sent yet.
    dropped_answers,
    /// How often another station said that this station's name is its own, too; the name was claimed again.
    name_disputes,
    /// How often this station's name was another's.
    name_conflicts,
    /// Links and calls of stations that did not go on with them, ended because others came.
    crowded_out,
    /// I frames sent for the first time.
    information_sent,
    /// I frames sent again.
    information_sent_again,
    /// I frames received in order.
    information_received,
    /// I frames discarded: out of order, or received while not ready.
    information_discarded,
    /// RR, RNR and REJ sent.
    supervisory_sent,
    /// REJ sent.
    rejects_sent,
    /// REJ received.
    rejects_received,
    /// RNR received.
    not_ready_received,
    /// Expiries of T1: no answer in time.
    t1_expiries,
    /// FRMR sent.
    frame_rejects_sent,
    /// FRMR received.
    frame_rejects_received,
    /// Frames of LLC discarded: they fit neither the state nor the format.
    ignored,
    /// Frames in the file of `pcap`.
    recorded_frames,
    /// Frames left out of it: the disk was slow or full.
    unrecorded_frames,
}
