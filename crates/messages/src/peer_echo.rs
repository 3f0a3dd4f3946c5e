//! Round trips to a peer that is no engine.

use lanlab_files::HostAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EchoRequested, EchoSpec};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerEcho {
    /// What the echo is. Its transport is UDP where the protocol is ICMP, and TCP where a connection is
    /// opened; then `message_size_bytes` has no effect.
    pub spec: EchoSpec,
    pub protocol: PeerEchoProtocol,
    /// Address to send from; absent: the system's choice.
    #[serde(default)]
    pub bind: Option<HostAddress>,
    pub peer: HostAddress,
    /// The peer's port; 0 of ICMP, which has none.
    #[serde(default)]
    pub port: u16,
    /// The processor that the threads are bound to; absent: any.
    #[serde(default)]
    pub processor: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeerEchoProtocol {
    /// A service that sends back what it gets, over UDP or TCP (RFC 862).
    Echo,
    /// Opening a connection: from the call to the system's word that it is open. It is then reset.
    Connect,
    Icmp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IcmpSocket {
    /// One that any user of certain groups may open (`net.ipv4.ping_group_range`).
    Datagram,
    Raw,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PeerEchoed {
    /// As of a requester of an engine's echo. `foreign_datagrams` are answers over UDP and ICMP that are not
    /// what was sent.
    pub requested: EchoRequested,
    /// Which socket ICMP had; `null` of others.
    pub icmp_socket: Option<IcmpSocket>,
}
