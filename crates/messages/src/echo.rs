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
    /// Payload of a request and its reply: 1 to 65,507 over UDP, to 16,777,216 over TCP.
    pub message_size_bytes: u32,
    pub amount: EchoAmount,
    /// Requests per second on a fixed schedule, in steps of 0.001; absent: a closed loop, in which
    /// the next request is sent when a reply arrives or times out.
    pub rate_requests_per_s: Option<f64>,
    /// Requests in flight in a closed loop: 1 to 16,384 (1-byte messages: 64). Over TCP at most
    /// 65,536 bytes in total, and at most a given socket buffer.
    #[serde(default = "one_request")]
    pub outstanding_requests: u32,
    /// A reply that arrives later than this after its request's intended time is a timeout.
    pub timeout_ns: u64,
    /// Whether `timeout_ns` is a default, which is increased on a path with longer round trips.
    #[serde(default)]
    pub timeout_follows_path: bool,
    #[serde(default)]
    pub receive: Receive,
    /// Whether to record kernel timestamps as well (UDP, closed loop).
    #[serde(default)]
    pub timestamps: Timestamps,
    #[serde(default)]
    pub socket: SocketOptions,
    /// Warm-up from the start, excluded from the results.
    pub warmup_ns: u64,
    /// Either end gives up if it receives nothing for this time.
    pub silence_ns: u64,
}

fn one_request() -> u32 {
    1
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EchoAmount {
    TimeNs(u64),
    Requests(u64),
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EchoRespond {
    pub spec: EchoSpec,
    pub bind: HostAddress,
    /// Port to listen on, or the first of a range; 0: the system chooses.
    #[serde(default)]
    pub port: u16,
    /// Last port of the range; 0: the first.
    #[serde(default)]
    pub last_port: u16,
    /// The only address that gets answers.
    pub peer: HostAddress,
    /// Secret of both ends: 32 hexadecimal digits.
    pub session: String,
    /// Processor to which this end's threads are bound; absent: any.
    pub processor: Option<u16>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EchoRequest {
    pub spec: EchoSpec,
    /// Source address; absent: the system's choice.
    pub bind: Option<HostAddress>,
    pub peer: HostAddress,
    /// The responder's port, from its `ready`.
    pub port: u16,
    /// Secret of both ends: 32 hexadecimal digits.
    pub session: String,
    /// Processor to which this end's threads are bound; absent: any.
    pub processor: Option<u16>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EchoResponded {
    pub ended_by: EndedBy,
    /// Receive mode used; never `auto`.
    pub receive: Receive,
    pub answered_messages: u64,
    pub refused_messages: u64,
    /// Datagrams of other sessions or that are no request; not answered.
    pub foreign_datagrams: u64,
    pub cpu: CpuTime,
}

/// Round trips of replies in time, including the warm-up, by arrival time.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct RoundTripsOverTime {
    /// Width of an interval; the first begins at the start.
    pub interval_ns: u64,
    pub replies: Vec<u64>,
    /// Their mean round trip; 0 if there are none.
    pub mean_ns: Vec<u64>,
    pub longest_ns: Vec<u64>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct EchoRequested {
    pub ended_by: EndedBy,
    /// Receive mode used; never `auto`.
    pub receive: Receive,
    /// Time from the requested start to the first request.
    pub start_skew_ns: i64,
    /// From the first measured request to the last reply or timeout.
    pub elapsed_ns: u64,
    /// Sending time, from the first measured request until the amount was reached, for a reply
    /// rate. With many requests in flight, it ends before the last replies.
    pub sending_ns: u64,
    /// Replies in time that arrived within `sending_ns`, including replies to warm-up requests.
    pub sending_replies: u64,
    /// Requests due by the schedule; without a rate, requests sent.
    pub offered_requests: u64,
    pub requests: u64,
    pub replies: u64,
    pub timeouts: u64,
    pub late_replies: u64,
    pub duplicate_replies: u64,
    /// Requests that the system refused because a buffer was full (`ENOBUFS`).
    pub refused_requests: u64,
    /// Datagrams of other sessions or that are no reply.
    pub foreign_datagrams: u64,
    /// Round-trip times of replies in time: at a rate from the intended time of the request,
    /// otherwise from when it was passed to the system.
    pub round_trip: Distribution,
    /// The same between the kernel's timestamps of request and reply, without the requester's own
    /// waiting and waking. `null` unless requested.
    pub kernel_round_trip: Option<Distribution>,
    pub over_time: RoundTripsOverTime,
    pub cpu: CpuTime,
    /// Activity of the whole host from the start of the measured part to its end.
    pub host: Option<HostWindow>,
    pub tcp: Option<TcpFacts>,
}
