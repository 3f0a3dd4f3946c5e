//! When frames arrive on a cable, a switch and a bus, to the nanosecond.

mod support;

use lanlab_medium::{Destination, Event, Loss, Medium, Offer, Plan, Topology};
use lanlab_units::Instant;
use support::{Arrival, at, drive, frame, plan, run_to_end};

const SHORTEST: u32 = 72;

#[test]
fn a_lone_frame_takes_its_time_the_propagation_and_the_delay() {
    for topology in [Topology::Cable, Topology::Bus] {
        let plan = Plan { delay_ns: 1_000_000, ..plan(topology, 2, 2_500) };
        let mut medium = Medium::new(&plan, 1).unwrap();
        medium.offer(at(500), 0, frame(9, 1526, 1));
        assert!(!medium.is_free(0) && medium.is_free(1));
        // 1526 bytes at 10 Mbit/s: 1,220,800 ns.
        let events = run_to_end(&mut medium);
        assert_eq!(
            events,
            [
                (at(1_221_300), Event::Free(0)),
                (at(2_223_800), Event::Delivered { port: 1, ticket: 9 }),
                (at(2_223_800), Event::Done { ticket: 9 }),
            ],
            "{topology}"
        );
        assert!(medium.is_free(0));
    }
}

#[test]
fn a_switch_stores_a_frame_before_it_forwards_it() {
    let mut medium = Medium::new(&plan(Topology::Switch, 3, 101), 1).unwrap();
    medium.offer(
        at(0),
        0,
        Offer { ticket: 1, wire_bytes: SHORTEST, destination: Destination::All },
    );
    // 57,600 ns and 50 ns to the switch, 57,600 ns and 51 ns from it.
    let end = at(115_301);
    assert_eq!(
        run_to_end(&mut medium),
        [
            (at(57_600), Event::Free(0)),
            (end, Event::Delivered { port: 1, ticket: 1 }),
            (end, Event::Delivered { port: 2, ticket: 1 }),
            (end, Event::Done { ticket: 1 }),
        ]
    );
}

#[test]
fn a_frame_shorter_than_ethernet_allows_is_padded() {
    let mut medium = Medium::new(&plan(Topology::Cable, 2, 0), 1).unwrap();
    medium.offer(at(0), 0, frame(1, 1, 1));
    assert_eq!(run_to_end(&mut medium)[0], (at(57_600), Event::Free(0)));
    assert_eq!(medium.counts().ports[0].delivered_wire_bytes, 72);
}

#[test]
fn the_interframe_gap_delays_the_next_frame_but_no_delivery() {
    for topology in [Topology::Cable, Topology::Bus] {
        let mut medium = Medium::new(&plan(topology, 2, 0), 1).unwrap();
        let arrivals = [0, 0].map(|now| Arrival {
            at: at(now),
            source: 0,
            wire_bytes: SHORTEST,
            destination: Destination::All,
        });
        let events = drive(&mut medium, 2, &arrivals, 1, |_, _| {});
        let delivered = |ticket| Event::Delivered { port: 1, ticket };
        assert!(events.contains(&(at(57_600), delivered(0))), "{topology}: {events:?}");
        assert!(events.contains(&(at(57_600 + 9_600 + 57_600), delivered(1))), "{topology}");
    }
}

#[test]
fn an_hour_of_back_to_back_frames_is_exact_to_a_nanosecond_at_any_rate() {
    for topology in [Topology::Cable, Topology::Bus] {
        for rate_bps in [1_000, 10_000_000, 7_654_321, 99_999_989] {
            let plan = Plan { rate_bps: Some(rate_bps), ..plan(topology, 2, 0) };
            let mut medium = Medium::new(&plan, 1).unwrap();
            // As many frames as an hour has room for, and no more than a test has time for.
            let wire_bytes = 1526;
            let frame_bits = u128::from(wire_bytes) * 8;
            let frames = (3600 * u128::from(rate_bps) / (frame_bits + 96)).min(400_000);
            let mut last_end = Instant::ZERO;
            medium.offer(at(0), 0, frame(0, wire_bytes, 1));
            let mut offered = 1;
            while let Some(due) = medium.poll_timeout() {
                medium.handle_timeout(due);
                while let Some((event_at, event)) = medium.poll_event() {
                    match event {
                        Event::Free(0) if offered < frames => {
                            medium.offer(event_at, 0, frame(offered as u32, wire_bytes, 1));
                            offered += 1;
                        }
                        Event::Delivered { .. } => last_end = event_at,
                        _ => {}
                    }
                }
            }
            let bits = frames * frame_bits + (frames - 1) * 96;
            let expected = (bits * 1_000_000_000).div_ceil(u128::from(rate_bps));
            assert_eq!(u128::from(last_end.as_nanos()), expected, "{topology} at {rate_bps} bit/s");
        }
    }
}

#[test]
fn the_directions_of_a_cable_do_not_disturb_each_other() {
    let mut medium = Medium::new(&plan(Topology::Cable, 2, 0), 1).unwrap();
    medium.offer(at(0), 0, frame(0, 1526, 1));
    medium.offer(at(10), 1, frame(1, 1526, 0));
    let events = run_to_end(&mut medium);
    assert!(events.contains(&(at(1_220_800), Event::Delivered { port: 1, ticket: 0 })));
    assert!(events.contains(&(at(1_220_810), Event::Delivered { port: 0, ticket: 1 })));
}

