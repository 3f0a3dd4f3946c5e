//! A world: hosts on a medium, programs, and the loop that advances time.

use std::rc::Rc;

use lanlab_medium::{BadPlan, Medium, Plan, Random};
use lanlab_messages::Failure;
use lanlab_units::Clock as _;
use lanlab_units::Instant;
use lanlab_workloads::virtual_time::{Unfinished, VirtualTime};

use crate::Machine;
use crate::address::{HostId, Mac, mac_of};
use crate::facts::WorldFacts;
use crate::host::SimulatedHost;
use crate::node::Node;
use crate::program::Host;
use crate::shared::Shared;
use crate::state::State;

/// First random stream for the jitter of hosts; the medium uses lower numbers.
const FIRST_HOST_STREAM: u64 = 1 << 32;
/// Memory per frame, bytes: the longest frame and its metadata.
const FRAME_BYTES: u64 = 2048;
const HOST_BYTES: u64 = 16 << 10;

#[derive(Debug, Clone, PartialEq)]
pub struct WorldPlan {
    pub medium: Plan,
    pub machines: Vec<Machine>,
}

impl WorldPlan {
    /// Memory limit of hosts and frames, without nodes and programs, bytes. `most_on_medium`: the
    /// world is ended before its medium holds more frames.
    pub fn memory_bytes(&self, most_on_medium: u64) -> u64 {
        let queues = |machine: &Machine| {
            [machine.ring_frames, machine.queue_frames, machine.transmit_queue_frames, 1]
        };
        let frames_queued: u64 = self.machines.iter().flat_map(queues).map(u64::from).sum();
        // Even a shortest frame, in a switch or in flight, occupies a whole buffer.
        let shortest_bytes = u64::from(lanlab_medium::MIN_WIRE_BYTES);
        let in_switch = u64::from(self.medium.switch_queue_bytes) / shortest_bytes + 1;
        let way_ns = u128::from(self.medium.delay_ns) + u128::from(self.medium.propagation_ns);
        let rate_bps = u128::from(self.medium.rate_bps.unwrap_or(0));
        let under_way = rate_bps * way_ns / (8 * u128::from(shortest_bytes) * 1_000_000_000) + 2;
        let of_ports = in_switch.saturating_add(u64::try_from(under_way).unwrap_or(u64::MAX));
        let on_medium = of_ports.saturating_mul(self.medium.ports.into()).min(most_on_medium);
        let frames = frames_queued.saturating_add(on_medium);
        let hosts = self.machines.len() as u64 * HOST_BYTES;
        frames.saturating_mul(FRAME_BYTES).saturating_add(hosts)
    }
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BadWorld {
    #[error(transparent)]
    Medium(#[from] BadPlan),
    #[error("{0}")]
    Machine(Failure),
    #[error("{machines} machines on a medium with {ports} ports")]
    Ports { machines: usize, ports: u16 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub events: u64,
    pub until: Instant,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    ProgramsDone,
    Time,
    Events,
    Deadlock(Vec<Unfinished>),
}

/// Hosts on a medium with their own virtual clock. A world runs in one thread.
pub struct World<N: Node + 'static>(Rc<Shared<N>>);

impl<N: Node + 'static> World<N> {
    /// The world of a plan. `node` creates the node of each host. The same seed gives the same
    /// world.
    pub fn new(
        plan: &WorldPlan,
        seed: u64,
        mut node: impl FnMut(HostId, Mac) -> N,
    ) -> Result<Self, BadWorld> {
        let WorldPlan { medium, machines } = plan;
        if machines.len() != usize::from(medium.ports) {
            return Err(BadWorld::Ports { machines: machines.len(), ports: medium.ports });
        }
        let rate_bps = medium.rate_bps;
        let medium = Medium::new(medium, seed).map_err(BadWorld::Medium)?;
        let mut hosts = Vec::with_capacity(machines.len());
        for (id, machine) in (0..).zip(machines) {
            machine.check("machine").map_err(BadWorld::Machine)?;
            let random = Random::new(seed, FIRST_HOST_STREAM + u64::from(id));
            hosts.push(SimulatedHost::new(machine, node(id, mac_of(id)), rate_bps, random));
        }
        let time = VirtualTime::new();
        let state = State::new(hosts, medium, time.clone());
        Ok(Self(Rc::new(Shared::new(time, state))))
    }

    /// A host.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn host(&self, id: HostId) -> Host<N> {
        let hosts = self.0.state.borrow().hosts.len();
        assert!(usize::from(id) < hosts, "host {id} of {hosts}");
        Host::new(Rc::clone(&self.0), id)
    }

    pub fn clock(&self) -> &VirtualTime {
        &self.0.time
    }

    /// Pass each frame that was on the wire to `recorder` once: when it first arrives, or would
    /// have arrived without random loss. Frames have padding but no check sequence.
    pub fn record(&self, recorder: impl FnMut(Instant, &[u8]) + 'static) {
        self.0.state.borrow_mut().recorder = Some(Box::new(recorder));
    }

    /// Advance time until all programs have ended, no event is left, or a limit is reached. With
    /// larger limits, another call continues.
    pub fn run(&self, bounds: &Bounds) -> Ended {
        let Shared { time, state, programs, events } = &*self.0;
        loop {
            loop {
                if programs.get() == 0 {
                    return Ended::ProgramsDone;
                }
                if events.get() >= bounds.events {
                    return Ended::Events;
                }
                if !time.poll_task() {
                    break;
                }
                events.set(events.get() + 1);
            }
            let event_at = state.borrow().next_at().unwrap_or(Instant::FAR_FUTURE);
            let timer_at = time.next_timer_at().unwrap_or(Instant::FAR_FUTURE);
            let at = event_at.min(timer_at);
            if at == Instant::FAR_FUTURE {
                return Ended::Deadlock(time.unfinished());
            }
            if at > bounds.until {
                time.advance_to(bounds.until);
                return Ended::Time;
            }
            time.advance_to(at);
            if event_at == at {
                state.borrow_mut().step(at);
            }
            events.set(events.get() + 1);
        }
    }

    pub fn facts(&self) -> WorldFacts {
        let state = self.0.state.borrow();
        let now = self.0.time.now();
        WorldFacts {
            hosts: state.hosts.iter().map(|host| host.facts(now)).collect(),
            medium: state.medium.counts().clone(),
            events: self.0.events.get(),
            now,
        }
    }

    pub fn frames_under_way(&self) -> usize {
        self.0.state.borrow().frames.held()
    }
}

impl<N: Node + 'static> Drop for World<N> {
    fn drop(&mut self) {
        self.0.time.drop_tasks();
    }
}
