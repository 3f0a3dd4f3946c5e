//! The engine's own TCP stack.

use std::net::Ipv4Addr;

use lanlab_stack::ip::TcpProfile;
use lanlab_stack::ip::small::{Asked, BadValue};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::LinkPlace;

/// A station of the engine on an Ethernet, with IPv4, ARP and TCP in bounded memory.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnStack {
    pub link: LinkPlace,
    /// An IPv4 address that no other host may have.
    pub address: Ipv4Addr,
    pub memory_bytes: u64,
    #[serde(default)]
    pub tcp: OwnTcp,
}

/// TCP settings of a period system with little memory. Absent values have defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OwnTcp {
    /// Longest segment that it accepts and sends, 536 to 1460 bytes.
    pub mss_bytes: Option<u16>,
    /// Default receive buffer of a socket, 1460 to 65,535 bytes.
    pub receive_buffer_bytes: Option<u32>,
    /// Default send buffer of a socket, 1460 to 65,535 bytes.
    pub send_buffer_bytes: Option<u32>,
    /// Delay before a single segment is acknowledged, below 500 ms; 0: no delay.
    pub delayed_ack_ns: Option<u64>,
    /// Whether to send a short segment at once, even if the socket's options do not request it.
    pub no_delay: bool,
}

impl OwnStack {
    pub fn profile(
        &self,
        receive_buffer_bytes: Option<u32>,
        send_buffer_bytes: Option<u32>,
        no_delay: bool,
    ) -> Result<TcpProfile, BadValue> {
        TcpProfile::small(&Asked {
            receive_buffer_bytes: receive_buffer_bytes.or(self.tcp.receive_buffer_bytes),
            send_buffer_bytes: send_buffer_bytes.or(self.tcp.send_buffer_bytes),
            mss_bytes: self.tcp.mss_bytes,
            delayed_ack_ns: self.tcp.delayed_ack_ns,
            no_delay: no_delay || self.tcp.no_delay,
        })
    }

    pub fn has_address_of_one_host(&self) -> bool {
        let address = self.address;
        let is_special =
            address.is_unspecified() || address.is_loopback() || address.is_multicast();
        let first = address.octets()[0];
        !is_special && !address.is_broadcast() && first < 240 && first > 0
    }
}
