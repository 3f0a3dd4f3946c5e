//! NetBIOS without its frames: the name of a station, and its calls to names.
//!
//! NetBIOS over LLC and over IPX share timing and conflict rules, and differ in their frames, which a carrier
//! writes through its [`NameFrames`].

mod calls;
mod own_name;

use lanlab_wire::ethernet::Mac;
use lanlab_wire::netbios_name::{Name, suffix};

use crate::carrier::{BadPeer, CarrierFacts, Peer};
use crate::profile::Profile;

pub(crate) use calls::{NameCall, Unanswered};
pub(crate) use own_name::OwnName;

pub(crate) const LONGEST_MESSAGE: usize = 0xffff;

pub(crate) const FACTS: CarrierFacts = CarrierFacts {
    longest_message: LONGEST_MESSAGE as u32,
    keeps_raw: true,
    is_one_at_a_time: false,
};

pub(crate) fn server(name: &str) -> Result<Peer, BadPeer> {
    server_of(name, "NetBIOS name")
}

pub(crate) fn server_of(name: &str, kind: &str) -> Result<Peer, BadPeer> {
    Name::new(name, suffix::SERVER).map(Peer::Name).map_err(|error| BadPeer {
        message: format!("`{name}` is no {kind}: {error}"),
        hint: "a name has 1 to 15 characters of ASCII",
    })
}

/// Numbers that replies repeat; never zero, except for carriers that match replies by name.
#[derive(Debug)]
pub(crate) struct Correlators(Option<u16>);

impl Correlators {
    pub(crate) const NONE: Self = Self(None);

    pub(crate) fn next(&mut self) -> u16 {
        self.0 = self.0.map(|last| last.checked_add(1).unwrap_or(1));
        self.0.unwrap_or(0)
    }
}

impl Default for Correlators {
    fn default() -> Self {
        Self(Some(0))
    }
}

/// How often a name is claimed, queried or called, and the interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QueryPace {
    pub(crate) count: u32,
    pub(crate) interval_ns: u64,
}

impl QueryPace {
    pub(crate) const fn of(profile: &Profile) -> Self {
        Self { count: profile.query_count, interval_ns: profile.query_interval_ns }
    }
}

pub(crate) trait NameFrames {
    /// Ask all stations whether one objects to our claim.
    fn push_claim(&mut self, name: Name, correlator: u16);

    /// Object to another station's claim: the name is ours, or we are claiming it too.
    fn push_objection(&mut self, to: Mac, claim: (Name, u16), is_claiming: bool);
}
