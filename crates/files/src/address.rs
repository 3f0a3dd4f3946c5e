//! The address of a host. A link-local address has a zone.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

/// Longest name of an interface, bytes (`IFNAMSIZ` without its zero).
const LONGEST_ZONE: usize = 15;

/// An IP address. A link-local one (`fe80::/10`) is the same on every link, so its text has a zone
/// after `%`: the name or number of the interface on the host that uses it (RFC 4007, section 11).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostAddress {
    ip: IpAddr,
    zone: Option<Zone>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Zone {
    octets: [u8; LONGEST_ZONE],
    length: u8,
}

impl Zone {
    fn new(name: &str) -> Option<Self> {
        let is_plain = name.bytes().all(|octet| octet.is_ascii_graphic() && octet != b'/');
        if name.is_empty() || name.len() > LONGEST_ZONE || !is_plain {
            return None;
        }
        let mut octets = [0; LONGEST_ZONE];
        octets[..name.len()].copy_from_slice(name.as_bytes());
        Some(Self { octets, length: u8::try_from(name.len()).ok()? })
    }

    fn as_str(&self) -> &str {
        str::from_utf8(&self.octets[..usize::from(self.length)]).unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadAddress(String);

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadAddress {}

impl HostAddress {
    /// The address without its zone, as in packets and server names.
    pub fn ip(&self) -> IpAddr {
        self.ip
    }

    pub fn zone(&self) -> Option<&str> {
        self.zone.as_ref().map(Zone::as_str)
    }
}

impl From<IpAddr> for HostAddress {
    fn from(ip: IpAddr) -> Self {
        Self { ip, zone: None }
    }
}

impl From<Ipv4Addr> for HostAddress {
    fn from(ip: Ipv4Addr) -> Self {
        IpAddr::V4(ip).into()
    }
}

impl From<[u8; 4]> for HostAddress {
    fn from(octets: [u8; 4]) -> Self {
        Ipv4Addr::from(octets).into()
    }
}

impl FromStr for HostAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = |what: &str| BadAddress(format!("address `{}`: {what}", text.escape_debug()));
        let (address, zone) =
            text.split_once('%').map_or((text, None), |(address, zone)| (address, Some(zone)));
        let ip: IpAddr = address.parse().map_err(|_| bad("no IPv4 or IPv6 address"))?;
        let Some(zone) = zone else { return Ok(ip.into()) };
        if !matches!(ip, IpAddr::V6(ip) if ip.is_unicast_link_local()) {
            return Err(bad("found a zone; allowed: with an address of one link, fe80::/10"));
        }
        let zone = Zone::new(zone).ok_or_else(|| bad("its zone is no name of an interface"))?;
        Ok(Self { ip, zone: Some(zone) })
    }
}

impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.zone() {
            Some(zone) => write!(f, "{}%{zone}", self.ip),
            None => self.ip.fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for HostAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for HostAddress {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HostAddress".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_addresses_have_a_zone() {
        let found: HostAddress = "fe80::1%eth0.100".parse().unwrap();
        assert_eq!((found.ip().to_string().as_str(), found.zone()), ("fe80::1", Some("eth0.100")));
        assert_eq!(found.to_string(), "fe80::1%eth0.100");
        for text in ["10.0.0.1", "fd00::2", "fe80::1", "fe80::1%3"] {
            assert_eq!(text.parse::<HostAddress>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_addresses_have_no_zone() {
        for bad in [
            "",
            "nas",
            "10.0.0.1%eth0",
            "fd00::2%eth0",
            "::1%lo",
            "fe80::1%",
            "fe80::1%a/b",
            "fe80::1%a b",
            "fe80::1%0123456789abcdef",
            "%eth0",
        ] {
            assert!(bad.parse::<HostAddress>().is_err(), "{bad}");
        }
    }
}
