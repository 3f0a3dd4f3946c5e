//! Events and counters of a link.

use lanlab_wire::llc::FrameReject;

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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub information_sent: u64,
    pub information_sent_again: u64,
    pub information_received: u64,
    /// I frames dropped because they were out of order or arrived while not ready.
    pub information_discarded: u64,
    pub supervisory_sent: u64,
    pub rejects_sent: u64,
    pub rejects_received: u64,
    pub not_ready_received: u64,
    pub t1_expiries: u64,
    pub ti_expiries: u64,
    pub frame_rejects_sent: u64,
    pub frame_rejects_received: u64,
    pub ignored: u64,
}

impl Counts {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            information_sent: self.information_sent + other.information_sent,
            information_sent_again: self.information_sent_again + other.information_sent_again,
            information_received: self.information_received + other.information_received,
            information_discarded: self.information_discarded + other.information_discarded,
            supervisory_sent: self.supervisory_sent + other.supervisory_sent,
            rejects_sent: self.rejects_sent + other.rejects_sent,
            rejects_received: self.rejects_received + other.rejects_received,
            not_ready_received: self.not_ready_received + other.not_ready_received,
            t1_expiries: self.t1_expiries + other.t1_expiries,
            ti_expiries: self.ti_expiries + other.ti_expiries,
            frame_rejects_sent: self.frame_rejects_sent + other.frame_rejects_sent,
            frame_rejects_received: self.frame_rejects_received + other.frame_rejects_received,
            ignored: self.ignored + other.ignored,
        }
    }
}
