//! Messages that any request has: its start, its progress, its end. And the engine's greeting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "services")]
use crate::Served;
use crate::{Capabilities, Outcome};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    pub target: u64,
    pub at_ns: u64,
    /// Round trip of the path between the ends, as their set-up has measured it: times of the trial
    /// follow it. 0: not known, or of no account.
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
    /// Ports that this end listens on, one for each flow over UDP, one in all over TCP; empty at
    /// the end that connects.
    pub ports: Vec<u16>,
    /// Round trip of the session's set-up, if this end saw one.
    pub setup_round_trip_ns: Option<u64>,
    #[cfg(feature = "services")]
    pub directory: Option<String>,
    #[cfg(feature = "services")]
    pub served: Option<Served>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Progress {
    pub id: u64,
    pub elapsed_ns: u64,
    pub messages: u64,
    pub bytes: u64,
    /// Of a receiver of datagrams: messages up to the newest that has come, over all flows.
    pub expected_messages: Option<u64>,
    /// By how much their delay varies now (RFC 3550), of one flow; absent before the measured part.
    pub delay_variation_ns: Option<u64>,
    /// Of TCP: what the kernel knows now of the connections that are looked at.
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

/// What the kernel knew of one TCP connection in the course of a trial, in columns. Several such lines
/// may come before the result.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct TcpSamples {
    pub id: u64,
    pub flow: u64,
    pub at_ns: Vec<u64>,
    pub congestion_window_bytes: Vec<u64>,
    pub round_trip_ns: Vec<u64>,
    /// Segments sent again until then.
    pub retransmitted_segments: Vec<u64>,
    /// Rate at which the kernel spaces segments; 0 where it does not.
    pub pacing_rate_bps: Vec<u64>,
    /// Most recent goodput that the kernel has seen at the peer.
    pub delivery_rate_bps: Vec<u64>,
    pub acknowledged_bytes: Vec<u64>,
    pub received_bytes: Vec<u64>,
    pub unacknowledged_segments: Vec<u64>,
    /// Bytes that the program has written and the kernel has not sent.
    pub unsent_bytes: Vec<u64>,
    pub peer_window_bytes: Vec<u64>,
    /// Receive window that this end announces, bytes; 0 before Linux 6.2.
    pub window_bytes: Vec<u64>,
    /// Time until then in which data was outstanding.
    pub busy_ns: Vec<u64>,
    /// Time until then limited by the receiver's window.
    pub receive_window_limited_ns: Vec<u64>,
    /// Time until then limited by the send buffer.
    pub send_buffer_limited_ns: Vec<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Finished {
    pub id: u64,
    pub result: Outcome,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Failed {
    /// The request; `null` for a line that names none.
    pub id: Option<u64>,
    /// Stable and dotted; what comes before the first dot says whose fault it is.
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
    /// CPU time of the engine so far, all threads; `null` where the system does not tell.
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
