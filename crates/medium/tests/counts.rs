//! Other counts than those of copies: collisions, deferrals, and how long the medium was busy.

mod support;

use lanlab_medium::{Counts, Destination, Event, Loss, Medium, Offer, PortCounts, Topology};
use support::{at, frame, plan, run_to_end};

#[test]
fn a_collision_counts_once_per_bus_and_per_port() {
    let mut medium = Medium::new(&plan(Topology::Bus, 3, 2_500), 3).unwrap();
    medium.offer(at(0), 0, frame(0, 1526, 2));
    medium.offer(at(1_000), 1, frame(1, 1526, 2));
    // Both hear the other within the preamble, and end after 96 bits: at 9.6 and 10.6 µs.
    medium.handle_timeout(at(10_600));
    let counts = medium.counts();
    assert_eq!((counts.collisions, counts.busy_ns), (1, 10_600));
    assert_eq!([0, 1, 2].map(|port: usize| counts.ports[port].collisions), [1, 1, 0]);
    assert_eq!([0, 1, 2].map(|port: usize| counts.ports[port].busy_ns), [9_600, 9_600, 0]);

    run_to_end(&mut medium);
    let total = medium.counts().total();
    assert_eq!((total.delivered_copies, total.copies_in_flight()), (2, 0));
    // The two frames do not overlap.
    assert!(medium.counts().busy_ns >= 10_600 + 2 * 1_220_800);
}

#[test]
fn a_frame_that_waits_for_the_bus_is_deferred_once() {
    let mut medium = Medium::new(&plan(Topology::Bus, 2, 2_500), 1).unwrap();
    medium.offer(at(0), 0, frame(0, 1526, 1));
    // Before port 1 hears the carrier it would collide; from then on it waits.
    medium.handle_timeout(at(2_500));
    medium.offer(at(2_501), 1, frame(1, 72, 0));
    let events = run_to_end(&mut medium);
    let counts = medium.counts();
    assert_eq!([0, 1].map(|port: usize| counts.ports[port].deferrals), [0, 1]);
    assert_eq!(counts.collisions, 0);
    // The end of the first, its way to port 1, the gap, the frame, and the way back.
    let arrival = at(1_220_800 + 2_500 + 9_600 + 57_600 + 2_500);
    assert!(events.contains(&(arrival, Event::Delivered { port: 0, ticket: 1 })));
}

#[test]
fn a_frame_is_dropped_after_sixteen_attempts_with_all_copies_counted() {
    // Sixty saturated stations: some frame collides sixteen times soon.
    let ports = 60;
    let mut medium = Medium::new(&plan(Topology::Bus, ports, 25_600), 1).unwrap();
    let to_all = |port: u16| {
        let (ticket, destination) = (port.into(), Destination::All);
        Offer { ticket, wire_bytes: 1526, destination }
    };
    for port in 0..ports {
        medium.offer(at(0), port, to_all(port));
    }
    let given_up = loop {
        let due = medium.poll_timeout().expect("stations that always have a frame");
        medium.handle_timeout(due);
        let mut lost = None;
        while let Some((event_at, event)) = medium.poll_event() {
            match event {
                Event::Lost { ticket, port, loss } => {
                    assert_eq!((port, loss), (None, Loss::ExcessiveCollisions));
                    lost = Some(ticket as usize);
                }
                Event::Free(port) if lost.is_none() => {
                    medium.offer(event_at, port, to_all(port));
                }
                _ => {}
            }
        }
        if let Some(lost) = lost {
            break lost;
        }
    };
    let PortCounts { lost_excessive_collisions, collisions, .. } = medium.counts().ports[given_up];
    assert_eq!(lost_excessive_collisions, u64::from(ports) - 1);
    assert!(collisions >= 16, "{collisions}");
    assert!(medium.is_free(given_up as u16));
}

#[test]
fn port_counters_add_up_field_by_field() {
    let counted = |step: u64| PortCounts {
        offered_frames: step,
        offered_wire_bytes: 100 * step,
        offered_copies: 50 * step,
        delivered_copies: 30 * step,
        delivered_wire_bytes: 3_000 * step,
        lost_chance: 2 * step,
        lost_excessive_collisions: 3 * step,
        lost_switch_queue: 4 * step,
        collisions: 5 * step,
        deferrals: 6 * step,
        busy_ns: 7 * step,
    };
    let counts = Counts { ports: [1, 10, 100].map(counted).to_vec(), busy_ns: 0, collisions: 0 };
    assert_eq!(counts.total(), counted(111));
    // 50 copies less 30, 2, 3 and 4; 100 bytes without a preamble of 8.
    assert_eq!((counted(2).copies_in_flight(), counted(2).offered_bytes()), (2 * 11, 2 * 92));
}

#[test]
fn a_cable_is_busy_while_a_port_transmits() {
    let mut medium = Medium::new(&plan(Topology::Cable, 2, 0), 1).unwrap();
    medium.offer(at(5), 0, frame(0, 72, 1));
    run_to_end(&mut medium);
    let counts = medium.counts();
    assert_eq!([0, 1].map(|port: usize| counts.ports[port].busy_ns), [57_600, 0]);
    assert_eq!((counts.busy_ns, counts.total().deferrals), (0, 0));
}
