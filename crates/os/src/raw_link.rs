use std::net::Ipv4Addr;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RawLinkPlace {
    /// An interface of the calling thread's network namespace, by name. Requires `CAP_NET_RAW`.
    Interface(String),
    /// A bound packet socket or attached TAP, opened by another process and inherited. Requires no rights.
    Descriptor(i32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawFrames {
    /// Frames with a length field (IEEE 802.2, raw 802.3), IPX (0x8137, 0x8138) and XNS (0x0600) on Ethernet II, as
    /// used by historic protocols. The kernel drops all others.
    Historic,
    /// ARP, and IPv4 to this address: traffic of a station, without the host's.
    ToAddress(Ipv4Addr),
    All,
}

/// Highest value of the length field (IEEE 802.3-2022, 3.2.6).
pub(crate) const LONGEST_LENGTH: u32 = 1500;
/// Ethernet types of IPX and XNS (IEEE's register of `EtherType`s).
pub(crate) const HISTORIC_TYPES: [u32; 3] = [0x8137, 0x8138, 0x0600];
/// The shortest frame without its check sequence (IEEE 802.3-2022, 3.2.8).
pub(crate) const SHORTEST_FRAME_BYTES: usize = 60;
/// All stations of `NetBIOS` on a LAN (IBM LAN Technical Reference, chapter 5).
pub(crate) const NETBIOS_GROUP: [u8; 6] = [3, 0, 0, 0, 0, 1];
