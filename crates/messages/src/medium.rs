//! The medium between the hosts of a virtual LAN.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Carry frames between hosts as a cable, a switch or a shared bus would, until the request is
/// cancelled.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CarryFrames {
    /// One per host, 2 to 256. The engine creates the interface there, down, with its hardware
    /// address and a token bucket that the engine controls. The driver brings it up, with an MTU of
    /// 1500.
    pub ports: Vec<MediumPort>,
    pub interfaces: MediumInterfaces,
    pub topology: MediumTopology,
    /// Speed in bit/s, 1,000 to 1,000,000,000; `None`: frames take no time, as a reference for
    /// round trips.
    pub rate_bps: Option<u64>,
    /// Propagation between any two hosts, ns. On a bus it determines which frames collide.
    pub propagation_ns: u64,
    /// Delay of each delivery, one way, ns.
    #[serde(default)]
    pub delay_ns: u64,
    /// Share of deliveries lost at random, 0 to below 1.
    #[serde(default)]
    pub loss_ratio: f64,
    /// Mean length of a burst of lost frames; absent: losses are independent.
    pub loss_burst_frames: Option<f64>,
    /// Size of each host's sending queue, bytes on the wire.
    pub queue_bytes: u32,
    /// Size of each output queue of a switch, bytes on the wire.
    #[serde(default)]
    pub switch_queue_bytes: u32,
    pub seed: u64,
    /// Spin shortly before each deadline instead of sleeping: frames are less late, but it takes
    /// more CPU time.
    #[serde(default)]
    pub precise: bool,
    /// Write each frame to this file, pcap with nanoseconds; the file must not exist.
    pub pcap: Option<String>,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediumPort {
    pub namespace_pid: u32,
    pub interface: String,
    /// Its hardware address, `02:77:00:00:00:01`.
    pub mac: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MediumInterfaces {
    /// TAPs, created with `/dev/net/tun`.
    Tap,
    /// Virtual cables (veth), with a packet socket of the engine at the other end.
    PacketSocket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MediumTopology {
    Cable,
    /// A full-duplex cable to each host; store and forward.
    Switch,
    Bus,
}

/// Read the counts of a medium. Ends in `medium_read`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadMedium {
    pub target: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MediumCounts {
    pub ports: Vec<MediumPortCounts>,
    /// Collisions on a bus, each counted once.
    pub collisions: u64,
    /// Time with a carrier on the bus, ns; for a cable or switch the sum over senders.
    pub busy_ns: u64,
    pub lateness: MediumLateness,
    pub recorded_frames: u64,
    /// Frames missing from that file because the disk was too slow.
    pub unrecorded_frames: u64,
    /// Size of the kernel's buffer for a host's frames that wait for the medium's thread, bytes, as
    /// granted by the system; `null` for TAPs, which hold 1000 frames.
    pub socket_buffer_bytes: Option<u64>,
    pub cpu_ns: u64,
    /// Part of it spent spinning before deadlines, ns.
    pub spun_ns: u64,
    /// Priority of that thread as in nice(1): 0 is normal, -20 highest; `null` if the system does
    /// not report it.
    pub nice: Option<i32>,
}

/// Counts of one host, by default of frames that it sent. `offered_copies` is `delivered_copies` +
/// each `lost_…` + `in_flight_copies`.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct MediumPortCounts {
    pub frames: u64,
    /// Bytes of these frames, with padding and check sequence, without preamble and gap.
    pub bytes: u64,
    pub waiting_frames: u64,
    /// Frames dropped before the adapter because its queue was full. The host's interface counts
    /// drops before a TAP.
    pub lost_adapter_queue_frames: u64,
    /// A unicast frame is one copy, a broadcast one copy per other host.
    pub offered_copies: u64,
    pub delivered_copies: u64,
    pub lost_chance: u64,
    /// Given up after 16 collisions.
    pub lost_excessive_collisions: u64,
    pub lost_switch_queue: u64,
    /// Copies delivered to this host while its interface was down.
    pub refused_copies: u64,
    pub in_flight_copies: u64,
    pub collisions: u64,
    /// Frames to an unknown address, which take their time on the wire.
    pub unknown_destination_frames: u64,
}

/// Lateness of each delivered frame since the last reading.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct MediumLateness {
    pub deliveries: u64,
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    pub longest_ns: u64,
    /// Deliveries late by more than max(10 % of the frame's wire time, 20 µs).
    pub late_deliveries: u64,
    /// Longest time in which the medium's thread did not run while frames waited, ns.
    pub longest_gap_ns: u64,
}
