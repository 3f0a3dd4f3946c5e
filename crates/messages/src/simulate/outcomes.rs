//! What came of a simulated world.

use schemars::JsonSchema;
use serde::Serialize;

use super::SimulatedStoreFacts;

#[cfg(feature = "services")]
use crate::{Copied, Stationed};
use crate::{EchoRequested, EchoResponded, StreamReceived, StreamSent};

/// What came of a simulated world.
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
    /// Of the sender of a stream.
    #[schemars(title = "StreamSentRole")]
    StreamSent(Box<StreamSent>),
    /// Of its receiver.
    #[schemars(title = "StreamReceivedRole")]
    StreamReceived(Box<StreamReceived>),
    /// Of a requester.
    #[schemars(title = "EchoRequestedRole")]
    EchoRequested(Box<EchoRequested>),
    /// Of the responder.
    #[schemars(title = "EchoRespondedRole")]
    EchoResponded(Box<EchoResponded>),
    /// Of the client of a copy.
    #[cfg(feature = "services")]
    #[schemars(title = "CopiedRole")]
    Copied(Box<Copied>),
    /// Of all stations together.
    #[cfg(feature = "services")]
    #[schemars(title = "StationedRole")]
    Stationed(Box<Stationed>),
    /// Of a file server: what it counted is with its machine.
    #[schemars(title = "FilesServedRole")]
    FilesServed,
}

/// What happened in a simulated world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedFacts {
    /// Virtual time at the end.
    pub virtual_ns: u64,
    /// Events of the world.
    pub events: u64,
    /// Why it ended.
    pub ended: SimulationEnd,
    /// By machine.
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

/// What a machine sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedSent {
    /// Frames that its adapter offered to the medium.
    pub frames: u64,
    /// Bytes of these frames: padding and check sequence included, preambles and gaps not.
    pub bytes: u64,
}

/// Why a world ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SimulationEnd {
    /// All programs have ended.
    ProgramsDone,
    /// The bound of virtual time.
    Time,
    /// The bound of events.
    Events,
    /// All programs wait, and nothing would ever happen; the error says which waits for what.
    Deadlock,
    /// The driver asked for it.
    Cancelled,
}

/// What a machine did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedHostFacts {
    /// CPU time of interrupts.
    pub interrupt_ns: u64,
    /// CPU time of protocols: frames received and sent.
    pub protocol_ns: u64,
    /// CPU time of programs: their calls.
    pub program_ns: u64,
    /// Time that it stood still by a fault; absent: it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen_ns: Option<u64>,
    /// Frames that came to the adapter from the medium.
    pub received_frames: u64,
    /// Frames that the adapter gave to the medium.
    pub sent_frames: u64,
    /// Frames that found the adapter's ring full.
    pub ring_dropped_frames: u64,
    /// Frames that found the queue for protocol processing full.
    pub queue_dropped_frames: u64,
    /// Datagrams that found the receive buffer of their socket full.
    pub socket_dropped_datagrams: u64,
    /// Frames that the stack did not take: with wrong checksums, or for no socket.
    pub unclaimed_frames: u64,
    /// What its store did, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<SimulatedStoreFacts>,
}

/// The medium's counts of the frames that one machine sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SimulatedPortFacts {
    /// Frames that the adapter offered.
    pub offered_frames: u64,
    /// Bytes of these frames: padding and check sequence included, preambles and gaps not.
    pub offered_bytes: u64,
    /// Copies that arrived.
    pub delivered_frames: u64,
    /// Copies lost by chance.
    pub lost_chance_frames: u64,
    /// Copies of the frames that were given up after 16 collisions.
    pub lost_excessive_collisions_frames: u64,
    /// Copies that found the output queue of the switch full.
    pub lost_switch_queue_frames: u64,
    /// Attempts to send that collided.
    pub collisions: u64,
    /// Frames whose first attempt had to wait for the bus.
    pub deferrals: u64,
    /// How long the machine transmitted.
    pub busy_ns: u64,
}
