//! A world of modelled machines in virtual time, and the results of its programs.

mod cost;
mod machine;
mod numbers;
mod outcomes;
mod store;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{CopySpec, EchoSpec, MediumTopology, StationsSpec, StreamSpec};

pub use cost::*;
pub use machine::*;
pub use outcomes::*;
pub use store::*;

/// Run a workload between modelled machines in virtual time. The same request gives the same reply
/// and the same frames.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulate {
    pub seed: u64,
    pub world: SimulatedWorld,
    pub work: SimulatedWork,
    /// Write each delivered frame to this file, pcap with nanoseconds of virtual time; the file
    /// must not exist.
    pub pcap: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedWorld {
    pub medium: SimulatedMedium,
    /// For a stream the sender, then the receiver. For an echo one or more requesters, then the
    /// responder. 2 to 256; 2 on a cable.
    pub machines: Vec<SimulatedMachine>,
    /// When an unfinished world is stopped.
    #[serde(default)]
    pub bounds: SimulationBounds,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedMedium {
    pub topology: MediumTopology,
    /// Speed in bit/s, 1,000 to 100,000,000,000.
    pub rate_bps: u64,
    /// Propagation between any two machines, ns, up to 1,000,000. On a bus it determines which
    /// frames collide.
    #[serde(default)]
    pub propagation_ns: u64,
    /// Delay of each delivery, one way, ns, up to 10,000,000,000.
    #[serde(default)]
    pub delay_ns: u64,
    /// Share of deliveries lost at random, 0 to below 1.
    #[serde(default)]
    pub loss_ratio: f64,
    /// Size of each output queue of a switch, bytes on the wire, up to 16,777,216. Others ignore
    /// it.
    #[serde(default = "default_switch_queue_bytes")]
    pub switch_queue_bytes: u32,
}

fn default_switch_queue_bytes() -> u32 {
    131_072
}

/// When an unfinished world is stopped, with an error.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulationBounds {
    /// Events, 1 or more.
    pub events: u64,
    /// Virtual time from the start; absent: the maximum that the workload allows.
    pub virtual_time_ns: Option<u64>,
}

impl Default for SimulationBounds {
    fn default() -> Self {
        Self { events: 4_000_000_000, virtual_time_ns: None }
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "workload", rename_all = "snake_case", deny_unknown_fields)]
#[schemars(transform = crate::titled("Simulated", "Work"))]
pub enum SimulatedWork {
    /// One flow of messages from a sender to a receiver.
    Stream(SimulatedStream),
    Echo(SimulatedEcho),
    /// A copy of a dataset as in the workload, by SMB 1 over TCP or a frame carrier.
    Copy(Box<SimulatedCopy>),
    /// Stations as in the workload, by SMB 1 over TCP or a frame carrier.
    Stations(Box<SimulatedStations>),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedStations {
    /// The trial, with all stations on this host. Of the service, only dialect, carrier with
    /// segment, and reply timeout are used.
    pub spec: StationsSpec,
    /// Profile with the timers and windows of frame carriers; absent: Windows NT.
    pub profile: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedCopy {
    /// The copy. Of the service, only dialect, carrier with segment, and reply timeout are used.
    pub spec: CopySpec,
    /// Profile with the timers and windows of frame carriers; absent: Windows NT.
    pub profile: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedStream {
    /// The stream, with one flow. Options of sockets and threads have no effect. A message over UDP
    /// fits into one frame: 1472 or 1452 bytes.
    pub spec: StreamSpec,
    /// 4 or 6.
    pub ip_version: u8,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedEcho {
    /// The echo of each requester. Options of sockets and threads have no effect. A message over
    /// UDP fits into one frame: 1472 or 1452 bytes. Requests in flight over TCP must fit into the
    /// window and send buffer of each machine.
    pub spec: EchoSpec,
    /// 4 or 6.
    pub ip_version: u8,
    /// Payload of a reply, with the limits of a request; absent: that of the request.
    pub reply_size_bytes: Option<u32>,
}
