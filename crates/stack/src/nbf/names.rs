//! The names of a station: claimed, defended, given up after a conflict.

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;
use lanlab_wire::nbf::{NO_NAME, NameCommand, NameHeader, flag, value};
use lanlab_wire::netbios_name::Name;

use super::output::{Correlators, Output};
use crate::profile::Profile;

/// Most names of a station, without its permanent one (IBM: 254).
pub(super) const MOST_NAMES: usize = 254;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Claiming { queries: u32, next_at: Instant, correlator: u16 },
    Registered,
    Conflict,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    name: Name,
    is_group: bool,
    stage: Stage,
}

/// What became of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Claimed(Name),
    Conflict(Name, Mac),
}

/// The names of a station.
#[derive(Debug, Default)]
pub(super) struct Names {
    entries: Vec<Entry>,
}

impl Names {
    /// Begin to claim a name. False if it is among the names, or there are too many.
    pub(super) fn claim(
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
        let stage = Stage::Claiming { queries: 0, next_at: now, correlator };
        self.entries.push(Entry { name, is_group, stage });
        true
    }

    /// Give up a name. Nothing is sent.
    pub(super) fn release(&mut self, name: Name) {
        self.entries.retain(|entry| entry.name != name);
    }

    fn find(&self, name: Name) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Whether we have the name, and whether it is one of a group.
    pub(super) fn registered(&self, name: Name) -> Option<bool> {
        let entry = self.find(name).filter(|entry| entry.stage == Stage::Registered)?;
        Some(entry.is_group)
    }

    /// Every name that is ours, in the order of the claims: name, of a group, in conflict.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Name, bool, bool)> {
        let held = self
            .entries
            .iter()
            .filter(|entry| matches!(entry.stage, Stage::Registered | Stage::Conflict));
        held.map(|entry| (entry.name, entry.is_group, entry.stage == Stage::Conflict))
    }

    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let times = self.entries.iter().filter_map(|entry| match entry.stage {
            Stage::Claiming { next_at, .. } => Some(next_at),
            Stage::Registered | Stage::Conflict => None,
        });
        times.min()
    }

    /// Send the queries that are due; take the names to which no station has objected.
    pub(super) fn handle_timeout(
        &mut self,
        now: Instant,
        profile: &Profile,
        output: &mut Output,
        outcomes: &mut Vec<Outcome>,
    ) {
        for entry in &mut self.entries {
            let Stage::Claiming { queries, next_at, correlator } = &mut entry.stage else {
                continue;
            };
            if *next_at > now {
                continue;
            }
            if *queries == profile.query_count.value {
                entry.stage = Stage::Registered;
                outcomes.push(Outcome::Claimed(entry.name));
                continue;
            }
            *queries += 1;
            *next_at = now.plus_nanos(profile.query_interval_ns.value);
            let command = if entry.is_group {
                NameCommand::AddGroupNameQuery
            } else {
                NameCommand::AddNameQuery
            };
            let header = NameHeader {
                command,
                data1: 0,
                data2: 0,
                transmit_correlator: 0,
                response_correlator: *correlator,
                destination: NO_NAME,
                source: entry.name,
            };
            output.push(Mac::NETBIOS_GROUP, header, &[]);
        }
    }

    /// Another station wants to add a name: object if it is ours and not both are of a group.
    pub(super) fn handle_add_query(
        &mut self,
        from: Mac,
        header: &NameHeader,
        output: &mut Output,
        outcomes: &mut Vec<Outcome>,
    ) {
        let wants_group = header.command == NameCommand::AddGroupNameQuery;
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.name == header.source) else {
            return;
        };
        if wants_group && entry.is_group || entry.stage == Stage::Conflict {
            return;
        }
        let is_claiming = matches!(entry.stage, Stage::Claiming { .. });
        let answer = NameHeader {
            command: NameCommand::AddNameResponse,
            data1: if is_claiming { flag::NAME_IN_PROCESS } else { 0 },
            data2: if entry.is_group { u16::from(value::GROUP) } else { 0 },
            transmit_correlator: header.response_correlator,
            response_correlator: 0,
            destination: header.source,
            source: header.source,
        };
        output.push(from, answer, &[]);
        if is_claiming {
            // Both add it at the same time: both fail.
            outcomes.push(Outcome::Conflict(entry.name, from));
            self.release(header.source);
        }
    }

    /// Another station objects to a name that we add.
    pub(super) fn handle_add_response(
        &mut self,
        from: Mac,
        header: &NameHeader,
        outcomes: &mut Vec<Outcome>,
    ) {
        let is_meant = |entry: &&Entry| {
            entry.name == header.source
                && matches!(entry.stage, Stage::Claiming { correlator, .. }
                    if correlator == header.transmit_correlator)
        };
        if self.entries.iter().find(is_meant).is_some() {
            outcomes.push(Outcome::Conflict(header.source, from));
            self.release(header.source);
        }
    }

    /// Another station has found that a name of ours is also another's.
    pub(super) fn handle_conflict(&mut self, from: Mac, name: Name, outcomes: &mut Vec<Outcome>) {
        let entry = self.entries.iter_mut().find(|entry| entry.name == name);
        if let Some(entry) = entry.filter(|entry| entry.stage == Stage::Registered) {
            entry.stage = Stage::Conflict;
            outcomes.push(Outcome::Conflict(name, from));
        }
    }
}
