//! Results of programs and their world, as messages.

use lanlab_sim::programs::HostNode;
use lanlab_sim::programs::echo::{Answered, Requested};
use lanlab_sim::{Host, World};
use lanlab_workloads::echo;

use crate::messages::{
    CpuTime, EchoRequested, EchoResponded, EndedBy, SimulatedFacts, SimulatedHostFacts,
    SimulatedPortFacts, SimulatedSent, SimulatedStoreFacts, SimulationEnd,
};
use crate::workloads::echo::requested as echo_requested;

pub fn facts(
    world: &World<HostNode>,
    hosts: u16,
    stores: &[Option<SimulatedStoreFacts>],
    timed: Vec<SimulatedSent>,
    end: SimulationEnd,
) -> SimulatedFacts {
    let facts = world.facts();
    let host = |(id, host): (u16, &lanlab_sim::HostFacts)| {
        let (unclaimed_frames, socket_dropped_datagrams) = world.host(id).with_node(|node, _| {
            (node.ip.interface.unclaimed_frames(), node.ip.interface.dropped_datagrams())
        });
        SimulatedHostFacts {
            interrupt_ns: host.cpu.interrupt_ns,
            protocol_ns: host.cpu.protocol_ns,
            program_ns: host.cpu.program_ns,
            frozen_ns: (host.frozen_ns > 0).then_some(host.frozen_ns),
            received_frames: host.frames_arrived,
            sent_frames: host.frames_sent,
            ring_dropped_frames: host.ring_drops,
            queue_dropped_frames: host.queue_drops,
            socket_dropped_datagrams,
            unclaimed_frames,
            store: stores.get(usize::from(id)).copied().flatten(),
        }
    };
    let port = |port: &lanlab_medium::PortCounts| SimulatedPortFacts {
        offered_frames: port.offered_frames,
        offered_bytes: port.offered_bytes(),
        delivered_frames: port.delivered_copies,
        lost_chance_frames: port.lost_chance,
        lost_excessive_collisions_frames: port.lost_excessive_collisions,
        lost_switch_queue_frames: port.lost_switch_queue,
        collisions: port.collisions,
        deferrals: port.deferrals,
        busy_ns: port.busy_ns,
    };
    SimulatedFacts {
        virtual_ns: facts.now.as_nanos(),
        events: facts.events,
        ended: end,
        hosts: (0..hosts).zip(&facts.hosts).map(host).collect(),
        medium: facts.medium.ports.iter().map(port).collect(),
        timed,
        bus_busy_ns: facts.medium.busy_ns,
        collisions: facts.medium.collisions,
    }
}

pub fn cpu(host: &Host<HostNode>) -> CpuTime {
    let cpu = host.cpu();
    let system_ns = cpu.interrupt_ns + cpu.protocol_ns;
    CpuTime { user_ns: cpu.program_ns, system_ns, ..CpuTime::default() }
}

pub fn requested(plan: &echo::Plan, requested: Requested, cpu: CpuTime) -> EchoRequested {
    let Requested { ended_by, counts, tcp } = requested;
    EchoRequested { tcp, ..echo_requested(plan, 0, ended_by, &counts, cpu) }
}

pub fn responded(plan: &echo::Plan, answered: &Answered, cpu: CpuTime) -> EchoResponded {
    EchoResponded {
        ended_by: EndedBy::Finished,
        receive: plan.receive,
        answered_messages: answered.answered.get(),
        refused_messages: answered.refused.get(),
        foreign_datagrams: answered.foreign.get(),
        cpu,
    }
}
