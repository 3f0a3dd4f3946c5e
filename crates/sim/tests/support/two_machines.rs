//! A server and a client on a cable of 10 Mbit/s, for tests of what they store and say.

use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_sim::programs::{HostNode, IpNode};
use lanlab_sim::{HostId, Machine, World, WorldPlan};
use plain_tcp::TCP;

#[path = "plain_tcp.rs"]
mod plain_tcp;

/// The world of both, which cost what this machine does; each has what `node` makes of its number and its IP.
pub fn two_machines(
    machine: &Machine,
    node: impl Fn(HostId, IpNode) -> HostNode,
) -> World<HostNode> {
    let medium = Plan {
        topology: Topology::Cable,
        rate_bps: Some(10_000_000),
        ports: 2,
        propagation_ns: 0,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 0,
    };
    let machines = [machine.clone(), machine.clone()];
    let of_host = |host, _| node(host, IpNode::new(host, 2, TCP, 1));
    World::new(&WorldPlan { medium, machines: machines.to_vec() }, 1, of_host).unwrap()
}
