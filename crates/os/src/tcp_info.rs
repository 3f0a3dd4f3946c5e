#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpInfo {
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
    /// Rate at which the kernel paces segments, bit/s; 0 without pacing.
    pub pacing_rate_bps: u64,
    /// Latest goodput measured by the kernel, bit/s.
    pub delivery_rate_bps: u64,
    pub unacknowledged_segments: u64,
    /// Bytes written by the program and not yet sent.
    pub unsent_bytes: u64,
    /// Receive window announced by this end, bytes; 0 before Linux 6.2.
    pub window_bytes: u64,
    pub peer_window_bytes: u64,
    pub state: TcpState,
    /// Whether segments carry timestamps (RFC 7323).
    pub has_timestamps: bool,
    /// Whether selective acknowledgement is negotiated (RFC 2018).
    pub has_selective_acknowledgement: bool,
    /// Whether window scaling is negotiated (RFC 7323).
    pub has_window_scaling: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TcpState {
    #[default]
    Open,
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpLimits {
    /// Largest segment that is announced and sent, bytes of data without TCP options.
    pub maximum_segment_bytes: u32,
    pub window_bytes: u32,
}
