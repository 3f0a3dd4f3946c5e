//! The names of a station: claimed, defended, claimed again after a conflict.
//!
//! Anybody can send NAME IN CONFLICT, so one forged frame could make a station give up its name. Instead, it
//! repeats its claim and uses the name until another station objects. A lost name is claimed again later.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::Name;

use super::{Correlators, NameClaim, NameFrames, QueryPace};
use crate::carrier::{Event, Readiness};

/// Maximum names of a station, without its permanent one (IBM: 254).
const MOST_NAMES: usize = 254;

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
    Claiming { of: Claim, queries: u32, next_at: Instant, correlator: u16 },
    Registered,
    Conflict { retry_at: Instant },
}

impl Stage {
    const fn is_held(self) -> bool {
        matches!(self, Self::Registered | Self::Claiming { of: Claim::Again, .. })
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    name: Name,
    is_group: bool,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Claimed(Name),
    Disputed(Name, Mac),
    Conflict(Name, Mac),
}

impl Outcome {
    pub(crate) const fn is_conflict(self) -> bool {
        matches!(self, Self::Conflict(..))
    }
}

impl From<Outcome> for Event {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Claimed(name) => Self::Claimed(name),
            Outcome::Disputed(name, station) => Self::Disputed(name, station),
            Outcome::Conflict(name, station) => Self::Conflict(name, station),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Names {
    mac: Mac,
    entries: Vec<Entry>,
}

impl Names {
    pub(crate) const fn new(mac: Mac) -> Self {
        Self { mac, entries: Vec::new() }
    }

    /// Begin to claim a name. False if it is already present, or there are too many.
    pub(crate) fn claim(
        &mut self,
        now: Instant,
        name: Name,
        is_group: bool,
        correlators: &mut Correlators,
    ) -> bool {
        if self.find(name).is_some() || self.entries.len() >= MOST_NAMES {
            return false;
        }
        let correlator = correlators.next();
        let stage = Stage::Claiming { of: Claim::New, queries: 0, next_at: now, correlator };
        self.entries.push(Entry { name, is_group, stage });
        true
    }

    pub(crate) fn release(&mut self, name: Name) {
        self.entries.retain(|entry| entry.name != name);
    }

    fn find(&self, name: Name) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    pub(crate) fn registered(&self, name: Name) -> Option<bool> {
        let entry = self.find(name).filter(|entry| entry.stage.is_held())?;
        Some(entry.is_group)
    }

    pub(crate) fn readiness(&self, name: Name) -> Readiness {
        match self.find(name).map(|entry| entry.stage) {
            Some(stage) if stage.is_held() => Readiness::Ready,
            Some(Stage::Claiming { of: Claim::New, .. }) => Readiness::Waiting,
            // A name that was never ours is given up at once.
            _ => Readiness::NameInConflict,
        }
    }

    /// All our names in claim order: name, whether of a group, whether in conflict.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Name, bool, bool)> {
        self.entries.iter().filter_map(|entry| {
            let is_held = entry.stage.is_held();
            let is_new = matches!(entry.stage, Stage::Claiming { of: Claim::New, .. });
            (!is_new).then_some((entry.name, entry.is_group, !is_held))
        })
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let times = self.entries.iter().filter_map(|entry| match entry.stage {
            Stage::Claiming { next_at: at, .. } | Stage::Conflict { retry_at: at } => Some(at),
            Stage::Registered => None,
        });
        times.min()
    }

    /// Send due queries, and acquire the names to which no station has objected.
    pub(crate) fn handle_timeout(
        &mut self,
        now: Instant,
        pace: QueryPace,
        (frames, correlators): (&mut impl NameFrames, &mut Correlators),
        outcomes: &mut Vec<Outcome>,
    ) {
        for entry in &mut self.entries {
            if matches!(entry.stage, Stage::Conflict { retry_at } if retry_at <= now) {
                let correlator = correlators.next();
                entry.stage =
                    Stage::Claiming { of: Claim::Lost, queries: 0, next_at: now, correlator };
            }
            let Stage::Claiming { queries, next_at, correlator, .. } = &mut entry.stage else {
                continue;
            };
            if *next_at > now {
                continue;
            }
            if *queries == pace.count {
                entry.stage = Stage::Registered;
                outcomes.push(Outcome::Claimed(entry.name));
                continue;
            }
            *queries += 1;
            *next_at = now.plus_nanos(pace.interval_ns);
            let (name, is_group, correlator) = (entry.name, entry.is_group, *correlator);
            frames.push_claim(NameClaim { name, is_group, correlator });
        }
    }

    /// Another station claims a name: object if it is ours, unless both are group names.
    pub(crate) fn handle_claim(
        &mut self,
        now: Instant,
        from: Mac,
        claim: NameClaim,
        frames: &mut impl NameFrames,
        outcomes: &mut Vec<Outcome>,
    ) {
        let Some(entry) = self.find(claim.name) else { return };
        let is_lost = matches!(entry.stage, Stage::Conflict { .. });
        if claim.is_group && entry.is_group || is_lost {
            return;
        }
        let is_claiming = !entry.stage.is_held();
        frames.push_objection(from, claim, entry.is_group, is_claiming);
        if is_claiming {
            // Two simultaneous claims: both fail.
            self.lose(now, claim.name, from, outcomes);
        }
    }

    pub(crate) fn handle_objection(
        &mut self,
        now: Instant,
        from: Mac,
        (name, correlator): (Name, u16),
        outcomes: &mut Vec<Outcome>,
    ) {
        let is_meant = |entry: &Entry| matches!(entry.stage, Stage::Claiming { correlator: own, .. } if own == correlator);
        if self.find(name).is_some_and(is_meant) {
            self.lose(now, name, from, outcomes);
        }
    }

    /// Another station holds the name. A name that was never ours is given up.
    fn lose(&mut self, now: Instant, name: Name, to: Mac, outcomes: &mut Vec<Outcome>) {
        let Mac([.., last]) = self.mac;
        let retry_at = now.plus_nanos(RETRY_NS + u64::from(last) * RETRY_STEP_NS);
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.name == name) else { return };
        let Stage::Claiming { of, .. } = entry.stage else { return };
        entry.stage = Stage::Conflict { retry_at };
        match of {
            Claim::New => {
                self.release(name);
                outcomes.push(Outcome::Conflict(name, to));
            }
            Claim::Again => outcomes.push(Outcome::Conflict(name, to)),
            // Already reported.
            Claim::Lost => {}
        }
    }

    /// Another station reports a conflict about one of our names: check it.
    pub(crate) fn handle_conflict(
        &mut self,
        now: Instant,
        from: Mac,
        name: Name,
        correlators: &mut Correlators,
        outcomes: &mut Vec<Outcome>,
    ) {
        let entry = self.entries.iter_mut().find(|entry| entry.name == name);
        if let Some(entry) = entry.filter(|entry| entry.stage == Stage::Registered) {
            let correlator = correlators.next();
            entry.stage =
                Stage::Claiming { of: Claim::Again, queries: 0, next_at: now, correlator };
            outcomes.push(Outcome::Disputed(name, from));
        }
    }
}
