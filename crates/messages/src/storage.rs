use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Medium {
    Disk,
    Tmpfs,
}

/// Make an empty directory on this host for one trial. It is removed, with all that is in it, when the
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
    /// Whether all of it is gone. What is not, the next trial of this user removes.
    pub is_gone: bool,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasureRoom {
    pub directory: String,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RoomMeasured {
    /// Bytes that this user may still write to its file system; `null` where the system does not tell.
    pub free_bytes: Option<u64>,
}

/// Have this host hold free memory for files that come to it, so that a copy does not wait for it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadyMemory {
    pub bytes: u64,
    /// Where the files come to. In a file system that is in memory, its own memory is made ready.
    #[serde(default)]
    pub directory: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MemoryReady {
    /// How much of it: less than was asked for where less is free.
    pub ready_bytes: u64,
    /// Why none was made ready; `null` if some was.
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
    /// Whether to ask the hosts of this host's networks for a `NetBIOS` name, if the system does not
    /// know it.
    #[serde(default)]
    pub netbios: bool,
    /// A name server (WINS) that is asked for a `NetBIOS` name before the system is.
    #[serde(default)]
    pub wins: Option<std::net::Ipv4Addr>,
    /// Port over TCP that tells which of several addresses is of a server; absent: the first is taken.
    #[serde(default)]
    pub port: Option<u16>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Resolved {
    /// The first that the system gives, or the first that answers at the port.
    pub address: std::net::IpAddr,
}
