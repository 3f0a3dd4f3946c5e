//! The internals of a host: its processor with jobs, its adapter, and its node.

use lanlab_medium::Random;
use lanlab_units::Instant;

use crate::adapter::Adapter;
use crate::calls::CallId;
use crate::cpu::{Cpu, Level};
use crate::facts::{CpuFacts, HostFacts};
use crate::frames::FrameId;
use crate::waiters::Waiters;
use crate::{Cost, Machine};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Job {
    Interrupt(FrameId),
    Protocol(FrameId),
    Transmit(FrameId),
    Call(CallId),
}

pub(crate) struct SimulatedHost<N> {
    pub(crate) machine: Machine,
    pub(crate) node: N,
    pub(crate) cpu: Cpu<Job>,
    pub(crate) adapter: Adapter,
    pub(crate) waiters: Waiters,
    pub(crate) timeout_at: Option<Instant>,
    pub(crate) facts: HostFacts,
    /// Start and duration of a freeze, ns.
    frozen: Option<(Instant, u64)>,
    in_ring: u32,
    in_queue: u32,
    random: Random,
}

impl<N> SimulatedHost<N> {
    pub(crate) fn new(machine: &Machine, node: N, rate_bps: Option<u64>, random: Random) -> Self {
        let Machine { transmit_queue_frames, adapter_rate_ratio, .. } = *machine;
        Self {
            machine: machine.clone(),
            node,
            cpu: Cpu::new(),
            adapter: Adapter::new(transmit_queue_frames, adapter_rate_ratio, rate_bps),
            waiters: Waiters::default(),
            timeout_at: None,
            facts: HostFacts::default(),
            frozen: None,
            in_ring: 0,
            in_queue: 0,
            random,
        }
    }

    /// A frame has arrived. `false` if the ring is full.
    pub(crate) fn take_into_ring(&mut self, frame: FrameId, payload_bytes: u32) -> bool {
        self.facts.frames_arrived += 1;
        if self.in_ring >= self.machine.ring_frames {
            self.facts.ring_drops += 1;
            return false;
        }
        self.in_ring += 1;
        self.charge(Level::Interrupt, Job::Interrupt(frame), self.machine.interrupt, payload_bytes);
        true
    }

    /// The interrupt of a frame is done. `false` if the queue is full.
    pub(crate) fn take_into_queue(&mut self, frame: FrameId, payload_bytes: u32) -> bool {
        self.in_ring -= 1;
        if self.in_queue >= self.machine.queue_frames {
            self.facts.queue_drops += 1;
            return false;
        }
        self.in_queue += 1;
        self.charge(Level::Protocol, Job::Protocol(frame), self.machine.protocol, payload_bytes);
        true
    }

    /// The protocol processing of a frame is done: the node can handle it.
    pub(crate) fn take_from_queue(&mut self) {
        self.in_queue -= 1;
        self.facts.frames_handled += 1;
    }

    pub(crate) fn take_for_transmission(&mut self, frame: FrameId, payload_bytes: u32) {
        self.adapter.take_room();
        self.charge(Level::Protocol, Job::Transmit(frame), self.machine.transmit, payload_bytes);
    }

    pub(crate) fn call(&mut self, call: CallId, time_ns: u64) {
        let time_ns = self.varied(time_ns);
        self.cpu.add(Level::Program, Job::Call(call), time_ns);
    }

    pub(crate) fn stop(&mut self, now: Instant, call: CallId, time_ns: u64) {
        self.frozen = Some((now, time_ns));
        self.cpu.add(Level::Interrupt, Job::Call(call), time_ns);
    }

    #[inline]
    fn charge(&mut self, level: Level, job: Job, cost: Cost, bytes: u32) {
        let time_ns = self.varied(cost.of(u64::from(bytes)));
        self.cpu.add(level, job, time_ns);
    }

    #[inline]
    fn varied(&mut self, time_ns: u64) -> u64 {
        let jitter_ratio = self.machine.jitter_ratio;
        if jitter_ratio <= 0.0 || time_ns == 0 {
            return time_ns;
        }
        let deviation = jitter_ratio * (2.0 * self.random.unit() - 1.0);
        (time_ns as f64 * (1.0 + deviation)).round() as u64
    }

    pub(crate) fn facts(&self, now: Instant) -> HostFacts {
        let [interrupt_ns, protocol_ns, program_ns] = self.cpu.busy_ns(now);
        let frozen_ns = self.frozen.map_or(0, |(from, ns)| ns.min(now.nanos_since(from)));
        let interrupt_ns = interrupt_ns.saturating_sub(frozen_ns);
        HostFacts {
            cpu: CpuFacts { interrupt_ns, protocol_ns, program_ns },
            frozen_ns,
            frames_held: u64::from(self.in_ring) + u64::from(self.in_queue),
            ..self.facts.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(machine: &Machine) -> SimulatedHost<()> {
        SimulatedHost::new(machine, (), None, Random::new(1, 0))
    }

    #[test]
    fn rings_and_queues_hold_their_stated_number_of_frames() {
        let machine = Machine { ring_frames: 3, queue_frames: 2, ..Machine::default() };
        let mut host = host(&machine);
        let arrived: Vec<bool> = (0..5).map(|frame| host.take_into_ring(frame, 100)).collect();
        assert_eq!(arrived, [true, true, true, false, false]);
        assert_eq!((host.facts.frames_arrived, host.facts.ring_drops), (5, 2));
        let queued: Vec<bool> = (0..3).map(|frame| host.take_into_queue(frame, 100)).collect();
        assert_eq!((queued, host.facts.queue_drops), (vec![true, true, false], 1));
        // All frames have left the ring, and the queue has room for one more.
        host.take_from_queue();
        let again: Vec<bool> = (0..4).map(|frame| host.take_into_ring(frame, 100)).collect();
        assert_eq!(again, [true, true, true, false]);
        assert!(host.take_into_queue(0, 100));
        assert_eq!(host.facts.frames_handled, 1);
    }

    #[test]
    fn costs_are_uniform_over_their_range() {
        let mut host = host(&Machine { jitter_ratio: 0.3, ..Machine::default() });
        let drawn: Vec<u64> = (0..4_000).map(|_| host.varied(1_000_000)).collect();
        assert!(drawn.iter().all(|ns| (700_000..=1_300_000).contains(ns)));
        // Each quarter of the range has about a quarter of the draws.
        for quarter in 0..4 {
            let from = 700_000 + 150_000 * quarter;
            let count = drawn.iter().filter(|ns| (from..from + 150_000).contains(*ns)).count();
            assert!((900..1_100).contains(&count), "{count} of 4000 in quarter {quarter}");
        }
        let mut steady = self::host(&Machine::default());
        assert_eq!([1, 1_000_000].map(|ns| steady.varied(ns)), [1, 1_000_000]);
    }
}
