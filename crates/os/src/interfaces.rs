use std::net::IpAddr;

/// A network interface. Values that the system or its driver does not report are `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub addresses: Vec<IpAddr>,
    pub mtu_bytes: Option<u64>,
    pub speed_bps: Option<u64>,
    pub full_duplex: Option<bool>,
    pub driver: Option<String>,
    pub wireless: bool,
    pub supported_speed_bps: Option<u64>,
    /// Whether the interface saves power between frames: Energy-Efficient Ethernet (IEEE 802.3,
    /// clause 78) negotiated with the peer, or Wi-Fi power save.
    pub power_saving: Option<bool>,
    /// Number of the interface's Precision Time Protocol clock (`/dev/ptp0`), if any.
    pub ptp_clock: Option<u32>,
}
