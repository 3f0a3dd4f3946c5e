//! The hosts of a virtual LAN, each a network namespace of this machine.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bring up the interface of each host, with its addresses, and make all other hosts its
/// neighbours.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetUpHosts {
    /// 1 to 256.
    pub hosts: Vec<VirtualHost>,
    pub mtu_bytes: u32,
    /// Frames in the system's own queue before each interface.
    pub queue_frames: u32,
    /// Maximum segments in a packet from TCP; absent: the system's default.
    pub segments: Option<u32>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VirtualHost {
    pub namespace_pid: u32,
    /// Name of its interface, which exists already.
    pub interface: String,
    pub mac: String,
    pub addresses: Vec<HostAddress>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostAddress {
    pub address: IpAddr,
    pub prefix_bits: u8,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadHosts {
    /// A process in the network namespace of each host, 1 to 257.
    pub namespace_pids: Vec<u32>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HostsRead {
    /// For each host, in the order of the request: its interfaces.
    pub hosts: Vec<Vec<HostInterface>>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostInterface {
    pub name: String,
    pub carrier_changes: u64,
    /// Its sending queue; `null` if it has none.
    pub queue: Option<HostQueue>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HostQueue {
    /// Its queueing discipline, such as `tbf`.
    pub kind: String,
    pub bytes: u64,
    pub packets: u64,
    pub drops: u64,
    pub overlimits: u64,
    pub backlog_bytes: u64,
}
