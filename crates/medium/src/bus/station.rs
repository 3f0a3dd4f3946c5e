//! A station of the bus: its frame, and the carrier that it hears.

use crate::bit_time::Exact;
use crate::random::Random;
use crate::traffic::FrameId;

#[derive(Debug)]
pub(super) struct Station {
    pub(super) heard: u16,
    pub(super) phase: Phase,
    pub(super) deference: Deference,
    pub(super) collisions: u32,
    pub(super) random: Random,
    pub(super) generation: u32,
    pub(super) own_carriers: u16,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    Idle,
    Waiting(FrameId),
    Sending { frame: FrameId, start: Exact, has_collided: bool },
    BackingOff(FrameId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deference {
    Silent,
    /// A carrier is present, the station's own or another's. `since`: its start, unless in a gap.
    Busy {
        was_sending: bool,
        since: Option<Exact>,
    },
    /// The carrier has ended. The gap has two parts; after `end` the medium is silent.
    Gap {
        was_sending: bool,
        part1_end: Exact,
        end: Exact,
    },
}

impl Station {
    pub(super) fn new(random: Random) -> Self {
        Self {
            heard: 0,
            phase: Phase::Idle,
            deference: Deference::Silent,
            collisions: 0,
            random,
            generation: 0,
            own_carriers: 0,
        }
    }

    /// The state at `at`. After a gap comes silence, or a carrier that started in its last part. A
    /// gap that ends exactly at `at` still lets a frame start, even if the bus is busy.
    pub(super) fn deference_at(&self, at: Exact) -> Deference {
        match self.deference {
            Deference::Gap { end, .. } if end < at && self.heard > 0 => {
                Deference::Busy { was_sending: false, since: None }
            }
            Deference::Gap { end, .. } if end < at => Deference::Silent,
            other => other,
        }
    }

    pub(super) fn keeps_gap(&self, at: Exact) -> bool {
        let Deference::Gap { was_sending, part1_end, end } = self.deference else { return false };
        at <= end && (was_sending || at >= part1_end)
    }

    /// Whether its state equals the listener's, and stays equal until it has a frame.
    pub(super) fn is_as(&self, listener: &Self, at: Exact) -> bool {
        let state = |station: &Self| match station.deference_at(at) {
            // A carrier's start matters only at that instant.
            Deference::Busy { was_sending, since } => {
                Deference::Busy { was_sending, since: since.filter(|since| *since == at) }
            }
            other => other,
        };
        matches!(self.phase, Phase::Idle)
            && self.own_carriers == 0
            && self.heard == listener.heard
            && state(self) == state(listener)
    }

    pub(super) fn take_over(&mut self, listener: (u16, Deference)) {
        (self.heard, self.deference) = listener;
    }
}
