//! Round trips to a peer without an engine.

use lanlab_files::HostAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EchoRequested, EchoSpec};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerEcho {
    /// Parameters of the echo. The transport is UDP for ICMP, and TCP for opening connections; then
    /// `message_size_bytes` has no effect.
    pub spec: EchoSpec,
    pub protocol: PeerEchoProtocol,
    /// Source address; absent: the system's choice.
    pub bind: Option<HostAddress>,
    pub peer: HostAddress,
    /// The peer's port; 0 for ICMP.
    #[serde(default)]
    pub port: u16,
    /// Processor to which the threads are bound; absent: any.
    pub processor: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeerEchoProtocol {
    /// A service that returns what it receives, over UDP or TCP (RFC 862).
    Echo,
    /// Opening a connection: from the call until the system reports it as open. It is then reset.
    Connect,
    Icmp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IcmpSocket {
    /// A socket that users of certain groups may open (`net.ipv4.ping_group_range`).
    Datagram,
    Raw,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PeerEchoed {
    /// As for an engine's requester. `foreign_datagrams` are UDP and ICMP answers that differ from
    /// the request.
    pub requested: EchoRequested,
    /// Type of the ICMP socket; `null` for other protocols.
    pub icmp_socket: Option<IcmpSocket>,
}
