//! What holds for any plan and any offers.

mod support;

use std::collections::BTreeMap;

use lanlab_medium::{Destination, Event, Loss, LossPlan, Medium, Plan, Port, PortCounts, Topology};
use lanlab_units::Instant;
use proptest::prelude::*;
use support::{Arrival, at, drive};

fn any_loss() -> impl Strategy<Value = LossPlan> {
    prop_oneof![
        Just(LossPlan::Never),
        (0.0..=1.0).prop_map(|ratio| LossPlan::Random { ratio }),
        (0.0..0.5, 1.0..9.0)
            .prop_map(|(ratio, mean_length_frames)| LossPlan::Bursts { ratio, mean_length_frames }),
    ]
}

fn any_plan() -> impl Strategy<Value = Plan> {
    let topology = prop_oneof![Just(Topology::Cable), Just(Topology::Switch), Just(Topology::Bus)];
    let rate = prop_oneof![Just(10_000_000_u64), Just(100_000_000), 1_000_000..200_000_000_u64];
    (topology, rate, 2_u16..20, 0.0..=1.0, 0_u64..3_000_000, any_loss(), 0_u32..10_000).prop_map(
        |(topology, rate_bps, ports, propagation, delay_ns, loss, switch_queue_bytes)| {
            let half_slot_ns = 256_000_000_000 / rate_bps;
            Plan {
                topology,
                rate_bps: Some(rate_bps),
                ports: if topology == Topology::Cable { 2 } else { ports },
                propagation_ns: (propagation * half_slot_ns as f64) as u64,
                delay_ns,
                loss,
                switch_queue_bytes,
            }
        },
    )
}

fn any_arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let pause_ns = prop_oneof![Just(0_u64), 0..2_000_u64, 0..3_000_000_u64];
    let destination = prop_oneof![
        1 => Just(None),
        3 => (0_u16..20).prop_map(Some),
    ];
    let arrival = (pause_ns, 0_u16..20, 60_u32..1530, destination);
    prop::collection::vec(arrival, 1..200).prop_map(|arrivals| {
        let mut now = 0;
        let arrival =
            |(pause_ns, source, wire_bytes, destination): (u64, Port, u32, Option<Port>)| {
                now += pause_ns;
                let destination = destination.map_or(Destination::All, Destination::Port);
                Arrival { at: at(now), source, wire_bytes, destination }
            };
        arrivals.into_iter().map(arrival).collect()
    })
}

fn within(plan: &Plan, arrivals: &[Arrival]) -> Vec<Arrival> {
    let arrivals = arrivals.iter().copied();
    arrivals.map(|arrival| Arrival { source: arrival.source % plan.ports, ..arrival }).collect()
}

fn receivers(plan: &Plan, arrival: &Arrival) -> Vec<Port> {
    let is_meant = |port: Port| match arrival.destination {
        Destination::All => true,
        Destination::Port(meant) => port == meant,
    };
    (0..plan.ports).filter(|port| *port != arrival.source && is_meant(*port)).collect()
}

/// Counts from the events, kept apart from those of the medium.
fn counted(plan: &Plan, arrivals: &[Arrival], events: &[(Instant, Event)]) -> Vec<PortCounts> {
    let mut counts = vec![PortCounts::default(); usize::from(plan.ports)];
    for (_, event) in events {
        match *event {
            Event::Delivered { ticket, .. } => {
                let arrival = &arrivals[ticket as usize];
                let counts = &mut counts[usize::from(arrival.source)];
                counts.delivered_copies += 1;
                counts.delivered_wire_bytes += u64::from(arrival.padded_bytes());
            }
            Event::Lost { ticket, port, loss } => {
                let arrival = &arrivals[ticket as usize];
                let copies = port.map_or(receivers(plan, arrival).len() as u64, |_| 1);
                let counts = &mut counts[usize::from(arrival.source)];
                match loss {
                    Loss::Chance => counts.lost_chance += copies,
                    Loss::ExcessiveCollisions => counts.lost_excessive_collisions += copies,
                    Loss::SwitchQueue => counts.lost_switch_queue += copies,
                }
            }
            Event::Free(_) | Event::Done { .. } => {}
        }
    }
    counts
}

