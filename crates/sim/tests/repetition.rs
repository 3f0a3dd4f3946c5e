//! The same seed gives the same world, byte by byte; and a world adds nothing to its medium.

#[path = "../../medium/tests/offline/mod.rs"]
mod offline;
mod support;

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_sim::{Bounds, Cost, Ended, Machine, WorldFacts, mac_of};
use lanlab_units::Instant;
use lanlab_wire::pcap;

use offline::{Arrivals, FrameShare, Load, LoadPlan};
use support::{BOUNDS, SECOND_NS, medium, receive, send, world};

/// Five stations ask a server on a bus that loses frames, on machines whose costs vary.
fn stations(seed: u64) -> (WorldFacts, Vec<u8>) {
    let machine = Machine {
        interrupt: Cost { each_ns: 50_000, per_byte_ps: 100_000 },
        protocol: Cost { each_ns: 200_000, per_byte_ps: 0 },
        transmit: Cost { each_ns: 150_000, per_byte_ps: 100_000 },
        receive_call: Cost { each_ns: 100_000, per_byte_ps: 0 },
        send_call: Cost { each_ns: 90_000, per_byte_ps: 0 },
        jitter_ratio: 0.2,
        ..Machine::default()
    };
    let plan =
        Plan { loss: LossPlan::Random { ratio: 0.01 }, ..medium(Topology::Bus, 6, 10_000_000) };
    let world = world(plan, vec![machine; 6], seed);
    let file = Rc::new(RefCell::new(Vec::new()));
    pcap::emit_header(&mut file.borrow_mut());
    let recorded = Rc::clone(&file);
    world.record(move |at, frame| {
        pcap::emit_record(at.as_nanos(), frame, &mut recorded.borrow_mut());
    });
    let server = world.host(0);
    server.clone().spawn_service("server", async move {
        loop {
            let (from, bytes) = receive(&server).await;
            send(&server, from, &vec![1; bytes]).await;
        }
    });
    for station in 1..6 {
        let host = world.host(station);
        host.clone().spawn_service("asking", async move {
            loop {
                send(&host, mac_of(0), &[2; 700]).await;
                host.clock().sleep_ns(3_000_000).await;
            }
        });
        let host = world.host(station);
        host.clone().spawn("reading", async move {
            loop {
                receive(&host).await;
            }
        });
    }
    let until = Instant::from_nanos(20 * SECOND_NS);
    assert_eq!(world.run(&Bounds { until, ..BOUNDS }), Ended::Time);
    let file = file.borrow().clone();
    (world.facts(), file)
}

#[test]
fn equal_seeds_repeat_results_and_captures_exactly() {
    let (facts, file) = stations(1);
    assert!(facts.medium.collisions > 100 && facts.medium.total().lost_chance > 10, "{facts:?}");
    assert!(file.len() > 1_000_000);
    assert!((facts.clone(), file.clone()) == stations(1));
    let (other_facts, other_file) = stations(2);
    assert!(facts != other_facts && file != other_file);
}

#[test]
fn frames_are_recorded_once_even_if_lost() {
    let (facts, file) = stations(3);
    let mut rest = &file[pcap::FILE_HEADER_OCTETS..];
    let mut frames = 0;
    while let Some((header, after)) = rest.split_at_checked(pcap::RECORD_HEADER_OCTETS) {
        let length = u32::from_le_bytes(header[8..12].try_into().unwrap()) as usize;
        rest = &after[length..];
        frames += 1;
    }
    let medium = facts.medium.total();
    assert_eq!(frames, medium.delivered_copies + medium.lost_chance);
}

/// Stations without costs that always have a frame are the medium's own saturated load: the same frames
/// win and lose the same races, so that the capture effect is that of the medium.
#[test]
fn hosts_without_costs_add_nothing_to_a_saturated_bus() {
    const STATIONS: u16 = 4;
    const FRAME_BYTES: u32 = 512;
    let plan = medium(Topology::Bus, STATIONS, 10_000_000);
    let load = LoadPlan {
        medium: plan,
        arrivals: Arrivals::Saturated,
        frames: vec![FrameShare { frame_bytes: FRAME_BYTES, weight: 1.0 }],
        queue_frames: 1,
        warmup_ns: 0,
    };
    let until = Instant::from_nanos(20 * SECOND_NS);
    let mut expected = Vec::new();
    let mut load = Load::new(load, 5).unwrap();
    load.watch_until(until, |at, from| expected.push((at, from)));

    let machines = (0..STATIONS).map(|_| Machine::default()).collect();
    let world = world(plan, machines, 5);
    for station in 0..STATIONS {
        let host = world.host(station);
        let message = [0; FRAME_BYTES as usize - 4 - 14 - 2];
        host.clone().spawn("sender", async move {
            loop {
                send(&host, mac_of((station + 1) % STATIONS), &message).await;
            }
        });
    }
    let delivered = Rc::new(RefCell::new(Vec::new()));
    let recorded = Rc::clone(&delivered);
    world.record(move |at, frame| recorded.borrow_mut().push((at, u16::from(frame[11]))));
    assert_eq!(world.run(&Bounds { until, ..BOUNDS }), Ended::Time);
    assert!(*delivered.borrow() == expected);
    assert!(expected.len() > 30_000 && world.facts().medium.total().lost_excessive_collisions > 10);
}
