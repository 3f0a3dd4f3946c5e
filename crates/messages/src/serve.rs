use lanlab_files::{
    Carrier, CarrierCounts, Credentials, Dialect, HostAddress, IpxSegment, LinkPlace, OwnStack,
    ServiceKind, SystemProfile,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StackFacts;

/// Serve a directory of this host by an embedded server, until the request is cancelled.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    pub service: ServiceKind,
    /// The directory, by its absolute path; it must exist.
    pub root: String,
    pub bind: HostAddress,
    /// Port; 0: the system chooses.
    #[serde(default)]
    pub port: u16,
    /// Required login; absent: none, for everybody who can reach the address.
    pub credentials: Option<Credentials>,
    /// Carrier of SMB 1.
    #[serde(default)]
    pub carrier: Carrier,
    /// The interface of this host to serve on, for a carrier on Ethernet; then `bind` and `port`
    /// are ignored.
    pub link: Option<LinkPlace>,
    /// The engine's own TCP, with its own address, for FTP; absent: the system's. Then `bind` is
    /// ignored, and port 0 means 21.
    pub stack: Option<OwnStack>,
    /// Name of the server's station, 1 to 15 ASCII characters.
    pub station_name: Option<String>,
    /// The station's segment, for a carrier on IPX.
    #[serde(default)]
    pub ipx: IpxSegment,
    /// The period system that an SMB 1 server emulates over its carrier; absent: none.
    pub profile: Option<SystemProfile>,
    /// Name that an SMB 1 server reports, 1 to 15 ASCII characters; absent: `lanlab`.
    pub server_name: Option<String>,
    /// Name of the SMB share, 1 to 12 ASCII characters, the limit of old clients; absent: `lanlab`.
    pub share: Option<String>,
    #[serde(default)]
    pub read_only: bool,
    /// Whether every client must sign its messages. Only for SMB 1 with a user.
    #[serde(default)]
    pub requires_signatures: bool,
    /// The oldest SMB 1 dialect to accept.
    #[serde(default = "oldest")]
    pub oldest_dialect: Dialect,
    #[serde(default = "newest")]
    pub newest_dialect: Dialect,
    /// Expected number of simultaneous connections. The request is refused if this process may not
    /// open enough files and sockets.
    #[serde(default)]
    pub connections: u32,
    /// Whether `client_seen` lines report clients' actions.
    #[serde(default)]
    pub says_clients: bool,
}

fn oldest() -> Dialect {
    Dialect::ALL.0
}

fn newest() -> Dialect {
    Dialect::ALL.1
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Served {
    /// Share, bucket or export with the directory; `null` if the service has none.
    pub share: Option<String>,
    /// SHA-256 of its certificate or host key, hexadecimal; `null` if it has none.
    pub trust_sha256: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClientSeen {
    pub id: u64,
    /// Address of its host; for a station on Ethernet, of its adapter.
    pub peer: String,
    pub what: String,
    pub times: u64,
    pub left_out: u64,
}

/// The server's counts until it was ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ServeEnded {
    pub accepted: u64,
    /// Counts of its station, for a carrier on Ethernet.
    pub carrier: Option<CarrierCounts>,
    pub stack: Option<StackFacts>,
    pub elapsed_ns: u64,
    /// CPU time of the whole engine meanwhile; `null` if the system does not report it.
    pub engine_cpu_ns: Option<u64>,
}
