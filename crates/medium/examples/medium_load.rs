//! What a bus carries under a load, in virtual time: reads a plan in JSON from standard input and prints the results:
//! `cargo run --release --package lanlab-medium --example medium_load`.

#[path = "../tests/offline/mod.rs"]
mod offline;

use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_units::Instant;
use serde::Deserialize;
use serde_json::json;

use offline::{Arrivals, FrameShare, Load, LoadPlan};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    rate_bps: u64,
    stations: u16,
    propagation_ns: u64,
    frame_bytes: u32,
    /// Load of all stations together, in frame bits per bit of the rate; absent: every station always has a frame.
    offered_ratio: Option<f64>,
    queue_frames: u32,
    duration_ns: u64,
    warmup_ns: u64,
    seed: u64,
}

fn main() {
    let wanted: Wanted = serde_json::from_reader(std::io::stdin()).expect("a plan in JSON");
    let medium = Plan {
        topology: Topology::Bus,
        rate_bps: Some(wanted.rate_bps),
        ports: wanted.stations,
        propagation_ns: wanted.propagation_ns,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 0,
    };
    let plan = LoadPlan {
        medium,
        arrivals: wanted
            .offered_ratio
            .map_or(Arrivals::Saturated, |offered_ratio| Arrivals::Poisson { offered_ratio }),
        frames: vec![FrameShare { frame_bytes: wanted.frame_bytes, weight: 1.0 }],
        queue_frames: wanted.queue_frames,
        warmup_ns: wanted.warmup_ns,
    };
    let mut load = Load::new(plan, wanted.seed).expect("a possible load");
    load.run_until(Instant::from_nanos(wanted.warmup_ns + wanted.duration_ns));
    let report = load.report();
    let found = json!({
        "offered_ratio": report.offered_ratio,
        "utilisation_ratio": report.utilisation_ratio,
        "delivered_frames": report.delivered_frames,
        "mean_delay_ns": report.mean_delay_ns,
        "p95_delay_ns": report.p95_delay_ns,
        "p99_delay_ns": report.p99_delay_ns,
        "lost_adapter_queue_frames": report.lost_adapter_queue_frames,
        "lost_excessive_collisions_frames": report.lost_excessive_collisions_frames,
        "jain_index": report.jain_index,
    });
    println!("{found}");
}