#[test]
fn without_a_rate_frames_take_no_time() {
    for topology in [Topology::Cable, Topology::Switch] {
        let plan = Plan { rate_bps: None, delay_ns: 7, ..plan(topology, 2, 3) };
        let mut medium = Medium::new(&plan, 1).unwrap();
        medium.offer(at(100), 0, frame(1, 1526, 1));
        assert_eq!(medium.poll_timeout(), Some(at(100)));
        let events = run_to_end(&mut medium);
        assert_eq!(events[0], (at(100), Event::Free(0)), "{topology}");
        assert_eq!(events[1], (at(110), Event::Delivered { port: 1, ticket: 1 }), "{topology}");
    }
}

#[test]
fn a_full_output_of_a_switch_drops_the_copy_and_reports_it() {
    // Two hosts send to a third at the same time: one frame goes on at once, the other waits.
    let room_for_one = SHORTEST + 12;
    for (switch_queue_bytes, is_lost) in [(room_for_one, false), (room_for_one - 1, true)] {
        let plan = Plan { switch_queue_bytes, ..plan(Topology::Switch, 3, 0) };
        let mut medium = Medium::new(&plan, 1).unwrap();
        medium.offer(at(0), 0, frame(0, SHORTEST, 2));
        medium.offer(at(0), 1, frame(1, SHORTEST, 2));
        let events = run_to_end(&mut medium);
        let lost = Event::Lost { ticket: 1, port: Some(2), loss: Loss::SwitchQueue };
        assert_eq!(events.contains(&(at(57_600), lost)), is_lost);
        // The other goes on after the first and its gap.
        let delivered = (at(182_400), Event::Delivered { port: 2, ticket: 1 });
        assert_eq!(events.contains(&delivered), !is_lost);
        assert_eq!(medium.counts().ports[1].lost_switch_queue, u64::from(is_lost));
    }
}

#[test]
fn a_departed_frame_frees_its_switch_buffer() {
    let plan = Plan { switch_queue_bytes: SHORTEST + 12, ..plan(Topology::Switch, 3, 0) };
    let mut medium = Medium::new(&plan, 1).unwrap();
    for round in 0..4 {
        let now = at(round * 1_000_000);
        medium.offer(now, 0, frame(0, SHORTEST, 2));
        medium.offer(now, 1, frame(1, SHORTEST, 2));
        run_to_end(&mut medium);
    }
    let total = medium.counts().total();
    assert_eq!((total.delivered_copies, total.lost_switch_queue), (8, 0));
}

/// Two ports begin at once and collide once: who draws no slot sends, and the other after it.
#[test]
fn an_idle_bus_requests_no_wake_up() {
    let woken = (0..).find_map(|seed| {
        let mut medium = Medium::new(&plan(Topology::Bus, 2, 2_500), seed).unwrap();
        for port in [0, 1] {
            medium.offer(at(0), port, frame(port.into(), 1526, 1 - port));
        }
        let mut woken = Vec::new();
        while let Some(due) = medium.poll_timeout() {
            woken.push(due.as_nanos());
            medium.handle_timeout(due);
        }
        (medium.counts().collisions == 1).then_some(woken)
    });
    // Each carrier is heard 2.5 µs later. 64 bits of preamble, 32 of jam; a slot of 512, and a gap of 96.
    let jam_end = 6_400 + 3_200;
    let first = jam_end + 2_500 + 9_600;
    let first_end = first + 1_220_800;
    let second = first_end + 2_500 + 9_600;
    let second_end = second + 1_220_800;
    let expected = [
        [2_500, jam_end, jam_end + 2_500],
        [first, first + 2_500, jam_end + 51_200],
        [first_end, first_end + 2_500, second],
        [second + 2_500, second_end, second_end + 2_500],
    ];
    assert_eq!(woken, Some(expected.concat()));
}

#[test]
fn frames_for_unknown_addresses_take_time_and_reach_nobody() {
    for topology in [Topology::Cable, Topology::Switch, Topology::Bus] {
        for unused in [0, 2, 300] {
            let mut medium = Medium::new(&plan(topology, 2, 0), 1).unwrap();
            medium.offer(at(0), 0, frame(5, SHORTEST, unused));
            let events = run_to_end(&mut medium);
            let (free, done) = (Event::Free(0), Event::Done { ticket: 5 });
            assert_eq!(events, [(at(57_600), free), (at(57_600), done)], "{topology}");
            assert_eq!(medium.counts().total().offered_copies, 0);
        }
    }
}

#[test]
fn a_late_driver_does_not_shift_the_schedule() {
    for topology in [Topology::Cable, Topology::Switch, Topology::Bus] {
        let ports = 2;
        // All at the start: later ones come when the driver looks, which is its own lateness.
        let arrivals: Vec<_> = (0..400)
            .map(|number| Arrival {
                at: at(0),
                source: number % ports,
                wire_bytes: 100 + u32::from(number),
                destination: Destination::All,
            })
            .collect();
        let run = |clock_step_ns| {
            let mut medium = Medium::new(&plan(topology, ports, 2_500), 5).unwrap();
            drive(&mut medium, ports, &arrivals, clock_step_ns, |_, _| {})
        };
        assert_eq!(run(1), run(10_000_000), "{topology}");
    }
}
