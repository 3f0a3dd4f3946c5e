//! Results of the ends of a stream.

use schemars::JsonSchema;
use serde::Serialize;

use super::Io;
use crate::{Choice, CpuTime, Distribution, HostWindow, Receive, Timestamps};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The amount was reached and both ends agree on it.
    Finished,
    /// The amount was sent, but the receiver did not confirm the end.
    #[default]
    Unconfirmed,
    Silence,
    PeerClosed,
    /// The system refused to continue; the error says why.
    Failed,
    Cancelled,
}

/// The sender's results. Counts cover the measured part unless stated otherwise.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct StreamSent {
    pub ended_by: EndedBy,
    /// Send mode used; never `auto`.
    pub io: Io,
    pub io_choice: Option<Choice>,
    pub threads: u64,
    /// Maximum messages sent back to back; with a rate, the nominal size of a group.
    pub burst_messages: u64,
    /// Time from the requested start to the first message, the latest of all flows.
    pub start_skew_ns: i64,
    /// From the first measured slot or message to the end of sending.
    pub elapsed_ns: u64,
    /// Messages due by the schedule; without a rate, messages passed to the system.
    pub offered_messages: u64,
    pub sent_messages: u64,
    /// Messages that the system refused because a buffer was full (`ENOBUFS`) and that were not
    /// sent.
    pub refused_messages: u64,
    /// Refusals of messages that were then sent.
    pub refused_retried: u64,
    pub total_refused: u64,
    /// Messages that were due but not yet passed on when the time ended.
    pub unsent_messages: u64,
    /// Messages skipped because the next one was also due (`skip`).
    pub skipped_messages: u64,
    /// Messages sent more than 1 ms after their slot.
    pub late_messages: u64,
    /// Maximum time by which a message was sent after its slot.
    pub max_lateness_ns: u64,
    /// Messages sent within a tenth of the period after the previous one, beyond the nominal group
    /// size: such gaps are not in the schedule.
    pub back_to_back_messages: u64,
    /// With a rate, the times between groups of messages.
    pub gap: Option<Distribution>,
    /// Time that the sender was blocked because the system's buffer was full.
    pub blocked_ns: u64,
    /// Time in which a UDP sender paused because its receiver was silent for 0.9 s; maximum over
    /// the flows, including the warm-up.
    pub paused_ns: u64,
    pub total_messages: u64,
    /// Effective `SO_SNDBUF` as the system reports it, bytes.
    pub send_buffer_bytes: u64,
    pub cpu: CpuTime,
    /// Activity of the whole host from the start of the measured part to its end.
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

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
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

/// The receiver's results. Counts cover the measured part unless stated otherwise.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct StreamReceived {
    pub ended_by: EndedBy,
    /// I/O mode used; never `auto`.
    pub io: Io,
    /// Receive mode used; never `auto`.
    pub receive: Receive,
    pub receive_choice: Option<Choice>,
    pub threads: u64,
    pub timestamps: Timestamps,
    /// Bytes per read (TCP), or the size of a buffer (UDP).
    pub read_bytes: u64,
    /// The window of `window_messages` and `window_bytes`. In a trial with a time: from start +
    /// warm-up for that time. Otherwise: from the first measured message (UDP) or start + warm-up
    /// (TCP) to the last byte.
    pub window_ns: u64,
    /// New messages that arrived in the window. Over UDP, in a trial without a time, the first one
    /// is not counted, because it opens the window. Over TCP, whole messages.
    pub window_messages: u64,
    /// Payload bytes that arrived in the window, counted in the same way.
    pub window_bytes: u64,
    /// Messages of the measured part that arrived by `drain_ns` after its end, without duplicates.
    pub measured_messages: u64,
    /// Messages of the measured part that arrived after that: not in `measured_messages`.
    pub overdue_messages: u64,
    /// Datagrams that the kernel dropped because the sockets' buffers were full, from the start of
    /// the measured part on (`SO_RXQ_OVFL`, `SO_MEMINFO`); `null` if it does not report them. With
    /// joined reception, a drop may be several messages.
    pub socket_dropped_datagrams: Option<u64>,
    pub receive_calls: u64,
    /// Whether the first measured message is known; otherwise `measured_messages` includes the
    /// warm-up.
    pub mark_seen: bool,
    pub duplicate_messages: u64,
    /// Messages that arrived after one sent later (RFC 4737, section 3.3).
    pub reordered_messages: u64,
    /// Messages so far behind the newest that they may be duplicates; not counted as received.
    pub stale_messages: u64,
    /// Datagrams of other sessions or that are no message; not counted as received.
    pub foreign_datagrams: u64,
    pub total_messages: u64,
    pub total_bytes: u64,
    /// Variation of the one-way delay, if messages carry a send time.
    pub delay_variation: Option<DelayVariation>,
    /// One-way delay, if messages carry a send time and the clocks' relation is known.
    pub one_way_delay: Option<Distribution>,
    pub intervals: Intervals,
    /// Effective `SO_RCVBUF` as the system reports it, bytes.
    pub receive_buffer_bytes: u64,
    /// CPU time of the receiving threads, without the requested extra work.
    pub cpu: CpuTime,
    /// Activity of the whole host from the start of the measured part to the end of reception.
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

/// Absolute variation of the one-way delay between consecutive messages of a flow (RFC 3393: the
/// difference of the one-way delays of two consecutive packets that both arrived).
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
    /// Smoothed as in RFC 3550, section 6.4.1, at the end; maximum over the flows.
    pub smoothed_ns: u64,
}

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct Intervals {
    /// Width of an interval, which may be a multiple of the requested one; the first begins at the
    /// start.
    pub interval_ns: u64,
    /// New messages in each interval; empty over TCP.
    pub messages: Vec<u64>,
    pub bytes: Vec<u64>,
    /// Messages lost in each interval, less late ones; empty over TCP. Numbers missing between two
    /// arrivals are spread evenly over the time between them, those after the last arrival over the
    /// time until the sender had sent everything. A late message is subtracted in the interval of
    /// its arrival, so a value can be negative. The sum is the sent messages less the arrived ones.
    pub lost_messages: Vec<i64>,
}
