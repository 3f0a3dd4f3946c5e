/// What the kernel knows of a TCP connection, from `TCP_INFO` (Linux `include/uapi/linux/tcp.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpInfo {
    /// Segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Segments sent that carried data.
    pub data_segments_sent: u64,
    pub retransmitted_segments: u64,
    /// Bytes that the peer has acknowledged.
    pub acknowledged_bytes: u64,
    /// Bytes received in order.
    pub received_bytes: u64,
    /// Segments received that carried data.
    pub data_segments_received: u64,
    /// Smoothed round-trip time, nanoseconds.
    pub round_trip_ns: u64,
    /// Variation of the round-trip time, nanoseconds.
    pub round_trip_variation_ns: u64,
    /// Least round-trip time, nanoseconds.
    pub minimum_round_trip_ns: u64,
    pub congestion_window_segments: u64,
    /// Sending maximum segment size, bytes.
    pub maximum_segment_bytes: u64,
    /// Time in which data was outstanding, nanoseconds.
    pub busy_ns: u64,
    /// Time limited by the receiver's window, nanoseconds.
    pub receive_window_limited_ns: u64,
    /// Time limited by the send buffer, nanoseconds.
    pub send_buffer_limited_ns: u64,
    /// Rate at which the kernel spaces segments, bit/s; 0 where it does not.
    pub pacing_rate_bps: u64,
    /// Most recent goodput that the kernel has seen at the peer, bit/s.
    pub delivery_rate_bps: u64,
    /// Segments that are sent and not acknowledged.
    pub unacknowledged_segments: u64,
    /// Bytes that the program has written and the kernel has not sent.
    pub unsent_bytes: u64,
    /// Receive window that this end announces now, bytes; 0 before Linux 6.2.
    pub window_bytes: u64,
    /// Receive window that the peer announces now, bytes.
    pub peer_window_bytes: u64,
    /// Whether the connection is still there.
    pub state: TcpState,
    /// Whether segments carry timestamps (RFC 7323).
    pub has_timestamps: bool,
    /// Whether selective acknowledgement is agreed on (RFC 2018).
    pub has_selective_acknowledgement: bool,
    /// Whether window scaling is agreed on (RFC 7323).
    pub has_window_scaling: bool,
}

/// Whether a connection is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TcpState {
    /// At least one end has not closed it.
    #[default]
    Open,
    /// It was reset, or both ends closed it.
    Gone,
}

/// Limits of a TCP socket of this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpLimits {
    /// Largest segment that is announced and sent, bytes of data without TCP options.
    pub maximum_segment_bytes: u32,
    /// Largest receive window that is announced, bytes.
    pub window_bytes: u32,
}
