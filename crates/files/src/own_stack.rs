//! TCP of a process of its own.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::LinkPlace;

/// A station of the engine's own on an Ethernet, with IPv4, ARP and TCP in bounded memory.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnStack {
    /// Its link.
    pub link: LinkPlace,
    /// Its IPv4 address, which no other host has.
    pub address: Ipv4Addr,
    /// Bound of what it holds in all, bytes.
    pub memory_bytes: u64,
}

impl OwnStack {
    /// Whether the address can be that of one host.
    pub fn has_address_of_one_host(&self) -> bool {
        let address = self.address;
        let is_special =
            address.is_unspecified() || address.is_loopback() || address.is_multicast();
        let first = address.octets()[0];
        !is_special && !address.is_broadcast() && first < 240 && first > 0
    }
}
