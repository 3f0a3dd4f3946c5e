//! A load against queueing theory; what becomes of its frames; loads that are refused.

mod offline;
mod support;

use lanlab_medium::{LossPlan, Plan, Topology};
use offline::{Arrivals, BadLoad, FrameShare, Load, LoadPlan, LoadReport};
use support::{at, plan};

const SECOND_NS: u64 = 1_000_000_000;
const FRAME_BYTES: u32 = 512;
/// Of one frame after another, preamble and gap included.
const SERVICE_NS: f64 = (FRAME_BYTES + 20) as f64 * 800.0;
/// From its first bit to its last, preamble included.
const FRAME_NS: f64 = (FRAME_BYTES + 8) as f64 * 800.0;

/// Frames at random, such that each direction of a cable is busy for this share of the time.
fn load(medium: Plan, busy_ratio: f64, queue_frames: u32) -> LoadPlan {
    let offered_ratio =
        busy_ratio * f64::from(medium.ports) * f64::from(FRAME_BYTES) * 800.0 / SERVICE_NS;
    LoadPlan {
        medium,
        arrivals: Arrivals::Poisson { offered_ratio },
        frames: vec![FrameShare { frame_bytes: FRAME_BYTES, weight: 1.0 }],
        queue_frames,
        warmup_ns: SECOND_NS,
    }
}

fn cable() -> Plan {
    plan(Topology::Cable, 2, 0)
}

fn run(plan: LoadPlan, seconds: u64) -> LoadReport {
    let mut load = Load::new(plan, 3).unwrap();
    load.run_until(at((seconds + 1) * SECOND_NS));
    load.report()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found / expected - 1.0).abs() < tolerance, "{found}, expected {expected}");
}

fn arrived(report: &LoadReport) -> f64 {
    let bits = report.offered_ratio * 1e7 * report.measured_ns as f64 / 1e9;
    bits / 8.0 / f64::from(FRAME_BYTES)
}

#[test]
fn random_frames_wait_as_pollaczek_khinchine_predicts() {
    for busy_ratio in [0.3, 0.6] {
        let report = run(load(cable(), busy_ratio, 10_000), 400);
        let wait_ns = busy_ratio * SERVICE_NS / (2.0 * (1.0 - busy_ratio));
        assert_near(report.mean_delay_ns.unwrap(), wait_ns + FRAME_NS, 0.01);
        assert_near(report.utilisation_ratio, report.offered_ratio, 0.001);
        assert_near(arrived(&report), 2.0 * busy_ratio * 400e9 / SERVICE_NS, 0.01);
        assert_eq!((report.measured_ns, report.lost_adapter_queue_frames), (400 * SECOND_NS, 0));
        // A frame that finds its line free has the least delay: that is a share of 1 - rho of them.
        assert_eq!(report.p50_delay_ns > Some(425_000), busy_ratio > 0.5);
    }
}

#[test]
fn a_single_frame_takes_its_transmission_time() {
    let report = run(load(cable(), 1e-4, 1), 1_000);
    for delay_ns in [report.p50_delay_ns, report.p95_delay_ns] {
        assert_near(delay_ns.unwrap() as f64, FRAME_NS, 1.0 / 256.0);
    }
    // Before the measured part there is nothing to report.
    let report = Load::new(load(cable(), 0.5, 1), 3).unwrap().report();
    assert_eq!((report.offered_ratio, report.utilisation_ratio), (0.0, 0.0));
}

#[test]
fn excess_load_on_a_full_line_is_lost_in_the_adapters_queue() {
    for (arrivals, queue_frames) in [(2.0, 4), (4.0, 1)] {
        let report = run(load(cable(), arrivals, queue_frames), 100);
        let lost = report.lost_adapter_queue_frames as f64;
        let ended = report.delivered_frames as f64 + lost;
        assert!((arrived(&report) - ended).abs() <= 12.0, "{report:?}");
        assert!(lost > 0.45 * ended, "{report:?}");
        assert_eq!(report.jain_index.map(|index| index > 0.999), Some(true));
    }
    // One frame is on the line and one waits, which came when the other's turn began.
    let report = run(load(cable(), 20.0, 1), 10);
    assert_near(report.utilisation_ratio, 2.0 * 512.0 / 532.0, 0.01);
    assert_near(report.p99_delay_ns.unwrap() as f64, 2.0 * SERVICE_NS, 0.005);
}

#[test]
fn frame_lengths_follow_their_weights() {
    let shares = [(64, 3.0), (1518, 1.0)];
    let frames = shares.map(|(frame_bytes, weight)| FrameShare { frame_bytes, weight }).to_vec();
    let report = run(LoadPlan { frames, ..load(cable(), 0.5, 10_000) }, 400);
    let bytes = report.utilisation_ratio * 1e7 * 400.0 / 8.0;
    assert_near(bytes / report.delivered_frames as f64, 0.75 * 64.0 + 0.25 * 1518.0, 0.01);
    assert_near(report.utilisation_ratio, 2.0 * 0.5 * 512.0 / 532.0, 0.01);
}

