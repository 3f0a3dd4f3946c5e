//! A machine with a store, for tests of what files cost.

use lanlab_medium::{LossPlan, Plan, Topology};
use lanlab_sim::file_service::{DiskPlan, Order, StorePlan};
use lanlab_sim::programs::{HostNode, IpNode};
use lanlab_sim::{Cost, Machine, World, WorldPlan};
use lanlab_stack::ip::TcpProfile;

pub const MS: u64 = 1_000_000;
pub const BLOCK: u64 = 4096;

/// A disk that takes 1 ms for each access and nothing for bytes.
pub fn plan() -> StorePlan {
    let cost = Cost::ZERO;
    StorePlan {
        open: cost,
        read: cost,
        write: cost,
        close: cost,
        other: cost,
        overlaps: true,
        block_bytes: BLOCK as u32,
        cache_blocks: 0,
        is_cache_of_client: false,
        read_ahead_blocks: 0,
        write_behind_blocks: 0,
        write_behind_ns: 100 * MS,
        writes_full: false,
        keeps_parts: false,
        name_sectors: 0,
        change_sectors: 0,
        disk: DiskPlan {
            cylinders: 100,
            heads: 2,
            sectors_per_track: 100,
            interleave: 1,
            turn_ns: 0,
            seek_each_ns: 0,
            seek_per_root_ns: 0,
            overhead_ns: MS,
            per_byte_ps: 0,
            order: Order::FirstCome,
            verifies: false,
        },
    }
}

/// Two machines, of which the first one has the store.
pub fn world() -> World<HostNode> {
    let medium = Plan {
        topology: Topology::Cable,
        rate_bps: Some(10_000_000),
        ports: 2,
        propagation_ns: 0,
        delay_ns: 0,
        loss: LossPlan::Never,
        switch_queue_bytes: 0,
    };
    let tcp = TcpProfile {
        mss_bytes: None,
        receive_buffer_bytes: 8192,
        send_buffer_bytes: 8192,
        send_rings: TcpProfile::LONG_SEND_RINGS,
        delayed_ack_ns: None,
        nagle: true,
    };
    let machines = ["server", "client"].map(Machine::without_costs).to_vec();
    let node = |host, _| HostNode::of_ip(IpNode::new(host, 2, tcp, 1));
    World::new(&WorldPlan { medium, machines }, 1, node).unwrap()
}
