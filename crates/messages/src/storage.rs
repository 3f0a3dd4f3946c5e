use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    Disk,
    Tmpfs,
}

/// Make an empty directory on this host for one trial. It is removed with all its content when the
/// request is cancelled or the engine ends.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrialDirectory {
    pub medium: Medium,
    /// Whether a server that runs as another user must reach it.
    #[serde(default)]
    pub for_server: bool,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrialDirectoryRemoved {
    pub directory: String,
    /// Whether everything is removed. The next trial of this user removes the rest.
    pub is_gone: bool,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasureRoom {
    pub directory: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RoomMeasured {
    /// Free bytes of its file system for this user; `null` if the system does not report them.
    pub free_bytes: Option<u64>,
}

/// Make memory available for files that this host will receive, so that a copy does not wait for
/// it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyMemory {
    pub bytes: u64,
    /// Directory of the files. On an in-memory file system, its own memory is prepared.
    pub directory: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MemoryReady {
    /// Prepared amount: less than requested if less is free.
    pub ready_bytes: u64,
    /// Why no memory was prepared; `null` if some was.
    pub reason: Option<String>,
    pub elapsed_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressFamily {
    /// IP version 4.
    Ipv4,
    /// IP version 6.
    Ipv6,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Resolve {
    pub name: String,
    pub family: AddressFamily,
    /// Whether to query the hosts of this host's networks for a `NetBIOS` name that the system does
    /// not know.
    #[serde(default)]
    pub netbios: bool,
    /// A name server (WINS) to query for a `NetBIOS` name before the system.
    pub wins: Option<std::net::Ipv4Addr>,
    /// TCP port to find out which of several addresses belongs to a server; absent: the first
    /// address is used.
    pub port: Option<u16>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Resolved {
    /// The first address that the system returns, or the first that answers at the port.
    pub address: std::net::IpAddr,
}
