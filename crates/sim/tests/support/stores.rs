//! A machine with a store, for tests of what files cost.

use lanlab_messages::{SimulatedDisk, SimulatedStore};
use lanlab_sim::programs::HostNode;
use lanlab_sim::{Machine, World};

#[path = "two_machines.rs"]
mod two_machines;

use two_machines::two_machines;

pub const MS: u64 = 1_000_000;
pub const BLOCK: u64 = 4096;

/// A disk that takes 1 ms for each access and nothing for bytes.
pub fn plan() -> SimulatedStore {
    SimulatedStore {
        block_bytes: BLOCK as u32,
        write_behind_ns: 100 * MS,
        disk: SimulatedDisk {
            cylinders: 100,
            heads: 2,
            sectors_per_track: 100,
            overhead_ns: MS,
            ..SimulatedDisk::default()
        },
        ..SimulatedStore::default()
    }
}

pub fn world() -> World<HostNode> {
    two_machines(&Machine::default(), |_, ip| HostNode { ip, station: None })
}
