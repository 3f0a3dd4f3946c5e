use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::MediumTopology;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediumLoad {
    pub topology: MediumTopology,
    /// Rate of the medium, bit/s: 1000 to 100,000,000,000.
    pub rate_bps: u64,
    /// Stations that send, each to the next one: 2 to 256; 2 of a cable.
    pub stations: u16,
    /// Propagation time between any two stations. On a bus at most 256 bits.
    pub propagation_ns: u64,
    /// Lengths of the frames: 1 to 64.
    pub frames: Vec<LoadFrame>,
    /// Load that comes to all stations together, as a Poisson process, in bits of frames for each bit of
    /// the rate: above 0, up to 100; absent: every station always has a frame.
    #[serde(default)]
    pub offered_ratio: Option<f64>,
    /// Most frames that wait in a station's adapter, the one on the medium not counted: up to 10,000.
    pub queue_frames: u32,
    /// Most bytes that wait at each output of a switch, up to 16,777,216. Other topologies ignore it.
    #[serde(default)]
    pub switch_queue_bytes: u32,
    pub duration_ns: u64,
    /// Virtual time from the start that is kept out of the figures.
    pub warmup_ns: u64,
    pub seed: u64,
    /// Write each delivered frame to this file, pcap with nanoseconds of virtual time; it must not exist.
    /// What stands behind a frame's header is zeros.
    #[serde(default)]
    pub pcap: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadFrame {
    /// Length without preamble, with the check sequence: 64 to 1518 bytes.
    pub frame_bytes: u32,
    /// How common it is, in proportion to the other weights: above 0.
    pub weight: f64,
}

/// What a simulated Ethernet carried. Ratios are bits of frames, without preamble and gap, for each bit of
/// the rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MediumLoaded {
    pub measured_ns: u64,
    pub offered_ratio: f64,
    pub utilisation_ratio: f64,
    pub delivered_frames: u64,
    /// From a frame's arrival at the adapter to its last bit at the receiver; of stations that always have a
    /// frame from the end of the one before. `null` if nothing was delivered, as below.
    pub mean_delay_ns: Option<f64>,
    /// Half of the frames took no longer; quantiles are exact to 0.4 %.
    pub p50_delay_ns: Option<u64>,
    /// 95 % took no longer.
    pub p95_delay_ns: Option<u64>,
    /// 99 % took no longer.
    pub p99_delay_ns: Option<u64>,
    pub lost_adapter_queue_frames: u64,
    /// Frames given up after 16 collisions.
    pub lost_excessive_collisions_frames: u64,
    /// Frames that found an output queue of the switch full.
    pub lost_switch_queue_frames: u64,
    pub collisions: u64,
    /// Jain's index of what the stations delivered: 1 if all the same.
    pub jain_index: Option<f64>,
}
