#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PortKind {
    Tap,
    /// One end of a virtual cable (veth), with a packet socket at the other: for systems without `/dev/net/tun`.
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
    /// Largest burst after a pause, bytes on the wire.
    pub burst_bytes: u32,
    /// Length of the queue, bytes on the wire; more frames are dropped, and counted there.
    pub limit_bytes: u32,
    /// Bytes on the wire in addition to header and payload.
    pub overhead_bytes: u16,
    pub minimum_wire_bytes: u16,
}
