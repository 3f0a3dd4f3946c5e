use std::net::IpAddr;

#[derive(Debug, Clone)]
pub struct HostPlan {
    pub namespace_pid: u32,
    pub interface: String,
    pub mac: [u8; 6],
    pub addresses: Vec<(IpAddr, u8)>,
}

#[derive(Debug, Clone, Copy)]
pub struct HostSettings {
    pub mtu_bytes: u32,
    pub queue_frames: u32,
    /// Maximum segments per packet passed down by TCP; `None`: the system's default.
    pub segments: Option<u32>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostInterface {
    pub name: String,
    pub carrier_changes: u64,
    pub queue: Option<HostQueue>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostQueue {
    pub kind: String,
    pub bytes: u64,
    pub packets: u64,
    pub drops: u64,
    pub overlimits: u64,
    pub backlog_bytes: u64,
}