#[test]
fn losses_are_counted_by_place() {
    let lossy = Plan { loss: LossPlan::Random { ratio: 0.1 }, ..cable() };
    let report = run(load(lossy, 0.3, 1_000), 100);
    let lost = report.lost_chance_frames as f64;
    assert_near(lost / (lost + report.delivered_frames as f64), 0.1, 0.02);
    assert_eq!((report.lost_excessive_collisions_frames, report.lost_switch_queue_frames), (0, 0));

    let crowded = plan(Topology::Bus, 100, 25_600);
    let mut load = Load::new(
        LoadPlan { arrivals: Arrivals::Saturated, warmup_ns: 0, ..load(crowded, 1.0, 1) },
        3,
    )
    .unwrap();
    load.run_until(at(10 * SECOND_NS));
    let (report, total) = (load.report(), load.counts().total());
    assert!(report.lost_excessive_collisions_frames > 0);
    assert_eq!(report.lost_excessive_collisions_frames, total.lost_excessive_collisions);
    assert_eq!((report.lost_chance_frames, report.delivered_frames), (0, total.delivered_copies));
}

/// Saturated ports of a cable: a frame of 64 bytes takes 57.6 µs, and with its gap 67.2 µs.
#[test]
fn events_at_both_ends_of_a_window_are_counted() {
    let (frame_ns, next_ns) = (57_600, 67_200);
    for (loss, lost) in [(LossPlan::Never, 0), (LossPlan::Random { ratio: 1.0 }, 10)] {
        let plan = LoadPlan {
            arrivals: Arrivals::Saturated,
            frames: vec![FrameShare { frame_bytes: 64, weight: 1.0 }],
            warmup_ns: frame_ns + 5 * next_ns,
            ..load(Plan { loss, ..cable() }, 1.0, 1)
        };
        let mut load = Load::new(plan, 1).unwrap();
        load.run_until(at(frame_ns + 9 * next_ns));
        let report = load.report();
        // The sixth to the tenth frame of both.
        assert_eq!((report.delivered_frames, report.lost_chance_frames), (10 - lost, lost));
        load.run_until(at(frame_ns + 10 * next_ns - 1));
        assert_eq!(load.report().delivered_frames, 10 - lost);
        assert_eq!(load.report().measured_ns, 5 * next_ns - 1);
    }
}

#[test]
fn invalid_loads_are_refused_with_the_allowed_values() {
    let good = load(cable(), 0.5, 1);
    let share = |frame_bytes, weight| FrameShare { frame_bytes, weight };
    let frames = |frames| LoadPlan { frames, ..good.clone() };
    let offered =
        |offered_ratio| LoadPlan { arrivals: Arrivals::Poisson { offered_ratio }, ..good.clone() };
    let refused = |plan: LoadPlan| Load::new(plan, 1).err().map(|bad: BadLoad| bad.to_string());
    for (plan, text) in [
        (offered(0.0), "offered load 0 is not a number above 0 and up to 100"),
        (offered(100.5), "offered load 100.5 is not a number above 0 and up to 100"),
        (offered(f64::NAN), "offered load NaN is not a number above 0 and up to 100"),
        (frames(vec![]), "0 lengths of frames; allowed are 1 to 64"),
        (frames(vec![share(64, 1.0); 65]), "65 lengths of frames; allowed are 1 to 64"),
        (frames(vec![share(63, 1.0)]), "frame of 63 bytes is not within 64 to 1518 bytes"),
        (frames(vec![share(1519, 1.0)]), "frame of 1519 bytes is not within 64 to 1518 bytes"),
        (frames(vec![share(64, 0.0)]), "weight 0 is not a number above 0 and up to 1e9"),
        (frames(vec![share(64, 2e9)]), "weight 2000000000 is not a number above 0 and up to 1e9"),
        (
            LoadPlan { medium: Plan { rate_bps: None, ..cable() }, ..good.clone() },
            "a load needs a medium with a rate",
        ),
        (
            LoadPlan { medium: Plan { ports: 3, ..cable() }, ..good.clone() },
            "a cable has 2 ports, not 3: more hosts need a hub or switch, as in 100M:switch",
        ),
    ] {
        assert_eq!(refused(plan), Some(text.to_owned()));
    }
    let ends = vec![share(64, 1e9), share(1518, 1e-9)];
    for plan in [offered(100.0), frames(vec![share(64, 1.0); 64]), frames(ends)] {
        assert_eq!(refused(plan), None);
    }
}
