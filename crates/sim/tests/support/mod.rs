//! Worlds and programs that the tests share.
#![allow(dead_code, reason = "each test uses some of it")]

pub mod datagrams;

use lanlab_medium::{LossPlan, Plan, Random, Topology};
use lanlab_sim::{Bounds, Host, Mac, Machine, World, WorldPlan};
use lanlab_units::Instant;

use datagrams::{Datagrams, RECEIVED, ROOM};

pub const SECOND_NS: u64 = 1_000_000_000;
pub const MILLISECOND_NS: u64 = 1_000_000;

/// More than any test needs.
pub const BOUNDS: Bounds =
    Bounds { events: 1_000_000_000, until: Instant::from_nanos(1_000_000 * SECOND_NS) };

pub fn medium(topology: Topology, ports: u16, rate_bps: u64) -> Plan {
    Plan {
        topology,
        rate_bps: Some(rate_bps),
        ports,
        propagation_ns: if topology == Topology::Bus { 2_500 } else { 0 },
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 1 << 20,
    }
}

/// A world of machines whose nodes have socket buffers of 64 KiB.
pub fn world(medium: Plan, machines: Vec<Machine>, seed: u64) -> World<Datagrams> {
    let plan = WorldPlan { medium, machines };
    World::new(&plan, seed, |_, mac| Datagrams::new(mac, 1 << 16, 1 << 16)).unwrap()
}

pub async fn send(host: &Host<Datagrams>, to: Mac, message: &[u8]) {
    host.call(host.send_call(), message.len()).await;
    host.until(ROOM, "room to send", |node, _| node.send(to, message).then_some(())).await;
}

pub async fn receive(host: &Host<Datagrams>) -> (Mac, usize) {
    let bytes = host.until(RECEIVED, "a message", |node, _| node.next_bytes()).await;
    host.call(host.receive_call(), bytes).await;
    host.with_node(|node, _| node.receive(|from, message| (from, message.len()))).unwrap()
}

/// Exponentially distributed with this mean, in whole nanoseconds.
pub fn exponential_ns(random: &mut Random, mean_ns: f64) -> u64 {
    (-(1.0 - random.unit()).ln() * mean_ns).round() as u64
}

/// Asserts that a value is what theory says, to this share of it.
#[track_caller]
pub fn assert_within(tolerance: f64, value: f64, theory: f64) {
    let error = value / theory - 1.0;
    assert!(error.abs() <= tolerance, "{value} for {theory}: {:.3} % off", error * 100.0);
}
