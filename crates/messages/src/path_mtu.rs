use lanlab_files::HostAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Answer a peer's path MTU probes: each datagram of its session gets a reply of equal size, and a
/// short one. `ready` names the port; when cancelled, the error has
/// `path_mtu_answered`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathMtuAnswer {
    pub bind: HostAddress,
    /// Port to listen on, or the first of a range; 0: the system chooses.
    #[serde(default)]
    pub port: u16,
    /// Last port of the range; 0: the first.
    #[serde(default)]
    pub last_port: u16,
    /// The only address that gets answers.
    pub peer: HostAddress,
    /// Secret token of the session, known only to both ends: 32 hexadecimal digits.
    pub session: String,
}

/// Find the largest packets that pass to a peer, and back. Ends in `path_mtu_probed`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathMtuProbe {
    pub bind: HostAddress,
    pub peer: HostAddress,
    /// The peer's port, from its `ready`.
    pub port: u16,
    /// Secret token of the session, known only to both ends: 32 hexadecimal digits.
    pub session: String,
    /// Largest packet to try, including the IP header: the MTU of both interfaces, 1280 to 65,535.
    pub most_bytes: u32,
    /// Time limit: 1 ms to 10 s.
    pub within_ns: u64,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct PathMtuAnswered {
    pub datagrams: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PacketBounds {
    pub least_bytes: u32,
    /// Larger packets did not arrive. More than `least_bytes` if the time ended before the search.
    pub most_bytes: u32,
}

#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct PathMtuProbed {
    /// To the peer; `null` if nothing came back.
    pub there: Option<PacketBounds>,
    /// From the peer. Only sizes that reached the peer are tried.
    pub back: Option<PacketBounds>,
    /// Whether a router reported that a packet was too long (RFC 792, RFC 4443).
    pub was_told: bool,
    pub datagrams: u64,
    pub elapsed_ns: u64,
}
