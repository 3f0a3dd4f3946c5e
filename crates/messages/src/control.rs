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
    /// The same in octets of payload.
    pub bytes: u64,
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
