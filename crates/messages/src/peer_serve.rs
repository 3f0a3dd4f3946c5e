//! A server for programs that are no engines.

use lanlab_files::HostAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PeerStreamed, Transport};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PeerServe {
    pub service: PeerService,
    pub bind: HostAddress,
    /// The port to listen on; 0: one that is free.
    #[serde(default)]
    pub port: u16,
    /// Clients at once, 1 to 100. A further one is refused.
    pub clients: u16,
    /// Longest time of a client, 1 s to 1 day.
    pub longest_ns: u64,
    /// Bit/s that a client of iperf3 may ask for in one direction, and that any other is served with; absent:
    /// unbounded.
    #[serde(default)]
    pub rate_bps: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeerService {
    /// Serves clients of iperf3.
    Iperf3,
    /// Reads and discards what comes over TCP (RFC 863).
    Discard,
    /// Writes back what comes over TCP (RFC 862).
    Echo,
    /// Writes characters over TCP (RFC 864).
    Chargen,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PeerClient {
    pub id: u64,
    /// Counted from 1.
    pub number: u64,
    /// Where it came from, as `ADDRESS:PORT`.
    pub address: String,
    /// Its cookie, by which a client of iperf3 names its test in its own results too.
    pub cookie: String,
    pub asked: Option<PeerAsked>,
    /// When its messages began to go, from the start of the server.
    pub began_ns: u64,
    /// From then, without the time that it left out, to its own word that the test is over.
    pub elapsed_ns: u64,
    /// Bytes of payload that this end received in that time, and what was on its way then.
    pub received_bytes: u64,
    /// Bytes that this end sent in that time: over TCP those that the client's TCP acknowledged.
    pub sent_bytes: u64,
    /// Bytes in both directions that this server moved for this client while its messages went, and for all
    /// clients in the same time, each counted as it was moved.
    pub moved_bytes: u64,
    pub moved_for_all_bytes: u64,
    /// Most clients whose messages went at the same time as its own, itself included.
    pub clients_at_once: u64,
    pub counted: PeerStreamed,
    pub said: Option<super::PeerReport>,
    /// Why it ended, unless it ended well.
    pub error: Option<PeerError>,
}

impl PeerClient {
    pub fn new(id: u64, number: u64, address: String, cookie: String, began_ns: u64) -> Self {
        Self {
            id,
            number,
            address,
            cookie,
            asked: None,
            began_ns,
            elapsed_ns: 0,
            received_bytes: 0,
            sent_bytes: 0,
            moved_bytes: 0,
            moved_for_all_bytes: 0,
            clients_at_once: 0,
            counted: PeerStreamed::default(),
            said: None,
            error: None,
        }
    }
}

/// What a client of iperf3 asked for.
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
    /// Clients that were served, whether their tests ended well or not.
    pub clients: u64,
    pub refused: u64,
    pub silent: u64,
    pub elapsed_ns: u64,
    /// Processor time of the engine meanwhile, where the system tells.
    pub engine_cpu_ns: Option<u64>,
    pub moved_bytes: u64,
    /// The time in which the same clients, most of all times and at least two, were served at once; the
    /// longest of these.
    pub together: Option<PeersTogether>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PeersTogether {
    pub time_ns: u64,
    /// Bytes of payload that were moved for each of them, in the order of their numbers.
    pub bytes: Vec<u64>,
}
