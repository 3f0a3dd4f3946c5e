//! Progress of a session's bursts.

use super::burst::Burst;
use crate::ncp::MOST_BURST;

#[derive(Debug, Default)]
pub(super) struct Calling {
    pub(super) burst: Option<Burst>,
    pub(super) next: u16,
    pub(super) offered: Option<u32>,
    pub(super) is_under_way: bool,
}

impl Calling {
    /// Longest message carried by bursts, bytes; 0 before both ends have agreed.
    pub(super) fn longest_message(&self) -> u32 {
        self.burst.as_ref().map_or(0, |_| 1 + MOST_BURST)
    }

    pub(super) const fn number(&self) -> u16 {
        self.next.wrapping_sub(1)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Idle,
    Coming,
    Working,
    Answered,
}

#[derive(Debug)]
pub(super) struct Answering {
    pub(super) burst: Burst,
    pub(super) stage: Stage,
    pub(super) next: u16,
}

impl Answering {
    pub(super) const fn numbers(&self) -> (u16, u16) {
        (self.next.wrapping_sub(1), self.next)
    }
}
