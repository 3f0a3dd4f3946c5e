//! A world of modelled machines in virtual time, and what its programs measured.

mod cost;
mod machine;
mod numbers;
mod outcomes;
mod store;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Amount, EchoAmount, MediumTopology, Rate, Transport, WhenLate};
#[cfg(feature = "services")]
use crate::{CopySpec, StationsSpec};

pub use cost::*;
pub use machine::*;
pub use outcomes::*;
pub use store::*;

/// Run a workload between modelled machines in virtual time. The same request gives the same reply, and
/// the same frames.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulate {
    pub seed: u64,
    pub world: SimulatedWorld,
    pub work: SimulatedWork,
    /// Write each delivered frame to this file, pcap with nanoseconds of virtual time; it must not exist.
    #[serde(default)]
    pub pcap: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedWorld {
    pub medium: SimulatedMedium,
    /// Of a stream the sender, then the receiver. Of an echo one or more requesters, then the responder.
    /// 2 to 256; 2 on a cable.
    pub machines: Vec<SimulatedMachine>,
    /// When a world that has not come to its end is stopped.
    #[serde(default)]
    pub bounds: SimulationBounds,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedMedium {
    pub topology: MediumTopology,
    /// Speed in bit/s, 1,000 to 100,000,000,000.
    pub rate_bps: u64,
    /// Propagation between any two machines, ns, up to 1,000,000; on a bus it decides which frames collide.
    #[serde(default)]
    pub propagation_ns: u64,
    /// Added to each delivery, one way, ns, up to 10,000,000,000.
    #[serde(default)]
    pub delay_ns: u64,
    /// Share of copies lost by chance, 0 to below 1.
    #[serde(default)]
    pub loss_ratio: f64,
    /// Most bytes on the wire that wait at each output of a switch, up to 16,777,216. Others ignore it.
    #[serde(default = "default_switch_queue_bytes")]
    pub switch_queue_bytes: u32,
}

fn default_switch_queue_bytes() -> u32 {
    131_072
}

/// When a world that has not come to its end is stopped, with an error.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulationBounds {
    /// Events, 1 or more.
    pub events: u64,
    /// Virtual time from the start; absent: what the workload may take at most.
    pub virtual_time_ns: Option<u64>,
}

impl Default for SimulationBounds {
    fn default() -> Self {
        Self { events: 4_000_000_000, virtual_time_ns: None }
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "workload", rename_all = "snake_case", deny_unknown_fields)]
pub enum SimulatedWork {
    /// One flow of messages from a sender to a receiver.
    #[schemars(title = "SimulatedStreamWork")]
    Stream(SimulatedStream),
    #[schemars(title = "SimulatedEchoWork")]
    Echo(SimulatedEcho),
    /// A copy of a dataset, as the workload asks for it, by SMB 1: over TCP or a carrier of frames.
    #[cfg(feature = "services")]
    #[schemars(title = "SimulatedCopyWork")]
    Copy(Box<SimulatedCopy>),
    /// Stations, as the workload asks for them, by SMB 1: over TCP or a carrier of frames.
    #[cfg(feature = "services")]
    #[schemars(title = "SimulatedStationsWork")]
    Stations(Box<SimulatedStations>),
}

#[cfg(feature = "services")]
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedStations {
    /// The trial, all of whose stations are this host's. Of the service count the dialect, the carrier and
    /// its segment, and the time for an answer.
    pub spec: StationsSpec,
    /// Whose timers and windows carriers of frames have, by name; absent: those of Windows NT.
    #[serde(default)]
    pub profile: Option<String>,
}

#[cfg(feature = "services")]
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedCopy {
    /// The copy. Of the service count the dialect, the carrier and its segment, and the time for an answer.
    pub spec: CopySpec,
    /// Whose timers and windows carriers of frames have, by name; absent: those of Windows NT.
    #[serde(default)]
    pub profile: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedStream {
    pub transport: Transport,
    /// 4 or 6.
    pub ip_version: u8,
    /// Payload of a message: 1 to 16,777,216 over TCP; over UDP to what fits into one frame, 1472 or 1452.
    pub message_size_bytes: u32,
    pub amount: Amount,
    /// Sending rate; absent: as fast as possible.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// What a sender with a rate does about messages whose slot has passed.
    #[serde(default)]
    pub when_late: WhenLate,
    /// Bytes that one read asks for (TCP), 1 to 16,777,216.
    #[serde(default = "default_read_bytes")]
    pub read_bytes: u32,
    /// Time from the start that is kept out of the figures.
    pub warmup_ns: u64,
    /// Over UDP, what arrives later than this after the end of the measured part is late, and lost.
    #[serde(default = "default_drain_ns")]
    pub drain_ns: u64,
    /// Width of the bins of the interval series, 1,000,000 to 60,000,000,000.
    pub interval_ns: u64,
}

fn default_read_bytes() -> u32 {
    1_048_576
}

fn default_drain_ns() -> u64 {
    500_000_000
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedEcho {
    pub transport: Transport,
    /// 4 or 6.
    pub ip_version: u8,
    /// Payload of a request: 1 to 16,777,216 over TCP; over UDP to what fits into one frame, 1472 or 1452.
    pub message_size_bytes: u32,
    /// Payload of a reply, likewise; absent: that of the request.
    #[serde(default)]
    pub reply_size_bytes: Option<u32>,
    /// How much is measured of each requester, after the warm-up.
    pub amount: EchoAmount,
    /// Requests per second of each requester on a fixed schedule, to a thousandth; absent: a closed loop,
    /// the next request when the reply is there or overdue.
    #[serde(default)]
    pub rate_requests_per_s: Option<f64>,
    /// Requests of each requester on their way at a time in a closed loop: 1 to 16,384, to 64 with
    /// messages of 1 byte; over TCP no more bytes than any machine's window and send buffer hold.
    #[serde(default = "crate::echo::one_request")]
    pub outstanding_requests: u32,
    /// A reply later than this after the intended time of its request is a time-out.
    pub timeout_ns: u64,
    /// Whether `timeout_ns` is a default, which is more on a path whose round trips take longer.
    #[serde(default)]
    pub timeout_follows_path: bool,
    /// Time from the start that is kept out of the figures.
    pub warmup_ns: u64,
}
