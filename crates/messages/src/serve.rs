use lanlab_files::{
    Carrier, CarrierCounts, Credentials, HostAddress, IpxSegment, LinkPlace, ServerOptions,
    ServiceKind,
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
    /// Port; 0: the system chooses, or the default port with the engine's own TCP.
    #[serde(default)]
    pub port: u16,
    /// Required login; absent: none, for everybody who can reach the address.
    pub credentials: Option<Credentials>,
    #[serde(default)]
    pub read_only: bool,
    /// The station to serve from, for a carrier on Ethernet; then `bind` and `port` are ignored.
    pub station: Option<ServeStation>,
    #[serde(default)]
    pub options: ServerOptions,
    /// Expected number of simultaneous connections. The request is refused if this process may not
    /// open enough files and sockets.
    #[serde(default)]
    pub connections: u32,
    /// Whether `client_seen` lines report clients' actions.
    #[serde(default)]
    pub says_clients: bool,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServeStation {
    pub carrier: Carrier,
    pub link: LinkPlace,
    /// 1 to 15 ASCII characters.
    pub name: String,
    /// For a carrier on IPX.
    #[serde(default)]
    pub ipx: IpxSegment,
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
