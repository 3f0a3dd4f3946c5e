#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortKind {
    Tap,
    /// The interface is the end of a virtual cable (veth), at whose other end is a packet socket: where
    /// there is no `/dev/net/tun`.
    PacketSocket,
}

#[derive(Debug, Clone)]
pub struct PortPlan {
    pub namespace_pid: u32,
    pub interface: String,
    pub mac: [u8; 6],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendingQueue {
    pub rate_bps: u64,
    /// Most that reaches it at once after a pause, bytes on the wire.
    pub burst_bytes: u32,
    /// Length of the queue, bytes on the wire; more frames are dropped, and counted there.
    pub limit_bytes: u32,
    /// Bytes of a frame on the wire beyond its header and payload.
    pub overhead_bytes: u16,
    pub minimum_wire_bytes: u16,
}
