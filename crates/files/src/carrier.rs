//! The carriers of a service's messages, and their counters.

use std::borrow::Cow;
use std::collections::BTreeMap;

use lanlab_stack::node::{CarrierKind, Count};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error};
use serde::{Serialize, Serializer};

/// Carrier of a service's messages, where there is a choice. Requests contain its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Carrier {
    #[default]
    Tcp,
    Frames(CarrierKind),
}

impl Carrier {
    pub const NBF: Self = Self::Frames(CarrierKind::Nbf);
    pub const NCP: Self = Self::Frames(CarrierKind::Ncp);

    pub fn all() -> impl Iterator<Item = Self> + Clone {
        let framed = CarrierKind::ALL.iter().copied().map(Self::Frames);
        std::iter::once(Self::Tcp).chain(framed)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Frames(kind) => kind.name(),
        }
    }
}

impl<'de> Deserialize<'de> for Carrier {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        named(deserializer, Self::all().map(|carrier| (carrier.name(), carrier)))
    }
}

/// The row of a table with the requested name.
pub(crate) fn named<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    rows: impl Iterator<Item = (&'static str, T)> + Clone,
) -> Result<T, D::Error> {
    let name = Cow::<str>::deserialize(deserializer)?;
    rows.clone().find(|(known, _)| *known == name).map(|(_, row)| row).ok_or_else(|| {
        let allowed: Vec<_> = rows.map(|(known, _)| known).collect();
        D::Error::custom(format!("found `{name}`; allowed: {}", allowed.join(", ")))
    })
}

impl JsonSchema for Carrier {
    fn schema_name() -> Cow<'static, str> {
        "Carrier".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<_> = Self::all()
            .map(|carrier| json_schema!({ "type": "string", "const": carrier.name() }))
            .collect();
        json_schema!({ "oneOf": names })
    }
}

/// Counters of this host's Ethernet station over all its sessions and links. They show losses and
/// retransmissions that a file copy hides. Each carrier has its own counters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CarrierCounts(Vec<Count>);

impl CarrierCounts {
    /// `counts` are in the order of the results, and their keys are unique.
    pub const fn new(counts: Vec<Count>) -> Self {
        Self(counts)
    }

    /// The count with this key; zero if the carrier does not have it.
    pub fn get(&self, key: &str) -> u64 {
        let found = self.0.iter().find(|(known, _)| *known == key);
        found.map_or(0, |(_, count)| *count)
    }

    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let counts = self.0.iter();
        Self(counts.map(|&(key, count)| (key, count.saturating_sub(before.get(key)))).collect())
    }
}

impl Serialize for CarrierCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

impl JsonSchema for CarrierCounts {
    fn schema_name() -> Cow<'static, str> {
        "CarrierCounts".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, u64>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error as BadValue, StrDeserializer};

    use super::*;

    #[test]
    fn unknown_carrier_names_are_refused_with_the_known_ones() {
        let read = |name: &'static str| {
            let name: StrDeserializer<'_, BadValue> = name.into_deserializer();
            Carrier::deserialize(name)
        };
        for carrier in Carrier::all() {
            assert_eq!(read(carrier.name()), Ok(carrier));
        }
        assert_eq!([read("tcp"), read("nbf")], [Ok(Carrier::Tcp), Ok(Carrier::NBF)]);
        let refused = read("pigeon").unwrap_err().to_string();
        assert_eq!(refused, "found `pigeon`; allowed: tcp, nbf, ipx, nbipx, ncp, spp");
    }

    #[test]
    fn earlier_counts_are_subtracted_per_key() {
        let before = CarrierCounts::new(vec![("sent_frames", 3), ("rejects_sent", 9)]);
        let after = CarrierCounts::new(vec![("sent_frames", 10), ("t1_expiries", 2)]);
        let since = after.since(&before);
        assert_eq!(since, CarrierCounts::new(vec![("sent_frames", 7), ("t1_expiries", 2)]));
        assert_eq!((since.get("sent_frames"), since.get("rejects_sent")), (7, 0));
        // A restarted node counts from zero.
        assert_eq!(before.since(&after).get("sent_frames"), 0);
    }
}
