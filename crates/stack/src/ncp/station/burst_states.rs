//! How far the bursts of a session are.

use super::burst::Burst;
use crate::ncp::MOST_BURST;

/// What a session that this station has called has of bursts.
#[derive(Debug, Default)]
pub(super) struct Calling {
    pub(super) burst: Option<Burst>,
    /// Number of the next one.
    pub(super) next: u16,
    /// Octets of a packet that were offered, while the server has not answered.
    pub(super) offered: Option<u32>,
    /// Whether the request that is being answered is a burst.
    pub(super) is_under_way: bool,
}

impl Calling {
    /// Octets of the longest message with a burst: none before both ends have agreed.
    pub(super) fn longest_message(&self) -> u32 {
        self.burst.as_ref().map_or(0, |_| 1 + MOST_BURST)
    }

    /// Number of the burst that is under way.
    pub(super) const fn number(&self) -> u16 {
        self.next.wrapping_sub(1)
    }
}

/// How far a burst is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The next one may come.
    Idle,
    Coming,
    /// It is carried out.
    Working,
    Answered,
}

/// What a session that another station has called has of bursts.
#[derive(Debug)]
pub(super) struct Answering {
    pub(super) burst: Burst,
    pub(super) stage: Stage,
    /// Number of the next one.
    pub(super) next: u16,
}

impl Answering {
    /// Number of the burst that is under way, and what acknowledges it.
    pub(super) const fn numbers(&self) -> (u16, u16) {
        (self.next.wrapping_sub(1), self.next)
    }
}
