use lanlab_files::HostAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CpuTime, Distribution, EndedBy, HostWindow, Receive, SocketOptions, TcpFacts, Timestamps,
    Transport,
};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EchoSpec {
    pub transport: Transport,
    /// Payload of a request and of its reply: 1 to 65,507 over UDP, to 16,777,216 over TCP.
    pub message_size_bytes: u32,
    pub amount: EchoAmount,
    /// Requests per second on a fixed schedule, to a thousandth; absent: a closed loop, the next
    /// request when the reply is there or overdue.
    #[serde(default)]
    pub rate_requests_per_s: Option<f64>,
    /// Requests on their way at a time in a closed loop: 1 to 16,384, to 64 with messages of 1 byte;
    /// over TCP 65,536 bytes in all, and no more than a socket buffer that is given.
    #[serde(default = "one_request")]
    pub outstanding_requests: u32,
    /// A reply later than this after the intended time of its request is a time-out.
    pub timeout_ns: u64,
    /// Whether `timeout_ns` is a default, which is more on a path whose round trips take longer.
    #[serde(default)]
    pub timeout_follows_path: bool,
    #[serde(default)]
    pub receive: Receive,
    /// Whether the kernel's time stamps are taken as well (UDP, closed loop).
    #[serde(default)]
    pub timestamps: Timestamps,
    #[serde(default)]
    pub socket: SocketOptions,
    /// Time from the start that is kept out of the figures.
    pub warmup_ns: u64,
    /// Either end gives up when nothing has come from the other for this time.
    pub silence_ns: u64,
}

pub(crate) fn one_request() -> u32 {
    1
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EchoAmount {
    #[schemars(title = "EchoTime")]
    TimeNs(u64),
    #[schemars(title = "EchoRequests")]
    Requests(u64),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EchoRespond {
    pub spec: EchoSpec,
    pub bind: HostAddress,
    /// Port to listen on, the first that may be; 0 lets the system choose.
    #[serde(default)]
    pub port: u16,
    /// The last port that may be; 0: the first.
    #[serde(default)]
    pub last_port: u16,
    /// The only address that is answered.
    pub peer: HostAddress,
    /// Secret that only both ends know: 32 hexadecimal digits.
    pub session: String,
    /// The processor that this end's threads are bound to; absent: any.
    #[serde(default)]
    pub processor: Option<u16>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EchoRequest {
    pub spec: EchoSpec,
    /// Address to send from; absent: the system's choice.
    #[serde(default)]
    pub bind: Option<HostAddress>,
    pub peer: HostAddress,
    /// The responder's port, from its `ready`.
    pub port: u16,
    /// Secret that only both ends know: 32 hexadecimal digits.
    pub session: String,
    /// The processor that this end's threads are bound to; absent: any.
    #[serde(default)]
    pub processor: Option<u16>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EchoResponded {
    pub ended_by: EndedBy,
    /// How it waited: never `auto`.
    pub receive: Receive,
    pub answered_messages: u64,
    pub refused_messages: u64,
    /// Datagrams that do not belong to the session or are no request; not answered.
    pub foreign_datagrams: u64,
    pub cpu: CpuTime,
}

/// Round trips of replies in time, those of the warm-up included, by when the replies came.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct RoundTripsOverTime {
    /// Width of a bin; the first begins at the start.
    pub interval_ns: u64,
    pub replies: Vec<u64>,
    /// Their mean round trip; 0 where there are none.
    pub mean_ns: Vec<u64>,
    pub longest_ns: Vec<u64>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EchoRequested {
    pub ended_by: EndedBy,
    /// How it waited: never `auto`.
    pub receive: Receive,
    /// Time from the start asked for to the first request.
    pub start_skew_ns: i64,
    /// From the first measured request to the last reply or time-out.
    pub elapsed_ns: u64,
    /// Time in which requests were sent, from the first measured one to when the amount was reached: for
    /// a rate of replies. With many requests on their way it ends before the last replies come.
    pub sending_ns: u64,
    /// Replies in time that came in `sending_ns`, those to requests of the warm-up included.
    pub sending_replies: u64,
    /// Requests that were due: by the schedule with a rate, else those sent.
    pub offered_requests: u64,
    pub requests: u64,
    pub replies: u64,
    pub timeouts: u64,
    pub late_replies: u64,
    pub duplicate_replies: u64,
    /// Requests that the system refused for want of room (`ENOBUFS`).
    pub refused_requests: u64,
    /// Datagrams that do not belong to the session or are no reply.
    pub foreign_datagrams: u64,
    /// Round-trip times of the replies in time: with a rate from the intended time of the request,
    /// else from when it was handed to the system.
    pub round_trip: Distribution,
    /// The same from the kernel's stamp of a request to its stamp of the reply: without the
    /// requester's own waiting and waking. `null` unless asked for.
    pub kernel_round_trip: Option<Distribution>,
    pub over_time: RoundTripsOverTime,
    pub cpu: CpuTime,
    /// What the whole host did from the start of the measured part to its end.
    pub host: Option<HostWindow>,
    pub tcp: Option<TcpFacts>,
}
