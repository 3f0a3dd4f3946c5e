//! Conversion of requested machines for the simulator.

#[cfg(feature = "services")]
use lanlab_sim::file_service::{DiskPlan, Order, StorePlan};
use lanlab_sim::{Cost, Machine, WorldPlan};

use crate::messages::{Failure, Simulate, SimulatedCost, SimulatedMachine};
#[cfg(feature = "services")]
use crate::messages::{SimulatedDiskOrder, SimulatedStore};
use crate::workloads::setup::check_range;

const MOST_COST_NS: u64 = 10_000_000_000;
const MOST_COST_PER_BYTE_PS: u64 = 1_000_000_000;

pub fn world_plan(request: &Simulate, medium: lanlab_medium::Plan) -> WorldPlan {
    let machines = (1..).zip(&request.world.machines);
    WorldPlan { medium, machines: machines.map(|(number, each)| machine(number, each)).collect() }
}

#[cfg(feature = "services")]
pub fn store_plan(asked: &SimulatedStore) -> StorePlan {
    let disk = asked.disk;
    StorePlan {
        open: cost(asked.open),
        read: cost(asked.read),
        write: cost(asked.write),
        close: cost(asked.close),
        other: cost(asked.other),
        overlaps: asked.overlaps,
        block_bytes: asked.block_bytes,
        cache_blocks: asked.cache_blocks,
        is_cache_of_client: asked.cache_of_client,
        read_ahead_blocks: asked.read_ahead_blocks,
        write_behind_blocks: asked.write_behind_blocks,
        write_behind_ns: asked.write_behind_ns,
        writes_full: asked.writes_full,
        keeps_parts: asked.keeps_parts,
        name_sectors: asked.name_sectors,
        change_sectors: asked.change_sectors,
        disk: DiskPlan {
            cylinders: disk.cylinders,
            heads: disk.heads,
            sectors_per_track: disk.sectors_per_track,
            interleave: disk.interleave,
            turn_ns: disk.turn_ns,
            seek_each_ns: disk.seek_each_ns,
            seek_per_root_ns: disk.seek_per_root_ns,
            overhead_ns: disk.overhead_ns,
            per_byte_ps: disk.per_byte_ps,
            order: match disk.order {
                SimulatedDiskOrder::FirstCome => Order::FirstCome,
                SimulatedDiskOrder::Elevator => Order::Elevator,
            },
            verifies: disk.verifies,
        },
    }
}

pub fn check_cost(key: &str, cost: SimulatedCost) -> Result<(), Failure> {
    let SimulatedCost { each_ns, per_byte_ps } = cost;
    check_range(&format!("{key}.each_ns"), each_ns, 0, MOST_COST_NS)?;
    check_range(&format!("{key}.per_byte_ps"), per_byte_ps, 0, MOST_COST_PER_BYTE_PS)
}

fn cost(cost: SimulatedCost) -> Cost {
    Cost { each_ns: cost.each_ns, per_byte_ps: cost.per_byte_ps }
}

fn machine(number: usize, asked: &SimulatedMachine) -> Machine {
    Machine {
        name: format!("machine {number}"),
        interrupt: cost(asked.interrupt),
        protocol: cost(asked.protocol),
        transmit: cost(asked.transmit),
        receive_call: cost(asked.receive_call),
        send_call: cost(asked.send_call),
        ring_frames: asked.ring_frames,
        queue_frames: asked.queue_frames,
        transmit_queue_frames: asked.transmit_queue_frames,
        adapter_rate_ratio: asked.adapter_rate_ratio,
        jitter_ratio: asked.jitter_ratio,
    }
}
