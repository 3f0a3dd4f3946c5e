mod outcomes;

use lanlab_files::HostAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Receive, SocketOptions, Timestamps, Transport};

pub use outcomes::*;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    pub transport: Transport,
    /// Payload of a message: 1 to 65,507 over UDP, to 16,777,216 over TCP.
    pub message_size_bytes: u32,
    pub amount: Amount,
    /// Sending rate of all flows together; absent: as fast as possible.
    pub rate: Option<Rate>,
    /// Parallel flows, 1 to 1000.
    pub flows: u16,
    /// Threads for the flows at each end, 1 to 64; absent: one per flow, at most one per processor.
    pub threads: Option<u16>,
    /// How messages are passed to and from the system.
    pub io: Io,
    #[serde(default)]
    pub receive: Receive,
    /// Bytes per read (TCP), 1 to 16,777,216, independent of the message size.
    #[serde(default = "default_read_bytes")]
    pub read_bytes: u32,
    /// What a sender with a rate does with messages whose slot has passed.
    #[serde(default)]
    pub when_late: WhenLate,
    /// Source of arrival times (UDP).
    #[serde(default)]
    pub timestamps: Timestamps,
    #[serde(default)]
    pub socket: SocketOptions,
    /// Warm-up from the start, excluded from the results.
    pub warmup_ns: u64,
    /// Over UDP, a message that arrives later than this after the end of the measured part is late
    /// and counts as lost.
    #[serde(default = "default_drain_ns")]
    pub drain_ns: u64,
    pub interval_ns: u64,
    /// Either end gives up if it receives nothing for this time.
    pub silence_ns: u64,
}

fn default_read_bytes() -> u32 {
    1_048_576
}

fn default_drain_ns() -> u64 {
    500_000_000
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenLate {
    /// Send all messages with shorter gaps until the sender has caught up: keeps the mean rate.
    #[default]
    CatchUp,
    /// Skip messages whose successor is also due: the sender never exceeds the rate.
    Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    TimeNs(u64),
    /// Payload bytes over all flows, rounded up to whole messages per flow.
    Bytes(u64),
    /// Messages over all flows, rounded up to the same number per flow.
    Messages(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    Bps(u64),
    MessagesPerS(f64),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Io {
    Single,
    /// Several messages in one system call, each its own packet for the system.
    Batch,
    /// Several messages in one buffer that the system or device splits. UDP only.
    Segment,
    #[default]
    Auto,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamReceive {
    pub spec: StreamSpec,
    pub bind: HostAddress,
    /// Port to listen on, or the first of a range; 0: the system chooses.
    #[serde(default)]
    pub port: u16,
    /// Last port of the range; 0: over TCP the first; over UDP one port per flow, each the next
    /// free one.
    #[serde(default)]
    pub last_port: u16,
    /// The only address that may send.
    pub peer: HostAddress,
    /// Secret of both ends: 32 hexadecimal digits.
    pub session: String,
    /// Processor to which the receiving threads are bound; absent: any.
    pub processor: Option<u16>,
    #[serde(default)]
    pub load: ReceiverLoad,
    /// Relation of the sender's monotonic clock to this one; absent: unknown, so there are no
    /// one-way results.
    pub sender_clock: Option<ClockRelation>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReceiverLoad {
    /// Share of a processor that each receiving thread may use, 0.01 to 1: in every 10 ms it rests
    /// after this share, like under a quota of the system. Absent: no limit.
    pub quota_ratio: Option<f64>,
    /// CPU time that the receiving thread spends on each message, up to 1 s.
    pub work_ns: u64,
    /// Busy threads per receiving thread, bound to its processor, which must be given; 0 to 16.
    pub rivals: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockRelation {
    /// The other clock's reading less this one's at the same moment.
    pub offset_ns: i64,
    /// Maximum error of the offset, ns; 0 if both are one clock.
    pub error_ns: u64,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSend {
    pub spec: StreamSpec,
    /// Source address; absent: the system's choice.
    pub bind: Option<HostAddress>,
    pub peer: HostAddress,
    /// The receiver's ports, from its `ready`.
    pub ports: Vec<u16>,
    /// Secret of both ends: 32 hexadecimal digits.
    pub session: String,
    /// Processor to which the sending threads are bound; absent: any.
    pub processor: Option<u16>,
}
