//! Results of a simulated world.

use schemars::JsonSchema;
use serde::Serialize;

use super::SimulatedStoreFacts;
use crate::{Copied, EchoRequested, EchoResponded, Stationed, StreamReceived, StreamSent};

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Simulated {
    /// Results of the program of each machine, in the machines' order. Values of a real system
    /// (descriptors, processors of the host, kernel timestamps) are 0 or `null`.
    pub outcomes: Vec<RoleOutcome>,
    /// Events of the world from its start to its end, including the warm-up.
    pub world: SimulatedFacts,
}

/// Results of a machine's program, with the same types as for the real workload.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[schemars(transform = crate::titled("", "Role"))]
pub enum RoleOutcome {
    StreamSent(Box<StreamSent>),
    StreamReceived(Box<StreamReceived>),
    EchoRequested(Box<EchoRequested>),
    EchoResponded(Box<EchoResponded>),
    Copied(Box<Copied>),
    Stationed(Box<Stationed>),
    /// A file server; its counts are with its machine.
    FilesServed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedFacts {
    pub virtual_ns: u64,
    pub events: u64,
    pub ended: SimulationEnd,
    pub hosts: Vec<SimulatedHostFacts>,
    /// The medium's counts of the frames that each machine sent, in the machines' order.
    pub medium: Vec<SimulatedPortFacts>,
    /// For a copy: what each machine sent from its start until its session ended, in the machines'
    /// order; otherwise empty.
    pub timed: Vec<SimulatedSent>,
    /// Time that a bus was busy; 0 for others.
    pub bus_busy_ns: u64,
    /// Number of collisions of a bus; 0 for others.
    pub collisions: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedSent {
    pub frames: u64,
    /// Bytes of these frames, with padding and check sequence, without preamble and gap.
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimulationEnd {
    ProgramsDone,
    Time,
    Events,
    /// All programs wait, and no event is left; the error names what each waits for.
    Deadlock,
    Cancelled,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedHostFacts {
    pub interrupt_ns: u64,
    pub protocol_ns: u64,
    pub program_ns: u64,
    /// Duration of an injected freeze; absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen_ns: Option<u64>,
    pub received_frames: u64,
    pub sent_frames: u64,
    pub ring_dropped_frames: u64,
    pub queue_dropped_frames: u64,
    /// Datagrams dropped because the receive buffer of their socket was full.
    pub socket_dropped_datagrams: u64,
    /// Frames that the stack rejected: wrong checksum, or no socket.
    pub unclaimed_frames: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<SimulatedStoreFacts>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedPortFacts {
    pub offered_frames: u64,
    /// Bytes of these frames, with padding and check sequence, without preamble and gap.
    pub offered_bytes: u64,
    pub delivered_frames: u64,
    pub lost_chance_frames: u64,
    /// Copies given up after 16 collisions.
    pub lost_excessive_collisions_frames: u64,
    /// Copies dropped because the output queue of the switch was full.
    pub lost_switch_queue_frames: u64,
    pub collisions: u64,
    /// Frames whose first attempt had to wait for the bus.
    pub deferrals: u64,
    pub busy_ns: u64,
}
