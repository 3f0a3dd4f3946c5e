//! The medium between the hosts of a virtual LAN.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Carry frames between hosts as a cable, a switch or a shared bus would, until the request is
/// cancelled.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CarryFrames {
    /// One for each host, 2 to 256. The interface is made there, down, with its hardware address and a
    /// token bucket before it that the engine steers; the driver takes it up, with an MTU of 1500.
    pub ports: Vec<MediumPort>,
    pub interfaces: MediumInterfaces,
    pub topology: MediumTopology,
    /// Speed in bit/s, 1,000 to 1,000,000,000; `None` takes no time: the reference for round trips.
    pub rate_bps: Option<u64>,
    /// Propagation between any two hosts, ns; on a bus it decides which frames collide.
    pub propagation_ns: u64,
    /// Added to each delivery, one way, ns.
    #[serde(default)]
    pub delay_ns: u64,
    /// Share of copies lost by chance, 0 to below 1.
    #[serde(default)]
    pub loss_ratio: f64,
    /// Mean length of a burst of lost frames; absent: each is lost independently of the others.
    #[serde(default)]
    pub loss_burst_frames: Option<f64>,
    /// Room of each host's sending queue, bytes on the wire.
    pub queue_bytes: u32,
    /// Room of each output port of a switch, bytes on the wire.
    #[serde(default)]
    pub switch_queue_bytes: u32,
    pub seed: u64,
    /// Spin shortly before each deadline rather than sleep: less late, more processor time.
    #[serde(default)]
    pub precise: bool,
    /// Write each frame to this file, pcap with nanoseconds; it must not exist.
    #[serde(default)]
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
    /// TAPs, by `/dev/net/tun`.
    Tap,
    /// Ends of virtual cables (veth), with a packet socket of the engine at the other end.
    PacketSocket,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MediumTopology {
    Cable,
    /// A full-duplex cable to each host; frames are received whole before they are sent on.
    Switch,
    Bus,
}

/// Read the counts of a medium now. Ends in `medium_read`.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadMedium {
    pub target: u64,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MediumCounts {
    pub ports: Vec<MediumPortCounts>,
    /// Collisions on a bus (each counted once, however many took part).
    pub collisions: u64,
    /// Time with a carrier on the bus, ns; of a cable or switch the sum over senders.
    pub busy_ns: u64,
    pub lateness: MediumLateness,
    pub recorded_frames: u64,
    /// Frames missing from that file, as the disk could not keep up.
    pub unrecorded_frames: u64,
    /// Room for the frames of a host that wait for the medium's thread, bytes of the kernel's memory, as
    /// granted by the system; `null` of TAPs, which hold 1000 frames.
    pub socket_buffer_bytes: Option<u64>,
    pub cpu_ns: u64,
    /// Part of it that was spun while waiting for deadlines, ns.
    pub spun_ns: u64,
    /// How the system favours that thread, as nice(1) counts: 0 as any other, -20 most; `null` where
    /// it does not report that.
    pub nice: Option<i32>,
}

/// Counts of one host: of the frames that it sent, unless a field says otherwise. `offered_copies` is
/// `delivered_copies` + each `lost_…` + `in_flight_copies`.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct MediumPortCounts {
    pub frames: u64,
    /// Bytes of these frames: padding and check sequence included, preambles and gaps not.
    pub bytes: u64,
    pub waiting_frames: u64,
    /// Frames that were dropped for want of room before the adapter. Drops before a TAP are not
    /// included: the host's interface counts them.
    pub lost_adapter_queue_frames: u64,
    /// A frame to one host is one copy, a broadcast one for each other host.
    pub offered_copies: u64,
    pub delivered_copies: u64,
    pub lost_chance: u64,
    /// Given up after 16 collisions.
    pub lost_excessive_collisions: u64,
    pub lost_switch_queue: u64,
    /// Of the copies delivered to this host: not taken, as its interface was down.
    pub refused_copies: u64,
    pub in_flight_copies: u64,
    pub collisions: u64,
    /// Frames to an address that no host has (they take their time on the wire).
    pub unknown_destination_frames: u64,
}

/// How much later than its exact time each frame was handed over, since the last reading.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct MediumLateness {
    pub deliveries: u64,
    pub p50_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    pub longest_ns: u64,
    /// Deliveries late by more than max(10 % of the frame's time on the wire, 20 µs).
    pub late_deliveries: u64,
    /// Longest time that the medium's thread was away from its work while frames waited, ns.
    pub longest_gap_ns: u64,
}
