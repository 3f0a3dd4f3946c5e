use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::MediumTopology;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediumLoad {
    pub topology: MediumTopology,
    /// Rate of the medium, bit/s: 1000 to 100,000,000,000.
    pub rate_bps: u64,
    /// Sending stations, each to the next one: 2 to 256; 2 for a cable.
    pub stations: u16,
    /// Propagation time between any two stations. On a bus at most 256 bits.
    pub propagation_ns: u64,
    /// Frame lengths: 1 to 64.
    pub frames: Vec<LoadFrame>,
    /// Load of all stations together, a Poisson process, in frame bits per bit of the rate: above
    /// 0, up to 100. Absent: every station always has a frame.
    pub offered_ratio: Option<f64>,
    /// Maximum frames that wait in a station's adapter, besides the one on the medium: up to 10,000.
    pub queue_frames: u32,
    /// Maximum bytes that wait at each output of a switch, up to 16,777,216. Other topologies ignore it.
    #[serde(default)]
    pub switch_queue_bytes: u32,
    pub duration_ns: u64,
    /// Warm-up in virtual time, excluded from the results.
    pub warmup_ns: u64,
    pub seed: u64,
    /// Write each delivered frame to this file, pcap with nanoseconds of virtual time; the file
    /// must not exist. Data after a frame's header is zero.
    pub pcap: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadFrame {
    /// Length without preamble, with the check sequence: 64 to 1518 bytes.
    pub frame_bytes: u32,
    /// Relative frequency: above 0.
    pub weight: f64,
}

/// Results of a simulated Ethernet. Ratios are frame bits, without preamble and gap, per bit of the
/// rate.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MediumLoaded {
    pub measured_ns: u64,
    pub offered_ratio: f64,
    pub utilisation_ratio: f64,
    pub delivered_frames: u64,
    /// From a frame's arrival at the adapter to its last bit at the receiver; if stations always
    /// have a frame, from the end of the previous one. `null` if nothing was delivered, as below.
    pub mean_delay_ns: Option<f64>,
    /// Median; quantiles are exact to 0.4 %.
    pub p50_delay_ns: Option<u64>,
    /// 95th percentile.
    pub p95_delay_ns: Option<u64>,
    /// 99th percentile.
    pub p99_delay_ns: Option<u64>,
    pub lost_adapter_queue_frames: u64,
    /// Frames given up after 16 collisions.
    pub lost_excessive_collisions_frames: u64,
    /// Frames dropped because an output queue of the switch was full.
    pub lost_switch_queue_frames: u64,
    pub collisions: u64,
    /// Jain's index of the stations' deliveries: 1 if all are equal.
    pub jain_index: Option<f64>,
}
