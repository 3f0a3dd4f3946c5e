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
    /// The directory, by its absolute path; it must be there.
    pub root: String,
    pub bind: HostAddress,
    /// Port; 0 lets the system choose.
    #[serde(default)]
    pub port: u16,
    /// To whom; absent: to anybody who can reach the address.
    #[serde(default)]
    pub credentials: Option<Credentials>,
    /// What carries SMB 1.
    #[serde(default)]
    pub carrier: Carrier,
    /// Link of this host to serve on, of a carrier on Ethernet; `bind` and `port` have no meaning then.
    #[serde(default)]
    pub link: Option<LinkPlace>,
    /// The engine's own TCP, over which FTP is served at an address of its own; absent: the system's. `bind` has no
    /// meaning then, and port 0 is 21.
    #[serde(default)]
    pub stack: Option<OwnStack>,
    /// Name of the server's station there, 1 to 15 characters of ASCII.
    #[serde(default)]
    pub station_name: Option<String>,
    /// The segment of that station, of a carrier on IPX.
    #[serde(default)]
    pub ipx: IpxSegment,
    /// The system of the time that a server of SMB 1 is, over its carrier; absent: none.
    #[serde(default)]
    pub profile: Option<SystemProfile>,
    /// Name that a server of SMB 1 says, 1 to 15 characters of ASCII; absent: `lanlab`.
    #[serde(default)]
    pub server_name: Option<String>,
    /// Name of the share of SMB, 1 to 12 characters of ASCII, as old clients hold no longer one; absent:
    /// `lanlab`.
    #[serde(default)]
    pub share: Option<String>,
    #[serde(default)]
    pub read_only: bool,
    /// Whether every client has to sign its messages, which only SMB 1 can ask for, and takes a user.
    #[serde(default)]
    pub requires_signatures: bool,
    /// The oldest dialect of SMB 1 to speak.
    #[serde(default = "oldest")]
    pub oldest_dialect: Dialect,
    #[serde(default = "newest")]
    pub newest_dialect: Dialect,
    /// Connections that are expected at once; it is refused if this process may not have as many
    /// files and sockets as these take.
    #[serde(default)]
    pub connections: u32,
    /// Whether lines `client_seen` say what clients do.
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
    /// Share, bucket or export by which the directory goes there; `null` where there is none.
    pub share: Option<String>,
    /// SHA-256 of its certificate or host key, hexadecimal; `null` where it has none.
    pub trust_sha256: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClientSeen {
    pub id: u64,
    /// Address of its host; of a station on Ethernet that of its adapter.
    pub peer: String,
    pub what: String,
    pub times: u64,
    pub left_out: u64,
}

/// What a server did until its end was requested.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ServeEnded {
    pub accepted: u64,
    /// What its station counted meanwhile, of a carrier on Ethernet.
    pub carrier: Option<CarrierCounts>,
    pub stack: Option<StackFacts>,
    pub elapsed_ns: u64,
    /// CPU time of the whole engine meanwhile; `null` where the system does not tell.
    pub engine_cpu_ns: Option<u64>,
}
