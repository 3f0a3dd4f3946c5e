//! The counts of a world.

use lanlab_medium::Counts;
use lanlab_units::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuFacts {
    pub interrupt_ns: u64,
    pub protocol_ns: u64,
    pub program_ns: u64,
}

/// The counts of a host. Each arrived frame is counted in one of `ring_drops`, `queue_drops`,
/// `frames_handled` and `frames_held`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostFacts {
    pub cpu: CpuFacts,
    pub frozen_ns: u64,
    pub frames_sent: u64,
    pub frames_arrived: u64,
    pub ring_drops: u64,
    pub queue_drops: u64,
    pub frames_handled: u64,
    pub frames_held: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldFacts {
    pub hosts: Vec<HostFacts>,
    pub medium: Counts,
    pub events: u64,
    pub now: Instant,
}
