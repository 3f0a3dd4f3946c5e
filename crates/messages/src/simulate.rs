//! A world of modelled machines in virtual time, and what its programs measured.

mod outcomes;
mod store;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Amount, EchoAmount, MediumTopology, Rate, Transport, WhenLate};
#[cfg(feature = "services")]
use crate::{CopySpec, StationsSpec};

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

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulatedCost {
    /// For each frame or message, up to 10,000,000,000.
    pub each_ns: u64,
    /// For each of its bytes, picoseconds, up to 1,000,000,000 (1 ms).
    pub per_byte_ps: u64,
}

/// A machine: what its processor, its adapter and its system take and hold. Bytes of `interrupt`,
/// `protocol` and `transmit` are those of the IP packet, of calls those of the message. A cost of 0 takes
/// no time.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulatedMachine {
    /// For each received frame, before all else that the processor does.
    pub interrupt: SimulatedCost,
    /// For each received frame, after all interrupts and before programs.
    pub protocol: SimulatedCost,
    /// For each call of a program that takes in a message, or bytes of a TCP connection.
    pub receive_call: SimulatedCost,
    /// For each call of a program that hands over a message.
    pub send_call: SimulatedCost,
    /// For each sent frame, in turn with `protocol`.
    pub transmit: SimulatedCost,
    /// Received frames that the adapter holds until the interrupt takes them, 1 to 65,536.
    pub ring_frames: u32,
    /// Received frames that wait for protocol processing, 1 to 65,536.
    pub queue_frames: u32,
    /// Frames to send that the adapter holds, the one on the wire not counted, 1 to 65,536.
    pub transmit_queue_frames: u32,
    /// What the receive buffer of a UDP socket holds, 1 to 16,777,216: payload, and 128 bytes for each
    /// message; one always fits.
    pub receive_buffer_bytes: u32,
    /// What the send buffer of a socket holds, likewise; over TCP payload alone.
    pub send_buffer_bytes: u32,
    /// Share of the wire's rate at which the adapter sends, above 0, up to 1.
    pub adapter_rate_ratio: f64,
    /// Each cost is drawn evenly from (1 − ratio) to (1 + ratio) of itself, 0 to 1.
    pub jitter_ratio: f64,
    /// As a server of SMB 1: the longest message that it takes, and says so, 512 to 65,535; absent: that of its
    /// system, or of its carrier.
    pub message_bytes: Option<u32>,
    /// A fault: it stops for a time; absent: it does not.
    pub freeze: Option<SimulatedFreeze>,
    pub tcp: SimulatedTcp,
    /// Its files: what a server serves, or what a client copies from and to; absent: they take no time.
    pub store: Option<SimulatedStore>,
}

impl Default for SimulatedMachine {
    fn default() -> Self {
        let cost = SimulatedCost::default();
        Self {
            interrupt: cost,
            protocol: cost,
            receive_call: cost,
            send_call: cost,
            transmit: cost,
            ring_frames: 16,
            queue_frames: 50,
            transmit_queue_frames: 32,
            receive_buffer_bytes: 65_536,
            send_buffer_bytes: 65_536,
            adapter_rate_ratio: 1.0,
            jitter_ratio: 0.0,
            message_bytes: None,
            freeze: None,
            tcp: SimulatedTcp::default(),
            store: None,
        }
    }
}

/// A machine that stops: its processor does nothing, and its adapter takes frames until it has no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SimulatedFreeze {
    /// When, ns from the start of the world, 0 to 3,600,000,000,000.
    pub after_ns: u64,
    /// For how long, ns, 1 to 3,600,000,000,000.
    pub for_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SimulatedTcp {
    /// Longest segment that it takes, 64 to 1460, over IPv6 to 1440; absent: the longest.
    pub mss_bytes: Option<u16>,
    /// Its receive buffer, and so the largest window, 536 to 1,048,576.
    pub window_bytes: u32,
    /// Longest time that an acknowledgement waits for data to go with or for a second segment, up to
    /// 500,000,000 (RFC 1122, 4.2.3.2), in whole microseconds; 0 acknowledges at once.
    pub delayed_ack_ns: u64,
    /// Whether a short segment waits until all before it is acknowledged (RFC 896).
    pub nagle: bool,
}

impl Default for SimulatedTcp {
    /// Windows NT and 95.
    fn default() -> Self {
        Self { mss_bytes: None, window_bytes: 8_760, delayed_ack_ns: 200_000_000, nagle: true }
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
