//! Stations that were heard.

use std::collections::{BTreeMap, BTreeSet};

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;

use super::MOST;
use crate::messages::StationHeard;

/// Most protocols and addresses that are kept of one station.
const MOST_OF_ONE: usize = 8;

#[derive(Debug)]
struct Station {
    frames: u64,
    bytes: u64,
    protocols: BTreeSet<String>,
    addresses: BTreeSet<String>,
    first: Instant,
    last: Instant,
}

#[derive(Debug)]
pub struct Stations {
    start: Instant,
    found: BTreeMap<Mac, Station>,
    pub others: u64,
}

impl Stations {
    pub fn new(start: Instant) -> Self {
        Self { start, found: BTreeMap::new(), others: 0 }
    }

    pub fn see(&mut self, at: Instant, mac: Mac, bytes: u64, protocol: &str) {
        if self.found.len() >= MOST && !self.found.contains_key(&mac) {
            self.others += 1;
            return;
        }
        let station = self.found.entry(mac).or_insert_with(|| Station {
            frames: 0,
            bytes: 0,
            protocols: BTreeSet::new(),
            addresses: BTreeSet::new(),
            first: at,
            last: at,
        });
        station.frames += 1;
        station.bytes += bytes;
        station.last = at;
        keep(&mut station.protocols, protocol);
    }

    /// A station used this address.
    pub fn has_address(&mut self, mac: Mac, address: &str) {
        if let Some(station) = self.found.get_mut(&mac) {
            keep(&mut station.addresses, address);
        }
    }

    /// Whether a station was heard that used this address.
    pub fn knows(&self, address: &str) -> bool {
        self.found.values().any(|station| station.addresses.contains(address))
    }

    pub fn heard(&self) -> Vec<StationHeard> {
        let heard = |(mac, station): (&Mac, &Station)| StationHeard {
            mac: mac.to_string(),
            frames: station.frames,
            bytes: station.bytes,
            protocols: station.protocols.iter().cloned().collect(),
            addresses: station.addresses.iter().cloned().collect(),
            first_ns: station.first.nanos_since(self.start),
            last_ns: station.last.nanos_since(self.start),
        };
        self.found.iter().map(heard).collect()
    }
}

fn keep(texts: &mut BTreeSet<String>, text: &str) {
    if texts.len() < MOST_OF_ONE && !texts.contains(text) {
        texts.insert(text.to_owned());
    }
}
