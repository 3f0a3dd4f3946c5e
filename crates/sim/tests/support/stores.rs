//! A machine with a store, for tests of what files cost.

use lanlab_sim::file_service::{DiskPlan, Order, StorePlan};
use lanlab_sim::programs::HostNode;
use lanlab_sim::{Cost, Machine, World};

#[path = "two_machines.rs"]
mod two_machines;

use two_machines::two_machines;

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

pub fn world() -> World<HostNode> {
    two_machines(&Machine::without_costs("pc"), |_, ip| HostNode::of_ip(ip))
}
