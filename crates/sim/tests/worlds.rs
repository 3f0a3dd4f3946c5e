//! Worlds as a whole: times of frames, ends, and what a deadlock says.

mod support;

use std::cell::RefCell;
use std::rc::Rc;

use lanlab_medium::{Plan, Topology};
use lanlab_sim::{
    Bounds, Cost, CpuFacts, Ended, HostFacts, Key, Machine, Node, World, WorldPlan, mac_of,
};
use lanlab_units::Instant;

use support::{BOUNDS, MILLISECOND_NS, SECOND_NS, medium, receive, send, world};

fn two(machine: &Machine) -> Vec<Machine> {
    vec![machine.clone(), machine.clone()]
}

#[test]
fn an_echo_takes_two_frames_and_each_cost_once() {
    let cost = |each_ns| Cost { each_ns, per_byte_ps: 0 };
    let machine = Machine {
        interrupt: cost(1_000),
        protocol: cost(10_000),
        transmit: cost(100_000),
        receive_call: cost(1_000_000),
        send_call: Cost { each_ns: 0, per_byte_ps: 1_000_000 },
        ..Machine::default()
    };
    let world = world(medium(Topology::Cable, 2, 10_000_000), two(&machine), 1);
    let (a, b) = (world.host(0), world.host(1));
    let done = {
        let a = a.clone();
        a.clone().spawn("requester", async move {
            send(&a, mac_of(1), &[0; 100]).await;
            receive(&a).await;
            a.now().as_nanos()
        })
    };
    b.clone().spawn_service("responder", async move {
        loop {
            let (from, bytes) = receive(&b).await;
            send(&b, from, &vec![0; bytes]).await;
        }
    });
    assert_eq!(world.run(&BOUNDS), Ended::ProgramsDone);
    let wire_ns = (8 + 14 + 2 + 100 + 4) * 800;
    let way_ns = 100_000 + 100_000 + wire_ns + 1_000 + 10_000 + 1_000_000;
    assert_eq!(done.take(), Some(2 * way_ns));
    let facts = world.facts();
    for host in &facts.hosts {
        assert_eq!(
            (host.cpu.interrupt_ns, host.cpu.protocol_ns, host.cpu.program_ns),
            (1_000, 110_000, 1_100_000)
        );
        assert_eq!((host.frames_sent, host.frames_arrived, host.frames_handled), (1, 1, 1));
    }
    assert_eq!(world.frames_under_way(), 0);
}

#[test]
fn a_deadlocked_world_names_the_waiting_programs() {
    let world = world(medium(Topology::Cable, 2, 10_000_000), two(&Machine::default()), 1);
    let (a, b) = (world.host(0), world.host(1));
    a.clone().spawn("client on host 0", async move {
        a.clock().sleep_ns(MILLISECOND_NS).await;
        receive(&a).await;
    });
    b.clone().spawn("server on host 1", async move {
        receive(&b).await;
    });
    let Ended::Deadlock(waiting) = world.run(&BOUNDS) else { panic!("no deadlock") };
    let waiting: Vec<_> =
        waiting.iter().map(|program| (&*program.name, program.waits_for)).collect();
    assert_eq!(waiting, [("client on host 0", "a message"), ("server on host 1", "a message")]);
    assert_eq!(world.facts().now.as_nanos(), MILLISECOND_NS);
}

#[test]
fn worlds_stop_at_their_bounds_and_continue_when_raised() {
    let world = world(medium(Topology::Cable, 2, 10_000_000), two(&Machine::default()), 1);
    let a = world.host(0);
    let steps = Rc::new(RefCell::new(0_u64));
    let counted = Rc::clone(&steps);
    a.clone().spawn("ticking", async move {
        for _ in 0..1000 {
            a.clock().sleep_ns(MILLISECOND_NS).await;
            *counted.borrow_mut() += 1;
        }
    });
    let until = Instant::from_nanos(10 * MILLISECOND_NS);
    assert_eq!(world.run(&Bounds { until, ..BOUNDS }), Ended::Time);
    assert_eq!((*steps.borrow(), world.facts().now), (10, until));
    let events = world.facts().events + 20;
    assert_eq!(world.run(&Bounds { events, ..BOUNDS }), Ended::Events);
    assert_eq!(world.facts().events, events);
    assert_eq!(*steps.borrow(), 20);
    assert_eq!(world.run(&BOUNDS), Ended::ProgramsDone);
    assert_eq!(*steps.borrow(), 1000);
}

