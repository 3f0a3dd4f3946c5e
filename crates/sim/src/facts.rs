//! What was counted in a world.

use lanlab_medium::Counts;
use lanlab_units::Instant;

/// Processor time of a host, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CpuFacts {
    /// At interrupt level.
    pub interrupt_ns: u64,
    /// At protocol level, receiving and sending.
    pub protocol_ns: u64,
    /// At program level.
    pub program_ns: u64,
}

/// What was counted at a host. Each frame that has arrived is in one of `ring_drops`, `queue_drops`,
/// `frames_handled` and `frames_held`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HostFacts {
    pub name: String,
    /// Processor time.
    pub cpu: CpuFacts,
    /// Time that it stood still, which is none of the processor's.
    pub frozen_ns: u64,
    /// Frames that went onto the medium, lost ones included.
    pub frames_sent: u64,
    /// Frames that the medium has delivered here.
    pub frames_arrived: u64,
    /// Of these: dropped, as the adapter's ring was full.
    pub ring_drops: u64,
    /// Of these: dropped, as the receive queue was full.
    pub queue_drops: u64,
    /// Of these: handled by the node.
    pub frames_handled: u64,
    /// Of these: still in ring and queue.
    pub frames_held: u64,
}

/// What was counted in a world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorldFacts {
    pub hosts: Vec<HostFacts>,
    /// Of the medium, by port; the port of a host has its number.
    pub medium: Counts,
    /// Events and steps of programs.
    pub events: u64,
    /// Virtual time.
    pub now: Instant,
}
