//! Events and counters of a link.

use lanlab_wire::llc::FrameReject;

use crate::counts::counts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Disconnected,
    Opening,
    Opened,
    Disconnecting,
    /// We sent FRMR: only SABME or DISC from the other end recovers the link.
    FrameRejectSent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Closed,
    Refused,
    ByPeer,
    /// The other end has reset it: frames in flight are lost.
    Reset,
    /// No answer after N2 attempts.
    NoAnswer,
    Busy,
    FrameRejectReceived(FrameReject),
    FrameRejectSent(FrameReject),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Opened,
    /// The link has ended. After [`Ended::Reset`] the new link is open.
    Ended(Ended),
}

counts! {
    pub struct Counts {
        information_sent: "information_sent",
        information_sent_again: "information_sent_again",
        information_received: "information_received",
        /// I frames dropped because they were out of order.
        information_discarded: "information_discarded",
        supervisory_sent: "supervisory_sent",
        rejects_sent: "rejects_sent",
        rejects_received: "rejects_received",
        not_ready_received: "not_ready_received",
        t1_expiries: "t1_expiries",
        ti_expiries,
        frame_rejects_sent: "frame_rejects_sent",
        frame_rejects_received: "frame_rejects_received",
        ignored: "ignored",
    }
}
