//! Messages that any request has: its start, its progress, its end. And the engine's greeting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "services")]
use crate::Served;
use crate::{Capabilities, Outcome};

/// When a request that is ready shall start.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// The request.
    pub target: u64,
    /// The start, on this engine's monotonic clock.
    pub at_ns: u64,
    /// Round trip of the path between the ends, as their set-up has measured it: times of the trial
    /// follow it. 0: not known, or of no account.
    #[serde(default)]
    pub round_trip_ns: u64,
}

/// Which request to end.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    /// The request.
    pub target: u64,
}

/// What the engine is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hello {
    /// Version of the engine.
    pub engine_version: String,
    /// Version of these messages.
    pub schema_version: u32,
    /// Process id.
    pub pid: u32,
    /// What this engine can do on this system.
    pub capabilities: Capabilities,
    /// Time between two `progress` lines of a request.
    pub progress_interval_ns: u64,
    /// Longest line that the engine reads, bytes.
    pub max_line_bytes: u64,
}

/// A request is set up.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Ready {
    /// The request.
    pub id: u64,
    /// Ports that this end listens on, one for each flow over UDP, one in all over TCP; empty at
    /// the end that connects.
    pub ports: Vec<u16>,
    /// Round trip of the session's set-up, if this end saw one.
    pub setup_round_trip_ns: Option<u64>,
    /// Of a trial's directory: its absolute path.
    #[cfg(feature = "services")]
    pub directory: Option<String>,
    /// Of a server: how it is reached.
    #[cfg(feature = "services")]
    pub served: Option<Served>,
}

/// How far a request is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Progress {
    /// The request.
    pub id: u64,
    /// Time since the start, warm-up included.
    pub elapsed_ns: u64,
    /// Messages sent, received or answered so far, warm-up included.
    pub messages: u64,
    /// The same in bytes of payload.
    pub bytes: u64,
    /// Of a receiver of datagrams: messages up to the newest that has come, over all flows.
    pub expected_messages: Option<u64>,
    /// By how much their delay varies now (RFC 3550), of one flow; absent before the measured part.
    pub delay_variation_ns: Option<u64>,
    /// Of TCP: what the kernel knows now of the connections that are looked at.
    pub tcp: Option<TcpNow>,
}

/// What the kernel knows of several TCP connections at one moment.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct TcpNow {
    /// Connections that were looked at.
    pub connections: u64,
    /// Segments sent again, of all.
    pub retransmitted_segments: u64,
    /// Bytes that the peers have acknowledged, of all.
    pub acknowledged_bytes: u64,
    /// Congestion windows of all together, bytes.
    pub congestion_window_bytes: u64,
    /// Mean of their smoothed round-trip times.
    pub round_trip_ns: u64,
}

/// What the kernel knew of one TCP connection in the course of a trial, in columns. Several such lines
/// may come before the result.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct TcpSamples {
    /// The request.
    pub id: u64,
    /// The flow.
    pub flow: u64,
    /// Time since the start.
    pub at_ns: Vec<u64>,
    /// Congestion window, bytes.
    pub congestion_window_bytes: Vec<u64>,
    /// Smoothed round-trip time.
    pub round_trip_ns: Vec<u64>,
    /// Segments sent again until then.
    pub retransmitted_segments: Vec<u64>,
    /// Rate at which the kernel spaces segments; 0 where it does not.
    pub pacing_rate_bps: Vec<u64>,
    /// Most recent goodput that the kernel has seen at the peer.
    pub delivery_rate_bps: Vec<u64>,
    /// Bytes that the peer has acknowledged.
    pub acknowledged_bytes: Vec<u64>,
    /// Bytes received in order.
    pub received_bytes: Vec<u64>,
    /// Segments that are sent and not acknowledged.
    pub unacknowledged_segments: Vec<u64>,
    /// Bytes that the program has written and the kernel has not sent.
    pub unsent_bytes: Vec<u64>,
    /// Receive window that the peer announces, bytes.
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

/// A request has ended well.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finished {
    /// The request.
    pub id: u64,
    /// What came of it.
    pub result: Outcome,
}

/// A request has ended otherwise.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Failed {
    /// The request; `null` for a line that names none.
    pub id: Option<u64>,
    /// Stable and dotted; what comes before the first dot says whose fault it is.
    pub code: String,
    /// What was found and what was allowed.
    pub message: String,
    /// What to do, if anything can be done.
    pub hint: Option<String>,
    /// What had been measured until then.
    pub partial: Option<Outcome>,
}

/// The clocks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pong {
    /// Monotonic clock.
    pub monotonic_ns: u64,
    /// Calendar clock, since 1970.
    pub realtime_ns: u64,
    /// CPU time of the engine so far, all threads; `null` where the system does not tell.
    pub engine_cpu_ns: Option<u64>,
}

/// A request has its start.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Armed {
    /// Time from now to the start.
    pub margin_ns: u64,
}

/// A request is being ended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Cancelled {
    /// The request.
    pub target: u64,
}
