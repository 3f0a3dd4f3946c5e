//! What the ends of a stream measured.

use schemars::JsonSchema;
use serde::Serialize;

use super::Io;
use crate::{Choice, CpuTime, Distribution, HostWindow, Receive, Timestamps};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The amount was reached and both ends agree on it.
    Finished,
    /// The amount was sent, but the receiver did not confirm the end.
    Unconfirmed,
    Silence,
    PeerClosed,
    /// The system refused to go on; the error says why.
    Failed,
    Cancelled,
}

/// What the sender saw. Counts are of the measured part unless they say otherwise.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StreamSent {
    pub ended_by: EndedBy,
    /// How messages were handed over: never `auto`.
    pub io: Io,
    pub io_choice: Option<Choice>,
    pub threads: u64,
    /// Messages handed over back to back at most; with a rate, the stated size of a burst.
    pub burst_messages: u64,
    /// Time from the start asked for to the first message, the latest of all flows.
    pub start_skew_ns: i64,
    /// From the first measured slot or message to the end of sending.
    pub elapsed_ns: u64,
    /// Messages that were due: by the schedule with a rate, else those handed over.
    pub offered_messages: u64,
    pub sent_messages: u64,
    /// Messages that the system refused for want of room (`ENOBUFS`) and that were not sent.
    pub refused_messages: u64,
    /// Times the system refused a message that was then sent all the same.
    pub refused_retried: u64,
    pub total_refused: u64,
    /// Messages that were due but whose turn had not come when the time was over.
    pub unsent_messages: u64,
    /// Messages left out because the next one was due as well (`skip`).
    pub skipped_messages: u64,
    /// Messages that left more than 1 ms after their slot.
    pub late_messages: u64,
    /// Greatest time by which a message left after its slot.
    pub max_lateness_ns: u64,
    /// Messages that left within a tenth of the period after the one before, beyond the stated
    /// size of a burst: gaps that the schedule does not have.
    pub back_to_back_messages: u64,
    /// With a rate, the times between the hand-over of one group of messages and the next.
    pub gap: Option<Distribution>,
    /// Time in which the system made the sender wait for room.
    pub blocked_ns: u64,
    /// Time in which nothing was sent over UDP because nothing had come from the receiver for 0.9 s;
    /// of the flow with the longest, warm-up included.
    pub paused_ns: u64,
    pub total_messages: u64,
    /// Effective `SO_SNDBUF` as the system reports it, bytes.
    pub send_buffer_bytes: u64,
    pub cpu: CpuTime,
    /// What the whole host did from the start of the measured part to its end.
    pub host: Option<HostWindow>,
    pub flows: Vec<FlowSent>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FlowSent {
    pub local_port: u16,
    pub first_measured: u64,
    pub offered_messages: u64,
    pub sent_messages: u64,
    pub tcp: Option<TcpFacts>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TcpFacts {
    pub congestion_control: Option<String>,
    pub segments_sent: u64,
    pub data_segments_sent: u64,
    pub retransmitted_segments: u64,
    pub acknowledged_bytes: u64,
    pub received_bytes: u64,
    pub data_segments_received: u64,
    pub round_trip_ns: u64,
    pub round_trip_variation_ns: u64,
    pub minimum_round_trip_ns: u64,
    pub congestion_window_segments: u64,
    pub maximum_segment_bytes: u64,
    pub busy_ns: u64,
    pub receive_window_limited_ns: u64,
    pub send_buffer_limited_ns: u64,
}

/// What the receiver counted. Counts are of the measured part unless they say otherwise.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StreamReceived {
    pub ended_by: EndedBy,
    /// How messages were taken: never `auto`.
    pub io: Io,
    /// How the receiver waited: never `auto`.
    pub receive: Receive,
    pub receive_choice: Option<Choice>,
    pub threads: u64,
    pub timestamps: Timestamps,
    /// Bytes asked for in one read (TCP), or the size of a buffer (UDP).
    pub read_bytes: u64,
    /// The window in which `window_messages` and `window_bytes` were counted: for an amount of time
    /// from start + warm-up for that time; else from the first measured message (UDP) or start +
    /// warm-up (TCP) to the last byte.
    pub window_ns: u64,
    /// New messages that arrived in the window. Over UDP, without an amount of time, the first is
    /// not counted: it opens the window. Over TCP, whole messages.
    pub window_messages: u64,
    /// Bytes of payload that arrived in the window, counted alike.
    pub window_bytes: u64,
    /// Messages of the measured part that arrived until `drain_ns` after its end, duplicates not
    /// counted.
    pub measured_messages: u64,
    /// Messages of the measured part that arrived after that: not in `measured_messages`.
    pub overdue_messages: u64,
    /// Datagrams that the kernel dropped for want of room in the sockets' buffers, from the start
    /// of the measured part on (`SO_RXQ_OVFL`, `SO_MEMINFO`); `null` where it does not tell. With
    /// joined reception a drop may be of several messages.
    pub socket_dropped_datagrams: Option<u64>,
    pub receive_calls: u64,
    /// Whether it is known which message was the first measured one (else `measured_messages`
    /// counts the warm-up too).
    pub mark_seen: bool,
    pub duplicate_messages: u64,
    /// Messages that arrived after one sent later (RFC 4737, section 3.3).
    pub reordered_messages: u64,
    /// Messages so far behind the newest that they may be duplicates; not counted as received.
    pub stale_messages: u64,
    /// Datagrams that do not belong to the session or are no message; not counted as received.
    pub foreign_datagrams: u64,
    pub total_messages: u64,
    pub total_bytes: u64,
    /// Variation of the one-way delay, where messages carry a send time.
    pub delay_variation: Option<DelayVariation>,
    /// One-way delay, where messages carry a send time and the clocks' relation is known.
    pub one_way_delay: Option<Distribution>,
    pub intervals: Intervals,
    /// Effective `SO_RCVBUF` as the system reports it, bytes.
    pub receive_buffer_bytes: u64,
    /// CPU time of the receiving threads, without work that was asked for on purpose.
    pub cpu: CpuTime,
    /// What the whole host did from the start of the measured part until reception ended.
    pub host: Option<HostWindow>,
    pub flows: Vec<FlowReceived>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FlowReceived {
    pub window_bytes: u64,
    pub window_ns: u64,
    pub measured_messages: u64,
    pub tcp: Option<TcpFacts>,
}

/// Variation of the one-way delay between consecutive messages of a flow (RFC 3393: the difference
/// of the one-way delays of two consecutive packets, as both arrived), taken without its sign.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DelayVariation {
    pub samples: u64,
    pub mean_ns: u64,
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    pub max_ns: u64,
    /// Smoothed as in RFC 3550, section 6.4.1, at the end; the greatest of all flows.
    pub smoothed_ns: u64,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Intervals {
    /// Width of a bin, which may be a multiple of the one asked for; the first begins at the start.
    pub interval_ns: u64,
    /// New messages in each bin; empty over TCP.
    pub messages: Vec<u64>,
    pub bytes: Vec<u64>,
    /// Messages missed in each bin, those left out that came late; empty over TCP. The numbers missing
    /// between two arrivals are spread evenly over the time between them, those after the last arrival
    /// over the time until the sender had sent all. A late message is taken from the bin in which it
    /// comes, so that a bin can be below 0. The sum is what was sent less what arrived.
    pub lost_messages: Vec<i64>,
}
