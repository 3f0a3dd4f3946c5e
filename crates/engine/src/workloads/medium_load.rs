//! A simulated Ethernet under a load, computed in virtual time without a socket or clock.

use lanlab_medium::offline::{
    Arrivals, BadLoad, Delivered, FrameShare, Load, LoadPlan, LoadReport,
};
use lanlab_medium::{LossPlan, Plan, Port};
use lanlab_units::Instant;

use crate::cost::{Cost, OWN_THREADS};
use crate::medium::topology;
use crate::messages::{Failure, MediumLoad, MediumLoaded, MediumTopology, Outcome};
use crate::running::{Measured, Running, conclude};
use crate::task::Task;
use crate::workloads::pcap_file::PcapFile;

/// Maximum work of a request: virtual bit times per station, times the load if above 1. Takes some minutes of a
/// processor.
const MOST_STATION_BITS: f64 = 1e12;
/// Maximum bits in a capture file: 1.25 GB.
const MOST_RECORDED_BITS: f64 = 1e10;
const SLICE_BITS: u64 = 10_000_000;
const FULL_FRAME_BYTES: usize = 1518;
const CHECK_SEQUENCE_BYTES: usize = 4;
/// `EtherType` for local experiments (IEEE 802-2014, 9.2.3).
const EXPERIMENTAL_ETHER_TYPE: [u8; 2] = [0x88, 0xb5];
const MOST_PROPAGATION_NS: u64 = 1_000_000;
const MOST_QUEUE_FRAMES: u64 = 10_000;
const MOST_SWITCH_QUEUE_BYTES: u64 = 1 << 24;
/// Upper bound of a frame's memory in a queue and on the medium.
const FRAME_MEMORY_BYTES: u64 = 128;

pub fn compute(request: MediumLoad) -> Result<Task, Failure> {
    if request.duration_ns == 0 {
        return Err(Failure::value("duration_ns", 0, "1 or more"));
    }
    at_most("propagation_ns", request.propagation_ns, MOST_PROPAGATION_NS)?;
    at_most("queue_frames", request.queue_frames.into(), MOST_QUEUE_FRAMES)?;
    at_most("switch_queue_bytes", request.switch_queue_bytes.into(), MOST_SWITCH_QUEUE_BYTES)?;
    let computed = load(&request)?;
    let seconds = (request.duration_ns as f64 + request.warmup_ns as f64) / 1e9;
    let load = request.offered_ratio.unwrap_or(1.0).max(1.0);
    let station_bits = seconds * request.rate_bps as f64 * f64::from(request.stations) * load;
    if station_bits > MOST_STATION_BITS {
        let found = format!("{seconds} s of virtual time");
        let most_seconds = MOST_STATION_BITS / (station_bits / seconds);
        let allowed = format!("{most_seconds:.6} s with this rate, load and number of stations");
        return Err(Failure::value("duration_ns", found, allowed));
    }
    let wires = if request.topology == MediumTopology::Bus { 1 } else { request.stations };
    let wire_bits_per_s = request.rate_bps as f64 * f64::from(wires);
    if request.pcap.is_some() && seconds * wire_bits_per_s > MOST_RECORDED_BITS {
        let found = format!("{seconds} s of virtual time with `pcap`");
        let allowed = format!("{:.6} s with this rate", MOST_RECORDED_BITS / wire_bits_per_s);
        return Err(Failure::value("duration_ns", found, allowed));
    }
    let cost = Cost { memory_bytes: memory_bytes(&request), threads: OWN_THREADS };
    Ok(Task::new(cost, move |running| run(&request, computed, running)))
}

fn run(request: &MediumLoad, mut load: Load, running: &Running) -> Measured {
    let end_ns = request.warmup_ns.saturating_add(request.duration_ns);
    let slice_ns = slice_ns(request.rate_bps);
    let mut recording = request.pcap.as_deref().map(PcapFile::create).transpose()?;
    let mut now_ns = 0_u64;
    while now_ns < end_ns {
        if running.is_cancelled() {
            return Err(Failure::cancelled().into());
        }
        now_ns = now_ns.saturating_add(slice_ns).min(end_ns);
        let until = Instant::from_nanos(now_ns);
        match &mut recording {
            Some(file) => load.watch_until(until, |frame| record(file, frame)),
            None => load.run_until(until),
        }
    }
    let failure = recording.and_then(|file| file.end().err());
    conclude(outcome(&load.report(), load.counts().collisions), failure)
}

fn slice_ns(rate_bps: u64) -> u64 {
    (SLICE_BITS * 1_000_000_000 / rate_bps).max(1)
}

fn record(file: &mut PcapFile, delivered: Delivered) {
    let mut frame = [0; FULL_FRAME_BYTES];
    frame[..6].copy_from_slice(&address(delivered.to));
    frame[6..12].copy_from_slice(&address(delivered.from));
    frame[12..14].copy_from_slice(&EXPERIMENTAL_ETHER_TYPE);
    let length = delivered.frame_bytes as usize - CHECK_SEQUENCE_BYTES;
    file.add(delivered.at.as_nanos(), &frame[..length]);
}