/// A frame's time in ns, rounded down.
fn frame_ns(plan: &Plan, bytes: u32) -> u64 {
    u64::from(bytes) * 8 * 1_000_000_000 / plan.rate_bps.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_copy_is_counted_once_as_delivered_or_lost(
        plan in any_plan(), arrivals in any_arrivals(), seed: u64,
    ) {
        let arrivals = within(&plan, &arrivals);
        let mut medium = Medium::new(&plan, seed).unwrap();
        let events = drive(&mut medium, plan.ports, &arrivals, 1, |medium, events| {
            let expected = counted(&plan, &arrivals, events);
            for (counts, expected) in medium.counts().ports.iter().zip(expected) {
                let seen = PortCounts {
                    offered_frames: 0, offered_wire_bytes: 0, offered_copies: 0, collisions: 0,
                    deferrals: 0, busy_ns: 0,
                    ..*counts
                };
                assert_eq!(seen, expected);
                // Offered is delivered, lost or in flight: this would fall below zero otherwise.
                let _ = counts.copies_in_flight();
            }
        });

        prop_assert!(events.is_sorted_by_key(|(event_at, _)| *event_at));
        let total = medium.counts().total();
        prop_assert_eq!(total.copies_in_flight(), 0);
        prop_assert_eq!(total.offered_frames, arrivals.len() as u64);
        let wire_bytes: u64 = arrivals.iter().map(|arrival| u64::from(arrival.padded_bytes())).sum();
        prop_assert_eq!(total.offered_wire_bytes, wire_bytes);
        prop_assert_eq!(total.offered_bytes(), wire_bytes - 8 * arrivals.len() as u64);
        let copies: usize = arrivals.iter().map(|arrival| receivers(&plan, arrival).len()).sum();
        prop_assert_eq!(total.offered_copies, copies as u64);
        let sum = |of: fn(&PortCounts) -> u64| medium.counts().ports.iter().map(of).sum::<u64>();
        prop_assert_eq!(total.collisions, sum(|port| port.collisions));
        prop_assert_eq!(total.deferrals, sum(|port| port.deferrals));
        prop_assert_eq!(total.busy_ns, sum(|port| port.busy_ns));

        let mut open: BTreeMap<u32, Vec<Port>> = (0..).zip(&arrivals)
            .map(|(ticket, arrival)| (ticket, receivers(&plan, arrival))).collect();
        for (_, event) in &events {
            match event {
                Event::Delivered { port, ticket } | Event::Lost { ticket, port: Some(port), .. } => {
                    let ports = open.get_mut(ticket).expect("nothing follows `Done`");
                    let place = ports.iter().position(|open| open == port);
                    ports.remove(place.expect("one outcome for each copy"));
                }
                Event::Lost { ticket, port: None, .. } => open.get_mut(ticket).unwrap().clear(),
                Event::Done { ticket } => prop_assert_eq!(open.remove(ticket), Some(vec![])),
                Event::Free(_) => {}
            }
        }
        prop_assert_eq!(open, BTreeMap::new());
        prop_assert!((0..plan.ports).all(|port| medium.is_free(port)));
    }

    #[test]
    fn frames_are_never_early_overlapping_or_reordered(
        plan in any_plan(), arrivals in any_arrivals(), seed: u64,
    ) {
        let arrivals = within(&plan, &arrivals);
        let mut medium = Medium::new(&plan, seed).unwrap();
        let events = drive(&mut medium, plan.ports, &arrivals, 1, |_, _| {});

        // Of each direction of a cable, of each output of a switch, of the whole bus: the last delivery.
        let mut last_on_line: BTreeMap<Port, (u32, Instant)> = BTreeMap::new();
        let mut last_of_pair: BTreeMap<(Port, Port), u32> = BTreeMap::new();
        let hops = if plan.topology == Topology::Switch { 2 } else { 1 };
        let gap_ns = 96_000_000_000 / plan.rate_bps.unwrap();
        for (delivered_at, event) in events {
            let Event::Delivered { port, ticket } = event else { continue };
            let arrival = &arrivals[ticket as usize];
            let on_the_wire_ns = frame_ns(&plan, arrival.padded_bytes());
            let least_ns = hops * on_the_wire_ns + plan.propagation_ns + plan.delay_ns;
            prop_assert!(delivered_at >= arrival.at.plus_nanos(least_ns));

            let line = if plan.topology == Topology::Bus { 0 } else { port };
            if let Some((last, last_at)) = last_on_line.insert(line, (ticket, delivered_at))
                && last != ticket
            {
                // Both ends are rounded up to whole nanoseconds.
                let apart_ns = delivered_at.nanos_since(last_at) + 1;
                prop_assert!(apart_ns >= gap_ns + on_the_wire_ns, "{last} and {ticket}");
            }
            // Tickets grow in the order of arrival.
            let last = last_of_pair.insert((arrival.source, port), ticket);
            prop_assert!(last < Some(ticket));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_events(
        plan in any_plan(), arrivals in any_arrivals(), seed: u64,
    ) {
        let arrivals = within(&plan, &arrivals);
        let run = || {
            let mut medium = Medium::new(&plan, seed).unwrap();
            let events = drive(&mut medium, plan.ports, &arrivals, 1, |_, _| {});
            (events, medium.counts().clone())
        };
        prop_assert_eq!(run(), run());
    }
}
