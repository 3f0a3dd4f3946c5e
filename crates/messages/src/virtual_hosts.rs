//! The hosts of a virtual LAN, each a network namespace of this machine.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Take up the interface of each host, with its addresses, and make all others its neighbours.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetUpHosts {
    /// 1 to 256.
    pub hosts: Vec<VirtualHost>,
    /// Largest packet of each interface, bytes.
    pub mtu_bytes: u32,
    /// Frames that the system's own queue before each interface holds.
    pub queue_frames: u32,
    /// Most segments in a packet that TCP hands down; absent: as the system has it.
    #[serde(default)]
    pub segments: Option<u32>,
}

/// A host and its settings.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VirtualHost {
    /// A process in the host's network namespace.
    pub namespace_pid: u32,
    /// Name of its interface, which is there already.
    pub interface: String,
    /// The interface's hardware address.
    pub mac: String,
    /// Its addresses.
    pub addresses: Vec<HostAddress>,
}

/// An address of a host.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostAddress {
    /// The address.
    pub address: IpAddr,
    /// Length of its network's prefix, bits.
    pub prefix_bits: u8,
}

/// Read the current state of the interfaces of hosts.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadHosts {
    /// Of each host a process in its network namespace, 1 to 257.
    pub namespace_pids: Vec<u32>,
}

/// State of the interfaces of hosts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HostsRead {
    /// Of each host, in the order of the request: its interfaces.
    pub hosts: Vec<Vec<HostInterface>>,
}

/// An interface of a host.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HostInterface {
    /// Its name.
    pub name: String,
    /// Changes of its link's carrier, in both directions.
    pub carrier_changes: u64,
    /// Its sending queue; `null` while it has none.
    pub queue: Option<HostQueue>,
}

/// The sending queue of an interface, and its counters.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct HostQueue {
    /// Its queueing discipline, as `tbf`.
    pub kind: String,
    /// Bytes that left it.
    pub bytes: u64,
    /// Packets that left it.
    pub packets: u64,
    /// Packets that it dropped.
    pub drops: u64,
    /// Times that a packet had to wait.
    pub overlimits: u64,
    /// Bytes that wait now.
    pub backlog_bytes: u64,
}