/// Hardware address of a station, as in a virtual LAN.
fn address(station: Port) -> [u8; 6] {
    let [high, low] = (station + 1).to_be_bytes();
    [2, 0x77, 0, 0, high, low]
}

fn load(request: &MediumLoad) -> Result<Load, Failure> {
    let medium = Plan {
        topology: topology(request.topology),
        rate_bps: Some(request.rate_bps),
        ports: request.stations,
        propagation_ns: request.propagation_ns,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: request.switch_queue_bytes,
    };
    let frame = |frame: &crate::messages::LoadFrame| FrameShare {
        frame_bytes: frame.frame_bytes,
        weight: frame.weight,
    };
    let plan = LoadPlan {
        medium,
        arrivals: request
            .offered_ratio
            .map_or(Arrivals::Saturated, |offered_ratio| Arrivals::Poisson { offered_ratio }),
        frames: request.frames.iter().map(frame).collect(),
        queue_frames: request.queue_frames,
        warmup_ns: request.warmup_ns,
    };
    let refused = |bad: BadLoad| Failure::new("request.value", bad.to_string());
    Load::new(plan, request.seed).map_err(refused)
}

fn at_most(key: &str, found: u64, most: u64) -> Result<(), Failure> {
    if found <= most {
        return Ok(());
    }
    Err(Failure::value(key, found, format!("up to {most}")))
}

/// Memory of frames in adapters, switch and transit, and of the delay histogram.
fn memory_bytes(request: &MediumLoad) -> u64 {
    const SHORTEST_BITS: u128 = 84 * 8;
    let bits = u128::from(request.rate_bps) * u128::from(request.propagation_ns) / 1_000_000_000;
    let on_the_way = (bits / SHORTEST_BITS) as u64 + 2;
    let in_the_switch = u64::from(request.switch_queue_bytes) / 84 + 1;
    let of_a_station = u64::from(request.queue_frames) + on_the_way + in_the_switch;
    u64::from(request.stations) * of_a_station * FRAME_MEMORY_BYTES + (1 << 20)
}

