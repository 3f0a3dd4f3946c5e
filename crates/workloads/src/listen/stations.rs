//! Stations heard on the segment.

use std::collections::{BTreeMap, BTreeSet};

use lanlab_units::Instant;
use lanlab_wire::ethernet::Mac;

use super::MOST;
use crate::messages::{FramingHeard, StationHeard};

const MOST_OF_ONE: usize = 8;

#[derive(Debug, Default)]
struct Station {
    frames: u64,
    bytes: u64,
    protocols: BTreeSet<String>,
    addresses: BTreeSet<String>,
    ipx_framings: BTreeSet<FramingHeard>,
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
            first: at,
            last: at,
            ..Station::default()
        });
        station.frames += 1;
        station.bytes += bytes;
        station.last = at;
        keep(&mut station.protocols, protocol);
    }

    pub fn has_address(&mut self, mac: Mac, address: &str) {
        if let Some(station) = self.found.get_mut(&mac) {
            keep(&mut station.addresses, address);
        }
    }

    pub fn uses_ipx_in(&mut self, mac: Mac, framing: FramingHeard) {
        if let Some(station) = self.found.get_mut(&mac) {
            station.ipx_framings.insert(framing);
        }
    }

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
            ipx_framings: station.ipx_framings.iter().copied().collect(),
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
