//! A server for clients without an engine.

use lanlab_files::HostAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PeerStreamed, Transport};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerServe {
    pub service: PeerService,
    pub bind: HostAddress,
    /// Port to listen on; 0: any free port.
    #[serde(default)]
    pub port: u16,
    /// Clients at once, 1 to 100. Further clients are refused.
    pub clients: u16,
    /// Time limit per client, 1 s to 1 day.
    pub longest_ns: u64,
    /// Limit of the rate that an iperf3 client may request in one direction, and of the rate for
    /// other clients, bit/s; absent: no limit.
    pub rate_bps: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeerService {
    /// Serves clients of iperf3.
    Iperf3,
    /// Reads and discards data over TCP (RFC 863).
    Discard,
    /// Returns data over TCP (RFC 862).
    Echo,
    /// Sends characters over TCP (RFC 864).
    Chargen,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct PeerClient {
    pub id: u64,
    /// From 1.
    pub number: u64,
    /// Its address, as `ADDRESS:PORT`.
    pub address: String,
    /// Its cookie, which an iperf3 client also shows in its own results.
    pub cookie: String,
    pub asked: Option<PeerAsked>,
    /// Start of its messages, from the start of the server.
    pub began_ns: u64,
    /// From then to the client's end message, without the omitted time.
    pub elapsed_ns: u64,
    /// Payload bytes that this end received in that time, including data that was in flight.
    pub received_bytes: u64,
    /// Bytes that this end sent in that time; over TCP those that the client's TCP acknowledged.
    pub sent_bytes: u64,
    /// Bytes in both directions for this client during its test, and for all clients in the same
    /// time, counted at transfer.
    pub moved_bytes: u64,
    pub moved_for_all_bytes: u64,
    /// Maximum number of simultaneous clients during its test, including itself.
    pub clients_at_once: u64,
    pub counted: PeerStreamed,
    pub said: Option<super::PeerReport>,
    /// The error with which it ended; absent: success.
    pub error: Option<PeerError>,
}

/// The parameters that an iperf3 client requested.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PeerAsked {
    pub transport: Transport,
    pub sends: bool,
    pub receives: bool,
    pub flows: u16,
    pub message_size_bytes: u64,
    /// Bit/s of each flow; 0: as fast as possible.
    pub rate_bps: u64,
    pub omit_ns: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PeerError {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct PeerServeEnded {
    /// Clients served, successful or not.
    pub clients: u64,
    pub refused: u64,
    pub silent: u64,
    pub elapsed_ns: u64,
    /// CPU time of the engine meanwhile, if the system reports it.
    pub engine_cpu_ns: Option<u64>,
    pub moved_bytes: u64,
    /// The period in which the most clients (at least two) were served at once; the longest such
    /// period.
    pub together: Option<PeersTogether>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PeersTogether {
    pub time_ns: u64,
    /// Payload bytes transferred for each of them, in the order of their numbers.
    pub bytes: Vec<u64>,
}