#[test]
fn the_event_bound_stops_programs_that_never_wait() {
    let world = world(medium(Topology::Cable, 2, 10_000_000), two(&Machine::default()), 1);
    let a = world.host(0);
    a.clone().spawn("endless", async move {
        loop {
            let mut is_second = false;
            std::future::poll_fn(|context| {
                context.waker().wake_by_ref();
                let ready = std::mem::replace(&mut is_second, true);
                if ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
            })
            .await;
        }
    });
    assert_eq!(world.run(&Bounds { events: 1000, ..BOUNDS }), Ended::Events);
    assert_eq!(world.facts().now, Instant::ZERO);
}

#[test]
fn the_buffer_blocks_a_nonstop_sender_without_loss() {
    let world = world(medium(Topology::Cable, 2, 10_000_000), two(&Machine::default()), 1);
    let (a, b) = (world.host(0), world.host(1));
    a.clone().spawn("sender", async move {
        for _ in 0..1000 {
            send(&a, mac_of(1), &[0; 1000]).await;
        }
    });
    let received = b.clone().spawn("receiver", async move {
        for _ in 0..1000 {
            receive(&b).await;
        }
        b.now().as_nanos()
    });
    assert_eq!(world.run(&BOUNDS), Ended::ProgramsDone);
    let (frame_bytes, gap_bytes) = (8 + 14 + 2 + 1000 + 4, 12);
    assert_eq!(received.take(), Some((1000 * (frame_bytes + gap_bytes) - gap_bytes) * 800));
}

#[test]
fn a_slow_adapter_sends_at_its_share_of_the_rate() {
    let machine = Machine { adapter_rate_ratio: 0.8, ..Machine::default() };
    let world = world(medium(Topology::Cable, 2, 10_000_000), two(&machine), 1);
    let (a, b) = (world.host(0), world.host(1));
    a.clone().spawn("sender", async move {
        for _ in 0..101 {
            send(&a, mac_of(1), &[0; 1000]).await;
        }
    });
    let spacing = b.clone().spawn("receiver", async move {
        receive(&b).await;
        let first = b.now();
        for _ in 0..100 {
            receive(&b).await;
        }
        b.now().nanos_since(first) / 100
    });
    assert_eq!(world.run(&BOUNDS), Ended::ProgramsDone);
    assert_eq!(spacing.take(), Some((8 + 14 + 2 + 1000 + 4 + 12) * 800 * 10 / 8));
}

/// Wants to send at once, even if the adapter is full.
struct Impatient {
    left: u32,
}

impl Node for Impatient {
    fn handle_frame(&mut self, _now: Instant, _frame: &[u8]) {}

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&mut self) -> Option<Instant> {
        (self.left > 0).then_some(Instant::ZERO)
    }

    fn poll_transmit(&mut self, _now: Instant, into: &mut Vec<u8>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        into.extend_from_slice(&mac_of(1));
        into.resize(1514, 0);
        true
    }

    fn poll_event(&mut self) -> Option<Key> {
        None
    }
}

#[test]
fn nodes_waiting_for_room_cause_no_events() {
    let machine = Machine { transmit_queue_frames: 1, ..Machine::default() };
    let plan =
        WorldPlan { medium: medium(Topology::Cable, 2, 10_000_000), machines: two(&machine) };
    let world = World::new(&plan, 1, |_, _| Impatient { left: 0 }).unwrap();
    let host = world.host(0);
    host.clone().spawn("sender", async move {
        host.with_node(|node, _| node.left = 100);
        host.clock().sleep_ns(SECOND_NS).await;
    });
    assert_eq!(world.run(&BOUNDS), Ended::ProgramsDone);
    let facts = world.facts();
    assert_eq!(facts.hosts[0].frames_sent, 100);
    assert!(facts.events < 1000, "{} events", facts.events);
}

#[test]
fn programs_end_with_their_world() {
    let world = world(medium(Topology::Cable, 2, 10_000_000), two(&Machine::default()), 1);
    let kept = Rc::new(());
    for host in [0, 1] {
        let (host, kept) = (world.host(host), Rc::clone(&kept));
        host.clone().spawn("waiting and working", async move {
            host.compute(MILLISECOND_NS).await;
            receive(&host).await;
            drop(kept);
        });
    }
    let until = Instant::from_nanos(MILLISECOND_NS / 2);
    assert_eq!(world.run(&Bounds { until, ..BOUNDS }), Ended::Time);
    assert_eq!(Rc::strong_count(&kept), 3);
    drop(world);
    assert_eq!(Rc::strong_count(&kept), 1);
}

