//! Messages common to all requests: start, progress, end; and the engine's greeting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Capabilities, Outcome, Served};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    pub target: u64,
    pub at_ns: u64,
    /// Round trip between the ends as measured during setup; times of the trial depend on it. 0:
    /// unknown or irrelevant.
    #[serde(default)]
    pub round_trip_ns: u64,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    pub target: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Hello {
    pub engine_version: String,
    pub schema_version: u32,
    pub pid: u32,
    pub capabilities: Capabilities,
    /// Time between two `progress` lines of a request.
    pub progress_interval_ns: u64,
    pub max_line_bytes: u64,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Ready {
    pub id: u64,
    /// Ports that this end listens on: one per flow over UDP, one in total over TCP; empty at the
    /// connecting end.
    pub ports: Vec<u16>,
    /// Round trip measured during the session's setup, if this end measured it.
    pub setup_round_trip_ns: Option<u64>,
    pub directory: Option<String>,
    pub served: Option<Served>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Progress {
    pub id: u64,
    pub elapsed_ns: u64,
    pub messages: u64,
    pub bytes: u64,
    /// For a receiver of datagrams: messages up to the newest received, over all flows.
    pub expected_messages: Option<u64>,
    /// Current delay variation of one flow (RFC 3550); absent before the measured part.
    pub delay_variation_ns: Option<u64>,
    /// For TCP: the kernel's current information on the observed connections.
    pub tcp: Option<TcpNow>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct TcpNow {
    pub connections: u64,
    pub retransmitted_segments: u64,
    pub acknowledged_bytes: u64,
    pub congestion_window_bytes: u64,
    pub round_trip_ns: u64,
}

/// The kernel's information on one TCP connection during the trial, in columns. Several such lines
/// may precede the result.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct TcpSamples {
    pub id: u64,
    pub flow: u64,
    pub at_ns: Vec<u64>,
    pub congestion_window_bytes: Vec<u64>,
    pub round_trip_ns: Vec<u64>,
    /// Segments retransmitted so far.
    pub retransmitted_segments: Vec<u64>,
    /// The kernel's pacing rate; 0 without pacing.
    pub pacing_rate_bps: Vec<u64>,
    /// Most recent goodput at the peer as measured by the kernel.
    pub delivery_rate_bps: Vec<u64>,
    pub acknowledged_bytes: Vec<u64>,
    pub received_bytes: Vec<u64>,
    pub unacknowledged_segments: Vec<u64>,
    /// Bytes that the program has written but the kernel has not sent.
    pub unsent_bytes: Vec<u64>,
    pub peer_window_bytes: Vec<u64>,
    /// Receive window that this end announces, bytes; 0 before Linux 6.2.
    pub window_bytes: Vec<u64>,
    /// Time so far in which data was outstanding.
    pub busy_ns: Vec<u64>,
    /// Time so far limited by the receiver's window.
    pub receive_window_limited_ns: Vec<u64>,
    /// Time so far limited by the send buffer.
    pub send_buffer_limited_ns: Vec<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Finished {
    pub id: u64,
    pub result: Outcome,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Failed {
    /// The request; `null` if the line has no id.
    pub id: Option<u64>,
    /// Stable and dotted; the part before the first dot says where the cause is.
    pub code: String,
    pub message: String,
    pub hint: Option<String>,
    pub partial: Option<Outcome>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Pong {
    pub monotonic_ns: u64,
    /// Calendar clock, since 1970.
    pub realtime_ns: u64,
    /// CPU time of all threads of the engine so far; `null` if the system does not report it.
    pub engine_cpu_ns: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Armed {
    pub margin_ns: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Cancelled {
    pub target: u64,
}
