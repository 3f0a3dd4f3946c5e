//! Configuration of a node at a link.

use lanlab_os::RawLinkPlace;
use lanlab_stack::node::{CarrierKind, NodeConfig, StationConfig};
use lanlab_stack::profile::{OWN, Profile};
use lanlab_wire::ethernet::{Framing, Mac};
use lanlab_wire::netbios_name::{Name, suffix};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WiredPlan {
    pub place: RawLinkPlace,
    pub carrier: CarrierKind,
    /// Framing, for carriers with more than one; absent: detected.
    pub framing: Option<Framing>,
    /// Network number, for carriers that have one; absent: learned.
    pub network: Option<u32>,
    /// Station name; absent: derived from the hardware address.
    pub name: Option<Name>,
    pub profile: Profile,
    pub listens: bool,
}

impl WiredPlan {
    pub const fn new(place: RawLinkPlace, carrier: CarrierKind) -> Self {
        Self {
            place,
            carrier,
            framing: None,
            network: None,
            name: None,
            profile: OWN,
            listens: false,
        }
    }

    pub(super) fn config(&self, mac: Mac) -> NodeConfig {
        let name = self.name.unwrap_or_else(|| name_of_station(mac));
        let config = NodeConfig::new(mac, name, self.profile, self.carrier);
        let (framing, network) = (self.framing, self.network);
        NodeConfig { station: StationConfig { framing, network, ..config.station }, ..config }
    }

    /// Whether nodes of both plans would receive each other's frames, or answer for each other, and so must not
    /// coexist.
    pub(super) fn collides(&self, other: &Self) -> bool {
        let is_one_socket = matches!(self.place, RawLinkPlace::Descriptor(_));
        self.place == other.place && (is_one_socket || self.carrier == other.carrier)
    }
}

/// A name that is unique unless another station has the same address.
fn name_of_station(Mac([_, _, _, a, b, c]): Mac) -> Name {
    Name::new(&format!("LANLAB-{a:02X}{b:02X}{c:02X}"), suffix::WORKSTATION)
        .unwrap_or_else(|_| unreachable!("a valid name"))
}
