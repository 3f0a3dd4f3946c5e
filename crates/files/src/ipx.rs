//! The IPX segment of a station, as its user describes it.

use std::ops::RangeInclusive;

use lanlab_wire::ethernet::Framing;
use lanlab_wire::ipx::framing;
use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error};

use crate::Carrier;

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize, JsonSchema)]
pub enum IpxFraming {
    #[serde(rename = "ethernet-ii")]
    EthernetIi,
    /// A length, then the packet, as in `NetWare` before 3.12.
    #[serde(rename = "raw-802.3")]
    Raw8023,
    /// LLC, as in `NetWare` from 3.12 on.
    #[serde(rename = "802.2")]
    Ieee8022,
    #[serde(rename = "snap")]
    Snap,
}

impl IpxFraming {
    /// Name of a frame type in requests; the type with Ethertypes is `ethernet-ii`.
    pub const fn name_of(framing: Framing) -> &'static str {
        match framing {
            framing::RAW_802_3 => "raw-802.3",
            framing::IEEE_802_2 => "802.2",
            framing::SNAP => "snap",
            _ => "ethernet-ii",
        }
    }
}

/// The IPX segment of a station. Absent values are detected on the wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IpxSegment {
    #[serde(default)]
    pub framing: Option<IpxFraming>,
    /// The network number, except 0 (any segment) and the highest number (all networks).
    #[serde(default, deserialize_with = "network")]
    pub network: Option<u32>,
}

const NETWORKS: RangeInclusive<u32> = 1..=u32::MAX - 1;

fn network<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let found = Option::<u32>::deserialize(deserializer)?;
    match found.filter(|network| !NETWORKS.contains(network)) {
        None => Ok(found),
        Some(bad) => {
            let (first, last) = NETWORKS.into_inner();
            Err(D::Error::custom(format!("network: found {bad}; allowed: {first} to {last}")))
        }
    }
}

impl IpxSegment {
    pub fn has_no_effect(self, carrier: Carrier) -> bool {
        let is_on_ipx = matches!(carrier, Carrier::Frames(kind) if kind.is_on_ipx());
        !is_on_ipx && self != Self::default()
    }

    pub fn framing(self) -> Option<Framing> {
        self.framing.map(|asked| match asked {
            IpxFraming::EthernetIi => framing::ETHERNET_II,
            IpxFraming::Raw8023 => framing::RAW_802_3,
            IpxFraming::Ieee8022 => framing::IEEE_802_2,
            IpxFraming::Snap => framing::SNAP,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error as BadValue, StrDeserializer};

    use super::*;

    #[test]
    fn framings_have_their_option_names() {
        for found in framing::ALL {
            let name = IpxFraming::name_of(found);
            let name: StrDeserializer<'_, BadValue> = name.into_deserializer();
            let asked = IpxSegment { framing: IpxFraming::deserialize(name).ok(), network: None };
            assert_eq!(asked.framing(), Some(found));
        }
    }

    #[test]
    fn segment_options_affect_only_ipx() {
        let said = IpxSegment { framing: Some(IpxFraming::Snap), network: None };
        let has_effect: Vec<_> =
            Carrier::all().filter(|one| !said.has_no_effect(*one)).map(Carrier::name).collect();
        assert_eq!(has_effect, ["ipx", "nbipx", "ncp"]);
        assert!(Carrier::all().all(|one| !IpxSegment::default().has_no_effect(one)));
    }
}
