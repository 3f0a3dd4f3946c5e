//! The name of a station: claimed, defended, claimed again after a conflict.
//!
//! Anybody can send NAME IN CONFLICT, so one forged frame could make a station give up its name. Instead, it
//! repeats its claim and uses the name until another station objects. A lost name is claimed again later.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::Name;

use super::{Correlators, NameFrames, QueryPace};
use crate::carrier::{NameEvent, Readiness};

/// Pause before a lost name is claimed again, ns; a step per station is added, because two
/// simultaneous claims both fail.
const RETRY_NS: u64 = 10_000_000_000;
const RETRY_STEP_NS: u64 = 40_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    New,
    /// A name of ours that another station disputes. It stays in use.
    Again,
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Claiming {
        of: Claim,
        queries: u32,
        next_at: Instant,
        correlator: u16,
    },
    Registered,
    Conflict {
        retry_at: Instant,
    },
    /// It was never ours, but another station's.
    GivenUp,
}

impl Stage {
    fn claiming(of: Claim, now: Instant, correlators: &mut Correlators) -> Self {
        Self::Claiming { of, queries: 0, next_at: now, correlator: correlators.next() }
    }

    const fn is_held(self) -> bool {
        matches!(self, Self::Registered | Self::Claiming { of: Claim::Again, .. })
    }
}

#[derive(Debug)]
pub(crate) struct OwnName {
    mac: Mac,
    name: Name,
    stage: Stage,
}

impl OwnName {
    pub(crate) fn new(mac: Mac, name: Name, now: Instant, correlators: &mut Correlators) -> Self {
        Self { mac, name, stage: Stage::claiming(Claim::New, now, correlators) }
    }

    /// Whether this is our name, and in use.
    pub(crate) fn is(&self, name: Name) -> bool {
        self.name == name && self.stage.is_held()
    }

    pub(crate) const fn readiness(&self) -> Readiness {
        match self.stage {
            stage if stage.is_held() => Readiness::Ready,
            Stage::Claiming { of: Claim::New, .. } => Readiness::Waiting,
            _ => Readiness::NameInConflict,
        }
    }

    /// Whether the name is in conflict; `None` if it was never ours.
    pub(crate) const fn is_in_conflict(&self) -> Option<bool> {
        match self.stage {
            Stage::Claiming { of: Claim::New, .. } | Stage::GivenUp => None,
            stage => Some(!stage.is_held()),
        }
    }

    pub(crate) const fn poll_timeout(&self) -> Option<Instant> {
        match self.stage {
            Stage::Claiming { next_at: at, .. } | Stage::Conflict { retry_at: at } => Some(at),
            Stage::Registered | Stage::GivenUp => None,
        }
    }

    /// Send due queries, and acquire the name if no station has objected.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Instant,
        pace: QueryPace,
        (frames, correlators): (&mut impl NameFrames, &mut Correlators),
        outcomes: &mut Vec<NameEvent>,
    ) {
        if matches!(self.stage, Stage::Conflict { retry_at } if retry_at <= now) {
            self.stage = Stage::claiming(Claim::Lost, now, correlators);
        }
        let Stage::Claiming { queries, next_at, correlator, .. } = &mut self.stage else { return };
        if *next_at > now {
            return;
        }
        if *queries == pace.count {
            self.stage = Stage::Registered;
            outcomes.push(NameEvent::Claimed(self.name));
            return;
        }
        *queries += 1;
        *next_at = now.plus_nanos(pace.interval_ns);
        frames.push_claim(self.name, *correlator);
    }

    /// Another station claims a name: object if it is ours.
    pub(crate) fn handle_claim(
        &mut self,
        now: Instant,
        from: Mac,
        (name, correlator): (Name, u16),
        frames: &mut impl NameFrames,
        outcomes: &mut Vec<NameEvent>,
    ) {
        let is_lost = matches!(self.stage, Stage::Conflict { .. } | Stage::GivenUp);
        if name != self.name || is_lost {
            return;
        }
        let is_claiming = !self.stage.is_held();
        frames.push_objection(from, (name, correlator), is_claiming);
        if is_claiming {
            // Two simultaneous claims: both fail.
            self.lose(now, from, outcomes);
        }
    }

    pub(crate) fn handle_objection(
        &mut self,
        now: Instant,
        from: Mac,
        (name, correlator): (Name, u16),
        outcomes: &mut Vec<NameEvent>,
    ) {
        let is_meant =
            matches!(self.stage, Stage::Claiming { correlator: own, .. } if own == correlator);
        if name == self.name && is_meant {
            self.lose(now, from, outcomes);
        }
    }

    /// Another station holds the name. A name that was never ours is given up.
    fn lose(&mut self, now: Instant, to: Mac, outcomes: &mut Vec<NameEvent>) {
        let Stage::Claiming { of, .. } = self.stage else { return };
        let Mac([.., last]) = self.mac;
        let retry_at = now.plus_nanos(RETRY_NS + u64::from(last) * RETRY_STEP_NS);
        self.stage = if of == Claim::New { Stage::GivenUp } else { Stage::Conflict { retry_at } };
        // A lost name was already reported.
        if of != Claim::Lost {
            outcomes.push(NameEvent::Conflict(self.name, to));
        }
    }

    /// Another station reports a conflict about a name: check it if it is ours.
    pub(crate) fn handle_conflict(
        &mut self,
        now: Instant,
        from: Mac,
        name: Name,
        correlators: &mut Correlators,
        outcomes: &mut Vec<NameEvent>,
    ) {
        if name == self.name && self.stage == Stage::Registered {
            self.stage = Stage::claiming(Claim::Again, now, correlators);
            outcomes.push(NameEvent::Disputed(name, from));
        }
    }
}
