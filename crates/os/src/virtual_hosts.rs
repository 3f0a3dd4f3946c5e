use std::net::IpAddr;

/// Settings of a host of a virtual LAN.
#[derive(Debug, Clone)]
pub struct HostPlan {
    /// A process in its network namespace.
    pub namespace_pid: u32,
    /// Its interface, which is there already.
    pub interface: String,
    /// The interface's hardware address.
    pub mac: [u8; 6],
    /// Its addresses, each with the length of its network's prefix.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// Settings of the interfaces of all hosts.
#[derive(Debug, Clone, Copy)]
pub struct HostSettings {
    /// Largest packet, bytes.
    pub mtu_bytes: u32,
    /// Frames that the system's own queue holds.
    pub queue_frames: u32,
    /// Most segments in a packet that TCP hands down; `None`: as the system has it.
    pub segments: Option<u32>,
}

/// An interface of a host, as it is now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostInterface {
    pub name: String,
    /// Changes of its link's carrier, in both directions.
    pub carrier_changes: u64,
    /// Its sending queue; `None` while it has none.
    pub queue: Option<HostQueue>,
}

/// The sending queue of an interface.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostQueue {
    /// Its queueing discipline, as `tbf`.
    pub kind: String,
    /// Bytes that left it.
    pub bytes: u64,
    /// Packets that left it.
    pub packets: u64,
    /// Packets that it dropped.
    pub drops: u64,
    /// Times that a packet had to wait.
    pub overlimits: u64,
    /// Bytes that wait now.
    pub backlog_bytes: u64,
}