fn outcome(report: &LoadReport, collisions: u64) -> Outcome {
    Outcome::MediumLoaded(Box::new(MediumLoaded {
        measured_ns: report.measured_ns,
        offered_ratio: report.offered_ratio,
        utilisation_ratio: report.utilisation_ratio,
        delivered_frames: report.delivered_frames,
        mean_delay_ns: report.mean_delay_ns,
        p50_delay_ns: report.p50_delay_ns,
        p95_delay_ns: report.p95_delay_ns,
        p99_delay_ns: report.p99_delay_ns,
        lost_adapter_queue_frames: report.lost_adapter_queue_frames,
        lost_excessive_collisions_frames: report.lost_excessive_collisions_frames,
        lost_switch_queue_frames: report.lost_switch_queue_frames,
        collisions,
        jain_index: report.jain_index,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{LoadFrame, MediumTopology};

    fn asked() -> MediumLoad {
        MediumLoad {
            topology: MediumTopology::Bus,
            rate_bps: 10_000_000,
            stations: 5,
            propagation_ns: 2_500,
            frames: vec![LoadFrame { frame_bytes: 512, weight: 1.0 }],
            offered_ratio: Some(0.5),
            queue_frames: 64,
            switch_queue_bytes: 0,
            duration_ns: 1_000_000_000,
            warmup_ns: 0,
            seed: 1,
            pcap: None,
        }
    }

    #[test]
    fn impossible_input_is_refused_with_the_allowed_values() {
        assert!(compute(asked()).is_ok());
        let cases = [
            (MediumLoad { stations: 1, ..asked() }, "a bus has 2 to 256 ports, not 1"),
            (MediumLoad { frames: vec![], ..asked() }, "0 lengths of frames; allowed are 1 to 64"),
            (
                MediumLoad { offered_ratio: Some(f64::NAN), ..asked() },
                "offered load NaN is not a number above 0 and up to 100",
            ),
            (
                MediumLoad { duration_ns: 0, ..asked() },
                "`duration_ns`: found 0; allowed: 1 or more",
            ),
            (
                MediumLoad {
                    duration_ns: 2_000_000_000_000,
                    pcap: Some("frames.pcap".to_owned()),
                    ..asked()
                },
                "`duration_ns`: found 2000 s of virtual time with `pcap`; allowed: 1000.000000 s with \
                 this rate",
            ),
            (
                MediumLoad { queue_frames: 10_001, ..asked() },
                "`queue_frames`: found 10001; allowed: up to 10000",
            ),
            (
                MediumLoad { duration_ns: 20_001_000_000_000, ..asked() },
                "`duration_ns`: found 20001 s of virtual time; allowed: 20000.000000 s with this \
                 rate, load and number of stations",
            ),
        ];
        for (request, message) in cases {
            let failure = compute(request).err().unwrap();
            assert_eq!(failure.code, "request.value");
            assert_eq!(failure.message, message);
        }
        let endless = MediumLoad { duration_ns: u64::MAX, warmup_ns: u64::MAX, ..asked() };
        assert_eq!(compute(endless).err().unwrap().code, "request.value");
    }

    #[test]
    fn values_at_the_bounds_are_simulated() {
        let hours = |duration_ns, warmup_ns| MediumLoad { duration_ns, warmup_ns, ..asked() };
        let second_ns = 1_000_000_000;
        // 20,000 s in total; half of that at twice the link's rate.
        assert!(compute(hours(20_000 * second_ns, 0)).is_ok());
        assert!(compute(hours(10_000 * second_ns, 10_000 * second_ns)).is_ok());
        assert!(compute(hours(10_000 * second_ns, 10_001 * second_ns)).is_err());
        let twice =
            |seconds| MediumLoad { offered_ratio: Some(2.0), ..hours(seconds * second_ns, 0) };
        assert!(compute(twice(10_000)).is_ok());
        let message = "`duration_ns`: found 10001 s of virtual time; allowed: 10000.000000 s with this \
                       rate, load and number of stations";
        assert_eq!(compute(twice(10_001)).err().unwrap().message, message);
        // A file of 10 Gbit: 1000 s of a bus, 200 s of five cables.
        let recorded = |topology, seconds| {
            let pcap = Some("frames.pcap".to_owned());
            let request = MediumLoad { topology, pcap, ..hours(seconds * second_ns, 0) };
            compute(MediumLoad { switch_queue_bytes: 65_536, ..request }).is_ok()
        };
        assert!(recorded(MediumTopology::Bus, 1_000) && !recorded(MediumTopology::Bus, 1_001));
        assert!(recorded(MediumTopology::Switch, 200) && !recorded(MediumTopology::Switch, 201));
        assert!(compute(MediumLoad { queue_frames: 10_000, ..asked() }).is_ok());
        assert!(at_most("x", 5, 5).is_ok() && at_most("x", 6, 5).is_err());
    }

    #[test]
    fn memory_covers_queued_and_travelling_frames() {
        // In flight are 25 bits (less than a frame) and two more frames; 64 are in the adapter, one is in the
        // switch.
        assert_eq!(memory_bytes(&asked()), 5 * (64 + 2 + 1) * 128 + 1_048_576);
        let fast = MediumLoad {
            rate_bps: 1_000_000_000,
            stations: 2,
            propagation_ns: 1_000_000,
            queue_frames: 10,
            switch_queue_bytes: 8_400,
            ..asked()
        };
        // A million bits are 1488 frames of 672 bits; 100 frames of 84 bytes are in the switch.
        assert_eq!(memory_bytes(&fast), 2 * (10 + 1_488 + 2 + 100 + 1) * 128 + 1_048_576);
    }

    #[test]
    fn stations_have_the_addresses_of_a_virtual_lan() {
        assert_eq!(address(0), [2, 0x77, 0, 0, 0, 1]);
        assert_eq!(address(255), [2, 0x77, 0, 0, 1, 0]);
    }

    #[test]
    fn cancellation_is_checked_every_ten_million_bits() {
        assert_eq!([1_000, 10_000_000].map(slice_ns), [10_000_000_000_000, 1_000_000_000]);
        assert_eq!(slice_ns(100_000_000_000), 100_000);
    }

    fn running() -> Running {
        Running::new(1, crate::output::Output::new(std::io::sink()))
    }

    /// Both ends of a cable send frames of 512 bytes without a pause.
    #[test]
    fn a_full_cable_runs_at_its_rate_and_the_capture_has_each_frame() {
        let folder = std::env::temp_dir().join(format!("lanlab-load-{}", std::process::id()));
        let path = folder.to_str().expect("a path").to_owned();
        let request = MediumLoad {
            topology: MediumTopology::Cable,
            stations: 2,
            offered_ratio: None,
            duration_ns: 1_000_000_000,
            pcap: Some(path.clone()),
            ..asked()
        };
        let outcome = run(&request, load(&request).unwrap(), &running());
        let octets = std::fs::read(&path).expect("a file");
        std::fs::remove_file(&path).expect("it can be removed");
        let Ok(Outcome::MediumLoaded(found)) = outcome else { panic!("no result") };
        // 532 bytes each with preamble and gap: 425.6 µs. The first ends after 416 µs and propagates for 2.5
        // µs, so 2349 arrive in a second each way.
        assert_eq!((found.measured_ns, found.delivered_frames), (1_000_000_000, 2 * 2_349));
        assert_eq!((found.collisions, found.lost_adapter_queue_frames), (0, 0));
        // A header of 24 octets, and 16 before each frame without its check sequence.
        assert_eq!(octets.len(), 24 + 2 * 2_349 * (16 + 508));
        let first = &octets[40..];
        assert_eq!(first[..6], [2, 0x77, 0, 0, 0, 2]);
        assert_eq!(first[6..12], [2, 0x77, 0, 0, 0, 1]);
        assert_eq!(first[12..15], [0x88, 0xb5, 0]);
        let cancelled = running();
        cancelled.cancel();
        let request = MediumLoad { pcap: None, ..request };
        assert!(run(&request, load(&request).unwrap(), &cancelled).is_err());
    }
}
