//! What came of a simulated world.

use schemars::JsonSchema;
use serde::Serialize;

use super::SimulatedStoreFacts;

#[cfg(feature = "services")]
use crate::{Copied, Stationed};
use crate::{EchoRequested, EchoResponded, StreamReceived, StreamSent};

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Simulated {
    /// What the program of each machine measured, in the machines' order. What belongs to a real system
    /// (descriptors, processors of the host, kernel stamps) is 0 or `null`.
    pub outcomes: Vec<RoleOutcome>,
    /// What happened in the world, from its start to its end, warm-up included.
    pub world: SimulatedFacts,
}

/// What the program of a machine measured: the same types as of the real workload.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RoleOutcome {
    #[schemars(title = "StreamSentRole")]
    StreamSent(Box<StreamSent>),
    #[schemars(title = "StreamReceivedRole")]
    StreamReceived(Box<StreamReceived>),
    #[schemars(title = "EchoRequestedRole")]
    EchoRequested(Box<EchoRequested>),
    #[schemars(title = "EchoRespondedRole")]
    EchoResponded(Box<EchoResponded>),
    #[cfg(feature = "services")]
    #[schemars(title = "CopiedRole")]
    Copied(Box<Copied>),
    #[cfg(feature = "services")]
    #[schemars(title = "StationedRole")]
    Stationed(Box<Stationed>),
    /// Of a file server: what it counted is with its machine.
    #[schemars(title = "FilesServedRole")]
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
    /// Of a copy: what each machine sent from its start until its session had ended, in the machines' order;
    /// empty of others.
    pub timed: Vec<SimulatedSent>,
    /// How long a bus was busy; 0 of others.
    pub bus_busy_ns: u64,
    /// How often a bus was busy with a collision; 0 of others.
    pub collisions: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedSent {
    pub frames: u64,
    /// Bytes of these frames: padding and check sequence included, preambles and gaps not.
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimulationEnd {
    ProgramsDone,
    Time,
    Events,
    /// All programs wait, and nothing would ever happen; the error says which waits for what.
    Deadlock,
    Cancelled,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedHostFacts {
    pub interrupt_ns: u64,
    pub protocol_ns: u64,
    pub program_ns: u64,
    /// Time that it stood still by a fault; absent: it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen_ns: Option<u64>,
    pub received_frames: u64,
    pub sent_frames: u64,
    pub ring_dropped_frames: u64,
    pub queue_dropped_frames: u64,
    /// Datagrams that found the receive buffer of their socket full.
    pub socket_dropped_datagrams: u64,
    /// Frames that the stack did not take: with wrong checksums, or for no socket.
    pub unclaimed_frames: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<SimulatedStoreFacts>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedPortFacts {
    pub offered_frames: u64,
    /// Bytes of these frames: padding and check sequence included, preambles and gaps not.
    pub offered_bytes: u64,
    pub delivered_frames: u64,
    pub lost_chance_frames: u64,
    /// Copies of the frames that were given up after 16 collisions.
    pub lost_excessive_collisions_frames: u64,
    /// Copies that found the output queue of the switch full.
    pub lost_switch_queue_frames: u64,
    pub collisions: u64,
    /// Frames whose first attempt had to wait for the bus.
    pub deferrals: u64,
    pub busy_ns: u64,
}
