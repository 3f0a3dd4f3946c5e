//! Names and servers heard on the segment.

use std::collections::{BTreeMap, BTreeSet};

use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::Name;

use super::MOST;
use crate::messages::{NameHeard, NameSign, ServerHeard};

type Key = (Name, &'static str, Mac);

#[derive(Debug, Default)]
pub struct Names {
    found: BTreeMap<Key, (NameSign, Option<bool>)>,
    pub others: u64,
}

impl Names {
    /// Note that a station has, or seems to have, a name. The strongest evidence is kept; a release holds until the
    /// name is claimed again.
    pub fn see(&mut self, key: Key, sign: NameSign, is_group: Option<bool>) {
        if key.0.0 == [0; 16] {
            return;
        }
        if self.found.len() >= MOST && !self.found.contains_key(&key) {
            self.others += 1;
            return;
        }
        let (kept, group) = self.found.entry(key).or_insert((sign, is_group));
        *kept = match (*kept, sign) {
            (_, NameSign::Released) => NameSign::Released,
            (NameSign::Released, sign) if sign > NameSign::Used => sign,
            (kept, sign) => sign.max(kept),
        };
        *group = is_group.or(*group);
    }

    pub fn heard(&self) -> Vec<NameHeard> {
        let heard = |((name, protocol, mac), (sign, is_group)): (&Key, &(NameSign, _))| NameHeard {
            name: name.text(),
            suffix: name.suffix(),
            protocol: (*protocol).to_owned(),
            mac: mac.to_string(),
            is_group: *is_group,
            sign: *sign,
        };
        self.found.iter().map(heard).collect()
    }
}

#[derive(Debug, Default)]
pub struct Servers {
    found: BTreeSet<(String, String, &'static str, String)>,
    pub others: u64,
}

impl Servers {
    pub fn see(&mut self, kind: String, name: String, protocol: &'static str, address: String) {
        let server = (kind, name, protocol, address);
        if self.found.len() >= MOST && !self.found.contains(&server) {
            self.others += 1;
            return;
        }
        self.found.insert(server);
    }

    pub fn heard(&self) -> Vec<ServerHeard> {
        let heard =
            |(kind, name, protocol, address): &(String, String, &str, String)| ServerHeard {
                kind: kind.clone(),
                name: name.clone(),
                protocol: (*protocol).to_owned(),
                address: address.clone(),
            };
        self.found.iter().map(heard).collect()
    }
}

pub fn shown(name: Name) -> String {
    format!("{}<{:02X}>", name.text(), name.suffix())
}
