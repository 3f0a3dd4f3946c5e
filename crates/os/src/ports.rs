/// How this process gets the frames of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortKind {
    /// The interface is a TAP.
    Tap,
    /// The interface is the end of a virtual cable (veth), at whose other end is a packet socket: where
    /// there is no `/dev/net/tun`.
    PacketSocket,
}

/// An Ethernet interface to make for a host.
#[derive(Debug, Clone)]
pub struct PortPlan {
    /// A process in the host's network namespace.
    pub namespace_pid: u32,
    pub interface: String,
    pub mac: [u8; 6],
}

/// The sending queue of a host, a token bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendingQueue {
    /// Highest rate towards the interface, bit/s on the wire.
    pub rate_bps: u64,
    /// Most that reaches it at once after a pause, bytes on the wire.
    pub burst_bytes: u32,
    /// Length of the queue, bytes on the wire; more frames are dropped, and counted there.
    pub limit_bytes: u32,
    /// Bytes of a frame on the wire beyond its header and payload.
    pub overhead_bytes: u16,
    /// Bytes of the shortest frame on the wire, with these.
    pub minimum_wire_bytes: u16,
}
