//! How many frames go through each medium in a second of this thread's processor time (Linux):
//! `cargo run --release --package lanlab-medium --example frames_per_second`.

use lanlab_medium::{Destination, Event, LossPlan, Medium, Offer, Plan, Port, Topology};
use lanlab_units::Instant;

const FRAMES: u64 = 3_000_000;

fn main() {
    for (topology, ports, wire_bytes) in [
        (Topology::Cable, 2, 72),
        (Topology::Switch, 2, 72),
        (Topology::Switch, 15, 72),
        (Topology::Bus, 2, 72),
        (Topology::Bus, 15, 72),
        (Topology::Bus, 15, 1526),
    ] {
        let before_ns = processor_time_ns();
        let frames = run(topology, ports, wire_bytes);
        let seconds = (processor_time_ns() - before_ns) as f64 / 1e9;
        let per_second = frames as f64 / seconds / 1e6;
        println!("{topology}, {ports} ports, {wire_bytes} bytes: {per_second:.2} million frames/s");
    }
}

/// The file's first number is CPU time, ns. Other processes do not count.
fn processor_time_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("a Linux with schedstat");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

fn run(topology: Topology, ports: Port, wire_bytes: u32) -> u64 {
    let plan = Plan {
        topology,
        rate_bps: Some(10_000_000),
        ports,
        propagation_ns: 2_500,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 100_000,
    };
    let mut medium = Medium::new(&plan, 1).expect("a good plan");
    let offer = |medium: &mut Medium, now, port: Port| {
        let destination = Destination::Port((port + 1) % ports);
        medium.offer(now, port, Offer { ticket: u32::from(port), wire_bytes, destination });
    };
    for port in 0..ports {
        offer(&mut medium, Instant::ZERO, port);
    }
    let mut delivered = 0;
    while delivered < FRAMES
        && let Some(due) = medium.poll_timeout()
    {
        medium.handle_timeout(due);
        while let Some((at, event)) = medium.poll_event() {
            match event {
                Event::Free(port) => offer(&mut medium, at, port),
                Event::Delivered { .. } => delivered += 1,
                Event::Lost { .. } | Event::Done { .. } => {}
            }
        }
    }
    delivered
}
