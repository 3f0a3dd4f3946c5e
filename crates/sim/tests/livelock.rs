//! Receive livelock: interrupts are served before the protocols' work, so that a host that gets more than
//! it can handle delivers less, down to nothing (J. Mogul and K. Ramakrishnan, "Eliminating Receive Livelock
//! in an Interrupt-Driven Kernel", ACM TOCS 15(3), 1997).

mod support;

use lanlab_medium::Topology;
use lanlab_sim::{Bounds, Cost, Ended, HostFacts, Machine, mac_of};
use lanlab_units::Instant;

use support::{BOUNDS, SECOND_NS, assert_within, medium, world};

/// As fitted to a 486 of 33 MHz.
const INTERRUPT_NS: u64 = 328_000;
const PROTOCOL_NS: u64 = 1_250_000;

/// Frames at a constant rate for 100 s: what became of those that arrived.
fn overload(frames_per_s: u64) -> HostFacts {
    let receiver = Machine {
        interrupt: Cost { each_ns: INTERRUPT_NS, per_byte_ps: 0 },
        protocol: Cost { each_ns: PROTOCOL_NS, per_byte_ps: 0 },
        ..Machine::default()
    };
    let machines = vec![Machine::default(), receiver];
    let world = world(medium(Topology::Cable, 2, 100_000_000), machines, 1);
    let sender = world.host(0);
    sender.clone().spawn("sender", async move {
        for number in 0.. {
            sender
                .clock()
                .sleep_until(Instant::from_nanos(number * SECOND_NS / frames_per_s))
                .await;
            sender.with_node(|node, _| assert!(node.send(mac_of(1), &[0; 2])));
        }
    });
    let until = Instant::from_nanos(100 * SECOND_NS);
    assert_eq!(world.run(&Bounds { until, ..BOUNDS }), Ended::Time);
    world.facts().hosts[1].clone()
}

#[test]
fn host_throughput_follows_the_livelock_formula() {
    let (interrupt_s, protocol_s) = (INTERRUPT_NS as f64 / 1e9, PROTOCOL_NS as f64 / 1e9);
    for frames_per_s in [100, 400, 600, 630, 640, 700, 1000, 1500, 2000, 2500, 2900] {
        let load = frames_per_s as f64;
        let theory = load.min((1.0 - load * interrupt_s) / protocol_s);
        let facts = overload(frames_per_s);
        assert_within(0.01, facts.frames_handled as f64 / 100.0, theory);
        assert_eq!(facts.ring_drops, 0);
        let ends = facts.queue_drops + facts.frames_handled + facts.frames_held;
        assert_eq!(facts.frames_arrived, ends);
    }
}

#[test]
fn receive_livelock_delivers_nothing_and_overflows_the_ring() {
    let facts = overload(4000);
    assert!(facts.frames_handled <= 1, "{facts:?}");
    assert!(facts.ring_drops > 90_000 && facts.queue_drops > 300_000 - 1000, "{facts:?}");
    assert_within(0.001, facts.cpu.interrupt_ns as f64, 100.0 * SECOND_NS as f64);
    let ends = facts.ring_drops + facts.queue_drops + facts.frames_handled + facts.frames_held;
    assert_eq!(facts.frames_arrived, ends);
}
