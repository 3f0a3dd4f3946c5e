//! The machines of a request as the simulator takes them.

use lanlab_sim::{Cost, Machine, WorldPlan};

use crate::messages::{Simulate, SimulatedCost, SimulatedMachine};

/// The machines of a request, on its medium.
pub fn world_plan(request: &Simulate, medium: lanlab_medium::Plan) -> WorldPlan {
    let machines = (1..).zip(&request.world.machines);
    WorldPlan { medium, machines: machines.map(|(number, each)| machine(number, each)).collect() }
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
