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
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Parallel flows, 1 to 1000.
    pub flows: u16,
    /// Threads that each end spreads its flows over, 1 to 64; absent: as many as flows, but no more
    /// than processors.
    #[serde(default)]
    pub threads: Option<u16>,
    /// How messages are handed to the system and taken from it.
    pub io: Io,
    #[serde(default)]
    pub receive: Receive,
    /// Bytes that one read asks for (TCP), 1 to 16,777,216, for messages of any size.
    #[serde(default = "default_read_bytes")]
    pub read_bytes: u32,
    /// What a sender with a rate does about messages whose slot has passed.
    #[serde(default)]
    pub when_late: WhenLate,
    /// Which clock reading the arrival of a message is (UDP).
    #[serde(default)]
    pub timestamps: Timestamps,
    #[serde(default)]
    pub socket: SocketOptions,
    /// Time from the start that is kept out of the figures.
    pub warmup_ns: u64,
    /// Over UDP, what arrives later than this after the end of the measured part is late, and lost.
    #[serde(default = "default_drain_ns")]
    pub drain_ns: u64,
    pub interval_ns: u64,
    /// Either end gives up when nothing has come from the other for this time.
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
    /// Send them all, in shorter gaps until it is on time again: keeps the mean rate.
    #[default]
    CatchUp,
    /// Leave out those whose successor is due as well: no run of messages is faster than the rate.
    Skip,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Amount {
    #[schemars(title = "AmountOfTime")]
    TimeNs(u64),
    /// Bytes of payload over all flows, rounded up to whole messages for each.
    #[schemars(title = "AmountOfBytes")]
    Bytes(u64),
    /// Messages over all flows, rounded up to the same number for each.
    #[schemars(title = "AmountOfMessages")]
    Messages(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rate {
    #[schemars(title = "BitRate")]
    Bps(u64),
    #[schemars(title = "MessageRate")]
    MessagesPerS(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Io {
    Single,
    /// Several messages in one system call, each its own packet for the system.
    Batch,
    /// Several messages in one buffer that the system or device cuts up. UDP only.
    Segment,
    Auto,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamReceive {
    pub spec: StreamSpec,
    pub bind: HostAddress,
    /// Port to listen on, the first that may be; 0 lets the system choose.
    #[serde(default)]
    pub port: u16,
    /// The last port that may be; 0: over TCP the first, over UDP as many as there are flows, each of
    /// which takes the next one that is free.
    #[serde(default)]
    pub last_port: u16,
    /// The only address that may send.
    pub peer: HostAddress,
    /// Secret that only both ends know: 32 hexadecimal digits.
    pub session: String,
    /// The processor that the receiving threads are bound to; absent: any.
    #[serde(default)]
    pub processor: Option<u16>,
    #[serde(default)]
    pub load: ReceiverLoad,
    /// How the sender's monotonic clock stands to this one; absent: unknown, no one-way figures.
    #[serde(default)]
    pub sender_clock: Option<ClockRelation>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReceiverLoad {
    /// Share of a processor that each receiving thread may use, 0.01 to 1: of every 10 ms it rests
    /// once it has used this share, as under a quota of the system. Absent: all.
    pub quota_ratio: Option<f64>,
    /// Time that the receiving thread works on each message, up to 1 s.
    pub work_ns: u64,
    /// Busy threads per receiving thread, bound to its processor, which must be given; 0 to 16. They
    /// never rest.
    pub rivals: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClockRelation {
    /// The other clock's reading less this one's at the same moment.
    pub offset_ns: i64,
    /// Largest error of the offset, ns; 0 if both are one clock.
    pub error_ns: u64,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSend {
    pub spec: StreamSpec,
    /// Address to send from; absent: the system's choice.
    #[serde(default)]
    pub bind: Option<HostAddress>,
    pub peer: HostAddress,
    /// The receiver's ports, from its `ready`.
    pub ports: Vec<u16>,
    /// Secret that only both ends know: 32 hexadecimal digits.
    pub session: String,
    /// The processor that the sending threads are bound to; absent: any.
    #[serde(default)]
    pub processor: Option<u16>,
}
