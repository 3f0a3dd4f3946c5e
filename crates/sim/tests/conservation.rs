//! In every world, every frame that was offered ends as delivered, or as one named loss.

mod support;

use std::cell::Cell;
use std::rc::Rc;

use lanlab_medium::{LossPlan, Plan, Random, Topology};
use lanlab_sim::{BROADCAST, Cost, Ended, Machine, World, WorldPlan, mac_of};
use proptest::prelude::*;

use support::datagrams::{Datagrams, RECEIVED};
use support::{BOUNDS, MILLISECOND_NS, SECOND_NS, medium};

fn cost() -> impl Strategy<Value = Cost> {
    (prop_oneof![Just(0), 0_u64..2_000_000], 0_u64..500_000)
        .prop_map(|(each_ns, per_byte_ps)| Cost { each_ns, per_byte_ps })
}

fn machine() -> impl Strategy<Value = Machine> {
    let costs = (cost(), cost(), cost(), cost());
    let queues = (1_u32..4, 1_u32..6, 1_u32..4);
    (costs, queues, 0.2_f64..1.0, 0.0_f64..1.0).prop_map(
        |((interrupt, protocol, transmit, receive_call), queues, adapter_rate_ratio, jitter)| {
            Machine {
                interrupt,
                protocol,
                transmit,
                receive_call,
                ring_frames: queues.0,
                queue_frames: queues.1,
                transmit_queue_frames: queues.2,
                adapter_rate_ratio,
                jitter_ratio: jitter,
                ..Machine::default()
            }
        },
    )
}

fn world_plan() -> impl Strategy<Value = WorldPlan> {
    let topology = prop_oneof![Just(Topology::Cable), Just(Topology::Switch), Just(Topology::Bus)];
    (topology, 2_u16..8, machine(), machine(), 0.0_f64..0.3).prop_map(
        |(topology, ports, even, odd, ratio)| {
            let odd = if ratio < 0.1 { Machine::default() } else { odd };
            let ports = if topology == Topology::Cable { 2 } else { ports };
            let medium = Plan {
                loss: LossPlan::Random { ratio },
                switch_queue_bytes: 3000,
                ..medium(topology, ports, 10_000_000)
            };
            let machines = (0..ports).map(|host| if host % 2 == 0 { &even } else { &odd });
            WorldPlan { medium, machines: machines.cloned().collect() }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn every_frame_is_delivered_or_counted_as_one_loss(
        plan in world_plan(),
        pause_bits in 3_u32..18,
        seed: u64,
    ) {
        let world: World<Datagrams> =
            World::new(&plan, seed, |_, mac| Datagrams::new(mac, 3000, 3000)).unwrap();
        let hosts = plan.medium.ports;
        let (accepted, taken) = (Rc::new(Cell::new(0_u64)), Rc::new(Cell::new(0_u64)));
        for id in 0..hosts {
            let (host, accepted) = (world.host(id), Rc::clone(&accepted));
            host.clone().spawn("sender", async move {
                let mut random = Random::new(seed, u64::from(id));
                for _ in 0..200 {
                    host.clock().sleep_ns(random.bits(pause_bits)).await;
                    let to = match random.bits(3) {
                        0 => BROADCAST,
                        1 => [0x02, 0, 0, 0, 0, 1],
                        other => mac_of((other as u16) % hosts),
                    };
                    let message = vec![0; random.bits(10) as usize];
                    if host.with_node(|node, _| node.send(to, &message)) {
                        accepted.set(accepted.get() + 1);
                    }
                }
                // All that is under way arrives.
                host.clock().sleep_ns(1000 * SECOND_NS).await;
            });
            let (host, taken) = (world.host(id), Rc::clone(&taken));
            host.clone().spawn_service("receiver", async move {
                loop {
                    let bytes = host.until(RECEIVED, "a message", |node, _| node.next_bytes()).await;
                    host.call(host.receive_call(), bytes).await;
                    host.with_node(|node, _| node.receive(|_, _| ()));
                    taken.set(taken.get() + 1);
                    host.clock().sleep_ns(MILLISECOND_NS).await;
                }
            });
        }
        prop_assert_eq!(world.run(&BOUNDS), Ended::ProgramsDone);
        prop_assert_eq!(world.frames_under_way(), 0);
        let facts = world.facts();
        let medium = facts.medium.total();
        let sum = |of: fn(&lanlab_sim::HostFacts) -> u64| facts.hosts.iter().map(of).sum::<u64>();
        prop_assert_eq!(accepted.get(), sum(|host| host.frames_sent));
        prop_assert_eq!(medium.offered_frames, sum(|host| host.frames_sent));
        prop_assert_eq!(
            medium.offered_copies,
            medium.delivered_copies
                + medium.lost_chance
                + medium.lost_excessive_collisions
                + medium.lost_switch_queue
        );
        prop_assert_eq!(medium.delivered_copies, sum(|host| host.frames_arrived));
        let mut read_or_dropped = taken.get();
        for (id, host) in (0..).zip(&facts.hosts) {
            let ends = host.ring_drops + host.queue_drops + host.frames_handled;
            prop_assert_eq!(host.frames_arrived, ends);
            prop_assert_eq!(host.frames_held, 0);
            read_or_dropped += world.host(id).with_node(|node, _| {
                assert_eq!((node.waiting(), node.unknown()), (0, 0));
                node.drops()
            });
        }
        prop_assert_eq!(sum(|host| host.frames_handled), read_or_dropped);
    }
}
