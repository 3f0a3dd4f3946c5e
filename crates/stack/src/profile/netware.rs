//! Two generations of NetWare, as data with the certainty of each value.

use crate::known::{assumed, observed, primary, secondary};

const SECOND_NS: u64 = 1_000_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "habits of a stack that it has each alone")]
pub struct NetWare {
    pub name: &'static str,
    pub version: (u8, u8),
    /// Whether a server has an internal network; otherwise it is reached at its adapter's address.
    pub has_internal_network: bool,
    /// Whether users prove their passwords with a server key instead of sending them.
    pub has_keyed_logins: bool,
    /// Maximum data bytes per read or write.
    pub most_data_bytes: u16,
    pub has_large_packets: bool,
    pub has_bursts: bool,
    /// Maximum packets per burst, for reads and for writes of a client.
    pub burst_packets: (u32, u32),
    pub most_tries: u32,
    /// Silence after which a server probes the client, ns.
    pub watchdog_after_ns: u64,
    /// Interval between further probes, ns.
    pub watchdog_interval_ns: u64,
    pub watchdog_questions: u32,
    pub announcement_interval_ns: u64,
    /// Number of queries for a server or route, and their interval, ns.
    pub searches: (u32, u64),
}

/// Packets per burst of lanlab's own client on a real network: a burst of 64 KiB, the longest that there is.
pub const OWN_BURST_PACKETS: (u32, u32) = assumed((64, 64));

/// Advanced NetWare 286, version 2.15.
pub const NETWARE_2: NetWare = NetWare {
    name: "netware-2",
    version: (2, 15),
    has_internal_network: primary(false),
    has_keyed_logins: secondary(false),
    most_data_bytes: secondary(1024),
    has_large_packets: primary(false),
    has_bursts: primary(false),
    burst_packets: secondary((24, 10)),
    most_tries: secondary(20),
    watchdog_after_ns: secondary(296_600 * SECOND_NS / 1_000),
    watchdog_interval_ns: secondary(59_300 * SECOND_NS / 1_000),
    watchdog_questions: secondary(10),
    announcement_interval_ns: primary(60 * SECOND_NS),
    searches: assumed((6, SECOND_NS / 2)),
};

/// NetWare 386, version 3.12.
pub const NETWARE_3: NetWare = NetWare {
    name: "netware-3",
    version: (3, 12),
    has_internal_network: observed(true),
    has_keyed_logins: observed(true),
    most_data_bytes: observed(1024),
    has_large_packets: observed(true),
    has_bursts: observed(true),
    ..NETWARE_2
};

pub const ALL: [NetWare; 2] = [NETWARE_2, NETWARE_3];
