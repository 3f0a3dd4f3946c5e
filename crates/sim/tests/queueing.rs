//! Waiting times and throughput against queueing theory, over long virtual times.

mod support;

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_medium::{Plan, Random, Topology};
use lanlab_sim::{Bounds, Cost, Ended, Machine, World, mac_of};
use lanlab_units::Instant;

use support::datagrams::{Datagrams, RECEIVED};
use support::{BOUNDS, MILLISECOND_NS, SECOND_NS, assert_within, exponential_ns, medium, world};

fn hosts(hosts: u16) -> World<Datagrams> {
    let machines = (0..hosts).map(|_| Machine::default());
    world(medium(Topology::Switch, hosts, 10_000_000), machines.collect(), 1)
}

/// Customers come at random to a processor that takes a random time for each. The mean of theirs, waiting
/// and served, is `1 / (mu - lambda)`; and each has the time that Lindley's recursion gives it.
#[test]
fn m_m_1_times_match_theory_and_the_lindley_recursion() {
    const CUSTOMERS: u64 = 4_000_000;
    let (mean_gap_ns, mean_service_ns) = (2_000_000.0, 1_000_000.0);
    let world = hosts(2);
    let host = world.host(0);
    let times = Rc::new(RefCell::new(Vec::new()));
    let expected = Rc::new(RefCell::new(Vec::new()));
    let (kept, recursion) = (Rc::clone(&times), Rc::clone(&expected));
    host.clone().spawn("arrivals", async move {
        let mut random = Random::new(7, 0);
        let mut free_at = 0;
        for _ in 0..CUSTOMERS {
            host.clock().sleep_ns(exponential_ns(&mut random, mean_gap_ns)).await;
            let service_ns = exponential_ns(&mut random, mean_service_ns);
            let arrived_at = host.now();
            free_at = free_at.max(arrived_at.as_nanos()) + service_ns;
            recursion.borrow_mut().push(free_at - arrived_at.as_nanos());
            let (customer, kept) = (host.clone(), Rc::clone(&kept));
            host.spawn("customer", async move {
                customer.compute(service_ns).await;
                kept.borrow_mut().push(customer.now().nanos_since(arrived_at));
            });
        }
    });
    assert_eq!(world.run(&BOUNDS), Ended::ProgramsDone);
    assert!(*times.borrow() == *expected.borrow(), "not as Lindley's recursion");
    let mean_ns = times.borrow().iter().sum::<u64>() as f64 / CUSTOMERS as f64;
    assert_within(0.005, mean_ns, 1.0 / (1.0 / mean_service_ns - 1.0 / mean_gap_ns));
    let busy_ns = world.facts().hosts[0].cpu.program_ns as f64;
    assert_within(0.005, busy_ns / world.facts().now.as_nanos() as f64, 0.5);
}

/// Frames come at random, each of which costs the same: they wait `rho D / (2 (1 - rho))`.
#[test]
fn m_d_1_waits_match_pollaczek_khinchine() {
    const FRAMES: u64 = 3_000_000;
    const SERVICE_NS: u64 = MILLISECOND_NS;
    for load in [0.3, 0.6] {
        let receiver = Machine {
            protocol: Cost { each_ns: SERVICE_NS, per_byte_ps: 0 },
            queue_frames: 65_536,
            ..Machine::default()
        };
        let plan = Plan { rate_bps: None, ..medium(Topology::Cable, 2, 1_000_000) };
        let world = world(plan, vec![Machine::default(), receiver], 1);
        let (sender, receiver) = (world.host(0), world.host(1));
        sender.clone().spawn("sender", async move {
            let mut random = Random::new(11, 0);
            for _ in 0..FRAMES {
                let gap_ns = exponential_ns(&mut random, SERVICE_NS as f64 / load);
                sender.clock().sleep_ns(gap_ns).await;
                let sent_at = sender.now().as_nanos().to_be_bytes();
                sender.with_node(|node, _| assert!(node.send(mac_of(1), &sent_at)));
            }
        });
        let mean = receiver.clone().spawn("receiver", async move {
            let mut sum_ns = 0_u64;
            for _ in 0..FRAMES {
                let time = |node: &mut Datagrams, now: Instant| {
                    node.receive(|_, message| {
                        let sent_at = u64::from_be_bytes(message.try_into().unwrap());
                        now.as_nanos() - sent_at
                    })
                };
                sum_ns += receiver.until(RECEIVED, "a message", time).await;
            }
            sum_ns as f64 / FRAMES as f64
        });
        assert_eq!(world.run(&BOUNDS), Ended::ProgramsDone);
        let theory_ns = SERVICE_NS as f64 * (1.0 + load / (2.0 * (1.0 - load)));
        assert_within(0.005, mean.take().unwrap(), theory_ns);
    }
}

/// Throughput of a closed network by exact mean value analysis (M. Reiser and S. Lavenberg, J. ACM 27(2),
/// 1980): customers a time, for these times at each queue and this time of thought.
fn mva_throughput(customers: u32, demands: &[f64], think: f64) -> f64 {
    let mut lengths = vec![0.0; demands.len()];
    let mut throughput = 0.0;
    for present in 1..=customers {
        let times: Vec<f64> =
            demands.iter().zip(&lengths).map(|(demand, length)| demand * (1.0 + length)).collect();
        throughput = f64::from(present) / (think + times.iter().sum::<f64>());
        lengths = times.iter().map(|time| throughput * time).collect();
    }
    throughput
}

#[test]
fn mean_value_analysis_matches_the_textbook() {
    // Two equal queues, no thought: N / (N + 1) of a queue's rate.
    assert_within(1e-12, mva_throughput(3, &[1.0, 1.0], 0.0), 0.75);
}

/// Customers think, and then need the processors of two hosts, one after the other.
#[test]
fn closed_network_throughput_matches_mean_value_analysis() {
    let (first_ns, second_ns, think_ns) = (2e6, 3e6, 20e6);
    for customers in [1, 4, 10, 25] {
        let world = hosts(2);
        let cycles = Rc::new(RefCell::new(0_u64));
        for customer in 0..customers {
            let (first, second, cycles) = (world.host(0), world.host(1), Rc::clone(&cycles));
            first.clone().spawn(format!("customer {customer}"), async move {
                let mut random = Random::new(3, u64::from(customer));
                loop {
                    first.clock().sleep_ns(exponential_ns(&mut random, think_ns)).await;
                    first.compute(exponential_ns(&mut random, first_ns)).await;
                    second.compute(exponential_ns(&mut random, second_ns)).await;
                    *cycles.borrow_mut() += 1;
                }
            });
        }
        let theory = mva_throughput(customers, &[first_ns / 1e9, second_ns / 1e9], think_ns / 1e9);
        let seconds = (1_000_000.0 / theory) as u64;
        let until = Instant::from_nanos(seconds * SECOND_NS);
        assert_eq!(world.run(&Bounds { until, ..BOUNDS }), Ended::Time);
        assert_within(0.005, *cycles.borrow() as f64 / seconds as f64, theory);
    }
}
