//! What an engine has found out about ways to send and to receive on its system, so that the next
//! engine need not try them again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Candidate, Io, Receive, Transport};

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareWays {
    /// Of this host since it was started, at most 64. What another version of the engine found is
    /// not used.
    #[serde(default)]
    pub earlier: Vec<TriedWays>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct KnownWays {
    /// All that were tried here or came with a request, up to 64.
    pub ways: Vec<TriedWays>,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TriedWays {
    pub engine: String,
    /// When, seconds since 1970 by this host's clock.
    pub tried_at_s: u64,
    pub transport: Transport,
    /// Size of the messages, of those that stand for all others.
    pub message_bytes: u32,
    /// Receive buffer that was asked for; absent: the system's.
    pub receive_buffer_bytes: Option<u32>,
    pub of: WaysOf,
    /// Each way, in the order of preference where nothing arrived.
    pub candidates: Vec<Candidate>,
    /// Whether two rounds agreed, and other work left processors for both ends. What is not sure
    /// pins the choice of one series of measurements, and is not kept beyond it.
    #[serde(default = "sure")]
    pub is_sure: bool,
}

const fn sure() -> bool {
    true
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "end", rename_all = "snake_case")]
pub enum WaysOf {
    #[schemars(title = "WaysToReceive")]
    Receive { beside: Io },
    #[schemars(title = "WaysToSend")]
    Send { beside: Receive },
}
