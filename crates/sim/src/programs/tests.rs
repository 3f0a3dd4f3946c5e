//! Waits and measurements of programs, on two hosts without costs.

use std::cell::Cell;
use std::rc::Rc;

use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_units::Instant;
use lanlab_workloads::stream::CpuMeter as _;
use plain_tcp::TCP;

use super::keys::NOTIFIED;
use super::{HostCpuMeter, HostNode, IpNode};
use crate::{Bounds, Ended, Machine, World, WorldPlan};

#[path = "../../tests/support/plain_tcp.rs"]
mod plain_tcp;

const MS: u64 = 1_000_000;
const FAR: Bounds = Bounds { events: 10_000, until: Instant::from_nanos(10_000 * MS) };

fn world() -> World<HostNode> {
    let medium = Plan {
        topology: Topology::Cable,
        rate_bps: None,
        ports: 2,
        propagation_ns: 0,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 0,
    };
    let machines = vec![Machine::default(); 2];
    let node = |host, _| HostNode { ip: IpNode::new(host, 2, TCP, 1), station: None };
    World::new(&WorldPlan { medium, machines }, 1, node).unwrap()
}

#[test]
fn programs_wait_for_a_change_or_their_deadline() {
    let world = world();
    let (host, other) = (world.host(0), world.host(0));
    let changed = Rc::new(Cell::new(false));
    let change = Rc::clone(&changed);
    other.clone().spawn_service("changing", async move {
        for at_ms in [30, 230, 420] {
            other.clock().sleep_until(Instant::from_nanos(at_ms * MS)).await;
            change.set(true);
            other.with_node(|node, _| node.ip.notify(NOTIFIED));
        }
    });
    host.clone().spawn("waiting", async move {
        for (until_ms, is_change, ended_ms) in [
            (Some(10), false, 10),
            (Some(20), false, 20),
            (Some(100), true, 30),
            (Some(200), false, 200),
            (Some(400), true, 230),
            (Some(250), false, 250),
            (Some(300), false, 300),
            // This time has already passed.
            (Some(299), false, 300),
            (None, true, 420),
        ] {
            let until = until_ms.map(|ms| Instant::from_nanos(ms * MS));
            let look = |_: &mut HostNode, _| changed.replace(false).then_some(());
            let found = host.until_or(NOTIFIED, "a change", until, look).await;
            let ended_ns = host.now().as_nanos();
            assert_eq!((found.is_some(), ended_ns), (is_change, ended_ms * MS), "{until_ms:?}");
        }
    });
    assert_eq!(world.run(&FAR), Ended::ProgramsDone);
}

#[test]
fn meters_sum_the_time_between_start_and_end() {
    let world = world();
    let host = world.host(0);
    host.clone().spawn("measured", async move {
        let mut meter = HostCpuMeter::new(&host);
        host.compute(3 * MS).await;
        meter.begin();
        host.compute(5 * MS).await;
        // A second start has no effect.
        meter.begin();
        host.compute(7 * MS).await;
        meter.end();
        host.compute(11 * MS).await;
        meter.end();
        meter.begin();
        host.compute(13 * MS).await;
        meter.end();
        assert_eq!((meter.used().user_ns, meter.used().system_ns), (25 * MS, 0));
    });
    assert_eq!(world.run(&FAR), Ended::ProgramsDone);
}