#[test]
fn impossible_worlds_are_refused() {
    let build = |ports: u16, machines: Vec<Machine>| {
        let plan = WorldPlan { medium: medium(Topology::Switch, ports, 10_000_000), machines };
        World::new(&plan, 1, |_, _| Impatient { left: 0 }).err().map(|bad| bad.to_string())
    };
    let good = Machine::default();
    assert_eq!(build(2, two(&good)), None);
    assert_eq!(build(3, two(&good)), Some("2 machines on a medium with 3 ports".to_owned()));
    assert_eq!(build(1, vec![good.clone()]), Some("a switch has 2 to 256 ports, not 1".to_owned()));
    let bad = Machine { jitter_ratio: 1.5, ..good };
    let text = "request.value: `machine.jitter_ratio`: found 1.5; allowed: 0 to 1";
    assert_eq!(build(2, two(&bad)), Some(text.to_owned()));
}

#[test]
fn world_memory_covers_all_frames_it_can_hold() {
    let most = |switch_queue_bytes, delay_ns, on_medium| {
        let medium =
            Plan { switch_queue_bytes, delay_ns, ..medium(Topology::Switch, 2, 10_000_000) };
        WorldPlan { medium, machines: two(&Machine::default()) }.memory_bytes(on_medium)
    };
    let plan = |switch_queue_bytes, delay_ns| most(switch_queue_bytes, delay_ns, u64::MAX);
    // Of each host: 16 in its ring, 50 in its queue, 32 to be sent, one on its processor, one that the switch
    // sends and two that begin and end on the wire, of 2 KiB each; and 16 KiB for what it is.
    let least = 2 * ((16 + 50 + 32 + 1 + 1 + 2) * 2048 + 16_384);
    assert_eq!(plan(0, 0), least);
    // 100 of the shortest, 72 bytes each, wait in the switch; 17,361 are on a way of a second.
    assert_eq!(plan(7_200, 0), least + 2 * 100 * 2048);
    assert_eq!(plan(0, SECOND_NS), least + 2 * 17_361 * 2048);
    assert!(plan(u32::MAX, u64::MAX) > 1 << 60);
    // Ended before a hundred frames are on its medium, 6 of which it has anyway.
    assert_eq!(most(u32::MAX, u64::MAX, 100), least + 94 * 2048);
}

/// Of 20 ms of work 10 are done when the host stops for 5.
#[test]
fn a_frozen_host_resumes_and_its_pause_is_not_cpu_time() {
    let world = world(medium(Topology::Cable, 2, 10_000_000), two(&Machine::default()), 1);
    let host = world.host(0);
    host.freeze(10 * MILLISECOND_NS, 5 * MILLISECOND_NS);
    let ended = host.clone().spawn("work", async move {
        host.compute(20 * MILLISECOND_NS).await;
        host.now().as_nanos()
    });
    let counted = |ended: &Ended, stands_ms: u64, worked_ms: u64, until_ms: u64| {
        let until = Instant::from_nanos(until_ms * MILLISECOND_NS);
        assert_eq!(world.run(&Bounds { until, ..BOUNDS }), *ended);
        let HostFacts { cpu, frozen_ns, .. } = world.facts().hosts.swap_remove(0);
        let program_ns = worked_ms * MILLISECOND_NS;
        let expected = CpuFacts { interrupt_ns: 0, protocol_ns: 0, program_ns };
        assert_eq!((cpu, frozen_ns), (expected, stands_ms * MILLISECOND_NS));
    };
    counted(&Ended::Time, 0, 9, 9);
    counted(&Ended::Time, 2, 10, 12);
    counted(&Ended::Time, 5, 11, 16);
    counted(&Ended::ProgramsDone, 5, 20, 99);
    assert_eq!(ended.take(), Some(25 * MILLISECOND_NS));
}

#[test]
fn abandoned_work_completes_before_the_next() {
    let world = world(medium(Topology::Cable, 2, 10_000_000), two(&Machine::default()), 1);
    let host = world.host(0);
    let ended = host.clone().spawn("work", async move {
        let mut ended_ms = Vec::new();
        for _ in 0..3 {
            let mut given_up = Box::pin(host.compute(10 * MILLISECOND_NS));
            let once = std::future::poll_fn(|context| {
                assert!(given_up.as_mut().poll(context).is_pending());
                std::task::Poll::Ready(())
            });
            once.await;
            drop(given_up);
            host.compute(5 * MILLISECOND_NS).await;
            ended_ms.push(host.now().as_nanos() / MILLISECOND_NS);
        }
        ended_ms
    });
    assert_eq!(world.run(&BOUNDS), Ended::ProgramsDone);
    assert_eq!(ended.take(), Some(vec![15, 30, 45]));
    assert_eq!(world.facts().hosts[0].cpu.program_ns, 45 * MILLISECOND_NS);
}
